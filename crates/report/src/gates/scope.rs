//! Which conditions a verb can judge, before anything is measured.

use std::collections::BTreeSet;
use wirebench_schema::{
    gate::GateScope,
    journal::Journal,
    load::{LoadConfig, LoadModel},
    suite::Workload,
};

use super::value::is_of_phase;
use crate::analysis::{Metric, MetricFacts};

/// The figures of which changes are computed.
#[must_use]
pub fn changes() -> Vec<Metric> {
    Metric::limitable().filter_map(MetricFacts::compared).collect()
}

/// The figures whose values workloads are measured for.
#[must_use]
pub fn values(workloads: &[Workload]) -> Vec<Metric> {
    let has = |it: &Metric| workloads.iter().any(|workload| is_of_phase(*it, workload.phase));
    Metric::limitable().filter(has).collect()
}

/// The figures of one load; only a load of servers that wirebench started, or may look at, has those of processes.
#[must_use]
pub fn values_of_load(has_rate: bool, has_processes: bool) -> Vec<Metric> {
    let has = |it: &Metric| match it {
        _ if it.is_without_stalls() => false,
        Metric::Throughput | Metric::Latency(_) | Metric::Errors => true,
        Metric::Achieved | Metric::Unsent => has_rate,
        Metric::Cpu | Metric::Memory => has_processes,
        _ => false,
    };
    Metric::limitable().filter(has).collect()
}

/// The names of the requests of these workloads.
#[must_use]
pub fn requests<'a>(workloads: impl IntoIterator<Item = &'a Workload>) -> Vec<String> {
    let sets = workloads.into_iter().filter_map(|it| it.requests.as_ref());
    let names: BTreeSet<&str> = sets.flat_map(|set| set.names()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Which option of `run` adds figures.
pub const HINT: &str = "throughput is measured with --phase saturate, latency with --phase cost, and without stalls by \
                        `wirebench load --stalls`";

/// What conditions on a result may be about, from its journal.
#[must_use]
pub fn scope<'a>(verb: &'a str, journal: &Journal) -> GateScope<'a> {
    let start = &journal.start;
    GateScope {
        verb,
        values: values(&start.workloads),
        changes: changes(),
        hint: HINT,
        servers: start.variants.iter().map(|it| it.variant.clone()).collect(),
        names: requests(&start.workloads),
    }
}

/// What conditions on a load may be about: a client does not see the server's CPU time and memory.
#[must_use]
pub fn scope_of_load<'a>(verb: &'a str, config: &LoadConfig) -> GateScope<'a> {
    let has_rate = matches!(config.model, LoadModel::Rate { .. });
    let names = config.requests.iter().flat_map(|set| set.names());
    let mut values = values_of_load(has_rate, false);
    values.extend(Metric::limitable().filter(|it| config.stalls && it.is_without_stalls()));
    GateScope {
        verb,
        values,
        names: names.map(str::to_owned).collect(),
        hint: match (has_rate, config.stalls) {
            (false, _) => "achieved and unsent are those of a rate",
            (true, false) => "tails without stalls are measured with --stalls",
            (true, true) => "",
        },
        ..GateScope::default()
    }
}
