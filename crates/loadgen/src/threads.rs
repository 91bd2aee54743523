//! The threads of a load from their start to their end: all of them, or none and the reason.
//!
//! What a thread does is in `worker`, and when it does it is up to the `coordinator`.

use std::{
    net::SocketAddr,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread::{self, Builder, ScopedJoinHandle},
};
use wirebench_schema::load::LoadEvent;

use crate::{
    clock::{self, Clock},
    codec::Codec,
    coordinator::{Coordinator, Course},
    engine::epoll::EpollEngine,
    error::LoadError,
    outcome::Outcome,
    plan::Plan,
    session::Session,
    worker::{self, Wires},
};

/// Runs all threads to their end. The codec, and so the whole loop of a thread, is chosen once, by
/// the caller. `builder` makes ready to start the thread of this number.
pub(crate) fn run_threads<C: Codec + Sync>(
    plan: &Plan,
    codec: &C,
    address: SocketAddr,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
    builder: impl Fn(usize) -> Builder,
) -> Result<(Course, Vec<Outcome>), LoadError> {
    let clock = Clock::start();
    let end_ns = &AtomicU64::new(u64::MAX);
    let (notes_in, notes) = mpsc::channel();
    thread::scope(|scope| {
        let mut starts = Vec::new();
        let mut threads = Vec::new();
        for (number, share) in plan.shares.iter().enumerate() {
            let (start_in, start) = mpsc::channel();
            let wires = Wires { end_ns, notes: notes_in.clone(), start };
            let work = move || {
                let session = Session::new(share, plan.timing, codec, clock::thread_cpu_ns);
                worker::work(|| EpollEngine::new(address, share.connections, clock), session, wires)
            };
            match builder(number).spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    end_ns.store(0, Ordering::Relaxed);
                    // Who has made its connections already waits for a start, until none can come.
                    drop(starts);
                    join(threads)?;
                    let threads = plan.shares.len();
                    return Err(LoadError::ThreadStart { started: number, threads, source });
                }
            }
            starts.push(start_in);
        }
        drop(notes_in);
        let course = Coordinator { clock, end_ns, stop, notes, starts, observe }.run(plan);
        Ok((course, join(threads)?))
    })
}

/// Waits for all threads, also when one of them has failed.
fn join(
    threads: Vec<ScopedJoinHandle<'_, Result<Outcome, LoadError>>>,
) -> Result<Vec<Outcome>, LoadError> {
    let ended: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().map_err(|_| LoadError::Thread("panicked"))?)
        .collect();
    ended.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Speech;
    use std::net::TcpListener;
    use wirebench_schema::load::LoadConfig;

    /// More than an address space has, so that no thread can be started with it.
    const STACK_BYTES: usize = 1 << 60;

    #[test]
    fn when_a_thread_cannot_be_started_those_before_it_end_and_the_reason_is_told() {
        // Nobody accepts: connections are made by the kernel, and the threads wait for a start.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for failing in [0, 2] {
            let mut config = LoadConfig::new(format!("tcp://{address}").parse().unwrap());
            config.threads = 3;
            let plan = Plan::new(&config).unwrap();
            let Speech::Echo(codec) = &plan.speech else { panic!("a tcp target echoes") };
            let builder = |number| match Builder::new() {
                builder if number == failing => builder.stack_size(STACK_BYTES),
                builder => builder,
            };
            let mut events = Vec::new();
            let never = AtomicBool::new(false);
            let mut observe = |event| events.push(event);
            let result = run_threads(&plan, codec, address, &never, &mut observe, builder);
            let message = result.unwrap_err().to_string();
            let begin = format!("only {failing} of 3 threads could be started (");
            assert!(message.starts_with(&begin), "{message}");
            assert!(message.contains("give a smaller -t"), "{message}");
            assert_eq!(events, []);
        }
    }
}
