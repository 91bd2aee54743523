//! The threads of a load from their start to their end: all of them, or none and the reason.
//!
//! What a thread does is in `worker`, and when it does it is up to the `coordinator`.

use std::{
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
    collector::{Collected, Collector},
    coordinator::{Coordinator, Course},
    dial::Dialer,
    engine::{Engine, Equipment, Numbers},
    error::LoadError,
    outcome::Outcome,
    plan::{Conduct, Plan, Share},
    server_clocks,
    session::Session,
    worker::{self, Party, Wires},
};

/// What all threads together have done.
#[derive(Debug)]
pub(crate) struct Harvest {
    /// How the load went.
    pub(crate) course: Course,
    /// What each thread handed back in the end.
    pub(crate) outcomes: Vec<Outcome>,
    /// What was recorded.
    pub(crate) collected: Collected,
}

impl Harvest {
    /// Of a load that was over before it began.
    pub(crate) fn nothing(plan: &Plan, course: Course) -> Self {
        let collector = Collector::new(plan.conduct.histograms, plan.interval_ns, 0);
        Self { course, outcomes: Vec::new(), collected: collector.finish().1 }
    }
}

/// Runs all threads to their end. Engine, codec and what lies between them, and so the whole loop
/// of a thread, are chosen once, by the caller. `wrap` makes a session what the engine is directed
/// by; `builder` makes ready to start the thread of this number.
pub(crate) fn run_threads<E: Engine, C: Codec + Sync, P: Party<Codec = C>>(
    plan: &Plan,
    codec: &C,
    dialer: &Dialer,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
    wrap: impl Fn(Session<C>) -> P + Sync,
    builder: impl Fn(usize) -> Builder,
) -> Result<Harvest, LoadError> {
    let clock = Clock::start();
    let (end_ns, hurry) = (&AtomicU64::new(u64::MAX), &AtomicBool::new(false));
    let (notes_in, notes) = mpsc::channel();
    let Conduct { histograms, .. } = plan.conduct;
    let mut collector = Collector::new(histograms, plan.interval_ns, plan.shares.len());
    let (course, mut outcomes) = thread::scope(|scope| {
        let (mut starts, mut spares) = (Vec::new(), Vec::new());
        let mut threads = Vec::new();
        for (number, share) in plan.shares.iter().enumerate() {
            let (start_in, start) = mpsc::channel();
            let (spare_in, spare) = mpsc::channel();
            let notes = notes_in.clone();
            let wires = Wires { thread: number, end_ns, hurry, notes, start, spare };
            let wrap = &wrap;
            let work = move || {
                let hint = codec.reply_bytes_hint().saturating_mul(plan.conduct.depth);
                let equipment = equipment(plan, share, dialer, clock, hint);
                let conduct = plan.conduct.clone();
                let session = Session::new(share, conduct, codec, clock::thread_cpu_ns);
                // A time ends the window for all threads at once, a count for each at its own.
                let reads = number == 0 || plan.window_ns.is_none();
                let session = match reads {
                    true => session.reading(plan.server_clocks.clone()),
                    false => session,
                };
                worker::work::<E, P>(equipment, wrap(session), wires)
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
            spares.push(spare_in);
        }
        drop(notes_in);
        let collector = &mut collector;
        let coordinator =
            Coordinator { clock, end_ns, hurry, stop, notes, starts, spares, collector, observe };
        let course = coordinator.run(plan);
        Ok((course, join(threads)?))
    })?;
    for (thread, outcome) in outcomes.iter_mut().enumerate() {
        for slice in outcome.rest.drain(..) {
            collector.add(thread, &slice);
        }
    }
    let (last, collected) = collector.finish();
    last.into_iter().for_each(|interval| observe(LoadEvent::Interval(interval)));
    let clocks = server_clocks::at_edges(&outcomes);
    clocks.into_iter().for_each(|clocks| observe(LoadEvent::ServerClocks(clocks)));
    Ok(Harvest { course, outcomes, collected })
}

fn equipment(
    plan: &Plan,
    share: &Share,
    dialer: &Dialer,
    clock: Clock,
    reply_bytes_hint: usize,
) -> Equipment {
    let Share { first_connection, connections, first_idle, idle, .. } = *share;
    Equipment {
        dialer: dialer.clone(),
        clock,
        places: connections + idle,
        numbers: Numbers { first: first_connection, active: connections, first_idle },
        reply_bytes_hint,
        spin_ns: plan.conduct.spin_ns,
    }
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
    use crate::{
        dial::{Endpoint, sources::Sources},
        engine::epoll::EpollEngine,
        plan::Speech,
    };
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
            let dialer = Dialer::new(Endpoint::Ip(address), Sources::default());
            let result = run_threads::<EpollEngine, _, _>(
                &plan,
                codec,
                &dialer,
                &never,
                &mut observe,
                |session| session,
                builder,
            );
            let message = result.unwrap_err().to_string();
            let begin = format!("only {failing} of 3 threads could be started (");
            assert!(message.starts_with(&begin), "{message}");
            assert!(message.contains("give a smaller -t"), "{message}");
            assert_eq!(events, []);
        }
    }
}
