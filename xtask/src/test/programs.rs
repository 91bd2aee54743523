//! The tests of one program as steps: those that need nothing, and those that need another program, which begin when
//! that is installed.

use anyhow::Context;
use std::{fs, process::Command};

use super::{add_command, build::Program, ledger::Scope};
use crate::{
    queue::{Lane, Queue},
    step::{CARGO, at_root, nice, output, root, run},
};

/// Programs of which more than the usual number of tests run at the same time, because most wait.
const THREADS: [(&str, &str); 3] = [("cli/it", "6"), ("verify/it", "4"), ("nullserver/it", "4")];
const USUAL_THREADS: &str = "3";
/// The program whose tests need the CPUs for themselves.
const ALONE: &str = "cli/provoke";
/// The program whose tests print JSON results and their schemas.
const DOCUMENTS: &str = "report/wirebench_report";
/// Not a test, but a server that tests start.
const SERVER: &str = "servers::serve";
const NEEDS: &str = include_str!("needs.txt");

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
pub(super) fn add(queue: &Queue<'_>, program: &Program, scope: Scope) -> anyhow::Result<()> {
    let title = format!("tests of {}", program.name);
    let lane = if program.name == ALONE { Lane::Alone } else { Lane::Tests };
    let threads = THREADS.iter().find(|it| it.0 == program.name).map_or(USUAL_THREADS, |it| it.1);
    add_command(queue, lane, &title, command(program, threads, &[]));
    if program.name == DOCUMENTS && scope == Scope::All {
        let program = program.clone();
        queue.add(Lane::Build, "validation", move |_, title| validate(title, &program));
    }
    let list = output(&mut command(program, threads, &["--list", "--ignored"]))?;
    let mut needing = needing(&program.name, &list)?;
    needing.retain(|it| it.belongs_to(scope));
    let program = program.clone();
    // A step of this lane begins after the installation.
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
    let documents = root().join("target/documents.txt");
    fs::create_dir_all(root().join("target"))?;
    fs::write(&documents, output(&mut command(program, USUAL_THREADS, &["--nocapture"]))?)?;
    let place = ["--manifest-path", "validate/Cargo.toml", "--target-dir", "target/validate"];
    let mut test = nice(&[&[CARGO, "test", "--locked"], &place[..]].concat());
    run(title, test.env("WIREBENCH_DOCUMENTS", documents)).map(drop)
}

/// The tests in a program's list of those that are ignored, each with the first line of `NEEDS` that fits.
fn needing(program: &str, list: &str) -> anyhow::Result<Vec<Needing>> {
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let needing = tests.filter(|test| *test != SERVER).map(|test| {
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
