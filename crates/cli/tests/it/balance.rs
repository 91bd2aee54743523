//! A server in a cohort that does a part of its work when no visit counts it.

use wirebench_schema::journal::ReasonKind;

use crate::{
    cohorts::{measured, undisturbed},
    world::World,
};

/// Answers at once, and uses 200 ms of CPU time each time that a burst of requests is over, and at SIGTERM.
const DEFERS: &str = r#"
import os, signal, socket, sys, threading, time
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!"
replies = 0
def spin():
    until = time.thread_time() + 0.2
    while time.thread_time() < until:
        pass
def end(*_):
    spin()
    os._exit(0)
def talk(connection):
    global replies
    while connection.recv(4096):
        replies += 1
        connection.sendall(REPLY)
def defer():
    done = last = 0
    while True:
        time.sleep(0.01)
        if last == replies > done + 20:
            spin()
            done = replies
        last = replies
signal.signal(signal.SIGTERM, end)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
threading.Thread(target=defer, daemon=True).start()
while True:
    threading.Thread(target=talk, args=listener.accept()[:1], daemon=True).start()
"#;

#[test]
fn work_outside_the_visits_is_reported() {
    let with_server = || {
        let world = World::that_sends();
        world.write("defers.py", DEFERS);
        world
    };
    let options = ["--server", "python3 defers.py {port}", "--blocks=1"];
    let (world, _) = undisturbed(with_server, &options);
    for (_, measured) in measured(&world.journal(), "own/python3") {
        let text = |kind| {
            let found = measured.reasons.iter().find(|it| it.kind == kind);
            found.unwrap_or_else(|| panic!("{kind}: {measured:#?}")).text()
        };
        let (deferred, late) = (text(ReasonKind::DeferredWork), text(ReasonKind::LateWork));
        assert!(deferred.contains("as counted"), "{deferred}");
        assert!(late.contains("before SIGTERM"), "{late}");
        let balance = measured.instance.unwrap().balance.unwrap();
        assert!(balance.visits_ns > 0 && balance.end_ns > 100_000_000, "{balance:?}");
    }
    world.wait_for_silence();
}
