//! Signals and sudden deaths: nothing may survive, nothing may be lost.

use crate::world::{ENTRY, World};
use rustix::process::Signal;
use std::{io::Read, net::TcpStream};
use wirebench_schema::journal::EndReason;

/// A run that would take minutes.
const LONG: [&str; 6] = ["run", "builtin/epoll", "--no-verify", "-d", "60s", "--quiet"];

#[test]
fn a_signal_ends_a_run_in_order_with_a_partial_report() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let world = World::that_sends();
        let running = world.start(&LONG);
        world.wait_for_process("wirebench agent");
        running.signal(signal);
        let outcome = running.end();
        assert_eq!(outcome.code, Some(code), "{outcome:#?}");
        assert!(outcome.stdout.contains("interrupted"), "{outcome:#?}");
        assert_eq!(world.journal().end.unwrap().reason, EndReason::Interrupted);
        world.wait_for_silence();
    }
}

#[test]
fn a_hangup_that_is_ignored_ends_nothing() {
    let world = World::that_sends();
    let (_server, url) = world.serve("hello");
    let script =
        "trap '' HUP; \"$0\" load -c1 -d2s --quiet \"$1\" & sleep 1; kill -HUP $!; wait $!";
    let program = assert_cmd::cargo::cargo_bin("wirebench");
    let output =
        std::process::Command::new("sh").args(["-c", script]).arg(program).arg(url).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("requests in 2.0"), "{output:?}");
}

#[test]
fn kill_9_of_a_run_leaves_no_server_and_no_generator() {
    let world = World::that_sends();
    let running = world.start(&LONG);
    world.wait_for_process("wirebench agent");
    world.wait_for_process("null-server");
    running.signal(Signal::KILL);
    world.wait_for_silence();
    // What was journalled before can still be read.
    assert_eq!(world.journal().end, None);
    let folder = world.results();
    let outcome = world.wirebench(&["report", folder.to_str().unwrap()]);
    assert!(outcome.stdout.contains("cut off"), "{outcome:#?}");
}

#[test]
fn kill_9_of_a_build_leaves_nothing_that_it_has_started() {
    let script = "setsid --fork sleep 291; sleep 292 & sleep 293; true";
    let step = format!("[[build]]\ncommand = [\"sh\", \"-c\", \"{script}\"]\n");
    let world = World::that_sends().with_entry("c/x", &format!("{ENTRY}{step}"));
    let running = world.start(&["build", "c/x"]);
    for sleeper in ["sleep 291", "sleep 292", "sleep 293"] {
        world.wait_for_process(sleeper);
    }
    running.signal(Signal::KILL);
    world.wait_for_silence();
}

#[test]
fn what_a_build_leaves_running_on_purpose_outlives_wirebench() {
    let step = "[[build]]\ncommand = [\"setsid\", \"--fork\", \"sleep\", \"294\"]\n";
    let world = World::that_sends().with_entry("c/x", &format!("{ENTRY}{step}"));
    let _ = world.wirebench(&["build", "c/x"]);
    let left = world.processes();
    for process in &left {
        let pid = process.split(' ').next().and_then(|pid| pid.parse().ok());
        let pid = pid.and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(pid, Signal::KILL).unwrap();
    }
    assert!(left.iter().any(|process| process.ends_with("sleep 294 ")), "{left:?}");
}

#[test]
fn serve_stays_until_ctrl_c_and_takes_its_server_along() {
    let world = World::that_sends();
    let mut running = world.start(&["serve", "builtin/epoll", "--scenario", "echo"]);
    let mut stream = TcpStream::connect(running.address()).unwrap();
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(130));
    // The server is gone, so the connection ends, one way or the other.
    assert!(matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_)));
    world.wait_for_silence();
}
