//! The coordinating thread, which generates no load: it waits for the others to connect, sets the
//! common start of a window, reports its edges, collects segments, and forwards a request to stop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::Duration,
};
use wirebench_schema::load::LoadEvent;

use crate::{
    clock::Clock,
    collector::{Collected, Collector},
    outcome::Outcome,
    plan::Plan,
    segment::Segment,
    session::Edges,
    share::Share,
    stalls::SeenStalls,
    worker::{Limits, Note, Order},
};

/// Interval of the check whether to stop. Between edges the thread sleeps.
const LOOK_NS: u64 = 50_000_000;

/// The same during a window that is silent. One that is shorter is not disturbed at all.
const SILENT_LOOK_NS: u64 = 1_000_000_000;

/// Interval of the progress reports while connections are made.
const CONNECTING_NS: u64 = 500_000_000;

/// Lead of the common start, so that every thread receives it in time.
const START_DELAY_NS: u64 = 2_000_000;

/// Lead of the start of a part of a visit, for which the threads have just said that they are ready.
const PART_DELAY_NS: u64 = 100_000;

/// Lead of an early end, so that busy threads see it before it passes.
const STOP_DELAY_NS: u64 = 10_000_000;

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct LoadStatus {
    pub(crate) connections_made: usize,
    /// Start of the load and its window, if a start was set.
    pub(crate) edges: Option<Edges>,
    /// Whether it was stopped from outside.
    pub(crate) interrupted: bool,
    /// Whether a thread has ended before its time, so that there is no result.
    pub(crate) failed: bool,
}

/// The combined results of all threads.
#[derive(Debug)]
pub(crate) struct LoadOutcome {
    pub(crate) status: LoadStatus,
    /// The final outcome of each thread.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) collected: Collected,
    /// Where they were to be watched; an error says why they were not.
    pub(crate) stalls: Option<Result<SeenStalls, String>>,
}

impl LoadOutcome {
    /// The outcome of a load that ended before its start.
    pub(crate) fn nothing(plan: &Plan, status: LoadStatus) -> Self {
        let collector = Collector::new(plan.params.histograms, plan.interval_ns, 0);
        Self { status, outcomes: Vec::new(), collected: collector.finish().1, stalls: None }
    }
}

pub(crate) struct Outside<'a> {
    /// Set when the load has to stop.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) observe: &'a mut dyn FnMut(LoadEvent),
}

/// The coordinator's channels to the threads.
#[derive(Debug)]
pub(crate) struct Coordinator {
    pub(crate) clock: Clock,
    pub(crate) limits: Arc<Limits>,
    /// Reports from the threads.
    pub(crate) notes: Receiver<Note>,
    /// Orders to the threads.
    pub(crate) orders: Vec<Sender<Order>>,
    /// Empty segments back to the threads.
    pub(crate) spares: Vec<Sender<Segment>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NextEdge {
    WindowStart,
    WindowEnd,
    Nothing,
}

impl Coordinator {
    /// Waits until every thread has made its connections, as far as they can be made.
    pub(crate) fn wait_until_ready(&self, outside: &mut Outside<'_>) -> LoadStatus {
        let mut status = LoadStatus::default();
        let mut waiting = self.orders.len();
        let (mut settled, mut told, mut tell_ns) = (0, 0, self.clock.now_ns() + CONNECTING_NS);
        while waiting > 0 {
            self.heed_stop(outside, &mut status);
            let now_ns = self.clock.now_ns();
            if settled > told && now_ns >= tell_ns {
                (outside.observe)(LoadEvent::Connecting { settled });
                (told, tell_ns) = (settled, now_ns + CONNECTING_NS);
            }
            match self.next_note(LOOK_NS) {
                Some(Note::Ready { made }) => {
                    status.connections_made += made;
                    waiting -= 1;
                }
                Some(Note::Settled { more }) => settled += more,
                Some(Note::Gone) => {
                    status.failed = true;
                    return status;
                }
                Some(Note::Segment { .. } | Note::Done { .. }) | None => {}
            }
        }
        status
    }

    /// Has every thread make ready for a window of `plan` over the connections that it has.
    pub(crate) fn prepare(&self, plan: &Plan, outside: &mut Outside<'_>) -> LoadStatus {
        self.limits.lift();
        for (order, Share { quota, .. }) in self.orders.iter().zip(&plan.shares) {
            // A thread that is gone has noted so.
            let params = Box::new(plan.params.clone());
            let _ = order.send(Order::Prepare { params, quota: *quota });
        }
        self.wait_until_ready(outside)
    }

    /// One window of `plan`, for which all threads are ready.
    pub(crate) fn load(
        &self,
        plan: &Plan,
        status: LoadStatus,
        outside: &mut Outside<'_>,
    ) -> LoadOutcome {
        let edges = edges(plan, self.clock.now_ns());
        let status = LoadStatus { edges: Some(edges), ..status };
        let collector = Collector::new(plan.params.histograms, plan.interval_ns, self.orders.len());
        let mut collector = collector.with_steps(plan.steps.clone());
        collector.start(edges.start_ns, edges.window_start_ns);
        collector.keeps_samples = plan.params.is_shared_load();
        for order in &self.orders {
            let _ = order.send(Order::Start(edges));
        }
        let mut window =
            Window { coordinator: self, edges, status, outcomes: Vec::new(), collector, outside };
        match plan.interval_ns {
            Some(_) => window.watch(NextEdge::WindowStart, LOOK_NS),
            None => window.watch(NextEdge::Nothing, SILENT_LOOK_NS),
        }
        let Window { status, mut outcomes, collector, outside, .. } = window;
        outcomes.sort_by_key(|(thread, _)| *thread);
        let outcomes: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome)| *outcome).collect();
        let (last, collected) = collector.finish();
        last.into_iter().for_each(|interval| (outside.observe)(LoadEvent::Interval(interval)));
        LoadOutcome { status, outcomes, collected, stalls: None }
    }

    /// Ends all threads before the first window, and collects their records.
    pub(crate) fn give_up(&mut self, plan: &Plan, status: LoadStatus) -> LoadOutcome {
        let threads = self.orders.len();
        self.orders.clear();
        let mut collector = Collector::new(plan.params.histograms, plan.interval_ns, threads);
        let mut outcomes = Vec::new();
        while let Ok(note) = self.notes.recv() {
            if let Note::Done { thread, mut outcome } = note {
                outcome.rest.drain(..).for_each(|segment| collector.add(thread, &segment));
                outcomes.push(*outcome);
            }
        }
        LoadOutcome { status, outcomes, collected: collector.finish().1, stalls: None }
    }

    fn next_note(&self, wait_ns: u64) -> Option<Note> {
        match self.notes.recv_timeout(Duration::from_nanos(wait_ns)) {
            Ok(note) => Some(note),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Note::Gone),
        }
    }

    fn heed_stop(&self, outside: &Outside<'_>, status: &mut LoadStatus) {
        if outside.stop.load(Ordering::Relaxed) && !status.interrupted {
            status.interrupted = true;
            self.limits.end_at(self.clock.now_ns() + STOP_DELAY_NS);
        }
    }
}

/// A window that is being measured.
struct Window<'a, 'b> {
    coordinator: &'a Coordinator,
    edges: Edges,
    status: LoadStatus,
    outcomes: Vec<(usize, Box<Outcome>)>,
    collector: Collector,
    outside: &'a mut Outside<'b>,
}

impl Window<'_, '_> {
    /// Reports the edges as they pass, those from `ahead` on, until all threads are done.
    fn watch(&mut self, mut ahead: NextEdge, look_ns: u64) {
        let mut working = self.coordinator.orders.len();
        while working > 0 {
            self.coordinator.heed_stop(self.outside, &mut self.status);
            let now_ns = self.coordinator.clock.now_ns();
            let end_ns = self.edges.window_end_ns.min(self.coordinator.limits.end_ns());
            let edge_ns = match ahead {
                NextEdge::WindowStart => self.edges.window_start_ns,
                NextEdge::WindowEnd => end_ns,
                NextEdge::Nothing => u64::MAX,
            };
            if now_ns >= edge_ns {
                ahead = self.pass(ahead, end_ns);
                continue;
            }
            match self.coordinator.next_note((edge_ns - now_ns).min(look_ns)) {
                Some(Note::Done { thread, outcome }) => {
                    working -= 1;
                    self.done(thread, outcome);
                }
                Some(Note::Gone) => {
                    self.status.failed = true;
                    return;
                }
                Some(Note::Segment { thread, segment }) => self.collect(thread, *segment),
                Some(Note::Ready { .. } | Note::Settled { .. }) | None => {}
            }
        }
        // When a count ends the window, or a time that this thread slept through, the threads know
        // it first.
        let begun = self.edges.window_start_ns < self.coordinator.limits.end_ns();
        if ahead == NextEdge::WindowStart && begun {
            ahead = self.pass(ahead, u64::MAX);
        }
        if ahead == NextEdge::WindowEnd {
            (self.outside.observe)(LoadEvent::WindowEnd);
        }
    }

    /// Reports an edge and says which one comes next.
    fn pass(&mut self, ahead: NextEdge, end_ns: u64) -> NextEdge {
        match ahead {
            NextEdge::WindowStart if self.edges.window_start_ns < end_ns => {
                (self.outside.observe)(LoadEvent::WindowStart);
                NextEdge::WindowEnd
            }
            NextEdge::WindowEnd => {
                (self.outside.observe)(LoadEvent::WindowEnd);
                NextEdge::Nothing
            }
            NextEdge::WindowStart | NextEdge::Nothing => NextEdge::Nothing,
        }
    }

    fn done(&mut self, thread: usize, mut outcome: Box<Outcome>) {
        for segment in std::mem::take(&mut outcome.rest) {
            self.collect(thread, segment);
        }
        self.outcomes.push((thread, outcome));
        self.collector.gone(thread);
        self.report_intervals();
    }

    /// Adds a segment up, gives it back, and reports the intervals that are complete with it.
    fn collect(&mut self, thread: usize, mut segment: Segment) {
        self.collector.add(thread, &segment);
        segment.clear();
        // A thread that is gone needs no more segments.
        let _ = self.coordinator.spares[thread].send(segment);
        self.report_intervals();
    }

    fn report_intervals(&mut self) {
        while let Some(interval) = self.collector.next_interval() {
            (self.outside.observe)(LoadEvent::Interval(interval));
        }
    }
}

fn edges(plan: &Plan, now_ns: u64) -> Edges {
    let delay_ns = if plan.params.is_whole { PART_DELAY_NS } else { START_DELAY_NS };
    let start_ns = now_ns + delay_ns;
    let window_start_ns = start_ns.saturating_add(plan.warmup_ns);
    let window_end_ns =
        plan.window_ns.map_or(u64::MAX, |window_ns| window_start_ns.saturating_add(window_ns));
    Edges { start_ns, window_start_ns, window_end_ns }
}
