//! Real reports of the real programs, and what they are asked for.

use super::{parse::ToolFigures, *};
use expect_test::{expect, expect_file};
use wirebench_schema::suite::Suite;

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

#[test]
fn reports_are_understood_and_failures_and_late_replies_are_no_requests() {
    let outputs = [
        ("wrk", Generator::Wrk, WRK),
        ("wrk with failures", Generator::Wrk, WRK_ERRORS),
        // The window is that of all replies.
        ("wrk with late replies", Generator::Wrk, WRK_LATE),
        ("wrk without replies", Generator::Wrk, WRK_SILENT),
        ("hey", Generator::Hey, HEY),
        ("hey with failures", Generator::Hey, HEY_ERRORS),
        ("h2load", Generator::H2load, H2LOAD),
        ("h2load for a time", Generator::H2load, H2LOAD_TIME),
        ("h2load with failures", Generator::H2load, H2LOAD_ERRORS),
        ("h2load without replies", Generator::H2load, H2LOAD_SILENT),
        // A server that answered nothing is no fault of the report.
        ("h2load without anything", Generator::H2load, H2LOAD_NOTHING),
    ];
    let mut text = String::new();
    for (name, generator, output) in outputs {
        let ToolFigures { requests, window_ns, errors, latency } =
            parse(generator, output).unwrap();
        let kinds = errors.kinds().into_iter().filter(|(_, count)| *count > 0);
        let kinds: String =
            kinds.map(|(kind, count)| format!(", {count} {}", kind.name())).collect();
        text += &format!("{name}: {requests} in {window_ns} ns{kinds}\n");
        let latency = serde_json::to_value(latency).unwrap();
        text += "  us:";
        for (name, value) in latency.as_object().unwrap() {
            let us = value.as_f64().map(|ns| format!(" {} {}", &name[11..], ns / 1000.0));
            text += &us.unwrap_or_default();
        }
        text += "\n";
    }
    expect![[r#"
        wrk: 67816 in 1000259003 ns
          us: max 10150 mean 317.8 p50 70 p75 80 p90 737 p99 4360
        wrk with failures: 80 in 1001267427 ns, 78 status, 80 socket
          us: max 63900 mean 24250 p50 26000 p75 43860 p90 47060 p99 60100
        wrk with late replies: 24 in 3010348071 ns, 8 timeout
          us: max 58240 mean 51290 p50 50270 p75 50330 p90 54710 p99 58240
        wrk without replies: 0 in 1020000000 ns
          us: max 0 mean 0 p50 0 p75 0 p90 0 p99 0
        hey: 2000 in 100000000 ns
          us: max 21600 mean 400 min 0 p50 200 p75 300 p90 300 p95 500 p99 6400
        hey with failures: 95 in 1344300000 ns, 94 status, 11 socket
          us: max 104400 mean 26000 min 100 p50 42100 p75 44000 p90 47400 p95 50400 p99 104400
        h2load: 2000 in 41754995 ns
          us: max 4600 mean 162 min 49
        h2load for a time: 53813 in 1000000000 ns
          us: max 16210 mean 148 min 23
        h2load with failures: 3 in 143266475 ns, 4 status, 193 socket
          us: max 48150 mean 27810 min 3130
        h2load without replies: 0 in 1000000000 ns, 2 timeout, 2 socket
          us: max 0 mean 0 min 0
        h2load without anything: 0 in 1000000000 ns
          us: max 0 mean 0 min 0
    "#]]
    .assert_eq(&text);
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
    let contradiction = not_understood(Generator::Wrk, &WRK.replace("67798.44", "0.00"));
    assert_eq!(contradiction, "the report of wrk was not understood: its rate is 0");
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
