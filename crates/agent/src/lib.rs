//! An agent: generates load on commands from a pipe, and lives as long as the cohort of servers
//! that it loads.
//!
//! Commands and events are those of [`wirebench_schema::agent`]. `commands` reads the pipe, `loads`
//! holds the connections, `slice` runs one slice, `clocks` reads the CPU time of processes on this
//! host. It starts no process, writes no file, and ends when its input does.
#![forbid(unsafe_code)]

mod clocks;
mod commands;
mod loads;
mod slice;

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
};
use wirebench_schema::agent::{AGENT_PROTOCOL, AgentCommand, AgentEvent};

use crate::{commands::Commands, loads::Loads};

/// Carries out the commands of `input` until it ends, and answers each of them on `output`. A slice
/// that lasts when the input ends is cut off.
pub fn serve(input: impl BufRead + Send + 'static, mut output: impl Write) -> io::Result<()> {
    let commands = Commands::read(input);
    let mut loads = Loads::new(Arc::clone(&commands.stop));
    let wirebench = env!("CARGO_PKG_VERSION").to_owned();
    write(&mut output, &AgentEvent::Ready { protocol: AGENT_PROTOCOL, wirebench })?;
    while let Some(command) = commands.next() {
        let done = match command {
            Ok(AgentCommand::Connect { load, config }) => loads.connect(load, &config),
            Ok(AgentCommand::Slice(order)) => loads.slice(&order),
            Ok(AgentCommand::Close { load }) => loads.close(load),
            Err(reason) => Err(reason),
        };
        let event = done.unwrap_or_else(|reason| AgentEvent::Failed { reason });
        write(&mut output, &event)?;
    }
    Ok(())
}

fn write(output: &mut impl Write, event: &AgentEvent) -> io::Result<()> {
    let line = serde_json::to_string(event)?;
    writeln!(output, "{line}")?;
    output.flush()
}
