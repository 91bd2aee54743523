//! Builds all tests of the workspace in one call of cargo, with the lints in it, and adds the tests of each program as
//! soon as it is there. A second call for some of the crates would select other features, and compile these again.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use super::{add_command, ledger::Scope};
use crate::{
    queue::{Lane, Queue},
    step::{self, CARGO, at_root, line, nice, output, target, wait},
};

/// The program whose tests take longest, which begin first of those that begin after the build.
const LONGEST: &str = "cli/it";
/// The program that verifies entries.
const ITSELF: &str = "cli/wirebench";
/// Programs of which more than the usual number of tests run at the same time, because most wait.
const THREADS: [(&str, &str); 3] = [("cli/it", "6"), ("verify/it", "4"), ("nullserver/it", "4")];
const USUAL_THREADS: &str = "3";
/// The program whose tests need the CPUs for themselves.
const ALONE: &str = "cli/provoke";
/// The program whose tests print JSON results and their schemas.
const DOCUMENTS: &str = "report/wirebench_report";
/// Not tests, but programs that tests start.
const STARTED: [&str; 2] = ["servers::serve", "scripted::generate"];
const NEEDS: &str = include_str!("needs.txt");
/// The environment in which cargo compiles with clippy's driver, as `cargo clippy -- -D warnings` does.
pub(super) const LINTS: &[(&str, &str)] = &[
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
];

/// A program that cargo has built.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Program {
    /// The names of the package's folder and of the target.
    name: String,
    executable: PathBuf,
    /// The folder of the package, in which tests expect to run.
    folder: PathBuf,
}

/// Runs cargo with `lints` and adds the tests of each program, integration tests after the build. Calls `built` with
/// the program that verifies entries.
pub(super) fn build(
    queue: &Queue<'_>,
    scope: Scope,
    lints: &[(&str, &str)],
    built: impl Fn(PathBuf),
) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut command = nice(&[CARGO, "test", "--workspace", "--locked", "--no-run"]);
    command.envs(lints.iter().copied());
    // A first build has nothing to build upon, and need not write what later ones would use.
    if !std::env::current_exe()?.with_file_name("wirebench").exists() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    println!("\n== build\n$ {}", line(&command));
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut child = command.spawn().context("cargo cannot be run")?;
    let (stdout, mut after) = (child.stdout.take().context("a pipe is missing")?, Vec::new());
    let given = BufReader::new(stdout).lines().try_for_each(|line| {
        let message = serde_json::from_str(&line?)?;
        match program(&message) {
            // It may start programs of its package, which can be built after it.
            Some(program) if message["target"]["kind"][0] == "test" => after.push(program),
            Some(program) if message["profile"]["test"] == true => add(queue, program, scope)?,
            Some(program) if program.name == ITSELF => built(program.executable),
            _ => {}
        }
        Ok::<_, anyhow::Error>(())
    });
    let (status, cpu) = wait(&mut child)?;
    println!("\n== build: {:.0} s, {cpu:.1} s of CPU, {status}", began.elapsed().as_secs_f64());
    given?;
    ensure!(status.success(), "the tests cannot be built, or a lint complains");
    after.sort_by_key(|it| it.name != LONGEST);
    after.into_iter().try_for_each(|program| add(queue, program, scope))
}

/// The program in one of cargo's messages, if it is about one.
fn program(message: &Value) -> Option<Program> {
    let executable = message["executable"].as_str()?.into();
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = folder.file_name()?.to_str()?;
    Some(Program {
        name: format!("{package}/{}", message["target"]["name"].as_str()?),
        executable,
        folder,
    })
}

/// A test that `cargo test` ignores.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Needing {
    test: String,
    /// The smallest run with such tests, or `alone`.
    run: &'static str,
    /// A command that passes if the need is met.
    command: &'static str,
}

impl Needing {
    fn belongs_to(&self, scope: Scope) -> bool {
        match self.run {
            "nightly" => scope >= Scope::Nightly,
            "all" => scope == Scope::All,
            _ => true,
        }
    }

    fn is_met(&self) -> bool {
        at_root("sh", ["-c", self.command]).output().is_ok_and(|it| it.status.success())
    }
}

/// Adds the tests of a program.
fn add(queue: &Queue<'_>, program: Program, scope: Scope) -> anyhow::Result<()> {
    let title = format!("tests of {}", program.name);
    let lane = if program.name == ALONE { Lane::Alone } else { Lane::Tests };
    let threads = THREADS.iter().find(|it| it.0 == program.name).map_or(USUAL_THREADS, |it| it.1);
    add_command(queue, lane, &title, command(&program, threads, &[]));
    if program.name == DOCUMENTS && scope == Scope::All {
        let program = program.clone();
        queue.add(Lane::Build, "validation", move |_, title| validate(title, &program));
    }
    let list = output(&mut command(&program, threads, &["--list", "--ignored"]))?;
    let mut needing = needing(&program.name, &list)?;
    needing.retain(|it| it.belongs_to(scope));
    // A step of this lane begins after the installation, which runs in it.
    queue.add(Lane::Net, &format!("needs of {title}"), move |queue, _| {
        let (needing, missing): (Vec<_>, Vec<_>) = needing.iter().partition(|it| it.is_met());
        for it in missing {
            println!("\n== skipped, `{}` fails: {} {}", it.command, program.name, it.test);
        }
        let (quiet, further) = needing.into_iter().partition(|it| it.run == "alone");
        let kinds: [(_, _, _, Vec<_>); 2] =
            [("further", lane, USUAL_THREADS, further), ("undisturbed", Lane::Alone, "1", quiet)];
        for (kind, lane, threads, tests) in kinds.iter().filter(|it| !it.3.is_empty()) {
            let names = tests.iter().map(|it| it.test.as_str());
            let words: Vec<&str> = ["--ignored", "--exact"].into_iter().chain(names).collect();
            let command = command(&program, threads, &words);
            add_command(queue, *lane, &format!("{kind} {title}"), command);
        }
        Ok(())
    });
    Ok(())
}

/// Checks the documents that tests print with a complete validator.
fn validate(title: &str, program: &Program) -> anyhow::Result<()> {
    let documents = target().join("documents.txt");
    fs::write(&documents, output(&mut command(program, USUAL_THREADS, &["--nocapture"]))?)?;
    let place = ["--manifest-path", "validate/Cargo.toml", "--target-dir", "target/validate"];
    let mut test = nice(&[&[CARGO, "test", "--locked"], &place[..]].concat());
    step::run(title, test.env("WIREBENCH_DOCUMENTS", documents)).map(drop)
}

/// The tests in a program's list of those that are ignored, each with the first line of `NEEDS` that fits.
fn needing(program: &str, list: &str) -> anyhow::Result<Vec<Needing>> {
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let needing = tests.filter(|test| !STARTED.contains(test)).map(|test| {
        let mut needs = NEEDS.lines().filter_map(|line| {
            let (end, rest) = line.split_once(' ')?;
            let (run, command) = rest.trim_start().split_once(' ')?;
            let is_it = test.ends_with(end) || program == end;
            is_it.then(|| Needing { test: test.to_owned(), run, command: command.trim_start() })
        });
        needs.next().with_context(|| {
            format!("{program}: `{test}` is ignored, and its name does not end with its need")
        })
    });
    needing.collect()
}

fn command(program: &Program, threads: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(&program.executable);
    // Tests with golden files find them by it.
    command.env("CARGO_MANIFEST_DIR", &program.folder).env("RUST_TEST_THREADS", threads);
    command.args(arguments).current_dir(&program.folder);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_a_message_of_cargo() {
        let message = serde_json::json!({
            "manifest_path": "/p/crates/cli/Cargo.toml",
            "target": {"name": "it"},
            "executable": "/p/it-1",
        });
        let (name, executable) = ("cli/it".to_owned(), "/p/it-1".into());
        let expected = Program { name, executable, folder: "/p/crates/cli".into() };
        assert_eq!(program(&message), Some(expected));
        assert_eq!(program(&serde_json::json!({"reason": "build-finished"})), None);
    }

    #[test]
    fn the_end_of_a_tests_name_decides_what_it_needs_and_in_which_runs_it_is() {
        let list = "a::b_with_apt_get: test\nservers::serve: test\nc_with_hosts: test\n\
                    d_with_pictures: test\ne_as_root: test\n\n4 tests, 0 benchmarks\n";
        let tests = needing("p/it", list).unwrap();
        let of = |scope| tests.iter().filter(|it| it.belongs_to(scope)).count();
        assert_eq!([Scope::Change, Scope::Nightly, Scope::All].map(of), [2, 3, 4]);
        let last = tests.last().unwrap();
        assert_eq!(
            [&last.test, last.run, last.command],
            ["e_as_root", "change", "[ \"$(id -u)\" = 0 ]"]
        );
        assert_eq!(needing(ALONE, "slow_with_fish: test").unwrap()[0].command, "true");
        let error = needing("p/it", "slow: test").unwrap_err().to_string();
        assert_eq!(error, "p/it: `slow` is ignored, and its name does not end with its need");
        let is_met = |command| Needing { command, ..last.clone() }.is_met();
        assert_eq!(["command -v sh", "command -v no-such-program"].map(is_met), [true, false]);
    }
}
