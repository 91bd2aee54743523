//! The workloads of a sweep: one for each pair of a number of workers and a number of connections.
//! Pure.

use wirebench_schema::suite::Workload;

/// A workload like `model` for each pair, named after it; those of one number of workers together. The first reason
/// why one of them cannot run.
pub fn grid(
    model: &Workload,
    workers: &[u32],
    connections: &[usize],
) -> Result<Vec<Workload>, String> {
    let pairs = workers.iter().flat_map(|workers| connections.iter().map(move |it| (workers, it)));
    let workload = |(workers, connections): (&u32, &usize)| {
        let name = format!("workers-{workers}-connections-{connections}");
        let workers = Some(*workers);
        let workload = Workload { name, workers, connections: *connections, ..model.clone() };
        workload.check().map(|()| workload)
    };
    pairs.map(workload).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn model() -> Workload {
        crate::fixtures::workload("duration = \"1s\"")
    }

    #[test]
    fn every_pair_becomes_a_workload_with_a_name_of_its_own() {
        let workloads = grid(&model(), &[1, 2], &[10, 50]).unwrap();
        let shape: Vec<_> = workloads.iter().map(|it| (it.workers, it.connections)).collect();
        assert_eq!(shape, [(Some(1), 10), (Some(1), 50), (Some(2), 10), (Some(2), 50)]);
        let names = workloads.iter().map(|it| format!("{}\n", it.name)).collect::<String>();
        expect![[r#"
            workers-1-connections-10
            workers-1-connections-50
            workers-2-connections-10
            workers-2-connections-50
        "#]]
        .assert_eq(&names);
    }

    #[test]
    fn a_cell_that_cannot_be_carried_out_is_refused() {
        assert_eq!(
            grid(&model(), &[1], &[10, 0]).unwrap_err(),
            "0 connections send nothing: give -c at least 1"
        );
    }
}
