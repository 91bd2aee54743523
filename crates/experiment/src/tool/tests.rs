//! Real reports of the real programs, and what they are asked for.

use super::*;
use expect_test::expect_file;
use wirebench_schema::{load::ErrorCounts, suite::Suite};

const WRK: &str = include_str!("outputs/wrk.txt");
const WRK_ERRORS: &str = include_str!("outputs/wrk_errors.txt");
const WRK_LATE: &str = include_str!("outputs/wrk_late.txt");
const WRK_SILENT: &str = include_str!("outputs/wrk_silent.txt");
const HEY: &str = include_str!("outputs/hey.txt");
const HEY_MILLION: &str = include_str!("outputs/hey_million.txt");
const HEY_ERRORS: &str = include_str!("outputs/hey_errors.txt");
const H2LOAD_NOTHING: &str = include_str!("outputs/h2load_nothing.txt");
const H2LOAD: &str = include_str!("outputs/h2load.txt");
const H2LOAD_TIME: &str = include_str!("outputs/h2load_time.txt");
const H2LOAD_ERRORS: &str = include_str!("outputs/h2load_errors.txt");

const H2LOAD_SILENT: &str = include_str!("outputs/h2load_silent.txt");

const EVERY: [Generator; 3] = [Generator::Wrk, Generator::Hey, Generator::H2load];

fn near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 1e-3 * expected)
}

#[test]
fn the_report_of_wrk_is_understood() {
    let told = parse(Generator::Wrk, WRK).unwrap();
    assert_eq!((told.requests, told.errors.total()), (67816, 0));
    assert!(near(Some(told.window_ns as f64), 1.000_26e9), "{told:?}");
    let latency = told.latency;
    assert!(near(latency.latency_ns_mean, 317_800.0) && near(latency.latency_ns_max, 10.15e6));
    assert!(near(latency.latency_ns_p50, 70_000.0) && near(latency.latency_ns_p99, 4.36e6));
    assert_eq!((latency.latency_ns_p95, latency.latency_ns_min), (None, None));
}

#[test]
fn the_report_of_hey_is_understood() {
    let told = parse(Generator::Hey, HEY).unwrap();
    assert_eq!((told.requests, told.errors.total(), told.window_ns), (2000, 0, 100_000_000));
    let latency = told.latency;
    assert!(near(latency.latency_ns_p50, 200_000.0) && near(latency.latency_ns_p99, 6.4e6));
    assert!(near(latency.latency_ns_mean, 400_000.0) && near(latency.latency_ns_max, 21.6e6));
}

#[test]
fn replies_that_hey_does_not_list_are_counted_by_its_rate() {
    // It was asked for 1 200 000 requests, and all were answered.
    let told = parse(Generator::Hey, HEY_MILLION).unwrap();
    assert!(told.requests.abs_diff(1_200_000) < 10, "{told:?}");
    assert_eq!(told.errors.total(), 0);
    // 64 connections had a request in flight all the time, within the digits that hey prints.
    let little = 64.0 / 24_715.41 * 1e9;
    assert!(told.latency.latency_ns_mean.unwrap() / little < 1.01, "{told:?}");
    assert_eq!((told.latency.latency_ns_p99, told.latency.latency_ns_max), (None, None));
    // A quarter of those that are listed failed, and some had no reply at all.
    let failing = HEY_MILLION
        .replace("[200]\t1000000", "[200]\t750000 responses\n  [503]\t250000")
        .trim_end()
        .to_owned()
        + "\n\nError distribution:\n  [100000]\tGet: connection refused\n";
    let told = parse(Generator::Hey, &failing).unwrap();
    assert_eq!(told.errors.socket, 100_000);
    assert!(told.requests.abs_diff(825_000) < 10, "{told:?}");
    assert!(told.errors.status.abs_diff(275_000) < 10, "{told:?}");
}

#[test]
fn the_report_of_h2load_is_understood() {
    let told = parse(Generator::H2load, H2LOAD).unwrap();
    assert_eq!((told.requests, told.errors.total()), (2000, 0));
    assert!(near(Some(told.window_ns as f64), 41.755e6), "{told:?}");
    let latency = told.latency;
    assert!(near(latency.latency_ns_mean, 162_000.0) && near(latency.latency_ns_max, 4.6e6));
    assert_eq!(latency.latency_ns_p50, None);
    let timed = parse(Generator::H2load, H2LOAD_TIME).unwrap();
    assert_eq!((timed.requests, timed.window_ns), (53813, 1_000_000_000));
}

#[test]
fn failures_are_counted_by_kind_and_are_no_requests() {
    let errors = |status, socket| ErrorCounts { status, socket, ..ErrorCounts::default() };
    let told = parse(Generator::Wrk, WRK_ERRORS).unwrap();
    assert_eq!((told.requests, told.errors), (80, errors(78, 80)));
    let told = parse(Generator::Hey, HEY_ERRORS).unwrap();
    assert_eq!((told.requests, told.errors), (95, errors(94, 11)));
    let told = parse(Generator::H2load, H2LOAD_ERRORS).unwrap();
    assert_eq!((told.requests, told.errors), (3, errors(4, 193)));
}

#[test]
fn replies_that_come_too_late_are_no_requests() {
    let told = parse(Generator::Wrk, WRK_LATE).unwrap();
    assert_eq!((told.requests, told.errors.timeout, told.errors.total()), (24, 8, 8));
    // The window is that of all replies.
    assert!(near(Some(told.window_ns as f64), 3.01e9), "{told:?}");
}

#[test]
fn a_report_without_a_single_reply_is_understood() {
    let told = parse(Generator::Wrk, WRK_SILENT).unwrap();
    assert_eq!((told.requests, told.errors.total(), told.window_ns), (0, 0, 1_020_000_000));
    let told = parse(Generator::H2load, H2LOAD_SILENT).unwrap();
    assert_eq!((told.requests, told.errors.timeout, told.errors.total()), (0, 2, 4));
    assert_eq!(told.window_ns, 1_000_000_000);
}

/// The reason why a report is not understood, without the report itself, which follows it.
fn not_understood(generator: Generator, output: &str) -> String {
    let reason = parse(generator, output).unwrap_err();
    let (reason, shown) = reason.split_once('\n').unwrap();
    assert_eq!(shown, output.trim());
    reason.to_owned()
}

#[test]
fn a_report_that_lacks_something_is_an_error_that_shows_it() {
    let rows = [
        (Generator::Wrk, WRK, "Requests/sec:"),
        (Generator::Wrk, WRK, " requests in "),
        (Generator::Wrk, WRK, "    Latency  "),
        (Generator::Hey, HEY, "Total:"),
        (Generator::Hey, HEY, "Status code distribution:"),
        (Generator::H2load, H2LOAD, "finished in"),
        (Generator::H2load, H2LOAD, " succeeded"),
        (Generator::H2load, H2LOAD, "time for request:"),
    ];
    let reasons = rows.map(|(generator, output, part)| {
        assert!(parse(generator, "").is_err());
        let reason = not_understood(generator, &output.replace(part, "#"));
        format!("{} without `{part}`\n  {reason}\n", generator.name())
    });
    expect_file!["golden/not-understood.txt"].assert_eq(&reasons.concat());
}

fn workload(lines: &str) -> Workload {
    let text = format!(
        "description = \"\"\nblocks = 1\n[[workload]]\nname = \"a\"\nconnections = 8\n{lines}"
    );
    Suite::parse("example", &text).unwrap().workloads.remove(0)
}

fn config(lines: &str) -> LoadConfig {
    let target = "http://127.0.0.1:80/".parse().unwrap();
    workload(&format!("scenario = \"hello\"\n{lines}")).load_config(target, 2, 1)
}

fn tool(name: Generator) -> Tool {
    Tool { version: GeneratorVersion { name, version: String::new() } }
}

#[test]
fn wrk_gets_no_threads_with_which_it_would_drop_connections() {
    let config = |connections, threads| LoadConfig {
        connections,
        threads,
        ..LoadConfig::new("http://127.0.0.1:80/".parse().unwrap())
    };
    let rows = [(100, 3, 2), (400, 2, 2), (400, 6, 5), (7, 6, 1), (8, 1, 1), (3, 3, 3)];
    for (connections, threads, expected) in rows {
        let config = config(connections, threads);
        assert_eq!(tool(Generator::Wrk).threads(&config), expected, "{connections} {threads}");
        assert_eq!(tool(Generator::H2load).threads(&config), threads);
    }
}

#[test]
fn a_count_that_warms_up_is_a_time_for_wrk() {
    let stop = tool(Generator::Wrk).warm_up(1000);
    let command = tool(Generator::Wrk).command(&LoadConfig { stop, ..config("duration = \"5s\"") });
    assert!(command.contains(&"-d1s".to_owned()), "{command:?}");
    for generator in [Generator::Hey, Generator::H2load] {
        assert_eq!(tool(generator).warm_up(1000), Stop::Requests(1000));
    }
}

#[test]
fn each_program_is_asked_in_its_own_words() {
    let rows = [
        (Generator::Wrk, "duration = \"5s\"", "wrk -t2 -c8 -d5s --latency --timeout 2s"),
        (Generator::Hey, "duration = \"500ms\"", "hey -z 500ms -c 8 -cpus 2 -t 2"),
        (Generator::Hey, "requests = 1000", "hey -n 1000 -c 8 -cpus 2 -t 2"),
        (Generator::H2load, "count_per_connection = 50", "h2load --h1 -t2 -c8 -n400 -N 2s"),
        (Generator::H2load, "duration = \"2s\"", "h2load --h1 -t2 -c8 -D 2000ms -N 2s"),
        (
            Generator::Hey,
            "requests = 1000\nheaders = [\"User-Agent: hey/0.0.1\", \"A: b\"]",
            "hey -n 1000 -c 8 -cpus 2 -t 2 -H A: b",
        ),
        (
            Generator::Wrk,
            "duration = \"5s\"\nheaders = [\"A: b\"]",
            "wrk -t2 -c8 -d5s --latency --timeout 2s -H A: b",
        ),
    ];
    for (generator, lines, expected) in rows {
        let command = tool(generator).command(&config(lines)).join(" ");
        assert_eq!(command, format!("{expected} http://127.0.0.1:80/"));
    }
}

#[test]
fn what_a_program_cannot_do_is_refused_with_the_reason() {
    let hello = "scenario = \"hello\"\nduration = \"1s\"\n";
    let mut text = String::new();
    let mut refuse = |generator, lines: &str| {
        let reason = check(generator, &workload(lines)).unwrap_err();
        text += &format!("{}\n  {reason}\n", lines.trim_start_matches(hello).replace('\n', "; "));
    };
    for generator in EVERY {
        assert_eq!(check(generator, &workload(hello)), Ok(()));
        refuse(generator, "scenario = \"echo\"\nduration = \"1s\"");
        for line in [
            "delay = \"1ms\"",
            "rate = 100",
            "phases = [\"cost\"]",
            "pipeline = 2",
            "idle_connections = 1",
            "requests_per_connection = 1",
        ] {
            refuse(generator, &format!("{hello}{line}"));
        }
    }
    refuse(Generator::H2load, &format!("{hello}retry_closed = true"));
    refuse(Generator::Hey, &format!("{hello}headers = [\"User-Agent: x\"]"));
    refuse(Generator::Wrk, "scenario = \"hello\"\nrequests = 1000");
    refuse(Generator::Hey, "scenario = \"hello\"\nrequests = 7");
    refuse(Generator::Wrk, "scenario = \"hello\"\nduration = \"500ms\"");
    expect_file!["golden/refused.txt"].assert_eq(&text);
    // No load is made there.
    let idle = workload("scenario = \"echo\"\nduration = \"1s\"\nphases = [\"idle\"]");
    assert_eq!(check(Generator::Wrk, &idle), Ok(()));
    let count = workload("scenario = \"hello\"\nrequests = 1000");
    assert_eq!(check(Generator::Hey, &count), Ok(()));
}

#[test]
fn a_server_that_answered_nothing_is_no_fault_of_the_report_of_h2load() {
    let told = parse(Generator::H2load, H2LOAD_NOTHING).unwrap();
    assert_eq!((told.requests, told.window_ns, told.errors.total()), (0, 1_000_000_000, 0));
    let contradiction = WRK.replace("67798.44", "0.00");
    assert_eq!(
        not_understood(Generator::Wrk, &contradiction),
        "the report of wrk was not understood: its rate is 0"
    );
}

/// Runs a script of the shell as if it were a generator.
fn run_script(script: &str) -> String {
    let argv = ["sh", "-c", script].map(str::to_owned);
    let stop = AtomicBool::new(false);
    run(&argv, None, Duration::from_secs(20), &stop).unwrap_err()
}

#[test]
fn a_program_that_fails_is_quoted_with_its_last_words() {
    assert_eq!(run_script("exit 1"), "sh ended with exit status: 1 and said nothing");
    assert_eq!(run_script("echo a; echo b; exit 3"), "sh ended with exit status: 3: b");
    assert_eq!(run_script("echo a; echo c >&2; exit 3"), "sh ended with exit status: 3: c");
}

#[test]
fn versions_are_read_from_what_the_programs_print() {
    let rows = [
        (Generator::Wrk, "wrk 4.1.0 [epoll] Copyright\nUsage: wrk", Some("4.1.0")),
        (Generator::H2load, "h2load nghttp2/1.52.0\n", Some("nghttp2/1.52.0")),
        (Generator::Hey, "0.1.4-2+b4", Some("0.1.4-2+b4")),
        (Generator::Wrk, "something else", None),
        (Generator::Hey, "", None),
    ];
    for (generator, printed, expected) in rows {
        assert_eq!(version(generator, printed).as_deref(), expected, "{printed}");
    }
}

#[test]
fn a_program_that_hangs_when_asked_for_its_version_is_ended_and_named() {
    let argv = ["sleep".to_owned(), "60".to_owned()];
    let stop = AtomicBool::new(false);
    let reason = asked(&argv, Duration::from_millis(100), &stop).unwrap_err();
    assert_eq!(
        reason,
        "`sleep` did not end within 0 s and was killed (asked for its version with \
         `sleep 60`): check that it is the right program"
    );
    let absent = ["no-such-generator".to_owned()];
    assert_eq!(asked(&absent, Duration::from_secs(20), &stop), Ok(String::new()));
}
