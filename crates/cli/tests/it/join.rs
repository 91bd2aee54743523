//! `run --block` and `wirebench join`: blocks of a plan that are measured apart, as on several machines.

use std::{
    fs,
    path::{Path, PathBuf},
};
use wirebench_schema::journal::{Counts, EndReason, Start};

use crate::{
    resume::places,
    world::{Outcome, World, assert_has, read, result_in},
};

/// A suite whose second load needs a pilot.
const SUITE: &str = "description = \"An example.\"\nentries = [\"builtin/\"]\nbaseline = \"builtin/epoll\"\n\
                     blocks = 4\n[[workload]]\nname = \"hello\"\nscenario = \"hello\"\nconnections = 4\n\
                     duration = \"200ms\"\nsteady_within = \"0s\"\nphases = [\"saturate\", \"cost\"]\n";
const WORDS: &str = "run own --no-pin --no-verify --seed 7";

fn run(world: &World, options: &str) -> Outcome {
    world.wirebench(&format!("{WORDS} {options}").split(' ').collect::<Vec<_>>())
}

/// A world with the two blocks of a plan in `out/1` and `out/2`.
fn world() -> World {
    let world = World::new().with_suite("own.toml", SUITE);
    for block in ["--block 1/2 -o out/1", "--block 2/2 --rates out/1 -o out/2"] {
        run(&world, block).ended(0);
    }
    world
}

fn result(world: &World, folder: &str) -> PathBuf {
    result_in(&world.path(folder))
}

fn join(world: &World, words: &str) -> Outcome {
    world.wirebench(&format!("join {words}").split(' ').collect::<Vec<_>>())
}

/// What `join` prints of a complete result.
#[track_caller]
fn joined(world: &World, words: &str) -> Outcome {
    let outcome = join(world, words).ended(0);
    assert!(!outcome.stderr.contains("missing"), "{outcome:#?}");
    outcome
}

/// A copy of a result, in which a text of a file is replaced.
fn changed(world: &World, from: &str, to: &str, (file, old, new): (&str, &str, &str)) {
    let from = result(world, from);
    let target = world.path(to).join(from.file_name().unwrap());
    fs::create_dir_all(&target).unwrap();
    for name in ["runs.jsonl", "environment.json"] {
        fs::copy(from.join(name), target.join(name)).unwrap();
    }
    let text = fs::read_to_string(target.join(file)).unwrap();
    assert!(text.contains(old), "{old} is missing in {text}");
    fs::write(target.join(file), text.replacen(old, new, 1)).unwrap();
}

/// A copy of the second block whose journal was cut off before its end.
fn cut(world: &World, to: &str) {
    changed(world, "out/2", to, ("runs.jsonl", "{\"record\":\"end\"", "{\"record\":\"torn"));
    let journal = result(world, to).join("runs.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.trim_end()).unwrap();
}

fn folders(path: &Path) -> usize {
    fs::read_dir(path).map_or(0, Iterator::count)
}

#[test]
fn blocks_that_are_joined_are_the_plan_of_one_run() {
    let world = world();
    let [first, second] = ["out/1", "out/2"].map(|it| read(&result(&world, it)));
    assert_eq!(second.start.block, Some(2));
    assert!(second.runs.iter().all(|run| run.block == 1 && run.counts == Counts::Yes));
    assert_eq!(second.rates, first.rates);
    joined(&world, "out/1 out/2 -o whole");
    let whole = read(&result(&world, "whole"));
    assert_eq!(whole.end.as_ref().unwrap().reason, EndReason::Complete);
    assert!(whole.start.command.join(" ").ends_with("--seed 7 --cohorts 2"), "{whole:#?}");
    run(&world, "--cohorts 2 -o one");
    let one = read(&result(&world, "one"));
    assert_eq!(places(&whole), places(&one));
    // Each measures the price of a wake-up for itself.
    let Start { started, command, wake_up, .. } = one.start.clone();
    assert_eq!(Start { started, command, wake_up, ..whole.start.clone() }, one.start);
    let parts: Vec<_> = whole.parts.iter().map(|it| (it.block, it.failure.clone())).collect();
    assert_eq!(parts, [(0, None), (1, None)]);
    let host = &whole.parts[0].pair;
    let report = fs::read_to_string(result(&world, "whole").join("report.txt")).unwrap();
    assert_has(&report, &[&format!("pair of hosts {host}")]);
    let [whole, one] = ["whole", "one"].map(|it| result(&world, it).display().to_string());
    for words in [
        &["report", &whole, "--json"][..],
        &["report", &whole, "--explain"],
        &["compare", &one, &whole],
        &["site", "whole", "one", "-o", "site"],
        &["run", "--resume", &whole],
    ] {
        let outcome = world.wirebench(words);
        assert!(matches!(outcome.code, Some(0 | 1)) && !outcome.stdout.is_empty(), "{outcome:#?}");
    }
    world.wait_for_silence();
}

#[test]
fn blocks_that_are_missing_or_failed_are_named_with_their_commands_and_can_be_repeated() {
    let world = world();
    let one = join(&world, "out/1 -o first").ended(1);
    let rates = result(&world, "out/1");
    let rates = rates.strip_prefix(world.folder.path()).unwrap().display();
    let command = format!("{WORDS} --block 2/2 --rates {rates}");
    assert_has(&one.stderr, &["error: 1 of 2 blocks are missing:\n  block 2: ", &command]);
    let journal = read(&result(&world, "first"));
    assert_eq!(journal.end.unwrap().reason, EndReason::Interrupted);
    assert!(one.stdout.contains("1 of 2 cohorts (interrupted)"), "{one:#?}");

    cut(&world, "cut");
    fs::create_dir(world.path("empty")).unwrap();
    let failed = join(&world, "out/1 cut empty gone -o failed").ended(1);
    let expected = [
        "warning: empty has no result",
        "warning: gone has no result",
        "block 2, cut off, or not at its end yet: ",
        "--block 2/2 --rates out/1 -o out/2\nMeasure them, and join all folders again",
    ];
    assert_has(&failed.stderr, &expected);
    let parts = read(&result(&world, "failed")).parts;
    assert_eq!((parts.len(), parts[1].failure.is_some()), (2, true), "{parts:#?}");
    // The block was measured again.
    let before = folders(&world.path("failed"));
    joined(&world, "out/1 cut out/2 -o failed");
    assert_eq!(folders(&world.path("failed")), before + 1);

    let damaged = world.path("damaged");
    changed(&world, "out/2", "damaged", ("runs.jsonl", "{\"record\":\"run\"", "{\"record\":\"ru"));
    let outcome = join(&world, "out/1 damaged -o part").ended(1);
    assert_has(&outcome.stderr, &["is damaged", "block 2: "]);
    assert!(result_in(&damaged).is_dir());
    let nothing = join(&world, "empty cut -o nothing").ended(1);
    assert_has(
        &nothing.stderr,
        &["error: no block is complete, so nothing is joined:\n  block 1: "],
    );
    join(&world, "empty -o nothing").assert_refused(1, &["give the results of `run --block`"]);
    assert_eq!(folders(&world.path("nothing")), 0);
}

#[test]
fn blocks_of_other_plans_versions_and_machines_are_refused() {
    let world = world();
    let digest = "\"digest\": \"";
    for (name, change, reason) in [
        ("suite", ("runs.jsonl", "\"suite\":\"own\"", "\"suite\":\"other\""), "the suite was"),
        ("seed", ("runs.jsonl", "\"seed\":7", "\"seed\":8"), "the seed was `7` and is `8`"),
        ("load", ("runs.jsonl", "\"connections\":4", "\"connections\":5"), "connections was `4`"),
        ("rate", ("runs.jsonl", "_per_second\":", "_per_second\":9"), "the rate of hello-cost was"),
        (
            "version",
            ("environment.json", digest, "\"digest\": \"0"),
            "wirebench is another program",
        ),
        (
            "machine",
            ("environment.json", "\"cpus_online\": ", "\"cpus_online\": 9"),
            "another machine",
        ),
    ] {
        changed(&world, "out/2", name, change);
        let outcome = join(&world, &format!("out/1 {name} -o whole"));
        outcome.assert_refused(3, &["error: cannot join out/1/", reason, "Measure one of"]);
    }
    joined(&world, "out/1 out/2 out/2 -o whole");
    changed(&world, "out/2", "twice", ("runs.jsonl", "\n", "\n"));
    join(&world, "out/1 out/2 twice").assert_refused(2, &["block 2 is there twice, in out/2/"]);
    join(&world, "out/1 whole").assert_refused(3, &["is not one block of a plan"]);
    assert_eq!(folders(&world.path("whole")), 1);
}

#[test]
fn options_of_a_block_that_do_not_fit_are_refused_before_anything_is_measured() {
    let world = world();
    let refused = |code: i32, options: &str, part: &str| {
        run(&world, &format!("{options} -o none")).assert_refused(code, &[part]);
    };
    let pilot =
        "all blocks have the rate of `hello-cost` that the pilot of block 1 finds: add --rates";
    refused(3, "--block 2/2", pilot);
    refused(3, "--block 2/3 --rates out/1", "the number of blocks was `2` and is `3`");
    refused(3, "--block 2/2 --rates out/1 --scenario hello -c 5", "connections was `4` and is `5`");
    refused(3, "--block 2/2 --rates out/1 --exclude io_uring", "builtin/io_uring is missing");
    changed(&world, "out/1", "old", ("environment.json", "\"digest\": \"", "\"digest\": \"0"));
    refused(3, "--block 2/2 --rates old", "wirebench is another program");
    refused(2, "--block 2/2 --rates none", "no result is in it");
    for other in ["--cohorts 3", "--precision 1%", "--budget 1m", "--dry-run", "--why"] {
        refused(2, &format!("--block 1/2 {other}"), "cannot be used with");
    }
    refused(2, "--block 3/2", "`3/2` is not one of the blocks 1 to 2");
    refused(2, "--rates out/1", "--block <K/N>");
    world.wirebench(&["run", "own", "--block", "1/2"]).assert_refused(2, &["--seed"]);
    for (option, part) in [
        ("--pairs=a:b", "`run` has no --pairs: measure each cohort by itself with --block K/N"),
        ("--server-on=a", "`run` has no --server-on: start wirebench itself there, with ssh"),
        ("--slurm=x", "`run` has no --slurm: start wirebench itself there"),
    ] {
        refused(2, option, part);
    }
    assert_eq!(folders(&world.path("none")), 0);
}

#[test]
fn a_block_that_was_interrupted_goes_on_and_ab_is_measured_in_blocks() {
    let world = World::new();
    let words = "ab --a builtin/epoll --b builtin/io_uring --no-pin --no-verify --duration 200ms --steady 0s --seed 7";
    let words: Vec<&str> = words.split(' ').collect();
    for number in ["1", "2", "3"] {
        let block = format!("{number}/3");
        let outcome = world.wirebench(&[&words[..], &["--block", &block, "-o", "out"]].concat());
        assert!(outcome.stdout.contains("Report: "), "{outcome:#?}");
    }
    cut_in_place(&world.path("out"));
    let outcome = join(&world, "out -o whole").ended(1);
    assert_has(&outcome.stderr, &["1 of 3 blocks are missing:\n  block 3, cut off"]);
    let last = crate::world::entries(&world.path("out")).pop().unwrap();
    world.wirebench(&["run", "--resume", last.to_str().unwrap()]);
    let outcome = joined(&world, "out -o whole2");
    let whole = read(&result(&world, "whole2"));
    let blocks: std::collections::BTreeSet<u32> = whole.runs.iter().map(|run| run.block).collect();
    assert_eq!(blocks.len(), 3);
    assert!(outcome.stdout.contains("B/A") || outcome.stdout.contains("A and B"), "{outcome:#?}");
    world.wait_for_silence();
}

/// Takes the last runs and the end of the newest result away.
fn cut_in_place(results: &Path) {
    let last = crate::world::entries(results).pop().unwrap().join("runs.jsonl");
    let text = fs::read_to_string(&last).unwrap();
    let kept = text.lines().filter(|line| !line.contains("{\"record\":\"end\""));
    let kept: Vec<&str> = kept.filter(|line| !line.contains("{\"record\":\"run\"")).collect();
    fs::write(&last, kept.join("\n") + "\n").unwrap();
}
