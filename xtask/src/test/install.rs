//! Installs what tests and entries need from Debian and npm. Cargo, Go and the others fetch what they build.

use std::fs;

use super::{ledger::Scope, programs::axe};
use crate::step::{Shown, attempt, exists, root};

/// Debian packages that tests need.
const PACKAGES: [&str; 9] = [
    "chromium",
    "fish",
    "hey",
    "linux-perf",
    "man-db",
    "nghttp2-client",
    "openssh-client",
    "python3-pandas",
    "wrk",
];
/// Debian packages that nightly tests need besides.
const NIGHTLY: [&str; 4] = ["iproute2", "munge", "openssh-server", "slurm-wlm"];

/// Installs these packages and those of the tests. What cannot be installed is listed at the end of the tests.
pub(super) fn run(packages: &[String], scope: Scope) -> anyhow::Result<()> {
    if !exists("apt-get") {
        println!("\n== Debian packages: skipped, apt-get is missing");
        return install_axe();
    }
    let root = rustix::process::geteuid().is_root();
    let become_root: &[&str] = if root { &[] } else { &["sudo"] };
    let apt = [become_root, &["apt-get", "--yes", "--no-install-recommends"]].concat();
    let further: Vec<&str> = packages.iter().map(String::as_str).collect();
    let nightly: &[&str] = if scope >= Scope::Nightly { &NIGHTLY } else { &[] };
    let install = [&apt[..], &["install"], &PACKAGES, nightly].concat();
    let all = [&install[..], &further].concat();
    if attempt("Debian packages", &all, &[], Shown::AtEnd)?.passed().is_err() {
        // A fresh image has no lists, or old ones; the packages of an entry may conflict, and are installed later.
        attempt("lists of Debian", &[&apt[..], &["update"]].concat(), &[], Shown::AtEnd)?;
        attempt("Debian packages of the tests", &install, &[], Shown::AtEnd)?;
    }
    install_axe()
}

/// Installs axe, which finds what keeps people from reading an HTML report, in its locked version.
fn install_axe() -> anyhow::Result<()> {
    if axe().is_file() || !exists("npm") {
        return Ok(());
    }
    let folder = root().join("target/axe");
    fs::create_dir_all(&folder)?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(root().join("xtask/axe").join(name), folder.join(name))?;
    }
    let prefix = folder.display().to_string();
    let npm = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", &prefix];
    attempt("axe", &npm, &[], Shown::AtEnd).map(drop)
}
