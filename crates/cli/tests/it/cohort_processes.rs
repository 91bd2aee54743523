//! Servers in cohorts whose processes come and go: children that end within visits, and a process
//! that joins a server on its port.

use std::{fs, process::Command};
use wirebench_schema::journal::{Measurement, ReasonKind, Visit};

use crate::{
    cohorts::{SHORT, assert_failed, figures, measured, of, undisturbed},
    world::World,
};

/// Each request is answered by a child that uses 5 ms of CPU time. Its second argument says what becomes of
/// children: `wait` for each, `lazily` with the next request, leave them to the guard as an `orphan`, ignore
/// SIGCHLD (`ignore`) or set SA_NOCLDWAIT (`nocldwait`), or let them `linger` for longer than a visit lasts. With
/// `log` it answers itself and writes a line for each request.
const FORKS: &str = r#"
import ctypes, os, select, signal, socket, struct, sys, time
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!"
mode = sys.argv[2]
if mode == "ignore":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if mode == "nocldwait":
    ctypes.CDLL(None).sigaction(17, struct.pack("P128si4xP", 0, b"", 2, 0), None)
def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
if mode == "linger":
    signal.signal(signal.SIGCHLD, reap)
def answer(connection):
    if mode == "orphan" and os.fork():
        os._exit(0)
    until = time.process_time() + 0.005
    while time.process_time() < until:
        pass
    connection.sendall(REPLY)
    time.sleep(2 if mode == "linger" else 0)
    os._exit(0)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
poll, open_connections = select.epoll(), {}
poll.register(listener, select.EPOLLIN)
while True:
    for number, _ in poll.poll():
        connection = open_connections.get(number)
        if connection is None:
            connection = listener.accept()[0]
            open_connections[connection.fileno()] = connection
            poll.register(connection, select.EPOLLIN)
        elif connection.recv(4096):
            if mode == "log":
                os.write(2, b"GET / 200 %s\n" % (b"x" * 200))
                connection.sendall(REPLY)
                continue
            child = os.fork()
            if child == 0:
                answer(connection)
            if mode in ("wait", "orphan"):
                os.waitpid(child, 0)
            if mode == "lazily":
                reap()
        else:
            poll.unregister(number)
            del open_connections[number]
"#;

/// Two processes that share a port. The server, whose arguments are its port and `serve`, writes it down with its
/// first request and then waits until the other one has joined it.
const SHARES: &str = r#"
import os, socket, sys, threading, time
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!"
def wait_for(path):
    until = time.monotonic() + 60
    while not os.path.exists(path) and time.monotonic() < until:
        time.sleep(0.005)
def note(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)
serves = sys.argv[2] == "serve"
if not serves:
    wait_for("port")
port = sys.argv[1] if serves else open("port").read()
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
listener.bind(("127.0.0.1", int(port)))
listener.listen(64)
if not serves:
    note("joined", "")
def talk(connection):
    while connection.recv(4096):
        if serves and not os.path.exists("joined"):
            note("port", port)
            wait_for("joined")
        connection.sendall(REPLY)
while True:
    threading.Thread(target=talk, args=listener.accept()[:1], daemon=True).start()
"#;

#[test]
fn a_process_that_joins_the_server_on_its_port_during_the_load_leaves_no_figures() {
    let cohorts: &[&str] = &["--procedure=cohorts", "--rounds=2", "--visit=50ms"];
    for procedure in [cohorts, &["--procedure=process", "-d200ms"]] {
        let world = World::that_sends();
        let folder = world.folder.path();
        fs::write(folder.join("shares.py"), SHARES).unwrap();
        let mut other = Command::new("python3");
        other.args(["shares.py", "0", "join"]).current_dir(folder);
        let mut other = other.spawn().unwrap();
        let server = ["run", "--server", "python3 shares.py {port} serve", "--blocks=1"];
        let outcome = world.wirebench(&[&server, procedure, &SHORT[1..]].concat());
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(outcome.code, Some(1), "{outcome:#?}");
        let reason = format!("process {} (python3) listens on 127.0.0.1:", other.id());
        assert_failed(&world.journal(), "own/python3", &reason);
        of(&world.journal(), "builtin/epoll").into_iter().for_each(|run| _ = figures(run));
    }
}

/// The modes and runs of servers of one cohort. The kernel's ticks show what children have used only in long visits.
fn runs_of_forks(modes: &[&str], visit: &str) -> Vec<(String, Measurement)> {
    let with_server = || {
        let world = World::that_sends();
        world.write("forks.py", FORKS);
        world
    };
    let server =
        |it: &&str| [format!("--server=python3 forks.py {{port}} {it}"), format!("--name={it}")];
    let servers: Vec<String> = modes.iter().flat_map(server).collect();
    let options = servers.iter().map(String::as_str).chain(["--blocks=1", visit]);
    let (world, outcome) = undisturbed(with_server, &options.collect::<Vec<_>>());
    outcome.assert_reported();
    let runs = |mode: &&str| {
        let (journal, mode) = (world.journal(), format!("own/{mode}"));
        let runs = measured(&journal, &mode).into_iter();
        runs.map(|(_, measured)| (mode.clone(), measured.clone())).collect::<Vec<_>>()
    };
    modes.iter().flat_map(runs).collect()
}

#[test]
fn children_that_end_within_visits_are_counted_where_they_are_waited_for() {
    for (mode, measured) in runs_of_forks(&["wait", "lazily", "orphan"], "--visit=600ms") {
        let cost = &measured.cost;
        assert!(cost.cpu_ns_per_request.is_some_and(|ns| ns > 4e6), "{mode}: {measured:#?}");
        let of_visits = measured.visits.iter().filter_map(Visit::cpu_ns_per_request);
        assert!(of_visits.fold(0.0, f64::max) > 4e6, "{mode}: {measured:#?}");
        let kinds: Vec<_> = measured.reasons.iter().map(|reason| reason.kind).collect();
        assert!(kinds.contains(&ReasonKind::ProcessesChanged), "{mode}: {kinds:?}");
        assert!(!kinds.contains(&ReasonKind::NoCost), "{mode}: {kinds:?}");
    }
}

#[test]
fn a_log_that_is_read_during_visits_is_reported() {
    for (_, measured) in runs_of_forks(&["log"], "--visit=50ms") {
        let found = measured.reasons.iter().find(|it| it.kind == ReasonKind::Stderr);
        let text = &found.unwrap_or_else(|| panic!("{measured:#?}")).text();
        assert!(text.contains("wrote"), "{text}");
    }
}

#[test]
fn children_whose_time_goes_nowhere_or_to_no_visit_leave_no_cost() {
    for (mode, measured) in runs_of_forks(&["ignore", "nocldwait", "linger"], "--visit=600ms") {
        assert_eq!(measured.cost.cpu_ns_per_request, None, "{mode}");
        assert!(measured.visits.iter().all(|it| it.cpu_ns.is_none()), "{mode}: {measured:#?}");
        let found = measured.reasons.iter().any(|it| it.kind == ReasonKind::NoCost);
        assert!(found, "{mode}: {:?}", measured.reasons);
    }
}
