//! What runtimes of this process have done, for those that measure them. Without the feature `counters` nothing is
//! counted, and it costs nothing.

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A fiber was run until it gave way.
    Run,
    /// A worker looked for events.
    Poll,
    /// A worker that waited was woken by another one.
    WakeUp,
    /// A worker took a fiber from another one's queue.
    Steal,
}

#[cfg(not(feature = "counters"))]
mod counting {
    use super::Event;

    pub(crate) const fn count(_: Event) {}

    /// When a fiber became ready: not measured.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct ReadySince;

    impl ReadySince {
        pub(crate) const fn now() -> Self {
            Self
        }

        pub(crate) const fn is_run(self) {}
    }
}

#[cfg(feature = "counters")]
mod counting {
    use super::Event;
    use std::{
        sync::{
            LazyLock,
            atomic::{AtomicU64, Ordering::Relaxed},
        },
        time::Instant,
    };

    static COUNTS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
    /// Times from ready to run: eight classes for each power of two, so that a class is at most an eighth wide.
    static WAITED: [AtomicU64; 512] = [const { AtomicU64::new(0) }; 512];
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

    pub(crate) fn count(event: Event) {
        COUNTS[event as usize].fetch_add(1, Relaxed);
    }

    fn now_ns() -> u64 {
        u64::try_from(ORIGIN.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// When a fiber became ready, in nanoseconds of this process.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct ReadySince(u64);

    impl ReadySince {
        pub(crate) fn now() -> Self {
            Self(now_ns())
        }

        pub(crate) fn is_run(self) {
            WAITED[class(now_ns().saturating_sub(self.0))].fetch_add(1, Relaxed);
        }
    }

    fn class(ns: u64) -> usize {
        let power = ns.max(8).ilog2();
        (power as usize - 3) * 8 + usize::try_from((ns.max(8) >> (power - 3)) & 7).unwrap_or(0)
    }

    /// The lower end of a class.
    fn lower_ns(class: usize) -> u64 {
        (8 + class as u64 % 8) << (class / 8)
    }

    /// What all runtimes of this process have done since the last call.
    #[derive(Clone, Copy, Debug)]
    pub struct Counted {
        /// How often a fiber was run.
        pub runs: u64,
        /// How often a worker looked for events.
        pub polls: u64,
        /// How often a worker was woken by another one.
        pub wake_ups: u64,
        /// How often a worker took a fiber from another one.
        pub steals: u64,
        /// Median time from ready to run in nanoseconds, at most an eighth too small.
        pub wake_to_run_ns_p50: u64,
        /// The 99th percentile of it.
        pub wake_to_run_ns_p99: u64,
    }

    /// Takes what was counted, and begins anew.
    #[must_use]
    pub fn take_counted() -> Counted {
        let [runs, polls, wake_ups, steals] = COUNTS.each_ref().map(|it| it.swap(0, Relaxed));
        let waited = WAITED.each_ref().map(|it| it.swap(0, Relaxed));
        let all: u64 = waited.iter().sum();
        let at = |percent: u64| {
            let mut left = (all * percent).div_ceil(100).max(1);
            let holds_it = |count: &u64| {
                left = left.saturating_sub(*count);
                left == 0
            };
            waited.iter().position(holds_it).map_or(0, lower_ns)
        };
        let (wake_to_run_ns_p50, wake_to_run_ns_p99) = (at(50), at(99));
        Counted { runs, polls, wake_ups, steals, wake_to_run_ns_p50, wake_to_run_ns_p99 }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_time_is_in_the_class_whose_lower_end_is_at_most_an_eighth_less() {
            for ns in (8..4000).chain([1 << 40, u64::MAX / 3]) {
                let lower = lower_ns(class(ns));
                assert!(lower <= ns && ns - lower <= ns / 8, "{ns} {lower}");
            }
        }
    }
}

#[cfg(feature = "counters")]
pub use self::counting::{Counted, take_counted};
pub(crate) use self::counting::{ReadySince, count};
