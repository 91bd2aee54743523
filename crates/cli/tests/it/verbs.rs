//! The small verbs.

use crate::world::{ENTRY, World, assert_has};
use expect_test::expect_file;

const NEEDY: &str = "[[requires]]\ncommand = \"no-such-program\"\ndebian = [\"some-package\"]\n";

#[test]
fn setup_says_for_whom_it_can_do_nothing_once_for_each_reason() {
    let needs = "[[requires]]\ncommand = \"no-such-program\"\n";
    let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{needs}{variants}"));
    for arguments in [&["setup", "c/x", "--dry-run"][..], &["setup", "c/x"]] {
        let outcome = world.wirebench(arguments);
        let expected = "c/x:a, c/x:b: the program `no-such-program` is missing\n";
        assert_eq!(outcome.stderr, expected);
        let expected = "nothing to install; setup cannot install the requirements of the 2 variants named above";
        assert!(outcome.stdout.starts_with(expected), "{outcome:#?}");
    }
}

#[test]
#[ignore = "needs apt-get"]
fn setup_prints_what_it_would_do_with_apt_get() {
    let fetch = "[[requires]]\nprobe = [\"false\"]\nwhat = \"the package x\"\n\
                 fetch = [\"fetcher\", \"x\"]\n";
    let world = World::new()
        .with_entry("c/x", &format!("{ENTRY}{NEEDY}"))
        .with_entry("c/y", &format!("{ENTRY}{fetch}"));
    let text = world.stdout(&["setup", "--dry-run"]);
    assert!(text.contains("apt-get install") && text.contains("some-package"), "{text}");
    assert!(text.lines().any(|line| line == "fetcher x"), "{text}");
    assert_eq!(World::new().stdout(&["setup", "--dry-run"]), "nothing to install\n");
}

#[test]
fn setup_fetches_what_is_missing_and_remembers_what_failed() {
    let needs = |fetch: &str| {
        format!(
            "{ENTRY}[[requires]]\nprobe = [\"test\", \"-e\", \"{{build}}/there\"]\n\
             what = \"the package x\"\nfetch = [\"sh\", \"-c\", \"{fetch}\"]\n\
             hint = \"ask around\"\n"
        )
    };
    let world = World::new()
        .with_entry("c/brought", &needs("touch {build}/there"))
        .with_entry("c/refused", &needs("echo first; echo no route >&2; exit 7"))
        .with_entry("c/useless", &needs("true"));
    let mut text = String::new();
    let mut add = |arguments: &[&str], code| {
        let outcome = world.wirebench(arguments).ended(code);
        text += &format!("$ {}\n{}{}\n", arguments.join(" "), outcome.stdout, outcome.stderr);
    };
    add(&["list", "c/"], 0);
    add(&["setup", "c/"], 1);
    add(&["list", "c/"], 0);
    // Another setup tries again, and succeeds where the world has changed.
    world.write("target/wirebench/build/c/refused/default/there", "");
    add(&["setup", "c/"], 1);
    add(&["setup", "c/brought", "c/refused"], 0);
    let text = world.without_places(&text);
    // Only the date of a failure is not the same every time.
    let parts: Vec<&str> = text.split(" failed on ").collect();
    let dated = |part: &&str| format!(" failed on DATE{}", &part["2026-01-02".len()..]);
    let text = parts[0].to_owned() + &parts[1..].iter().map(dated).collect::<String>();
    expect_file!["../golden/setup.txt"].assert_eq(&text);
}

#[test]
fn doctor_names_problems_first_and_fails_only_if_it_is_strict() {
    // An entry that cannot be measured is missing, which is no failure.
    let entry = format!("{ENTRY}[[requires]]\ncommand = \"no-such-program\"\n");
    let world = World::new().with_entry("c/x", &entry);
    let details = world.stdout(&["doctor", "-v"]);
    let checks = ["cpus", "governor", "io_uring", "open-files", "ports", "backlog", "load"];
    assert_has(&details, &checks);
    assert!(!world.path("target").exists(), "doctor changes nothing");
    let text = world.stdout(&["doctor"]);
    let lines: Vec<&str> = text.lines().collect();
    let place = |line: &str| lines.iter().position(|it| *it == line).unwrap();
    let entry =
        "  entry            c/x cannot be measured: the program `no-such-program` is missing";
    assert!(place("entries that cannot be measured") < place(entry), "{text}");
    assert!(place(entry) < place("fine"), "{text}");
    let is_group = |line: &&str| line.starts_with("  kernel ") && line.contains("aslr");
    assert_eq!(lines[place("fine")..].iter().filter(|line| is_group(line)).count(), 1, "{text}");
    let counts = lines.last().unwrap();
    assert!(counts.contains(" fine, ") && counts.contains(" missing; "), "{counts}");
    let strict = world.wirebench(&["doctor", "--strict"]).ended(1);
    assert!(strict.stdout.contains(entry), "{strict:#?}");
}

#[test]
fn doctor_tells_programs_the_same_as_people() {
    let world = World::new();
    let value = world.json(&["doctor", "--json"]);
    assert_eq!(value["format"], 3);
    assert!(value["environment"]["memory_bytes"].as_u64().unwrap() > 0);
    assert!(
        value["findings"].as_array().unwrap().iter().any(|it| it["name"] == "cpus"),
        "{value:#}"
    );
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(crate::world::program());
    let output = command.arg("list").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected =
        "error: the result could not be written: No space left on device (os error 28)\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
}

#[test]
fn build_builds_once() {
    let step = "[[build]]\ncommand = [\"cp\", \"entry.toml\", \"{build}/server\"]\n";
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{step}"));
    assert!(world.stdout(&["build", "c/x"]).starts_with("c/x: built in "));
    assert_eq!(world.stdout(&["build", "c/x"]), "c/x: up to date\n");
    assert!(world.stdout(&["build", "c/x", "--force"]).starts_with("c/x: built in "));
}

#[test]
fn a_build_that_fails_shows_its_errors_and_stops_no_other() {
    let fails = "[[build]]\ncommand = [\"sh\", \"-c\", \"echo x.c: error: no; exit 1\"]\n";
    let works = "[[build]]\ncommand = [\"cp\", \"entry.toml\", \"{build}/server\"]\n";
    let world = World::new()
        .with_entry("c/x", &format!("{ENTRY}{fails}"))
        .with_entry("c/y", &format!("{ENTRY}{works}"));
    let outcome = world.wirebench(&["build", "-j", "1"]).ended(1);
    let is_built = |line: &str| line.starts_with("c/y: built in ");
    assert!(outcome.stdout.lines().any(is_built), "{outcome:#?}");
    assert_has(&outcome.stderr, &["building c/x", "c/x: `sh -c", "\n    x.c: error: no"]);
}

#[test]
fn ctrl_c_ends_all_that_a_build_has_started() {
    let step = "[[build]]\ncommand = [\"sh\", \"-c\", \"sleep 7397 & sleep 7397; true\"]\n";
    let world = World::new()
        .with_entry("c/x", &format!("{ENTRY}{step}"))
        .with_entry("c/y", &format!("{ENTRY}{step}"));
    let running = world.start(&["build", "-j2"]);
    world.wait_for_process("sleep 7397");
    running.signal(rustix::process::Signal::INT);
    running.end().ended(130);
    world.wait_for_silence();
}

#[test]
fn verify_names_each_check_and_the_built_in_servers_pass_them() {
    let world = World::new();
    let text = world.stdout(&["verify", "builtin/"]);
    for (scenario, check) in [
        ("hello", "ready"),
        ("hello", "reply-exact"),
        ("hello", "pipelined"),
        ("hello", "stops-on-sigterm"),
        ("echo", "mechanism"),
    ] {
        let line = format!("PASS  builtin/epoll {scenario} {check}");
        assert!(text.lines().any(|l| l == line), "{check} is missing in {text}");
    }
    assert_has(&text, &[", 0 failed, "]);
    // Where this kernel does not allow rings to be set up, `list` reports the reason.
    let has_rings = world.stdout(&["list", "builtin/io_uring"]).contains("ready");
    let is_checked = text.contains("\nPASS  builtin/io_uring echo mechanism\n");
    assert_eq!(is_checked, has_rings, "{text}");
}

#[test]
fn repeated_checks_are_counted_for_each_that_failed() {
    let world = World::new();
    let failing =
        world.wirebench(&["verify", "--server", "false {port}", "--repeat", "3", "-q"]).ended(1);
    let end = "failed 3 of 3 times: own/false hello ready\n0 passed, 3 failed, 57 skipped\n";
    assert!(failing.stdout.ends_with(end), "{failing:?}");
}

#[test]
fn a_check_that_passes_although_it_is_declared_to_fail_is_reported() {
    let command = format!(
        "[{:?}, \"null-server\", \"epoll\", \"{{scenario}}\", \"{{host}}\", \"{{port}}\", \
         \"{{workers}}\"]",
        crate::world::program()
    );
    let entry = ENTRY.replace("[\"no-such-server\", \"{port}\"]", &command);
    let deviation = "[[deviation]]\nchecks = [\"half-close\"]\nreason = \"by design\"\n";
    let world = World::new().with_entry("c/x", &format!("{entry}{deviation}"));
    let text = world.stdout(&["verify", "c/x", "-q"]);
    let line = "PASS  c/x hello half-close: remove its deviation from entry.toml";
    assert_eq!(text.lines().next(), Some(line), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn where_nothing_can_be_written_a_run_names_the_option_for_another_folder() {
    // No user may make folders there.
    let outcome = World::new().wirebench(&["run", "builtin/epoll", "--output", "/sys/results"]);
    let parts = ["/sys/results: ", "; choose another folder with --output"];
    outcome.assert_refused(1, &parts);
}
