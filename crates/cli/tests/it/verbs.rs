//! The small verbs.

use crate::world::{ENTRY, World};

const NEEDY: &str = "[[requires]]\ncommand = \"no-such-program\"\ndebian = [\"some-package\"]\n";

fn stdout(world: &World, arguments: &[&str]) -> String {
    let outcome = world.wirebench(arguments);
    assert_eq!(outcome.code, Some(0), "{outcome:#?}");
    outcome.stdout
}

#[test]
fn list_shows_every_entry_and_what_is_missing() {
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{NEEDY}"));
    let text = stdout(&world, &["list"]);
    assert!(text.contains("builtin/epoll") && text.contains("builtin/io_uring"), "{text}");
    assert!(
        text.contains(
            "the program `no-such-program` is missing; `wirebench setup` installs some-package"
        ),
        "{text}"
    );
    assert!(stdout(&world, &["list", "builtin/", "--markdown"]).starts_with("| entry"));
    let text = stdout(&world, &["list", "c/x", "--details"]);
    for part in ["c/x: A", "An example.", "raw, event-loop, epoll, prefork", "no-such-program"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn setup_prints_what_it_would_install() {
    if !wirebench_runner::command::exists("apt-get") {
        // Without Debian's package manager there is nothing that setup could do, and `list` says
        // so.
        return;
    }
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{NEEDY}"));
    let text = stdout(&world, &["setup", "--dry-run"]);
    assert!(text.contains("apt-get install") && text.contains("some-package"), "{text}");
    assert!(stdout(&World::new(), &["setup", "--dry-run"]).contains("nothing to install"));
}

#[test]
fn versions_are_read_where_the_entry_says() {
    let world = World::new().with_entry("c/x", ENTRY);
    let text = stdout(&world, &["versions"]);
    assert!(text.lines().any(|line| line.contains("c/x") && line.contains("cat ")), "{text}");
    assert!(stdout(&world, &["versions", "--markdown"]).starts_with("| entry"));
}

#[test]
fn doctor_looks_at_everything_and_changes_nothing() {
    let world = World::new();
    let text = stdout(&world, &["doctor"]);
    for name in ["cpus", "governor", "io_uring", "open-files", "ports", "backlog", "load"] {
        assert!(text.contains(name), "{name} is missing in {text}");
    }
    assert!(!world.folder.path().join("target").exists());
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(crate::world::program());
    let output = command.arg("list").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("could not be written"));
}

#[test]
fn build_builds_once() {
    let step = "[[build]]\ncommand = [\"cp\", \"entry.toml\", \"{build}/server\"]\n";
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{step}"));
    assert!(stdout(&world, &["build", "c/x"]).contains("c/x: built in"));
    assert_eq!(stdout(&world, &["build", "c/x"]), "c/x: up to date\n");
    assert!(stdout(&world, &["build", "c/x", "--force"]).contains("c/x: built in"));
}

#[test]
fn verify_names_each_check_and_counts_them() {
    let world = World::new();
    let text = stdout(&world, &["verify", "builtin/epoll", "--scenario", "hello"]);
    for check in ["ready", "reply-exact", "pipelined", "mechanism", "stops-on-sigterm"] {
        let line = format!("PASS  builtin/epoll hello {check}");
        assert!(text.lines().any(|l| l == line), "{check} is missing in {text}");
    }
    assert!(text.contains(", 0 failed, "), "{text}");
    assert!(stdout(&world, &["verify", "--checks"]).contains("reply-exact"));
}

#[test]
fn a_ring_is_found_where_it_is_declared() {
    let world = World::new();
    if !stdout(&world, &["list", "builtin/io_uring"]).contains("ready") {
        // This kernel lets nobody set up rings; `list` has said so with the reason.
        return;
    }
    let text = stdout(&world, &["verify", "builtin/io_uring", "--scenario", "echo"]);
    assert!(text.contains("PASS  builtin/io_uring echo mechanism"), "{text}");
}

#[test]
fn help_names_every_verb() {
    let text = stdout(&World::new(), &["--help"]);
    for verb in
        ["run", "load", "report", "list", "build", "verify", "serve", "versions", "setup", "doctor"]
    {
        assert!(text.contains(&format!("\n  {verb} ")), "{verb} is missing in {text}");
        assert!(stdout(&World::new(), &[verb, "--help"]).contains("Usage:"));
    }
    assert!(!text.contains("null-server") && !text.contains("guard"), "{text}");
}
