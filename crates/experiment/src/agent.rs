//! The agent of a cohort: a child process of this program on the load generator's CPUs, or agents on other hosts
//! that make its load together.

use std::{
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{AGENT_PROTOCOL, AgentCommand, AgentEvent, SliceOrder, SliceReport},
    load::LoadConfig,
};
use wirebench_server::pipe::PipedChild;

use crate::remote::{PATIENCE, SharedSlices};

/// How often a wait looks whether a signal asked to end.
const STEP: Duration = Duration::from_millis(50);
/// The same during a slice. One that is shorter is not disturbed at all.
const SILENT_STEP: Duration = Duration::from_secs(1);

/// An agent that waits for commands. Dropping it ends it.
#[derive(Debug)]
pub(crate) enum Agent {
    Here(Child),
    Away(SharedSlices),
}

impl Agent {
    /// Makes the connections of a load. The answer is how many could be made.
    pub(crate) fn connect(
        &mut self,
        load: u32,
        config: &LoadConfig,
        stop: &AtomicBool,
    ) -> Result<usize, String> {
        match self {
            Self::Here(child) => child.connect(load, config, stop),
            Self::Away(slices) => slices.connect(load, config, stop),
        }
    }

    pub(crate) fn slice(
        &mut self,
        order: SliceOrder,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Result<SliceReport, String> {
        match self {
            Self::Here(child) => child.slice(order, timeout, stop),
            Self::Away(slices) => slices.slice(&order, timeout, stop),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Child {
    process: PipedChild<AgentEvent>,
}

impl Child {
    /// Starts `argv`, which is this program with `agent`, on `cpus`.
    pub(crate) fn start(
        argv: &[String],
        cpus: Option<&[u32]>,
        stop: &AtomicBool,
    ) -> Result<Self, String> {
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).stdin(Stdio::piped());
        let process = PipedChild::spawn(command, cpus)
            .map_err(|error| format!("the load generator could not be started: {error}"))?;
        let mut agent = Self { process };
        match agent.event(PATIENCE, STEP, stop)? {
            AgentEvent::Ready { protocol: AGENT_PROTOCOL, .. } => Ok(agent),
            AgentEvent::Ready { protocol, wirebench } => Err(format!(
                "the agent is wirebench {wirebench} with protocol {protocol}, and this one has \
                 protocol {AGENT_PROTOCOL}: install the same version on both sides"
            )),
            other => Err(unexpected(&other)),
        }
    }

    fn connect(
        &mut self,
        load: u32,
        config: &LoadConfig,
        stop: &AtomicBool,
    ) -> Result<usize, String> {
        let command = AgentCommand::Connect { load, config: Box::new(config.clone()) };
        match self.ask(&command, PATIENCE + config.timeout * 3, STEP, stop)? {
            AgentEvent::Connected { connections, .. } => Ok(connections),
            AgentEvent::Failed { reason } => Err(reason),
            other => Err(unexpected(&other)),
        }
    }

    fn slice(
        &mut self,
        order: SliceOrder,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Result<SliceReport, String> {
        let planned = Duration::from_nanos(order.discard_ns + order.length_ns);
        let command = AgentCommand::Slice(Box::new(order));
        match self.ask(&command, PATIENCE + planned + timeout * 3, SILENT_STEP, stop)? {
            AgentEvent::Slice(report) => Ok(*report),
            AgentEvent::Failed { reason } => Err(reason),
            other => Err(unexpected(&other)),
        }
    }

    fn ask(
        &mut self,
        command: &AgentCommand,
        within: Duration,
        step: Duration,
        stop: &AtomicBool,
    ) -> Result<AgentEvent, String> {
        self.process.say(command)?;
        self.event(within, step, stop)
    }

    fn event(
        &mut self,
        within: Duration,
        step: Duration,
        stop: &AtomicBool,
    ) -> Result<AgentEvent, String> {
        let until = Instant::now() + within;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            if let Some(event) = self.process.next("load generator", step)? {
                return Ok(event);
            }
            if Instant::now() >= until {
                let seconds = within.as_secs();
                return Err(format!("the load generator did not answer within {seconds} s"));
            }
        }
    }
}

fn unexpected(event: &AgentEvent) -> String {
    format!("the load generator answered out of turn: {event:?}")
}
