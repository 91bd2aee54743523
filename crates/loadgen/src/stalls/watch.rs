//! Threads that run before all others wake at equal distances on each CPU, and note where they come late: the
//! hypervisor had taken the CPU away, or the kernel let no other thread run on it.

use rustix::{
    thread::clock_nanosleep_absolute,
    time::{ClockId, Timespec},
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{Builder, JoinHandle},
};
use wirebench_sys::{affinity, priority};

use crate::clock::kernel_ns;

/// The time between two wake-ups. Shorter ones cost more CPU time than they show.
pub(crate) const PERIOD_NS: u64 = 500_000;
/// A wake-up that is later than this one was held up.
const LATE_NS: u64 = 200_000;
/// Of each CPU. It is full after hours.
const STALLS_MOST: usize = 1 << 16;
/// More CPUs than these are not watched.
const CPUS_MOST: usize = 16;
const SECOND_NS: u64 = 1_000_000_000;

/// A wake-up that was due at this moment of the monotonic clock, and came this much later. The CPU may have stood still
/// since a period before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stall {
    pub(crate) due_ns: u64,
    pub(crate) late_ns: u64,
}

#[derive(Debug)]
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<(u32, Vec<Stall>)>>,
    began_ns: u64,
}

/// The stalls of each CPU, and the time in which it was watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    pub(crate) cpus: Vec<(u32, Vec<Stall>)>,
    pub(crate) seconds: f64,
}

/// The monotonic clock of the kernel, in nanoseconds.
pub(crate) fn clock_ns() -> u64 {
    kernel_ns(ClockId::Monotonic)
}

impl Watch {
    /// Begins on these CPUs, at most sixteen. `EPERM` without the right to run before others.
    pub(crate) fn begin(cpus: impl Iterator<Item = u32>) -> io::Result<Self> {
        let stop = Arc::<AtomicBool>::default();
        let (ready, came) = mpsc::channel();
        let on = |cpu: u32| {
            let (stop, ready) = (Arc::clone(&stop), ready.clone());
            Builder::new().spawn(move || {
                // A container may use few of the machine's CPUs.
                let is_there = affinity::bind(&[cpu]).is_ok();
                let right = priority::run_before_others();
                let is_watched = is_there && right.is_ok();
                let _ = ready.send(right);
                (cpu, if is_watched { watch(&stop) } else { Vec::new() })
            })
        };
        let threads: Vec<_> = cpus.take(CPUS_MOST).map(on).collect::<io::Result<_>>()?;
        let watch = Self { stop, threads, began_ns: clock_ns() };
        came.iter().take(watch.threads.len()).collect::<io::Result<()>>()?;
        Ok(watch)
    }

    pub(crate) fn end(mut self) -> Watched {
        self.stop.store(true, Ordering::Relaxed);
        let seconds = clock_ns().saturating_sub(self.began_ns) as f64 / SECOND_NS as f64;
        let cpus = self.threads.drain(..).filter_map(|it| it.join().ok()).collect();
        Watched { cpus, seconds }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Wakes until it shall stop.
fn watch(stop: &AtomicBool) -> Vec<Stall> {
    let mut stalls = Vec::with_capacity(STALLS_MOST);
    let mut due_ns = clock_ns() + PERIOD_NS;
    while !stop.load(Ordering::Relaxed) {
        let (seconds, rest) = (due_ns / SECOND_NS, due_ns % SECOND_NS);
        let due = Timespec { tv_sec: seconds.cast_signed(), tv_nsec: rest.cast_signed() };
        // A signal ends the sleep early, and the next one is for the same moment.
        let slept = clock_nanosleep_absolute(ClockId::Monotonic, &due);
        let now_ns = clock_ns();
        if slept.is_err() {
            continue;
        }
        let late_ns = now_ns.saturating_sub(due_ns);
        if late_ns >= LATE_NS && stalls.len() < STALLS_MOST {
            stalls.push(Stall { due_ns, late_ns });
        }
        due_ns = (due_ns + PERIOD_NS).max(now_ns);
    }
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{thread, time::Duration};

    #[test]
    fn a_cpu_is_watched_or_the_right_to_it_is_missing() {
        match Watch::begin(0..1) {
            Ok(watch) => {
                thread::sleep(Duration::from_millis(20));
                let watched = watch.end();
                assert!(watched.seconds >= 0.02);
                let [(0, stalls)] = &watched.cpus[..] else { panic!("{watched:?}") };
                assert!(stalls.iter().all(|it| it.late_ns >= LATE_NS), "{watched:?}");
            }
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }
}
