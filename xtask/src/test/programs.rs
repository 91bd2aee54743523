//! The tests of one program as steps: those that need nothing begin when it is built, those that need another program
//! when that is installed.

use anyhow::Context;
use std::{
    fs,
    net::{Ipv6Addr, TcpListener},
    path::Path,
    process::Command,
    thread,
};

use super::{build::Program, ledger::Scope};
use crate::{
    queue::{Lane, Priority, Queue},
    step::{self, Shown, cargo, compile, exists, output, root},
};

/// Programs of which more than the usual number of tests run at the same time, because most wait.
const THREADS: [(&str, &str); 3] =
    [("wirebench/it", "6"), ("wirebench-verify/it", "4"), ("wirebench-nullserver/it", "4")];
const USUAL_THREADS: &str = "3";
/// The program whose tests take longest, which begin first.
const LONGEST: &str = "wirebench/it";
/// The program whose tests need the CPUs for themselves.
const ALONE: &str = "wirebench/provoke";
/// Tests in which the same server must look busy at rest, or become steady, or not.
const QUIET: [&str; 4] = [
    "cohorts::a_server_that_does_not_survive_being_stopped_is_reported",
    "cohorts::a_server_that_spins_at_rest_is_stopped_while_others_are_loaded",
    "phases::a_server_that_becomes_faster_is_waited_for",
    "phases::a_server_that_never_becomes_steady_is_flagged_and_its_figures_are_kept",
];
/// The program whose tests print JSON results and their schemas.
const DOCUMENTS: &str = "wirebench-report/wirebench_report";
/// Programs by whose names tests end.
const PROGRAMS: [&str; 11] =
    ["apt-get", "chromium", "fish", "git", "go", "h2load", "hey", "make", "node", "python3", "wrk"];
/// Not a test, but a server that tests start.
const SERVER: &str = "servers::serve";

/// Need of a test that `cargo test` ignores, by the end of its name.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Need {
    /// A machine without other load.
    Quiet,
    Root,
    Ipv6,
    TwoCpus,
    /// Debian's Python with pandas.
    Pandas,
    /// Permission to trace system calls and sample stacks.
    Perf,
    Axe,
    /// Network namespaces that are connected, with an sshd in each. Nightly, because such tests take minutes.
    Hosts,
    /// A cluster of one node. Nightly, too.
    Slurm,
    /// A run of everything: a rare fault, whose recorded evidence is tested otherwise.
    All,
    /// Chromium, in a run of everything: pictures for people.
    Pictures,
    Program(String),
}

impl Need {
    fn of(test: &str) -> Option<Self> {
        if QUIET.contains(&test) {
            return Some(Self::Quiet);
        }
        let end = test.rsplit_once("_with_").map_or(test, |(_, end)| end);
        Some(match end {
            _ if test.ends_with("_as_root") => Self::Root,
            _ if end == test => return None,
            "ipv6" => Self::Ipv6,
            "two_cpus" => Self::TwoCpus,
            "pandas" => Self::Pandas,
            "perf" => Self::Perf,
            "axe" => Self::Axe,
            "pictures" => Self::Pictures,
            "hosts" => Self::Hosts,
            "slurm" => Self::Slurm,
            "cpp" => Self::Program("g++".to_owned()),
            "java" => Self::Program("javac".to_owned()),
            program => {
                let program = program.replace('_', "-");
                PROGRAMS.contains(&program.as_str()).then_some(Self::Program(program))?
            }
        })
    }

    fn is_met(&self) -> bool {
        match self {
            Self::Quiet | Self::All => true,
            Self::Root => rustix::process::geteuid().is_root(),
            Self::Ipv6 => TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok(),
            Self::TwoCpus => thread::available_parallelism().is_ok_and(|it| it.get() >= 2),
            Self::Pandas => passes("/usr/bin/python3", &["-c", "import pandas"]),
            Self::Perf => {
                let calls = ["stat", "-o", "/dev/null", "-e", "raw_syscalls:sys_enter", "true"];
                let stacks = ["record", "-g", "-o", "/dev/null", "-e", "cpu-clock", "true"];
                passes("perf", &calls) && passes("perf", &stacks)
            }
            Self::Pictures => exists("chromium"),
            Self::Axe => exists("chromium") && axe().is_file(),
            Self::Hosts => can_make_hosts(),
            Self::Slurm => {
                let daemons = ["/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd"];
                Self::Root.is_met()
                    && daemons.iter().all(|it| Path::new(it).exists())
                    && exists("salloc")
            }
            Self::Program(program) => exists(program),
        }
    }
}

/// The file of axe that a test reads, below `target/` of the project and not where cargo builds.
pub(super) fn axe() -> std::path::PathBuf {
    root().join("target/axe/node_modules/axe-core/axe.min.js")
}

fn passes(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|it| it.status.success())
}

fn can_make_hosts() -> bool {
    let name = format!("wirebench{}", std::process::id());
    let is_made = Path::new("/usr/sbin/sshd").exists()
        && exists("ssh-keygen")
        && passes("ip", &["netns", "add", &name]);
    let has_bridge =
        is_made && passes("ip", &["-n", &name, "link", "add", "br0", "type", "bridge"]);
    is_made && passes("ip", &["netns", "del", &name]) && has_bridge
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
    needing.retain(|(_, need)| match need {
        Need::Hosts | Need::Slurm => scope >= Scope::Nightly,
        Need::All | Need::Pictures => scope == Scope::All,
        _ => true,
    });
    let (quiet, further): (Vec<_>, Vec<_>) =
        needing.into_iter().partition(|(_, it)| *it == Need::Quiet);
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
        println!("\n== skipped, {need:?} is missing: {} {test}", program.name);
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
        let need = if program == ALONE { Some(Need::All) } else { Need::of(test) };
        let need = need.with_context(|| {
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
        let program = |name: &str| Need::Program(name.to_owned());
        let needs: Vec<Need> =
            needing("p/it", list).unwrap().into_iter().map(|(_, need)| need).collect();
        assert_eq!(needs, [program("apt-get"), program("g++"), Need::TwoCpus, Need::Root]);
        assert_eq!(needing(ALONE, "slow: test").unwrap(), [("slow".to_owned(), Need::All)]);
        let error = needing("p/it", "slow: test").unwrap_err().to_string();
        assert_eq!(error, "p/it: `slow` is ignored, and its name does not end with its need");
    }
}
