//! The server that `run` observes while it is loaded: which processes it has, and what their CPU
//! clocks show at the edges of the window.

use rustix::process::Pid;
use std::{
    io::BufRead,
    sync::{Arc, OnceLock},
};
use wirebench_loadgen::ServerClocks;
use wirebench_schema::load::LoadStart;

/// The processes, once they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed(Arc<OnceLock<Vec<Option<Pid>>>>);

impl Observed {
    /// Waits for the line that lets the load begin. When the observer is gone there is none.
    pub(super) fn wait_for_start(&self) {
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).is_ok_and(|length| length > 0) {
            self.remember(&line);
        }
    }

    /// Remembers the processes that the line names.
    fn remember(&self, line: &str) {
        match serde_json::from_str::<LoadStart>(line) {
            Ok(LoadStart { processes }) => {
                let _ = self.0.set(processes.into_iter().map(Pid::from_raw).collect());
            }
            Err(error) => crate::out::error(&format!("the start of the load is not JSON: {error}")),
        }
    }

    /// The clocks of the processes that are known by then.
    pub(super) fn clocks(&self) -> ServerClocks {
        let observed = self.clone();
        ServerClocks::new(move || observed.read())
    }

    fn read(&self) -> Vec<Option<u64>> {
        let clock = |pid: &Option<Pid>| {
            pid.and_then(|pid| wirebench_sys::cpu_clock::process_cpu_ns(pid).ok())
        };
        self.0.get().into_iter().flatten().map(clock).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_that_the_observer_names_have_clocks_in_its_order() {
        let observed = Observed::default();
        let own = rustix::process::getpid().as_raw_nonzero();
        // The kernel's PID_MAX_LIMIT is the first number that no process can have.
        observed.remember(&format!("{{\"processes\":[4194304,{own}]}}\n"));
        let readings: Vec<bool> = observed.read().iter().map(Option::is_some).collect();
        assert_eq!(readings, [false, true]);
    }
}
