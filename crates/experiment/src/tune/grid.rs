//! The workloads of a sweep: one for each pair of a number of workers and a number of connections.
//! Pure.

use wirebench_schema::suite::Workload;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grid {
    pub workers: Vec<u32>,
    pub connections: Vec<usize>,
}

/// One workload like `model` for each cell of `grid`, named after it; row by row. The first reason
/// why one of them cannot be carried out.
pub fn grid(model: &Workload, grid: &Grid) -> Result<Vec<Workload>, String> {
    let mut workloads = Vec::new();
    for &workers in &grid.workers {
        for &connections in &grid.connections {
            let workload = Workload {
                name: format!("workers-{workers}-connections-{connections}"),
                workers: Some(workers),
                connections,
                ..model.clone()
            };
            workload.check()?;
            workloads.push(workload);
        }
    }
    Ok(workloads)
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
        let cells = Grid { workers: vec![1, 2], connections: vec![10, 50] };
        let workloads = grid(&model(), &cells).unwrap();
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
        let cells = Grid { workers: vec![1], connections: vec![10, 0] };
        assert_eq!(
            grid(&model(), &cells).unwrap_err(),
            "0 connections send nothing: give -c at least 1"
        );
    }
}
