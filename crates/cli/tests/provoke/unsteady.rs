//! What a request costs a server whose pace changes, and what a server does while it is at rest. Work is
//! counted in loops, so that a neighbour on the CPU does not change it.

use std::{
    hint::black_box,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::faulty::{Fault, Shared};

/// Loops of one request, and what a slow one has besides.
const USUAL_LOOPS: u32 = 5_000;
const FURTHER_LOOPS: u32 = 20_000;
/// Silence after which a server has rested.
const REST: Duration = Duration::from_millis(15);
/// How long `settles-late` is slow after a rest: longer than is discarded of a slice.
const SETTLING: Duration = Duration::from_millis(320);
/// How long `warms-up` gets faster.
const WARMING: Duration = Duration::from_secs(10);
/// Rest without which `tires` is slow.
const LONG_REST: Duration = Duration::from_millis(600);
/// When `defers-work` begins its work after its last request, and how long that takes.
const DEFERRED_AFTER: Duration = Duration::from_millis(40);
const DEFERRED: Duration = Duration::from_millis(80);
/// A tenth of a CPU.
const BURN: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(9));

/// When requests came.
#[derive(Debug, Default)]
pub(crate) struct Pace(Mutex<Option<Times>>);

#[derive(Clone, Copy, Debug)]
struct Times {
    first: Instant,
    /// When the present load began, and how long the rest before it was.
    began: Instant,
    rested: Duration,
    last: Instant,
}

impl Pace {
    /// Does the work of one request of a server with this fault.
    pub(crate) fn work(&self, fault: Fault) {
        let times = self.next(Instant::now());
        let slowness = match fault {
            Fault::SettlesLate => f64::from(u8::from(times.began.elapsed() < SETTLING)),
            Fault::WarmsUp => {
                (1.0 - times.first.elapsed().as_secs_f64() / WARMING.as_secs_f64()).max(0.0)
            }
            Fault::Tires => f64::from(u8::from(times.rested < LONG_REST)),
            _ => return,
        };
        let further = (f64::from(FURTHER_LOOPS) * slowness) as u32;
        (0..USUAL_LOOPS + further).for_each(|number| _ = black_box(number));
    }

    fn next(&self, now: Instant) -> Times {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = match *times {
            None => Times { first: now, began: now, rested: Duration::MAX, last: now },
            Some(it) => match now.saturating_duration_since(it.last) {
                rested if rested > REST => Times { began: now, rested, last: now, ..it },
                _ => Times { last: now, ..it },
            },
        };
        *times = Some(next);
        next
    }

    fn last(&self) -> Option<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).map(|times| times.last)
    }
}

/// What a server with this fault does besides answering, if anything.
pub(crate) fn background(fault: Fault, shared: &Shared) {
    match fault {
        Fault::Spins => loop {
            spin(Duration::from_secs(1));
        },
        Fault::BurnsIdle => loop {
            spin(BURN.0);
            thread::sleep(BURN.1);
        },
        Fault::DefersWork => {
            let mut done = None;
            loop {
                thread::sleep(Duration::from_millis(2));
                let last = shared.pace.last();
                if last != done && last.is_some_and(|it| it.elapsed() > DEFERRED_AFTER) {
                    done = last;
                    spin(DEFERRED);
                }
            }
        }
        _ => {}
    }
}

fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {}
}
