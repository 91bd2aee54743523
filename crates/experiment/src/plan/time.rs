//! How long runs take, as far as that can be said before one has been made. Pure.

use std::time::Duration;
use wirebench_schema::{
    load::LoadModel,
    suite::{Phase, Workload},
};

/// Start, connect and stop of a server, beyond warm-up and window; only for the estimate of time.
const OVERHEAD: Duration = Duration::from_millis(250);

/// What the estimate of time takes a worker to answer in a second, when the load ends after a count.
const ASSUMED_REQUESTS_PER_SECOND: f64 = 100_000.0;

/// What the estimate of time takes a worker to echo in a second.
const ASSUMED_BYTES_PER_SECOND: f64 = 1e9;

/// What the estimate of time adds to the pause between two requests.
const ASSUMED_LATENCY: Duration = Duration::from_micros(100);

/// What the estimate of time takes a server to become steady.
const ASSUMED_UNTIL_STEADY: Duration = Duration::from_secs(1);

/// What the estimate of time takes a silent connection: to be made, answered once and closed.
const ASSUMED_PER_SILENT_CONNECTION: Duration = Duration::from_micros(200);

/// How long a run of `workload` takes, about. How long a count takes is a guess, which serves as
/// long as no run has been made.
#[must_use]
pub fn estimate(workload: &Workload) -> Duration {
    let requests = workload.stop.count(workload.connections).unwrap_or(0);
    let window = workload.stop.length().unwrap_or_else(|| time_of(workload, requests));
    if workload.phase == Phase::Idle {
        let connections = u32::try_from(workload.connections).unwrap_or(u32::MAX);
        return OVERHEAD + ASSUMED_PER_SILENT_CONNECTION.saturating_mul(connections) + window;
    }
    let before = workload.warmup_requests.map_or(Duration::ZERO, |n| time_of(workload, n));
    OVERHEAD + workload.steady_within.min(ASSUMED_UNTIL_STEADY) + workload.warmup + before + window
}

fn time_of(workload: &Workload, requests: u64) -> Duration {
    let requests = requests as f64;
    let seconds = match &workload.model {
        LoadModel::Closed => {
            let has_payload = workload.scenario.protocol().traits().has_payload;
            let bytes = if has_payload { requests * workload.payload_bytes as f64 } else { 0.0 };
            let busy = requests / ASSUMED_REQUESTS_PER_SECOND + bytes / ASSUMED_BYTES_PER_SECOND;
            busy / f64::from(workload.workers.unwrap_or(1))
        }
        LoadModel::Think { delay } => {
            let each = (*delay + ASSUMED_LATENCY).as_secs_f64();
            requests / workload.connections.max(1) as f64 * each
        }
        LoadModel::Rate { curve, .. } => {
            let rates = curve.rates();
            requests * rates.len() as f64 / rates.iter().sum::<f64>().max(f64::MIN_POSITIVE)
        }
    };
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use wirebench_schema::load::Stop;
    use wirebench_schema::scenario::Scenario;

    fn workload() -> Workload {
        let scenario = Scenario::HelloTimeout;
        Workload { scenario, connections: 64, ..fixtures::workload("requests = 1000") }
    }

    #[test]
    fn the_time_of_a_count_is_guessed_from_its_work() {
        let mut workload = workload();
        let seconds = |workload: &Workload| (estimate(workload) - OVERHEAD).as_secs_f64();
        assert!((seconds(&workload) - 0.01).abs() < 1e-6);
        workload.stop = Stop::RequestsPerConnection(1000);
        workload.model = LoadModel::Think { delay: Duration::from_millis(1) };
        assert!((seconds(&workload) - 1.1).abs() < 1e-6);
        (workload.scenario, workload.model) = (Scenario::Echo, LoadModel::Closed);
        (workload.payload_bytes, workload.stop) = (1 << 30, Stop::Requests(2));
        assert!((seconds(&workload) - 2.147).abs() < 0.01);
    }

    #[test]
    fn silent_connections_take_their_window_and_the_time_to_make_them() {
        let idle = Workload { stop: Stop::After(Duration::from_secs(1)), ..workload() }
            .in_phase(Phase::Idle);
        let time = estimate(&idle);
        assert!(time > Duration::from_secs(1) && time < Duration::from_secs(3), "{time:?}");
    }
}
