//! Starts the benches of the crate `lab`, which is built only then: it depends on crates that other chores do not need.

use anyhow::Context as _;
use std::{ffi::OsString, os::unix::process::CommandExt as _, process::Command};

use crate::step::{built, cargo, root, step};

/// The arguments of a bench, which the lab reads.
#[derive(Debug, clap::Args)]
pub(crate) struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

/// Becomes the bench, so that its exit code is that of this program.
pub(crate) fn run(bench: &str, words: &Words) -> anyhow::Result<()> {
    // Without a change of folder, so that paths among the arguments stay valid.
    let mut command = Command::new(cargo());
    command.args(["run", "--release", "--quiet", "--locked", "--manifest-path"]);
    command.arg(root().join("Cargo.toml")).args(["-p", "lab", "--", bench]).args(&words.words);
    Err(command.exec()).with_context(|| format!("`{}` cannot be run", cargo()))
}

/// Runs benches shortly, with every generator that is installed, and this build compared with itself.
pub(crate) fn smoke() -> anyhow::Result<()> {
    let program = built("wirebench")?.display().to_string();
    let run = [cargo(), "run", "--release", "--quiet", "--locked", "-p", "lab", "--"];
    for words in [&["bench-load"][..], &["bench-load", "--against", &program], &["bench-truth"]] {
        step(words[0], &[&run[..], words, &["--smoke"]].concat(), &[])?;
    }
    Ok(())
}
