//! The thread that does not load: it waits for the others to connect, sets the common start, tells
//! when the window's edges pass, collects what the others have recorded, and passes on a request to
//! stop.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::Duration,
};
use wirebench_schema::load::LoadEvent;

use crate::{
    clock::Clock, collector::Collector, plan::Plan, session::Edges, slice::Slice, worker::Note,
};

/// How often it looks whether it should stop. Between edges it sleeps.
const LOOK_NS: u64 = 50_000_000;

/// How often it tells how many connections there are while they are made.
const CONNECTING_NS: u64 = 500_000_000;

/// How far ahead the start is set, so that every thread has heard of it.
const START_DELAY_NS: u64 = 2_000_000;

/// How far ahead an early end is set, so that busy threads see it before it passes.
const STOP_DELAY_NS: u64 = 10_000_000;

/// How the load went.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Course {
    /// Connections made, over all threads.
    pub(crate) connections_made: usize,
    /// When the window began, if the load came so far as to set a start.
    pub(crate) window_start_ns: Option<u64>,
    /// Whether it was told to stop.
    pub(crate) interrupted: bool,
}

/// What the coordinator works with.
pub(crate) struct Coordinator<'a> {
    /// The load's clock.
    pub(crate) clock: Clock,
    /// When the load ends at the latest.
    pub(crate) end_ns: &'a AtomicU64,
    /// Set when replies that come after the window shall be waited for no longer.
    pub(crate) hurry: &'a AtomicBool,
    /// Set from outside when the load shall stop.
    pub(crate) stop: &'a AtomicBool,
    /// Where the threads tell.
    pub(crate) notes: Receiver<Note>,
    /// Where they listen.
    pub(crate) starts: Vec<Sender<Edges>>,
    /// Where their empty slices go back to.
    pub(crate) spares: Vec<Sender<Slice>>,
    /// Adds up what they have recorded.
    pub(crate) collector: &'a mut Collector,
    /// Who is told of the edges.
    pub(crate) observe: &'a mut dyn FnMut(LoadEvent),
}

/// The edge that passes next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ahead {
    WindowStart,
    WindowEnd,
    Nothing,
}

impl Coordinator<'_> {
    /// Waits until all threads are gone.
    pub(crate) fn run(mut self, plan: &Plan) -> Course {
        let mut course = Course::default();
        let mut waiting = self.starts.len();
        let (mut settled, mut told, mut tell_ns) = (0, 0, self.clock.now_ns() + CONNECTING_NS);
        while waiting > 0 {
            self.heed_stop(&mut course);
            let now_ns = self.clock.now_ns();
            if settled > told && now_ns >= tell_ns {
                (self.observe)(LoadEvent::Connecting { settled });
                (told, tell_ns) = (settled, now_ns + CONNECTING_NS);
            }
            match self.next_note(LOOK_NS) {
                Some(Note::Ready { made }) => {
                    course.connections_made += made;
                    waiting -= 1;
                }
                Some(Note::Settled { more }) => settled += more,
                Some(Note::Gone { .. }) => {
                    // A thread that ends before the start has failed: without a start the others
                    // end too.
                    self.end_ns.store(0, Ordering::Relaxed);
                    return course;
                }
                Some(Note::Slice { thread, slice }) => self.collect(thread, *slice),
                None => {}
            }
        }
        if course.connections_made == 0 && !course.interrupted {
            return course;
        }
        (self.observe)(LoadEvent::Connected { connections: course.connections_made });
        let edges = edges(plan, self.clock.now_ns());
        course.window_start_ns = Some(edges.window_start_ns);
        self.collector.start(edges.start_ns, edges.window_start_ns);
        for start in &self.starts {
            // A thread that is gone has noted so.
            let _ = start.send(edges);
        }
        self.watch(edges, &mut course);
        course
    }

    /// Tells of the edges as they pass, until all threads are gone.
    fn watch(&mut self, edges: Edges, course: &mut Course) {
        let mut ahead = Ahead::WindowStart;
        let mut working = self.starts.len();
        while working > 0 {
            self.heed_stop(course);
            let now_ns = self.clock.now_ns();
            let end_ns = edges.window_end_ns.min(self.end_ns.load(Ordering::Relaxed));
            let edge_ns = match ahead {
                Ahead::WindowStart => edges.window_start_ns,
                Ahead::WindowEnd => end_ns,
                Ahead::Nothing => u64::MAX,
            };
            if now_ns >= edge_ns {
                ahead = self.pass(ahead, edges, end_ns);
                continue;
            }
            match self.next_note((edge_ns - now_ns).min(LOOK_NS)) {
                Some(Note::Gone { thread }) => {
                    working -= 1;
                    self.collector.gone(thread);
                    self.tell_intervals();
                }
                Some(Note::Slice { thread, slice }) => self.collect(thread, *slice),
                Some(Note::Ready { .. } | Note::Settled { .. }) | None => {}
            }
        }
        // When a count ends the window, or a time that this thread slept through, the threads know
        // it first.
        if ahead == Ahead::WindowStart
            && edges.window_start_ns < self.end_ns.load(Ordering::Relaxed)
        {
            ahead = self.pass(ahead, edges, u64::MAX);
        }
        if ahead == Ahead::WindowEnd {
            (self.observe)(LoadEvent::WindowEnd);
        }
    }

    /// Tells of an edge and says which one comes next.
    fn pass(&mut self, ahead: Ahead, edges: Edges, end_ns: u64) -> Ahead {
        match ahead {
            Ahead::WindowStart if edges.window_start_ns < end_ns => {
                (self.observe)(LoadEvent::WindowStart);
                Ahead::WindowEnd
            }
            Ahead::WindowEnd => {
                (self.observe)(LoadEvent::WindowEnd);
                Ahead::Nothing
            }
            Ahead::WindowStart | Ahead::Nothing => Ahead::Nothing,
        }
    }

    /// Adds a slice up, gives it back, and tells of the intervals that are complete with it.
    fn collect(&mut self, thread: usize, mut slice: Slice) {
        self.collector.add(thread, &slice);
        slice.clear();
        // A thread that is gone needs no more slices.
        let _ = self.spares[thread].send(slice);
        self.tell_intervals();
    }

    fn tell_intervals(&mut self) {
        while let Some(interval) = self.collector.next_interval() {
            (self.observe)(LoadEvent::Interval(interval));
        }
    }

    fn next_note(&self, wait_ns: u64) -> Option<Note> {
        match self.notes.recv_timeout(Duration::from_nanos(wait_ns)) {
            Ok(note) => Some(note),
            Err(RecvTimeoutError::Timeout) => None,
            // Each has said so before.
            Err(RecvTimeoutError::Disconnected) => Some(Note::Gone { thread: usize::MAX }),
        }
    }

    fn heed_stop(&self, course: &mut Course) {
        if self.stop.load(Ordering::Relaxed) && !course.interrupted {
            course.interrupted = true;
            self.hurry.store(true, Ordering::Relaxed);
            let end_ns = self.clock.now_ns() + STOP_DELAY_NS;
            // Only this thread sets an end that is not 0, so nothing lower is overwritten but by
            // chance of a failure, and a failed thread is found when it is joined.
            self.end_ns.store(end_ns, Ordering::Relaxed);
        }
    }
}

fn edges(plan: &Plan, now_ns: u64) -> Edges {
    let start_ns = now_ns + START_DELAY_NS;
    let window_start_ns = start_ns.saturating_add(plan.warmup_ns);
    let window_end_ns =
        plan.window_ns.map_or(u64::MAX, |window_ns| window_start_ns.saturating_add(window_ns));
    Edges { start_ns, window_start_ns, window_end_ns }
}
