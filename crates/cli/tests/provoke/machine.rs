//! Disturbances around a run: programs that take its CPUs, limits, and signals that stop the
//! generator. A disturbance that this machine does not support is reported and skipped.

use rustix::{
    process::{Pid, Signal, kill_process},
    thread::{CpuSet, sched_setaffinity},
};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::world::World;

/// The name under which this program takes a CPU.
pub(crate) const SPINNER: &str = "busy-neighbour";
/// The word that makes it run in pulses, and how long it runs and pauses then.
const PULSING: &str = "pulsing";
const PULSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(95));
/// A neighbour ends at the latest after this, whatever becomes of the test.
const LIFE: Duration = Duration::from_secs(40);
/// When in a load the generator is stopped, and for how long.
const STOP_AFTER: Duration = Duration::from_millis(500);
const STOPPED: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Around {
    /// Nothing that is made here.
    Nothing,
    /// Another program on the server's CPU.
    BusyServerCpu,
    /// A program of real-time priority on the server's CPU, for 5 ms of every 100 ms.
    PulsingServerCpu,
    /// Another program on the generator's CPU.
    BusyGeneratorCpu,
    /// Another process stops the generator in the middle of a run.
    StoppedGenerator,
    /// A control group with a fifth of a CPU.
    Throttled,
    /// A network of its own with a handful of ports.
    FewPorts,
}

/// What must be undone when the run is over. Dropping it does so.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// Prefix of the command line of the run.
    pub(crate) before: Vec<String>,
    children: Vec<Child>,
    group: Option<PathBuf>,
}

impl Drop for Made {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(group) = &self.group {
            // Its last process may still be ending.
            let until = Instant::now() + Duration::from_secs(5);
            while fs::remove_dir(group).is_err() && Instant::now() < until {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

impl Around {
    /// The CPUs that a run needs of its own for this.
    pub(crate) const fn cpus(self) -> Option<(usize, usize)> {
        match self {
            Self::BusyServerCpu
            | Self::PulsingServerCpu
            | Self::BusyGeneratorCpu
            | Self::StoppedGenerator => Some((0, 1)),
            Self::Nothing | Self::Throttled | Self::FewPorts => None,
        }
    }

    /// Makes it. An error is the reason why it cannot be made here.
    pub(crate) fn make(self, world: &World, cpus: &[u32]) -> Result<Made, String> {
        match self {
            Self::Nothing | Self::StoppedGenerator => Ok(Made::default()),
            Self::BusyServerCpu => Ok(busy(world, cpus[0])),
            Self::PulsingServerCpu => pulsing(world, cpus[0]),
            Self::BusyGeneratorCpu => Ok(busy(world, cpus[1])),
            Self::Throttled => throttled(),
            Self::FewPorts => few_ports(),
        }
    }
}

pub(crate) fn as_program(world: &World, name: &str) -> PathBuf {
    let path = world.folder.path().join(name);
    if !path.exists() {
        symlink(std::env::current_exe().unwrap(), &path).unwrap();
    }
    path
}

/// Two neighbours, so that two thirds of the CPU are gone.
fn busy(world: &World, cpu: u32) -> Made {
    let spinner = || {
        let mut command = Command::new(as_program(world, SPINNER));
        command.arg(cpu.to_string()).stdin(Stdio::null()).spawn().unwrap()
    };
    let mut made = Made::default();
    made.children.extend([spinner(), spinner()]);
    made
}

/// A neighbour that runs ahead of every ordinary thread, and rarely.
fn pulsing(world: &World, cpu: u32) -> Result<Made, String> {
    let real_time = ["-f", "1"];
    let works = Command::new("chrt").args(real_time).arg("true").output();
    if !works.is_ok_and(|output| output.status.success()) {
        return Err("real-time priority is not permitted, or `chrt` is missing".to_owned());
    }
    let mut command = Command::new("chrt");
    command.args(real_time).arg(as_program(world, SPINNER)).args([&cpu.to_string(), PULSING]);
    let mut made = Made::default();
    made.children.push(command.stdin(Stdio::null()).spawn().map_err(|error| error.to_string())?);
    Ok(made)
}

/// Takes a CPU for a while: all the time, or in pulses.
pub(crate) fn spin(words: &[String]) -> ExitCode {
    let Some(Ok(cpu)) = words.first().map(|word| word.parse()) else { return ExitCode::FAILURE };
    let mut set = CpuSet::new();
    set.set(cpu);
    if sched_setaffinity(None, &set).is_err() {
        return ExitCode::FAILURE;
    }
    let is_pulsing = words.get(1).is_some_and(|word| word == PULSING);
    let (run, pause) = if is_pulsing { PULSE } else { (LIFE, Duration::ZERO) };
    let until = Instant::now() + LIFE;
    while Instant::now() < until {
        let began = Instant::now();
        while began.elapsed() < run {}
        thread::sleep(pause);
    }
    ExitCode::SUCCESS
}

/// A group of either version that may use a fifth of one CPU; whoever is started through `before` is
/// in it.
fn throttled() -> Result<Made, String> {
    let name = format!("wirebench-test-{}", std::process::id());
    let limits: [(&str, &[(&str, &str)]); 3] = [
        ("/sys/fs/cgroup/cpu", &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "20000")]),
        ("/sys/fs/cgroup/cpu,cpuacct", &[("cpu.cfs_quota_us", "20000")]),
        ("/sys/fs/cgroup", &[("cpu.max", "20000 100000")]),
    ];
    for (root, files) in limits {
        let group = Path::new(root).join(&name);
        if !Path::new(root).join("cgroup.procs").exists() || fs::create_dir(&group).is_err() {
            continue;
        }
        let mut made = Made::default();
        made.group = Some(group.clone());
        if files.iter().all(|(file, value)| fs::write(group.join(file), value).is_ok()) {
            let script = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", group.display());
            made.before = shell(&script);
            return Ok(made);
        }
    }
    Err("no control group with a limit of CPU time can be made here".to_owned())
}

/// A network namespace in which a hundred ports are all there are, and none is used again soon.
fn few_ports() -> Result<Made, String> {
    let script = "cd /proc/sys/net/ipv4 && ip link set lo up && echo 0 > tcp_tw_reuse && \
                  echo '40000 40099' > ip_local_port_range && cd \"$OLDPWD\" && exec \"$@\"";
    let before = [vec!["unshare".to_owned(), "--net".to_owned()], shell(script)].concat();
    let works = Command::new(&before[0]).args(&before[1..]).arg("true").output();
    if works.is_ok_and(|output| output.status.success()) {
        let mut made = Made::default();
        made.before = before;
        return Ok(made);
    }
    Err("no network namespace with ports of its own can be made here".to_owned())
}

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script, "sh"].map(str::to_owned).to_vec()
}

/// Stops each generator of `world` once in the middle of its load, until `done`.
pub(crate) fn stop_generators(world: &World, done: impl Fn() -> bool) {
    let mut known = Vec::new();
    while !done() {
        let loads =
            world.processes().into_iter().filter(|line| line.trim_end().ends_with(" agent"));
        let pids = loads.filter_map(|line| line.split_once(' ')?.0.parse().ok());
        if let Some(pid) = pids.filter_map(Pid::from_raw).find(|pid| !known.contains(pid)) {
            known.push(pid);
            thread::sleep(STOP_AFTER);
            let _ = kill_process(pid, Signal::STOP);
            thread::sleep(STOPPED);
            let _ = kill_process(pid, Signal::CONT);
        }
        thread::sleep(Duration::from_millis(10));
    }
}
