//! Agents that are spoken to as one: a child on this host, or agents on several other hosts, which are kept
//! alive by heartbeats and heard in any order.

use std::{
    collections::VecDeque,
    process::Command,
    sync::{
        atomic::AtomicBool,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::agent::{AgentCommand, AgentEvent, HEARTBEAT_WITHIN_NS};
use wirebench_server::{
    parallel,
    pipe::{PipedChild, Writer},
};

use super::clock::{Exchange, Offset};
use crate::remote::{Fleet, HEARTBEAT_EVERY};

/// Messages there and back by which a clock is read.
const BATCHES: u32 = 2;
const IN_BATCH: u32 = 4;

/// An agent that waits for commands. Dropping it ends it, because its input closes.
#[derive(Debug)]
struct Member {
    /// None of a child on this host, which needs no heartbeat: its pipe closes when it ends.
    host: Option<String>,
    process: PipedChild,
    /// When it last said something; its host may take longer for the first word.
    heard: Option<Instant>,
}

impl Member {
    fn say(&mut self, command: &AgentCommand) -> Result<(), String> {
        self.process.say(command).map_err(|reason| self.named(reason))
    }

    /// A sentence with the host that it is about.
    fn named(&self, reason: String) -> String {
        match &self.host {
            Some(host) => format!("{host}: {reason}"),
            None => reason,
        }
    }

    /// Listens for a while. An error is that it has ended, has failed, or has said nothing for too long.
    fn listen(&mut self, wait: Duration) -> Result<Option<AgentEvent>, String> {
        let event = self.process.next("load generator", wait);
        let event = event.map_err(|reason| self.named(reason))?;
        self.heard = event.as_ref().map_or(self.heard, |(at, _)| Some(*at));
        let event = event.map(|(_, event)| event);
        // What has waited here to be read is no silence.
        let silence = match (&event, self.heard) {
            (None, Some(heard)) if self.host.is_some() => heard.elapsed(),
            _ => Duration::ZERO,
        };
        if silence > Duration::from_nanos(HEARTBEAT_WITHIN_NS) {
            return Err(self.named(format!(
                "no sign of life for {:.0} s: its host, or the way there, has stalled",
                silence.as_secs_f64()
            )));
        }
        match event {
            Some(AgentEvent::Failed { reason }) => Err(self.named(reason)),
            Some(AgentEvent::Alive) => Ok(None),
            event => Ok(event),
        }
    }
}

#[derive(Debug)]
pub(crate) struct AgentPool {
    members: Vec<Member>,
    /// When the clock of this side was zero.
    origin: Instant,
    turn: usize,
    /// Ends the heartbeats when it is dropped; none of a child on this host.
    _heartbeats: Option<Sender<()>>,
}

impl AgentPool {
    /// Starts `argv`, which is this program with `agent`, on `cpus`.
    pub(crate) fn here(argv: &[String], cpus: Option<&[u32]>) -> Result<Self, String> {
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]);
        let process = PipedChild::spawn(command, cpus)
            .map_err(|error| format!("the load generator could not be started: {error}"))?;
        Ok(Self::of(vec![Member { host: None, process, heard: None }]))
    }

    /// Starts an agent on each host.
    pub(crate) fn on_hosts(fleet: &Fleet, stop: &AtomicBool) -> Result<Self, String> {
        // Each agent needs several files. Too few are found when one cannot be started.
        let _ = wirebench_sys::limits::raise_open_files();
        fleet.provide(stop)?;
        let spawn = |host: &String| {
            let process = fleet.start_agent(host)?;
            Ok(Member { host: Some(host.clone()), process, heard: None })
        };
        let members: Vec<Member> = fleet.hosts.iter().map(spawn).collect::<Result<_, String>>()?;
        let writers = members.iter().filter_map(|it| it.process.writer()).collect();
        let heartbeats = heartbeats(writers).map_err(|error| error.to_string())?;
        Ok(Self { _heartbeats: Some(heartbeats), ..Self::of(members) })
    }

    fn of(members: Vec<Member>) -> Self {
        Self { members, origin: Instant::now(), turn: 0, _heartbeats: None }
    }

    pub(super) const fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn now_ns(&self) -> u64 {
        elapsed_ns(self.origin)
    }

    /// When this side's clock shows `moment_ns`.
    pub(super) fn instant(&self, moment_ns: u64) -> Instant {
        self.origin + Duration::from_nanos(moment_ns)
    }

    /// The hosts of the agents; none of a child on this one.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.members.iter().filter_map(|member| member.host.as_deref())
    }

    /// The child on this host.
    pub(super) fn child(&self) -> Option<&PipedChild> {
        self.members.iter().find(|it| it.host.is_none()).map(|it| &it.process)
    }

    pub(super) fn tell(&mut self, command: &AgentCommand) -> Result<(), String> {
        self.tell_each(std::iter::repeat(command.clone()))
    }

    /// Says something of its own to each.
    pub(super) fn tell_each(
        &mut self,
        commands: impl IntoIterator<Item = AgentCommand>,
    ) -> Result<(), String> {
        self.members.iter_mut().zip(commands).try_for_each(|(it, command)| it.say(&command))
    }

    /// What one of them has said, with its place; none until then. A child on this host is listened to without a
    /// turn of this thread.
    pub(super) fn heard(&mut self, until: Instant) -> Result<Option<(usize, AgentEvent)>, String> {
        let left = || until.saturating_duration_since(Instant::now());
        if self.child().is_some() {
            return Ok(self.members[0].listen(left())?.map(|event| (0, event)));
        }
        let count = self.members.len();
        for place in (self.turn..self.turn + count).map(|place| place % count) {
            if let Some(event) = self.members[place].listen(Duration::ZERO)? {
                self.turn = place + 1;
                return Ok(Some((place, event)));
            }
        }
        thread::sleep(left().min(HEARTBEAT_EVERY));
        Ok(None)
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

/// Sends heartbeats until what it returns is dropped. They have a thread of their own, because the others may wait for
/// one host, for a server or for a CPU longer than an agent goes on without them.
fn heartbeats(to: Vec<Writer>) -> std::io::Result<Sender<()>> {
    let (sender, receiver) = mpsc::channel();
    parallel::spawn(move || {
        while receiver.recv_timeout(HEARTBEAT_EVERY) == Err(RecvTimeoutError::Timeout) {
            for writer in &to {
                // Its next event says why one cannot be written to.
                let _ = writer.say(&AgentCommand::Heartbeat);
            }
        }
    })?;
    Ok(sender)
}

fn elapsed_ns(origin: Instant) -> u64 {
    nanoseconds(origin.elapsed())
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
