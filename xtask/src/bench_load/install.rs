//! Installs the other generators: on request, and Debian's for the tests.

use clap::ValueEnum as _;

use super::contestant::Contestant;
use crate::step::{cargo, step};

const PACKAGES: [&str; 3] = ["wrk", "hey", "nghttp2-client"];

/// The command that installs the generators of Debian, and further packages.
pub(crate) fn apt_get<'a>(further: &[&'a str]) -> Vec<&'a str> {
    let root = rustix::process::geteuid().is_root();
    let become_root: &[&str] = if root { &[] } else { &["sudo"] };
    [become_root, &["apt-get", "install", "--yes", "--no-install-recommends"], &PACKAGES, further]
        .concat()
}

pub(crate) fn run() -> anyhow::Result<()> {
    step("Debian packages", &apt_get(&[]), &[])?;
    if Contestant::Oha.is_there() {
        println!("\noha is there");
    } else {
        step("oha", &[cargo(), "install", "--locked", "oha"], &[])?;
    }
    for contestant in Contestant::value_variants() {
        anyhow::ensure!(
            contestant.is_there(),
            "{} is installed and yet not in PATH: add cargo's bin folder to it",
            contestant.name()
        );
    }
    Ok(())
}
