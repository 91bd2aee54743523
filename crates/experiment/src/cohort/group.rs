//! Which workloads are measured with the same instances over the same connections: those that differ
//! in the load model alone. Pure.

use std::time::Duration;
use wirebench_schema::{load::ClosedPolicy, scenario::Scenario, suite::Workload};

/// What the instances and connections of a cohort have in common.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Common {
    scenario: Scenario,
    workers: Option<u32>,
    connections: usize,
    threads: Option<usize>,
    pipeline: usize,
    on_closed: ClosedPolicy,
    headers: Vec<(String, String)>,
    payload_bytes: usize,
    timeout: Duration,
}

impl Common {
    /// Of a workload that can be measured in slices; none of one that needs a process and a window
    /// of its own.
    pub(crate) fn of(workload: &Workload) -> Option<Self> {
        workload.has_slices().then_some(Self {
            scenario: workload.scenario,
            workers: workload.workers,
            connections: workload.connections,
            threads: workload.threads,
            pipeline: workload.pipeline,
            on_closed: workload.on_closed,
            headers: workload.headers.clone(),
            payload_bytes: workload.payload_bytes,
            timeout: workload.timeout,
        })
    }
}

/// The groups of `workloads`, by their indices, and the workloads that are in none.
pub(crate) fn groups(workloads: &[Workload]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut groups: Vec<(Common, Vec<usize>)> = Vec::new();
    let mut alone = Vec::new();
    for (index, workload) in workloads.iter().enumerate() {
        let Some(common) = Common::of(workload) else {
            alone.push(index);
            continue;
        };
        match groups.iter_mut().find(|(of_group, _)| *of_group == common) {
            Some((_, members)) => members.push(index),
            None => groups.push((common, vec![index])),
        }
    }
    (groups.into_iter().map(|(_, members)| members).collect(), alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::suite::Suite;

    const SUITE: &str = r#"
description = "An example."
blocks = 3
[[workload]]
name = "hello"
scenario = "hello"
connections = 64
duration = "1s"
phases = ["saturate", "cost", "idle"]
rate = 1000
[[workload]]
name = "few"
scenario = "hello"
connections = 8
duration = "1s"
[[workload]]
name = "count"
scenario = "hello"
connections = 64
requests = 1000
[[workload]]
name = "short"
scenario = "hello"
connections = 64
duration = "1s"
requests_per_connection = 10
[[workload]]
name = "timeout"
scenario = "hello-timeout"
connections = 64
duration = "1s"
[[workload]]
name = "echo"
scenario = "echo"
connections = 64
duration = "1s"
rate = 500
"#;

    #[test]
    fn loads_over_equal_connections_share_instances_and_the_others_have_their_own_process() {
        let suite = Suite::parse("example", SUITE).unwrap();
        let names = |indices: &[usize]| -> Vec<&str> {
            indices.iter().map(|index| suite.workloads[*index].name.as_str()).collect()
        };
        let (groups, alone) = groups(&suite.workloads);
        let groups: Vec<_> = groups.iter().map(|group| names(group)).collect();
        assert_eq!(groups, [vec!["hello", "hello-cost"], vec!["few"], vec!["echo"]]);
        assert_eq!(names(&alone), ["hello-idle", "count", "short", "timeout"]);
    }
}
