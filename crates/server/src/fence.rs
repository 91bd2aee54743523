//! Reads CPU clocks of servers at a *fence*, where nothing is in flight.
//!
//! The kernel brings the clock of a process up to date when one of its threads is switched off its CPU, and at ticks:
//! read from another CPU while it runs, it is stale by up to a tick of 4 ms. So a thread sits on each CPU of the
//! servers, asleep except at fences. While all of them run no server does, and its clocks are exact.

use std::{
    hint,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use wirebench_schema::agent::LoadProcesses;

use crate::{parallel, process_clocks};

/// How long the threads may take to meet. One without the right to run before others waits for a server that works
/// until the scheduler takes it off the CPU.
const MEETING: Duration = Duration::from_millis(20);
/// Looks between two looks at the clock.
const SPINS: u32 = 1000;
/// The turn that ends the threads.
const END: u32 = u32::MAX;

/// CPU time so far of each process of each server, in nanoseconds; none of one that has ended.
pub type Reading = Vec<Vec<Option<u64>>>;

/// Threads on the CPUs of servers. Dropping them ends them.
#[derive(Debug, Default)]
pub struct Sitters {
    cpus: Vec<u32>,
    meeting: Arc<Meeting>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Meeting {
    turn: AtomicU32,
    /// The turn in the upper half, and how many have come for it.
    arrived: AtomicU64,
    /// The last turn in which clocks were read.
    done: AtomicU32,
    /// The processes to read, and what their clocks showed.
    reading: Mutex<(Vec<LoadProcesses>, Reading)>,
}

impl Sitters {
    /// One on each of `cpus`. Without CPUs, or if one of them is not to be had, the thread that asks reads the clocks.
    #[must_use]
    pub fn on(cpus: &[u32]) -> Self {
        let meeting = Arc::<Meeting>::default();
        let (ready, came) = mpsc::channel();
        let sit = |cpu: u32| {
            let (meeting, ready, count) = (Arc::clone(&meeting), ready.clone(), cpus.len());
            parallel::spawn(move || {
                let bound = wirebench_sys::affinity::bind(&[cpu]);
                // Without the right to it, it waits for a server that works.
                let _ = wirebench_sys::priority::run_before_others();
                let _ = ready.send(bound.is_ok());
                if bound.is_ok() {
                    meeting.sit(count as u64);
                }
            })
        };
        let threads: Vec<JoinHandle<()>> = cpus.iter().flat_map(|cpu| sit(*cpu)).collect();
        let bound = came.iter().take(threads.len()).filter(|bound| *bound).count();
        let mut sitters = Self { cpus: cpus.to_vec(), meeting, threads };
        if bound < cpus.len() {
            sitters.end();
        }
        sitters
    }

    /// Moves them to `cpus`, unless they are there.
    pub fn move_to(&mut self, cpus: &[u32]) {
        if self.cpus != cpus {
            *self = Self::on(cpus);
        }
    }

    /// The clocks of the processes of `servers` now.
    #[must_use]
    pub fn read(&self, servers: &[LoadProcesses]) -> Reading {
        if self.threads.is_empty() {
            return read(servers);
        }
        let turn = self.meeting.call(servers);
        self.threads.iter().for_each(|it| it.thread().unpark());
        let is_done = || self.meeting.done.load(Ordering::Acquire) == turn;
        if spin_until(is_done) { self.meeting.reading().1.clone() } else { read(servers) }
    }
}

impl Drop for Sitters {
    fn drop(&mut self) {
        self.end();
    }
}

impl Sitters {
    fn end(&mut self) {
        self.meeting.turn.store(END, Ordering::Release);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // It has no result, and cannot panic.
            let _ = thread.join();
        }
    }
}

impl Meeting {
    fn reading(&self) -> MutexGuard<'_, (Vec<LoadProcesses>, Reading)> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the next turn, which is for `servers`.
    fn call(&self, servers: &[LoadProcesses]) -> u32 {
        self.reading().0 = servers.to_vec();
        let turn = self.turn.load(Ordering::Relaxed) % (END - 1) + 1;
        self.arrived.store(u64::from(turn) << 32, Ordering::Release);
        self.turn.store(turn, Ordering::Release);
        turn
    }

    /// Takes part in each turn, with `count` threads in all. The one that comes last reads.
    fn sit(&self, count: u64) {
        let mut seen = 0;
        loop {
            let turn = self.turn.load(Ordering::Acquire);
            if turn == END {
                return;
            }
            if turn == seen {
                thread::park();
                continue;
            }
            seen = turn;
            let first = u64::from(turn) << 32;
            let come = |arrived: u64| (arrived >> 32 == u64::from(turn)).then_some(arrived + 1);
            let arrived = self.arrived.fetch_update(Ordering::AcqRel, Ordering::Acquire, come);
            if arrived == Ok(first + count - 1) {
                let mut reading = self.reading();
                reading.1 = read(&reading.0);
                drop(reading);
                self.done.store(turn, Ordering::Release);
            } else {
                spin_until(|| {
                    self.done.load(Ordering::Acquire) == turn
                        || self.turn.load(Ordering::Acquire) != turn
                });
            }
        }
    }
}

fn read(servers: &[LoadProcesses]) -> Reading {
    servers.iter().map(|server| process_clocks::read(&server.pids)).collect()
}

/// Looks until `is_so`, or for so long that it will not be.
fn spin_until(is_so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + MEETING;
    loop {
        for _ in 0..SPINS {
            if is_so() {
                return true;
            }
            hint::spin_loop();
        }
        if Instant::now() > until {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_on_the_cpus_of_the_servers_and_anyway_without_them() {
        let own = std::process::id().cast_signed();
        let servers = [LoadProcesses { load: 0, pids: vec![own, 4_194_304] }];
        let cpus = wirebench_sys::affinity::current().unwrap();
        for cpus in [&cpus[..], &cpus[..1], &[], &[u32::MAX]] {
            let sitters = Sitters::on(cpus);
            assert_eq!(sitters.threads.len(), if cpus == [u32::MAX] { 0 } else { cpus.len() });
            let readings = [(); 3].map(|()| sitters.read(&servers));
            for reading in &readings {
                assert!(reading[0][0].is_some() && reading[0][1].is_none(), "{reading:?}");
            }
            assert!(readings.is_sorted());
        }
    }
}
