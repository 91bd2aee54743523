//! The report of a load: counts, latencies, and fairness over connections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{
    EngineChoice, ErrorCounts, ErrorExample, Estimate, LOAD_FORMAT, LatencyFigure, LatencySummary,
    LoadConfig, RateStep, ReplySeries, SampleReply, Stalls, TlsSummary, bins,
};

/// Requests per second of single threads over intervals of 100 ms, for wrk's `Req/Sec` line.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ThreadRate {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stdev: f64,
    /// Largest interval.
    pub max: f64,
    /// Share of the intervals within one standard deviation of the mean, 0 to 1.
    pub within_stdev: f64,
}

/// The fairness over connections.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Fairness {
    /// Fewest replies on one connection.
    pub replies_least: u64,
    /// Median of the replies per connection.
    pub replies_median: u64,
    /// Most replies on one connection.
    pub replies_most: u64,
    /// Jain's index: 1 when all have the same share, 1/n when one has all. Jain, Chiu, Hawe 1984,
    /// DEC-TR-301.
    pub jain_index: f64,
}

/// The checks of replies.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ReplyChecks {
    /// Compared with the template of an earlier reply: same length, same bytes, except for fields
    /// whose values do not matter.
    pub fast: u64,
    /// Read by the parser in full.
    pub slow: u64,
}

/// The demand of a schedule and its result.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Offered {
    /// Requests that were due in the window.
    pub due: u64,
    /// Of those, requests that could not be sent before the window ended, because no connection was
    /// free. They are censored samples of the latency.
    pub owed_at_end: u64,
    /// Requests that were due and had no answer yet, sent or not: at the beginning of the window, in
    /// its middle and at its end. All are 0 where the length of the window was not known before.
    #[serde(default)]
    pub waiting: [u64; 3],
    /// Requests per second of the schedule, on average over the window. Of a schedule that slips or was
    /// interrupted, the requests that were due over the window's length.
    pub requests_per_second: f64,
}

/// Connections that were to stay silent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IdleCounts {
    /// Number of connections that could be made.
    pub made: u64,
    /// Number of those that the server closed or wrote to before the load was over.
    pub lost: u64,
}

/// A part of the load.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before the window; it does not count.
    Warmup,
    /// The window.
    #[default]
    Window,
}

/// One interval of the load, over all threads.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Interval {
    /// Which part of the load it belongs to.
    pub phase: Phase,
    /// Its start, since the start of the load.
    pub start_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Correct replies.
    pub requests: u64,
    /// `requests` over `length_ns`.
    pub requests_per_second: f64,
    /// Failures of all kinds.
    pub errors: u64,
    /// The same by kind; absent in files of older versions, and without a failure.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub errors_by_kind: Box<ErrorCounts>,
    /// HTTP replies by class of status: 1xx, 2xx, 3xx, 4xx, 5xx; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status_classes: Vec<u64>,
    /// Samples in each range of latencies, for a view of a running load.
    #[serde(skip)]
    pub latency_counts: Vec<u64>,
    /// Bytes received.
    pub bytes_received: u64,
    /// Median latency; absent where nothing was answered and nothing timed out.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile.
    pub latency_ns_p99: Option<u64>,
    /// Largest latency.
    pub latency_ns_max: Option<u64>,
    /// Those of the three that are only lower bounds, because no reply took as long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lower_bounds: Vec<LatencyFigure>,
    /// In the share of a load that several generators make: what the three are figures of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Box<LatencySummary>>,
}

impl Interval {
    /// The same with the figures of this distribution.
    #[must_use]
    pub fn with_latency(self, latency: &Estimate) -> Self {
        let figures = [LatencyFigure::P50, LatencyFigure::P99, LatencyFigure::Max];
        let of = |figure: LatencyFigure| {
            let value = latency.histogram.value_at_quantile(figure.percent() / 100.0);
            (!latency.histogram.is_empty()).then_some(value)
        };
        let [latency_ns_p50, latency_ns_p99, latency_ns_max] = figures.map(of);
        let is_bound = |it: &LatencyFigure| latency.is_lower_bound(it.percent());
        let lower_bounds = figures.into_iter().filter(is_bound).collect();
        let latency_counts = bins::counts(&latency.histogram);
        Self {
            latency_ns_p50,
            latency_ns_p99,
            latency_ns_max,
            lower_bounds,
            latency_counts,
            ..self
        }
    }
}

/// The result of one load.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LoadReport {
    /// [`LOAD_FORMAT`] of the writer.
    pub format: u32,
    /// The version of wirebench that made the load.
    pub wirebench: String,
    /// The configuration in force.
    pub config: LoadConfig,
    /// The engine that was used.
    pub engine: EngineChoice,
    /// Why it is not the one that [`EngineChoice::Auto`] prefers, if it is not.
    pub engine_fallback: Option<String>,
    /// Whether the load ended before its stop condition, by a signal.
    pub interrupted: bool,
    /// Length of the measured window. With [`Stop::Requests`](super::Stop::Requests): until the last reply.
    pub window_ns: u64,
    /// Correct replies that arrived in the window.
    pub requests: u64,
    /// `requests` over `window_ns`.
    pub requests_per_second: f64,
    /// Bytes received in the window; with TLS those within it, as wrk counts them.
    pub bytes_received: u64,
    /// Bytes sent in the window; with TLS those within it.
    pub bytes_sent: u64,
    /// Latency of the requests of the window; absent when nothing was answered and nothing timed
    /// out.
    pub latency: Option<LatencySummary>,
    /// With a schedule: from the moment a request was sent.
    pub service: Option<LatencySummary>,
    /// With a schedule: how much later than due requests were sent.
    pub lag: Option<LatencySummary>,
    /// Time to make the connections of the whole load; with TLS, until ready for a request.
    pub connect: Option<LatencySummary>,
    /// With TLS: what was agreed upon, and how often.
    pub tls: Option<TlsSummary>,
    /// With a schedule: its demand.
    pub offered: Option<Offered>,
    /// Rates of single threads.
    pub thread_rate: ThreadRate,
    /// Failures in the window, while its last replies were waited for, and while connecting.
    pub errors: ErrorCounts,
    /// One failure of each kind that happened, in words.
    pub error_examples: Vec<ErrorExample>,
    /// Requests of a count that were not sent, because no reply came for three timeouts; absent
    /// where the load did not give up.
    pub gave_up_requests: Option<u64>,
    /// Correct replies on heavy connections that would else be samples of the latency; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heavy_replies: Option<u64>,
    /// The checks of replies.
    pub checks: ReplyChecks,
    /// HTTP replies by class of status: 1xx, 2xx, 3xx, 4xx, 5xx.
    pub status_classes: [u64; 5],
    /// HTTP replies with a status above 599, which is of no class.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub statuses_invalid: u64,
    /// Latency of complete replies with an error status, by class: `4xx`, `5xx` and `invalid`. They are no
    /// samples of `latency`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_by_status: BTreeMap<String, LatencySummary>,
    /// Connections that could be made at the start, or that the load makes when a request needs them
    /// because each carries a single one.
    pub connections_made: usize,
    /// Requests that were sent before the load, to check the server and to learn its replies.
    #[serde(default)]
    pub requests_before: u64,
    /// What the first replies were, of at most [`SampleReply::MOST`] requests; absent of a load in visits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sample_replies: Vec<SampleReply>,
    /// XXH64 of the content of the files that requests send, 16 hexadecimal digits; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_digest: Option<String>,
    /// Connections made again after a failure, over the whole load.
    pub reconnects: u64,
    /// Connections that the client closed because they had carried as many requests as they should,
    /// in the window.
    pub client_closes: u64,
    /// Connections that the server closed in the window without a failed request.
    pub server_closes: u64,
    /// How often requests of the window were sent again: those pipelined behind a reply that announced
    /// the close, and with `retry_closed` those whose connection the server had closed before a byte
    /// of the reply. Each has one result, the last, and its latency begins with the first sending.
    /// Absent where no request is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retried_requests: Option<u64>,
    /// Connections that were to stay silent.
    pub idle: IdleCounts,
    /// The fairness over connections.
    pub fairness: Fairness,
    /// Connections that waited for a reply, of whatever status, during the second half of the window, if
    /// it was far longer than a latency.
    #[serde(default)]
    pub unanswered_connections: u64,
    /// Requests without an answer when the window ended.
    pub in_flight_at_end: u64,
    /// Mean share of a thread's connections that were ready when it looked, or with pipelining of its
    /// requests in flight that were answered, 0 to 1: where the requests of a closed loop wait. Near 1
    /// the replies wait for the generator, near 0 the requests wait for the server.
    pub ready_share: f64,
    /// CPU time of each thread of the generator in the window.
    pub thread_cpu_ns: Vec<u64>,
    /// The longest time by which a thread of the generator came too late to look at its connections,
    /// because something else had its CPU or because it was stopped.
    pub stall_ns_max: u64,
    /// The sum over all threads of the times from 1 ms on by which they came too late.
    #[serde(default)]
    pub stall_ns_total: u64,
    /// Stalls of the machine, and the latencies without them; absent where they were not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// For how long CPU limits of control groups paused the generator on this host, from its first request
    /// to its last reply, summed over CPUs; absent if they did not, or where `run` accounts for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Correct replies over the window.
    #[serde(alias = "requests_per_100ms")]
    pub reply_series: ReplySeries,
    /// Requests per second that the generator reaches with the same load on a server that does
    /// nothing but answer, if that was measured.
    pub ceiling_requests_per_second: Option<f64>,
    /// The window in parts, where its rate changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RateStep>,
    /// The requests of a set by name, where there are several names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_name: Vec<NamedRequests>,
    /// The generators that made the load together; empty if there was only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<GeneratorPart>,
}

/// The requests of one name.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct NamedRequests {
    /// Their name.
    pub name: String,
    /// Correct replies that arrived in the window.
    pub requests: u64,
    /// `requests` over the length of the window.
    pub requests_per_second: f64,
    /// Requests that failed, or whose reply had an unexpected status.
    pub errors: u64,
    /// Latency, with two significant digits; absent when nothing was answered and nothing timed out.
    pub latency: Option<LatencySummary>,
}

/// The part of one generator in a load that several made together.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GeneratorPart {
    /// Its host.
    pub host: String,
    /// Connections that it could make.
    pub connections: usize,
    /// Its correct replies over the window.
    pub requests_per_second: f64,
    /// The 99th percentile of its latency.
    pub latency_ns_p99: Option<u64>,
    /// With a schedule: the 99th percentile of how much later than due it sent requests.
    pub lag_ns_p99: Option<u64>,
    /// CPU time of its threads over the length of the window, in CPUs.
    pub cpus_used: f64,
    /// Its threads.
    pub threads: usize,
    /// How much later than the first generator it began.
    pub start_delay_ns: u64,
    /// How far that may be wrong: the error of the clocks.
    pub clock_error_ns: u64,
}

impl GeneratorPart {
    /// The share of the CPUs that its threads can use at most, from which it counts as saturated.
    const SATURATED: f64 = 0.95;

    /// Whether it could hardly have made more load.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.cpus_used > Self::SATURATED * self.threads as f64
    }
}

impl LoadReport {
    /// The report of a load in which nothing has happened yet.
    #[must_use]
    pub fn new(wirebench: String, config: LoadConfig, engine: EngineChoice) -> Self {
        Self { format: LOAD_FORMAT, wirebench, config, engine, ..Self::default() }
    }
}

/// The events of a running load, one JSON object per line, with `--events`.
///
/// `window-start` and `window-end` are written as the window's edges pass, so that an observer can
/// read the server's clocks there. The last line is always `report` or `failed`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LoadEvent {
    /// Connections are being made; sent from time to time while their number grows.
    Connecting {
        /// Number made or refused so far, including idle connections.
        settled: usize,
    },
    /// All connections that can be made are made; the warm-up begins.
    Connected {
        /// Their number.
        connections: usize,
    },
    /// An interval of the load has passed.
    Interval(Interval),
    /// The measured window begins.
    WindowStart,
    /// The measured window has ended.
    WindowEnd,
    /// The load is over.
    Report(Box<LoadReport>),
    /// The load could not be carried out.
    Failed {
        /// A sentence with the next step.
        reason: String,
    },
}
