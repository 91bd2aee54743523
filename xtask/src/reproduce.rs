//! `cargo xtask reproduce`: builds the last commit in two folders, and compares the programs.

use crate::script;

/// Builds twice, and fails if the programs differ.
pub(crate) fn run() -> anyhow::Result<()> {
    script::run("two builds", include_str!("../scripts/build-twice.sh"), "wirebench")
}
