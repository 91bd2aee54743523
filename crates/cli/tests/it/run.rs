//! `wirebench run`: tables, journals, refusals.

use crate::{
    bad_input::SUITE,
    servers::null_server,
    world::{ENTRY, World, assert_has},
};
use wirebench_schema::{
    environment::Environment,
    journal::{EndReason, Outcome},
};

const SHORT: [&str; 7] = ["-d", "300ms", "--warmup", "20ms", "--blocks", "1", "-c8"];

/// What the page says of rows that were measured without pinning.
const NOT_PINNED: &str =
    "    all rows: not pinned: server and load generator may share CPUs. Omit --no-pin.";

fn run<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["run"], arguments, &SHORT].concat()
}

#[test]
fn a_run_prints_its_table_and_keeps_everything_in_its_folder() {
    let world = World::new();
    let outcome = world.wirebench(&run(&["builtin/epoll", "--seed", "7"])).ended(0);
    assert_has(
        &outcome.stdout,
        &["quick: 1 server, ", "\nhello: ", "saturated", "\necho: ", "\nbuiltin/epoll "],
    );
    let folder = world.results();
    let name = folder.file_name().unwrap().to_str().unwrap();
    assert!(outcome.stdout.ends_with(&format!("/{name}/report.html\n")), "{outcome:#?}");
    for file in ["runs.jsonl", "environment.json", "commands.txt"].into_iter().chain([
        "report.md",
        "report.txt",
        "report.json",
        "report.html",
    ]) {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let journal = world.journal();
    assert_eq!((journal.start.seed, journal.verified.len(), journal.runs.len()), (7, 2, 4));
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    let text = std::fs::read_to_string(folder.join("environment.json")).unwrap();
    let environment: Environment = serde_json::from_str(&text).unwrap();
    let digits = |text: &Option<String>| text.as_ref().map(String::len);
    let prints = [&environment.program.digest, &journal.start.variants[0].fingerprint];
    assert_eq!(prints.map(digits), [Some(16), Some(16)], "{text}");
    for run in &journal.runs {
        let Outcome::Measured(measured) = &run.outcome else { panic!("{run:#?}") };
        assert!(measured.load.requests > 0 && measured.cost.cpu_ns > 0, "{measured:#?}");
        assert!(measured.cost.memory_peak_bytes > 0 && measured.load.errors.total() == 0);
        assert!(run.server_command.iter().any(|word| word == "null-server"));
        assert!(run.generator_command.iter().any(|word| word == "load"));
    }
    // The same page, and the file has the details.
    let path = folder.to_str().unwrap();
    let again = world.wirebench(&["report", path]);
    assert_eq!(outcome.stdout, again.stdout);
    assert_eq!(outcome.stdout, world.stdout(&["report", "latest"]));
    let explained = world.wirebench(&["report", path, "--explain"]).stdout;
    assert_eq!(std::fs::read_to_string(folder.join("report.txt")).unwrap(), explained);
    assert_has(
        &explained,
        &["hello: hello, closed loop, 8 connections", "builtin/epoll (baseline)", "raw"],
    );
    world.wait_for_silence();
}

#[test]
fn another_form_is_all_that_a_run_prints_and_the_place_is_a_note() {
    let world = World::new();
    let command = run(&["builtin/epoll", "--scenario=hello", "--phase=saturate", "--format=csv"]);
    let limit = ["--fail-if", "req/s < 1"];
    let outcome = world.wirebench(&[&command[..], &limit].concat()).ended(0);
    assert_eq!(outcome.stdout, world.stdout(&["report", "latest", "--format=csv"]));
    assert!(outcome.stdout.starts_with("suite,started,label,"), "{outcome:#?}");
    assert_has(&outcome.stderr, &["/report.html\n", "throughput < 1"]);
    world.wirebench(&["run", "--format=csv", "--json"]).assert_refused(2, &["cannot be used with"]);
}

#[test]
fn a_command_line_is_measured_beside_the_baseline() {
    let world = World::new();
    world.wirebench(&run(&["--server", &null_server("io_uring", "{scenario}")])).ended(0);
    let journal = world.journal();
    let mut names: Vec<String> = journal.runs.iter().map(|run| run.variant.to_string()).collect();
    names.sort();
    // The baseline is run twice: A/A.
    assert_eq!(names, ["builtin/epoll", "builtin/epoll", "own/wirebench"]);
    assert_eq!(journal.start.baselines[0].to_string(), "builtin/epoll");
}

#[test]
fn another_baseline_can_be_chosen_and_servers_can_be_excluded() {
    let world = World::new();
    let plan = |options: &[&str]| world.stdout(&run(&[&["--dry-run", "-q"], options].concat()));
    let own = null_server("epoll", "hello");
    let text = plan(&["builtin/", "--server", &own, "--name=mine", "--baseline", "mine"]);
    assert!(text.contains("; baseline own/mine") && text.contains("builtin/epoll"), "{text}");
    let text = plan(&["builtin/", "--baseline", "builtin/io_uring", "--exclude", "builtin/ep*"]);
    assert!(text.contains("; baseline builtin/io_uring"), "{text}");
    assert!(!text.contains("builtin/epoll"), "{text}");
    world
        .wirebench(&["run", "builtin/", "--exclude", "builtin/epoll"])
        .assert_refused(2, &["--exclude matches the baseline builtin/epoll: choose another one"]);
}

#[test]
fn servers_have_the_names_that_were_given_to_them() {
    let world = World::new();
    let servers =
        ["--server", &null_server("epoll", "hello"), "--server", &null_server("io_uring", "hello")];
    let names = ["--name=feature/x", "--name=main", "--dry-run"];
    let outcome = world.wirebench(&run(&[&servers[..], &names].concat()));
    outcome.assert_line("own/feature-x, own/main, builtin/epoll");
    for (names, message) in [
        (["--name=x", "--name=x", "-q"], "two servers are named `x`: use another --name"),
        (["--name=a b", "--dry-run", "-q"], "`a b` is not a valid name: use at most 100 letters"),
    ] {
        let outcome = world.wirebench(&run(&[&servers[..], &names].concat())).ended(2);
        assert!(outcome.stderr.contains(message), "{outcome:#?}");
    }
}

#[test]
fn a_server_that_fails_its_checks_is_refused_and_the_row_says_why() {
    let world = World::new();
    // An echo server is no HTTP server.
    let outcome = world.wirebench(&run(&["--server", &null_server("epoll", "echo")])).ended(1);
    assert!(outcome.stdout.contains("not measured, fails `reply-exact`"), "{outcome:#?}");
    // The baseline alone would be compared with nothing.
    assert!(world.journal().runs.is_empty());
}

#[test]
fn a_failed_run_is_a_record_and_the_others_go_on() {
    let world = World::that_sends();
    let command = null_server("epoll", "echo");
    let outcome = world.wirebench(&run(&["--server", &command, "--no-verify"])).ended(1);
    let journal = world.journal();
    let failed = |name: &str| {
        let run = journal.runs.iter().find(|run| run.variant.to_string() == name).unwrap();
        matches!(run.outcome, Outcome::Failed { .. })
    };
    assert!(failed("own/wirebench") && !failed("builtin/epoll"));
    let skipped = "conformance checks skipped: the server may be incorrect. Omit --no-verify.";
    outcome.assert_line(&format!("    all rows: {skipped}"));
}

#[test]
fn an_entry_for_which_something_is_missing_is_listed_with_its_reason() {
    let needs = "[[requires]]\ncommand = \"no-such-compiler\"\n";
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{needs}"));
    let outcome = world.wirebench(&run(&["smoke", "--scenario", "hello"]));
    let journal = world.journal();
    // On a busy machine a server may give no reply in a window of 100 ms; only that may fail the command.
    let has_failed = journal.runs.iter().any(|it| matches!(it.outcome, Outcome::Failed { .. }));
    assert_eq!(outcome.code, Some(i32::from(has_failed)), "{outcome:#?}");
    outcome.assert_line("    not measured: c/x: the program `no-such-compiler` is missing");
    assert_eq!(journal.unavailable.len(), 1);
    // One that was asked for by name must be measured.
    std::fs::remove_dir_all(world.path("target")).unwrap();
    let outcome = world.wirebench(&run(&["c/x", "--scenario", "hello"]));
    let message = "only the baseline is available, so nothing can be compared:\n  c/x: the program \
                   `no-such-compiler` is missing";
    outcome.assert_refused(1, &[message]);
    assert!(!world.path("target/wirebench").exists(), "{outcome:#?}");
}

#[test]
fn a_baseline_whose_build_fails_is_replaced_and_its_run_goes_on_after_an_interruption() {
    let step = "[[build]]\ncommand = [\"ls\", \"no-such-source.c\"]\n";
    let world = World::new().with_entry("c/epoll", &format!("{ENTRY}{step}"));
    let outcome = world.wirebench(&run(&["builtin/io_uring", "--scenario", "hello"]));
    assert!(outcome.stdout.contains("no-such-source.c"), "{outcome:#?}");
    let journal = world.journal();
    let baselines: Vec<String> = journal.start.baselines.iter().map(ToString::to_string).collect();
    assert_eq!(baselines, ["builtin/epoll"]);
    assert!(journal.runs.iter().any(|run| run.variant.entry() == "builtin/epoll"), "{outcome:#?}");
    let file = world.results().join("runs.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let begun: Vec<&str> = text.lines().filter(|line| !line.contains("\"end\"")).collect();
    std::fs::write(&file, begun.join("\n") + "\n").unwrap();
    let again = world.wirebench(&["run", "--resume", world.results().to_str().unwrap()]);
    assert_ne!(again.code, Some(3), "{again:#?}");
    assert!(world.journal().end.is_some(), "{again:#?}");
}

#[test]
fn a_build_that_fails_shows_its_last_lines_and_fails_the_run() {
    let step = "[[build]]\ncommand = [\"ls\", \"no-such-source.c\"]\n";
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{step}"));
    let outcome = world.wirebench(&run(&["smoke", "--scenario", "hello"])).ended(1);
    assert!(outcome.stdout.contains("no-such-source.c"), "{outcome:#?}");
    assert!(!world.journal().runs.is_empty());
}

#[test]
fn a_dry_run_prints_the_plan_without_what_is_missing_and_makes_nothing() {
    let needs = "[[requires]]\ncommand = \"no-such-program\"\n";
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{needs}"));
    let outcome = world.wirebench(&["run", "builtin/epoll", "c/x", "--dry-run"]).ended(0);
    let reason = "skipped c/x: the program `no-such-program` is missing\n";
    assert!(outcome.stdout.starts_with(reason), "{outcome:#?}");
    assert!(!outcome.stdout.contains("  c/x"), "{outcome:#?}");
    assert_has(
        &outcome.stdout,
        &[
            "cohort 3  hello 10 x 20ms  2 servers: builtin/epoll",
            "plan: 1 server, 2 loads, 3 cohorts: 12 runs, about ",
            "A/A runs: 6 repeat a server within its cohort\n",
            " for checks, ",
            "; done at ",
        ],
    );
    let world = world.with_suite("two.toml", &format!("{SUITE}rate = [1000, 2000]\n"));
    let rate = ["-R", "0.5", "-p16", "--timeout=7s", "--dry-run"];
    let plan = world.stdout(&[&["run", "two", "builtin/epoll"], &rate[..]].concat());
    let load = "workload a-0.5: hello, cost, 1 connection at 0.5 requests/s, 16 requests in flight \
                each, timeout 7s, ";
    assert_has(&plan, &[load, "1 load, 1 cohort: 2 runs, about 27 s"]);
    assert!(!world.path("target").exists());
}

#[test]
fn a_language_may_be_named_without_its_slash() {
    for verb in [&["run", "builtin", "--dry-run"][..], &["list", "builtin"]] {
        let outcome = World::new().wirebench(verb).ended(0);
        assert!(outcome.stdout.contains("builtin/io_uring"), "{outcome:#?}");
    }
    // All of a language is a list, and not all that each of its entries declares.
    let lists = ["builtin", "builtin/"].map(|name| World::new().wirebench(&["list", name]).stdout);
    assert_eq!(lists[0], lists[1]);
}

#[test]
fn strictness_names_each_row_that_is_not_valid_and_exits_with_3() {
    let world = World::new();
    let outcome = world.wirebench(&run(&["builtin/epoll", "--no-pin", "--strict"])).ended(3);
    for workload in ["hello", "echo"] {
        let row = format!(" runs: builtin/epoll {workload}: ");
        assert!(outcome.stderr.contains(&row), "{outcome:#?}");
    }
    outcome.assert_line(NOT_PINNED);
    assert!(!world.journal().start.placement.pinned);
    // Without being asked to be strict, the same is fine.
    World::new().wirebench(&run(&["builtin/epoll", "--no-pin"])).ended(0);
}
