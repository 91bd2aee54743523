//! `wirebench load --from`: generators on other hosts. Here a host is a cache folder of its own, and the
//! carrier a shell.

use rustix::process::{Pid, Signal, kill_process};
use std::time::Instant;
use wirebench_schema::journal::{EndReason, Outcome};

use crate::world::{World, entries, read, records, result_in};

/// A suite that only this project has.
pub(crate) const SUITE: &str = "description = \"An example.\"\nentries = [\"builtin/\"]\nbaseline = \"builtin/epoll\"\n\
     blocks = 4\n[[workload]]\nname = \"hello\"\nscenario = \"hello\"\nconnections = 4\n\
     duration = \"200ms\"\nsteady_within = \"0s\"\n";

/// A carrier whose hosts have their own folders of copied programs.
pub(crate) fn carrier(world: &World) -> String {
    format!("env XDG_CACHE_HOME={}/{{host}} sh -c", world.folder.path().display())
}

fn url() -> String {
    format!("http://{}/", crate::servers::falling_silent_server(u32::MAX))
}

/// Sends a signal to one of [`World::processes`].
fn signal(process: &str, signal: Signal) {
    let pid = process.split(' ').next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// What a load prints. Where other tests run, generators may begin too far apart, which it says then.
pub(crate) fn loaded(world: &World, arguments: &[&str]) -> String {
    let outcome = world.wirebench(arguments);
    let is_apart = outcome.code == Some(3) && outcome.stderr.contains("generators began up to");
    assert!(outcome.code == Some(0) || is_apart, "{outcome:#?}");
    outcome.stdout
}

#[test]
fn two_generators_make_one_load_and_are_copied_once() {
    let world = World::that_sends();
    let (carrier, url) = (carrier(&world), url());
    let load = |options: &[&str]| {
        let first = ["load", "--from", "a,b", "--carrier", &carrier, "-t1", "-c6", "-d1s"];
        loaded(&world, &[&first[..], options, &[&url]].concat())
    };
    let report = crate::load::read(&load(&["-R", "500", "--json"]));
    let hosts: Vec<_> = report.generators.iter().map(|it| (&*it.host, it.connections)).collect();
    assert_eq!(hosts, [("a", 3), ("b", 3)]);
    assert_eq!((report.connections_made, report.config.connections), (6, 6));
    let due = report.offered.unwrap().due;
    assert!((499..=501).contains(&due), "{due} requests were due");
    assert!(report.requests > 0 && report.thread_cpu_ns.len() == 2, "{report:?}");
    let copies: Vec<_> = ["a", "b"]
        .iter()
        .flat_map(|host| entries(&world.path(host).join("wirebench/agents")))
        .collect();
    assert_eq!(copies.len(), 2, "{copies:?}");
    let times = || copies.iter().map(|it| it.metadata().unwrap().modified().unwrap());
    let before: Vec<_> = times().collect();
    let text = load(&[]);
    assert_eq!(before, times().collect::<Vec<_>>());
    assert!(text.contains("  from a, b, with as many threads on each\n"), "{text}");
    assert_eq!(text.lines().filter(|it| it.contains(" of 1 ")).count(), 2, "{text}");
    world.wait_for_silence();
}

#[test]
fn a_host_that_cannot_be_used_is_named_with_its_reason() {
    let world = World::that_sends();
    let url = url();
    let old = r#"{"event":"ready","protocol":1,"wirebench":"0.0.1"}"#;
    let old = format!("sh -c 'echo '\\''{old}'\\''; cat' {{host}}");
    let mut shown = String::new();
    for (carrier, options) in [
        ("sh -c 'echo no route to {host} >&2; exit 255' {host}", &[][..]),
        ("no-such-program {host}", &[]),
        ("env PATH=/nowhere HOST={host} /bin/sh -c", &["--no-copy"]),
        (&old, &[]),
        ("env HOST={host} XDG_CACHE_HOME=/proc sh -c", &[]),
        ("sh -c 'cat /dev/zero >&2' {host}", &[]),
        ("sh -c 'case \"$1\" in exec*) tr \"\\0\" y < /dev/zero;; esac' {host}", &[]),
    ] {
        let first = ["load", "--from", "lab2", "--carrier", carrier, "-d1s"];
        let outcome = world.wirebench(&[&first[..], options, &[&url]].concat());
        assert_eq!((outcome.code, &*outcome.stdout), (Some(1), ""), "{outcome:#?}");
        shown += &format!("{}\n", world.without_places(&outcome.stderr));
    }
    expect_test::expect_file!["../golden/from.txt"].assert_eq(&shown);
}

#[test]
fn a_generator_that_is_killed_ends_the_load_with_its_name() {
    let world = World::that_sends();
    let carrier = carrier(&world);
    let load =
        world.start(&["load", "--from", "a,b", "--carrier", &carrier, "-c4", "-d60s", &url()]);
    let agents = || -> Vec<String> {
        let mine = world.processes();
        mine.into_iter().filter(|it| it.ends_with(" agent ")).collect()
    };
    world.wait(|| (agents().len() >= 2).then_some(()));
    signal(&agents()[0], Signal::KILL);
    let outcome = load.end().ended(1);
    let named = ["a", "b"].map(|host| {
        format!("error: {host}: the load generator ended without a report (signal: 9 (SIGKILL))\n")
    });
    assert!(named.contains(&outcome.stderr), "{outcome:#?}");
    world.wait_for_silence();
}

#[test]
fn a_generator_that_is_stopped_ends_the_load_within_ten_seconds() {
    let world = World::that_sends();
    let carrier = carrier(&world);
    let mut load =
        world.start(&["load", "--from", "a", "--carrier", &carrier, "-c4", "-d60s", &url()]);
    assert!(load.first_line().starts_with("Running 1m test"));
    let agent = || world.processes().into_iter().find(|it| it.ends_with(" agent ")).unwrap();
    signal(&agent(), Signal::STOP);
    let stopped = Instant::now();
    let outcome = load.end();
    assert!(stopped.elapsed().as_secs() < 10, "{:?}", stopped.elapsed());
    assert_eq!(outcome.code, Some(1), "{outcome:#?}");
    assert!(outcome.stderr.starts_with("error: a: no sign of life for 5 s: "), "{outcome:#?}");
    world.wait_for_silence();
}

#[test]
#[ignore = "needs time namespaces"]
fn clocks_that_differ_by_hours_start_a_load_together_with_hosts() {
    let world = World::that_sends();
    let folder = world.folder.path().display();
    let carrier = format!(
        "env XDG_CACHE_HOME={folder}/{{host}} unshare --time --fork --monotonic={{host}} sh -c"
    );
    let first = ["load", "--from", "100000,5000", "--carrier", &carrier, "-t1", "-c2", "-d1s"];
    let text = loaded(&world, &[&first[..], &["--json", &url()]].concat());
    let report = crate::load::read(&text);
    let delays = report.generators.iter().map(|it| it.start_delay_ns + it.clock_error_ns);
    assert!(delays.max().unwrap() < 1_000_000_000, "{:?}", report.generators);
    world.wait_for_silence();
}

#[test]
fn no_generator_outlives_a_load_that_is_killed() {
    let world = World::that_sends();
    let carrier = carrier(&world);
    let load =
        world.start(&["load", "--from", "a,b", "--carrier", &carrier, "-c4", "-d60s", &url()]);
    world.wait_for_process(" agent ");
    load.signal(Signal::KILL);
    world.wait_for_silence();
}

#[test]
fn a_run_takes_its_load_from_elsewhere_in_cohorts_and_in_processes() {
    let world = World::that_sends();
    let carrier = carrier(&world);
    let run = |options: &[&str]| {
        let first = [
            "run",
            "builtin/epoll",
            "builtin/io_uring",
            "--scenario",
            "hello",
            "--scale",
            "smoke",
            "--no-pin",
            "--quiet",
            "--from",
            "a,b",
            "--carrier",
            &carrier,
        ];
        world.wirebench(&[&first[..], options].concat())
    };
    let outcome = run(&[]).ended(2);
    assert!(outcome.stderr.contains("--from needs --address"), "{outcome:#?}");
    for procedure in ["cohorts", "process"] {
        let outcome =
            run(&["--address=127.0.0.1", "--procedure", procedure, "--output", procedure]);
        outcome.assert_reported();
        let journal = read(&result_in(&world.path(procedure)));
        let measured = journal.runs.iter().filter_map(|run| match &run.outcome {
            Outcome::Measured(measured) => Some((run, measured)),
            // Where several tests run, an agent may be so late that a visit says nothing.
            Outcome::Failed { reason, .. } if reason.contains("disturbed") => None,
            Outcome::Failed { .. } => panic!("{run:#?}"),
            Outcome::Idle(_) => None,
        });
        let mut count = 0;
        for (run, measured) in measured {
            count += 1;
            let hosts: Vec<_> = measured.load.generators.iter().map(|it| &*it.host).collect();
            assert_eq!(hosts, ["a", "b"], "{run:#?}");
            let sum: f64 = measured.load.generators.iter().map(|it| it.requests_per_second).sum();
            let whole = measured.load.requests_per_second;
            assert!((sum / whole - 1.0).abs() < 0.1, "{sum} {whole}");
            assert_eq!(measured.load.errors.total(), 0, "{run:#?}");
            assert!(
                run.generator_command.join(" ").contains("load --from a,b --carrier"),
                "{run:#?}"
            );
        }
        assert!(count >= 2, "{:#?}", journal.runs);
    }
    world.wait_for_silence();
}

#[test]
fn a_generator_that_dies_fails_its_visit_and_the_suite_goes_on() {
    let world = World::that_sends().with_suite("own.toml", SUITE);
    let carrier = carrier(&world);
    let words = "run own --from a,b --address 127.0.0.1 --no-pin --no-verify -o out --carrier";
    let run = world.start(&words.split(' ').chain([&*carrier]).collect::<Vec<_>>());
    let out = world.path("out");
    world.wait(|| entries(&out).iter().any(|it| records(it, "run") > 0).then_some(()));
    let is_agent = |it: &String| it.ends_with(" agent ") && it.contains("/b/wirebench/");
    let agent = world.wait(|| world.processes().into_iter().find(is_agent));
    signal(&agent, Signal::KILL);
    run.end().ended(1);
    let journal = read(&result_in(&out));
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    let failed = journal.runs.iter().filter_map(|run| Some((run.block, run.outcome.failure()?)));
    let failed: Vec<_> = failed.filter(|(_, reason)| reason.contains("b: ")).collect();
    assert!(!failed.is_empty(), "{:#?}", journal.runs);
    assert!(failed.iter().all(|(block, _)| *block == failed[0].0), "{failed:?}");
    world.wait_for_silence();
}

#[test]
fn ctrl_c_ends_the_first_contact_with_a_silent_host() {
    let world = World::that_sends();
    let carrier = "sh -c 'sleep 7193' {host}";
    let run = world.start(&["load", "--from", "s", "--carrier", carrier, &url()]);
    world.wait_for_process(" sleep 7193 ");
    run.signal(Signal::INT);
    run.end().ended(130);
    world.wait_for_silence();
}
