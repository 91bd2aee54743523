//! One thread of a load: connects, waits for the common start, works until the end.

use std::sync::{
    atomic::{AtomicU64, Ordering},
    mpsc::{Receiver, Sender},
};

use crate::{
    codec::Codec,
    engine::Engine,
    error::LoadError,
    outcome::Outcome,
    session::{Edges, Session},
};

/// What a thread tells the coordinating one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Note {
    /// It has tried to make each of its connections and has made so many.
    Ready {
        /// How many.
        made: usize,
    },
    /// It does nothing more.
    Gone,
}

/// What a thread has from the coordinating one.
#[derive(Debug)]
pub(crate) struct Wires<'a> {
    /// When the load ends at the latest. It is only ever lowered.
    pub(crate) end_ns: &'a AtomicU64,
    /// Where to tell.
    pub(crate) notes: Sender<Note>,
    /// Where the common start comes from.
    pub(crate) start: Receiver<Edges>,
}

/// Tells that the thread is gone, also when it panics; and then has the others end too.
struct Farewell<'a>(&'a Wires<'a>);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end_ns.store(0, Ordering::Relaxed);
        }
        let _ = self.0.notes.send(Note::Gone);
    }
}

/// Carries out one thread's part of the load.
#[allow(clippy::needless_pass_by_value, reason = "the wires are cut when the thread ends")]
pub(crate) fn work<C: Codec, E: Engine>(
    make_engine: impl FnOnce() -> Result<E, LoadError>,
    mut session: Session<C>,
    wires: Wires<'_>,
) -> Result<Outcome, LoadError> {
    let _farewell = Farewell(&wires);
    let result =
        make_engine().and_then(|mut engine| turn_until_over(&mut engine, &mut session, &wires));
    if result.is_err() {
        wires.end_ns.store(0, Ordering::Relaxed);
    }
    result.map(|()| session.into_outcome())
}

fn turn_until_over<C: Codec>(
    engine: &mut impl Engine,
    session: &mut Session<C>,
    wires: &Wires<'_>,
) -> Result<(), LoadError> {
    while !session.is_settled() && !session.is_over() {
        session.limit_end(wires.end_ns.load(Ordering::Relaxed));
        engine.turn(session)?;
    }
    // Who does not listen any more has ended the load, and sends no start either.
    let _ = wires.notes.send(Note::Ready { made: session.made() });
    let Ok(edges) = wires.start.recv() else { return Ok(()) };
    session.start(edges);
    while !session.is_over() {
        session.limit_end(wires.end_ns.load(Ordering::Relaxed));
        engine.turn(session)?;
    }
    Ok(())
}
