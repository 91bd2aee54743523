//! Commands of a chore: printed, timed, and an error if they fail.

use anyhow::{Context, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::{
    ffi::OsStr,
    fs,
    io::{Read as _, Seek as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Instant,
};

/// Clock ticks per second in `/proc/PID/stat`, the same on every Linux (`man 5 proc`).
const TICKS: f64 = 100.0;
/// The number of last lines of a failed command that are printed again at the end of all steps.
const LAST_LINES: usize = 40;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The cargo that has built this program.
pub(crate) const CARGO: &str = env!("CARGO");

/// The folder in which cargo builds.
pub(crate) fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()))
}

/// The command of a program in the project's folder.
pub(crate) fn at_root(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item: AsRef<OsStr>>,
) -> Command {
    let mut command = Command::new(program);
    // Cargo describes this package to its own children. Build scripts of dependencies that watch these
    // variables would build anew each time a command is given by hand and by a chore in turn.
    let is_of_package =
        |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|it| name.starts_with(it));
    for (name, _) in std::env::vars_os().filter(|it| is_of_package(&it.0.to_string_lossy())) {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(root());
    command
}

/// The command of a program that compiles, with a low priority: tests that run meanwhile get the CPUs first, because
/// they have time limits.
pub(crate) fn nice(argv: &[&str]) -> Command {
    at_root("nice", [&["-n", "10"], argv].concat())
}

/// Runs a command to its end and returns what it printed; it must succeed.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ended with {}: {stderr}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command that prints as it likes, because no other runs meanwhile; it must succeed.
pub(crate) fn show(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    println!("\n$ {line}");
    let status = command.status().with_context(|| format!("`{line}` cannot be run"))?;
    ensure!(status.success(), "`{line}` ended with {status}");
    Ok(())
}

/// Runs a script of `xtask/scripts` up to the first error. It has an empty `$FOLDER`, the `$TARGET` of builds, `$CARGO`
/// and `fail`, which prints why and ends it.
pub(crate) fn script(name: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let (folder, file) = (tempfile::tempdir()?, format!("xtask/scripts/{name}.sh"));
    let lines = "fail() { echo \"$*\" >&2; exit 1; }; . \"$0\"";
    let mut command = at_root("sh", [&["-eu", "-c", lines, &file], arguments].concat());
    show(command.env("CARGO", CARGO).env("FOLDER", folder.path()).env("TARGET", target()))
}

/// Runs a command to its end, prints its output and times, and returns its CPU time in seconds; it must succeed.
pub(crate) fn run(title: &str, command: &mut Command) -> anyhow::Result<f64> {
    println!("\n== {title}: begins");
    let (line, began, mut output) = (line(command), Instant::now(), tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("`{line}` cannot be run"))?;
    let (status, cpu) = wait(&mut child)?;
    let (seconds, mut bytes) = (began.elapsed().as_secs_f64(), Vec::new());
    output.rewind()?;
    output.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    println!("\n== {title}\n$ {line}\n{text}");
    println!("== {title}: {seconds:.0} s, {cpu:.1} s of CPU, {status}");
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
    ensure!(status.success(), "the command failed\n{last}");
    Ok(cpu)
}

/// Waits for a child; its clocks can be read until it is reaped.
pub(crate) fn wait(child: &mut Child) -> anyhow::Result<(ExitStatus, f64)> {
    waitid(WaitId::Pid(Pid::from_child(child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let cpu = cpu_seconds(&child.id().to_string())?;
    Ok((child.wait()?, cpu))
}

/// CPU time of a process and of the children that it waited for.
pub(crate) fn cpu_seconds(process: &str) -> anyhow::Result<f64> {
    let clocks = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name of the program, the second field, may have spaces. Fields 14 to 17 are the clocks.
    let (_, fields) = clocks.rsplit_once(") ").context("no name of a program")?;
    let ticks = fields.split(' ').skip(14 - 3).take(4).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / TICKS)
}

/// The command as a shell would take it.
pub(crate) fn line(command: &Command) -> String {
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
    fn the_cpu_time_of_a_command_includes_its_children_and_its_last_lines_are_repeated() {
        let script = |code| format!("timeout 0.3 sh -c 'while :; do :; done'; seq 50; exit {code}");
        let run = |code| run("spin", &mut at_root("sh", ["-c", &script(code)]));
        assert!(run(0).unwrap() > 0.0);
        let error = run(3).unwrap_err().to_string();
        assert!(
            error.starts_with("the command failed\n11\n") && error.ends_with("\n50"),
            "{error}"
        );
    }
}
