//! Cohorts that are measured in groups of servers, from start to end.

use rustix::process::Signal;
use std::collections::BTreeSet;
use wirebench_judge::standing::voids;
use wirebench_schema::journal::{Journal, Run};

use crate::{
    cohorts::{SHORT, figures},
    world::{World, program},
};

/// Variant and copy of each instance.
type Instances = BTreeSet<(String, u32)>;

/// The groups of a journal, each as block, group and its instances.
fn groups(journal: &Journal) -> Vec<(u32, u32, Instances)> {
    let mut groups: Vec<(u32, u32, Instances)> = Vec::new();
    for run in &journal.runs {
        let instance = (run.variant.to_string(), run.copy);
        match groups.last_mut().filter(|it| (it.0, it.1) == (run.block, run.group)) {
            Some((_, _, instances)) => _ = instances.insert(instance),
            None => groups.push((run.block, run.group, [instance].into())),
        }
    }
    groups
}

#[test]
fn a_cohort_that_is_too_large_is_measured_in_groups_with_the_baseline_in_each() {
    let world = World::new();
    let names = ["builtin/epoll", "builtin/io_uring", "--scenario=hello", "--instances=3"];
    let own =
        format!("--server={} null-server epoll hello 127.0.0.1 {{port}} 1", program().display());
    let long = [own.as_str(), "--blocks=2", "--rounds=8", "--visit=50ms"];
    let running = world.start(&[&["run"], &names[..], &long, &SHORT].concat());
    let folder = world.wait_for_records("run", 3);
    running.signal(Signal::INT);
    running.end().ended(130);
    let before = world.journal();
    assert_eq!(before.runs.len() % 3, 0, "{:#?}", before.runs.len());
    world.wirebench(&["run", "--resume", folder.to_str().unwrap(), "--quiet"]).ended(0);
    let journal = world.journal();
    assert_eq!(journal.runs[..before.runs.len()], before.runs, "whole groups are kept");
    let groups = groups(&journal);
    let numbers: Vec<(u32, u32)> = groups.iter().map(|it| (it.0, it.1)).collect();
    assert_eq!(numbers, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    for pair in groups.chunks(2) {
        for (_, _, instances) in pair {
            let baseline = instances.iter().filter(|it| it.0 == "builtin/epoll").count();
            assert_eq!((baseline, instances.len()), (2, 3), "{instances:?}");
        }
        let variants = pair.iter().flat_map(|it| &it.2).map(|it| &it.0);
        assert_eq!(variants.collect::<BTreeSet<_>>().len(), 3, "{pair:?}");
    }
    let report = world.wirebench(&["report", folder.to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    let values = |cell: &serde_json::Value| {
        let mut figures = cell["figures"].as_array().unwrap().iter();
        let figure = figures.find(|it| it["metric"] == "requests_per_second");
        figure.map_or(0, |it| it["samples"].as_array().unwrap().len())
    };
    let mut values: Vec<usize> = json["cells"].as_array().unwrap().iter().map(values).collect();
    values.sort_unstable();
    // Where no run is void, each server has a value in both cohorts, and the baseline in each group.
    let is_void = |run: &&Run| {
        figures(run).is_none() || run.outcome.reasons().iter().any(|it| voids(it, false, &[]))
    };
    let void = journal.runs.iter().filter(is_void).count();
    assert!((12 - void..=12).contains(&values.iter().sum()), "{json:#}");
    assert!(void > 0 || values == [2, 2, 4, 4], "{json:#}");
    world.wait_for_silence();
}
