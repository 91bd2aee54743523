//! No process of a server survives those who keep it, even when they are killed with SIGKILL.

use crate::bench::{WRONG_SERVER, expect_gone, marked, new_mark, processes};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// A process that has started a server with a guard, as wirebench does, and the numbers of the
/// server's processes.
fn start_launcher(mode: &str, mark: &str) -> (Child, Vec<i32>) {
    let (name, value) = marked(mark);
    let mut launcher = Command::new(WRONG_SERVER)
        .args(["launcher", mode])
        .env(name, value)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(launcher.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let numbers = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
    (launcher, numbers)
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_server_and_its_detached_child_end_when_wirebench_is_killed() {
    let mark = new_mark();
    let (mut launcher, server) = start_launcher("leaves-child", &mark);
    assert_eq!(server.len(), 2, "the server and its child");
    // The launcher, the guard and the two.
    assert_eq!(processes(&mark).len(), 4);
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    expect_gone(&mark);
}

#[test]
fn a_server_ends_when_its_guard_is_killed() {
    let mark = new_mark();
    let (mut launcher, server) = start_launcher("correct", &mark);
    let own = i32::try_from(launcher.id()).unwrap();
    let guard = processes(&mark).into_iter().find(|pid| *pid != own && !server.contains(pid));
    kill(guard.unwrap());
    // The launcher itself lives on; it is ended once the server is seen to be gone.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while processes(&mark).iter().any(|pid| server.contains(pid)) {
        assert!(std::time::Instant::now() < until, "the server is left");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    expect_gone(&mark);
}
