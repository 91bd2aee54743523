//! The Debian package: program, manual pages and completions. Its metadata is in `crates/cli/Cargo.toml`.

use anyhow::ensure;

use crate::{
    script,
    step::{Shown, at_root, attempt, built, cargo, exists, output},
};

/// Packages the release build.
pub(super) fn run(check: bool) -> anyhow::Result<()> {
    ensure!(exists("cargo-deb"), "cargo-deb is missing: cargo install --locked cargo-deb");
    let program = built("wirebench")?.display().to_string();
    script::run("Debian package", include_str!("../../scripts/make-deb.sh"), &program)?;
    if !check {
        return Ok(());
    }
    ensure!(!is_installed(), "wirebench is installed as a package, and the check purges it");
    script::run("installation", include_str!("../../scripts/check-deb.sh"), &program)
}

/// Packages the release build, installing `cargo deb` if it is missing, and checks the package if possible.
pub(super) fn test() -> anyhow::Result<()> {
    if exists("dpkg-deb") && !exists("cargo-deb") {
        // Without optimisation it is built in half the time.
        let install = [cargo(), "install", "--locked", "--debug", "cargo-deb"];
        attempt("cargo deb", &install, &[], Shown::AtOnce)?;
    }
    if let Some(missing) = ["dpkg-deb", "cargo-deb"].into_iter().find(|it| !exists(it)) {
        println!("\n== package: skipped, {missing} is missing");
        return Ok(());
    }
    let check = rustix::process::geteuid().is_root() && !is_installed();
    if !check {
        println!("\n== installation: skipped, it needs root and a machine without the package");
    }
    run(check)
}

fn is_installed() -> bool {
    let status = ["-W", "-f", "${db:Status-Status}", "wirebench"];
    output(&mut at_root("dpkg-query", status)).is_ok_and(|it| it != "not-installed")
}
