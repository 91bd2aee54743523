//! Starts the benches of the crate `lab`, which is built only then: it depends on crates that other chores do not need.

use anyhow::{Context as _, ensure};
use std::{ffi::OsString, os::unix::process::CommandExt as _, process::Command};

use crate::step::{Shown, cargo, root, step, target};

/// Becomes the bench that the first word names, so that its exit code is that of this program.
pub(crate) fn run(words: &[OsString]) -> anyhow::Result<()> {
    let bench = words.first().context("no chore")?.to_string_lossy();
    ensure!(bench.starts_with("bench-"), "no chore `{bench}`: `cargo xtask --help` lists all");
    // Without a change of folder, so that paths among the arguments stay valid.
    let mut command = Command::new(cargo());
    command.args(["run", "--release", "--quiet", "--locked", "--manifest-path"]);
    command.arg(root().join("Cargo.toml")).args(["-p", "lab", "--"]).args(words);
    Err(command.exec()).with_context(|| format!("`{}` cannot be run", cargo()))
}

/// Runs benches shortly, with every generator that is installed, and this build compared with itself.
pub(crate) fn smoke() -> anyhow::Result<()> {
    let program = target().join("release/wirebench").display().to_string();
    let run = [cargo(), "run", "--release", "--quiet", "--locked", "-p", "lab", "--"];
    for words in [&["bench-load"][..], &["bench-load", "--against", &program], &["bench-truth"]] {
        step(words[0], &[&run[..], words, &["--smoke"]].concat(), Shown::AtOnce)?;
    }
    Ok(())
}
