//! One thread of a load: connects, waits for the common start, works until the end, and hands over
//! what it has recorded as it goes.

use std::sync::{
    atomic::{AtomicBool, AtomicU64, Ordering},
    mpsc::{Receiver, Sender},
};

use crate::{
    clock::wake_in_time,
    codec::Codec,
    director::Director,
    engine::{Engine, Equipment},
    error::LoadError,
    outcome::Outcome,
    session::{Edges, Session},
    slice::Slice,
};

/// What a thread tells the coordinating one.
#[derive(Debug)]
pub(crate) enum Note {
    /// It has tried to make each of its connections and has made so many.
    Ready {
        /// How many.
        made: usize,
    },
    /// Further connections were made or refused before the start.
    Settled {
        /// How many.
        more: usize,
    },
    /// A slice of its load is over.
    Slice {
        /// The number of the thread.
        thread: usize,
        /// The slice. It comes back empty.
        slice: Box<Slice>,
    },
    /// It does nothing more.
    Gone {
        /// The number of the thread.
        thread: usize,
    },
}

/// What a thread has from the coordinating one.
#[derive(Debug)]
pub(crate) struct Wires<'a> {
    /// The number of the thread.
    pub(crate) thread: usize,
    /// When the load ends at the latest. It is only ever lowered.
    pub(crate) end_ns: &'a AtomicU64,
    /// Whether replies that come after the window are waited for no longer.
    pub(crate) hurry: &'a AtomicBool,
    /// Where to tell.
    pub(crate) notes: Sender<Note>,
    /// Where the common start comes from.
    pub(crate) start: Receiver<Edges>,
    /// Where empty slices come from.
    pub(crate) spare: Receiver<Slice>,
}

/// A director whose load is one thread's session, whatever lies between it and the engine.
pub(crate) trait Party: Director {
    /// What is spoken.
    type Codec: Codec;

    /// The session.
    fn session(&mut self) -> &mut Session<Self::Codec>;

    /// The session, when the load is over.
    fn into_session(self) -> Session<Self::Codec>;
}

impl<C: Codec> Party for Session<C> {
    type Codec = C;

    fn session(&mut self) -> &mut Self {
        self
    }

    fn into_session(self) -> Self {
        self
    }
}

/// Tells that the thread is gone, also when it panics; and then has the others end too.
struct Farewell<'a>(&'a Wires<'a>);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end_ns.store(0, Ordering::Relaxed);
        }
        let _ = self.0.notes.send(Note::Gone { thread: self.0.thread });
    }
}

/// Carries out one thread's part of the load.
#[allow(clippy::needless_pass_by_value, reason = "the wires are cut when the thread ends")]
pub(crate) fn work<E: Engine, P: Party>(
    equipment: Equipment,
    mut party: P,
    wires: Wires<'_>,
) -> Result<Outcome, LoadError> {
    let _farewell = Farewell(&wires);
    wake_in_time();
    let result =
        E::new(equipment).and_then(|mut engine| turn_until_over(&mut engine, &mut party, &wires));
    if result.is_err() {
        wires.end_ns.store(0, Ordering::Relaxed);
    }
    result.map(|()| party.into_session().into_outcome())
}

fn turn_until_over<P: Party>(
    engine: &mut impl Engine,
    party: &mut P,
    wires: &Wires<'_>,
) -> Result<(), LoadError> {
    while !party.session().is_settled() && !party.is_over() {
        party.session().limit_end(wires.end_ns.load(Ordering::Relaxed));
        let unsettled = party.session().unsettled();
        engine.turn(party)?;
        let more = unsettled.saturating_sub(party.session().unsettled());
        if more > 0 {
            let _ = wires.notes.send(Note::Settled { more });
        }
    }
    // Who does not listen any more has ended the load, and sends no start either.
    let _ = wires.notes.send(Note::Ready { made: party.session().made() });
    let Ok(edges) = wires.start.recv() else { return Ok(()) };
    party.session().start(edges);
    while !party.is_over() {
        party.session().limit_end(wires.end_ns.load(Ordering::Relaxed));
        engine.turn(party)?;
        if wires.hurry.load(Ordering::Relaxed) {
            party.session().stop_waiting();
        }
        hand_over(party.session(), wires);
    }
    Ok(())
}

/// Hands over the slices that are over, and takes back those that were emptied.
fn hand_over<C: Codec>(session: &mut Session<C>, wires: &Wires<'_>) {
    let recorder = session.recorder();
    if !recorder.wants_exchange() {
        return;
    }
    for slice in recorder.take_full() {
        // Who does not listen any more has ended the load.
        let note = Note::Slice { thread: wires.thread, slice: Box::new(slice) };
        let _ = wires.notes.send(note);
    }
    while let Ok(spare) = wires.spare.try_recv() {
        recorder.give_spare(spare);
    }
}
