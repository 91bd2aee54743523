//! More connections than the limit on open files allows: an explicit request is refused before
//! anything starts, and parts of a default or a suite are skipped. The tests set the limit, so that
//! it is the same on every machine.

use crate::world::{Outcome, World, assert_has};

/// More than the checks need, and less than a thousand connections do.
const LIMIT: u32 = 600;

/// wirebench, where a process may open no more than [`LIMIT`] files.
fn limited(world: &World, arguments: &[&str]) -> Outcome {
    world.wirebench_with_files(LIMIT, arguments)
}

#[test]
fn what_was_asked_for_and_needs_too_many_files_is_refused_before_anything_is_started() {
    let ab = ["ab", "--a=builtin/epoll", "--b=builtin/epoll"];
    let tune = ["tune", "builtin/epoll"];
    let run = ["run", "builtin/epoll"];
    let rows: [(&[&str], &[&str], &str); 7] = [
        (&tune, &["-c10-100000"], "100000 connections need"),
        (&tune, &["--objective=p99<1s", "-c5000"], "5000 connections need"),
        (&ab, &["-c5000"], "5000 connections need"),
        (&run, &["-c5000"], "5000 connections need"),
        (&run, &["-c5000", "--dry-run"], "5000 connections need"),
        (&run, &["-c5000", "--generator=wrk", "--scenario=hello"], "5000 connections need"),
        (&run, &["--phase=idle", "--idle-connections=5000"], "5000 idle connections need"),
    ];
    let world = World::that_sends();
    for (verb, options, begin) in rows {
        let outcome = limited(&world, &[verb, options].concat());
        assert_eq!(outcome.code, Some(2), "{options:?} {outcome:#?}");
        let sentence = outcome.stderr.lines().find(|line| line.starts_with("error: "));
        let sentence = sentence.unwrap_or_default();
        assert_has(sentence, &[begin, "may have 600", "at most ", "ulimit -Hn"]);
        assert_eq!(outcome.stderr.matches(begin).count(), 1, "{outcome:#?}");
    }
    assert!(!world.path("target").exists());
}

#[test]
fn the_most_that_a_refusal_names_is_accepted() {
    let world = World::that_sends();
    let refused =
        limited(&world, &["run", "builtin/epoll", "-c5000", "--dry-run", "--procedure=process"]);
    let (_, rest) = refused.stderr.split_once("give -c at most ").unwrap();
    let most: u32 = rest.split(',').next().unwrap().parse().unwrap();
    let asked = |connections: u32| {
        let connections = format!("-c{connections}");
        limited(&world, &["run", "builtin/epoll", &connections, "--dry-run", "--procedure=process"])
            .code
    };
    assert_eq!((asked(most), asked(most + 1)), (Some(0), Some(2)));
}

#[test]
fn a_default_sweep_skips_cells_that_need_too_many_files_and_says_so_once() {
    let world = World::that_sends();
    let short = ["-d100ms", "--warmup=0s", "--blocks=1", "--workers=1", "--no-verify"];
    let outcome = limited(&world, &[&["tune", "builtin/epoll"], &short[..]].concat());
    outcome.assert_reported();
    let workloads = world.journal().start.workloads;
    let connections: Vec<usize> = workloads.iter().map(|it| it.connections).collect();
    assert_eq!(connections, [10, 20, 50, 100, 200, 500]);
    let said = outcome.stderr.matches("1000 connections need").count();
    assert_eq!(said, 1, "{outcome:#?}");
}

#[test]
fn a_suite_is_carried_out_without_the_workloads_that_need_too_many_files() {
    let workload = |name: &str, connections: u32| {
        format!(
            "[[workload]]\nname = \"{name}\"\nscenario = \"hello\"\nconnections = {connections}\n\
             duration = \"200ms\"\n"
        )
    };
    let head = "description = \"An example.\"\nentries = [\"builtin/epoll\"]\nblocks = 1\n";
    let both = head.to_owned() + &workload("few", 8) + &workload("many", 5000);
    let none = head.to_owned() + &workload("many", 5000);
    let world = World::that_sends().with_suite("both.toml", &both).with_suite("none.toml", &none);
    let planned = limited(&world, &["run", "both", "--dry-run"]).ended(0);
    assert!(planned.stdout.starts_with("skipped many: 5000 connections need "), "{planned:#?}");
    let few = "\nworkload few: hello, saturate, 8 connections, ";
    assert!(planned.stdout.contains(few), "{planned:#?}");
    let outcome = limited(&world, &["run", "none"]).ended(2);
    outcome.assert_line("error: cannot run any workload of `none`:");
}
