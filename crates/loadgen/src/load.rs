//! A load from its first connection to its last, and the windows measured over it.

use std::{
    sync::{Arc, atomic::AtomicBool},
    thread::Builder,
    time::Duration,
};
use wirebench_schema::{
    agent::Windows,
    load::{EngineChoice, IdleMode, LoadConfig, LoadEvent, LoadReport, SampleReply, Stop},
};
use wirebench_sys::awake::AwakeCpus;

use crate::{
    clock,
    codec::{Codec, Persistence},
    coordinator::{LoadOutcome, LoadStatus, Outside},
    dial::{Dialer, sources::Sources},
    engine::{epoll::EpollEngine, io_uring::IoUringEngine},
    error::LoadError,
    limits,
    plan::{CodecKind, Plan},
    preflight::{self, Preflight},
    resolve,
    session::{Edges, Session},
    stalls::{self, StallWatch},
    summary,
    threads::LoadThreads,
    tls::{Connector, TlsDirector},
    worker::SessionOwner,
};

/// Connections to one server, over which one window after the other is measured. Between windows
/// nothing is sent and no CPU time is used.
#[derive(Debug)]
pub struct Load {
    config: LoadConfig,
    plan: Plan,
    connector: Option<Arc<Connector>>,
    /// What is known of replies before the first whole load.
    samples: Vec<SampleReply>,
    /// None when the load was stopped before there was a thread.
    pub(crate) threads: Option<LoadThreads>,
    status: LoadStatus,
    _awake: Option<AwakeCpus>,
}

/// The measurement of one window of a [`Load`].
#[derive(Clone, Debug)]
pub struct Measured {
    pub report: LoadReport,
    /// When the first request was due, in nanoseconds of [`crate::now_ns`]; none if the window never
    /// began.
    pub start_ns: Option<u64>,
}

impl Load {
    /// Makes the connections of `config`, which stay open until this is dropped. `observe` is called
    /// with [`LoadEvent::Connecting`]. Where none could be made, the error says why.
    pub fn open(
        config: &LoadConfig,
        windows: Windows,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<Self, LoadError> {
        config.check().map_err(LoadError::Configuration)?;
        // Nothing is allocated for a thread or a connection before it is known that there can be one.
        limits::provide_descriptors(config)?;
        limits::memory::check(config)?;
        if config.stalls {
            stalls::learn_machine();
        }
        let awake = (config.idle == IdleMode::Awake).then(AwakeCpus::hold);
        let awake = awake.transpose().map_err(LoadError::Awake)?;
        let mut plan = Plan::new(config)?;
        plan.params.keeps_connections = windows == Windows::Many;
        let sources = Sources::new(&config.sources);
        let connections = config.connections.saturating_add(config.idle_connections);
        let endpoints = sources.check(resolve::resolve(config)?, connections)?;
        limits::ports::check(config, &endpoints, &sources)?;
        let connector = Connector::new(config)?.map(Arc::new);
        let route = preflight::Route {
            endpoints: &endpoints,
            sources: &sources,
            connector: connector.as_deref(),
        };
        let config = config.clone();
        let found = preflight::preflight(&config, route, &mut plan.codec, stop)?;
        let Preflight::Answered { endpoint, took, persistence, requests, samples } = found else {
            let status = LoadStatus { interrupted: true, ..LoadStatus::default() };
            let samples = Vec::new();
            return Ok(Self {
                config,
                plan,
                connector,
                samples,
                threads: None,
                status,
                _awake: awake,
            });
        };
        plan.requests_before = requests;
        plan.params.one_request_each |= persistence == Persistence::Close;
        plan.params.round_trip_ns = clock::nanoseconds(took);
        plan.chosen = plan.chosen.clone().suited(config.engine, plan.codec.reply_bytes());
        let dialer = Dialer::new(endpoint, sources);
        let mut threads = start_threads(&plan, connector.as_ref(), &dialer)?;
        let status = threads.coordinator.wait_until_ready(&mut Outside { stop, observe });
        if status.failed {
            threads.close()?;
            return Err(LoadError::Thread("ended"));
        }
        if status.connections_made == 0 && !status.interrupted {
            let outcome = threads.coordinator.give_up(&plan, status);
            threads.close()?;
            return Err(no_connection(config.connections, &outcome));
        }
        let threads = Some(threads);
        Ok(Self { config, plan, connector, samples, threads, status, _awake: awake })
    }

    /// Number of connections for requests that could be made.
    #[must_use]
    pub const fn connections(&self) -> usize {
        self.status.connections_made
    }

    /// Measures one part of a visit over the connections, after making those again that the server has closed
    /// meanwhile. Nothing is in flight when it begins, and it ends with the last reply to a request that it has begun:
    /// all of these count. Of `config` the model, the end and the timeout count.
    pub fn part(&mut self, config: &LoadConfig, stop: &AtomicBool) -> Result<Measured, LoadError> {
        let outcome = self.make_part(config, stop, None)?;
        self.measured(outcome)
    }

    /// The same of a whole load, whose rate may change and whose edges and intervals are observed. Where a count ends
    /// it, it is the last part.
    pub fn whole(
        &mut self,
        config: &LoadConfig,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<Measured, LoadError> {
        let outcome = self.make_part(config, stop, Some(observe))?;
        self.plan.sample_replies = std::mem::take(&mut self.samples);
        self.measured(outcome)
    }

    /// Measures no figures of a part that is discarded, but when it began.
    pub fn discard(
        &mut self,
        config: &LoadConfig,
        stop: &AtomicBool,
    ) -> Result<Measured, LoadError> {
        let edges = self.make_part(config, stop, None)?.and_then(|outcome| outcome.status.edges);
        let engine = self.plan.chosen.engine;
        let report = LoadReport::new(String::new(), self.config.clone(), engine);
        Ok(Measured { report, start_ns: self.start_ns(edges) })
    }

    fn make_part(
        &mut self,
        config: &LoadConfig,
        stop: &AtomicBool,
        observe: Option<&mut dyn FnMut(LoadEvent)>,
    ) -> Result<Option<LoadOutcome>, LoadError> {
        let in_segments = observe.is_some();
        let unobserved: &mut dyn FnMut(LoadEvent) = &mut |_| {};
        let observe = observe.unwrap_or(unobserved);
        self.config = LoadConfig {
            model: config.model.clone(),
            warmup: Duration::ZERO,
            stop: config.stop,
            timeout: config.timeout,
            ..self.config.clone()
        };
        if matches!(self.config.stop, Stop::After(length) if length.is_zero()) {
            return Err(LoadError::Configuration("a part of a visit has a length".to_owned()));
        }
        self.plan.renew(&self.config, in_segments);
        let Some(threads) = &self.threads else { return Ok(None) };
        self.status = threads.coordinator.prepare(&self.plan, &mut Outside { stop, observe });
        if self.status.failed {
            return self.fail();
        }
        self.load(stop, observe)
    }

    /// The window of the configuration, for which the connections were made.
    pub fn first_window(
        &mut self,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<Measured, LoadError> {
        let outcome = self.load(stop, observe)?;
        self.plan.sample_replies = std::mem::take(&mut self.samples);
        self.measured(outcome)
    }

    fn load(
        &mut self,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<Option<LoadOutcome>, LoadError> {
        let Some(threads) = &self.threads else { return Ok(None) };
        let mut outside = Outside { stop, observe };
        let clock = threads.coordinator.clock;
        let watch = self.config.stalls.then(|| StallWatch::begin(clock));
        let mut outcome = threads.coordinator.load(&self.plan, self.status, &mut outside);
        outcome.stalls = watch.map(|begun| begun.and_then(StallWatch::end));
        if outcome.status.failed {
            return self.fail();
        }
        Ok(Some(outcome))
    }

    /// When the first request was due, in nanoseconds of [`crate::now_ns`].
    fn start_ns(&self, edges: Option<Edges>) -> Option<u64> {
        let clock = self.threads.as_ref().map(|threads| threads.coordinator.clock);
        clock.zip(edges).map(|(clock, edges)| clock.of_process(edges.start_ns))
    }

    fn measured(&self, outcome: Option<LoadOutcome>) -> Result<Measured, LoadError> {
        let outcome = outcome.unwrap_or_else(|| LoadOutcome::nothing(&self.plan, self.status));
        let tls = self.connector.as_ref().and_then(|connector| connector.summary());
        let report = summary::summarize(&self.config, &self.plan, &outcome);
        let start_ns = self.start_ns(outcome.status.edges);
        Ok(Measured { report: LoadReport { tls, ..report }, start_ns })
    }

    /// A thread has ended before its time: the reason is its error.
    fn fail<T>(&mut self) -> Result<T, LoadError> {
        self.threads.take().map_or(Ok(()), LoadThreads::close)?;
        Err(LoadError::Thread("ended"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // Its windows have reported their failures.
        let _ = self.threads.take().map(LoadThreads::close);
    }
}

fn start_threads(
    plan: &Plan,
    connector: Option<&Arc<Connector>>,
    dialer: &Dialer,
) -> Result<LoadThreads, LoadError> {
    match (&plan.codec, connector) {
        (CodecKind::Http1(codec), Some(connector)) => {
            let connector = Arc::clone(connector);
            let wrap = move |session| TlsDirector::new(session, Arc::clone(&connector));
            by_engine(plan, codec, dialer, wrap)
        }
        (CodecKind::Http1(codec), None) => by_engine(plan, codec, dialer, |session| session),
        (CodecKind::Echo(codec), _) => by_engine(plan, codec, dialer, |session| session),
    }
}

fn by_engine<C: Codec + Send + 'static, P: SessionOwner<Codec = C>>(
    plan: &Plan,
    codec: &C,
    dialer: &Dialer,
    wrap: impl Fn(Session<C>) -> P + Clone + Send + 'static,
) -> Result<LoadThreads, LoadError> {
    let builder = |_| Builder::new();
    match plan.chosen.engine {
        EngineChoice::IoUring => {
            LoadThreads::start::<IoUringEngine, _, _>(plan, codec, dialer, wrap, builder)
        }
        EngineChoice::Epoll => {
            LoadThreads::start::<EpollEngine, _, _>(plan, codec, dialer, wrap, builder)
        }
        EngineChoice::Auto => unreachable!("a plan has chosen its engine"),
    }
}

fn no_connection(connections: usize, outcome: &LoadOutcome) -> LoadError {
    let mut failures = outcome.collected.total.counts.examples.iter().flatten();
    LoadError::NoConnection {
        connections,
        reason: failures.next().map_or("unknown".to_owned(), |(failure, _)| failure.to_string()),
        next_step: "check that the server still runs and takes more than one connection",
    }
}
