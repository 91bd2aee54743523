//! The load generators of a run or a cohort: one child of this program on the generator's CPUs, or an agent on
//! each of several other hosts, which generate one load together. Everything is measured by `Agents::window`.
//!
//! A child reads the clocks of the servers itself. For agents on other hosts `hosts` reads them here, `edges` knows the
//! moments of a window, `clock` finds the offsets of their clocks, and `parts` puts their shares together. `pool` is
//! the way to them, and `limit` says when one is hung.

mod clock;
mod edges;
mod hosts;
mod limit;
mod parts;
mod pool;

pub(crate) use limit::longest;
pub(crate) use pool::AgentPool;

use rustix::process::Pid;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{
        AGENT_PROTOCOL, AgentCommand, AgentEvent, Recording, WindowOrder, WindowReport, Windows,
    },
    load::{Interval, LoadConfig, LoadEvent, LoadReport},
};
use wirebench_server::{fence::Sitters, pipe::PipedChild};

use self::{clock::Offset, edges::Edges, limit::WaitLimit};
use crate::remote::{Fleet, PATIENCE};

/// Interval of the checks for a signal while waiting for a child, and the same during a visit: a shorter one is not
/// disturbed at all.
const STEP: Duration = Duration::from_millis(50);
const SILENT_STEP: Duration = Duration::from_secs(1);
/// Interval of the polls for events of several hosts.
const HOSTS_STEP: Duration = Duration::from_millis(1);
/// Agents that wait for commands. Dropping them ends them.
#[derive(Debug)]
pub(crate) struct Agents<'a> {
    /// Set when a signal asked to end.
    stop: &'a AtomicBool,
    pool: AgentPool,
    loads: BTreeMap<u32, LoadConfig>,
    clocks: Option<(Instant, Vec<Offset>)>,
    /// Of visits that are made on other hosts.
    sitters: Sitters,
}

/// A window whose reports have not all arrived.
struct OpenWindow<'a> {
    order: &'a WindowOrder,
    limit: WaitLimit,
    /// Those of a window on other hosts.
    edges: Option<Edges>,
    intervals: Vec<VecDeque<Interval>>,
    reports: Vec<Option<WindowReport>>,
}

impl<'s> Agents<'s> {
    /// Waits until those that were started take commands.
    pub(crate) fn new(pool: AgentPool, stop: &'s AtomicBool) -> Result<Self, String> {
        let mut agents =
            Self { stop, pool, loads: BTreeMap::new(), clocks: None, sitters: Sitters::default() };
        let until = Instant::now() + PATIENCE;
        let mut ready = vec![false; agents.pool.len()];
        while ready.contains(&false) {
            if Instant::now() >= until {
                return Err(format!(
                    "{}no answer within {} s",
                    agents.named(&ready),
                    PATIENCE.as_secs()
                ));
            }
            let Some((place, event)) = agents.next(agents.step())? else { continue };
            let AgentEvent::Ready { protocol, wirebench } = event else { continue };
            ready[place] = true;
            if protocol != AGENT_PROTOCOL {
                let host =
                    agents.pool.hosts().nth(place).map_or(String::new(), |it| format!("{it}: "));
                let or = if host.is_empty() { "" } else { ", or omit --no-copy" };
                return Err(format!(
                    "{host}its wirebench {wirebench} has protocol {protocol}, and this one has \
                     {AGENT_PROTOCOL}: install the same version{or}"
                ));
            }
        }
        Ok(agents)
    }

    /// The hosts that have not answered, before a colon.
    fn named(&self, answered: &[bool]) -> String {
        let silent = self.pool.hosts().zip(answered).filter(|(_, answered)| !**answered);
        let silent = silent.map(|(host, _)| host).collect::<Vec<_>>().join(", ");
        if silent.is_empty() { "the load generator: ".to_owned() } else { format!("{silent}: ") }
    }

    /// The process that generates the load, if it is on this host.
    pub(crate) fn pid(&self) -> Option<Pid> {
        self.pool.child().map(PipedChild::pid)
    }

    /// Makes the connections of a load. The answer is how many could be made.
    pub(crate) fn connect(
        &mut self,
        load: u32,
        config: &LoadConfig,
        windows: Windows,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<usize, String> {
        let shares = config.shares(self.pool.len())?.into_iter();
        let connect = |config| AgentCommand::Connect { load, config: Box::new(config), windows };
        self.pool.tell_each(shares.map(connect))?;
        let mut limit = WaitLimit::connecting(config, Instant::now());
        let mut settled = vec![0; self.pool.len()];
        let mut made = vec![None; self.pool.len()];
        while made.iter().any(Option::is_none) {
            limit.check(Instant::now())?;
            match self.next(self.step())? {
                Some((place, AgentEvent::Load(LoadEvent::Connecting { settled: more }))) => {
                    settled[place] = more;
                    let event = LoadEvent::Connecting { settled: settled.iter().sum() };
                    limit.hear(&event, Instant::now());
                    observe(event);
                }
                Some((place, AgentEvent::Load(LoadEvent::Connected { connections }))) => {
                    made[place] = Some(connections);
                }
                _ => {}
            }
        }
        self.loads.insert(load, config.clone());
        Ok(made.into_iter().flatten().sum())
    }

    /// Measures one window. `observe` hears its edges and intervals, where they are reported. A window that a signal
    /// ends has no report, but one with an `until` has the report of the time until that is set.
    pub(crate) fn window(
        &mut self,
        order: &WindowOrder,
        until: Option<&AtomicBool>,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<WindowReport, String> {
        let config = self.loads.get(&order.load).ok_or("the load has no connections")?;
        let config = order.applied_to(config);
        if self.pid().is_none() {
            return match order.recording {
                Recording::Intervals => self.load_of_hosts(order, config, until, observe),
                Recording::Series | Recording::Silent | Recording::Whole => {
                    self.visit_of_hosts(order, &config, observe)
                }
            };
        }
        self.pool.tell(&AgentCommand::Window(Box::new(order.clone())))?;
        let reports = self.follow((order, &config), None, until, observe)?;
        reports.into_iter().next().ok_or_else(|| "there is no report".to_owned())
    }

    /// Follows a window to its end. The clocks are read at `edges`.
    fn follow(
        &mut self,
        (order, config): (&WindowOrder, &LoadConfig),
        edges: Option<Edges>,
        until: Option<&AtomicBool>,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<Vec<WindowReport>, String> {
        let agents = self.pool.len();
        let (intervals, reports) = (vec![VecDeque::new(); agents], vec![None; agents]);
        let limit = WaitLimit::window(config, Instant::now());
        let mut window = OpenWindow { order, limit, edges, intervals, reports };
        let mut has_stopped = false;
        let mut events = VecDeque::new();
        while window.reports.iter().any(Option::is_none) {
            if !has_stopped && until.is_some_and(|until| until.load(Ordering::Relaxed)) {
                has_stopped = true;
                self.pool.tell(&AgentCommand::Stop)?;
            }
            window.limit.check(Instant::now())?;
            let edges = window.edges.as_mut();
            events.extend(edges.map(|it| it.pass(self.pool.now_ns())).unwrap_or_default());
            if events.is_empty() {
                let step = self.step_of(&window);
                let next = if until.is_some() { self.pool.heard(step) } else { self.next(step) };
                if let Some((place, event)) = next? {
                    window.hear(place, event, &mut events);
                }
            }
            while let Some(event) = events.pop_front() {
                window.limit.hear(&event, Instant::now());
                observe(event);
            }
        }
        Ok(window.reports.into_iter().flatten().collect())
    }

    /// How long to wait for the next event of a window. Events of a child end the wait, those of hosts are polled for.
    fn step_of(&self, window: &OpenWindow<'_>) -> Instant {
        if !window.order.recording.is_observed() && self.pid().is_some() {
            return Instant::now() + SILENT_STEP;
        }
        let edge = window.edges.as_ref().and_then(Edges::next_ns);
        edge.map_or(self.step(), |edge_ns| self.pool.instant(edge_ns).min(self.step()))
    }

    fn step(&self) -> Instant {
        Instant::now() + if self.pid().is_some() { STEP } else { HOSTS_STEP }
    }

    fn next(&mut self, until: Instant) -> Result<Option<(usize, AgentEvent)>, String> {
        if self.stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        self.pool.heard(until)
    }
}

impl OpenWindow<'_> {
    /// Records the event of one agent. `events` receives the events of the whole window that follow from it.
    fn hear(&mut self, place: usize, event: AgentEvent, events: &mut VecDeque<LoadEvent>) {
        match (event, &mut self.edges) {
            (AgentEvent::Load(event), None) => events.push_back(event),
            (AgentEvent::Load(LoadEvent::Interval(interval)), Some(_)) => {
                self.intervals[place].push_back(interval);
                while self.intervals.iter().all(|it| !it.is_empty()) {
                    let same: Vec<_> =
                        self.intervals.iter_mut().filter_map(VecDeque::pop_front).collect();
                    events.extend(parts::interval(&same).map(LoadEvent::Interval));
                }
            }
            (AgentEvent::Window(report), edges) => {
                events.extend(edges.as_mut().and_then(Edges::end));
                self.reports[place] = Some(*report);
            }
            _ => {}
        }
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
    let mut agents = Agents::new(AgentPool::on_hosts(fleet, stop)?, stop)?;
    let connections = agents.connect(0, config, Windows::One, observe)?;
    observe(LoadEvent::Connected { connections });
    let order = WindowOrder::of_load(config, Vec::new());
    Ok(agents.window(&order, Some(stop), observe)?.report)
}
