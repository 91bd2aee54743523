//! Load generators on other hosts over OpenSSH. The hosts are network namespaces of this machine with an
//! sshd in each, keys made by the test, and addresses that RFC 2544 keeps for benchmarks.

use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::journal::{EndReason, Journal, Outcome};

use crate::{
    from::loaded,
    world::{Running, World, program, read, result_in, wait_for},
};

pub(crate) const SERVER: &str = "198.18.0.2:8080";

/// Carries a connection on standard input and output with delay and loss.
const SLOW: &str = r#"
import os, queue, random, socket, sys, threading, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def pump(read, write):
    pieces = queue.Queue()
    def late():
        while True:
            due, piece = pieces.get()
            time.sleep(max(0, due - time.monotonic()))
            write(piece)
            if not piece:
                os._exit(0)
    threading.Thread(target=late, daemon=True).start()
    while True:
        piece = read(65536)
        pieces.put((time.monotonic() + 0.05 + (0.2 if random.random() < 0.01 else 0), piece))
        if not piece:
            return
def write_all(piece):
    while piece:
        piece = piece[os.write(1, piece):]
threading.Thread(target=pump, args=(connection.recv, write_all)).start()
pump(lambda size: os.read(0, size), connection.sendall)
"#;

/// A suite of every kind of load.
const SUITE: &str = "description = \"An example.\"\nentries = [\"builtin/\"]\nbaseline = \"builtin/epoll\"\n\
                     blocks = 1\n[[workload]]\nname = \"hello\"\nscenario = \"hello\"\nconnections = 4\n\
                     duration = \"400ms\"\nsteady_within = \"0s\"\nphases = [\"saturate\", \"cost\"]\n\
                     rate = 500\n[[workload]]\nname = \"count\"\nscenario = \"echo\"\nconnections = 4\n\
                     requests = 200\n";

/// A network of hosts. It and everything that runs in it is taken away when this is dropped.
pub(crate) struct Network {
    /// In the names of the namespaces, which all of a machine share.
    mark: String,
    folder: PathBuf,
    children: Vec<Child>,
}

impl Network {
    /// The coordinator's host `c` with a bridge, the server's `s`, and two for generators.
    pub(crate) fn new(folder: &Path) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("wb{}{count}", std::process::id());
        let network = Self { mark, folder: folder.to_owned(), children: Vec::new() };
        network.ip(&["netns", "add", &network.name("c")]);
        network.within("c", &["link", "add", "br0", "type", "bridge"]);
        network.within("c", &["addr", "add", "198.18.0.1/24", "dev", "br0"]);
        network.within("c", &["link", "set", "br0", "up"]);
        network.within("c", &["link", "set", "lo", "up"]);
        for (host, address) in [("s", 2), ("g1", 11), ("g2", 12)] {
            let (name, centre) = (network.name(host), network.name("c"));
            network.ip(&["netns", "add", &name]);
            let peer = ["type", "veth", "peer", "name", host, "netns", &centre];
            network.ip(&[&["link", "add", "eth0", "netns", &name], &peer[..]].concat());
            network.within("c", &["link", "set", host, "master", "br0", "up"]);
            let address = format!("198.18.0.{address}/24");
            network.within(host, &["addr", "add", &address, "dev", "eth0"]);
            network.within(host, &["link", "set", "eth0", "up"]);
            network.within(host, &["link", "set", "lo", "up"]);
        }
        network
    }

    fn name(&self, host: &str) -> String {
        format!("{}{host}", self.mark)
    }

    fn ip(&self, arguments: &[&str]) {
        run(Command::new("ip").args(arguments));
    }

    fn within(&self, host: &str, arguments: &[&str]) {
        self.ip(&[&["-n", &self.name(host)], arguments].concat());
    }

    pub(crate) fn on(&self, host: &str, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(host)]).arg(program);
        command
    }

    fn start(&mut self, mut command: Command) {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.children.push(command.spawn().unwrap());
    }

    /// Starts a server that answers `hello`.
    pub(crate) fn serve(&mut self) {
        let mut server = self.on("s", program());
        server.args(["null-server", "epoll", "hello", "198.18.0.2", "8080", "1"]);
        self.start(server);
    }

    /// Starts an sshd on all hosts, and returns the carrier that reaches them from `c`.
    fn sshd(&mut self) -> String {
        let folder = self.folder.join("ssh");
        fs::create_dir(&folder).unwrap();
        // Without it sshd does not start. It is the same for all of a machine.
        fs::create_dir_all("/run/sshd").unwrap();
        let at = |name: &str| folder.join(name).display().to_string();
        for key in ["host", "user"] {
            run(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]));
        }
        fs::copy(at("user.pub"), at("authorized")).unwrap();
        let host_key = fs::read_to_string(at("host.pub")).unwrap();
        let mut client = format!(
            "Host *\n User root\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n \
             GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n",
            at("user"),
            at("known")
        );
        let mut known = String::new();
        for (host, address) in [("s", "198.18.0.2"), ("g1", "198.18.0.11"), ("g2", "198.18.0.12")] {
            let config = format!(
                "ListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
                 PidFile none\nPermitRootLogin yes\nSetEnv XDG_CACHE_HOME={}\n",
                at("host"),
                at("authorized"),
                self.folder.join(host).display()
            );
            fs::write(at(host), config).unwrap();
            let mut server = self.on(host, "/usr/sbin/sshd");
            server.args(["-D", "-f", &at(host)]);
            self.start(server);
            client += &format!("Host {host}\n HostName {address}\n");
            known += &format!("{address} {host_key}");
        }
        fs::write(at("known"), known).unwrap();
        fs::write(at("client"), client).unwrap();
        let carrier =
            format!("ip netns exec {} ssh -F {} -o BatchMode=yes", self.name("c"), at("client"));
        for host in ["s", "g1", "g2"] {
            self.wait_for(&format!("{carrier} {host} true"));
        }
        format!("{carrier} {{host}}")
    }

    /// The same carrier over a way that takes 50 ms in each direction, and on which one piece in a hundred is
    /// lost and comes after the time that TCP takes to send it again.
    fn slow(&self, carrier: &str) -> String {
        let script = self.folder.join("slow.py");
        fs::write(&script, SLOW).unwrap();
        let proxy = format!("-o 'ProxyCommand=python3 {} %h %p'", script.display());
        carrier.replace(" {host}", &format!(" {proxy} {{host}}"))
    }

    fn wait_for(&self, command: &str) {
        let run = || Command::new("sh").args(["-c", command]).output().unwrap();
        wait_for(|| format!("{:?}", run()), || run().status.success().then_some(()));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        for host in ["c", "s", "g1", "g2"] {
            // Sessions outlive their sshd.
            let pids = Command::new("ip").args(["netns", "pids", &self.name(host)]).output();
            let pids = pids.map_or_else(|_| Vec::new(), |output| output.stdout);
            for pid in String::from_utf8_lossy(&pids).lines().filter_map(|it| it.parse().ok()) {
                let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
            }
            let _ = Command::new("ip").args(["netns", "del", &self.name(host)]).output();
        }
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

#[test]
#[ignore = "needs network namespaces and sshd"]
fn generators_on_two_hosts_load_a_server_on_a_third_over_ssh_with_hosts() {
    let world = World::that_sends();
    let mut network = Network::new(world.folder.path());
    network.serve();
    let carrier = network.sshd();
    let url = format!("http://{SERVER}/");
    let words = ["load", "--from", "g1,g2", "--carrier", &carrier, "-t1", "-c8", "-d1s"];
    let text = loaded(&world, &[&words[..], &["-R", "2000", "--json", &url]].concat());
    let report = crate::load::read(&text);
    let shares = report.generators.iter().map(|it| (&*it.host, it.connections));
    assert_eq!(shares.collect::<Vec<_>>(), [("g1", 4), ("g2", 4)]);
    let due = report.offered.unwrap().due;
    assert!((1999..=2001).contains(&due), "{due} requests were due");
    assert!(report.error_examples.is_empty() && report.requests > 0, "{report:?}");
    // A host key that is not known, as after a new installation.
    let other = carrier.replace("/client", "/strict");
    let client = world.read("ssh/client");
    let strict = client.replace("ssh/known", "ssh/none");
    world.write("ssh/strict", strict);
    let outcome =
        world.wirebench(&["load", "--from", "g1", "--carrier", &other, "-d1s", &url]).ended(1);
    assert!(outcome.stderr.starts_with("error: g1: "), "{outcome:#?}");
    assert!(outcome.stderr.contains("Host key verification failed"), "{outcome:#?}");
    world.wait_for_silence();
}

#[test]
#[ignore = "needs network namespaces and sshd"]
fn a_link_that_is_cut_ends_the_load_and_the_agents_with_hosts() {
    let world = World::that_sends();
    let mut network = Network::new(world.folder.path());
    network.serve();
    let carrier = network.sshd();
    let url = format!("http://{SERVER}/");
    let load =
        world.start(&["load", "--from", "g1,g2", "--carrier", &carrier, "-c8", "-d60s", &url]);
    let program = format!("{}/", network.folder.join("g1").display());
    let is_agent = |line: &[u8]| line.starts_with(program.as_bytes()) && line.ends_with(b"agent\0");
    let agents = || {
        let lines = fs::read_dir("/proc").unwrap().flatten();
        let lines = lines.map(|it| fs::read(it.path().join("cmdline")).unwrap_or_default());
        lines.filter(|line| is_agent(line)).count()
    };
    let wait = |count: usize| wait_for(agents, || (agents() == count).then_some(()));
    wait(1);
    thread::sleep(Duration::from_secs(1));
    network.within("g1", &["link", "set", "eth0", "down"]);
    let cut = Instant::now();
    wait(0);
    assert!(cut.elapsed() < Duration::from_secs(10), "{:?}", cut.elapsed());
    let outcome = load.end();
    assert!(cut.elapsed() < Duration::from_secs(10), "{:?}", cut.elapsed());
    assert_eq!(outcome.code, Some(1), "{outcome:#?}");
    assert!(outcome.stderr.starts_with("error: g1: "), "{outcome:#?}");
    world.wait_for_silence();
}

/// The rows of generators in all runs with figures.
fn generators(journal: &Journal) -> Vec<Vec<String>> {
    let measured = journal.runs.iter().filter_map(|run| match &run.outcome {
        Outcome::Measured(measured) => Some(&measured.load),
        Outcome::Failed { reason, .. } if reason.contains("disturbed") => None,
        _ => panic!("{run:#?}"),
    });
    measured.map(|load| load.generators.iter().map(|it| it.host.clone()).collect()).collect()
}

#[test]
#[ignore = "needs network namespaces and sshd"]
fn a_suite_that_ssh_starts_on_one_host_takes_its_load_from_two_others_with_hosts() {
    let world = World::that_sends().with_suite("own.toml", SUITE);
    let mut network = Network::new(world.folder.path());
    let carrier = network.sshd();
    let slow = ["--scenario=hello", "--phase=saturate"];
    let slowly = network.slow(&carrier);
    for (carrier, options, runs) in [(carrier, &[][..], 9), (slowly, &slow, 3)] {
        // The address of the servers is the one that ssh has reached.
        let words = "run own --from g1,g2 -o out --no-pin --carrier";
        let words: Vec<&str> =
            words.split(' ').chain([&*carrier]).chain(options.iter().copied()).collect();
        let ((key, mark), folder) = (world.mark(), world.folder.path().display());
        let words = shlex::try_join(words).unwrap();
        let script = format!("cd {folder} && {key}={mark} {} {words}", program().display());
        let mut ssh = shlex::split(&carrier.replace("{host}", "s")).unwrap();
        ssh.push(script);
        let mut command = Command::new(&ssh[0]);
        command.args(&ssh[1..]);
        let outcome = Running::of(command).end();
        outcome.assert_reported();
        let journal = read(&result_in(&world.path("out")));
        assert_eq!(journal.end.as_ref().unwrap().reason, EndReason::Complete);
        assert_eq!(journal.runs.len(), runs, "{:#?}", journal.runs);
        let generators = generators(&journal);
        assert!(generators.iter().all(|it| *it == ["g1", "g2"]), "{generators:?}");
        assert!(!generators.is_empty(), "{:#?}", journal.runs);
        fs::remove_dir_all(world.path("out")).unwrap();
    }
    world.wait_for_silence();
}
