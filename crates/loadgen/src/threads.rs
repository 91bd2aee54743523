//! Starts the threads of a load: all of them, or none with the reason. They live until the load is
//! closed, so that several windows can be measured over the same connections.
//!
//! `worker` is the work of a thread, and `coordinator` its timing.

use std::{
    sync::{Arc, mpsc},
    thread::{Builder, JoinHandle},
};

use crate::{
    clock::{self, Clock},
    codec::Codec,
    coordinator::Coordinator,
    dial::Dialer,
    engine::{Engine, EngineParams},
    error::LoadError,
    plan::Plan,
    session::Session,
    worker::{self, Channels, Limits, SessionOwner},
};

/// The threads of a load, and their coordinator.
#[derive(Debug)]
pub(crate) struct LoadThreads {
    pub(crate) coordinator: Coordinator,
    threads: Vec<JoinHandle<Result<(), LoadError>>>,
}

impl LoadThreads {
    /// Starts all threads, which make their connections at once. The caller chooses engine, codec
    /// and the layer between them, and so the whole loop of a thread. `wrap` turns a session into
    /// the engine's director; `builder` prepares the thread of this number.
    pub(crate) fn start<E: Engine, C: Codec + Send + 'static, P: SessionOwner<Codec = C>>(
        plan: &Plan,
        codec: &C,
        dialer: &Dialer,
        wrap: impl Fn(Session<C>) -> P + Clone + Send + 'static,
        builder: impl Fn(usize) -> Builder,
    ) -> Result<Self, LoadError> {
        let clock = Clock::start();
        let limits = Arc::new(Limits::none());
        let (notes_in, notes) = mpsc::channel();
        let (mut orders, mut spares, mut threads) = (Vec::new(), Vec::new(), Vec::new());
        for (thread, share) in plan.shares.iter().copied().enumerate() {
            let (order_in, orders_out) = mpsc::channel();
            let (spare_in, spare) = mpsc::channel();
            let channels = Channels {
                thread,
                limits: Arc::clone(&limits),
                notes: notes_in.clone(),
                orders: orders_out,
                spare,
            };
            let equipment = EngineParams {
                dialer: dialer.clone(),
                clock,
                share,
                reply_bytes_hint: codec.reply_bytes_hint().saturating_mul(plan.params.depth),
                spin_ns: plan.params.spin_ns,
            };
            let params = plan.params.clone();
            let (codec, wrap) = (codec.clone(), wrap.clone());
            let work = move || {
                let session = Session::new(&share, params, &codec, clock::thread_cpu_ns);
                worker::work::<E, P>(equipment, wrap(session), channels)
            };
            match builder(thread).spawn(work) {
                Ok(handle) => threads.push(handle),
                Err(source) => {
                    limits.stop();
                    // A thread that has made its connections waits for an order until none can come.
                    drop(orders);
                    join(threads)?;
                    let threads = plan.shares.len();
                    return Err(LoadError::ThreadStart { started: thread, threads, source });
                }
            }
            orders.push(order_in);
            spares.push(spare_in);
        }
        Ok(Self { coordinator: Coordinator { clock, limits, notes, orders, spares }, threads })
    }

    /// Ends all threads, and says whether one of them has failed.
    pub(crate) fn close(self) -> Result<(), LoadError> {
        let Self { coordinator, threads } = self;
        coordinator.limits.stop();
        drop(coordinator);
        join(threads)
    }
}

/// Waits for all threads, also when one of them has failed.
fn join(threads: Vec<JoinHandle<Result<(), LoadError>>>) -> Result<(), LoadError> {
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
        plan::CodecKind,
    };
    use std::net::TcpListener;
    use wirebench_schema::load::LoadConfig;

    /// More than an address space has, so that no thread can be started with it.
    const STACK_BYTES: usize = 1 << 60;

    #[test]
    fn when_a_thread_cannot_be_started_those_before_it_end_and_the_reason_is_reported() {
        // The kernel completes the connections; no process accepts them.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for failing in [0, 2] {
            let mut config = LoadConfig::new(format!("tcp://{address}").parse().unwrap());
            config.threads = 3;
            let plan = Plan::new(&config).unwrap();
            let CodecKind::Echo(codec) = &plan.codec else { panic!("a tcp target echoes") };
            let builder = |number| match Builder::new() {
                builder if number == failing => builder.stack_size(STACK_BYTES),
                builder => builder,
            };
            let dialer = Dialer::new(Endpoint::Ip(address), Sources::default());
            let threads = LoadThreads::start::<EpollEngine, _, _>(
                &plan,
                codec,
                &dialer,
                |session| session,
                builder,
            );
            let message = threads.unwrap_err().to_string();
            let begin = format!("only {failing} of 3 threads could be started (");
            assert!(message.starts_with(&begin), "{message}");
            assert!(message.contains("give a smaller -t"), "{message}");
        }
    }
}
