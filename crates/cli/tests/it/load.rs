//! `wirebench load` against real servers.

use crate::world::{Running, World, assert_has};
use rustix::process::Signal;
use std::{fs, path::PathBuf};
use wirebench_schema::load::{Interval, LoadReport, LoadResult, Phase, RateStep};

/// A built-in server behind `wirebench serve`, and its URL.
pub(crate) fn served(scenario: &str) -> (World, Running, String) {
    let world = World::new();
    let mut server = world.start(&["serve", "builtin/epoll", "--scenario", scenario]);
    let line = server.first_line();
    let address = line.strip_prefix("listening ").expect("a ready line");
    let url =
        if scenario == "echo" { format!("tcp://{address}") } else { format!("http://{address}/") };
    (world, server, url)
}

fn report(world: &World, arguments: &[&str]) -> LoadReport {
    read(&world.wirebench(&[&["load", "--json"], arguments].concat()).ended(0).stdout)
}

/// The record of a load in its JSON.
pub(crate) fn read(json: &str) -> LoadReport {
    LoadResult::parse(json).unwrap().unwrap().report
}

#[test]
fn text_has_the_layout_that_scripts_read() {
    let (world, _server, url) = served("hello");
    let outcome = world.wirebench(&["load", "-t1", "-c4", "-d100ms", &url]).ended(0);
    let running = format!("Running 100ms test @ {url}");
    let parts = [
        &running,
        "1 threads and 4 connections",
        "Thread Stats",
        "\n     50% ",
        "\n   99.9%",
        "Requests/sec:",
        "Transfer/sec:",
    ];
    assert_has(&outcome.stdout, &parts);
}

#[test]
fn a_count_is_kept_to_the_request() {
    let (world, _server, url) = served("hello");
    let report = report(&world, &["-t2", "-c8", "-n", "10k", &url]);
    assert_eq!((report.requests, report.errors.total()), (10_000, 0));
    assert_eq!(report.latency.unwrap().count, 10_000);
}

#[test]
fn a_file_of_requests_may_name_the_server_instead_of_a_url() {
    let (world, _server, url) = served("hello");
    let write = |name: &str, text: &str| {
        let path = world.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let targets = write("targets.txt", &format!("GET {url}\n\nGET {url}?again\nX: y\n"));
    let report = report(&world, &["-n", "100", "--requests", &targets]);
    assert_eq!((report.requests, report.errors.total()), (100, 0));
    assert_eq!(report.config.target.to_string(), url);
    let paths = write("paths.txt", "/\n");
    let outcome = world.wirebench(&["load", "-n", "100", "--requests", &paths]).ended(2);
    assert_has(&outcome.stderr, &["paths.txt names no server: give its URL too, such as http://"]);
    world.wirebench(&["load", "-n", "100", "--requests", &paths, &url]).ended(0);
}

#[test]
fn echoes_of_any_size_are_checked() {
    let (world, _server, url) = served("echo");
    for size in ["1", "64", "256KiB"] {
        let report = report(&world, &["-c4", "-n", "200", "--payload", size, &url]);
        assert_eq!((report.requests, report.errors.total()), (200, 0), "{size}");
    }
}

#[test]
fn a_reply_that_is_not_the_expected_one_is_an_error() {
    let (world, _server, url) = served("hello");
    let arguments = ["load", "-d", "10s", "--expect-body", "Hello moon!!", &url];
    let outcome = world.wirebench(&arguments);
    let expected = format!(
        "{url} does not reply as expected: the body differs from the expected one at byte 6; \
         check the path, or the body that is expected"
    );
    outcome.assert_error(1, &expected);
}

#[test]
fn events_are_json_lines_with_the_report_last() {
    let (world, _server, url) = served("hello");
    let outcome =
        world.wirebench(&["load", "--events", "-c2", "-d250ms", "--interval", "100ms", &url]);
    let events: Vec<serde_json::Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let others: Vec<&str> = names.iter().copied().filter(|name| *name != "interval").collect();
    assert_eq!(others, ["connected", "window-start", "window-end", "report"]);
    assert!(names.len() > others.len() && names.ends_with(&["report"]), "{names:?}");
}

/// A load with all files, and where they are.
fn with_files(world: &World, arguments: &[&str]) -> (Vec<String>, [PathBuf; 3]) {
    let paths = ["x.csv", "x.hgrm", "x.jsonl"].map(|name| world.folder.path().join(name));
    let options = ["--csv", "--hgrm", "--intervals"];
    let mut words: Vec<String> = ["load", "--interval", "100ms"].map(str::to_owned).to_vec();
    for (option, path) in options.iter().zip(&paths) {
        words.extend([(*option).to_owned(), path.display().to_string()]);
    }
    words.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    (words, paths)
}

/// The value of a figure of one load.
fn cell(csv: &str, figure: &str) -> String {
    let line = csv.lines().find_map(|line| line.split_once(&format!(",{figure},")));
    line.unwrap().1.split(',').nth(1).unwrap().to_owned()
}

fn intervals(path: &PathBuf) -> Vec<Interval> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_rate_is_reported_with_its_offered_load_and_three_rows_of_percentiles() {
    let (world, _server, url) = served("hello");
    let outcome =
        world.wirebench(&["load", "-c4", "-d1s", "-R", "500", "--poisson", "--stalls", &url]);
    let parts = [
        "  500 requests/s at random (Poisson), latency from the due time",
        "  Offered ",
        " unsent at the end",
        "    Latency from due ",
        "    Service from sent ",
        "    Lag of sending ",
        "  Without stalls of this machine: ",
        "  Limit: ",
        "\nRequests/sec: ",
    ];
    outcome.assert_prints(0, &parts);
}

#[test]
fn steps_and_ramps_are_reported_in_parts() {
    let (world, _server, url) = served("hello");
    let steps = report(&world, &["-c4", "-d600ms", "-R", "500/1k/2k", &url]).steps;
    let counts: Vec<_> = steps.iter().map(|it| (it.offered_per_second, it.length_ns)).collect();
    assert_eq!(counts, [500.0, 1000.0, 2000.0].map(|rate| (rate, 200_000_000)));
    let samples = |it: &RateStep| it.latency.as_ref().map_or(0, |latency| latency.count);
    assert!(steps.iter().all(|it| it.requests > 0 && samples(it) > 0), "{steps:?}");
    let outcome = world.wirebench(&["load", "-c4", "-d1s", "-R", "200:600", &url]);
    outcome.assert_prints(0, &["  offered/s  requests/s ", " 0.0        300 ", " 0.5        500 "]);
}

#[test]
fn percentiles_of_ones_own_replace_those_of_wrk() {
    let (world, _server, url) = served("hello");
    let outcome = world.wirebench(&["load", "-c4", "-n2000", "--percentiles", "42,99.99", &url]);
    outcome.assert_prints(0, &["     42% ", "  99.99% ", "  Engine: ", "  Generator: "]);
    assert!(!outcome.stdout.contains("     50%"), "{outcome:#?}");
}

#[test]
fn the_files_of_a_load_hold_what_it_prints() {
    let (world, _server, url) = served("echo");
    let (words, [csv, hgrm, lines]) = with_files(&world, &["--json", "-d350ms", &url]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = world.wirebench(&words).ended(0);
    let report = read(&outcome.stdout);
    let row = fs::read_to_string(csv).unwrap();
    assert_eq!(cell(&row, "requests_per_second"), report.requests_per_second.to_string());
    let latency = report.latency.unwrap();
    assert_eq!(cell(&row, "latency_ns_p99"), latency.latency_ns_p99.to_string());
    assert!(row.contains(&format!(",{url},")), "{row}");
    let table = fs::read_to_string(hgrm).unwrap();
    assert!(table.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"));
    let last = table.lines().rfind(|line| !line.starts_with('#')).unwrap();
    let last: Vec<&str> = last.split_whitespace().collect();
    // A stall at the end leaves requests of which only a lower bound is known, and which have no row.
    let bounds = latency.lower_bounds.unwrap_or(latency.censored);
    assert_eq!(table.contains("#[Lower bounds"), bounds > 0, "{table}");
    let rows = last[2].parse::<u64>().unwrap();
    assert!(rows <= latency.count - bounds, "{table}");
    let is_whole = (last[1], rows) == ("1.000000000000", latency.count);
    assert_eq!(is_whole, bounds == 0, "{table}");
    let intervals = intervals(&lines);
    assert!(
        !intervals.is_empty() && intervals.iter().all(|interval| interval.phase == Phase::Window)
    );
    let sum: u64 = intervals.iter().map(|interval| interval.requests).sum();
    assert_eq!(sum, report.requests);
}

#[test]
fn json_carries_the_verdict_beside_the_report() {
    let (world, _server, url) = served("hello");
    let outcome = world.wirebench(&["load", "--json", "-n100", &url]);
    let value: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let cell = &value["cells"][0];
    let limit = cell["bound_by"][0].as_str().unwrap();
    assert!(["generator", "server", "unknown"].contains(&limit), "{value}");
    let few = "100 samples are too few for the highest percentiles. Measure for longer.";
    assert!(cell["notes"].as_array().unwrap().contains(&few.into()), "{value}");
}

#[test]
fn ctrl_c_gives_a_partial_report_and_writes_the_files() {
    let (world, _server, url) = served("hello");
    let (words, [csv, hgrm, lines]) = with_files(&world, &["-c2", "-d60s", &url]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut load = world.start(&words);
    load.first_line();
    // The first interval is over, so there is something to report.
    world.wait_for_content(&lines);
    load.signal(Signal::INT);
    let outcome = load.end();
    let parts = ["  Interrupted: the 1m test was stopped early", "  Caution: interrupted"];
    outcome.assert_prints(130, &parts);
    assert!(fs::read_to_string(csv).unwrap().contains("interrupted: the window was "));
    assert!(fs::read_to_string(hgrm).unwrap().contains("#[Mean "));
    assert!(!intervals(&lines).is_empty());
}

#[test]
fn a_second_ctrl_c_soon_after_the_first_does_not_discard_the_result() {
    let (world, _server, url) = served("hello");
    let lines = world.folder.path().join("x.jsonl");
    let path = lines.display().to_string();
    let mut load = world.start(&["load", "-d60s", "--interval=100ms", "--intervals", &path, &url]);
    load.first_line();
    world.wait_for_content(&lines);
    load.signal(Signal::INT);
    std::thread::sleep(std::time::Duration::from_millis(5));
    load.signal(Signal::INT);
    load.end().assert_prints(130, &["  Interrupted: ", "Requests/sec:"]);
}

#[test]
fn a_load_that_cannot_start_leaves_old_results_alone() {
    let world = World::new();
    let (words, paths) = with_files(&world, &["-d30s", "tcp://127.0.0.1:1"]);
    for path in &paths[1..] {
        fs::write(path, "an old result").unwrap();
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    world.wirebench(&words).ended(1);
    for path in &paths[1..] {
        assert_eq!(fs::read_to_string(path).unwrap(), "an old result");
    }
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_result_and_fails() {
    let (world, _server, url) = served("hello");
    let arguments = ["load", "-d250ms", "--interval", "100ms", "--intervals", "/dev/full", &url];
    let outcome = world.wirebench(&arguments);
    outcome.assert_prints(1, &["Requests/sec:"]);
    let full = "error: `/dev/full` could not be written (No space left on device (os error 28)): \
                make room there, or give";
    outcome.assert_line(&format!("{full} --intervals another file"));
    // What is known before the load begins costs no load.
    for option in ["--csv", "--hgrm"] {
        let outcome = world.wirebench(&["load", "-d60s", option, "/dev/full", &url]);
        outcome.assert_prints(1, &[]);
        assert_eq!(outcome.stdout, "", "{outcome:#?}");
        outcome.assert_line(&format!("{full} {option} another file"));
    }
}

#[test]
fn the_ceiling_is_measured_on_a_server_that_is_gone_afterwards() {
    let (world, server, url) = served("echo");
    let report = report(&world, &["--ceiling", "-c2", "-n", "1000", &url]);
    assert!(report.ceiling_requests_per_second.is_some_and(|ceiling| ceiling > 0.0));
    drop(server);
    world.wait_for_silence();
}

#[test]
fn a_ceiling_that_cannot_be_measured_is_reported_and_the_load_goes_on() {
    let (world, _server, url) = served("hello");
    let outcome = world.wirebench(&["load", "--ceiling", "-n50", "--body", "x", &url]);
    outcome.assert_prints(0, &["  50 requests in "]);
    outcome.assert_line("no ceiling: the built-in servers read no body of a request");
}

#[test]
fn failures_among_good_replies_are_reported_and_the_load_succeeds() {
    let world = World::new();
    let url = format!("http://{}/", crate::servers::forgetful_server());
    let outcome = world.wirebench(&["load", "-c1", "-t1", "-n10", &url]);
    outcome.assert_prints(0, &["  Errors: ", "  Caution: "]);
    assert!(outcome.stderr.contains(" of 10 requests failed"), "{outcome:#?}");
}

#[test]
fn a_load_most_of_whose_requests_failed_is_not_valid() {
    let world = World::new();
    let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nok";
    let url = format!("http://{}/", crate::servers::failing_server(12, busy));
    let outcome = world.wirebench(&["load", "-c1", "-t1", "-n100", &url]);
    outcome.assert_prints(3, &["Latency of 5xx ", "Non-2xx or 3xx responses: ", "  Caution: "]);
    let failed = "of 100 requests failed, so rate and latency are those of a minority";
    outcome.assert_refused(3, &["error: not valid: ", failed]);
}

#[test]
fn a_load_that_gave_up_has_failed_and_says_so() {
    let world = World::new();
    let url = format!("http://{}/", crate::servers::falling_silent_server(50));
    let outcome = world.wirebench(&["load", "-c1", "-t1", "-n100", "--timeout=200ms", &url]);
    outcome.assert_prints(1, &["  Caution: gave up: no reply came for three timeouts"]);
    assert!(!outcome.stdout.contains("for example: gave up"), "{outcome:#?}");
    assert!(outcome.stderr.starts_with("error: gave up: no reply came for three timeouts, so "));
}
