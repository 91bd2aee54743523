//! Commands in the project's folder, and the program under test, built as it is released.

use anyhow::{Context, ensure};
use rustix::fs::{Access, access};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};
use wirebench_schema::load::LoadReport;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The command of a program in the project's folder.
pub(crate) fn command(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item: AsRef<OsStr>>,
) -> Command {
    let mut command = Command::new(program);
    // Cargo describes this package to its children, and build scripts that watch these variables would run again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.args(arguments).current_dir(root());
    command
}

/// The cargo that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments)
}

/// Runs a command, with its output shown; it must succeed.
pub(crate) fn step(command: &mut Command) -> anyhow::Result<()> {
    let line = show(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("`{line}` cannot be run"))?;
    ensure!(status.success(), "`{line}` ended with {status}");
    Ok(())
}

/// Runs a command and returns what it printed; it must succeed.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let line = show(command);
    let output = command.output().with_context(|| format!("`{line}` cannot be run"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{line}` ended with {}: {stderr}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// The words of a command, for messages.
pub(crate) fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Builds wirebench as it is released, and returns the program.
pub(crate) fn wirebench() -> anyhow::Result<PathBuf> {
    step(&mut cargo(&["build", "--release", "--locked", "-p", "wirebench"]))?;
    // This program is in the folder of the same target, or of another profile of it.
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).context("a program is in a folder of its profile")?;
    Ok(target.join("release/wirebench"))
}

/// Whether a program of this name on the search path may be executed.
pub(crate) fn exists(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.any(|place| place.is_file() && access(&place, Access::EXEC_OK).is_ok())
}

/// Parses the whole output of `wirebench load --json`, or returns an error that shows it.
pub(crate) fn parse_load(output: &str) -> anyhow::Result<LoadReport> {
    serde_json::from_str(output)
        .with_context(|| format!("`wirebench load --json` was not understood:\n{output}"))
}
