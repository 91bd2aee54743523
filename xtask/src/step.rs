//! One command of a chore: printed before it runs, timed, and an error if it fails.

use anyhow::{Context, bail, ensure};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::Instant,
};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// A program of the workspace, after a release build.
pub(crate) fn built(name: &str) -> anyhow::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let program = std::path::absolute(root().join(target).join("release").join(name))?;
    ensure!(program.is_file(), "{} was not built", program.display());
    Ok(program)
}

/// The command of a program in the project's folder, with nothing printed about it.
pub(crate) fn at_root(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item: AsRef<OsStr>>,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end and returns what it printed; it must succeed.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ended with {}: {stderr}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    Passed,
    Failed,
}

/// Runs `argv` in the project's folder with `env` added to the environment; it must succeed.
pub(crate) fn step(title: &str, argv: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
    match attempt(title, argv, env)? {
        End::Passed => Ok(()),
        End::Failed => bail!("{title}: `{}` failed", argv.join(" ")),
    }
}

/// The same for a command that may fail.
pub(crate) fn attempt(title: &str, argv: &[&str], env: &[(&str, &str)]) -> anyhow::Result<End> {
    println!("\n== {title}\n$ {}", shown(argv, env));
    let began = Instant::now();
    let status =
        command(argv, env).status().with_context(|| format!("`{}` cannot be run", argv[0]))?;
    println!("{}", ended(title, began, status));
    Ok(if status.success() { End::Passed } else { End::Failed })
}

/// The same beside other steps: what the command prints follows at once when it has ended.
pub(crate) fn attempt_beside(title: &str, argv: &[&str]) -> anyhow::Result<()> {
    let began = Instant::now();
    let output = command(argv, &[])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{}` cannot be run", argv[0]))?;
    let [out, err] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    let ended = ended(title, began, output.status);
    println!("\n== {title}\n$ {}\n{out}{err}{ended}", shown(argv, &[]));
    Ok(())
}

fn command(argv: &[&str], env: &[(&str, &str)]) -> Command {
    let mut command = Command::new(argv[0]);
    // Cargo describes this package to its own children. Build scripts of dependencies that watch these
    // variables would build anew each time a command is given by hand and by a chore in turn.
    for (name, _) in std::env::vars_os() {
        let is_of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if is_of_package.iter().any(|start| name.to_string_lossy().starts_with(start)) {
            command.env_remove(name);
        }
    }
    command.args(&argv[1..]).envs(env.iter().copied()).current_dir(root());
    command
}

/// The command as a shell would take it.
fn shown(argv: &[&str], env: &[(&str, &str)]) -> String {
    let variables = env.iter().map(|(name, value)| format!("{name}={value}"));
    variables.chain(argv.iter().map(|&word| word.to_owned())).collect::<Vec<_>>().join(" ")
}

fn ended(title: &str, began: Instant, status: ExitStatus) -> String {
    format!("== {title}: {:.0} s, {status}", began.elapsed().as_secs_f64())
}
