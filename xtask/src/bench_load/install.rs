//! Installs the other generators, on request only, because only comparisons need them.

use super::contestant::Contestant;
use crate::step::step;

const PACKAGES: [&str; 3] = ["wrk", "hey", "nghttp2-client"];

pub(crate) fn run() -> anyhow::Result<()> {
    let root = rustix::process::geteuid().is_root();
    let become_root: &[&str] = if root { &[] } else { &["sudo"] };
    let apt = [become_root, &["apt-get", "install", "--yes", "--no-install-recommends"], &PACKAGES];
    step("Debian packages", &apt.concat(), &[])?;
    if Contestant::Oha.is_there() {
        println!("\noha is there");
    } else {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        step("oha", &[&cargo, "install", "--locked", "oha"], &[])?;
    }
    for contestant in Contestant::ALL {
        anyhow::ensure!(
            contestant.is_there(),
            "{} is installed and yet not in PATH: add cargo's bin folder to it",
            contestant.name()
        );
    }
    Ok(())
}
