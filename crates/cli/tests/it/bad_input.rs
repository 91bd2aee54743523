//! What people get wrong, and the sentence that they get for it.

use crate::{
    golden,
    world::{ENTRY, World},
};
use std::{
    io::Write,
    net::{TcpListener, TcpStream},
};

pub(crate) const SUITE: &str = "description = \"An example.\"\nblocks = 1\n[[workload]]\nname = \"a\"\n\
                     scenario = \"hello\"\nconnections = 1\nduration = \"50ms\"\n";

#[test]
fn an_unknown_key_in_an_entry_is_named_with_its_file_and_stops_only_who_names_the_entry() {
    let good = format!("{ENTRY}[[build]]\ncommand = [\"true\"]\n");
    let world =
        World::new().with_entry("c/x", &ENTRY.replace("skips", "skipz")).with_entry("c/y", &good);
    assert_eq!(world.wirebench(&["list", "c/y"]).code, Some(0));
    let sentence = "entries/c/x/entry.toml: line 9: unknown key `skipz`: did you mean `skips`?";
    let all = world.stdout(&["list", "c/"]);
    let is_shown = |line: &str| all.lines().any(|it| it == line);
    let row = "c/x      not available  -          -          -";
    assert!(is_shown(row) && is_shown(&format!("  c/x: {sentence}")), "{all}");
    let all = world.wirebench(&["build"]).ended(1);
    assert!(all.stdout.starts_with(&format!("c/x: skipped, {sentence}\n")), "{all:#?}");
    assert!(all.stdout.lines().any(|line| line.starts_with("c/y: built in ")), "{all:#?}");
}

#[test]
fn a_wrong_description_is_named_with_its_file_before_anything_is_built_or_measured() {
    let entry = |pattern| ENTRY.replace(r"(\d+\.\d+)", pattern);
    let published = "[published]\ndocument = \"D\"\nmachine = \"m\"\ncpus = 1\n\
                     placement = \"shared\"\ngenerator = \"g\"\n[[workload]]";
    let published = SUITE.replace("[[workload]]", published);
    let servers = "baseline = \"builtin/epoll\"\nentries = [\"builtin/epoll\"]\nblocks";
    let world = World::new()
        .with_entry("c/x", &ENTRY.replace("skips", "skipz"))
        .with_entry("c/open", &entry("("))
        .with_entry("c/groupless", &entry("x"))
        .with_suite("key.toml", &SUITE.replace("connections", "conections"))
        .with_suite("base.toml", &format!("baseline = \"builtin/epol\"\n{SUITE}"))
        .with_suite("paper.toml", &published.replace("blocks", servers));
    std::fs::create_dir(world.path("suites/published")).unwrap();
    let world = world.with_suite("published/paper.toml", "[[table]]\nsection = 5\n");
    let commands: [&[&str]; 9] = [
        &["list", "c/x"],
        &["run", "c/x"],
        &["verify", "c/x"],
        &["build", "c/x"],
        &["build", "c/open"],
        &["build", "c/groupless"],
        &["run", "key"],
        &["run", "base"],
        &["run", "paper", "--dry-run"],
    ];
    golden::assert_refused_commands(&world, "descriptions", &commands);
    assert!(!world.path("target").exists());
}

#[test]
fn an_unknown_name_gets_the_nearest_one_or_all_that_there_are() {
    let world = World::new().with_entry("c/epoll", ENTRY);
    let commands: [&[&str]; 8] = [
        &["verify", "c/epol"],
        &["run", "c/epol"],
        &["serve", "epol"],
        &["run", "quik"],
        &["verify", "builtin/epoll", "--scenario", "hello-timeout"],
        &["run", "builtin/epoll", "--scenario", "hello-timeout"],
        &["serve", "builtin/epoll", "--scenario", "hello-timeout"],
        &["verify", "builtin/epoll", "--scenario", "helo"],
    ];
    golden::assert_refused_commands(&world, "names", &commands);
}

#[test]
fn loads_that_cannot_be_meant_are_refused_with_the_next_step() {
    let world = World::new();
    let url = "http://127.0.0.1:1/";
    let rows: [&[&str]; 26] = [
        &["-c", "0", url],
        &["-d", "0s", url],
        &["-t", "4", "-c", "2", url],
        &["tcp://localhost"],
        &["localhost:8080"],
        &["ftp://localhost:21/"],
        &["-d", "1s", "-n", "5", url],
        &["--ltency", url],
        &["--engine", "iouring", url],
        &["--source", "127.0.0.9-127.0.0.2", url],
        &["-R", "5", "--delay", "1ms", url],
        &["--poisson", url],
        &["--skip-late", "--delay=1ms", url],
        &["--payload", "1KiB", url],
        &["-R", "1:2", "--skip-late", url],
        &["-R0", url],
        &["-p0", url],
        &["-p2", "--delay=1ms", url],
        &["--body=a", "--body-file=b", url],
        &["--insecure", "--ca=x", "https://h:1/"],
        &["--insecure", url],
        &["--ca=x", "tcp://h:1"],
        &["--method=GET", "tcp://h:1"],
        &["--source=127.0.0.2", "unix:/x"],
        &["--config", "nowhere"],
        &["--config", "."],
    ];
    golden::assert_refusals(&world, "load", &rows);
}

#[test]
fn a_result_is_not_written_to_a_pipe_and_a_folder_has_no_body() {
    let world = World::new();
    let pipe = world.path("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let url = "http://127.0.0.1:1/";
    std::fs::create_dir(world.path("folder")).unwrap();
    let commands: [&[&str]; 9] = [
        &["load", "--csv", "-", url],
        &["load", "--hgrm", "-", url],
        &["load", "--intervals", "-", url],
        &["load", "--csv", "pipe", url],
        &["load", "--hgrm", "pipe", url],
        &["load", "--intervals", "pipe", url],
        &["load", "--body-file", "folder", url],
        &["load", "--body-file", "-", "--from", "lab2", url],
        &["load", "--ca", "folder", "https://127.0.0.1:1/"],
    ];
    golden::assert_refused_commands(&world, "files", &commands);
}

#[test]
fn a_port_on_which_nothing_listens_is_said_at_once() {
    // The kernel chose the port, and the listener is already closed.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for scheme in ["http", "tcp"] {
        let url = format!("{scheme}://127.0.0.1:{port}");
        let outcome = World::new().wirebench(&["load", "-d", "30s", &url]);
        let place = format!("127.0.0.1:{port}");
        let expected =
            format!("nothing listens on {place}: start the server first, or check the port");
        outcome.assert_error(1, &expected);
    }
}

#[test]
fn a_port_that_answers_no_http_is_said_with_what_it_answered() {
    let greet = |mut stream: TcpStream| _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n");
    let place = crate::servers::in_threads("127.0.0.1".parse().unwrap(), greet);
    let outcome = World::new().wirebench(&["load", "-d", "30s", &format!("http://{place}/")]);
    let expected = format!(
        "{place} answers, but not with HTTP/1.1: the reply starts with \"SSH-2.0-OpenSSH_9.2\"; \
         check the port, or write tcp://{place} if it is an echo server"
    );
    outcome.assert_error(1, &expected);
}

#[test]
fn runs_that_cannot_be_meant_are_refused_with_the_next_step() {
    let world = World::new();
    let rows: [&[&str]; 16] = [
        &["--precision", "0"],
        &["--budget", "0s"],
        &["--copies", "0"],
        &["--copies", "1000"],
        &["--rate", "500"],
        &["--phase", "cost", "--delay", "1ms"],
        &["--phase", "idle", "--silent", "0"],
        &["--phase", "idle", "--pipeline", "2"],
        &["--phase", "idle", "-n", "5"],
        &["--cohorts", "until-decided"],
        &["builtin/epoll", "--copies", "1", "--scale", "smoke", "--precision", "1%"],
        &["--server", "./my-server {prot}"],
        &["--blocks", "0"],
        &["--no-pin", "--server-cpus", "0"],
        &["smoke", "--scale", "paper"],
        &["builtin/epoll", "--generator", "hey", "--scenario", "echo"],
    ];
    golden::assert_refusals(&world, "run", &rows);
    let outcome = world.wirebench(&["run", "--server-cpus", "9999"]);
    outcome.assert_refused(2, &["CPU 9999"]);
}
