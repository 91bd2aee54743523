//! Installs the other generators.

use clap::ValueEnum as _;

use super::contestant::Contestant;
use crate::programs::{cargo, command, step};

/// Debian's packages of wrk, hey and h2load.
const PACKAGES: [&str; 3] = ["wrk", "hey", "nghttp2-client"];

pub(crate) fn run() -> anyhow::Result<()> {
    let root = rustix::process::geteuid().is_root();
    let become_root: &[&str] = if root { &["env"] } else { &["sudo"] };
    let install = ["apt-get", "install", "--yes", "--no-install-recommends"];
    let words = [become_root, &install, &PACKAGES].concat();
    step(&mut command(words[0], &words[1..]))?;
    if !Contestant::Oha.is_installed() {
        step(&mut cargo(&["install", "--locked", "oha"]))?;
    }
    for contestant in Contestant::value_variants() {
        anyhow::ensure!(
            contestant.is_installed(),
            "{} is installed but not on the search path: add cargo's bin folder to PATH",
            contestant.name()
        );
    }
    Ok(())
}
