//! `--fail-if` of `load`, `run`, `tune`, `ab` and `report`: exit codes, and what is refused before anything is
//! measured. The conditions themselves are tested in `schema` and `report`.

use std::fs;

use crate::{
    compare::MADE,
    load::served,
    world::{World, assert_has, entries},
};

/// The verdict of the conditions in a JSON result.
fn verdict(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    value["gate"]["verdict"].as_str().unwrap_or_else(|| panic!("no gate in {value:#}")).to_owned()
}

#[test]
fn a_load_fails_on_its_figures_and_on_those_of_named_requests() {
    let (world, _server, url) = served("hello");
    world.write("api.txt", "/\n/?a=1\n");
    let load = |options: &[&str]| {
        world.wirebench(&[&["load", "-c2", "-n100", "--quiet", &url], options].concat())
    };
    let passed = ["--fail-if=errors > 0", "--fail-if", "req/s < 1"];
    load(&passed).assert_prints(0, &["passed 'errors > 0': 0 errors in 100 requests (0 %)"]);
    let failed = load(&["--fail-if=p99 > 1ns", "--fail-if=errors > 1%", "--junit=x.xml"]).ended(4);
    assert_has(&failed.stdout, &["FAILED 'p99 > 1 ns': p99 ", "passed 'errors > 1%'"]);
    let xml = world.read("x.xml");
    assert_has(&xml, &["name=\"wirebench load\" tests=\"2\" failures=\"1\"", "name=\"load\""]);
    let json = load(&["--fail-if=p99 > 1ns", "--json"]).ended(4);
    assert_eq!(verdict(&json.stdout), "failed");
    assert_has(&json.stderr, &["FAILED 'p99 > 1 ns'"]);
    load(&["-o", "out", "--fail-if=errors > 0"]).ended(0);
    let written = entries(&world.path("out")).remove(0);
    let read = |name| fs::read_to_string(written.join(name)).unwrap();
    assert_eq!(verdict(&read("load.json")), "passed");
    assert_has(&read("report.html"), &["Conditions: passed", "0 errors in 100 requests (0 %)"]);
    let folder = entries(&world.path("out")).remove(0).display().to_string();
    let judged = ["report", &folder, "--fail-if=p99 > 1ns", "--fail-if=errors > 0"];
    world.wirebench(&judged).assert_prints(4, &["FAILED 'p99 > 1 ns'", "passed 'errors > 0'"]);
    world
        .wirebench(&["report", &folder, "--fail-if=cpu > 1us"])
        .assert_refused(2, &["`report` has no cpu here"]);
    let set =
        ["--requests=api.txt", "--fail-if=p99 of GET / > 1ns", "--fail-if=errors of GET / > 0"];
    load(&set).assert_prints(4, &["FAILED 'p99 of GET / > 1 ns'", "passed 'errors of GET / > 0'"]);
}

#[test]
fn what_could_never_fail_is_refused_before_anything_is_measured() {
    let world = World::new();
    MADE.write(&world, "result");
    let nothing = "http://127.0.0.1:9/";
    world.write("two.txt", "/a\n/b\n");
    let named = ["tune", "--server=true {port}", "--requests=two.txt"];
    let rows: [(&[&str], &str, &str); 7] = [
        (&["load", nothing], "cpu > 8us", "`load` has no cpu here; known: throughput, mean, p50"),
        (&["ab", "--a=builtin/epoll", "--b=builtin/epoll"], "p90 > +3%", "has no change of p90"),
        (&["ab", "--a=builtin/epoll", "--b=builtin/epoll"], "cpu of C > 3us", "known: ab/A, ab/B"),
        (&["tune", "builtin/epoll"], "unsent > 5", "`tune` has no unsent here"),
        (&["load", "-R9", "http://127.0.0.1:1/"], "p99-without-stalls > 1s", "with --stalls"),
        (&named, "cpu of GET /a > 5us", "cpu is measured for all requests together"),
        (&["report", "result"], "p99 > 5ms", "latency with --phase cost"),
    ];
    for (verb, condition, part) in rows {
        let arguments = [verb, &["--fail-if", condition]].concat();
        world.wirebench(&arguments).assert_refused(2, &["--fail-if", part]);
    }
    let run = ["run", "--scenario=hello", "--phase=saturate", "--fail-if=p99 > 5ms"];
    let run = [&run[..], &["builtin/epoll", "builtin/io_uring"]].concat();
    world.wirebench(&run).assert_refused(2, &["`run` has no p99 here", "--phase cost"]);
    assert!(!world.path("target").exists(), "something was measured");
}

#[test]
fn run_and_tune_end_with_the_code_of_their_conditions() {
    let world = World::new();
    let quick =
        ["-d100ms", "--cohorts=1", "--steady=0s", "-c2", "--quiet", "--no-verify", "--no-pin"];
    let of_run =
        ["run", "builtin/epoll", "builtin/io_uring", "--scenario=hello", "--phase=saturate"];
    let conditions = ["--fail-if=errors > 0", "--fail-if=errors > 50%", "--junit=x.xml"];
    let passed = world.wirebench(&[&of_run[..], &quick, &conditions].concat()).ended(0);
    assert_has(&passed.stdout, &["passed 'errors > 0': ", "passed 'errors > 50%': ", "Report: "]);
    let read = |name| {
        let mut results = entries(&world.path("target/wirebench"));
        results.retain(|it| it.join("runs.jsonl").is_file());
        fs::read_to_string(results.last().unwrap().join(name)).unwrap()
    };
    assert_eq!(verdict(&read("report.json")), "passed");
    assert_has(&read("report.html"), &["Conditions: passed", "passed 'errors &gt; 0': "]);
    assert_has(&read("report.md"), &["**Conditions: passed**"]);
    let xml = world.read("x.xml");
    assert_has(&xml, &["name=\"wirebench run\" tests=\"2\" failures=\"0\""]);
    let of_tune =
        ["tune", "builtin/epoll", "-c2", "--workers=1", "--blocks=1", "-d100ms", "--quiet"];
    let asked = ["--no-verify", "--no-pin", "--fail-if=errors > 0"];
    let passed = world.wirebench(&[&of_tune[..], &asked].concat()).ended(0);
    assert_has(&passed.stdout, &["passed 'errors > 0': "]);
    assert_eq!(verdict(&read("tune.json")), "passed");
    assert_has(&read("report.html"), &["Conditions: passed"]);
    world.wait_for_silence();
}
