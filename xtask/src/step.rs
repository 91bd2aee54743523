//! One command of a chore: printed before it runs, timed, and an error if it fails.

use anyhow::{Context, bail, ensure};
use std::{
    ffi::OsStr,
    io::{Read as _, Seek as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
    time::Instant,
};

use crate::usage;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> &'static str {
    static CARGO: LazyLock<String> =
        LazyLock::new(|| std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    &CARGO
}

/// A program of the workspace, after a release build.
pub(crate) fn built(name: &str) -> anyhow::Result<PathBuf> {
    built_in("release", name)
}

/// A program of the workspace, after a build whose outputs are in the folder `profile`.
pub(crate) fn built_in(profile: &str, name: &str) -> anyhow::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let program = std::path::absolute(root().join(target).join(profile).join(name))?;
    ensure!(program.is_file(), "{} was not built", program.display());
    Ok(program)
}

/// The command of a program in the project's folder, with nothing printed about it.
pub(crate) fn at_root(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item: AsRef<OsStr>>,
) -> Command {
    let mut command = Command::new(program);
    // Cargo describes this package to its own children. Build scripts of dependencies that watch these
    // variables would build anew each time a command is given by hand and by a chore in turn.
    for (name, _) in std::env::vars_os() {
        let is_of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if is_of_package.iter().any(|start| name.to_string_lossy().starts_with(start)) {
            command.env_remove(name);
        }
    }
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

/// The number of last lines of a failed command that are printed again at the end of all steps.
const LAST_LINES: usize = 40;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum End {
    Passed,
    /// With the last lines of what it printed, if they were kept.
    Failed(String),
}

impl End {
    /// An error unless the command passed.
    pub(crate) fn passed(self) -> anyhow::Result<()> {
        match self {
            Self::Passed => Ok(()),
            Self::Failed(lines) => bail!("the command failed\n{lines}"),
        }
    }
}

/// Where a command prints.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shown {
    AtOnce,
    /// When it has ended, so that the output of steps that run at the same time is not mixed.
    AtEnd,
}

/// Runs `argv` in the project's folder with `env` added to the environment; it must succeed.
pub(crate) fn step(title: &str, argv: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
    attempt(title, argv, env, Shown::AtOnce)?.passed()
}

/// The same next to other steps.
pub(crate) fn step_beside(title: &str, argv: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
    attempt(title, argv, env, Shown::AtEnd)?.passed()
}

/// The same for a compilation. Tests that run meanwhile get the CPUs first, because they have time limits.
pub(crate) fn compile(title: &str, argv: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
    step_beside(title, &[&["nice", "-n", "10"], argv].concat(), env)
}

/// The same for a command that may fail.
pub(crate) fn attempt(
    title: &str,
    argv: &[&str],
    env: &[(&str, &str)],
    shown: Shown,
) -> anyhow::Result<End> {
    run(title, &mut command(argv, env), shown)
}

/// Runs a command to its end, and prints what it printed, its time and its CPU time.
pub(crate) fn run(title: &str, command: &mut Command, shown: Shown) -> anyhow::Result<End> {
    let line = line(command);
    let mut output = tempfile::tempfile()?;
    match shown {
        Shown::AtOnce => println!("\n== {title}\n$ {line}"),
        Shown::AtEnd => {
            println!("\n== {title}: begins");
            command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?);
        }
    }
    let began = Instant::now();
    let mut child = command.spawn().with_context(|| format!("`{line}` cannot be run"))?;
    let (status, cpu) = usage::wait(&mut child)?;
    let mut text = Vec::new();
    if shown == Shown::AtEnd {
        output.rewind()?;
        output.read_to_end(&mut text)?;
        println!("\n== {title}\n$ {line}\n{}", String::from_utf8_lossy(&text));
    }
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu.as_secs_f64());
    println!("== {title}: {seconds:.0} s, {cpu:.0} s of CPU, {status}");
    if status.success() {
        return Ok(End::Passed);
    }
    Ok(End::Failed(last_lines(&String::from_utf8_lossy(&text))))
}

/// The last lines, and those before that name what failed: `wirebench` prints its result below them.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = lines.split_at(lines.len().saturating_sub(LAST_LINES));
    let named = first.iter().filter(|line| line.starts_with("FAIL"));
    named.chain(last).copied().collect::<Vec<_>>().join("\n")
}

fn command(argv: &[&str], env: &[(&str, &str)]) -> Command {
    let mut command = at_root(argv[0], &argv[1..]);
    command.envs(env.iter().copied());
    command
}

/// The command as a shell would take it.
fn line(command: &Command) -> String {
    let set = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    set.chain(words.map(|word| word.to_string_lossy().into_owned())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_failed_command_include_what_failed_long_before() {
        let text = format!("begin\nFAILED c/epoll hello: no reply\n{}end", "row\n".repeat(50));
        let lines = last_lines(&text);
        assert!(lines.starts_with("FAILED c/epoll hello: no reply\nrow\n"), "{lines}");
        assert!(lines.ends_with("row\nend") && !lines.contains("begin"), "{lines}");
        assert_eq!(lines.lines().count(), LAST_LINES + 1);
    }
}
