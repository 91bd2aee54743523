//! How a load is asked for, in words: for headings and for rows of a table.

use wirebench_schema::{
    load::{Arrivals, ClosedPolicy, LatencyOrigin, LoadConfig, LoadModel, RateCurve, Stop},
    scenario::HeavyConnections,
    units::write_duration,
};

#[must_use]
pub fn stop(stop: Stop) -> String {
    match stop {
        Stop::After(duration) => format!("{} test", write_duration(duration)),
        Stop::Requests(count) => format!("test of {count} requests"),
        Stop::RequestsPerConnection(count) => format!("test of {count} requests per connection"),
    }
}

/// The load model in one or two words.
#[must_use]
pub const fn model(model: &LoadModel) -> &'static str {
    match model {
        LoadModel::Closed => "closed loop",
        LoadModel::Think { .. } => "closed loop with pauses",
        LoadModel::Rate { latency_from: LatencyOrigin::Sent, .. } => "paced closed loop",
        LoadModel::Rate { curve: RateCurve::Constant(_) | RateCurve::Thousandths(_), .. } => "rate",
        LoadModel::Rate { curve: RateCurve::Ramp(..), .. } => "ramp",
        LoadModel::Rate { curve: RateCurve::Steps(_), .. } => "steps",
    }
}

/// How requests at a rate follow each other; nothing without a rate.
#[must_use]
pub const fn arrivals(model: &LoadModel) -> &'static str {
    match model {
        LoadModel::Rate { arrivals: Arrivals::Even, .. } => "even",
        LoadModel::Rate { arrivals: Arrivals::Poisson, .. } => "poisson",
        LoadModel::Closed | LoadModel::Think { .. } => "",
    }
}

/// What differs from a plain closed loop, one line for each.
#[must_use]
pub fn particulars(config: &LoadConfig) -> Vec<String> {
    let mut lines = Vec::new();
    match &config.model {
        LoadModel::Closed => {}
        LoadModel::Think { delay } => {
            lines.push(format!("a pause of {} after each reply", write_duration(*delay)));
        }
        LoadModel::Rate { curve, arrivals, latency_from } => {
            let rate = match curve {
                RateCurve::Constant(_) | RateCurve::Thousandths(_) => {
                    format!("{} requests/s", curve.first())
                }
                RateCurve::Ramp(from, to) => format!("from {from} to {to} requests/s"),
                RateCurve::Steps(rates) => {
                    let rates: Vec<String> = rates.iter().map(u64::to_string).collect();
                    format!("{} requests/s in turn", rates.join(", "))
                }
            };
            let spaced = match arrivals {
                Arrivals::Even => "at equal intervals",
                Arrivals::Poisson => "at random (Poisson)",
            };
            let counted = match latency_from {
                LatencyOrigin::Due => "latency from the due time",
                LatencyOrigin::Sent => "latency from sending (coordinated omission)",
            };
            lines.push(format!("{rate} {spaced}, {counted}"));
        }
    }
    if config.pipeline > 1 {
        lines.push(format!("up to {} requests in flight per connection", config.pipeline));
    }
    if let Some(requests) = config.requests_per_connection {
        lines.push(format!("a new connection after {requests} requests"));
    }
    if config.on_closed == ClosedPolicy::Retry {
        lines.push("a request whose connection the server had closed is repeated".to_owned());
    }
    if config.idle_connections > 0 {
        lines.push(format!("plus {} idle connections", config.idle_connections));
    }
    if let Some(HeavyConnections { every, path }) = &config.heavy {
        lines.push(format!(
            "one connection in {every} requests {path}; latencies are those of the others"
        ));
    }
    lines
}
