//! A machine that has no CPU to spare, for tests.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// Runs `wait` while all CPUs are busy.
pub(crate) fn beside_busy_cpus<T>(wait: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let cpus = thread::available_parallelism().unwrap().get();
        for _ in 0..2 * cpus {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let seen = panic::catch_unwind(AssertUnwindSafe(wait));
        is_over.store(true, Ordering::Relaxed);
        seen.unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}
