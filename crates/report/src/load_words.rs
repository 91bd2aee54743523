//! A load in words: for the headings of a run's tables and for the lines that `load` prints. Its figures
//! are elsewhere.

use wirebench_schema::{
    load::{
        Arrivals, Bound, ClosedPolicy, LatencyOrigin, LoadConfig, LoadModel, LoadReport, RateCurve,
        RequestSet, Stop,
    },
    scenario::HeavyConnections,
    suite::{Phase, Workload},
    units::write_duration,
};

use crate::{
    distribution::Percentiles,
    idle_words,
    table_units::{count, percent},
};

/// The model with its figures: `20000 requests/s`, `closed loop`.
pub(crate) fn describe_model(model: &LoadModel) -> String {
    match model {
        LoadModel::Closed => "closed loop".to_owned(),
        LoadModel::Think { delay } => {
            format!("closed loop with a pause of {}", write_duration(*delay))
        }
        LoadModel::Rate { curve, arrivals, .. } => {
            let random = if *arrivals == Arrivals::Poisson { " at random" } else { "" };
            format!("{}{random}", rates(curve))
        }
    }
}

fn rates(curve: &RateCurve) -> String {
    let between = if matches!(curve, RateCurve::Ramp(..)) { " to " } else { ", then " };
    let rates: Vec<String> = curve.rates().iter().map(f64::to_string).collect();
    format!("{} requests/s", rates.join(between))
}

/// What stalls of the machine did to the tail, where they were watched.
pub(crate) fn stalls(report: &LoadReport, show: fn(f64) -> String) -> Option<String> {
    let stalls = report.stalls.as_ref()?;
    let (rate, longest) = (stalls.per_second, show(stalls.longest_ns as f64));
    let seen = format!("{rate:.1} stalls/s of 0.5 ms and more, longest {longest}");
    Some(match (&stalls.latency, stalls.apart_share, &stalls.reason) {
        (Some(latency), Some(share), None) => {
            let cells = Percentiles::of(&[99.0, 99.9], show).cells(Some(latency));
            let (p99, p999, share) = (&cells[0], &cells[1], percent(share));
            format!("p99 {p99}, p99.9 {p999} ({seen}; {share} of the requests set apart)")
        }
        (.., Some(reason)) if stalls.per_second > 0.0 => format!("not known: {reason} ({seen})"),
        (.., reason) => format!("not known: {}", reason.as_deref().unwrap_or("no replies")),
    })
}

/// When a run ends: `1s`, `100 requests`.
pub(crate) fn describe_stop(stop: Stop) -> String {
    match stop {
        Stop::After(duration) => format!("{} per run", write_duration(duration)),
        Stop::Requests(requests) => format!("{requests} requests per run"),
        Stop::RequestsPerConnection(requests) => {
            format!("{requests} requests per connection and run")
        }
    }
}

/// What is not usual about the connections and belongs to the name of a load.
fn shape(
    idle: usize,
    pipeline: usize,
    requests: Option<u64>,
    heavy: Option<&HeavyConnections>,
) -> Vec<String> {
    let idle = (idle > 0).then(|| format!("plus {idle} idle"));
    let pipeline = (pipeline > 1).then(|| format!("{pipeline} requests in flight each"));
    let requests = requests.map(|requests| format!("reopened after {requests} requests"));
    let heavy = heavy.map(|HeavyConnections { every, path }| {
        format!("of which one in {every} requests {path} and is no part of latencies")
    });
    [idle, pipeline, requests, heavy].into_iter().flatten().collect()
}

fn retries(on_closed: ClosedPolicy) -> Option<&'static str> {
    (on_closed == ClosedPolicy::Retry).then_some("requests repeated where the server closes")
}

/// What is not usual about the connections, after their number.
pub(crate) fn describe_shape(workload: &Workload) -> String {
    let Workload { idle_connections, pipeline, requests_per_connection, .. } = workload;
    let heavy = workload.scenario.heavy();
    let shape = shape(*idle_connections, *pipeline, *requests_per_connection, heavy.as_ref());
    shape.iter().map(|part| format!(", {part}")).collect()
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

/// All that a reader must know of the load.
pub(crate) fn describe(workload: &Workload) -> String {
    let Workload { name, scenario, connections: number, .. } = workload;
    let stop = describe_stop(workload.stop);
    if workload.phase == Phase::Idle {
        return format!("{name}: {scenario}, {number} idle connections, {stop}");
    }
    let mut text = format!("{name}: {scenario}, {}, ", describe_model(&workload.model));
    text += &format!("{number} connections{}", describe_shape(workload));
    if let Some(set) = &workload.requests {
        text += &format!(", requests: {}", requests(set));
    }
    // The same for all workloads of a document, and too long for the first screen.
    if let Some(retries) = retries(workload.on_closed) {
        text += &format!(", {retries}");
    }
    if !workload.headers.is_empty() {
        let headers = count(workload.headers.len(), "more header");
        text += &format!(", {headers} in each request");
    }
    format!("{text}{}, {stop}", describe_payload(workload))
}

pub(crate) const SERVICE: &str = "Service from sent";
pub(crate) const LAG: &str = "Lag of sending";

/// The latency, and from when it counts where that is a choice.
pub(crate) const fn latency(model: &LoadModel) -> &'static str {
    match model {
        LoadModel::Rate { latency_from: LatencyOrigin::Due, .. } => "Latency from due",
        LoadModel::Rate { latency_from: LatencyOrigin::Sent, .. } => "Latency from sent",
        LoadModel::Closed | LoadModel::Think { .. } => "Latency",
    }
}

/// What set the rate.
pub(crate) const fn limit(bound: Bound) -> &'static str {
    match bound {
        Bound::Generator => "the generator",
        Bound::Server => "the server",
        Bound::Schedule => "the requested schedule",
        Bound::Neither | Bound::Unknown => "unknown",
    }
}

/// The classes of statuses that replies had, with their number; none where replies have no status.
pub(crate) fn statuses(report: &LoadReport) -> Vec<(String, u64)> {
    if !report.config.target.protocol().traits().has_heads {
        return Vec::new();
    }
    let classes =
        (1..).zip(report.status_classes).map(|(class, count)| (format!("{class}xx"), count));
    let invalid = ("invalid".to_owned(), report.statuses_invalid);
    classes.chain([invalid]).filter(|(_, count)| *count > 0).collect()
}

/// What a load was asked for: `10s test`.
pub(crate) fn test(stop: Stop) -> String {
    match stop {
        Stop::After(duration) => format!("{} test", write_duration(duration)),
        Stop::Requests(count) => format!("test of {count} requests"),
        Stop::RequestsPerConnection(count) => format!("test of {count} requests per connection"),
    }
}

/// The requests of a set: `4 of api.jsonl, weighted`, or the one.
pub(crate) fn requests(set: &RequestSet) -> String {
    if let [request] = set.requests.as_slice() {
        return request.name.clone();
    }
    let name = |file: &String| format!(" of {}", file.rsplit('/').next().unwrap_or_default());
    let file = set.file.as_ref().map(name).unwrap_or_default();
    format!("{}{file}, {}", set.requests.len(), set.order)
}

/// What differs from a plain closed loop, one line for each.
pub(crate) fn particulars(config: &LoadConfig) -> Vec<String> {
    let model = match &config.model {
        LoadModel::Closed => None,
        model @ LoadModel::Think { .. } => Some(describe_model(model)),
        LoadModel::Rate { curve, arrivals, latency_from } => {
            let spaced = match arrivals {
                Arrivals::Even => "at equal intervals",
                Arrivals::Poisson => "at random (Poisson)",
            };
            let counted = match latency_from {
                LatencyOrigin::Due => "latency from the due time",
                LatencyOrigin::Sent => "latency from sending (coordinated omission)",
            };
            Some(format!("{} {spaced}, {counted}", rates(curve)))
        }
    };
    let LoadConfig { idle_connections, pipeline, requests_per_connection, heavy, .. } = config;
    let shape = shape(*idle_connections, *pipeline, *requests_per_connection, heavy.as_ref());
    let retries = retries(config.on_closed).map(str::to_owned);
    model
        .into_iter()
        .chain(idle_words::mode(config.idle).map(str::to_owned))
        .chain(shape)
        .chain(retries)
        .chain(config.requests.as_ref().map(|it| format!("requests: {}", requests(it))))
        .collect()
}
