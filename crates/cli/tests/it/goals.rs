//! When a run is over: after its blocks, when it is precise enough, or when its time is up; and what
//! is measured as though it were several.

use crate::world::{World, assert_has};
use wirebench_schema::journal::EndReason;

const SHORT: [&str; 8] =
    ["run", "builtin/", "--no-verify", "--scenario=hello", "-d300ms", "--warmup=9ms", "-c8", "-q"];

fn run(world: &World, arguments: &[&str]) -> wirebench_schema::journal::Journal {
    world.wirebench(&[&SHORT, arguments].concat()).ended(0);
    world.journal()
}

#[test]
fn a_budget_ends_a_run_after_a_whole_block_and_a_larger_one_continues_it() {
    let world = World::new();
    let journal = run(&world, &["--blocks", "7", "--budget", "1ms"]);
    assert_eq!((journal.runs.len(), journal.end.unwrap().reason), (3, EndReason::Budget));
    // The blocks that were planned are made when there is more time; the plan stays.
    let folder = world.results();
    let resume = ["run", "--resume", folder.to_str().unwrap()];
    let outcome = world.wirebench(&resume).ended(0);
    let more = "nothing to resume: the budget is used up (a larger --budget continues it)";
    outcome.assert_line(more);
    let outcome = world.wirebench(&[&resume[..], &["--budget", "1h"]].concat()).ended(0);
    let journal = world.journal();
    assert_eq!((journal.runs.len(), journal.end.unwrap().reason), (21, EndReason::Complete));
    let noted = "budget extended to 1h after a result was shown: if the result was the reason, \
                 intervals are too narrow";
    assert!(journal.resumed[0].differences.iter().any(|it| it == noted), "{outcome:#?}");
}

#[test]
fn a_budget_drops_loads_before_cohorts_and_says_what_it_lacks() {
    let load = |name: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nscenario = \"hello\"\nconnections = 8\nduration = \"200ms\"\n"
        )
    };
    let suite = format!(
        "description = \"\"\nblocks = 4\nentries = [\"builtin/\"]\n{}{}",
        load("a"),
        load("b")
    );
    let world = World::new().with_suite("two.toml", &suite);
    let plan = |budget| world.wirebench(&["run", "two", "--dry-run", "--budget", budget]).stdout;
    let dropped = "skipped b: --budget 1s has no room for 3 cohorts with this load\n";
    let short = plan("1s");
    assert!(short.starts_with(dropped) && !short.contains("skipped a"), "{short}");
    let advice = "of 3 cohorts, which a verdict needs: use --budget ";
    assert!(
        short.contains("the budget of 1s is less than the ") && short.contains(advice),
        "{short}"
    );
    let long = plan("1h");
    assert!(!long.contains("skipped") && !long.contains(advice), "{long}");
}

#[test]
fn a_precision_is_gone_after_in_whole_pairs_of_blocks_and_at_least_four() {
    let world = World::new();
    let loose = [&SHORT[..7], &["--blocks", "2", "--precision", "99%", "--budget", "25s"]].concat();
    let outcome = world.wirebench(&loose).ended(0);
    outcome.assert_line("--precision needs an even number of cohorts, at least 3: 4 instead of 2");
    assert_has(&outcome.stderr, &["then pairs of cohorts"]);
    let journal = world.journal();
    assert_eq!((journal.start.blocks, journal.start.goal.precision), (4, Some(0.99)));
    match journal.end.unwrap().reason {
        EndReason::Precise => {
            assert_eq!(journal.runs.len() % 6, 0, "whole pairs");
            assert_has(&outcome.stderr, &["widest interval +-"]);
        }
        // A machine that is too busy for it.
        reason => assert_eq!(reason, EndReason::Budget),
    }
}

#[test]
fn every_variant_can_be_measured_as_though_it_were_several() {
    let world = World::new();
    let journal = run(&world, &["--blocks", "1", "--copies", "3"]);
    let mut cells: Vec<_> =
        journal.runs.iter().map(|run| (run.variant.to_string(), run.copy)).collect();
    cells.sort();
    let expected = ["builtin/epoll", "builtin/io_uring"]
        .iter()
        .flat_map(|name| (0..3).map(|copy| ((*name).to_owned(), copy)));
    assert_eq!((cells, journal.start.copies), (expected.collect(), 3));
    let plan = world.wirebench(&[&SHORT[..], &["--copies", "3", "--dry-run"]].concat());
    assert_has(
        &plan.stdout,
        &[" builtin/epoll (A/A)", " builtin/epoll #3", " builtin/io_uring #2"],
    );
}

#[test]
fn the_plan_of_a_goal_is_shown_before_anything_is_measured() {
    let world = World::new();
    let options = ["--dry-run", "--precision", "2%", "--budget", "10m", "--phase", "cost"];
    let outcome = world
        .wirebench(&[&["run", "builtin/", "--scenario", "hello"], &options[..]].concat())
        .ended(0);
    assert_has(
        &outcome.stdout,
        &[
            "workload hello-cost: hello, cost, 64 connections at a rate found by pilot runs",
            "2 pilots to find rates",
            "until every interval is within +-2 %; at most 200 cohorts",
            "no cohort starts that would end later than 10m after the first run",
            " cohorts: 12 runs, about ",
        ],
    );
    assert!(!world.path("target").exists());
}
