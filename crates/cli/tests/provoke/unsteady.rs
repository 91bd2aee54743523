//! What a request costs a server whose pace changes, and what a server does while it is at rest. Work is
//! counted in loops, so that a neighbour on the CPU does not change it.

use std::{
    hint::black_box,
    ops::RangeInclusive,
    sync::{Mutex, PoisonError, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::faulty::{Fault, Shared};

/// Loops of one request, and what a slow one has besides.
const USUAL_LOOPS: u32 = 500;
const FURTHER_LOOPS: u32 = 20_000;
/// How many times as many a slow request of `tires` has. A slice has time for some fifty of them, and a
/// difference counts only if it is well above the noise of the other servers, which a busy machine makes
/// large.
const TIRED: f64 = 5.0;
/// Silence after which a server has rested: shorter than two slices of others, and longer than it waits
/// for its CPU. For `tires` it is shorter than one, or a row of slices would be a long load.
const REST: Duration = Duration::from_millis(150);
const SHORT_REST: Duration = Duration::from_millis(60);
/// How long `settles-late` is slow after a rest: longer than is discarded of a slice.
const SETTLING: Duration = Duration::from_millis(320);
/// Over how many loads `warms-up` gets faster.
const WARMING: f64 = 12.0;
/// A load after which `tires` is not slow: as long as a long slice. Two slices without a rest in between can
/// be longer.
const LONG_LOAD: RangeInclusive<Duration> = Duration::from_millis(375)..=Duration::from_millis(450);
/// A load has more requests than this: fewer show whether the server is up.
const LOADED: usize = 20;
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
    /// Loads before the present one, and whether the last of them was long.
    loads: u32,
    was_long: bool,
    /// Whether a short load has followed a long one: before that the long slices are fast.
    tires: bool,
    /// When the present load began, and its requests.
    began: Instant,
    requests: usize,
    last: Instant,
}

impl Pace {
    /// Does the work of one request of a server with this fault.
    pub(crate) fn work(&self, fault: Fault) {
        let rest = if fault == Fault::Tires { SHORT_REST } else { REST };
        let times = self.next(Instant::now(), rest);
        let slowness = match fault {
            Fault::SettlesLate => f64::from(u8::from(times.began.elapsed() < SETTLING)),
            Fault::WarmsUp => (1.0 - f64::from(times.loads) / WARMING).max(0.0),
            Fault::Tires if times.tires && !times.was_long => TIRED,
            Fault::Tires => 0.0,
            _ => return,
        };
        let further = (f64::from(FURTHER_LOOPS) * slowness) as u32;
        (0..USUAL_LOOPS + further).for_each(|number| _ = black_box(number));
    }

    fn next(&self, now: Instant, rest: Duration) -> Times {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = |loads, was_long, tires| Times {
            loads,
            was_long,
            tires,
            began: now,
            requests: 1,
            last: now,
        };
        let next = match *times {
            None => begins(0, false, false),
            Some(it) if now.saturating_duration_since(it.last) < rest => {
                Times { requests: it.requests + 1, last: now, ..it }
            }
            Some(it) if it.requests <= LOADED => begins(it.loads, it.was_long, it.tires),
            Some(it) => {
                let is_long = LONG_LOAD.contains(&(it.last - it.began));
                begins(it.loads + 1, is_long, it.tires || it.was_long && !is_long)
            }
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
