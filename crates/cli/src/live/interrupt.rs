//! Ctrl-C, SIGTERM and SIGHUP: a flag that every loop looks at, so that all servers are ended and the
//! partial report is written.
//!
//! A second signal soon after the first is taken for the same wish: a terminal and the program that
//! started this one both send it, and a key is pressed twice. The third, or a second one later on,
//! ends the program at once; the guards then end the servers.

use anyhow::Context;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ},
    iterator::Signals,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crate::exit::{Ended, Exit};

/// So long after the first signal a second one means more than the first.
const AGAIN: Duration = Duration::from_secs(2);

/// Whether, and by which signal, the program was asked to end.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens for signals from now on.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let signal = Arc::new(AtomicUsize::new(0));
        let numbers: &[i32] =
            if ignores_hangup() { &[SIGINT, SIGTERM] } else { &[SIGINT, SIGTERM, SIGHUP] };
        let mut urgent = Signals::new(numbers)?;
        for &number in numbers {
            let value = usize::try_from(number)?;
            signal_hook::flag::register_usize(number, Arc::clone(&signal), value)?;
            signal_hook::flag::register(number, Arc::clone(&asked))?;
        }
        // A file that may not grow any more is then an error of the write, which says what is safe
        // and how to go on, and not a sudden death. Children are not affected.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        let watch = move || {
            let mut patience = Patience::default();
            for number in urgent.forever() {
                if patience.is_over(Instant::now()) {
                    signal_hook::low_level::exit(128 + number);
                }
            }
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(watch)
            .context("cannot start a thread: raise the process limit (ulimit -u)")?;
        Ok(Self { asked, signal })
    }

    /// The flag itself, for those who wait.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// Ends a verb that has nothing to show after a signal.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.exit().map_or(Ok(()), |exit| Err(Ended(exit, String::new()).into()))
    }

    /// The exit code after a signal; none without one.
    pub(crate) fn exit(&self) -> Option<Exit> {
        if !self.asked.load(Ordering::Relaxed) {
            return None;
        }
        let signal = i32::try_from(self.signal.load(Ordering::Relaxed)).unwrap_or(SIGINT);
        Some(Exit::Interrupted(signal))
    }
}

/// True if the program was started with `nohup`, and has to outlive its terminal.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signal 1 has bit 0.
    mask.is_some_and(|mask| mask & 1 != 0)
}

/// How many signals came, and when the first of them.
#[derive(Debug, Default)]
struct Patience {
    first: Option<Instant>,
    more: u32,
}

impl Patience {
    /// Another signal came now; whether it is one too many.
    fn is_over(&mut self, now: Instant) -> bool {
        let Some(first) = self.first else {
            self.first = Some(now);
            return false;
        };
        self.more += 1;
        self.more >= 2 || now.duration_since(first) >= AGAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_signal_or_a_late_second_one_is_one_too_many() {
        let start = Instant::now();
        let after = |ms: &[u64]| {
            let mut patience = Patience::default();
            let over = |ms: &u64| patience.is_over(start + Duration::from_millis(*ms));
            ms.iter().map(over).collect::<Vec<_>>()
        };
        assert_eq!(after(&[0, 1, 2]), [false, false, true]);
        assert_eq!(after(&[0, 1999]), [false, false]);
        assert_eq!(after(&[0, 2000]), [false, true]);
        assert_eq!(after(&[500, 2400, 2500]), [false, false, true]);
    }
}
