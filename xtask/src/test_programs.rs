//! The test programs of the workspace as steps of a queue: cargo would run one program after the other.

use anyhow::{Context, ensure};
use std::{
    net::{Ipv6Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use crate::{
    axe,
    programs::{can_trace, exists},
    queue::{Group, Queue},
    step::{self, Shown, at_root, cargo, output},
};

/// The programs that take longest, which begin first, and how many of their tests run at the same time: most wait.
const LONGEST: [(&str, &str); 3] =
    [("wirebench/it", "8"), ("wirebench-verify/it", "4"), ("wirebench-nullserver/it", "4")];
/// Tests of each other program that run at the same time.
const THREADS: &str = "3";
/// The program whose tests need the CPUs for themselves.
const ALONE: &str = "wirebench/provoke";
/// The test that needs a machine without other load: its server must become steady.
const STEADY: &str = "a_server_that_becomes_faster";
/// Not a test, but a server that tests start.
const SERVER: &str = "servers::serve";
/// Ends of the names of tests that only the nightly set has: they take minutes, and depend on daemons.
const NIGHTLY: [&str; 2] = ["_with_hosts", "_with_slurm"];
/// The end of a test's name, and whether this machine has what such tests need.
type Need = (&'static str, fn() -> bool);
/// Ends of the names of tests that need something: they are ignored by `cargo test`, and run here if it
/// is there.
const NEEDS: [Need; 21] = [
    ("_with_apt_get", || exists("apt-get")),
    ("_with_axe", || exists("chromium") && axe::is_there()),
    ("_with_chromium", || exists("chromium")),
    ("_with_cpp", || exists("g++")),
    ("_with_fish", || exists("fish")),
    ("_with_git", || exists("git")),
    ("_with_go", || exists("go")),
    ("_with_h2load", || exists("h2load")),
    ("_with_hey", || exists("hey")),
    ("_with_hosts", can_make_hosts),
    ("_with_java", || exists("javac")),
    ("_with_make", || exists("make")),
    ("_with_node", || exists("node")),
    ("_with_pandas", has_pandas),
    ("_with_perf", can_trace),
    ("_with_python3", || exists("python3")),
    ("_with_slurm", can_make_a_cluster),
    ("_with_wrk", || exists("wrk")),
    ("_with_ipv6", || TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()),
    ("_with_two_cpus", || thread::available_parallelism().is_ok_and(|it| it.get() >= 2)),
    ("_as_root", || rustix::process::geteuid().is_root()),
];

/// Whether the Python of Debian has pandas.
fn has_pandas() -> bool {
    let mut python = Command::new("/usr/bin/python3");
    python.args(["-c", "import pandas"]).output().is_ok_and(|it| it.status.success())
}

/// Whether tests may make hosts: network namespaces that are connected, with an sshd in each.
fn can_make_hosts() -> bool {
    let name = format!("wirebench{}", std::process::id());
    let ip = |arguments: &[&str]| {
        Command::new("ip").args(arguments).output().is_ok_and(|it| it.status.success())
    };
    let is_made = Path::new("/usr/sbin/sshd").exists()
        && exists("ssh-keygen")
        && ip(&["netns", "add", &name]);
    let has_bridge = is_made && ip(&["-n", &name, "link", "add", "br0", "type", "bridge"]);
    is_made && ip(&["netns", "del", &name]) && has_bridge
}

/// Whether tests may start a cluster of one node.
fn can_make_a_cluster() -> bool {
    let daemons = ["/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd"];
    rustix::process::geteuid().is_root()
        && daemons.iter().all(|it| Path::new(it).exists())
        && exists("salloc")
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Program {
    name: String,
    executable: PathBuf,
    /// The folder of the package, in which tests expect to run.
    folder: PathBuf,
}

impl Program {
    /// Runs its tests with these arguments; all must pass.
    fn run(&self, threads: &str, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.executable);
        command.args(arguments).env("RUST_TEST_THREADS", threads).current_dir(&self.folder);
        // Tests with golden files find them by it.
        command.env("CARGO_MANIFEST_DIR", &self.folder);
        step::run(&format!("tests of {}", self.name), &mut command, Shown::AtEnd)?.passed()
    }
}

/// Builds the programs and all tests of the workspace.
pub(crate) fn build() -> anyhow::Result<Vec<Program>> {
    let began = Instant::now();
    let build = ["test", "--workspace", "--locked", "--no-run"];
    println!("\n== build\n$ {} {}", cargo(), build.join(" "));
    let mut command = at_root(cargo(), build);
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let lines = output(&mut command).context("the tests cannot be built")?;
    println!("== build: {:.0} s", began.elapsed().as_secs_f64());
    lines.lines().filter_map(|line| program(line).transpose()).collect()
}

/// Adds the tests of all programs, which begin after the steps `after`.
pub(crate) fn add<'a>(
    queue: &mut Queue<'a>,
    programs: &'a [Program],
    after: &[&str],
    is_nightly: bool,
) -> anyhow::Result<()> {
    let mut sorted: Vec<&Program> = programs.iter().collect();
    let place = |name: &str| LONGEST.iter().position(|(waiting, _)| *waiting == name);
    sorted.sort_by_key(|it| place(&it.name).unwrap_or(LONGEST.len()));
    for program in sorted.iter().copied() {
        let threads = place(&program.name).map_or(THREADS, |place| LONGEST[place].1);
        let group = if program.name == ALONE { Group::Alone } else { Group::Waiting };
        queue.add(group, &program.name, after, move || {
            // What is there is asked after the installation.
            let skipped = skipped(is_nightly);
            let skip = skipped.iter().flat_map(|name| ["--skip", name]);
            let arguments: Vec<&str> = std::iter::once("--include-ignored").chain(skip).collect();
            program.run(threads, &arguments)
        });
    }
    for name in LONGEST.iter().map(|(name, _)| *name).chain([ALONE]) {
        ensure!(programs.iter().any(|it| it.name == name), "the tests of {name} were not built");
    }
    let first = sorted[0];
    queue.add(Group::Alone, "a test that needs the machine", after, move || {
        first.run("1", &[STEADY])
    });
    Ok(())
}

/// Parts of the names of tests that do not run, or not next to others.
fn skipped(is_nightly: bool) -> Vec<&'static str> {
    let missing = NEEDS.iter().filter(|(_, is_there)| !is_there()).map(|(name, _)| *name);
    let mut skipped: Vec<&str> = [STEADY, SERVER].into_iter().chain(missing).collect();
    skipped.extend(NIGHTLY.iter().filter(|_| !is_nightly));
    skipped
}

/// The test program in one of cargo's messages, if it is about one.
fn program(message: &str) -> anyhow::Result<Option<Program>> {
    let message: serde_json::Value = serde_json::from_str(message)?;
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let Some(executable) = text(&message["executable"]).filter(|_| is_test) else {
        return Ok(None);
    };
    let manifest = PathBuf::from(text(&message["manifest_path"]).context("no manifest_path")?);
    let folder = manifest.parent().context("a manifest lies in a folder")?.to_owned();
    let package = text(&message["package_id"]).context("no package_id")?;
    let package = package.rsplit('/').next().unwrap_or_default();
    // An identifier ends in `folder#version` or in `folder#name@version`.
    let (of_folder, version) = package.split_once('#').unwrap_or((package, ""));
    let package = version.split_once('@').map_or(of_folder, |(name, _)| name);
    let target = text(&message["target"]["name"]).context("no target name")?;
    Ok(Some(Program { name: format!("{package}/{target}"), executable: executable.into(), folder }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_program_is_found_in_a_message_of_cargo() {
        let message = |package: &str, is_test: bool| {
            let value = serde_json::json!({
                "reason": "compiler-artifact",
                "package_id": package,
                "manifest_path": "/p/crates/cli/Cargo.toml",
                "target": {"name": "it"},
                "profile": {"test": is_test},
                "executable": "/p/target/debug/deps/it-1",
            });
            program(&value.to_string()).unwrap()
        };
        let expected = |name: &str| Program {
            name: name.to_owned(),
            executable: "/p/target/debug/deps/it-1".into(),
            folder: "/p/crates/cli".into(),
        };
        let named = "path+file:///p/crates/cli#wirebench@0.1.0";
        assert_eq!(message(named, true), Some(expected("wirebench/it")));
        assert_eq!(message("path+file:///p/xtask#0.1.0", true), Some(expected("xtask/it")));
        assert_eq!(message(named, false), None);
        assert_eq!(program(r#"{"reason": "build-finished"}"#).unwrap(), None);
    }
}
