//! Services that run already: measured as they are, never stopped, and loaded no faster than was agreed to.

use crate::{
    load::served,
    servers,
    world::{Outcome, World, assert_has},
};
use std::{
    io::{Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};
use wirebench_schema::{
    journal::{Journal, ReasonKind, Run},
    scenario::Scenario,
};

/// Loads as short as they can be.
const SHORT: [&str; 7] =
    ["-d250ms", "--visit=80ms", "--rounds=2", "--steady=0s", "--warmup=20ms", "-c2", "-q"];

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK";

/// A server within this test, which counts connections and requests.
fn counting(ip: IpAddr) -> (SocketAddr, Arc<AtomicU64>, Arc<AtomicU64>) {
    let counts = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (connections, requests) = counts.clone();
    let address = servers::in_threads(ip, move |mut stream| {
        connections.fetch_add(1, Ordering::Relaxed);
        let mut buffer = [0; 4096];
        while let Ok(1..) = stream.read(&mut buffer) {
            requests.fetch_add(1, Ordering::Relaxed);
            if stream.write_all(REPLY).is_err() {
                return;
            }
        }
    });
    (address, counts.0, counts.1)
}

/// The address of this machine towards others, if it has one. Nothing is sent.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// Checks that it went through to its report. On a busy machine a short load may stay without a reply.
#[track_caller]
pub(crate) fn assert_went_through(outcome: &Outcome) {
    let has_ended = matches!(outcome.code, Some(0 | 1)) && !outcome.stderr.contains("panicked");
    assert!(has_ended && outcome.stdout.contains("\nReport: "), "{outcome:#?}");
}

fn kinds(journal: &Journal) -> Vec<ReasonKind> {
    let reasons = journal.runs.iter().flat_map(|run| run.outcome.reasons());
    reasons.map(|reason| reason.kind).collect()
}

#[test]
fn services_are_compared_and_run_on() {
    let (world, server, url) = served("hello");
    let (_other, other, second) = served("hello");
    let path = format!("{url}any?path=1");
    let cohorts = ["--cohorts=3", "--phase=saturate", "--name=first"];
    world.wirebench(&[&["run", &path, &second], &SHORT[..], &cohorts].concat()).assert_reported();
    let journal = world.journal();
    assert_eq!(journal.verified.len(), 2);
    assert!(journal.verified.iter().all(|it| it.failed.is_empty() && it.passed >= 4));
    let (runs, names) = (&journal.runs, |name: &str| {
        journal.runs.iter().filter(|run| run.variant.to_string() == name).count()
    });
    // The first is the baseline, twice in each cohort.
    assert_eq!((runs.len(), names("own/first")), (9, 6), "{runs:#?}");
    for run in runs {
        let Some(measured) = run.outcome.measured() else { continue };
        assert!(run.generator_command.last().unwrap().starts_with("http://127.0.0.1:"));
        assert!(measured.load.requests > 0 && measured.cost.cpu_ns_per_request.is_some());
        assert!(measured.cost.memory_peak_bytes > 0 && measured.cost.processes > 0);
        assert!(run.outcome.reasons().iter().any(|it| it.kind == ReasonKind::NotRestarted));
    }
    let scenarios: Vec<Scenario> = journal.start.workloads.iter().map(|it| it.scenario).collect();
    assert_eq!(scenarios, [Scenario::Requests]);
    let folder = world.results();
    let folder = folder.to_str().unwrap();
    let note = "not restarted: the result holds for this instance of the service";
    for form in [&["--json"][..], &["--format=markdown"], &[]] {
        let page = world.stdout(&[&["report", folder], form].concat());
        assert!(page.replace("\n      ", " ").contains(note), "{page}");
    }
    let html = std::fs::read_to_string(format!("{folder}/report.html")).unwrap();
    assert!(html.contains(note), "{html}");
    for (server, url) in [(server, &url), (other, &second)] {
        world.wirebench(&["load", url, "-n", "10", "-c", "1"]).ended(0);
        server.signal(rustix::process::Signal::TERM);
        server.end();
    }
}

#[test]
fn one_service_is_compared_with_itself_and_a_server_is_compared_with_a_service() {
    let (world, _server, url) = served("hello");
    let ab = ["ab", "--a", &url, "--b", &url, "--cohorts=3"];
    assert_went_through(&world.wirebench(&[&ab[..], &SHORT].concat()));
    let journal = world.journal();
    assert_eq!(journal.runs.len(), 12);
    assert_eq!(journal.start.metric, None, "its processes are known");
    // The same process has the load of all four: its own work is no neighbour's.
    assert!(!kinds(&journal).contains(&ReasonKind::ParkedBusy), "{:?}", kinds(&journal));
    let mixed = World::that_sends();
    let server = servers::command("correct");
    let ab = ["ab", "--a", &url, "--b", &server, "--cohorts=3", "--path=/"];
    assert_went_through(&mixed.wirebench(&[&ab[..], &SHORT].concat()));
    let journal = mixed.journal();
    let is_service = |name: &str| {
        let mut runs = journal.runs.iter().filter(|run| run.variant.to_string() == name);
        runs.any(|run| run.outcome.reasons().iter().any(|it| it.kind == ReasonKind::NotRestarted))
    };
    assert_eq!((is_service("ab/A"), is_service("ab/B")), (true, false));
}

#[test]
fn a_sweep_and_a_search_leave_the_service_as_it_is() {
    let (world, server, url) = served("hello");
    let sweep = ["tune", &url, "-c", "2,4", "-d", "100ms", "--warmup=20ms", "--blocks=1", "-q"];
    let outcome = world.wirebench(&sweep).ended(0);
    assert_has(&outcome.stdout, &["highest: ", "not restarted: "]);
    assert!(!outcome.stderr.contains("{workers}"), "{outcome:#?}");
    assert_eq!(world.journal().runs.len(), 2);
    let other = World::that_sends();
    let search = ["tune", &url, "--objective=p50 < 10s", "--rates=50-100", "--runs=4", "-c2"];
    let outcome = other.wirebench(&[&search[..], &["-d", "100ms", "-q"]].concat());
    outcome.assert_reported();
    assert_has(&outcome.stdout, &["not restarted: "]);
    let is_rated = |run: &Run| run.workload == "rate";
    assert!(other.journal().runs.iter().all(is_rated), "no load is faster, also on loopback");
    world.wirebench(&["load", &url, "-n", "10", "-c", "1"]).ended(0);
    server.signal(rustix::process::Signal::TERM);
    server.end();
}

#[test]
fn verify_checks_services_as_they_are_next_to_entries_and_commands() {
    let (world, server, url) = served("hello");
    let name = url.replace("http://", "own/").trim_end_matches('/').replace(':', "-");
    let stdout = world.stdout(&["verify", &url]);
    for check in wirebench_verify::catalogue(Scenario::Requests) {
        let verdict = match check.name {
            "stops-on-sigterm" | "leaves-nothing-behind" | "quiet" => "SKIP ",
            _ => "PASS ",
        };
        assert_has(&stdout, &[format!("{verdict} {name} requests {}", check.name)]);
    }
    assert_has(&stdout, &["quiet: wirebench has not started this service", "7 passed, 0 failed"]);
    let api = format!("http://{}/", servers::local_api());
    let file = world.path("api.jsonl");
    std::fs::write(&file, crate::requests::FILE).unwrap();
    let requests = ["verify", "--junit=checks.xml", "--requests", file.to_str().unwrap()];
    let stdout = world.stdout(&[&requests[..], &[&api]].concat());
    assert_has(&stdout, &["7 passed, 0 failed, 3 skipped"]);
    let junit = world.read("checks.xml");
    assert_has(&junit, &["name=\"split-requests\"", "skipped=\"3\""]);
    // The command answers the same requests; the entry has its own scenarios.
    let command = servers::command("api");
    let mixed = ["verify", &api, "builtin/epoll", "--server", &command, "--path=/users/5"];
    let outcome = world.wirebench(&mixed).ended(0);
    assert_has(&outcome.stdout, &["PASS  builtin/epoll hello ", " requests stops-on-sigterm\n"]);
    assert_has(&outcome.stdout, &[", 0 failed, 3 skipped"]);
    let wrong = world.wirebench(&["verify", &api, &url, "-q"]).ended(1);
    assert_has(&wrong.stdout, &["a reply had status 404: \"none\"", "8 passed, 1 failed"]);
    world.wirebench(&["load", &url, "-n", "10", "-c", "1"]).ended(0);
    server.signal(rustix::process::Signal::TERM);
    server.end();
}

#[test]
fn a_service_that_does_not_run_is_named_with_the_reason() {
    let world = World::that_sends();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/");
    let outcome = world.wirebench(&["run", &url, "--cohorts=3", "-q"]).ended(1);
    let reason = [format!("{free}: Connection refused"), "or correct the URL".to_owned()];
    let page = outcome.stdout.replace("\n      ", " ");
    assert_has(&page, &["not measured, fails `ready`: no connection to "]);
    assert_has(&page, &reason);
}

#[test]
fn a_service_that_others_may_use_is_not_loaded_without_a_limit_or_consent() {
    let world = World::that_sends();
    let parts = ["http://192.0.2.1/ is not on loopback (192.0.2.1:80)", "--yes"];
    let rows: [(&[&str], &str); 5] = [
        (&["run", "http://192.0.2.1/"], "give --rate N"),
        (&["verify", "builtin/epoll", "http://192.0.2.1/"], "give --rate N"),
        (&["ab", "--a", "http://127.0.0.1:1/", "--b", "http://192.0.2.1/"], "give --rate N"),
        (&["tune", "http://192.0.2.1/"], "--rates LOW-HIGH"),
        (&["tune", "http://192.0.2.1/", "--objective", "p99 < 1ms"], "--rates LOW-HIGH"),
    ];
    for (arguments, limit) in rows {
        world.wirebench(arguments).assert_refused(2, &[&parts[..], &[limit]].concat());
    }
    let free = ["run", "http://192.0.2.1/", "--rate=5", "--phase=saturate", "--phase=cost"];
    world.wirebench(&free).assert_refused(2, &["use --phase cost alone, or add --yes"]);
    let Some(ip) = own_address() else { return };
    let (address, connections, requests) = counting(ip);
    let url = format!("http://{address}/");
    world.wirebench(&["run", &url]).assert_refused(2, &["--rate N", "--yes"]);
    assert_eq!(connections.load(Ordering::Relaxed), 0);
    let began = Instant::now();
    // One service by two names.
    let rated = ["ab", "--a", &url, "--b", &url, "--rate=40:60", "--cohorts=3"];
    assert_went_through(&world.wirebench(&[&rated[..], &SHORT].concat()));
    let (made, most) = (requests.load(Ordering::Relaxed), began.elapsed().as_secs_f64() * 50.0);
    // Each start asks once before the load.
    assert!(made > 0 && (made as f64) < most + 50.0, "{made} requests, at most {most}");
    assert_eq!(world.journal().start.workloads.len(), 1);
}

#[test]
fn mistakes_about_services_are_answered_with_what_to_write() {
    let world = World::that_sends();
    let url = "http://127.0.0.1:1/";
    let rows: [(&[&str], &str); 7] = [
        (&["verify", "builtin/epoll", "--rate=5"], "add a URL, or omit --rate"),
        (&["verify", url, "--scenario=hello"], "omit one of them"),
        (&["run", "tcp://127.0.0.1:1"], "is not a URL of HTTP: write http://HOST:PORT/PATH"),
        (&["run", url, "--pid=1", "--pid=1"], "there are 2 --pid for 1 URLs"),
        (&["run", url, "--pid=4194304"], "there is no process 4194304: correct --pid"),
        (&["run", url, "--scenario=hello"], "omit one of them"),
        (&["tune", url, "--workers=2"], "--workers has no effect"),
    ];
    for (arguments, message) in rows {
        world.wirebench(arguments).assert_refused(2, &[message]);
    }
}
