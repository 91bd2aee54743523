//! A checked plan made from a configuration: an existing plan has no configuration errors.

pub(crate) mod file;
mod rates;
pub(crate) mod set;

use std::sync::Arc;
use wirebench_schema::{
    load::{
        ClosedPolicy, GeneratorShare, LatencyOrigin, LoadConfig, LoadModel, PIECE_NS, RateStep,
        SampleReply, Stop, Waiting,
    },
    scenario::Protocol,
};

use crate::{
    clock::nanoseconds,
    codec::{Codec, echo::Echo, http1::Http1},
    engine::choice::{Chosen, choose},
    error::LoadError,
    pace::{Part, Rule, Schedule},
    segment::Histograms,
    share::{Share, shares},
};

/// Maximum expected latency of a load with a count; longer ones are recorded as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// A request that is due sooner than this is waited for without sleeping: a thread that sleeps is
/// woken later than it wanted.
const SPIN_NS: u64 = 60_000;

#[derive(Clone, Debug)]
pub(crate) struct ThreadParams {
    /// The limit for a reply, and for making a connection.
    pub(crate) timeout_ns: u64,
    /// Requests that may be in flight on one connection.
    pub(crate) depth: usize,
    /// Number of requests before the client closes a connection.
    pub(crate) requests_per_connection: u64,
    /// What becomes of a request whose connection the server closes before its reply.
    pub(crate) on_closed: ClosedPolicy,
    /// Number of requests per connection that end the window, if any.
    pub(crate) count_per_connection: Option<u64>,
    /// Whether each connection carries a single request, as far as known.
    pub(crate) one_request_each: bool,
    /// Time to make the first connection, once known.
    pub(crate) round_trip_ns: u64,
    /// Number of threads that make connections.
    pub(crate) threads: usize,
    pub(crate) histograms: Histograms,
    /// The number of the name of each request of a set, where they have several.
    pub(crate) names: Arc<[u16]>,
    /// From when latency counts, where requests have a schedule. If that is when they were due, the samples of the
    /// window are those that were due in it, otherwise those whose reply arrives in it.
    pub(crate) sampling: Option<LatencyOrigin>,
    /// How close a moment must be for a thread not to sleep until then.
    pub(crate) spin_ns: u64,
    /// True if all requests that it begins count, because nothing is in flight at its edges.
    pub(crate) is_whole: bool,
    /// Length of the parts in which it is recorded; absent if each phase is one part, which stays with the
    /// thread until the window is over.
    pub(crate) segment_ns: Option<u64>,
    /// Whether the connections stay when the window is over.
    pub(crate) keeps_connections: bool,
    model: LoadModel,
    parts: Vec<Part>,
    seed: u64,
    share: GeneratorShare,
}

impl ThreadParams {
    /// The place of a thread among those of all generators, and their number.
    pub(crate) const fn place_of(&self, thread: usize) -> (usize, usize) {
        self.share.of_thread(thread, self.threads)
    }

    /// Whether it is a share of a load whose intervals are added up.
    pub(crate) const fn is_shared_load(&self) -> bool {
        !self.keeps_connections && self.share.count > 1
    }

    fn new(config: &LoadConfig) -> Self {
        let timeout_ns = nanoseconds(config.timeout);
        // Parts of a visit have histograms of one kind.
        let load_ns = config.stop.length().and_then(|window| {
            nanoseconds(window.saturating_add(config.warmup))
                .checked_next_multiple_of(1_000_000_000)
        });
        let highest_ns = match config.model {
            LoadModel::Closed => timeout_ns,
            LoadModel::Think { .. } | LoadModel::Rate { .. } => {
                timeout_ns.saturating_add(load_ns.unwrap_or(LONGEST_NS))
            }
        };
        let mut histograms = Histograms::new(&config.model, highest_ns);
        (histograms.names, histograms.keeps_slow) = (set::names(config).len(), config.stalls);
        let sampling = match config.model {
            LoadModel::Closed | LoadModel::Think { .. } => None,
            LoadModel::Rate { latency_from, .. } => Some(latency_from),
        };
        Self {
            timeout_ns,
            depth: config.pipeline,
            requests_per_connection: config.requests_per_connection.unwrap_or(u64::MAX),
            on_closed: config.on_closed,
            count_per_connection: match config.stop {
                Stop::RequestsPerConnection(count) => Some(count),
                Stop::After(_) | Stop::Requests(_) => None,
            },
            one_request_each: config.requests_per_connection == Some(1),
            round_trip_ns: 0,
            histograms,
            names: set::numbers(config),
            sampling,
            spin_ns: match (config.waiting, &config.model) {
                (Waiting::Spin, _) => u64::MAX,
                (Waiting::Sleep, LoadModel::Closed) => 0,
                (Waiting::Sleep, LoadModel::Think { .. } | LoadModel::Rate { .. }) => SPIN_NS,
            },
            is_whole: false,
            segment_ns: Some(nanoseconds(config.interval).min(PIECE_NS)),
            keeps_connections: false,
            model: config.model.clone(),
            parts: rates::parts(config),
            threads: config.threads,
            seed: config.seed,
            share: config.share,
        }
    }

    /// By which rule the requests of this thread become due.
    pub(crate) fn rule(&self, thread: usize) -> Rule {
        match &self.model {
            LoadModel::Closed => Rule::Closed,
            LoadModel::Think { delay } => Rule::Think { delay_ns: nanoseconds(*delay) },
            LoadModel::Rate { arrivals, latency_from, .. } => {
                let threads = self.place_of(thread);
                let parts = self.parts.clone();
                let schedule = Schedule::new(parts, *arrivals, *latency_from, threads, self.seed);
                Rule::Schedule(schedule)
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum CodecKind {
    /// HTTP/1.1.
    Http1(Http1),
    /// Bytes that come back.
    Echo(Echo),
}

/// A load that can be carried out.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The engine, and why it is not the preferred one, if it is not.
    pub(crate) chosen: Chosen,
    pub(crate) codec: CodecKind,
    pub(crate) shares: Vec<Share>,
    pub(crate) params: ThreadParams,
    /// Length of the reported intervals; absent if none are.
    pub(crate) interval_ns: Option<u64>,
    /// The parts in which the window is reported, where its rate changes.
    pub(crate) steps: Vec<RateStep>,
    pub(crate) warmup_ns: u64,
    /// Length of the window, when it is a time that ends it.
    pub(crate) window_ns: Option<u64>,
    /// Requests that were sent before the load.
    pub(crate) requests_before: u64,
    /// What their replies were.
    pub(crate) sample_replies: Vec<SampleReply>,
    /// Of the files that requests send.
    pub(crate) files_digest: Option<String>,
}

impl Plan {
    /// Computes each thread's share of a configuration that has been checked.
    pub(crate) fn new(config: &LoadConfig) -> Result<Self, LoadError> {
        let mut files = file::FilesDigest::default();
        let codec = match config.target.protocol() {
            Protocol::Http1 => CodecKind::Http1(set::http1(config, &mut files)?),
            Protocol::Echo => CodecKind::Echo(Echo::new(config.payload_bytes, config.seed)),
        };
        Ok(Self {
            chosen: choose(config.engine, wirebench_uring::probe)?,
            codec,
            shares: shares(config),
            params: ThreadParams::new(config),
            interval_ns: Some(nanoseconds(config.interval)),
            steps: RateStep::of(config),
            warmup_ns: nanoseconds(config.warmup),
            window_ns: config.stop.length().map(nanoseconds),
            requests_before: 0,
            sample_replies: Vec::new(),
            files_digest: files.hexadecimal(),
        })
    }

    /// The same connections, for a part of a visit. One in segments is observed, and its rate may change.
    pub(crate) fn renew(&mut self, config: &LoadConfig, in_segments: bool) {
        let ThreadParams { round_trip_ns, one_request_each, .. } = self.params;
        let params = ThreadParams::new(config);
        self.shares = shares(config);
        self.params = ThreadParams {
            round_trip_ns,
            // A thread that ends by its own count must not keep a server from the connections of the others.
            keeps_connections: config.stop.length().is_some(),
            one_request_each,
            is_whole: true,
            segment_ns: params.segment_ns.filter(|_| in_segments),
            ..params
        };
        self.interval_ns = in_segments.then_some(nanoseconds(config.interval));
        self.steps = if in_segments { RateStep::of(config) } else { Vec::new() };
        self.warmup_ns = nanoseconds(config.warmup);
        self.window_ns = config.stop.length().map(nanoseconds);
    }
}

impl CodecKind {
    /// Length of a reply, as far as it is known.
    pub(crate) fn reply_bytes(&self) -> usize {
        match self {
            Self::Http1(codec) => codec.reply_bytes_hint(),
            Self::Echo(codec) => codec.reply_bytes_hint(),
        }
    }
}

#[cfg(test)]
mod tests;
