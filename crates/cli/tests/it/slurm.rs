//! Blocks in jobs of Slurm on a cluster of one node, which is this machine: the test's own munged, slurmctld and
//! slurmd.

use rustix::process::{Signal, kill_process};
use std::{
    env, fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};
use wirebench_schema::journal::EndReason;

use crate::{
    from::SUITE,
    world::{World, program, read, result_in, wait_for},
};

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

    /// Runs a script of the manual with the settings of the cluster, and returns what it prints.
    fn script(&self, world: &World, script: &str) -> String {
        let path =
            format!("{}:{}", program().parent().unwrap().display(), env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-ec", script]).current_dir(world.folder.path()).envs([world.mark()]);
        command.env("SLURM_CONF", self.conf()).env("PATH", path);
        command.env("XDG_CACHE_HOME", self.folder.join("cache"));
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
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

/// The indented lines of the manual's section about Slurm: the script of a block, and how it is submitted.
fn recipe() -> (String, String) {
    let manual = include_str!("../../../../docs/hosts.md");
    let (_, section) = manual.split_once("\n## Slurm\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let (script, jobs) = section.split_once("Block 1 finds").unwrap();
    let code = |text: &str| -> String {
        let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
        lines.map(|line| format!("{line}\n")).collect()
    };
    (code(script), code(jobs))
}

/// A text with replacements for a cluster of one node, each of which it must have.
fn adapted(text: String, replacements: &[(&str, &str)]) -> String {
    replacements.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{old} is missing in {text}");
        text.replace(old, new)
    })
}

#[test]
#[ignore = "needs Slurm's programs, and root"]
fn the_recipe_of_the_manual_measures_blocks_in_a_job_array_and_joins_them_with_slurm() {
    let world = World::that_sends().with_suite("own.toml", SUITE);
    let cluster = Cluster::new(world.folder.path());
    let (script, jobs) = recipe();
    let options = "own --address 127.0.0.1 --no-pin --no-verify";
    let script = adapted(script, &[("full", options), ("/8", "/3"), ("tail -n +2", "cat")]);
    world.write("block.sh", script);
    let jobs = adapted(jobs, &[("-N2", "-N1"), ("=2-8", "=2-3")]);
    cluster.script(&world, &jobs);
    cluster.wait_for_rest();
    world.wait_for_silence();
    let whole = read(&result_in(&world.path("whole")));
    assert_eq!(whole.end.unwrap().reason, EndReason::Complete);
    let parts: Vec<_> = whole.parts.iter().map(|it| (it.block, it.failure.is_none())).collect();
    assert_eq!(parts, [(0, true), (1, true), (2, true)]);
    assert!(whole.parts.iter().all(|it| it.pair.contains(':')), "{:#?}", whole.parts);

    let script = world.read("block.sh");
    let script = adapted(script, &[("out/$k", "lost")]);
    world.write("lost.sh", script);
    let repeated = "sbatch --parsable -N1 --exclusive --array=2 lost.sh --rates out/1";
    let job = cluster.script(&world, repeated);
    world.wait_for_process("null-server");
    cluster.read("scancel", &[job.trim()]);
    cluster.wait_for_rest();
    world.wait_for_silence();
    let outcome = world.wirebench(&["join", "out/1", "lost", "out/3"]).ended(1);
    assert!(outcome.stderr.contains("1 of 3 blocks are missing:\n  block 2, "), "{outcome:#?}");
}
