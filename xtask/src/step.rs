//! One command of a chore: printed before it runs, timed, and an error if it fails.

use anyhow::{Context, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::{
    ffi::OsStr,
    fs,
    io::{Read as _, Seek as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::LazyLock,
    time::Instant,
};

/// Clock ticks per second in `/proc/PID/stat`, the same on every Linux (`man 5 proc`).
pub(crate) const TICKS: f64 = 100.0;
/// The number of last lines of a failed command that are printed again at the end of all steps.
const LAST_LINES: usize = 40;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> &'static str {
    static CARGO: LazyLock<String> =
        LazyLock::new(|| std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    &CARGO
}

/// The folder in which cargo builds.
pub(crate) fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()))
}

/// Looks for a program of this name in the folders of PATH.
pub(crate) fn exists(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The command of a program in the project's folder, with nothing printed about it.
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

/// Runs a command to its end and returns what it printed; it must succeed.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ended with {}: {stderr}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Where a command prints.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shown {
    AtOnce,
    /// All of it when the command has ended, because others run meanwhile.
    AtEnd,
}

/// Runs a command as `run` does.
pub(crate) fn step(title: &str, argv: &[&str], shown: Shown) -> anyhow::Result<f64> {
    run(title, &mut at_root(argv[0], &argv[1..]), shown)
}

/// Runs a program that compiles, with a low priority: tests that run meanwhile get the CPUs first, because they have
/// time limits.
pub(crate) fn compile(title: &str, argv: &[&str], env: &[(&str, &str)]) -> anyhow::Result<f64> {
    let mut command = at_root("nice", [&["-n", "10"], argv].concat());
    run(title, command.envs(env.iter().copied()), Shown::AtEnd)
}

/// Runs a script of `xtask/scripts` up to the first error. It has an empty `$FOLDER`, the `$TARGET` of builds, `$CARGO`
/// and `fail`, which prints why and ends it.
pub(crate) fn script(name: &str, arguments: &[&str], shown: Shown) -> anyhow::Result<f64> {
    let (folder, file) = (tempfile::tempdir()?, format!("xtask/scripts/{name}.sh"));
    let lines = "fail() { echo \"$*\" >&2; exit 1; }; . \"$0\"";
    let mut command = at_root("sh", [&["-eu", "-c", lines, &file], arguments].concat());
    command.env("CARGO", cargo()).env("FOLDER", folder.path()).env("TARGET", target());
    run(name, &mut command, shown)
}

/// Runs a command to its end, prints its output and times, and returns its CPU time in seconds; it must succeed.
pub(crate) fn run(title: &str, command: &mut Command, shown: Shown) -> anyhow::Result<f64> {
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
    let (status, cpu) = wait(&mut child)?;
    let mut text = Vec::new();
    if shown == Shown::AtEnd {
        output.rewind()?;
        output.read_to_end(&mut text)?;
        println!("\n== {title}\n$ {line}\n{}", String::from_utf8_lossy(&text));
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("== {title}: {seconds:.0} s, {cpu:.1} s of CPU, {status}");
    let lines = last_lines(&String::from_utf8_lossy(&text));
    ensure!(status.success(), "the command failed\n{lines}");
    Ok(cpu)
}

/// Waits for a child; its clocks can be read until it is reaped.
pub(crate) fn wait(child: &mut Child) -> anyhow::Result<(ExitStatus, f64)> {
    waitid(WaitId::Pid(Pid::from_child(child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let clocks = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let cpu = (0..4).filter_map(|it| stat_seconds(&clocks, 14 + it)).sum();
    Ok((child.wait()?, cpu))
}

/// A field of `/proc/PID/stat` in seconds, by its number in `man 5 proc`: 14 and 15 are the CPU time of the process,
/// 16 and 17 that of the children it waited for, 22 is the time of its start since the machine's.
pub(crate) fn stat_seconds(stat: &str, field: usize) -> Option<f64> {
    // The name of the program, the second field, may have spaces.
    let (_, rest) = stat.rsplit_once(") ")?;
    let ticks: f64 = rest.split(' ').nth(field - 3)?.parse().ok()?;
    Some(ticks / TICKS)
}

/// The last lines, and those before that name what failed: `wirebench` prints its result below them.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = lines.split_at(lines.len().saturating_sub(LAST_LINES));
    let named = first.iter().filter(|line| line.starts_with("FAIL"));
    named.chain(last).copied().collect::<Vec<_>>().join("\n")
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
    fn the_last_lines_of_a_failed_command_include_what_failed_long_before() {
        let text = format!("begin\nFAILED c/epoll hello: no reply\n{}end", "row\n".repeat(50));
        let lines = last_lines(&text);
        assert!(lines.starts_with("FAILED c/epoll hello: no reply\nrow\n"), "{lines}");
        assert!(lines.ends_with("row\nend") && !lines.contains("begin"), "{lines}");
        assert_eq!(lines.lines().count(), LAST_LINES + 1);
    }

    #[test]
    fn the_cpu_time_of_a_command_includes_its_children() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 200 100 20 0 1 0 4711 0";
        let field = |field| stat_seconds(stat, field);
        assert_eq!((14..18).map(field).sum::<Option<f64>>(), Some(5.0));
        assert_eq!(field(22), Some(47.11));
        let spin = |code| format!("timeout 0.3 sh -c 'while :; do :; done'; exit {code}");
        let run = |code| step("spin", &["sh", "-c", &spin(code)], Shown::AtEnd);
        assert!(run(0).unwrap() > 0.0);
        assert_eq!(run(3).unwrap_err().to_string(), "the command failed\n");
    }
}
