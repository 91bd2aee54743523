//! Agents on several hosts that are spoken to as one: started together, kept alive by heartbeats, and heard in
//! any order.

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::agent::{AgentCommand, AgentEvent, HEARTBEAT_WITHIN_NS};
use wirebench_server::{parallel, pipe::PipedChild};

use super::{
    Carrier, Program,
    clock::{Exchange, Offset},
    install,
};

/// How much longer than planned a command may take before an agent counts as hung.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
/// Messages there and back by which a clock is read.
const BATCHES: u32 = 2;
const IN_BATCH: u32 = 4;
/// The time between two looks whether something was said.
pub(super) const STEP: Duration = Duration::from_millis(1);
/// Heartbeats come several times as often as they must.
pub(super) const HEARTBEAT_EVERY: Duration = Duration::from_nanos(HEARTBEAT_WITHIN_NS / 5);

/// Where the generators are, and how they are reached.
#[derive(Clone, Debug)]
pub struct Fleet {
    pub hosts: Vec<String>,
    pub carrier: Carrier,
    pub program: Program,
    /// Whether the hosts have the program; copies of the fleet share it.
    provided: Arc<OnceLock<Result<(), String>>>,
}

impl Fleet {
    /// Of hosts about which nothing is known yet.
    #[must_use]
    pub fn new(hosts: Vec<String>, carrier: Carrier, program: Program) -> Self {
        Self { hosts, carrier, program, provided: Arc::default() }
    }

    /// Makes sure, once, that all hosts are reached and have the program.
    pub fn provide(&self, stop: &AtomicBool) -> Result<(), String> {
        self.provided.get_or_init(|| self.provide_now(stop)).clone()
    }

    fn provide_now(&self, stop: &AtomicBool) -> Result<(), String> {
        let provide = |host: &String| install::provide(&self.carrier, host, &self.program, stop);
        parallel::map(&self.hosts, self.hosts.len(), provide).into_iter().collect()
    }
}

/// An agent that waits for commands. Dropping it ends it, because its input closes.
#[derive(Debug)]
struct Member {
    host: String,
    process: PipedChild<AgentEvent>,
    /// When it last said something; its host may take longer for the first word.
    heard: Option<Instant>,
}

impl Member {
    fn say(&mut self, command: &AgentCommand) -> Result<(), String> {
        self.process.say(command).map_err(|reason| format!("{}: {reason}", self.host))
    }

    /// Listens for a while. An error is that it has ended, has failed, or has said nothing for too long.
    fn listen(&mut self, wait: Duration) -> Result<Option<AgentEvent>, String> {
        let event = self.process.next_at("load generator", wait);
        let event = event.map_err(|reason| format!("{}: {reason}", self.host))?;
        self.heard = event.as_ref().map_or(self.heard, |(at, _)| Some(*at));
        let event = event.map(|(_, event)| event);
        // What has waited here to be read is no silence.
        let silence = match (&event, self.heard) {
            (None, Some(heard)) => heard.elapsed(),
            _ => Duration::ZERO,
        };
        if silence > Duration::from_nanos(HEARTBEAT_WITHIN_NS) {
            return Err(format!(
                "{}: no sign of life for {:.0} s: its host, or the way there, has stalled",
                self.host,
                silence.as_secs_f64()
            ));
        }
        match event {
            Some(AgentEvent::Failed { reason }) => Err(format!("{}: {reason}", self.host)),
            Some(AgentEvent::Alive) => Ok(None),
            event => Ok(event),
        }
    }
}

#[derive(Debug)]
pub(super) struct Crew {
    members: Vec<Member>,
    /// When the clock of this side was zero.
    origin: Instant,
    /// When the last heartbeats were sent.
    heartbeat: Option<Instant>,
    turn: usize,
}

impl Crew {
    /// Starts an agent on each host, and waits until all of them take commands.
    pub(super) fn start(fleet: &Fleet, stop: &AtomicBool) -> Result<Self, String> {
        // Each agent needs several files. Too few are found when one cannot be started.
        let _ = wirebench_sys::limits::raise_open_files();
        fleet.provide(stop)?;
        let spawn = |host: &String| {
            let process = install::spawn(&fleet.carrier, host, &fleet.program)?;
            Ok(Member { host: host.clone(), process, heard: None })
        };
        let members = fleet.hosts.iter().map(spawn).collect::<Result<Vec<_>, String>>()?;
        let mut crew = Self { members, origin: Instant::now(), heartbeat: None, turn: 0 };
        let versions = crew.answers(PATIENCE, stop, |event| match event {
            AgentEvent::Ready { protocol, wirebench } => Some((protocol, wirebench)),
            _ => None,
        })?;
        for (member, (protocol, wirebench)) in crew.members.iter().zip(versions) {
            install::check(protocol, &wirebench)
                .map_err(|reason| format!("{}: {reason}", member.host))?;
        }
        Ok(crew)
    }

    pub(super) fn now_ns(&self) -> u64 {
        elapsed_ns(self.origin)
    }

    /// How long it is until this side's clock shows `moment_ns`.
    pub(super) fn until(&self, moment_ns: u64) -> Duration {
        Duration::from_nanos(moment_ns.saturating_sub(self.now_ns()))
    }

    pub(super) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.host.as_str())
    }

    pub(super) fn tell(&mut self, command: &AgentCommand) -> Result<(), String> {
        self.members.iter_mut().try_for_each(|member| member.say(command))
    }

    /// Says something of its own to each.
    pub(super) fn tell_each(
        &mut self,
        commands: impl IntoIterator<Item = AgentCommand>,
    ) -> Result<(), String> {
        self.members.iter_mut().zip(commands).try_for_each(|(it, command)| it.say(&command))
    }

    /// What one of them has said, with its place, if there is anything. It does not wait.
    pub(super) fn heard(&mut self) -> Result<Option<(usize, AgentEvent)>, String> {
        if self.heartbeat.is_none_or(|last| last.elapsed() >= HEARTBEAT_EVERY) {
            self.heartbeat = Some(Instant::now());
            self.tell(&AgentCommand::Heartbeat)?;
        }
        let count = self.members.len();
        for place in (self.turn..self.turn + count).map(|place| place % count) {
            if let Some(event) = self.members[place].listen(Duration::ZERO)? {
                self.turn = place + 1;
                return Ok(Some((place, event)));
            }
        }
        Ok(None)
    }

    /// The wanted answer of each, in their order. Whatever else they say is lost.
    pub(super) fn answers<T>(
        &mut self,
        within: Duration,
        stop: &AtomicBool,
        wanted: impl Fn(AgentEvent) -> Option<T>,
    ) -> Result<Vec<T>, String> {
        let until = Instant::now() + within;
        let mut answers: Vec<Option<T>> = self.members.iter().map(|_| None).collect();
        while answers.iter().any(Option::is_none) {
            if stop.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            match self.heard()? {
                Some((place, event)) => answers[place] = wanted(event).or(answers[place].take()),
                None => thread::sleep(STEP),
            }
            if Instant::now() >= until {
                let silent = self.hosts().zip(&answers).filter(|(_, it)| it.is_none());
                let hosts: Vec<&str> = silent.map(|(host, _)| host).collect();
                let seconds = within.as_secs();
                return Err(format!("{}: no answer within {seconds} s", hosts.join(", ")));
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// The clocks of all. Whatever else they say meanwhile is lost.
    pub(super) fn offsets(&mut self) -> Result<Vec<Offset>, String> {
        let mut exchanges: Vec<Vec<Exchange>> = vec![Vec::new(); self.members.len()];
        // Over a long way each exchange by itself would take its time.
        for _ in 0..BATCHES {
            let mut sent: Vec<VecDeque<u64>> = vec![VecDeque::new(); self.members.len()];
            for _ in 0..IN_BATCH {
                for (member, sent) in self.members.iter_mut().zip(&mut sent) {
                    sent.push_back(elapsed_ns(self.origin));
                    member.say(&AgentCommand::Clock)?;
                }
            }
            for (place, mut sent) in sent.into_iter().enumerate() {
                while let Some(sent_ns) = sent.front().copied() {
                    let wait = Duration::from_nanos(HEARTBEAT_WITHIN_NS);
                    // None is the answer to a heartbeat, or a silence that the next look finds.
                    if let Some(AgentEvent::Clock { now_ns }) = self.members[place].listen(wait)? {
                        let received = self.members[place].heard.unwrap_or_else(Instant::now);
                        let received_ns = nanoseconds(received.duration_since(self.origin));
                        exchanges[place].push(Exchange { sent_ns, there_ns: now_ns, received_ns });
                        sent.pop_front();
                    }
                }
            }
        }
        let offsets = exchanges.iter().map(|it| Offset::of(it));
        offsets.collect::<Option<_>>().ok_or_else(|| "no clock was read".to_owned())
    }
}

fn elapsed_ns(origin: Instant) -> u64 {
    nanoseconds(origin.elapsed())
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
