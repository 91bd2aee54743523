//! Another program that takes a part of each second from the CPUs in turn.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use wirebench_sys::affinity::bind;

use crate::bench::Sides;

const PERIOD: Duration = Duration::from_secs(1);
const BUSY: Duration = Duration::from_millis(300);

pub(super) struct Neighbour {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Neighbour {
    /// Busy on the server's CPU in one second and on the generator's in the next.
    pub(super) fn start(sides: &Sides) -> Self {
        let cpus = [sides.server_cpus.clone(), sides.generator_cpus.clone()];
        let stop = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            for cpu in cpus.iter().cycle() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                if let Err(error) = bind(cpu) {
                    eprintln!("warning: the neighbour cannot be bound to CPU {cpu:?}: {error}");
                    return;
                }
                let began = Instant::now();
                while began.elapsed() < BUSY {
                    std::hint::spin_loop();
                }
                thread::sleep(PERIOD.saturating_sub(began.elapsed()));
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A thread that panicked has printed why.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
