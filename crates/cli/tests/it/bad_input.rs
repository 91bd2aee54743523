//! What people get wrong, and the sentence that they get for it.

use crate::{
    golden,
    world::{ENTRY, World},
};
use std::{
    io::Write,
    net::{SocketAddr, TcpListener},
};

const SUITE: &str = "description = \"An example.\"\nblocks = 1\n[[workload]]\nname = \"a\"\n\
                     scenario = \"hello\"\nconnections = 1\nduration = \"50ms\"\n";

#[test]
fn an_unknown_key_in_an_entry_is_named_with_its_file_and_stops_only_who_names_the_entry() {
    let good = format!("{ENTRY}[[build]]\ncommand = [\"true\"]\n");
    let world =
        World::new().with_entry("c/x", &ENTRY.replace("skips", "skipz")).with_entry("c/y", &good);
    let sentence = "c/x/entry.toml: line 9: unknown key `skipz`: did you mean `skips`?";
    for verb in ["list", "run", "verify", "build"] {
        world.wirebench(&[verb, "c/x"]).assert_refused(2, &[sentence]);
        assert_eq!(world.wirebench(&["list", "c/y"]).code, Some(0));
    }
    let all = world.wirebench(&["list"]);
    assert_eq!(all.code, Some(0), "{all:#?}");
    assert!(all.stdout.contains("not available") && all.stdout.contains(sentence), "{all:#?}");
    let all = world.wirebench(&["build"]);
    assert_eq!(all.code, Some(1), "{all:#?}");
    assert!(all.stdout.contains("c/y: built in") && all.stdout.contains(sentence), "{all:#?}");
}

#[test]
fn an_invalid_pattern_is_reported_before_anything_is_built() {
    for (pattern, part) in [("(", "the version `cat`: `(`"), ("x", "has no group: put")] {
        let world = World::new().with_entry("c/x", &ENTRY.replace(r"(\d+\.\d+)", pattern));
        world.wirebench(&["build", "c/x"]).assert_refused(2, &["c/x/entry.toml: ", part]);
    }
}

#[test]
fn an_unknown_key_in_a_suite_is_named_with_its_file() {
    let world = World::new().with_suite("mine.toml", &SUITE.replace("connections", "conections"));
    let parts = ["suites/mine.toml: line 6: unknown key `conections`: did you mean `connections`?"];
    world.wirebench(&["run", "mine"]).assert_refused(2, &parts);
}

#[test]
fn an_unknown_entry_gets_the_nearest_one() {
    let world = World::new().with_entry("c/epoll", ENTRY);
    for arguments in [&["verify", "c/epol"][..], &["run", "c/epol"], &["serve", "epol"]] {
        world.wirebench(arguments).assert_refused(2, &["c/epol", "did you mean `c/epoll`?"]);
    }
    world.wirebench(&["run", "quik"]).assert_refused(2, &["did you mean `quick`?"]);
}

#[test]
fn a_scenario_that_the_entry_lacks_is_answered_with_those_that_it_has() {
    let world = World::new();
    for verb in ["verify", "run", "serve"] {
        let arguments = [verb, "builtin/epoll", "--scenario", "hello-timeout"];
        let parts = &["builtin/epoll has no scenario `hello-timeout`", "hello, echo"];
        world.wirebench(&arguments).assert_refused(2, parts);
    }
    let outcome = world.wirebench(&["verify", "builtin/epoll", "--scenario", "helo"]);
    outcome.assert_refused(2, &["did you mean `hello`?"]);
}

#[test]
fn loads_that_cannot_be_meant_are_refused_with_the_next_step() {
    let world = World::new();
    let url = "http://127.0.0.1:1/";
    let rows: [&[&str]; 36] = [
        &["-c", "0", url],
        &["-d", "10x", url],
        &["-d", "0s", url],
        &["-t", "4", "-c", "2", url],
        &["tcp://localhost"],
        &["localhost:8080"],
        &["ftp://localhost:21/"],
        &["-H", "nonsense", url],
        &["-d", "1s", "-n", "5", url],
        &["--ltency", url],
        &["--percentils", "50", url],
        &["--engine", "iouring", url],
        &["--percentiles", "50,101", url],
        &["--ramp", "1k", url],
        &["--source", "127.0.0", url],
        &["--source", "127.0.0.9-127.0.0.2", url],
        &["-R", "5", "--delay", "1ms", url],
        &["--poisson", url],
        &["--payload", "1KiB", url],
        &["-n5", "--count-per-connection=5", url],
        &["-R5", "--ramp=1:2", url],
        &["--ramp=1:2", "--steps=1,2", url],
        &["--steps=5,6", "--delay=1ms", url],
        &["--closed", "--delay=1ms", url],
        &["--ramp=1:2", "--closed", url],
        &["-R0", url],
        &["-p0", url],
        &["-p2", "--delay=1ms", url],
        &["--body=a", "--body-file=b", url],
        &["--insecure", "--ca=x", "https://h:1/"],
        &["--insecure", url],
        &["--ca=x", "tcp://h:1"],
        &["--payload=5", url],
        &["--method=GET", "tcp://h:1"],
        &["--source=127.0.0.2", "unix:/x"],
        &["--rate", "0.5", url],
    ];
    golden::assert_refusals(&world, "load", &rows);
}

#[test]
fn what_is_no_regular_file_is_refused_before_the_load() {
    let world = World::new();
    let pipe = world.folder.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let url = "http://127.0.0.1:1/";
    for option in ["--csv", "--hgrm", "--intervals"] {
        let outcome = world.wirebench(&["load", option, "pipe", url]);
        outcome.assert_refused(2, &[&format!("{option} `pipe` is a pipe: give a file")]);
    }
    for (option, url) in [("--body-file", url), ("--ca", "https://127.0.0.1:1/")] {
        let outcome = world.wirebench(&["load", option, "pipe", url]);
        outcome.assert_refused(1, &["`pipe` (it is not a regular file)", option]);
    }
}

#[test]
fn a_port_on_which_nothing_listens_is_said_at_once() {
    // The kernel chose the port, and the listener is already closed.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for scheme in ["http", "tcp"] {
        let url = format!("{scheme}://127.0.0.1:{port}");
        let outcome = World::new().wirebench(&["load", "-d", "30s", &url]);
        outcome.assert_refused(1, &["nothing listens", &port.to_string()]);
    }
}

/// A server that says `greeting` to everyone and closes.
fn greeter(greeting: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.unwrap().write_all(greeting);
        }
    });
    address
}

#[test]
fn a_port_that_answers_no_http_is_said_with_what_it_answered() {
    let url = format!("http://{}/", greeter(b"SSH-2.0-OpenSSH_9.2\r\n"));
    let outcome = World::new().wirebench(&["load", "-d", "30s", &url]);
    outcome.assert_refused(1, &["SSH-2.0", "HTTP"]);
}

#[test]
fn runs_that_cannot_be_meant_are_refused_with_the_next_step() {
    let world = World::new();
    let rows: [&[&str]; 20] = [
        &["--precision", "0"],
        &["--precision", "100%"],
        &["--budget", "0s"],
        &["--budget", "soon"],
        &["--copies", "0"],
        &["--copies", "1000"],
        &["--phase", "costs"],
        &["--rate", "500"],
        &["--phase", "cost", "--rate", "0"],
        &["--idle-connections", "10"],
        &["--phase", "idle", "--silent", "0"],
        &["--steady", "a while"],
        &["builtin/epoll", "--copies", "1", "--scale", "smoke", "--precision", "1%"],
        &["--server", "./no-such-server {port}"],
        &["--server", "./my-server"],
        &["--server", "./my-server {prot}"],
        &["--blocks", "0"],
        &["-c", "0"],
        &["-d", "10x"],
        &["--no-pin", "--server-cpus", "0"],
    ];
    golden::assert_refusals(&world, "run", &rows);
    let outcome = world.wirebench(&["run", "--server-cpus", "9999"]);
    outcome.assert_refused(2, &["CPU 9999"]);
}

#[test]
fn a_folder_without_results_is_neither_shown_nor_gone_on_with() {
    for arguments in [&["report", "."][..], &["run", "--resume", "."]] {
        let outcome = World::new().wirebench(arguments);
        outcome.assert_refused(2, &["runs.jsonl", "give the folder that `wirebench run` named"]);
    }
}
