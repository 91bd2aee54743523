//! What a plan needs of a machine at once: open files and memory. Pure.
//!
//! `docs/scale.md` has the measurements behind the figures. The memory of a server is known only once it has run.

use std::collections::BTreeSet;
use wirebench_catalogue::subject::Subject;
use wirebench_schema::suite::{Phase, Workload};

use super::{Experiment, Unit};
use crate::cohort::open_files;

/// The load generator without threads and connections.
const PROGRAM_BYTES: u64 = 12 << 20;
/// Buffers and histograms of a thread, for each server that it loads.
const THREAD_BYTES: u64 = 3 << 20;
const CONNECTION_BYTES: u64 = 1 << 10;
/// The kernel's memory of both ends of a silent connection.
const SOCKETS_BYTES: u64 = 2 * 4813;

/// The most that is needed at once.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Needs {
    /// Servers that are alive together.
    pub servers: usize,
    pub connections: u64,
    /// Those of the load generator.
    pub open_files: u64,
    pub generator_bytes: u64,
    pub sockets_bytes: u64,
}

impl Needs {
    fn of(servers: usize, workload: &Workload, generator_cpus: usize) -> Self {
        let threads = match workload.phase {
            Phase::Idle => 0,
            Phase::Saturate | Phase::Cost => generator_threads(workload, generator_cpus),
        };
        let each = workload.connections.saturating_add(workload.idle_connections) as u64;
        let connections = each.saturating_mul(servers as u64);
        let threads_bytes = THREAD_BYTES.saturating_mul((threads * servers) as u64);
        let connections_bytes = CONNECTION_BYTES.saturating_mul(connections);
        Self {
            servers,
            connections,
            open_files: open_files(servers, each, threads),
            generator_bytes: PROGRAM_BYTES.saturating_add(threads_bytes + connections_bytes),
            sockets_bytes: SOCKETS_BYTES.saturating_mul(connections),
        }
    }

    /// The larger of each.
    fn or(self, other: Self) -> Self {
        Self {
            servers: self.servers.max(other.servers),
            connections: self.connections.max(other.connections),
            open_files: self.open_files.max(other.open_files),
            generator_bytes: self.generator_bytes.max(other.generator_bytes),
            sockets_bytes: self.sockets_bytes.max(other.sockets_bytes),
        }
    }
}

/// How many threads load a server.
#[must_use]
pub fn generator_threads(workload: &Workload, generator_cpus: usize) -> usize {
    workload.threads.unwrap_or(generator_cpus).min(workload.connections)
}

impl Experiment {
    /// What the blocks need, all of which are alike.
    #[must_use]
    pub fn needs(&self, subjects: &[Subject]) -> Needs {
        let cpus = self.settings.placement.generator_cpus.len();
        let of_unit = |unit: &Unit| {
            let servers: BTreeSet<_> = unit.steps.iter().map(|it| (it.subject, it.copy)).collect();
            let workloads = unit.steps.iter().map(|it| &self.suite.workloads[it.workload]);
            workloads
                .map(|workload| Needs::of(servers.len(), workload, cpus))
                .fold(Needs::default(), Needs::or)
        };
        self.units(subjects, 0).iter().map(of_unit).fold(Needs::default(), Needs::or)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn servers_that_are_alive_together_add_up() {
        let workload = Workload { connections: 100, ..fixtures::workload("duration = \"1s\"") };
        let one = Needs::of(1, &workload, 4);
        assert_eq!((one.open_files, one.generator_bytes), (172, (24 << 20) + (100 << 10)));
        let many = Needs::of(16, &workload, 4);
        assert_eq!((many.connections, many.open_files), (1600, 1600 + 16 * 8 + 64));
        assert_eq!(many.sockets_bytes, 16 * one.sockets_bytes);
        assert_eq!(one.or(many), many);
    }

    #[test]
    fn a_thread_has_a_connection_and_idle_connections_need_none() {
        let workload = Workload { connections: 2, ..fixtures::workload("duration = \"1s\"") };
        assert_eq!(generator_threads(&workload, 64), 2);
        let idle = Needs::of(1, &workload.in_phase(Phase::Idle), 4);
        assert_eq!(idle.generator_bytes, PROGRAM_BYTES + idle.connections * CONNECTION_BYTES);
    }
}
