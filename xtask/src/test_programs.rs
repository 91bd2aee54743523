//! Runs the test programs of the workspace two at a time: most tests wait for servers and timers. Cargo
//! would run one program after the other.

use anyhow::{Context, bail, ensure};
use std::{
    net::{Ipv6Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::Mutex,
    thread,
    time::Instant,
};

use wirebench_server::executable::exists;

use crate::{
    axe,
    step::{at_root, output},
};

/// Programs that run at the same time.
const WORKERS: usize = 2;
/// Programs that take longest, which start first.
const LONGEST: [&str; 3] = ["wirebench/it", "wirebench-verify/it", "wirebench-nullserver/it"];
/// Tests of a program that run at the same time, and of the first of [`LONGEST`]: most of its tests wait.
const THREADS: &str = "3";
const THREADS_OF_LONGEST: &str = "5";
/// The program whose tests need the CPUs for themselves.
const ALONE: &str = "wirebench/provoke";
/// Not a test, but a server that tests start.
const SERVER: &str = "servers::serve";
/// The end of a test's name, and whether this machine has what such tests need.
type Need = (&'static str, fn() -> bool);
/// Ends of the names of tests that need something: they are ignored by `cargo test`, and run here if it
/// is there.
const NEEDS: [Need; 18] = [
    ("_with_apt_get", || exists("apt-get")),
    ("_with_axe", || exists("chromium") && axe::is_there()),
    ("_with_chromium", || exists("chromium")),
    ("_with_cpp", || exists("g++")),
    ("_with_git", || exists("git")),
    ("_with_go", || exists("go")),
    ("_with_h2load", || exists("h2load")),
    ("_with_hey", || exists("hey")),
    ("_with_hosts", can_make_hosts),
    ("_with_java", || exists("javac")),
    ("_with_make", || exists("make")),
    ("_with_node", || exists("node")),
    ("_with_python3", || exists("python3")),
    ("_with_slurm", can_make_a_cluster),
    ("_with_wrk", || exists("wrk")),
    ("_with_ipv6", || TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()),
    ("_with_two_cpus", || thread::available_parallelism().is_ok_and(|it| it.get() >= 2)),
    ("_as_root", || rustix::process::geteuid().is_root()),
];

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
struct Program {
    name: String,
    executable: PathBuf,
    /// The folder of the package, in which tests expect to run.
    folder: PathBuf,
}

/// Builds all tests and runs them, except those whose name contains `skip`.
pub(crate) fn run(cargo: &str, skip: &str) -> anyhow::Result<()> {
    let began = Instant::now();
    println!("\n== tests\n$ {cargo} test --workspace --locked --no-run");
    let mut programs = build(cargo)?;
    println!("== tests: built in {:.0} s", began.elapsed().as_secs_f64());
    programs
        .sort_by_key(|it| LONGEST.iter().position(|name| *name == it.name).unwrap_or(usize::MAX));
    let (alone, together): (Vec<Program>, Vec<Program>) =
        programs.into_iter().partition(|it| it.name == ALONE);
    ensure!(alone.len() == 1, "the tests of {ALONE} were not built");
    let missing = NEEDS.iter().filter(|(_, is_there)| !is_there()).map(|(name, _)| *name);
    let skipped: Vec<&str> = [skip, SERVER].into_iter().chain(missing).collect();
    let arguments: Vec<&str> = std::iter::once("--include-ignored")
        .chain(skipped.iter().flat_map(|name| ["--skip", name]))
        .collect();
    println!("== tests: skipped: {}", skipped.join(", "));
    let mut failed = Vec::new();
    for (programs, workers) in [(together, WORKERS), (alone, 1)] {
        failed.extend(run_all(programs, workers, &arguments)?);
    }
    println!("== tests: {:.0} s", began.elapsed().as_secs_f64());
    if !failed.is_empty() {
        bail!("tests failed in {}", failed.join(", "));
    }
    Ok(())
}

fn build(cargo: &str) -> anyhow::Result<Vec<Program>> {
    let mut command = at_root(cargo, ["test", "--workspace", "--locked", "--no-run"]);
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let lines = output(&mut command).context("the tests cannot be built")?;
    lines.lines().filter_map(|line| program(line).transpose()).collect()
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

/// Runs programs from a queue, and returns the names of those that failed.
fn run_all(
    programs: Vec<Program>,
    workers: usize,
    arguments: &[&str],
) -> anyhow::Result<Vec<String>> {
    let queue = Mutex::new(programs.into_iter());
    let work = || -> anyhow::Result<Vec<String>> {
        let mut failed = Vec::new();
        loop {
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            let Some(program) = next else { return Ok(failed) };
            let began = Instant::now();
            let threads = if program.name == LONGEST[0] { THREADS_OF_LONGEST } else { THREADS };
            let output = Command::new(&program.executable)
                .args(arguments)
                .env("RUST_TEST_THREADS", threads)
                .current_dir(&program.folder)
                .output()
                .with_context(|| program.executable.display().to_string())?;
            print(&program.name, &output, began.elapsed().as_secs_f64());
            if !output.status.success() {
                failed.push(program.name);
            }
        }
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut failed = Vec::new();
        for worker in all {
            failed.extend(worker.join().ok().context("a worker panicked")??);
        }
        Ok(failed)
    })
}

/// Prints all output of a program at once, so that those of two are not mixed.
fn print(name: &str, output: &Output, seconds: f64) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    println!(
        "\n== tests of {name}\n{out}{err}== tests of {name}: {seconds:.0} s, {}",
        output.status
    );
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
