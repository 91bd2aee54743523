//! An agent: generates load on commands from a pipe, and lives as long as the servers that it loads.
//!
//! Commands and events are those of [`wirebench_schema::agent`]. `commands` reads the pipe, and
//! `loads` holds the connections and measures over them. It starts no process, writes no file,
//! and ends when its input does.
#![forbid(unsafe_code)]

mod commands;
mod loads;

use std::{
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
};
use wirebench_loadgen::now_ns;
use wirebench_schema::agent::{AGENT_PROTOCOL, AgentCommand, AgentEvent};

use crate::{commands::Commands, loads::Loads};

/// Runs the commands of `input` until it ends, and answers each of them on `output`. A window that lasts when
/// the input ends is cut off.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let output = Arc::new(Mutex::new(output));
    let heartbeats = Arc::clone(&output);
    // A reader that has gone is noticed at the next write.
    let commands = Commands::read(input, move || drop(write(&heartbeats, &AgentEvent::Alive)))?;
    let mut loads = Loads::new(commands.stop());
    let wirebench = env!("CARGO_PKG_VERSION").to_owned();
    write(&output, &AgentEvent::Ready { protocol: AGENT_PROTOCOL, wirebench })?;
    while let Some(command) = commands.next() {
        let mut say = |event: &AgentEvent| write(&output, event);
        let done = match command {
            Ok(AgentCommand::Connect { load, config, windows }) => {
                loads.connect(load, *config, windows, &mut say)
            }
            Ok(AgentCommand::Window(order)) => loads.window(&order, &mut say),
            Ok(AgentCommand::Clock) => Ok(AgentEvent::Clock { now_ns: now_ns() }),
            // Those are handled as soon as they are read.
            Ok(AgentCommand::Heartbeat | AgentCommand::Stop) => continue,
            Err(reason) => Err(reason),
        };
        let event = done.unwrap_or_else(|reason| AgentEvent::Failed { reason });
        write(&output, &event)?;
    }
    Ok(())
}

fn write(output: &Mutex<impl Write>, event: &AgentEvent) -> io::Result<()> {
    let line = serde_json::to_string(event)?;
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(output, "{line}")?;
    output.flush()
}
