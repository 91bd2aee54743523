//! `wirebench load` against real servers.

use crate::{
    servers,
    world::{Running, World, assert_has},
};
use rustix::process::Signal;
use std::time::Duration;
use wirebench_schema::load::{Interval, LoadReport, LoadResult, Phase};

/// A built-in server behind `wirebench serve`, and its URL.
pub(crate) fn served(scenario: &str) -> (World, Running, String) {
    let world = World::new();
    let (server, url) = world.serve(scenario);
    (world, server, url)
}

fn report(world: &World, arguments: &[&str]) -> LoadReport {
    read(&world.stdout(&[&["load", "--json"], arguments].concat()))
}

/// The record of a load in its JSON.
pub(crate) fn read(json: &str) -> LoadReport {
    LoadResult::parse(json).unwrap().unwrap().report
}

#[test]
fn a_file_of_requests_may_name_the_server_instead_of_a_url() {
    let (world, _server, url) = served("hello");
    let targets = world.write("targets.txt", format!("GET {url}\n\nGET {url}?again\nX: y\n"));
    let report = report(&world, &["-n", "100", "--requests", &targets]);
    assert_eq!((report.requests, report.errors.total()), (100, 0));
    assert_eq!(report.config.target.to_string(), url);
    let paths = world.write("paths.txt", "/\n");
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

/// A load with all files.
const WITH_FILES: [&str; 5] =
    ["load", "--interval=100ms", "--csv=x.csv", "--hgrm=x.hgrm", "--intervals=x.jsonl"];

/// The value of a figure of one load.
fn cell(csv: &str, figure: &str) -> String {
    let line = csv.lines().find_map(|line| line.split_once(&format!(",{figure},")));
    line.unwrap().1.split(',').nth(1).unwrap().to_owned()
}

fn intervals(world: &World) -> Vec<Interval> {
    world.read("x.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
fn percentiles_of_ones_own_replace_those_of_wrk() {
    let (world, _server, url) = served("hello");
    let outcome = world.wirebench(&["load", "-c4", "-n2000", "--percentiles", "42,99.99", &url]);
    outcome.assert_prints(0, &["     42% ", "  99.99% ", "  Engine: ", "  Generator: "]);
    assert!(!outcome.stdout.contains("     50%"), "{outcome:#?}");
}

#[test]
fn the_files_of_a_load_hold_what_it_prints() {
    let (world, _server, url) = served("echo");
    let words = [&WITH_FILES[..], &["--json", "-d350ms", &url]].concat();
    let report = read(&world.stdout(&words));
    let row = world.read("x.csv");
    assert_eq!(cell(&row, "requests_per_second"), report.requests_per_second.to_string());
    let latency = report.latency.unwrap();
    assert_eq!(cell(&row, "latency_ns_p99"), latency.latency_ns_p99.to_string());
    assert!(row.contains(&format!(",{url},")), "{row}");
    let table = world.read("x.hgrm");
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
    let intervals = intervals(&world);
    assert!(
        !intervals.is_empty() && intervals.iter().all(|interval| interval.phase == Phase::Window)
    );
    let sum: u64 = intervals.iter().map(|interval| interval.requests).sum();
    assert_eq!(sum, report.requests);
}

#[test]
fn ctrl_c_gives_a_partial_report_and_writes_the_files() {
    let (world, _server, url) = served("hello");
    let mut load = world.start(&[&WITH_FILES[..], &["-c2", "-d60s", &url]].concat());
    load.first_line();
    // The first interval is over, so there is something to report.
    world.wait_for_content(&world.path("x.jsonl"));
    load.signal(Signal::INT);
    // A terminal and a program may both send it.
    std::thread::sleep(Duration::from_millis(5));
    load.signal(Signal::INT);
    let outcome = load.end();
    let parts = ["  Interrupted: the 1m test was stopped early", "  Caution: interrupted"];
    outcome.assert_prints(130, &parts);
    assert!(world.read("x.csv").contains("interrupted: the window was "));
    assert!(world.read("x.hgrm").contains("#[Mean "));
    assert!(!intervals(&world).is_empty());
}

#[test]
fn a_load_that_cannot_start_leaves_old_results_alone() {
    let world = World::new();
    for name in ["x.hgrm", "x.jsonl"] {
        world.write(name, "an old result");
    }
    world.wirebench(&[&WITH_FILES[..], &["-d30s", "tcp://127.0.0.1:1"]].concat()).ended(1);
    for name in ["x.hgrm", "x.jsonl"] {
        assert_eq!(world.read(name), "an old result");
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
fn failures_among_replies_are_reported_and_the_load_succeeds_or_not_by_their_number() {
    let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nok";
    let failed = "of 100 requests failed, so rate and latency are those of a minority";
    let rows: [(_, _, i32, &[&str], &[&str]); 3] = [
        (servers::forgetful_server(), "-n10", 0, &["  Errors: "], &[" of 10 requests failed"]),
        (
            servers::failing_server(12, busy),
            "-n100",
            3,
            &["Latency of 5xx ", "Non-2xx or 3xx responses: "],
            &["error: not valid: ", failed],
        ),
        (
            servers::falling_silent_server(50),
            "-n100",
            1,
            &["gave up: no reply came for three timeouts"],
            &["error: gave up: no reply came for three timeouts, so "],
        ),
    ];
    for (address, count, code, stdout, stderr) in rows {
        let url = format!("http://{address}/");
        let words = ["load", "-c1", "-t1", count, "--timeout=200ms", &url];
        let outcome = World::new().wirebench(&words);
        outcome.assert_prints(code, stdout);
        assert_has(&outcome.stdout, &["  Caution: "]);
        assert_has(&outcome.stderr, stderr);
        assert!(!outcome.stdout.contains("for example: gave up"), "{outcome:#?}");
    }
}
