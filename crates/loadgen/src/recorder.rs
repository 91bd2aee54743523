//! Counts and measures one thread. Single writer, fixed memory, nothing shared, nothing merged
//! during the load.
//!
//! The load is divided into segments. A finished segment goes to the collector on another thread,
//! and returns empty for reuse. If none has returned, the segment continues: it becomes longer than
//! the others, and nothing is allocated or lost.
//!
//! The recorder reads no clock.

mod traffic;

use crate::{
    codec::{Check, Reply, RequestId},
    connection::Stamp,
    plan::ThreadParams,
    segment::{Named, Segment},
};
use std::{mem, sync::Arc};
use wirebench_schema::load::{LatencyOrigin, Phase};

/// From this on, the times by which a thread came too late are added up. Shorter ones are its own
/// work between two waits. With thousands of connections that may take as long, and then requests are
/// sent late anyway.
const COUNTED_STALL_NS: u64 = 1_000_000;

/// Segments of each thread: one that is written, one that is collected, one between the two.
const SEGMENTS: usize = 3;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    /// Failures to connect and times of connecting; the load has not begun.
    Connecting,
    Everything,
    /// The window is over: only results of requests that were due in it count.
    Draining,
    /// Nothing counts any more.
    Nothing,
}

/// The counts and measurements of one thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    scope: Scope,
    current: Segment,
    /// None if a segment is as long as its phase.
    segment_ns: Option<u64>,
    segment_end_ns: u64,
    full: Vec<Segment>,
    spare: Vec<Segment>,
    sampling: Option<LatencyOrigin>,
    /// Requests that were due before are no samples by due.
    sample_from_ns: u64,
    /// The number of the name of each request; empty where all have the same.
    names: Arc<[u16]>,
}

/// Why a request has no reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unanswered {
    Failed,
    /// It is waited for no longer.
    InFlight,
}

impl Recorder {
    /// Counts as the parameters of the thread say.
    pub(crate) fn new(params: &ThreadParams) -> Self {
        // Where none comes back during the load, each edge takes one.
        let segments = SEGMENTS + usize::from(params.segment_ns.is_none());
        let spare = (0..segments).map(|_| Segment::new(params.histograms)).collect();
        Self::of(params, spare, Vec::with_capacity(SEGMENTS + 2))
    }

    fn of(params: &ThreadParams, mut spare: Vec<Segment>, full: Vec<Segment>) -> Self {
        Self {
            scope: Scope::Connecting,
            current: spare.pop().unwrap_or_else(|| Segment::new(params.histograms)),
            segment_ns: params.segment_ns,
            segment_end_ns: u64::MAX,
            full,
            spare,
            sampling: params.sampling,
            sample_from_ns: 0,
            names: Arc::clone(&params.names),
        }
    }

    /// Begins again with nothing, in the memory that it has if histograms of this kind fit into it.
    pub(crate) fn renew(&mut self, params: &ThreadParams) {
        let (mut spare, mut full) = (mem::take(&mut self.spare), mem::take(&mut self.full));
        spare.retain(|it| it.histograms() == params.histograms);
        spare.truncate(SEGMENTS + 1);
        full.clear();
        *self = Self::of(params, spare, full);
    }

    #[inline]
    fn named(&mut self, RequestId(request): RequestId) -> Option<&mut Named> {
        let name = *self.names.get(request as usize)?;
        self.current.by_name.get_mut(usize::from(name))
    }

    /// All connections are made; the warm-up begins.
    pub(crate) fn begin_warmup(&mut self, now_ns: u64) {
        self.cut(now_ns, Phase::Warmup);
        self.scope = Scope::Everything;
    }

    pub(crate) fn open_window(&mut self, now_ns: u64) {
        self.cut(now_ns, Phase::Window);
        self.sample_from_ns = now_ns;
    }

    /// The window has ended. Later events belong to requests that were due in it.
    pub(crate) fn close_window(&mut self, now_ns: u64) {
        self.cut(now_ns, Phase::Window);
        self.scope = match (self.scope, self.sampling) {
            (Scope::Everything, Some(LatencyOrigin::Due)) => Scope::Draining,
            _ => Scope::Nothing,
        };
        self.segment_end_ns = u64::MAX;
    }

    /// The load is over, or will never begin: the present segment ends here whatever it is.
    pub(crate) fn finish(&mut self) {
        if self.scope != Scope::Nothing {
            self.cut(self.current.start_ns, Phase::Window);
            self.scope = Scope::Nothing;
        }
    }

    /// Segments that are over, oldest first.
    pub(crate) fn take_full(&mut self) -> std::vec::Drain<'_, Segment> {
        self.full.drain(..)
    }

    /// Whether there are segments to take during the load, or empty ones are needed.
    pub(crate) const fn wants_exchange(&self) -> bool {
        self.segment_ns.is_some() && (!self.full.is_empty() || self.spare.is_empty())
    }

    /// An empty segment to use again.
    pub(crate) fn give_spare(&mut self, segment: Segment) {
        self.spare.push(segment);
    }

    pub(crate) const fn segment_ends_at(&self) -> u64 {
        self.segment_end_ns
    }

    /// A turn has found this many replies out of those that were possible.
    pub(crate) fn found(&mut self, replies: usize, possible: usize) {
        if replies > 0 && self.scope == Scope::Everything {
            self.current.counts.ready_found += replies as u64;
            self.current.counts.ready_possible += possible as u64;
        }
    }

    /// A thread came so much later than it should have.
    #[inline]
    pub(crate) fn stalled(&mut self, late_ns: u64) {
        if self.scope != Scope::Everything {
            return;
        }
        let counts = &mut self.current.counts;
        counts.stall_ns_max = counts.stall_ns_max.max(late_ns);
        if late_ns >= COUNTED_STALL_NS {
            counts.stall_ns_total += late_ns;
        }
    }

    #[inline]
    pub(crate) fn pass(&mut self, now_ns: u64) {
        if now_ns >= self.segment_end_ns {
            self.roll(now_ns);
        }
    }

    pub(crate) fn reply(&mut self, reply: Reply, stamp: Stamp, now_ns: u64) {
        match self.scope {
            Scope::Everything => {
                self.pass(now_ns);
                if let Some(named) = self.named(stamp.request) {
                    named.requests += 1;
                }
                self.current.counts.requests += 1;
                self.current.counts.checks_slow += u64::from(reply.check == Check::Slow);
            }
            Scope::Draining => {}
            Scope::Connecting | Scope::Nothing => return,
        }
        let from_ns = self.counts_from(stamp);
        if self.is_sample(stamp)
            && let Some(named) = self.named(stamp.request)
        {
            named.latency.reply(now_ns.saturating_sub(from_ns));
        }
        let segment = &mut self.current;
        let service_ns = now_ns.saturating_sub(stamp.begun_ns);
        match &mut segment.schedule {
            _ if !is_due(self.sampling, self.sample_from_ns, stamp) => {}
            _ if !stamp.is_sample => segment.counts.heavy_replies += 1,
            None => segment.reply(stamp.begun_ns, service_ns),
            Some(schedule) => {
                schedule.service.reply(service_ns);
                schedule.lag.saturating_record(stamp.begun_ns.saturating_sub(stamp.due_ns));
                segment.reply(from_ns, now_ns.saturating_sub(from_ns));
            }
        }
    }

    /// A reply was one of the first of its connection. From then on the connection has always waited for another one.
    pub(crate) fn began(&mut self, stamp: Stamp, now_ns: u64) {
        if self.scope == Scope::Everything {
            self.current.counts.first_replies += 1;
            self.current.counts.first_latency_ns += now_ns.saturating_sub(stamp.begun_ns);
        }
    }

    /// An HTTP reply had this status, after `interim_replies` interim ones.
    pub(crate) fn status(&mut self, status: u16, interim_replies: u32) {
        if self.scope == Scope::Everything {
            self.current.counts.status_classes[0] += u64::from(interim_replies);
            // The parser lets three digits pass.
            let counts = &mut self.current.counts;
            let class = counts.status_classes.get_mut(usize::from(status / 100).wrapping_sub(1));
            *class.unwrap_or(&mut counts.statuses_invalid) += 1;
        }
    }

    /// A complete reply was not correct, of this place in `REFUSALS`. Its latency is known, but is none of a correct
    /// reply.
    pub(crate) fn refusal(&mut self, class: usize, stamp: Stamp, now_ns: u64) {
        if self.is_sample(stamp) {
            let latency_ns = now_ns.saturating_sub(self.counts_from(stamp));
            if let Some(named) = self.named(stamp.request) {
                named.errors += 1;
            }
            self.current.refusals(class).reply(latency_ns);
            if let Some(schedule) = &mut self.current.schedule {
                schedule.lag.saturating_record(stamp.begun_ns.saturating_sub(stamp.due_ns));
            }
        }
    }

    /// A request has timed out or failed, or is in flight when its reply is waited for no longer. How much
    /// longer than until now it would have taken is unknown.
    pub(crate) fn unanswered(&mut self, why: Unanswered, stamp: Stamp, now_ns: u64) {
        if self.is_sample(stamp) {
            let age_ns = now_ns.saturating_sub(self.counts_from(stamp));
            if let Some(named) = self.named(stamp.request) {
                named.errors += u64::from(why == Unanswered::Failed);
                named.latency.unanswered(age_ns, 1);
            }
            self.current.latency.unanswered(age_ns, 1);
            if let Some(schedule) = &mut self.current.schedule {
                schedule.service.unanswered(now_ns.saturating_sub(stamp.begun_ns), 1);
            }
        }
    }

    /// This many requests of the schedule could not be sent before the window ended, this long after
    /// they were due.
    pub(crate) fn unsent(&mut self, age_ns: u64, count: u64) {
        if matches!(self.scope, Scope::Everything | Scope::Draining) {
            self.current.latency.unanswered(age_ns, count);
        }
    }

    /// `due` requests were due in the window, and `unsent` of them could not be sent. These many waited at its
    /// beginning, in its middle and at its end.
    pub(crate) fn offered(&mut self, due: u64, unsent: u64, waiting: [u64; 3]) {
        self.current.counts.due += due;
        self.current.counts.unsent += unsent;
        self.current.counts.waiting = waiting;
    }

    /// Whether a request is a sample of the latency.
    fn is_sample(&self, stamp: Stamp) -> bool {
        matches!(self.scope, Scope::Everything | Scope::Draining)
            && stamp.is_sample
            && is_due(self.sampling, self.sample_from_ns, stamp)
    }

    /// The moment from which its latency counts.
    const fn counts_from(&self, stamp: Stamp) -> u64 {
        match self.sampling {
            Some(LatencyOrigin::Sent) => stamp.begun_ns,
            None | Some(LatencyOrigin::Due) => stamp.due_ns,
        }
    }

    /// Ends the segment if there is another one to go on with, and the next one where the clock is.
    #[cold]
    fn roll(&mut self, now_ns: u64) {
        let Some(segment_ns) = self.segment_ns else { return };
        let over_ns = now_ns - self.segment_end_ns;
        let end_ns = self.segment_end_ns + over_ns / segment_ns * segment_ns;
        match self.spare.pop() {
            Some(spare) => self.hand_over(end_ns, self.current.phase, spare),
            None => self.segment_end_ns = end_ns + segment_ns,
        }
    }

    /// Ends the segment here, and begins one of this phase. The edge of a phase does not wait for a
    /// spare segment.
    fn cut(&mut self, now_ns: u64, phase: Phase) {
        if self.scope == Scope::Nothing {
            return;
        }
        let histograms = self.current.histograms();
        let spare = self.spare.pop().unwrap_or_else(|| Segment::new(histograms));
        self.hand_over(now_ns, Some(phase), spare);
    }

    fn hand_over(&mut self, now_ns: u64, phase: Option<Phase>, spare: Segment) {
        let mut full = mem::replace(&mut self.current, spare);
        full.end_ns = now_ns;
        let replies = &full.latency.replies;
        self.current.slow.follow(&full.slow, replies.len(), |it| replies.value_at_quantile(it));
        self.full.push(full);
        self.current.phase = phase;
        self.current.start_ns = now_ns;
        self.segment_end_ns = now_ns.saturating_add(self.segment_ns.unwrap_or(u64::MAX));
    }
}

/// Whether a request belongs to the window.
const fn is_due(sampling: Option<LatencyOrigin>, sample_from_ns: u64, stamp: Stamp) -> bool {
    match sampling {
        None | Some(LatencyOrigin::Sent) => true,
        Some(LatencyOrigin::Due) => stamp.due_ns >= sample_from_ns,
    }
}

#[cfg(test)]
mod tests;
