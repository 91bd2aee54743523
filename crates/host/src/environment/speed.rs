//! How evenly a CPU works: the CPU time of the same work, over and over.
//!
//! On a virtual machine the other hardware thread of a core may belong to another customer. Its work
//! then slows this one down by a third within milliseconds, and no counter of the kernel shows it: the
//! time is not stolen. Only code that keeps a core's units busy shows it, so the work here is
//! several independent chains of operations.

use rustix::time::{ClockId, clock_gettime};
use std::{
    hint::black_box,
    sync::atomic::{AtomicBool, Ordering},
};

/// For how long it works, in CPU time.
const WHOLE_NS: u64 = 200_000_000;
/// Steps of a piece of work, which take about 0.5 ms.
const STEPS: u64 = 150_000;
/// Independent chains, which keep all units of a core busy.
const CHAINS: usize = 8;

/// How much more CPU time a piece in the slowest tenth takes than one in the fastest tenth, relative.
/// None where the clock cannot be read, or `stop` was set.
pub(super) fn spread(stop: &AtomicBool) -> Option<f64> {
    let mut times = Vec::new();
    while times.iter().sum::<u64>() < WHOLE_NS {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let before = cpu_ns()?;
        black_box(work());
        times.push(cpu_ns()?.saturating_sub(before));
    }
    of_times(times)
}

fn work() -> [u64; CHAINS] {
    let mut states: [u64; CHAINS] = std::array::from_fn(|chain| black_box(chain as u64));
    for step in 0..STEPS {
        for state in &mut states {
            *state = state.rotate_left(7).wrapping_add(step) ^ (*state >> 3);
        }
    }
    states
}

fn cpu_ns() -> Option<u64> {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)).ok()
}

fn of_times(mut times: Vec<u64>) -> Option<f64> {
    times.sort_unstable();
    let tenth = times.len() / 10;
    let fast = *times.get(tenth)? as f64;
    let slow = *times.get(times.len().checked_sub(tenth + 1)?)? as f64;
    (fast > 0.0).then(|| slow / fast - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_tenths_and_no_single_piece_decides() {
        let mut times = vec![100; 18];
        times.extend([900, 900]);
        assert_eq!(of_times(times.clone()), Some(0.0));
        times.extend([150; 10]);
        assert_eq!(of_times(times), Some(0.5));
        assert_eq!(of_times(Vec::new()), None);
    }

    #[test]
    fn the_speed_of_this_machine_is_measured_unless_a_signal_asked_to_end() {
        assert!(spread(&AtomicBool::new(false)).is_some_and(|it| it >= 0.0));
        assert_eq!(spread(&AtomicBool::new(true)), None);
    }
}
