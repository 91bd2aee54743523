//! What one thread counts and measures. Single writer, fixed memory, nothing shared, nothing merged
//! while it runs.
//!
//! The load is cut into slices. A slice that is over is handed to whoever collects them, on another
//! thread, and comes back empty to be used again. Where none has come back, the slice goes on: then
//! it is longer than the others, and nothing is allocated or lost.
//!
//! The recorder reads no clock.

use crate::{
    codec::{Check, Reply},
    connection::Stamp,
    failure::Failure,
    slice::{Histograms, Slice},
};
use wirebench_schema::load::Phase;

/// Length of a slice.
pub(crate) const SLICE_NS: u64 = 100_000_000;

/// Slices of each thread: one that is written, one that is collected, one between the two.
const SLICES: usize = 3;

/// What is counted at the moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    /// Failures to connect and times of connecting; the load has not begun.
    Connecting,
    /// Everything.
    Everything,
    /// The window is over: only what becomes of the requests that were due in it.
    Draining,
    /// Nothing any more.
    Nothing,
}

/// Which requests are samples of the window's latency.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sampling {
    /// Those whose reply arrives in it.
    Replies,
    /// The same, counted from the sending although there is a moment at which each was due.
    RepliesFromSending,
    /// Those that were due in it, whenever their reply arrives.
    Due,
}

/// The counts and measurements of one thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    scope: Scope,
    current: Slice,
    slice_end_ns: u64,
    full: Vec<Slice>,
    spare: Vec<Slice>,
    timeout_ns: u64,
    sampling: Sampling,
    /// Requests that were due before are no samples by due.
    sample_from_ns: u64,
}

impl Recorder {
    /// Counts into histograms of this kind.
    pub(crate) fn new(histograms: Histograms, timeout_ns: u64, sampling: Sampling) -> Self {
        let spare = (1..SLICES).map(|_| Slice::new(histograms)).collect();
        Self {
            scope: Scope::Connecting,
            current: Slice::new(histograms),
            slice_end_ns: u64::MAX,
            full: Vec::with_capacity(SLICES + 2),
            spare,
            timeout_ns,
            sampling,
            sample_from_ns: 0,
        }
    }

    /// All connections are made; the warm-up begins.
    pub(crate) fn begin_warmup(&mut self, now_ns: u64) {
        self.cut(now_ns, Phase::Warmup);
        self.scope = Scope::Everything;
    }

    /// The window begins.
    pub(crate) fn open_window(&mut self, now_ns: u64) {
        self.cut(now_ns, Phase::Window);
        self.sample_from_ns = now_ns;
    }

    /// The window has ended. What is still told belongs to requests that were due in it.
    pub(crate) fn close_window(&mut self, now_ns: u64) {
        self.cut(now_ns, Phase::Window);
        self.scope = match (self.scope, self.sampling) {
            (Scope::Everything, Sampling::Due) => Scope::Draining,
            _ => Scope::Nothing,
        };
        self.slice_end_ns = u64::MAX;
    }

    /// The load is over, or will never begin: the present slice ends here whatever it is.
    pub(crate) fn finish(&mut self) {
        if self.scope != Scope::Nothing {
            self.cut(self.current.start_ns, Phase::Window);
            self.scope = Scope::Nothing;
        }
    }

    /// Slices that are over, oldest first.
    pub(crate) fn take_full(&mut self) -> std::vec::Drain<'_, Slice> {
        self.full.drain(..)
    }

    /// Whether there are slices to take, or empty ones are needed.
    pub(crate) const fn wants_exchange(&self) -> bool {
        !self.full.is_empty() || self.spare.is_empty()
    }

    /// An empty slice to use again.
    pub(crate) fn give_spare(&mut self, slice: Slice) {
        self.spare.push(slice);
    }

    /// When the present slice is over.
    pub(crate) const fn slice_ends_at(&self) -> u64 {
        self.slice_end_ns
    }

    /// A wait has found `ready` connections of `possible` with something to do.
    pub(crate) fn found(&mut self, ready: usize, possible: usize) {
        if ready > 0 {
            self.current.counts.ready_found += ready as u64;
            self.current.counts.ready_possible += possible as u64;
        }
    }

    /// A thread came so much later than it should have.
    pub(crate) fn stalled(&mut self, late_ns: u64) {
        self.current.counts.stall_ns_max = self.current.counts.stall_ns_max.max(late_ns);
    }

    /// Time has passed.
    #[inline]
    pub(crate) fn pass(&mut self, now_ns: u64) {
        if now_ns >= self.slice_end_ns {
            self.roll(now_ns);
        }
    }

    /// A correct reply has arrived.
    pub(crate) fn reply(&mut self, reply: Reply, stamp: Stamp, now_ns: u64) {
        match self.scope {
            Scope::Everything => {
                self.pass(now_ns);
                self.current.counts.requests += 1;
                self.current.counts.checks_slow += u64::from(reply.check == Check::Slow);
            }
            Scope::Draining => {}
            Scope::Connecting | Scope::Nothing => return,
        }
        let slice = &mut self.current;
        let service_ns = now_ns.saturating_sub(stamp.begun_ns);
        match &mut slice.schedule {
            None => slice.latency.saturating_record(service_ns),
            Some(_) if !is_sample(self.sampling, self.sample_from_ns, stamp) => {}
            Some(schedule) => {
                let from_ns = match self.sampling {
                    Sampling::RepliesFromSending => stamp.begun_ns,
                    Sampling::Replies | Sampling::Due => stamp.due_ns,
                };
                slice.latency.saturating_record(now_ns.saturating_sub(from_ns));
                schedule.service.saturating_record(service_ns);
                schedule.lag.saturating_record(stamp.begun_ns.saturating_sub(stamp.due_ns));
            }
        }
    }

    /// An HTTP reply had this status, after so many interim ones.
    pub(crate) fn status(&mut self, status: u16, interim_replies: u32) {
        if self.scope == Scope::Everything {
            self.current.counts.status_classes[0] += u64::from(interim_replies);
            // The parser lets three digits pass; a class that does not exist is counted as the
            // nearest one.
            let class = usize::from(status / 100).clamp(1, 5);
            self.current.counts.status_classes[class - 1] += 1;
        }
    }

    /// A request has been in flight for the whole timeout; how much longer it would have taken is
    /// unknown.
    pub(crate) fn timed_out(&mut self, stamp: Stamp) {
        if matches!(self.scope, Scope::Everything | Scope::Draining)
            && is_sample(self.sampling, self.sample_from_ns, stamp)
        {
            let lag_ns = match self.sampling {
                Sampling::RepliesFromSending => 0,
                Sampling::Replies | Sampling::Due => stamp.begun_ns.saturating_sub(stamp.due_ns),
            };
            self.current.counts.censored += 1;
            self.current.latency.saturating_record(self.timeout_ns.saturating_add(lag_ns));
            if let Some(schedule) = &mut self.current.schedule {
                schedule.service.saturating_record(self.timeout_ns);
            }
        }
    }

    /// A request of the schedule could not be sent before the window ended, this long after it was
    /// due.
    pub(crate) fn owed(&mut self, age_ns: u64) {
        if self.scope == Scope::Everything {
            self.current.counts.censored += 1;
            self.current.latency.saturating_record(age_ns);
        }
    }

    /// So many requests were due in the window, and so many of them could not be sent.
    pub(crate) fn offered(&mut self, due: u64, owed: u64) {
        self.current.counts.due += due;
        self.current.counts.owed += owed;
    }

    /// Bytes have arrived.
    pub(crate) fn received(&mut self, bytes: usize) {
        if self.scope != Scope::Draining {
            self.current.counts.bytes_received += bytes as u64;
        }
    }

    /// Bytes have been handed to the kernel.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.current.counts.bytes_sent += bytes as u64;
    }

    /// Something has failed, and with it so many requests more than the one that the failure stands
    /// for.
    pub(crate) fn failed(&mut self, failure: Failure, lost: u64) {
        if self.scope == Scope::Nothing {
            return;
        }
        let (kind, count) = failure.count(&mut self.current.counts.errors);
        *count += 1;
        self.current.counts.errors.lost += lost;
        self.current.counts.examples[kind].get_or_insert(failure);
    }

    /// A connection stands, after so long.
    pub(crate) fn connected(&mut self, took_ns: u64) {
        self.current.connect.saturating_record(took_ns);
    }

    /// A connection was made again after a failure.
    pub(crate) fn reconnected(&mut self) {
        self.current.counts.reconnects += 1;
    }

    /// The client has closed a connection because it had carried all that it should.
    pub(crate) fn client_closed(&mut self) {
        self.current.counts.client_closes += 1;
    }

    /// The server has closed a connection between two requests.
    pub(crate) fn server_closed(&mut self) {
        self.current.counts.server_closes += 1;
    }

    /// Ends the slice if there is another one to go on with, and the next one where the clock is.
    #[cold]
    fn roll(&mut self, now_ns: u64) {
        let over_ns = now_ns - self.slice_end_ns;
        let end_ns = self.slice_end_ns + over_ns / SLICE_NS * SLICE_NS;
        match self.spare.pop() {
            Some(spare) => self.hand_over(end_ns, self.current.phase, spare),
            None => self.slice_end_ns = end_ns + SLICE_NS,
        }
    }

    /// Ends the slice here, and begins one of this phase. The edge of a phase does not wait for a
    /// spare slice.
    fn cut(&mut self, now_ns: u64, phase: Phase) {
        if self.scope == Scope::Nothing {
            return;
        }
        let histograms = self.current.histograms();
        let spare = self.spare.pop().unwrap_or_else(|| Slice::new(histograms));
        self.hand_over(now_ns, Some(phase), spare);
    }

    fn hand_over(&mut self, now_ns: u64, phase: Option<Phase>, spare: Slice) {
        let mut full = std::mem::replace(&mut self.current, spare);
        full.end_ns = now_ns;
        self.full.push(full);
        self.current.phase = phase;
        self.current.start_ns = now_ns;
        self.slice_end_ns = now_ns.saturating_add(SLICE_NS);
    }
}

/// Whether a request is a sample of the latency.
const fn is_sample(sampling: Sampling, sample_from_ns: u64, stamp: Stamp) -> bool {
    match sampling {
        Sampling::Replies | Sampling::RepliesFromSending => true,
        Sampling::Due => stamp.due_ns >= sample_from_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Persistence;
    use wirebench_schema::load::LoadModel;

    const TIMEOUT_NS: u64 = 2_000_000_000;

    const REPLY: Reply = Reply {
        status: Some(200),
        interim_replies: 0,
        persistence: Persistence::Keep,
        check: Check::Slow,
    };

    fn recorder() -> Recorder {
        Recorder::new(
            Histograms::new(&LoadModel::Closed, TIMEOUT_NS),
            TIMEOUT_NS,
            Sampling::Replies,
        )
    }

    fn stamp(begun_ns: u64) -> Stamp {
        Stamp { due_ns: begun_ns, begun_ns }
    }

    fn of_window(recorder: &mut Recorder) -> Vec<Slice> {
        recorder.take_full().filter(|slice| slice.phase == Some(Phase::Window)).collect()
    }

    #[test]
    fn every_event_belongs_to_the_phase_in_which_it_happens() {
        let mut recorder = recorder();
        recorder.failed(Failure::Refused, 0);
        recorder.begin_warmup(1);
        recorder.reply(REPLY, stamp(0), 5);
        recorder.open_window(10);
        recorder.reply(REPLY, stamp(10), 15);
        recorder.received(9);
        recorder.sent(3);
        recorder.status(200, 1);
        recorder.close_window(20);
        recorder.reply(REPLY, stamp(20), 25);
        recorder.failed(Failure::Reset, 0);
        let slices: Vec<_> = recorder.take_full().collect();
        let phases: Vec<_> = slices.iter().map(|slice| slice.phase).collect();
        assert_eq!(phases, [None, Some(Phase::Warmup), Some(Phase::Window)]);
        assert_eq!((slices[0].counts.errors.refused, slices[1].counts.requests), (1, 1));
        let window = &slices[2];
        assert_eq!(
            (window.counts.requests, window.latency.len(), window.counts.errors.reset),
            (1, 1, 0)
        );
        assert_eq!((window.counts.bytes_received, window.counts.bytes_sent), (9, 3));
        assert_eq!(window.counts.status_classes, [1, 1, 0, 0, 0]);
        assert_eq!((window.start_ns, window.end_ns), (10, 20));
    }

    #[test]
    fn a_slice_ends_on_its_grid_and_goes_on_when_none_is_spare() {
        let mut recorder = recorder();
        recorder.begin_warmup(0);
        recorder.open_window(0);
        recorder.reply(REPLY, stamp(0), 1);
        recorder.reply(REPLY, stamp(0), 3 * SLICE_NS + 5);
        recorder.reply(REPLY, stamp(0), 4 * SLICE_NS + 5);
        recorder.close_window(5 * SLICE_NS + 1);
        let slices = of_window(&mut recorder);
        let parts: Vec<_> = slices
            .iter()
            .map(|slice| (slice.start_ns, slice.end_ns, slice.counts.requests))
            .collect();
        // Two slices were spare and the edges took both, so the window is one slice.
        assert_eq!(parts, [(0, 5 * SLICE_NS + 1, 3)]);
    }

    #[test]
    fn a_slice_that_comes_back_is_used_for_the_next() {
        let mut recorder = recorder();
        recorder.begin_warmup(0);
        recorder.open_window(0);
        for mut slice in recorder.take_full().collect::<Vec<_>>() {
            slice.clear();
            recorder.give_spare(slice);
        }
        recorder.reply(REPLY, stamp(0), 1);
        recorder.reply(REPLY, stamp(0), 3 * SLICE_NS + 5);
        recorder.close_window(4 * SLICE_NS);
        let slices = of_window(&mut recorder);
        let parts: Vec<_> = slices
            .iter()
            .map(|slice| (slice.start_ns, slice.end_ns, slice.counts.requests))
            .collect();
        assert_eq!(parts, [(0, 3 * SLICE_NS, 1), (3 * SLICE_NS, 4 * SLICE_NS, 1)]);
    }

    #[test]
    fn a_timeout_is_a_sample_at_the_timeout() {
        let mut recorder = recorder();
        recorder.begin_warmup(0);
        recorder.open_window(0);
        recorder.timed_out(stamp(3));
        recorder.close_window(9);
        let slices = of_window(&mut recorder);
        let slice = &slices[0];
        assert_eq!((slice.counts.censored, slice.latency.len(), slice.counts.requests), (1, 1, 0));
        assert!(slice.latency.equivalent(slice.latency.max(), TIMEOUT_NS));
    }

    #[test]
    fn the_first_failure_of_a_kind_is_its_example() {
        let mut recorder = recorder();
        recorder.failed(Failure::Surplus(1), 2);
        recorder.failed(Failure::Surplus(2), 0);
        recorder.begin_warmup(0);
        let slice = recorder.take_full().next().unwrap();
        assert_eq!((slice.counts.errors.surplus, slice.counts.errors.lost), (2, 2));
        assert_eq!(
            slice.counts.examples.iter().flatten().collect::<Vec<_>>(),
            [&Failure::Surplus(1)]
        );
    }
}
