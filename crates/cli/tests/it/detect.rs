//! `doctor --detect`: the run with servers of known differences, its text and JSON, and what ends it early.

use crate::world::{Running, World, assert_has, entries, program, read};
use rustix::process::Signal;
use wirebench_schema::journal::Journal;

/// The run with all servers, whose folder is not that of the calibration.
fn detection(world: &World) -> Journal {
    let results = entries(&world.path("target/wirebench"));
    let mut journals =
        results.iter().filter(|it| it.join("runs.jsonl").is_file()).map(|it| read(it));
    journals.find(|it| it.start.suite == "detect").unwrap()
}

#[test]
#[ignore = "needs two CPUs"]
fn known_differences_are_measured_in_the_same_cohorts_and_tried_with_two_cpus() {
    let world = World::that_sends();
    let outcome = world.wirebench(&["doctor", "--detect", "--budget", "1s", "--json"]);
    if outcome.code == Some(3) {
        // A machine that is busy with other tests may be too noisy.
        assert_has(&outcome.stderr, &["error: the "]);
        return;
    }
    let value: serde_json::Value = serde_json::from_str(&outcome.ended(0).stdout).unwrap();
    let detection_of_run = &value["detection"];
    assert_eq!((&value["format"], &detection_of_run["cohorts"]), (&3.into(), &3.into()));
    let differences = detection_of_run["differences"].as_array().unwrap();
    let intended: Vec<f64> =
        differences.iter().map(|it| it["intended"].as_f64().unwrap()).collect();
    assert_eq!(intended, [0.0, 0.005, 0.01, 0.02, 0.05]);
    for it in differences {
        let tries = ["found", "same"].map(|name| it[name].as_u64().unwrap());
        assert!(tries.iter().sum::<u64>() <= 100 && it["measured"]["samples"] == 3, "{it}");
    }
    let journal = detection(&world);
    for cohort in 0..3 {
        assert_eq!(journal.runs.iter().filter(|run| run.block == cohort).count(), 12);
    }
    let steps = |name: &str| {
        let name = format!("detect/{name}");
        let run = journal.runs.iter().find(|run| run.variant.to_string() == name).unwrap();
        run.server_command.last().unwrap().parse::<u32>().unwrap()
    };
    let [plain, again, two, five] = ["plain", "plain-again", "plus-2", "plus-5"].map(steps);
    assert!(plain == 0 && again == 0 && two > 0 && five.abs_diff(two * 5 / 2) <= 2, "{two} {five}");
}

#[test]
#[ignore = "needs two CPUs"]
fn a_signal_ends_all_servers_and_says_what_is_missing_with_two_cpus() {
    let world = World::that_sends();
    let running = world.start(&["doctor", "--detect"]);
    world.wait_for_process("null-server");
    running.signal(Signal::INT);
    let outcome = running.end();
    assert_eq!(outcome.code, Some(130), "{outcome:#?}");
    assert_has(&outcome.stderr, &["error: interrupted before three cohorts were complete"]);
    world.wait_for_silence();
}

#[test]
fn one_cpu_is_refused_before_anything_starts() {
    let world = World::that_sends();
    let cpu = wirebench_sys::affinity::current().unwrap()[0].to_string();
    let mut command = std::process::Command::new("taskset");
    command.args(["-c", &cpu]).arg(program()).args(["doctor", "--detect"]);
    command.current_dir(world.folder.path());
    Running::of(command).end().assert_refused(2, &["error: --detect needs two CPUs"]);
    assert!(!world.path("target").exists());
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let world = World::that_sends();
    for words in [&["--detect", "--strict"][..], &["--detect", "-v"], &["--budget", "10s"]] {
        world.wirebench(&[&["doctor"], words].concat()).assert_refused(2, &["error: "]);
    }
}
