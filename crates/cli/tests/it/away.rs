//! `--server-on`: a verb that is carried out on another host, with load from further ones. Here a host is a cache
//! folder of its own, and the carrier a shell.

use rustix::process::{Pid, Signal, kill_process};
use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, process::Command, time::Instant};
use wirebench_schema::journal::{Counts, EndReason, Journal};

use crate::{
    from::carrier,
    world::{Outcome, Running, World, assert_ended, entries, read, records, result_in},
};

/// A suite that only this project has.
const SUITE: &str = "description = \"An example.\"\nentries = [\"builtin/\"]\nbaseline = \"builtin/epoll\"\n\
                     blocks = 4\n[[workload]]\nname = \"hello\"\nscenario = \"hello\"\nconnections = 4\n\
                     duration = \"200ms\"\nsteady_within = \"0s\"\n";

fn world() -> World {
    World::new().with_suite("own.toml", SUITE)
}

/// The words of a run on host `s`, with load from `a` and `b`.
fn words(carrier: &str) -> Vec<&str> {
    let words = "run own --server-on s --from a,b --address 127.0.0.1 --no-pin --no-verify -o out --carrier";
    words.split(' ').chain([carrier]).collect()
}

fn results(world: &World) -> PathBuf {
    result_in(&world.folder.path().join("out"))
}

fn journal(world: &World) -> Journal {
    read(&results(world))
}

/// The results that are left on the host of the servers.
fn left(world: &World) -> Vec<PathBuf> {
    let projects = entries(&world.folder.path().join("s/wirebench/projects"));
    projects.iter().flat_map(|it| entries(&it.join("results"))).collect()
}

/// Starts a run, and waits until it measures.
fn measuring(world: &World, carrier: &str) -> Running {
    let run = world.start(&words(carrier));
    let has_record = |folder: PathBuf| entries(&folder).iter().any(|it| records(it, "run") > 0);
    world.wait(|| left(world).into_iter().any(has_record).then_some(()));
    run
}

#[test]
fn a_run_on_another_host_comes_back_as_if_it_had_been_made_here() {
    let world = world();
    let carrier = carrier(&world);
    let outcome = world.wirebench(&[&words(&carrier)[..], &["--blocks", "1"]].concat());
    outcome.assert_reported();
    let folder = results(&world);
    let name = folder.file_name().unwrap().to_str().unwrap();
    outcome.assert_line(&format!("Report: out/{name}/report.html"));
    outcome.assert_line(&format!("results: out/{name}"));
    assert!(folder.join("report.html").is_file());
    let journal = journal(&world);
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    let hosts = |run: &wirebench_schema::journal::Run| match run.outcome.measured() {
        Some(it) => it.load.generators.iter().map(|it| it.host.clone()).collect(),
        None => vec!["a".to_owned(), "b".to_owned()],
    };
    let runs = journal.runs.iter().filter(|run| run.counts != Counts::Pilot);
    assert!(runs.map(hosts).all(|hosts| hosts == ["a", "b"]), "{:#?}", journal.runs);
    assert_eq!(left(&world), Vec::<PathBuf>::new());
    world.wait_for_silence();
}

#[test]
fn a_run_on_another_host_ends_in_order_on_ctrl_c_and_goes_on_where_it_was() {
    let world = world();
    let carrier = carrier(&world);
    let run = measuring(&world, &carrier);
    run.signal(Signal::INT);
    let Outcome { code, stdout, stderr } = run.end();
    assert_eq!(code, Some(130), "{stdout}{stderr}");
    world.wait_for_silence();
    let before = journal(&world);
    assert_eq!(before.end.unwrap().reason, EndReason::Interrupted);
    let resume = stdout.lines().find_map(|it| it.strip_prefix("Resume with: wirebench ")).unwrap();
    let (head, run) = resume.rsplit_once(" --resume ").unwrap();
    assert!(head.starts_with("run --server-on s --from a,b --carrier 'env "), "{head}");
    let words =
        ["run", "--server-on", "s", "--from", "a,b", "--carrier", &carrier, "--resume", run];
    fs::remove_dir_all(world.folder.path().join("out")).unwrap();
    let outcome = world.wirebench(&[&words[..], &["-o", "out"]].concat());
    outcome.assert_reported();
    let after = journal(&world);
    assert_eq!(after.end.unwrap().reason, EndReason::Complete);
    assert_eq!(after.runs[..before.runs.len()], before.runs);
    assert!(after.runs.len() > before.runs.len());
    world.wait_for_silence();
}

#[test]
fn nothing_outlives_the_side_that_was_killed_and_its_results_are_still_there() {
    let world = world();
    let carrier = carrier(&world);
    measuring(&world, &carrier).signal(Signal::KILL);
    world.wait_for_silence();
    assert_eq!(left(&world).len(), 1);
}

#[test]
fn a_host_that_is_stopped_ends_the_run_within_ten_seconds_and_names_its_results() {
    let world = world();
    let carrier = carrier(&world);
    let run = measuring(&world, &carrier);
    let host = world.processes().into_iter().find(|it| it.ends_with(" host ")).unwrap();
    let pid = Pid::from_raw(host.split(' ').next().unwrap().parse().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let stopped = Instant::now();
    let outcome = run.end();
    assert!(stopped.elapsed().as_secs() < 10, "{:?}", stopped.elapsed());
    // Its carrier has been killed, and may have been the same process.
    let _ = kill_process(pid, Signal::CONT);
    outcome.assert_refused(1, &["error: s: no sign of life for 5 s", "What was measured is there"]);
    let command = "Resume with: wirebench run --server-on s --from a,b --carrier 'env ";
    assert!(outcome.stderr.contains(command), "{outcome:#?}");
    world.wait_for_silence();
}

#[test]
fn a_generator_that_dies_fails_its_slice_and_the_suite_goes_on() {
    let world = world();
    let carrier = carrier(&world);
    let run = measuring(&world, &carrier);
    let is_agent = |it: &String| it.ends_with(" agent ") && it.contains("/b/wirebench/");
    let agent = world.wait(|| world.processes().into_iter().find(is_agent));
    let pid = Pid::from_raw(agent.split(' ').next().unwrap().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    run.end().ended(1);
    let journal = journal(&world);
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    let failed = journal.runs.iter().filter_map(|run| Some((run.block, run.outcome.failure()?)));
    let failed: Vec<_> = failed.filter(|(_, reason)| reason.contains("b: ")).collect();
    assert!(!failed.is_empty(), "{:#?}", journal.runs);
    assert!(failed.iter().all(|(block, _)| *block == failed[0].0), "{failed:?}");
    world.wait_for_silence();
}

#[test]
fn pairs_of_hosts_measure_whole_cohorts_and_one_that_fails_gives_its_own_back() {
    let world = world();
    let folder = world.folder.path().display();
    // Host `x` cannot be reached.
    let carrier = format!(
        "sh -c 'test {{host}} != x || exit 255; XDG_CACHE_HOME={folder}/{{host}} exec sh -c \"$0\"'"
    );
    let words =
        "run own --pairs s:a,t:b,u:x --address 127.0.0.1 --no-pin --no-verify -o out --carrier";
    let words: Vec<&str> = words.split(' ').chain([&*carrier]).collect();
    let outcome = world.wirebench(&words);
    outcome.assert_reported();
    let whole = journal(&world);
    assert_eq!(whole.end.as_ref().unwrap().reason, EndReason::Complete);
    let mut blocks: Vec<u32> =
        whole.parts.iter().filter(|it| it.failure.is_none()).map(|it| it.block).collect();
    blocks.sort_unstable();
    assert_eq!(blocks, [0, 1, 2, 3], "{:#?}", whole.parts);
    let failed = whole.parts.iter().filter(|it| it.failure.is_some());
    assert!(failed.clone().all(|it| it.pair == "u:x"), "{:#?}", whole.parts);
    assert!(outcome.stderr.contains("u:x: cohort "), "{outcome:#?}");
    // Each block has its runs once, as one side would have made them.
    let mut cells: Vec<_> = whole.runs.iter().map(|it| (it.block, &it.variant, it.copy)).collect();
    cells.sort();
    cells.dedup();
    assert_eq!((cells.len(), whole.runs.len()), (12, 12));
    let report = fs::read_to_string(results(&world).join("report.txt")).unwrap();
    assert!(
        report.contains("pair of hosts s:a") && report.contains("load generator on b"),
        "{report}"
    );
    for host in ["s", "t"] {
        let projects = world.folder.path().join(host).join("wirebench/projects");
        assert!(projects.is_dir(), "{host} was not used");
    }
    world.wait_for_silence();
}

#[test]
fn pairs_of_hosts_that_are_interrupted_go_on_with_the_cohorts_that_are_missing() {
    let world = world();
    let carrier = carrier(&world);
    let words = "run own --pairs s:a,t:b --address 127.0.0.1 --no-pin --no-verify -o out --blocks 8 --carrier";
    let words: Vec<&str> = words.split(' ').chain([&*carrier]).collect();
    let run = world.start(&words);
    let out = world.folder.path().join("out");
    world.wait(|| entries(&out).iter().any(|it| records(it, "part") >= 2).then_some(()));
    run.signal(Signal::INT);
    run.end().ended(130);
    let before = journal(&world);
    assert_eq!(before.end.as_ref().unwrap().reason, EndReason::Interrupted);
    let outcome = world.wirebench(&["run", "--resume", results(&world).to_str().unwrap()]);
    outcome.assert_reported();
    let after = journal(&world);
    assert_eq!(after.end.as_ref().unwrap().reason, EndReason::Complete);
    let mut blocks: Vec<u32> =
        after.parts.iter().filter(|it| it.failure.is_none()).map(|it| it.block).collect();
    blocks.sort_unstable();
    assert_eq!(blocks, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(after.runs[..before.runs.len()], before.runs);
    world.wait_for_silence();
}

#[test]
fn ab_is_measured_by_pairs_of_hosts_and_on_another_host() {
    let world = world();
    let carrier = carrier(&world);
    let words = "ab --a builtin/epoll --b builtin/io_uring --cohorts 3 --no-pin --no-verify -o out --duration 200ms \
                 --steady 0s";
    for hosts in [&["--pairs", "s:a,t"][..], &["--server-on", "s", "--from", "a"]] {
        let words: Vec<&str> = words.split(' ').collect();
        let rest = ["--address", "127.0.0.1", "--carrier", &carrier];
        let outcome = world.wirebench(&[&words[..], hosts, &rest].concat());
        let journal = journal(&world);
        assert_ended(outcome.code, &journal);
        assert_eq!(journal.end.as_ref().unwrap().reason, EndReason::Complete, "{outcome:#?}");
        let blocks: std::collections::BTreeSet<u32> =
            journal.runs.iter().map(|run| run.block).collect();
        assert_eq!(blocks.len(), 3, "{journal:#?}");
        assert!(results(&world).join("report.html").is_file());
        fs::remove_dir_all(world.folder.path().join("out")).unwrap();
    }
    world.wait_for_silence();
}

#[test]
fn results_that_do_not_arrive_stay_on_the_host_and_the_command_printed_fetches_them() {
    for packed in ["exit 0", "exec /bin/tar -czf - -T /dev/null"] {
        let world = world();
        let fake = world.folder.path().join("fake");
        fs::create_dir(&fake).unwrap();
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *'-czf - .') {packed};; esac\nexec /bin/tar \"$@\"\n"
        );
        fs::write(fake.join("tar"), script).unwrap();
        fs::set_permissions(fake.join("tar"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("env PATH={}:{}", fake.display(), std::env::var("PATH").unwrap());
        let carrier = carrier(&world).replacen("env", &path, 1);
        let outcome = world.wirebench(&[&words(&carrier)[..], &["--blocks", "1"]].concat());
        outcome.assert_refused(1, &["error: s: the results could not be fetched: "]);
        assert!(!outcome.stdout.contains("Report: "), "it is not here: {outcome:#?}");
        assert_eq!(left(&world).len(), 1, "{outcome:#?}");
        let command = outcome.stderr.split("Fetch them with: ").nth(1).unwrap();
        fs::remove_file(fake.join("tar")).unwrap();
        let fetched =
            Command::new("sh").args(["-c", command]).current_dir(world.folder.path()).status();
        assert!(fetched.unwrap().success(), "{command}");
        assert_eq!(journal(&world).end.unwrap().reason, EndReason::Complete);
    }
}

#[test]
fn ctrl_c_ends_the_first_contact_with_a_silent_host() {
    let load = format!("load http://{}/ --from s", crate::servers::falling_silent_server(u32::MAX));
    for (verb, script) in [
        ("run own --server-on s", "sleep 7193"),
        ("run own --server-on s", "case \"$1\" in *host) sleep 7193;; *) cat > /dev/null;; esac"),
        (load.as_str(), "sleep 7193"),
    ] {
        let world = world();
        let carrier = format!("sh -c '{script}' {{host}}");
        let words: Vec<&str> = verb.split(' ').chain(["--carrier", &carrier]).collect();
        let run = world.start(&words);
        world.wait_for_process(" sleep 7193 ");
        run.signal(Signal::INT);
        let outcome = run.end().ended(130);
        let is_said = outcome.stderr.contains("s: interrupted");
        assert!(is_said || verb.starts_with("load"), "{outcome:#?}");
        world.wait_for_silence();
    }
}
