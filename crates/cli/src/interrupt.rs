//! Ctrl-C and SIGTERM: a flag that every loop looks at, so that all servers are ended and the
//! partial report is written.
//!
//! A second signal ends the program at once; the guards then end the servers.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use crate::exit::Exit;

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
        for number in [SIGINT, SIGTERM] {
            // The order matters: the second signal finds the flag set by the first and ends the
            // program.
            signal_hook::flag::register_conditional_shutdown(
                number,
                128 + number,
                Arc::clone(&asked),
            )?;
            let value = usize::try_from(number)?;
            signal_hook::flag::register_usize(number, Arc::clone(&signal), value)?;
            signal_hook::flag::register(number, Arc::clone(&asked))?;
        }
        Ok(Self { asked, signal })
    }

    /// The flag itself, for those who wait.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.asked
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
