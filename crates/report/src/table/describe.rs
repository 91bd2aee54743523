//! A workload in words. Its figures are elsewhere.

use std::fmt::Write;
use wirebench_schema::{
    journal::Described,
    load::{Arrivals, ClosedPolicy, LoadModel, RateCurve, Stop},
    suite::{Phase, Workload},
    units::write_duration,
};

use crate::table_units::count;

/// All that a reader must know of the load.
pub(crate) fn describe(workload: &Workload) -> String {
    let Workload { name, scenario, connections, .. } = workload;
    let stop = describe_stop(workload.stop);
    if workload.phase == Phase::Idle {
        return format!("{name}: {scenario}, {connections} idle connections, {stop}");
    }
    let payload = describe_payload(workload);
    let (model, shape) = (describe_model(&workload.model), describe_shape(workload));
    let client = describe_client(workload);
    format!(
        "{name}: {scenario}, {model}, {connections} connections{shape}{client}{payload}, {stop}"
    )
}

/// How long the messages of an echo are; nothing for other scenarios.
pub(crate) fn describe_payload(workload: &Workload) -> String {
    let has_payload = workload.scenario.protocol().traits().has_payload;
    if has_payload {
        format!(", {} bytes per message", workload.payload_bytes)
    } else {
        String::new()
    }
}

pub(crate) fn describe_stop(stop: Stop) -> String {
    match stop {
        Stop::After(duration) => format!("{} per run", write_duration(duration)),
        Stop::Requests(requests) => format!("{requests} requests per run"),
        Stop::RequestsPerConnection(requests) => {
            format!("{requests} requests per connection and run")
        }
    }
}

pub(crate) fn describe_model(model: &LoadModel) -> String {
    let (curve, arrivals) = match model {
        LoadModel::Closed => return "closed loop".to_owned(),
        LoadModel::Think { delay } => {
            return format!("closed loop with a pause of {}", write_duration(*delay));
        }
        LoadModel::Rate { curve, arrivals, .. } => (curve, arrivals),
    };
    let rates = match curve {
        RateCurve::Constant(_) | RateCurve::Thousandths(_) => curve.first().to_string(),
        RateCurve::Ramp(from, to) => format!("{from} to {to}"),
        RateCurve::Steps(rates) => {
            rates.iter().map(u64::to_string).collect::<Vec<_>>().join(", then ")
        }
    };
    match arrivals {
        Arrivals::Even => format!("{rates} requests/s"),
        Arrivals::Poisson => format!("{rates} requests/s at random"),
    }
}

/// What is not usual about the connections.
pub(crate) fn describe_shape(workload: &Workload) -> String {
    let mut shape = String::new();
    if workload.idle_connections > 0 {
        let _ = write!(shape, " plus {} idle", workload.idle_connections);
    }
    if workload.pipeline > 1 {
        let _ = write!(shape, ", {} requests in flight each", workload.pipeline);
    }
    if let Some(requests) = workload.requests_per_connection {
        let _ = write!(shape, ", reopened after {requests} requests");
    }
    if let Some(heavy) = workload.scenario.heavy() {
        let _ =
            write!(shape, ", of which one in {} is heavy and no part of latencies", heavy.every);
    }
    shape
}

/// What the requests have in common with those of another client. It is the same for all workloads of a document, and
/// too long for the first screen.
fn describe_client(workload: &Workload) -> String {
    let mut client = String::new();
    if workload.on_closed == ClosedPolicy::Retry {
        client.push_str(", requests repeated where the server closes");
    }
    if !workload.headers.is_empty() {
        let headers = count(workload.headers.len(), "more header");
        let _ = write!(client, ", {headers} in each request");
    }
    client
}

/// What an entry is made of, each with its version.
pub(crate) fn describe_versions(described: &Described) -> Vec<String> {
    described.versions.iter().map(|(name, version)| format!("{name} {version}")).collect()
}
