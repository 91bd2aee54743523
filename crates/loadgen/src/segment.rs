//! A part of one thread's load, with all its counts and measurements.

use hdrhistogram::Histogram;
use wirebench_schema::load::{ErrorCounts, ErrorKind, LoadModel, Phase, Samples};

use crate::{codec::RequestId, failure::Failure, stalls::SlowLog};

/// Significant decimal digits of a latency.
const DIGITS: u8 = 3;

/// Significant decimal digits of the time that connecting takes.
const CONNECT_DIGITS: u8 = 2;

/// Significant decimal digits of the latencies of a name or a step, of which there may be many.
const COARSE_DIGITS: u8 = 2;

/// The classes of complete replies that are not correct, by their names in reports: with another status than a correct
/// one, and with another body.
pub(crate) const REFUSALS: [&str; 6] = ["2xx", "3xx", "4xx", "5xx", "invalid", "wrong-body"];
pub(crate) const WRONG_BODY: usize = 5;

/// The place of a status in them.
pub(crate) const fn refusal(status: u16) -> usize {
    match status / 100 {
        2..=5 => (status / 100 - 2) as usize,
        _ => 4,
    }
}

/// Which histograms a load needs. All of one load are alike, so that they can be added up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Histograms {
    highest_ns: u64,
    has_schedule: bool,
    /// The names that have figures of their own.
    pub(crate) names: usize,
    /// Whether the slowest requests are kept one by one.
    pub(crate) keeps_slow: bool,
}

impl Histograms {
    /// Those of this model, where no latency is above `highest_ns`.
    pub(crate) const fn new(model: &LoadModel, highest_ns: u64) -> Self {
        let has_schedule = !matches!(model, LoadModel::Closed);
        Self {
            highest_ns: if highest_ns < 2 { 2 } else { highest_ns },
            has_schedule,
            names: 0,
            keeps_slow: false,
        }
    }

    pub(crate) fn latency(self) -> Samples {
        Samples::new(self.make(DIGITS))
    }

    /// Two significant digits, for distributions of which there may be many.
    pub(crate) fn coarse_latency(self) -> Samples {
        Samples::new(self.make(COARSE_DIGITS))
    }

    fn make(self, digits: u8) -> Histogram<u64> {
        // These digits and a highest value of at least twice the lowest are always accepted.
        #[allow(clippy::expect_used, reason = "the bounds are right by construction")]
        Histogram::new_with_bounds(1, self.highest_ns, digits).expect("bounds of a histogram")
    }
}

/// Measurements in addition to the latency if requests have due times.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleTimes {
    /// From sending on, in nanoseconds.
    pub(crate) service: Samples,
    /// From due to sent, in nanoseconds.
    pub(crate) lag: Histogram<u64>,
}

/// The figures of the requests of one name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// Correct replies.
    pub(crate) requests: u64,
    /// Requests that failed or were refused.
    pub(crate) errors: u64,
    pub(crate) latency: Samples,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    /// Number of those that the parser has read.
    pub(crate) checks_slow: u64,
    /// Correct replies that would be samples, were their connections not heavy.
    pub(crate) heavy_replies: u64,
    pub(crate) due: u64,
    /// Number of those that could not be sent.
    pub(crate) unsent: u64,
    /// Requests that waited at the beginning, in the middle and at the end of the window.
    pub(crate) waiting: [u64; 3],
    /// Replies that were the first of their connection, one for each request in flight, and the sum of their latencies.
    pub(crate) first_replies: u64,
    pub(crate) first_latency_ns: u64,
    /// Bytes received.
    pub(crate) bytes_received: u64,
    /// Bytes sent.
    pub(crate) bytes_sent: u64,
    pub(crate) errors: ErrorCounts,
    /// The first failure of each kind, and the request that failed.
    pub(crate) examples: [Option<(Failure, Option<RequestId>)>; ErrorKind::ALL.len()],
    /// HTTP replies by class of status.
    pub(crate) status_classes: [u64; 5],
    /// HTTP replies whose status is of no class.
    pub(crate) statuses_invalid: u64,
    /// Connections made again after a failure.
    pub(crate) reconnects: u64,
    /// Connections that the client closed because they had carried all that they should.
    pub(crate) client_closes: u64,
    /// Connections that the server closed between two requests.
    pub(crate) server_closes: u64,
    /// Requests that were sent again, because the server had closed their connection.
    pub(crate) retried: u64,
    /// Sum over all turns that found something of how many replies were ready.
    pub(crate) ready_found: u64,
    /// The same sum, had every turn found as many as it could.
    pub(crate) ready_possible: u64,
    /// The longest time by which the thread came too late.
    pub(crate) stall_ns_max: u64,
    /// The sum of those times that are long enough to be added up.
    pub(crate) stall_ns_total: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.checks_slow += other.checks_slow;
        self.heavy_replies += other.heavy_replies;
        self.due += other.due;
        self.unsent += other.unsent;
        for (sum, part) in self.waiting.iter_mut().zip(other.waiting) {
            *sum += part;
        }
        self.first_replies += other.first_replies;
        self.first_latency_ns += other.first_latency_ns;
        self.bytes_received += other.bytes_received;
        self.bytes_sent += other.bytes_sent;
        self.errors.add(&other.errors);
        for (sum, part) in self.examples.iter_mut().zip(&other.examples) {
            if sum.is_none() {
                sum.clone_from(part);
            }
        }
        for (sum, part) in self.status_classes.iter_mut().zip(other.status_classes) {
            *sum += part;
        }
        self.statuses_invalid += other.statuses_invalid;
        self.reconnects += other.reconnects;
        self.client_closes += other.client_closes;
        self.server_closes += other.server_closes;
        self.retried += other.retried;
        self.ready_found += other.ready_found;
        self.ready_possible += other.ready_possible;
        self.stall_ns_max = self.stall_ns_max.max(other.stall_ns_max);
        self.stall_ns_total += other.stall_ns_total;
    }
}

/// A part of one thread's load.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    histograms: Histograms,
    /// Its phase; none before the load begins.
    pub(crate) phase: Option<Phase>,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// Latencies since a request was due; in a closed loop, since it was begun.
    pub(crate) latency: Samples,
    /// Latencies of replies that are not correct, in the order of [`REFUSALS`]; absent until the first.
    pub(crate) refusals: [Option<Box<Samples>>; REFUSALS.len()],
    pub(crate) schedule: Option<Box<ScheduleTimes>>,
    /// By the number of a name; empty where all requests have the same.
    pub(crate) by_name: Vec<Named>,
    pub(crate) slow: SlowLog,
    /// Time to make connections, in nanoseconds.
    pub(crate) connect: Histogram<u64>,
    pub(crate) counts: Counts,
}

impl Segment {
    /// An empty one.
    pub(crate) fn new(histograms: Histograms) -> Self {
        let schedule = histograms.has_schedule.then(|| {
            Box::new(ScheduleTimes { service: histograms.latency(), lag: histograms.make(DIGITS) })
        });
        let named = || Named { requests: 0, errors: 0, latency: histograms.coarse_latency() };
        Self {
            by_name: (0..histograms.names).map(|_| named()).collect(),
            histograms,
            phase: None,
            start_ns: 0,
            end_ns: 0,
            latency: histograms.latency(),
            refusals: Default::default(),
            schedule,
            slow: SlowLog::new(histograms.keeps_slow),
            connect: histograms.make(CONNECT_DIGITS),
            counts: Counts::default(),
        }
    }

    /// A sample of the latency, from this moment on.
    #[inline]
    pub(crate) fn reply(&mut self, from_ns: u64, latency_ns: u64) {
        self.latency.reply(latency_ns);
        self.slow.reply(from_ns, latency_ns);
    }

    pub(crate) const fn histograms(&self) -> Histograms {
        self.histograms
    }

    /// The latencies of replies with an error status of this class.
    pub(crate) fn refusals(&mut self, place: usize) -> &mut Samples {
        let histograms = self.histograms;
        self.refusals[place].get_or_insert_with(|| Box::new(histograms.latency()))
    }

    /// The part of this count of the segment that belongs to this time, as if it were spread evenly: the parts of
    /// a segment that has a length lose none of it.
    pub(crate) fn part(&self, count: u64, from_ns: u64, to_ns: u64) -> u64 {
        let length = u128::from(self.end_ns - self.start_ns);
        let before = |moment_ns: u64| {
            let passed = u128::from(moment_ns - self.start_ns);
            u64::try_from(u128::from(count) * passed / length).unwrap_or(count)
        };
        before(to_ns) - before(from_ns)
    }

    /// Adds another one, which comes behind this one in time or from another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        // All histograms of a load have the same bounds, so none of them is too wide for the sum.
        self.latency.add(&other.latency);
        for (place, part) in other.refusals.iter().enumerate() {
            if let Some(part) = part.as_ref().filter(|part| !part.replies.is_empty()) {
                self.refusals(place).add(part);
            }
        }
        self.slow.add(&other.slow);
        let _ = self.connect.add(&other.connect);
        if let (Some(sum), Some(part)) = (&mut self.schedule, &other.schedule) {
            sum.service.add(&part.service);
            let _ = sum.lag.add(&part.lag);
        }
        for (sum, part) in self.by_name.iter_mut().zip(&other.by_name) {
            sum.requests += part.requests;
            sum.errors += part.errors;
            sum.latency.add(&part.latency);
        }
        self.counts.add(&other.counts);
    }

    /// Adds only the counts of connections being made.
    pub(crate) fn add_connects(&mut self, other: &Self) {
        let _ = self.connect.add(&other.connect);
        self.counts.reconnects += other.counts.reconnects;
    }

    /// Empties it without giving its memory back.
    pub(crate) fn clear(&mut self) {
        self.phase = None;
        self.latency.clear();
        self.refusals.iter_mut().flatten().for_each(|part| part.clear());
        self.slow.clear();
        self.connect.reset();
        if let Some(times) = &mut self.schedule {
            times.service.clear();
            times.lag.reset();
        }
        for named in &mut self.by_name {
            (named.requests, named.errors) = (0, 0);
            named.latency.clear();
        }
        self.counts = Counts::default();
    }
}
