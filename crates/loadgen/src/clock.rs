//! The clocks of a load: nanoseconds since its start, and the CPU time of a thread.

use rustix::time::{ClockId, clock_gettime};
use std::{
    num::NonZeroU64,
    sync::OnceLock,
    time::{Duration, Instant},
};

/// The first reading of the clock in this process.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// Nanoseconds on the one monotonic clock of all loads of this process.
#[must_use]
pub fn now_ns() -> u64 {
    nanoseconds(process_origin().elapsed())
}

fn process_origin() -> Instant {
    *ORIGIN.get_or_init(Instant::now)
}

/// The clock that all threads of a load share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        // First, so that the load does not begin before the process does.
        process_origin();
        Self { origin: Instant::now() }
    }

    /// A moment of this clock on that of [`now_ns`].
    pub(crate) fn of_process(&self, moment_ns: u64) -> u64 {
        nanoseconds(self.origin.duration_since(process_origin())).saturating_add(moment_ns)
    }

    /// Nanoseconds since the beginning.
    pub(crate) fn now_ns(&self) -> u64 {
        nanoseconds(self.origin.elapsed())
    }
}

/// Nanoseconds of a duration; five hundred years and more are one and the same.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Has the kernel wake the calling thread as soon as its time has come. Otherwise it may put a
/// wake-up off by 50 us, so as to do several at once.
pub(crate) fn wake_in_time() {
    // Without it wake-ups are later; the lag shows by how much.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// CPU time of the calling thread so far.
pub(crate) fn thread_cpu_ns() -> u64 {
    kernel_ns(ClockId::ThreadCPUTime)
}

/// A clock of the kernel, in nanoseconds.
pub(crate) fn kernel_ns(clock: ClockId) -> u64 {
    Duration::try_from(clock_gettime(clock)).map_or(0, nanoseconds)
}
