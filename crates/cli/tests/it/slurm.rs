//! `--slurm` on a cluster of one node, which is this machine: the test's own munged, slurmctld and slurmd.

use rustix::process::{Signal, kill_process};
use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::journal::EndReason;

use crate::world::{Outcome, Running, World, program, read, result_in, wait_for};

/// A cluster that ends when it is dropped.
struct Cluster {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Cluster {
    fn new(folder: &Path) -> Self {
        let mut cluster = Self { folder: folder.join("slurm"), daemons: Vec::new() };
        for name in ["state", "spool"] {
            fs::create_dir_all(cluster.folder.join(name)).unwrap();
        }
        let at = |name: &str| cluster.folder.join(name).display().to_string();
        fs::write(at("key"), [7; 1024]).unwrap();
        fs::set_permissions(at("key"), fs::Permissions::from_mode(0o400)).unwrap();
        let names = ["key-file", "socket", "pid-file", "log-file", "seed-file"];
        let munged = names.map(|name| format!("--{name}={}", at(name.trim_end_matches("-file"))));
        let conf = cluster.write_conf();
        let slurm = ["-D".to_owned(), "-f".to_owned(), conf.display().to_string()];
        let foreground = ["--force".to_owned(), "-F".to_owned()];
        cluster.start("/usr/sbin/munged", &[&munged[..], &foreground].concat());
        cluster.wait("munge", &["--no-input", "--socket", &cluster.socket()], |it| !it.is_empty());
        cluster.start("slurmctld", &slurm);
        cluster.start("slurmd", &slurm);
        cluster.wait("sinfo", &["--noheader", "--format=%T"], |it| it.trim() == "idle");
        cluster
    }

    fn socket(&self) -> String {
        self.folder.join("socket").display().to_string()
    }

    fn conf(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    fn write_conf(&self) -> PathBuf {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap();
        let port = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (folder, socket) = (self.folder.display(), self.socket());
        let (controller, node) = (port(), port());
        let cpus = thread::available_parallelism().unwrap();
        let conf = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={socket}\nCredType=cred/munge\n\
             SlurmctldPort={controller}\nSlurmdPort={node}\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n\
             SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd.pid\n\
             SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN\n\
             PartitionName=bench Nodes={host} Default=YES MaxTime=INFINITE State=UP\n"
        );
        fs::write(self.conf(), conf).unwrap();
        self.conf()
    }

    fn start(&mut self, program: &str, arguments: &[String]) {
        let log = fs::File::create(self.folder.join("daemons.log")).unwrap();
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.daemons.push(command.spawn().unwrap());
    }

    fn read(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        let output = command.args(arguments).env("SLURM_CONF", self.conf()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until what a command of Slurm prints is as it should be.
    fn wait(&self, program: &str, arguments: &[&str], is_so: impl Fn(&str) -> bool) {
        let text = || self.read(program, arguments);
        wait_for(text, || is_so(&text()).then_some(()));
    }

    /// Waits until there is no job.
    fn wait_for_rest(&self) {
        self.wait("squeue", &["--noheader"], str::is_empty);
    }

    /// Starts a run on the node.
    fn run(&self, world: &World, blocks: &str) -> Running {
        let (key, mark) = world.mark();
        let mut command = Command::new(program());
        let words = "run builtin/epoll --scenario hello --phase saturate --no-pin --no-verify -o out --slurm";
        command.args(words.split(' ')).args(["--partition=bench --nodes=1", "--blocks", blocks]);
        command.envs([(key, mark)]).env("SLURM_CONF", self.conf());
        command.env("XDG_CACHE_HOME", self.folder.join("cache")).current_dir(world.folder.path());
        Running::of(command)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = kill_process(rustix::process::Pid::from_child(daemon), Signal::TERM);
            let _ = daemon.wait();
        }
    }
}

#[test]
#[ignore = "needs Slurm's programs, and root"]
fn a_run_takes_its_host_from_slurm_and_a_cancelled_job_leaves_nothing_with_slurm() {
    let world = World::new();
    let cluster = Cluster::new(world.folder.path());
    let outcome = cluster.run(&world, "1").end();
    outcome.assert_reported();
    let journal = read(&result_in(&world.folder.path().join("out")));
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    cluster.wait_for_rest();
    world.wait_for_silence();

    let run = cluster.run(&world, "50");
    world.wait_for_process("null-server");
    let job = cluster.read("squeue", &["--noheader", "--format=%A"]);
    cluster.read("scancel", &[job.trim()]);
    let cancelled = Instant::now();
    let Outcome { code, stderr, .. } = run.end();
    assert!(cancelled.elapsed() < Duration::from_secs(10), "{:?}", cancelled.elapsed());
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("Resume with: wirebench run --slurm "), "{stderr}");
    cluster.wait_for_rest();
    world.wait_for_silence();

    let run = cluster.run(&world, "50");
    world.wait_for_process("null-server");
    run.signal(Signal::INT);
    run.end().ended(130);
    cluster.wait_for_rest();
    world.wait_for_silence();
}
