//! One thread of a load: connects, runs one window after another over its connections, and hands
//! over its records meanwhile.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
    mpsc::{Receiver, Sender},
};

use crate::{
    clock::wake_in_time,
    codec::Codec,
    director::Director,
    engine::{Engine, EngineParams},
    error::LoadError,
    outcome::Outcome,
    plan::ThreadParams,
    segment::Segment,
    session::{Edges, Session},
};

/// A report of a thread to the coordinating one.
#[derive(Debug)]
pub(crate) enum Note {
    /// Its connections are made, as far as they can be; it waits for the start of a window.
    Ready { made: usize },
    /// Further connections were made or refused before the first window.
    Settled { more: usize },
    /// A segment of its load is over.
    Segment {
        thread: usize,
        /// The segment. It comes back empty.
        segment: Box<Segment>,
    },
    /// A window is over and no reply to it is awaited any more. Without a window this has the
    /// records of connecting.
    Done { thread: usize, outcome: Box<Outcome> },
    /// It has ended before its time.
    Gone,
}

/// An order to a thread.
#[derive(Debug)]
pub(crate) enum Order {
    /// Make ready for a window of this load over the same connections.
    Prepare {
        params: Box<ThreadParams>,
        quota: Option<u64>,
    },
    Start(Edges),
}

/// The moments that the coordinating thread may move while the others work.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The latest end of the window. It is only lowered during a window.
    end_ns: AtomicU64,
    /// Whether replies that come after the window are waited for no longer.
    hurry: AtomicBool,
}

impl Limits {
    /// None.
    pub(crate) const fn none() -> Self {
        Self { end_ns: AtomicU64::new(u64::MAX), hurry: AtomicBool::new(false) }
    }

    /// The next window has none.
    pub(crate) fn lift(&self) {
        self.end_ns.store(u64::MAX, Ordering::Relaxed);
        self.hurry.store(false, Ordering::Relaxed);
    }

    /// The load ends then, and nothing is waited for after it. What a thread that has failed has set
    /// may be overwritten; its failure is found when it is joined.
    pub(crate) fn end_at(&self, end_ns: u64) {
        self.hurry.store(true, Ordering::Relaxed);
        self.end_ns.store(end_ns, Ordering::Relaxed);
    }

    pub(crate) fn stop(&self) {
        self.end_at(0);
    }

    /// The latest end of the window.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Relaxed)
    }

    fn hurries(&self) -> bool {
        self.hurry.load(Ordering::Relaxed)
    }
}

/// The channels between a thread and the coordinating one.
#[derive(Debug)]
pub(crate) struct Channels {
    pub(crate) thread: usize,
    /// The limits at which to stop.
    pub(crate) limits: Arc<Limits>,
    pub(crate) notes: Sender<Note>,
    /// Orders from the coordinator. The thread ends when the channel closes.
    pub(crate) orders: Receiver<Order>,
    /// Empty segments from the coordinator.
    pub(crate) spare: Receiver<Segment>,
}

/// A director whose load is one thread's session, whatever lies between it and the engine.
pub(crate) trait SessionOwner: Director {
    type Codec: Codec;

    fn session(&mut self) -> &mut Session<Self::Codec>;

    /// What is left when a window is over.
    fn take_outcome(&mut self) -> Outcome;
}

impl<C: Codec> SessionOwner for Session<C> {
    type Codec = C;

    fn session(&mut self) -> &mut Self {
        self
    }

    fn take_outcome(&mut self) -> Outcome {
        Self::take_outcome(self)
    }
}

/// Reports that the thread has panicked or failed; then the others end too.
struct ExitGuard<'a> {
    channels: &'a Channels,
    is_in_order: bool,
}

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        if !self.is_in_order {
            self.channels.limits.stop();
            let _ = self.channels.notes.send(Note::Gone);
        }
    }
}

/// Runs one thread's part of the load.
#[allow(clippy::needless_pass_by_value, reason = "the channels close when the thread ends")]
pub(crate) fn work<E: Engine, P: SessionOwner>(
    equipment: EngineParams,
    mut owner: P,
    channels: Channels,
) -> Result<(), LoadError> {
    let mut guard = ExitGuard { channels: &channels, is_in_order: false };
    wake_in_time();
    let mut engine = E::new(equipment)?;
    connect(&mut engine, &mut owner, &channels)?;
    let mut is_handed_over = false;
    // Without a coordinating thread the load is over.
    while let Ok(order) = channels.orders.recv() {
        match order {
            Order::Prepare { params, quota } => {
                rest(&mut engine, &mut owner, &channels)?;
                let recorder = owner.session().recorder();
                channels.spare.try_iter().for_each(|segment| recorder.give_spare(segment));
                engine.set_spin(params.spin_ns);
                owner.session().prepare(*params, quota);
                report(&channels, Note::Ready { made: owner.session().made() });
            }
            Order::Start(edges) => {
                load(&mut engine, &mut owner, &channels, edges)?;
                hand_over_outcome(&mut owner, &channels);
                is_handed_over = true;
                // Its connections must not keep a server from those of the other threads.
                if owner.session().has_ended_alone() {
                    break;
                }
            }
        }
    }
    if !is_handed_over {
        hand_over_outcome(&mut owner, &channels);
    }
    guard.is_in_order = true;
    Ok(())
}

/// A coordinating thread that does not listen any more has ended the load.
fn report(channels: &Channels, note: Note) {
    let _ = channels.notes.send(note);
}

fn connect<P: SessionOwner>(
    engine: &mut impl Engine,
    owner: &mut P,
    channels: &Channels,
) -> Result<(), LoadError> {
    while !owner.session().is_settled() && !owner.session().is_done() {
        owner.session().limit_end(channels.limits.end_ns());
        let unsettled = owner.session().unsettled();
        engine.turn(owner)?;
        let more = unsettled.saturating_sub(owner.session().unsettled());
        if more > 0 {
            report(channels, Note::Settled { more });
        }
    }
    report(channels, Note::Ready { made: owner.session().made() });
    Ok(())
}

/// Handles events since the last window: connections that the server has closed are made again.
/// Bounded by the timeout of the load.
fn rest<P: SessionOwner>(
    engine: &mut impl Engine,
    owner: &mut P,
    channels: &Channels,
) -> Result<(), LoadError> {
    owner.session().look();
    engine.turn(owner)?;
    owner.session().begin_rest();
    while !owner.session().is_rested() && !channels.limits.hurries() {
        engine.turn(owner)?;
    }
    Ok(())
}

fn load<P: SessionOwner>(
    engine: &mut impl Engine,
    owner: &mut P,
    channels: &Channels,
    edges: Edges,
) -> Result<(), LoadError> {
    owner.session().start(edges);
    while !owner.session().is_done() {
        owner.session().limit_end(channels.limits.end_ns());
        engine.turn(owner)?;
        if channels.limits.hurries() {
            owner.session().hurry();
        }
        hand_over(owner.session(), channels);
    }
    // Where the connections stay, replies that are still due belong to no later window.
    owner.session().begin_rest();
    while !owner.session().is_answered() && !channels.limits.hurries() {
        engine.turn(owner)?;
    }
    engine.pause()
}

fn hand_over_outcome(owner: &mut impl SessionOwner, channels: &Channels) {
    let outcome = Box::new(owner.take_outcome());
    report(channels, Note::Done { thread: channels.thread, outcome });
}

/// Hands over the segments that are over, and takes back those that were emptied.
fn hand_over<C: Codec>(session: &mut Session<C>, channels: &Channels) {
    let recorder = session.recorder();
    if !recorder.wants_exchange() {
        return;
    }
    for segment in recorder.take_full() {
        report(channels, Note::Segment { thread: channels.thread, segment: Box::new(segment) });
    }
    while let Ok(spare) = channels.spare.try_recv() {
        recorder.give_spare(spare);
    }
}
