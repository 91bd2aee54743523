//! A whole load: the connections first, then everything else at a moment that is common to all agents.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};
use wirebench_loadgen::{Measured, ServerClocks, measure, now_ns};
use wirebench_schema::{
    agent::{AgentCommand, AgentEvent},
    load::{LoadConfig, LoadEvent},
};

use crate::commands::Commands;

/// The longest sleep between two looks whether the load shall stop.
const STEP: Duration = Duration::from_millis(20);

/// Runs a load that begins on `Start`. `say` takes the events that the connections are made, and that
/// an interval has passed.
pub(crate) fn carry_out(
    config: &LoadConfig,
    commands: &Commands,
    say: &mut dyn FnMut(&AgentEvent) -> io::Result<()>,
) -> Result<AgentEvent, String> {
    commands.stop.store(false, Ordering::Relaxed);
    let mut failure = None;
    let mut observe = |event| {
        let done = match event {
            LoadEvent::Connected { connections } => wait_for_start(connections, commands, say),
            LoadEvent::Interval(interval) => {
                say(&AgentEvent::Interval(interval)).map_err(|error| error.to_string())
            }
            _ => Ok(()),
        };
        if let Err(reason) = done {
            failure = Some(reason);
            commands.stop.store(true, Ordering::Relaxed);
        }
    };
    let measured = measure(config, &commands.stop, &ServerClocks::default(), &mut observe);
    if let Some(reason) = failure {
        return Err(reason);
    }
    let Measured { report, start_ns } = measured.map_err(|error| error.to_string())?;
    let start_ns = start_ns.ok_or("the load was stopped before it began")?;
    Ok(AgentEvent::Report { report: Box::new(report), start_ns })
}

/// Answers until the load shall begin, and waits for that moment.
fn wait_for_start(
    connections: usize,
    commands: &Commands,
    say: &mut dyn FnMut(&AgentEvent) -> io::Result<()>,
) -> Result<(), String> {
    let mut say = |event| say(&event).map_err(|error| error.to_string());
    say(AgentEvent::Connected { load: 0, connections })?;
    loop {
        match commands.next() {
            Some(Ok(AgentCommand::Clock)) => say(AgentEvent::Clock { now_ns: now_ns() })?,
            Some(Ok(AgentCommand::Start { start_ns })) => {
                sleep_until(start_ns, &commands.stop);
                return Ok(());
            }
            Some(Ok(AgentCommand::Stop)) => return Ok(()),
            Some(Ok(other)) => return Err(format!("{other:?} came before the load began")),
            Some(Err(reason)) => return Err(reason),
            None => return Err("the input ended before the load began".to_owned()),
        }
    }
}

/// Waits until the agent's clock shows `moment_ns`, unless it shall stop.
pub(crate) fn sleep_until(moment_ns: u64, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = Duration::from_nanos(moment_ns.saturating_sub(now_ns()));
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(STEP));
    }
}
