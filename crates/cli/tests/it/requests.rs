//! A user's own requests in the verbs that start servers. The server is [`api`], in a process of its own.

use crate::{servers, world::World};
use std::io::{BufRead, BufReader, Read, Write};
use wirebench_schema::{
    journal::{Journal, ReasonKind, Weight},
    load::LoadReport,
    scenario::Scenario,
    suite::Phase,
};

/// A small JSON API: `/users/N` tells its number, `/now` differs each time, a `POST` gets its body and status
/// 201, or 202 at `/jobs`, anything else is not found.
pub(crate) fn api<S>(stream: &S) -> std::io::Result<()>
where
    for<'a> &'a S: Read + Write,
{
    let mut reader = BufReader::new(stream);
    for number in 0.. {
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let before = head.len();
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
            if let Some(value) = head[before..].strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let words: Vec<&str> = head.split(' ').take(2).collect();
        let (status, body) = match words.as_slice() {
            ["GET", path] if path.starts_with("/users/") => {
                ("200 OK", format!("{{\"id\":{}}}", &path[7..]))
            }
            ["GET", "/now"] => ("200 OK", format!("{{\"now\":{number}}}")),
            ["POST", "/jobs"] => ("202 Accepted", String::from_utf8_lossy(&body).into_owned()),
            ["POST", _] => ("201 Created", String::from_utf8_lossy(&body).into_owned()),
            _ => ("404 Not Found", "none".to_owned()),
        };
        let length = body.len();
        write!(&mut { stream }, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}")?;
    }
    Ok(())
}

pub(crate) const FILE: &str = r#"{"path": "/users/1", "name": "first"}
{"path": "/users/{random:10-99}", "name": "user", "weight": 8, "expect": {"contains": "id"}}
{"method": "POST", "path": "/orders", "name": "order", "body_text": "{\"n\": {seq}}", "expect": {"status": 201}}
"#;

/// The options of a short measurement.
const SHORT: [&str; 6] = ["--cohorts", "1", "--duration", "200ms", "--warmup", "0s"];

/// The reports of the runs that have one. On a busy machine a run may be without a reply, which is no matter of these
/// tests.
fn reports(journal: &Journal) -> Vec<&LoadReport> {
    let measured = journal.runs.iter().filter_map(|run| run.outcome.measured());
    let reports: Vec<_> = measured.map(|it| &it.load).collect();
    assert!(!reports.is_empty(), "{:?}", journal.runs);
    reports
}

#[test]
fn run_measures_servers_with_the_requests_of_a_file() {
    let world = World::that_sends();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("api.jsonl");
    std::fs::write(&file, FILE).unwrap();
    let (file, server) = (file.to_str().unwrap(), servers::command("api"));
    let words = ["run", "--server", &server, "--server", &server, "--name", "a", "--name", "b"];
    let requests = ["--requests", file, "--order", "weighted", "--steady", "0s"]
        .into_iter()
        .chain(["--phase", "saturate", "--phase", "cost", "--rate", "500"]);
    let requests: Vec<&str> = requests.collect();
    let outcome = world.wirebench(&[&words[..], &requests, &SHORT].concat());
    outcome.assert_reported();
    let journal = world.journal();
    assert_eq!(journal.start.baselines[0].to_string(), "own/a");
    assert!(
        journal.verified.iter().all(|it| it.scenario == Scenario::Requests && it.failed.is_empty())
    );
    let phases: Vec<Phase> = journal.start.workloads.iter().map(|it| it.phase).collect();
    assert_eq!(phases, [Phase::Saturate, Phase::Cost]);
    assert_eq!(journal.runs.len(), 2 * 3);
    let words = format!("--requests={file}");
    assert!(journal.runs.iter().all(|run| run.generator_command.contains(&words)));
    for report in reports(&journal) {
        assert_eq!(report.errors.total(), 0, "{:?}", report.error_examples);
        let names: Vec<&str> = report.by_name.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["first", "user", "order"]);
    }
}

#[test]
fn a_reply_that_is_not_as_expected_is_shown_with_its_request() {
    let (world, server) = (World::that_sends(), servers::command("api"));
    let words = ["run", "--server", &server, "--phase", "saturate"];
    let run = |more: &[&str]| world.wirebench(&[&words[..], more, &SHORT].concat());
    run(&["--path", "/none"]).assert_prints(1, &["status: a reply had status 404: \"none\""]);
    run(&["--path", "/now"]).assert_prints(1, &["different bodies", "give --any-body"]);
    run(&["--path", "/now", "--any-body"]).assert_reported();
    run(&["--path", "/now", "--no-verify"]).assert_reported();
    let unchecked = ["--path", "/users/7", "--expect-contains", "\"id\":8", "--no-verify"];
    let outcome = run(&unchecked);
    outcome.assert_reported();
    let told = "--no-verify: the expected bodies are not compared, only statuses and framing\n";
    assert_eq!(outcome.stderr.matches(told).count(), 1, "{outcome:?}");
    run(&["--path", "/none", "--expect-body", "none", "--no-verify"])
        .assert_prints(1, &["a reply had status 404"]);
    run(&["--path", "/users/7", "--expect-contains", "\"id\":8", "--name", "a"]).assert_prints(
        1,
        &["request `GET /users/7`", "as expected: the body, 8 bytes, does not contain"],
    );
    run(&["--path", "/none", "--expect-status", "404", "--expect-body", "none"]).assert_reported();
}

#[test]
fn servers_that_were_named_are_measured_or_listed_with_their_reason() {
    let (world, api, other) =
        (World::that_sends(), servers::command("api"), servers::command("correct"));
    let named = ["run", "builtin/epoll", "--server", &api, "--server", &other, "--name=good"];
    let load = ["--name=other", "--path=/users/1", "--phase=saturate", "--fail-if=errors > 50%"];
    let outcome = world.wirebench(&[&named[..], &load, &SHORT].concat()).ended(1);
    let absent = "builtin/epoll: no scenario `requests`: it has hello, echo";
    outcome.assert_line(&format!("    not measured: {absent}"));
    let refused = "    own/other requests: not measured, fails `same-replies`: ";
    assert!(outcome.stdout.contains(refused), "{outcome:#?}");
    assert_eq!(outcome.stdout.matches("FAILED: requests ").count(), 2, "{outcome:#?}");
    let journal = world.journal();
    let measured: Vec<String> = journal.runs.iter().map(|it| it.variant.to_string()).collect();
    assert_eq!(measured, ["own/good", "own/good"]);
    assert_eq!(journal.unavailable[0].variant.to_string(), "builtin/epoll");
}

#[test]
fn a_server_that_closes_after_every_reply_is_compared_with_the_fact_on_the_page() {
    let (world, keeps, closes) =
        (World::that_sends(), servers::command("correct"), servers::command("closes"));
    let sides = ["ab", "--a", &keeps, "--b", &closes, "--path=/", "-c2", "--steady=0s"];
    let outcome = world.wirebench(&[&sides[..], &SHORT].concat());
    let fact = "ab/B: the server closed the connection after every reply: ";
    assert!(outcome.stdout.contains(fact), "{outcome:#?}");
    let journal = world.journal();
    let of_b = journal.runs.iter().filter(|it| it.variant.to_string() == "ab/B");
    let reasons: Vec<_> = of_b.flat_map(|it| it.outcome.reasons()).collect();
    let weight = |kind| reasons.iter().find(|it| it.kind == kind).map(|it| it.weight);
    assert_eq!(weight(ReasonKind::ClosesAfterReply), Some(Weight::Note), "{reasons:#?}");
    assert_eq!(weight(ReasonKind::ServerCloses), None, "{reasons:#?}");
}

#[test]
fn a_name_in_the_url_reaches_the_server_that_was_started() {
    let (world, server) = (World::that_sends(), servers::command("api"));
    let url = "http://api.invalid:{port}/users/3";
    let words = ["run", "--server", &server, "--url", url, "--phase", "saturate"];
    world.wirebench(&[&words[..], &SHORT].concat()).assert_reported();
    let journal = world.journal();
    let config = &reports(&journal)[0].config;
    assert_eq!(config.target.path(), "/users/3");
    assert!(config.target.host_field().starts_with("api.invalid:"));
    assert_eq!(config.connect_to.as_ref().unwrap().host(), "127.0.0.1");
}

#[test]
fn ab_and_tune_take_the_same_options() {
    let (world, server) = (World::that_sends(), servers::command("api"));
    let post = ["--method", "POST", "--path", "/x", "--body", "{}", "--expect-body", "{}"];
    let words = ["ab", "--a", &server, "--b", &server, "--cohorts", "1", "--steady", "0s"];
    world.wirebench(&[&words[..], &post].concat());
    assert!(reports(&world.journal()).iter().all(|it| it.status_classes[1] > 0));
    let words =
        ["tune", "--server", &server, "--connections", "1,2", "--blocks", "1", "-d", "50ms"];
    let outcome = world.wirebench(&[&words[..], &post].concat());
    assert!(outcome.stdout.contains("requests/s"), "{outcome:?}");
}

#[test]
fn servers_whose_replies_differ_are_not_compared_unless_that_is_asked_for() {
    let (world, server) = (World::that_sends(), servers::command("api"));
    let urls = ["--url", "http://{host}:{port}/users/7", "--url", "http://{host}:{port}/users/123"];
    let words = ["ab", "--a", &server, "--b", &server, "--cohorts", "1", "--steady", "0s"];
    let words = [&words[..], &urls].concat();
    let outcome = world.wirebench(&words);
    let line = "not comparable: `GET` gets status 200, 10 bytes, no content type; from ab/A it gets status 200, 8 \
                bytes, no content type; next step: make them alike, or add --replies-differ";
    outcome.assert_prints(1, &[line]);
    assert_eq!(world.journal().runs.len(), 0, "nothing is measured");
    for option in ["--replies-differ", "--any-body"] {
        let world = World::that_sends();
        let outcome = world.wirebench(&[&words[..], &[option]].concat());
        assert!(outcome.stdout.contains("ab/B: `GET` gets status 200, 10 bytes"), "{outcome:?}");
        assert!(!reports(&world.journal()).is_empty());
        let deviates = world.journal().verified.iter().flat_map(|it| it.deviates.clone()).count();
        assert_eq!(deviates, 1, "the difference is on record");
    }

    let two = ["run", "--server", &server, "--server", &server, "--name", "a", "--name", "b"];
    let run = [&two[..], &["--phase", "saturate"], &SHORT].concat();
    let outcome = world.wirebench(&[&run[..], &urls].concat());
    outcome.assert_prints(1, &["same-replies", "from own/a it gets status 200, 8 bytes"]);
    let urls = ["--url", "http://{host}:{port}/users", "--url", "http://{host}:{port}/jobs"];
    let post = ["--method", "POST", "--body", "{}"];
    let outcome = world.wirebench(&[&run[..], &post, &urls].concat());
    let parts = ["same-replies", "`POST` gets status 202", "from own/a it gets status 201"];
    outcome.assert_prints(1, &parts);
}

#[test]
fn contradictions_and_missing_parts_are_reported_before_anything_starts() {
    let world = World::that_sends();
    let refused = |words: &[&str], part: &str| world.wirebench(words).assert_refused(2, &[part]);
    let server = ["--server", "./none {port}"];
    refused(&["run", "--path", "/"], "add --server './my-server {port}'");
    let insecure = "--insecure and --ca are for TLS: add --url 'https://{host}:{port}/'";
    let without = "the scenario `requests` needs requests: give --path or --requests FILE";
    let rows: [(&[&str], &[&str], &str); 5] = [
        (
            &["run", "tune", "verify"],
            &["--scenario=echo", "--path=/"],
            "--scenario says what is requested",
        ),
        (&["run", "tune", "verify"], &["--scenario=requests"], without),
        (&["run"], &["--requests=none.jsonl"], "--requests none.jsonl cannot be read"),
        (&["run"], &["--path=/", "--insecure"], insecure),
        (&["run"], &["--path=users"], "`users` is not a path: write it like /users?page=1"),
    ];
    for (verbs, options, part) in rows {
        verbs.iter().for_each(|verb| refused(&[&[*verb], &server[..], options].concat(), part));
    }
    let urls = ["--url", "http://{host}:{port}/a", "--url", "http://{host}:{port}/b"];
    let own = std::env::current_exe().unwrap();
    let own = format!("{} {{port}}", own.display());
    let all = [&["run", "--server", &own], &urls[..]].concat();
    refused(&all, "there are 2 --url for 1 servers: give one for all, or one for each");
}

#[test]
fn a_server_on_a_unix_socket_is_started_checked_and_measured() {
    let world = World::that_sends();
    let server = servers::command("api").replace("{port}", "{path}");
    let words = ["--server", &server, "--url", "unix:{path}", "--path", "/users/3"];
    let stdout = world.stdout(&[&["verify"], &words[..]].concat());
    assert!(stdout.ends_with("10 passed, 0 failed, 0 skipped\n"), "{stdout}");
    let run = [&["run", "--phase", "saturate"], &words[..], &SHORT].concat();
    world.wirebench(&run).assert_reported();
    let journal = world.journal();
    let socket = reports(&journal)[0].config.unix_socket.clone().unwrap();
    assert!(!std::path::Path::new(&socket).exists(), "{socket}");
    let refused = |words: &[&str], part: &str| world.wirebench(words).assert_refused(2, &[part]);
    refused(&["run", "--server", &server, "--path", "/"], "add --url 'unix:{path}'");
    let by_port = servers::command("api");
    refused(&["run", "--server", &by_port, "--url", "unix:{path}"], "command has no {path}");
}
