//! Which workloads are measured with the same instances over the same connections: those that differ
//! in the load model alone. Pure.

use wirebench_schema::suite::Workload;

/// What the instances and connections of a cohort have in common.
fn common(it: &Workload) -> impl PartialEq + '_ {
    let connections = (it.connections, it.threads, it.pipeline, it.on_closed, it.timeout);
    (it.scenario, it.workers, connections, &it.headers, it.payload_bytes)
}

/// The groups of `workloads`, by their indices, and the workloads that are in none: those that need a
/// process and a window of their own.
pub(crate) fn groups(workloads: &[Workload]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let (visited, alone): (Vec<_>, _) =
        (0..workloads.len()).partition(|it| workloads[*it].has_slices());
    (grouped(visited, |a, b| common(&workloads[*a]) == common(&workloads[*b])), alone)
}

/// Groups of items that belong together, in the order of the first item of each.
pub(crate) fn grouped<T>(
    items: impl IntoIterator<Item = T>,
    are_together: impl Fn(&T, &T) -> bool,
) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| are_together(&group[0], &item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::suite::Suite;

    const SUITE: &str = r#"
description = "An example."
blocks = 3
workload = [
    { name = "hello", scenario = "hello", connections = 64, duration = "1s", rate = 1000, phases = ["saturate", "cost",
      "idle"] },
    { name = "few", scenario = "hello", connections = 8, duration = "1s" },
    { name = "count", scenario = "hello", connections = 64, requests = 1000 },
    { name = "short", scenario = "hello", connections = 64, duration = "1s", requests_per_connection = 10 },
    { name = "timeout", scenario = "hello-timeout", connections = 64, duration = "1s" },
    { name = "echo", scenario = "echo", connections = 64, duration = "1s", rate = 500 },
]
"#;

    #[test]
    fn loads_over_equal_connections_share_instances_and_the_others_have_their_own_process() {
        let suite = Suite::parse("example", SUITE).unwrap();
        let names = |indices: &[usize]| -> Vec<&str> {
            indices.iter().map(|index| suite.workloads[*index].name.as_str()).collect()
        };
        let (groups, alone) = groups(&suite.workloads);
        let groups: Vec<_> = groups.iter().map(|group| names(group)).collect();
        assert_eq!(
            groups,
            [vec!["hello", "hello-cost"], vec!["few"], vec!["timeout"], vec!["echo"]]
        );
        assert_eq!(names(&alone), ["hello-idle", "count", "short"]);
    }
}
