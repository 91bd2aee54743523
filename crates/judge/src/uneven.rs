//! Whether the workers of a server, each of which keeps its connections, had equal shares of a closed
//! loop.

use wirebench_schema::{
    entry::Sharing,
    journal::{Reason, ReasonKind, Weight},
};

/// A worker that ran for this many times the mean of all workers had more connections than others
/// can make up for.
const UNEVEN: f64 = 1.25;

/// That the busiest of the `workers` threads or processes ran much longer than their mean.
///
/// `ran_ns` holds the CPU time of every thread of the server. Those that ran most are the workers;
/// servers whose workers take over each other's connections are not judged.
#[must_use]
pub fn uneven(sharing: Sharing, workers: u32, mut ran_ns: Vec<u64>) -> Option<Reason> {
    let keep_connections = matches!(sharing, Sharing::Prefork | Sharing::HandOut);
    if !keep_connections || workers < 2 || ran_ns.is_empty() {
        return None;
    }
    ran_ns.sort_unstable_by(|one, other| other.cmp(one));
    ran_ns.truncate(workers as usize);
    let mean_ns = ran_ns.iter().sum::<u64>() as f64 / f64::from(workers);
    let ratio = ran_ns[0] as f64 / mean_ns.max(1.0);
    let detail = format!("{workers} workers");
    let reason = || ReasonKind::UnevenWorkers.reason(Weight::Note, Some(ratio), detail);
    (ratio >= UNEVEN).then(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(sharing: Sharing, workers: u32, ran_ns: &[u64]) -> Option<f64> {
        uneven(sharing, workers, ran_ns.to_vec()).and_then(|reason| reason.figure)
    }

    #[test]
    fn a_worker_that_had_most_connections_is_reported_where_workers_keep_theirs() {
        let ran_ns = [3, 900, 300, 0];
        assert_eq!(ratio(Sharing::Prefork, 2, &ran_ns), Some(1.5));
        assert_eq!(ratio(Sharing::HandOut, 2, &ran_ns), Some(1.5));
        assert_eq!(ratio(Sharing::Shared, 2, &ran_ns), None);
        assert_eq!(ratio(Sharing::Prefork, 1, &ran_ns), None);
        assert_eq!(ratio(Sharing::Prefork, 2, &[500, 400, 20]), None);
        assert_eq!(ratio(Sharing::Prefork, 4, &[1000]), Some(4.0));
    }
}
