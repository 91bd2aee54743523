//! The Debian package: program, manual pages and completions. Its metadata is in `crates/cli/Cargo.toml`.

use anyhow::ensure;

use crate::{
    script,
    step::{Shown, at_root, attempt, built, cargo, exists, output},
};

/// Makes the package of the program. Equal revisions give equal files: pages are compressed without a time, and files
/// in the package have the time of the commit.
const MAKE: &str = r#"
folder=${1%/wirebench}/package
rm -rf "$folder"
mkdir -p "$folder/debian"
"$1" man "$folder/man1"
gzip -9n "$folder"/man1/*
"$1" completions bash >"$folder/wirebench.bash"
"$1" completions zsh >"$folder/_wirebench"
"$1" completions fish >"$folder/wirebench.fish"
time=$(git log -1 --format=%ct)
SOURCE_DATE_EPOCH=$time "$CARGO" deb -p wirebench --no-build --output "$folder/debian"
ls "$folder"/debian/*.deb
"#;

/// Installs the package, runs its program, and purges it: every file of it must then be gone. Images for containers
/// skip manual pages.
const CHECK: &str = r#"
set -- "${1%/wirebench}"/package/debian/*.deb "$2"
[ $# = 2 ] && [ -f "$1" ] || fail "not one package: $*"
dpkg-deb --fsys-tarfile "$1" | tar --list | sed 's/^\.//' | while read -r it; do
    [ -e "$it" ] || echo "$it"
done >"$2/new"
[ -s "$2/new" ] || fail 'every file of the package exists already'
trap 'dpkg --purge wirebench' EXIT
dpkg --path-include='/usr/share/man/*' --install "$1"
while read -r it; do [ -e "$it" ] || fail "not installed: $it"; done <"$2/new"
/usr/bin/wirebench --version
if [ "$(command -v man)" ]; then man -w wirebench wirebench-load; fi
trap - EXIT
dpkg --purge wirebench
while read -r it; do [ ! -e "$it" ] || fail "after the purge this is left: $it"; done <"$2/new"
echo "installed and purged: $(wc -l <"$2/new") files and folders came and went"
"#;

/// Packages the release build.
pub(super) fn run(check: bool) -> anyhow::Result<()> {
    ensure!(exists("cargo-deb"), "cargo-deb is missing: cargo install --locked cargo-deb");
    let program = built("wirebench")?.display().to_string();
    script::run("Debian package", MAKE, &program)?;
    if !check {
        return Ok(());
    }
    ensure!(!is_installed(), "wirebench is installed as a package, and the check purges it");
    script::run("installation", CHECK, &program)
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
