//! What a request costs a server whose pace changes, and what a server does while it is at rest. Work is
//! counted in loops, so that a neighbour on the CPU does not change it.

use std::{
    hint::black_box,
    sync::{Mutex, PoisonError, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::faulty::{Fault, Shared};

/// Loops of one request, and what a slow one has besides.
const USUAL_LOOPS: u32 = 500;
const FURTHER_LOOPS: u32 = 20_000;
/// Silence after which a server has rested: shorter than two visits of others, and longer than it waits
/// for its CPU.
const REST: Duration = Duration::from_millis(150);
/// How long `settles-late` is slow after a rest: longer than is discarded of a visit.
const SETTLING: Duration = Duration::from_millis(320);
/// Over how many loads `warms-up` gets faster.
const WARMING: f64 = 12.0;
/// A load has more requests than this: fewer show whether the server is up.
const LOADED: usize = 20;
/// When `defers-work` begins its work after its last request, and how long that takes.
const DEFERRED_AFTER: Duration = Duration::from_millis(40);
const DEFERRED: Duration = Duration::from_millis(80);
const BURN: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(9));

#[derive(Debug, Default)]
pub(crate) struct Pace(Mutex<Option<Times>>);

#[derive(Clone, Copy, Debug)]
struct Times {
    loads: u32,
    /// When the present load began, and its requests.
    began: Instant,
    requests: usize,
    last: Instant,
}

impl Pace {
    /// Does the work of one request of a server with this fault.
    pub(crate) fn work(&self, fault: Fault) {
        let times = self.next(Instant::now());
        let slowness = match fault {
            Fault::SettlesLate => f64::from(u8::from(times.began.elapsed() < SETTLING)),
            Fault::WarmsUp => (1.0 - f64::from(times.loads) / WARMING).max(0.0),
            _ => return,
        };
        let further = (f64::from(FURTHER_LOOPS) * slowness) as u32;
        (0..USUAL_LOOPS + further).for_each(|number| _ = black_box(number));
    }

    fn next(&self, now: Instant) -> Times {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = |loads| Times { loads, began: now, requests: 1, last: now };
        let next = match *times {
            None => begins(0),
            Some(it) if now.saturating_duration_since(it.last) < REST => {
                Times { requests: it.requests + 1, last: now, ..it }
            }
            Some(it) => begins(it.loads + u32::from(it.requests > LOADED)),
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
        Fault::BurnsIdle => loop {
            spin(BURN.0);
            thread::sleep(BURN.1);
        },
        Fault::DefersWork => {
            let mut done = 0;
            loop {
                thread::sleep(Duration::from_millis(2));
                let count = shared.requests.load(Ordering::Relaxed);
                let rests = shared.pace.last().is_some_and(|it| it.elapsed() > DEFERRED_AFTER);
                if rests && count > done + LOADED {
                    done = count;
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
