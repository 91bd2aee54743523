//! An agent that makes no load: it answers as one does, with a report that was made once. Of a thousand of them
//! none takes a CPU from the side that is measured, beyond its own start and its lines.

use anyhow::Context as _;
use std::{
    io::{BufRead, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{AGENT_PROTOCOL, AgentCommand, AgentEvent, WindowCpu, WindowReport},
    load::{EdgeClocks, LoadReport, Stop},
};

/// Answers on standard output until standard input ends. `script` is what the carrier was asked to do.
pub(crate) fn run(report: &Path, script: &str) -> anyhow::Result<()> {
    // Whether the program is there, is asked first.
    if !script.starts_with("exec ") {
        return Ok(());
    }
    let text = std::fs::read_to_string(report).with_context(|| report.display().to_string())?;
    let report: LoadReport = serde_json::from_str(&text)?;
    let origin = Instant::now();
    let now_ns = || u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let wirebench = env!("CARGO_PKG_VERSION").to_owned();
    say(&AgentEvent::Ready { protocol: AGENT_PROTOCOL, wirebench })?;
    for line in std::io::stdin().lock().lines() {
        match serde_json::from_str(&line?)? {
            AgentCommand::Connect { config, .. } => {
                say(&AgentEvent::Connected { connections: config.connections })?;
            }
            AgentCommand::Window(order) => {
                let Stop::After(window) = order.stop else { continue };
                let start_ns = order.start_ns.unwrap_or(0);
                let until = Duration::from_nanos(start_ns).saturating_sub(origin.elapsed());
                thread::sleep(until + window);
                say(&AgentEvent::Window(Box::new(WindowReport {
                    load: order.load,
                    report: report.clone(),
                    start_ns,
                    end_ns: now_ns(),
                    waited_ns: 0,
                    generator_waited_ns: 0,
                    cpu: WindowCpu::default(),
                    clocks: EdgeClocks::default(),
                    parked_cpu_ns: Vec::new(),
                    series: Vec::new(),
                })))?;
            }
            AgentCommand::Clock => say(&AgentEvent::Clock { now_ns: now_ns() })?,
            AgentCommand::Heartbeat => say(&AgentEvent::Alive)?,
            _ => {}
        }
    }
    Ok(())
}

fn say(event: &AgentEvent) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", serde_json::to_string(event)?)?;
    Ok(stdout.flush()?)
}
