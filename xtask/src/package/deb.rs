//! The Debian package: program, manual pages and completions. Its metadata is in `crates/cli/Cargo.toml`.

use anyhow::{Context, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::step::{Shown, at_root, attempt, built, cargo, exists, output, step};

/// Each shell, and the file that it reads completions from.
const COMPLETIONS: [(&str, &str); 3] =
    [("bash", "wirebench.bash"), ("zsh", "_wirebench"), ("fish", "wirebench.fish")];

/// Packages the program, built anew if `build` says so.
pub(super) fn run(build: bool, check: bool) -> anyhow::Result<()> {
    if build {
        step("release build", &[cargo(), "build", "--release", "--locked"], &[])?;
    }
    let package = make()?;
    if check { check_installation(&package) } else { Ok(()) }
}

/// Packages the release build, installing `cargo deb` if it is missing.
pub(super) fn test() -> anyhow::Result<()> {
    if !exists("dpkg-deb") {
        println!("\n== package: skipped, dpkg is missing");
        return Ok(());
    }
    if !exists("cargo-deb") {
        // Without optimisation it is built in half the time.
        attempt(
            "cargo deb",
            &[cargo(), "install", "--locked", "--debug", "cargo-deb"],
            &[],
            Shown::AtOnce,
        )?;
    }
    if !exists("cargo-deb") {
        println!("\n== package: skipped, cargo-deb cannot be installed");
        return Ok(());
    }
    let package = make()?;
    if !rustix::process::geteuid().is_root() || is_installed() {
        println!("\n== installation: skipped, it needs root and a machine without the package");
        return Ok(());
    }
    check_installation(&package)
}

/// Makes the package of the release build, and returns its file.
fn make() -> anyhow::Result<PathBuf> {
    ensure!(exists("cargo-deb"), "cargo-deb is missing: cargo install --locked cargo-deb");
    let program = built("wirebench")?;
    let folder = program.parent().context("a program is in a folder")?.join("package");
    let debian = folder.join("debian");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&debian)?;
    let pages = folder.join("man1").display().to_string();
    step("manual pages", &[&program.display().to_string(), "man", &pages], &[])?;
    for page in fs::read_dir(&pages)? {
        // Without a time, so that the same page gives the same file.
        output(at_root("gzip", ["-9n"]).arg(page?.path()))?;
    }
    for (shell, name) in COMPLETIONS {
        fs::write(folder.join(name), output(&mut at_root(&program, ["completions", shell]))?)?;
    }
    // Files in the package have the time of the commit, so that a revision always gives the same package.
    let time = output(&mut at_root("git", ["log", "-1", "--format=%ct"]))?;
    let debian_text = debian.display().to_string();
    let deb = [cargo(), "deb", "-p", "wirebench", "--no-build", "--output", &debian_text];
    step("Debian package", &deb, &[("SOURCE_DATE_EPOCH", time.trim())])?;
    let mut made = fs::read_dir(&debian)?;
    let package = made.next().context("cargo deb made no package")??.path();
    ensure!(made.next().is_none(), "{} has more than one package", debian.display());
    println!("{}", package.display());
    Ok(package)
}

fn is_installed() -> bool {
    let status = ["-W", "-f", "${db:Status-Status}", "wirebench"];
    output(&mut at_root("dpkg-query", status)).is_ok_and(|it| it != "not-installed")
}

/// Installs the package, runs its program, and purges it. Every file of it must then be gone.
fn check_installation(package: &Path) -> anyhow::Result<()> {
    ensure!(
        !is_installed(),
        "wirebench is installed as a package already, and the check purges it"
    );
    let file = package.to_str().context("the package's path is not text")?;
    let contents = output(&mut at_root("dpkg-deb", ["--contents", file]))?;
    let new: Vec<PathBuf> = paths(&contents).into_iter().filter(|it| !it.exists()).collect();
    ensure!(!new.is_empty(), "every file of the package exists already");
    // Images for containers leave manual pages out.
    let install = ["dpkg", "--path-include=/usr/share/man/*", "--install", file];
    let checked = step("installation", &install, &[]).and_then(|()| check_program(&new));
    step("purge", &["dpkg", "--purge", "wirebench"], &[])?;
    checked?;
    let left: Vec<&PathBuf> = new.iter().filter(|it| it.exists()).collect();
    ensure!(left.is_empty(), "after the purge these are left: {left:?}");
    println!("installed and purged: {} files and folders came and went", new.len());
    Ok(())
}

fn check_program(new: &[PathBuf]) -> anyhow::Result<()> {
    let absent: Vec<&PathBuf> = new.iter().filter(|it| !it.exists()).collect();
    ensure!(absent.is_empty(), "not installed: {absent:?}");
    step("installed program", &["/usr/bin/wirebench", "--version"], &[])?;
    for page in ["wirebench", "wirebench-load"] {
        if exists("man") {
            step("installed manual page", &["man", "-w", page], &[])?;
        }
    }
    Ok(())
}

/// The paths in what `dpkg-deb --contents` prints, without the folder of the root.
fn paths(contents: &str) -> Vec<PathBuf> {
    let paths = contents.lines().filter_map(|line| line.split_whitespace().nth(5));
    let paths = paths.map(|it| Path::new("/").join(it.trim_start_matches("./")));
    paths.filter(|it| it != Path::new("/")).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    #[test]
    fn paths_are_found_in_the_contents_of_a_package() {
        let contents = "drwxr-xr-x 0/0        0 2026-01-02 03:04 ./\n\
                        drwxr-xr-x 0/0        0 2026-01-02 03:04 ./usr/\n\
                        -rwxr-xr-x 0/0  5000000 2026-01-02 03:04 ./usr/bin/wirebench\n";
        let expected = [PathBuf::from("/usr/"), PathBuf::from("/usr/bin/wirebench")];
        assert_eq!(super::paths(contents), expected);
    }
}
