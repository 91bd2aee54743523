//! The tests of one program as steps: those that need nothing begin when it is built, those that need another program
//! when that is installed.

use anyhow::Context;
use std::{fs, process::Command};

use super::{build::Program, ledger::Scope};
use crate::{
    queue::{Lane, Priority, Queue},
    step::{self, Shown, at_root, cargo, compile, output, root},
};

/// Programs of which more than the usual number of tests run at the same time, because most wait.
const THREADS: [(&str, &str); 3] =
    [("wirebench/it", "6"), ("wirebench-verify/it", "4"), ("wirebench-nullserver/it", "4")];
const USUAL_THREADS: &str = "3";
/// The program whose tests take longest, which begin first.
const LONGEST: &str = "wirebench/it";
/// The program whose tests need the CPUs for themselves.
const ALONE: &str = "wirebench/provoke";
/// The program whose tests print JSON results and their schemas.
const DOCUMENTS: &str = "wirebench-report/wirebench_report";
/// Not a test, but a server that tests start.
const SERVER: &str = "servers::serve";
const NEEDS: &str = include_str!("needs.txt");

/// A line of `NEEDS`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Need {
    end: &'static str,
    run: &'static str,
    command: &'static str,
}

impl Need {
    fn of(program: &str, test: &str) -> Option<Self> {
        let mut needs = NEEDS.lines().filter_map(|line| {
            let (end, rest) = line.split_once(' ')?;
            let (run, command) = rest.trim_start().split_once(' ')?;
            Some(Self { end, run, command: command.trim_start() })
        });
        needs.find(|it| test.ends_with(it.end) || program == it.end)
    }

    fn belongs_to(self, scope: Scope) -> bool {
        match self.run {
            "nightly" => scope >= Scope::Nightly,
            "all" => scope == Scope::All,
            _ => true,
        }
    }

    fn is_met(self) -> bool {
        at_root("sh", ["-c", self.command]).output().is_ok_and(|it| it.status.success())
    }
}

/// Adds the tests of a program. Those that need something begin after the steps `installed`.
pub(super) fn add<'a>(
    queue: &Queue<'a>,
    program: &Program,
    installed: &[&str],
    scope: Scope,
) -> anyhow::Result<()> {
    let title = format!("tests of {}", program.name);
    let lane = if program.name == ALONE { Lane::Alone } else { Lane::Tests };
    let list = output(&mut command(program, &["--list", "--ignored"]))?;
    let mut needing = needing(&program.name, &list)?;
    needing.retain(|it| it.1.belongs_to(scope));
    let (quiet, further): (Vec<_>, Vec<_>) =
        needing.into_iter().partition(|it| it.1.run == "alone");
    if program.name == DOCUMENTS && scope == Scope::All {
        let of_it = program.clone();
        queue.add(Lane::Build, "validation", &[&title], move |_| validate(&of_it));
    }
    let built: &[&str] = if program.is_integration_test { &["build"] } else { &[] };
    let ready = [built, installed].concat();
    let (of_it, first) = (program.clone(), title.clone());
    let threads = THREADS.iter().find(|(name, _)| *name == program.name);
    let threads = threads.map_or(USUAL_THREADS, |(_, threads)| threads);
    let priority = if program.name == LONGEST { Priority::First } else { Priority::Usual };
    queue.add_as(priority, lane, &title, built, move |_| run(&first, &of_it, threads, &[]));
    for (kind, lane, tests, threads) in
        [("further", lane, further, USUAL_THREADS), ("undisturbed", Lane::Alone, quiet, "1")]
    {
        if !tests.is_empty() {
            let (title, program) = (format!("{kind} {title}"), program.clone());
            let of_it = title.clone();
            queue.add_as(Priority::Late, lane, &title, &ready, move |_| {
                run_needing(&of_it, &program, threads, &tests)
            });
        }
    }
    Ok(())
}

/// Checks the documents that tests print with a complete validator.
fn validate(program: &Program) -> anyhow::Result<()> {
    let documents = root().join("target/documents.txt");
    fs::create_dir_all(root().join("target"))?;
    fs::write(&documents, output(&mut command(program, &["--nocapture"]))?)?;
    let documents = documents.to_str().context("the project's path is no text")?;
    let of = ["--manifest-path", "validate/Cargo.toml", "--target-dir", "target/validate"];
    let test = [&[cargo(), "test", "--locked"], &of[..]].concat();
    compile("validation", &test, &[("WIREBENCH_DOCUMENTS", documents)]).map(drop)
}

/// Runs those of the ignored tests whose needs are met, and lists the others.
fn run_needing(
    title: &str,
    program: &Program,
    threads: &str,
    tests: &[(String, Need)],
) -> anyhow::Result<()> {
    let (met, missing): (Vec<_>, Vec<_>) = tests.iter().partition(|(_, need)| need.is_met());
    for (test, need) in missing {
        println!("\n== skipped, `{}` fails: {} {test}", need.command, program.name);
    }
    if met.is_empty() {
        return Ok(());
    }
    let names = met.iter().map(|(test, _)| test.as_str());
    let arguments: Vec<&str> = ["--ignored", "--exact"].into_iter().chain(names).collect();
    run(title, program, threads, &arguments)
}

/// The tests in a program's list of those that are ignored, each with its need.
fn needing(program: &str, list: &str) -> anyhow::Result<Vec<(String, Need)>> {
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let needing = tests.filter(|test| *test != SERVER).map(|test| {
        let need = Need::of(program, test).with_context(|| {
            format!("{program}: `{test}` is ignored, and its name does not end with its need")
        })?;
        Ok((test.to_owned(), need))
    });
    needing.collect()
}

fn command(program: &Program, arguments: &[&str]) -> Command {
    let mut command = Command::new(&program.executable);
    // Tests with golden files find them by it.
    command.args(arguments).current_dir(&program.folder);
    command.env("CARGO_MANIFEST_DIR", &program.folder);
    command
}

fn run(title: &str, program: &Program, threads: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = command(program, arguments);
    command.env("RUST_TEST_THREADS", threads);
    step::run(title, &mut command, Shown::AtEnd).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_names_its_need_at_its_end() {
        let list = "a::b_with_apt_get: test\nservers::serve: test\nc_with_cpp: test\n\
                    d_with_two_cpus: test\ne_as_root: test\n\n4 tests, 0 benchmarks\n";
        let commands = |program, list| -> Vec<&str> {
            needing(program, list).unwrap().into_iter().map(|(_, it)| it.command).collect()
        };
        let root = "[ \"$(id -u)\" = 0 ]";
        let expected = ["command -v apt-get", "command -v g++", "[ \"$(nproc)\" -ge 2 ]", root];
        assert_eq!(commands("p/it", list), expected);
        assert_eq!(commands(ALONE, "slow_with_fish: test"), ["true"]);
        let error = needing("p/it", "slow: test").unwrap_err().to_string();
        assert_eq!(error, "p/it: `slow` is ignored, and its name does not end with its need");
    }

    #[test]
    fn a_need_decides_in_which_runs_its_tests_are_and_whether_they_are_skipped() {
        let need = |test: &str| Need::of("p/it", test).unwrap();
        let scopes = [Scope::Change, Scope::Nightly, Scope::All];
        let runs = |test: &str| scopes.map(|it| need(test).belongs_to(it));
        assert_eq!(runs("a_with_fish"), [true; 3]);
        assert_eq!(runs("a_with_hosts"), [false, true, true]);
        assert_eq!(runs("a_with_pictures"), [false, false, true]);
        assert_eq!(runs("phases::a_server_that_becomes_faster_is_waited_for"), [true; 3]);
        let met = ["true", "command -v sh", "false", "command -v no-such-program"];
        let met = met.map(|command| Need { command, ..need("a_with_fish") }.is_met());
        assert_eq!(met, [true, true, false, false]);
    }
}
