//! Handles the passage of time: the edges of the window, overdue requests, waits that end.

use wirebench_schema::load::LatencyOrigin;

use super::{Phase, Session, Slot, events::is_overdue, rest::SILENCE_NS};
use crate::{
    codec::{Cancelled, Codec},
    director::Command,
    failure::Failure,
    outcome::Outcome,
    recorder::Unanswered,
};

/// The longest time between two looks for connections that must have been dropped.
const DROPPED_NS: u64 = 10_000_000;

/// A load with a count ends when no reply has come for this many timeouts: the server is gone.
const GIVE_UP_TIMEOUTS: u64 = 3;

impl<C: Codec> Session<C> {
    /// The load ends then at the latest.
    pub(crate) fn limit_end(&mut self, end_ns: u64) {
        if self.is_done() {
            return;
        }
        if end_ns < self.edges.window_end_ns && self.phase == Phase::Draining {
            self.hurry();
        } else if end_ns < self.edges.window_end_ns {
            self.edges.window_end_ns = end_ns;
            self.phase_end_ns = self.phase_end_ns.min(end_ns);
            self.attention_ns = 0;
        }
    }

    /// Replies that come after the window are not waited for, as if it had just ended.
    pub(crate) fn hurry(&mut self) {
        self.stop_waiting(self.edges.window_end_ns);
    }

    /// Replies that come after the window are not waited for any longer.
    pub(super) fn stop_waiting(&mut self, now_ns: u64) {
        if self.phase != Phase::Draining {
            return;
        }
        self.settle();
        if self.params.is_whole {
            self.recorder.finish();
            let is_closed = self.pacer.is_closed_loop();
            if let Some(ended) = &mut self.outcome {
                ended.in_flight = self.outstanding;
                ended.cpu_ns = (self.cpu_clock)().saturating_sub(self.cpu_start_ns);
                ended.window_end_ns =
                    ended.window_end_ns.map(|it| if is_closed { now_ns } else { it });
            }
        }
        self.finish();
    }

    pub(super) fn attend(&mut self, now_ns: u64) {
        self.cross_edges(now_ns);
        if self.phase == Phase::Over {
            return;
        }
        self.recorder.pass(now_ns);
        self.look_for_overdue(now_ns);
        if now_ns >= self.backlog.middle_ns {
            self.backlog.waiting[1] = self.waiting_at(self.backlog.middle_ns);
            self.backlog.middle_ns = u64::MAX;
        }
        while self.backoff.front().is_some_and(|(until_ns, _)| now_ns >= *until_ns) {
            self.to_connect.extend(self.backoff.pop_front().map(|(_, slot)| slot));
        }
        let backoff_ns = self.backoff.front().map_or(u64::MAX, |(until_ns, _)| *until_ns);
        self.attention_ns = self
            .phase_end_ns
            .min(self.scan.next_ns())
            .min(backoff_ns)
            .min(self.recorder.segment_ends_at())
            .min(self.backlog.middle_ns);
        if self.phase == Phase::Resting {
            self.attention_ns = self.pass_rest(now_ns).min(self.attention_ns);
        }
        if self.phase == Phase::Connecting {
            self.try_dropped_again(now_ns);
            self.attention_ns = self.attention_ns.min(now_ns + DROPPED_NS);
        }
    }

    /// Closes attempts that a full backlog must have dropped, so that they can be retried.
    fn try_dropped_again(&mut self, now_ns: u64) {
        while let Some(slot) = self.throttle.dropped(now_ns) {
            self.commands.push_back(Command::Close(slot));
        }
    }

    /// Looks for overdue requests. Idle connections have none once they are made.
    fn look_for_overdue(&mut self, now_ns: u64) {
        let count = match self.phase {
            Phase::Connecting => self.slots.len(),
            Phase::Warmup | Phase::Window | Phase::Draining | Phase::Resting | Phase::Over => {
                self.first_idle
            }
        };
        let Some(places) = self.scan.places(count, now_ns) else { return };
        for slot in places {
            let connection = &self.slots[slot].connection;
            let timeout_ns = self.params.timeout_ns;
            let overdue = connection
                .waiting_since()
                .is_some_and(|since_ns| is_overdue(since_ns, now_ns, timeout_ns));
            if !overdue {
                continue;
            }
            let is_asked = connection.in_flight() > 0;
            let failure = if is_asked { Failure::Timeout } else { Failure::ConnectTimeout };
            self.time_out(slot, failure, now_ns);
            if self.phase == Phase::Over {
                return;
            }
        }
        if self.phase == Phase::Connecting {
            self.give_up_connecting(now_ns);
        }
        if self.phase == Phase::Window && self.quota.is_some() {
            let since_ns = self.silent_since_ns.max(self.edges.window_start_ns);
            let silence_limit_ns = self.params.timeout_ns.saturating_mul(GIVE_UP_TIMEOUTS);
            if now_ns.saturating_sub(since_ns) >= silence_limit_ns {
                self.gave_up = true;
                self.end(Some(now_ns));
            }
        }
    }

    /// What is overdue on a connection has failed, and the connection with it, unless the others can go on.
    fn time_out(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        if self.expire_alone(slot, now_ns) {
            self.commands.push_back(Command::Send(slot));
        } else {
            self.fail(slot, failure, now_ns);
            self.commands.push_back(Command::Close(slot));
        }
    }

    /// Gives up the overdue requests of a connection on which other bytes have come meanwhile, where the protocol lets
    /// the others go on. Says whether it does.
    fn expire_alone(&mut self, slot: usize, now_ns: u64) -> bool {
        let timeout_ns = self.params.timeout_ns;
        if is_overdue(self.slots[slot].connection.heard_ns(), now_ns, timeout_ns) {
            return false;
        }
        loop {
            let Slot { connection, codec, .. } = &mut self.slots[slot];
            let Some(ticket) = connection.oldest() else { break };
            if !is_overdue(connection.stamp(ticket).begun_ns, now_ns, timeout_ns) {
                break;
            }
            if !connection.is_open()
                || self.codec.cancel(codec, ticket) == Cancelled::WithConnection
            {
                return false;
            }
            self.give_up(slot, ticket, Failure::Timeout, now_ns);
        }
        self.offer(slot, now_ns);
        true
    }

    /// If nothing has connected for a whole timeout, the remaining attempts would take as long,
    /// batch by batch. They are retried during the load.
    fn give_up_connecting(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.last_made_ns) >= self.params.timeout_ns {
            self.unsettled -= self.to_connect.len();
            self.to_connect.clear();
        }
    }

    /// The engine is at work at this moment.
    #[inline]
    pub(super) fn come(&mut self, now_ns: u64) {
        let late_ns = self.lateness.come(now_ns);
        if late_ns > 0 {
            self.recorder.stalled(late_ns);
        }
    }

    /// Changes the phase when its end has passed. Called with every event, so that each one meets
    /// its own phase.
    #[inline]
    pub(super) fn cross_edges(&mut self, now_ns: u64) {
        self.come(now_ns);
        if now_ns >= self.phase_end_ns {
            self.change_phase(now_ns);
        }
    }

    #[cold]
    fn change_phase(&mut self, now_ns: u64) {
        let edges = self.edges;
        match self.phase {
            Phase::Resting | Phase::Over => return,
            // Overdue requests have timed out; younger ones are not awaited.
            Phase::Draining => {
                let until_ns = self.drains_until();
                if now_ns < until_ns {
                    self.phase_end_ns = until_ns;
                    return;
                }
                self.expire(now_ns);
                return self.stop_waiting(now_ns);
            }
            Phase::Connecting | Phase::Warmup | Phase::Window => {}
        }
        if self.phase == Phase::Warmup && edges.window_start_ns < edges.window_end_ns {
            self.open_window(edges.window_start_ns);
        }
        if now_ns < edges.window_end_ns || self.is_done() {
            return;
        }
        if self.phase != Phase::Window {
            return self.end(None);
        }
        // Before the look at all connections, which takes a while.
        self.read_clock_at_end();
        // While replies are awaited, overdue requests are still looked for.
        if !self.drains() {
            self.expire(edges.window_end_ns);
        }
        if self.phase == Phase::Window {
            self.end(Some(edges.window_end_ns));
        }
    }

    fn open_window(&mut self, window_start_ns: u64) {
        self.phase = Phase::Window;
        self.phase_end_ns = self.edges.window_end_ns;
        self.cpu_start_ns = (self.cpu_clock)();
        self.recorder.open_window(window_start_ns);
        self.pacer.enter_window(window_start_ns, self.outstanding);
        if self.quota.is_none() {
            self.backlog.waiting[0] = self.waiting_at(window_start_ns);
            self.backlog.middle_ns = u64::midpoint(window_start_ns, self.edges.window_end_ns);
        }
        if let Some(count) = self.params.count_per_connection {
            for slot in &mut self.slots[..self.first_idle] {
                slot.left = count.saturating_sub(slot.connection.in_flight() as u64);
            }
        }
        self.end_requests(0, window_start_ns);
    }

    /// Number of requests that were due before this moment and have no answer yet.
    fn waiting_at(&self, moment_ns: u64) -> u64 {
        self.outstanding + self.pacer.overdue(moment_ns)
    }

    /// A request that is overdue at an edge has timed out before it, even if no scan has seen it
    /// yet.
    fn expire(&mut self, edge_ns: u64) {
        for slot in 0..self.slots.len() {
            let since_ns = self.slots[slot].connection.waiting_since();
            let timeout_ns = self.params.timeout_ns;
            let overdue =
                since_ns.is_some_and(|since_ns| is_overdue(since_ns, edge_ns, timeout_ns));
            if overdue && self.slots[slot].connection.in_flight() > 0 {
                self.time_out(slot, Failure::Timeout, edge_ns);
            }
            if self.is_done() {
                return;
            }
        }
    }

    /// The moment until which replies are awaited. A server with fewer threads than connections never answers some, so
    /// that a part that counts as a whole also ends when it has been silent for long enough.
    fn drains_until(&self) -> u64 {
        let until_ns = self.edges.window_end_ns.saturating_add(self.params.timeout_ns);
        let silent_ns =
            self.silent_since_ns.max(self.edges.window_end_ns).saturating_add(SILENCE_NS);
        if self.params.is_whole { until_ns.min(silent_ns) } else { until_ns }
    }

    /// True if replies are awaited that come after the window.
    fn drains(&self) -> bool {
        self.params.is_whole || self.params.sampling == Some(LatencyOrigin::Due)
    }

    /// Reads the clock of the thread, once.
    fn read_clock_at_end(&mut self) {
        self.cpu_end_ns.get_or_insert_with(self.cpu_clock);
    }

    pub(super) fn end(&mut self, window_end_ns: Option<u64>) {
        if window_end_ns.is_some() {
            self.read_clock_at_end();
        }
        let cpu_ns = self.cpu_end_ns.map_or(0, |end_ns| end_ns.saturating_sub(self.cpu_start_ns));
        let left = self.quota.map_or(0, |quota| quota.saturating_sub(self.ended_requests));
        let in_flight = self.outstanding;
        if let Some(end_ns) = window_end_ns.filter(|_| self.quota.is_none()) {
            self.backlog.waiting[2] = self.waiting_at(end_ns);
        }
        self.backlog.middle_ns = u64::MAX;
        self.outcome = Some(Outcome {
            window_end_ns,
            in_flight,
            cpu_ns,
            gave_up_requests: if self.gave_up { left.saturating_sub(in_flight) } else { 0 },
            ..Outcome::default()
        });
        self.finish();
        let Some(window_end_ns) = window_end_ns else { return };
        let waits = self.drains() && in_flight > 0;
        if !waits {
            self.settle();
        }
        if !(waits && self.params.is_whole) {
            self.recorder.close_window(window_end_ns);
        }
        if waits {
            self.phase = Phase::Draining;
            self.looks = false;
            self.to_drain = in_flight;
            self.phase_end_ns = self.drains_until();
            self.attention_ns = 0;
        }
    }

    /// Requests still in flight, and at a rate those not sent, are samples with their age at the
    /// end of the window. Scanning all connections takes time, so this happens when no reply is
    /// awaited any more.
    fn settle(&mut self) {
        let Some(ended) = &mut self.outcome else { return };
        let Some(window_end_ns) = ended.window_end_ns else { return };
        let middle_ns = u64::midpoint(self.edges.window_start_ns, window_end_ns);
        for slot in &self.slots[..self.first_idle] {
            let since_ns = slot.connection.waiting_since();
            let is_unanswered = since_ns.is_some_and(|since_ns| since_ns <= middle_ns);
            ended.unanswered_connections += u64::from(is_unanswered);
            for stamp in slot.connection.stamps() {
                self.recorder.unanswered(Unanswered::InFlight, stamp, window_end_ns);
            }
        }
        let (recorder, sampling) = (&mut self.recorder, self.params.sampling);
        let waiting = std::mem::take(&mut self.backlog.waiting);
        let mut unsent = 0;
        let sent = self.pacer.settle(window_end_ns, |due_ns, count| {
            if sampling == Some(LatencyOrigin::Due) {
                unsent += count;
                recorder.unsent(window_end_ns.saturating_sub(due_ns), count);
            }
        });
        if let Some(sent) = sent {
            recorder.offered(sent + unsent, unsent, waiting);
        }
    }
}
