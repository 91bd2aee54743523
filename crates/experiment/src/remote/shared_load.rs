//! One load that generators on several hosts make together: each its share, from the same moment on. It says what
//! a generator on this host says, in the same order, and reads the server's clocks here.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{AgentCommand, AgentEvent},
    load::{EdgeClocks, Interval, LoadConfig, LoadEvent, LoadReport, LoadStart, Stop},
};
use wirebench_server::process_clocks;

use super::{
    Fleet,
    clock::Offset,
    crew::{Crew, STEP},
    parts::{self, Share},
};

/// The time between the order to start and the start: each generator must have its order by then.
const AHEAD: Duration = Duration::from_millis(200);
/// An order may take this many times the error of a clock, which is half of the way there and back.
const AHEAD_ERRORS: u64 = 8;

/// Generators that make one load. Dropping it ends them.
#[derive(Debug)]
pub struct SharedLoad {
    crew: Crew,
    config: LoadConfig,
    /// Whether it waits for [`SharedLoad::begin`].
    waits: bool,
    /// What is to be said next.
    events: VecDeque<LoadEvent>,
    connected: Vec<Option<usize>>,
    intervals: Vec<VecDeque<Interval>>,
    reports: Vec<Option<(LoadReport, u64)>>,
    begun: Option<Begun>,
}

/// A load that has its order to start.
#[derive(Debug)]
struct Begun {
    offsets: Vec<Offset>,
    window_start_ns: u64,
    /// Where no count ends the window.
    window_end_ns: Option<u64>,
    processes: Vec<i32>,
    clocks: EdgeClocks,
    /// Which edges of the window have passed.
    has_started: bool,
    has_ended: bool,
}

impl SharedLoad {
    /// Lets the generators of `fleet` make their connections. The load begins at once, or with
    /// [`SharedLoad::begin`] if it `waits`.
    pub fn connect(
        fleet: &Fleet,
        config: &LoadConfig,
        waits: bool,
        stop: &AtomicBool,
    ) -> Result<Self, String> {
        let shares = config.shares(fleet.hosts.len())?;
        let mut crew = Crew::start(fleet, stop)?;
        let count = shares.len();
        let load = |config| AgentCommand::Load { config: Box::new(config) };
        crew.tell_each(shares.into_iter().map(load))?;
        Ok(Self {
            crew,
            config: config.clone(),
            waits,
            events: VecDeque::new(),
            connected: vec![None; count],
            intervals: vec![VecDeque::new(); count],
            reports: vec![None; count],
            begun: None,
        })
    }

    /// Lets the load begin that [`LoadEvent::Connected`] has announced.
    pub fn begin(&mut self, start: &LoadStart) -> Result<(), String> {
        let offsets = self.crew.offsets()?;
        let error_ns = offsets.iter().map(|it| it.error_ns).max().unwrap_or(0);
        let ahead_ns = (AHEAD.as_nanos() as u64).max(AHEAD_ERRORS * error_ns);
        let start_ns = self.crew.now_ns() + ahead_ns;
        let start_at = |offset: &Offset| AgentCommand::Start { start_ns: offset.there(start_ns) };
        self.crew.tell_each(offsets.iter().map(start_at))?;
        let window_start_ns = start_ns + self.config.warmup.as_nanos() as u64;
        let window_end_ns = match self.config.stop {
            Stop::After(window) => Some(window_start_ns + window.as_nanos() as u64),
            Stop::Requests(_) | Stop::RequestsPerConnection(_) => None,
        };
        self.begun = Some(Begun {
            offsets,
            window_start_ns,
            window_end_ns,
            processes: start.processes.clone(),
            clocks: EdgeClocks::default(),
            has_started: false,
            has_ended: false,
        });
        Ok(())
    }

    /// The next event, or none within `timeout`.
    pub fn next_event(&mut self, timeout: Duration) -> Result<Option<LoadEvent>, String> {
        let until = Instant::now() + timeout;
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            self.pass_edges();
            if let Some((place, event)) = self.crew.heard()? {
                self.hear(place, event)?;
                continue;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() && self.events.is_empty() {
                return Ok(None);
            }
            thread::sleep(left.min(STEP).min(self.until_edge()));
        }
    }

    /// Ends the load before its time. The reports follow.
    pub fn end(&mut self) -> Result<(), String> {
        self.crew.tell(&AgentCommand::Stop)
    }

    fn hear(&mut self, place: usize, event: AgentEvent) -> Result<(), String> {
        match event {
            AgentEvent::Connected { connections, .. } => {
                self.connected[place] = Some(connections);
                if let Some(all) = self.connected.iter().copied().collect::<Option<Vec<_>>>() {
                    if !self.waits {
                        self.begin(&LoadStart::default())?;
                    }
                    self.events.push_back(LoadEvent::Connected { connections: all.iter().sum() });
                }
            }
            AgentEvent::Interval(interval) => {
                self.intervals[place].push_back(interval);
                while self.intervals.iter().all(|it| !it.is_empty()) {
                    let same: Vec<_> =
                        self.intervals.iter_mut().filter_map(VecDeque::pop_front).collect();
                    self.events.extend(parts::interval(&same).map(LoadEvent::Interval));
                }
            }
            AgentEvent::Report { report, start_ns } => {
                self.window_has_ended();
                self.reports[place] = Some((*report, start_ns));
                if self.reports.iter().all(Option::is_some) {
                    let report = Box::new(self.report()?);
                    self.events.push_back(LoadEvent::Report(report));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The time until the next edge of the window.
    fn until_edge(&self) -> Duration {
        let edge_ns = self.begun.as_ref().and_then(|begun| match begun.has_started {
            true => begun.window_end_ns.filter(|_| !begun.has_ended),
            false => Some(begun.window_start_ns),
        });
        edge_ns.map_or(STEP, |edge_ns| self.crew.until(edge_ns))
    }

    /// Reads the clocks at the edges of the window when they pass.
    fn pass_edges(&mut self) {
        let now_ns = self.crew.now_ns();
        let Some(begun) = &mut self.begun else { return };
        if !begun.has_started && now_ns >= begun.window_start_ns {
            begun.has_started = true;
            begun.clocks.start_ns = process_clocks::read(&begun.processes);
            self.events.push_back(LoadEvent::WindowStart);
        }
        if begun.window_end_ns.is_some_and(|end_ns| now_ns >= end_ns) {
            self.window_has_ended();
        }
    }

    fn window_has_ended(&mut self) {
        let Some(begun) = self.begun.as_mut().filter(|begun| !begun.has_ended) else { return };
        begun.has_ended = true;
        begun.clocks.end_ns = process_clocks::read(&begun.processes);
        self.events.push_back(LoadEvent::WindowEnd);
        self.events.push_back(LoadEvent::ServerClocks(begun.clocks.clone()));
    }

    fn report(&mut self) -> Result<LoadReport, String> {
        let before = self.begun.take().map(|begun| begun.offsets).unwrap_or_default();
        // A clock may have been read better after the load.
        let after = self.crew.offsets().unwrap_or_else(|_| before.clone());
        let better = |(before, after): (Offset, Offset)| {
            if after.error_ns < before.error_ns { after } else { before }
        };
        let offsets: Vec<Offset> = before.into_iter().zip(after).map(better).collect();
        let reports: Vec<_> = self.reports.iter().flatten().cloned().collect();
        let shares = self.crew.hosts().zip(&offsets).zip(reports);
        let shares = shares.map(|((host, offset), (report, start_ns))| Share {
            host: host.to_owned(),
            start_ns: offset.here(start_ns),
            clock_error_ns: offset.error_ns,
            report,
        });
        parts::whole(self.config.clone(), shares.collect())
            .ok_or_else(|| "there is no generator".to_owned())
    }
}

/// Generates the load `config` with all generators of `fleet`, to its end or until `stop` is set. `observe` hears
/// what happens.
pub fn together(
    fleet: &Fleet,
    config: &LoadConfig,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
) -> Result<LoadReport, String> {
    let mut load = SharedLoad::connect(fleet, config, false, stop)?;
    let mut has_stopped = false;
    loop {
        if stop.load(Ordering::Relaxed) && !has_stopped {
            has_stopped = true;
            load.end()?;
        }
        match load.next_event(Duration::from_millis(50))? {
            Some(LoadEvent::Report(report)) => return Ok(*report),
            Some(event) => observe(event),
            None => {}
        }
    }
}
