//! `cargo xtask bench-scale`: what one side that carries many agents uses, with agents that generate no load. Each is a
//! process over real pipes, as a carrier is.

use anyhow::{Context as _, ensure};
use rustix::process::Pid;
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{AGENT_PROTOCOL, AgentCommand, AgentEvent, WindowCpu, WindowReport},
    load::{GeneratorPart, LoadEvent, LoadReport, Stop},
};
use wirebench_sys::cpu_clock::process_cpu_ns;

use crate::{
    process::{self, Server, command, output, root},
    table::{self, middle},
};

/// Connected counts from the start of the program, the report from the end of the window, and the end from the report
/// until the program and all agents have ended. CPU time and memory are those until the end of the window.
const HEAD: &str = "agents | until connected s | until the report s | until all ended s | CPU s | memory MiB | \
    started within ms | clock error us";

/// Figures of one load, by column after the first one.
type Taken = [f64; 7];
const DIGITS: [usize; 7] = [2, 2, 2, 2, 0, 2, 0];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Numbers of agents
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 100, 300, 1000])]
    agents: Vec<usize>,
    /// Length of each load in seconds
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// How often each number is measured; medians are shown
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let program = process::wirebench()?;
    let report = root().join("target/bench-scale.json");
    let server = ["null-server", "epoll", "hello", "127.0.0.1", "0", "1"];
    let server = Server::start(command(&program, server))?;
    let url = format!("http://{}/", server.address);
    let words = ["load", "-t1", "-c16", "-d1s", "--json", &url];
    fs::write(&report, output(command(&program, words))?)?;
    drop(server);
    println!("a report has {} bytes", fs::metadata(&report)?.len());
    let mut rows = Vec::new();
    for &agents in &arguments.agents {
        let round = |_| load(&program, &report, agents, arguments.seconds);
        let rounds = (0..arguments.rounds).map(round).collect::<anyhow::Result<Vec<Taken>>>()?;
        let median = |place: usize| middle(&rounds, DIGITS[place], |it| Some(it[place]));
        rows.push([agents.to_string()].into_iter().chain((0..DIGITS.len()).map(median)).collect());
    }
    println!("{}", table::markdown(HEAD, rows));
    Ok(())
}

fn load(program: &Path, report: &Path, agents: usize, seconds: u64) -> anyhow::Result<Taken> {
    let hosts: Vec<String> = (0..agents).map(|number| format!("h{number}")).collect();
    let own = std::env::current_exe()?;
    let carrier = format!("{} fake-agent {} {{host}}", own.display(), report.display());
    let words = ["load", "--from", &hosts.join(","), "--carrier", &carrier, "--events", "-t1"];
    let mut command = command(program, words);
    command.arg(format!("-c{agents}")).arg(format!("-d{seconds}s")).arg("http://127.0.0.1:9/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let now = || began.elapsed().as_secs_f64();
    let mut child = command.spawn()?;
    let (mut connected, mut window, mut reported) = (None, None, None);
    for line in BufReader::new(child.stdout.take().context("no pipe")?).lines() {
        match serde_json::from_str(&line?)? {
            LoadEvent::Connected { .. } => connected = Some(now()),
            LoadEvent::WindowEnd => window = Some((now(), used(&child)?)),
            LoadEvent::Report(report) => reported = Some((now(), report)),
            _ => {}
        }
    }
    // 3 says that they began too far apart, which the table shows.
    let code = child.wait()?.code();
    ensure!(matches!(code, Some(0 | 3)), "the load of {agents} agents failed");
    let ended = now();
    let (window_ended, (cpu, memory)) = window.context("no window")?;
    let (reported, report) = reported.context("no report")?;
    let parts = &report.generators;
    ensure!(parts.len() == agents, "{} generators", parts.len());
    let most = |of: fn(&GeneratorPart) -> u64| parts.iter().map(of).max().unwrap_or(0) as f64;
    Ok([
        connected.context("no connection")?,
        (reported - window_ended).max(0.0),
        ended - reported,
        cpu,
        memory,
        most(|it| it.start_delay_ns) / 1e6,
        most(|it| it.clock_error_ns) / 1e3,
    ])
}

/// CPU time in seconds and the most memory in MiB of a process so far.
fn used(child: &Child) -> anyhow::Result<(f64, f64)> {
    let status = procfs::process::Process::new(i32::try_from(child.id())?)?.status()?;
    let cpu_ns = process_cpu_ns(Pid::from_child(child))?;
    Ok((cpu_ns as f64 / 1e9, status.vmhwm.unwrap_or(0) as f64 / 1024.0))
}

/// An agent without load: it answers as one does, with a report that was made once, until standard input ends. Of
/// a thousand of them none takes a CPU from the side that is measured, beyond its own start and its lines. `script` is
/// what the carrier was asked to do.
pub(crate) fn fake_agent(report: &Path, script: &str) -> anyhow::Result<()> {
    // The first question is whether the program is there.
    if !script.starts_with("exec ") {
        return Ok(());
    }
    let text = fs::read_to_string(report).with_context(|| report.display().to_string())?;
    let report: LoadReport = serde_json::from_str(&text)?;
    let origin = Instant::now();
    let now_ns = || u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let wirebench = env!("CARGO_PKG_VERSION").to_owned();
    answer(&AgentEvent::Ready { protocol: AGENT_PROTOCOL, wirebench })?;
    for line in std::io::stdin().lock().lines() {
        match serde_json::from_str(&line?)? {
            AgentCommand::Connect { config: it, .. } => {
                answer(&AgentEvent::Load(LoadEvent::Connected { connections: it.connections }))?;
            }
            AgentCommand::Window(order) => {
                let Stop::After(window) = order.stop else { continue };
                let start_ns = order.start_ns.unwrap_or(0);
                let until = Duration::from_nanos(start_ns).saturating_sub(origin.elapsed());
                thread::sleep(until + window);
                answer(&AgentEvent::Window(Box::new(WindowReport {
                    load: order.load,
                    report: report.clone(),
                    start_ns,
                    end_ns: now_ns(),
                    waited_ns: 0,
                    generator_waited_ns: 0,
                    cpu: WindowCpu::default(),
                    parked_cpu_ns: Vec::new(),
                    series: Vec::new(),
                })))?;
            }
            AgentCommand::Clock => answer(&AgentEvent::Clock { now_ns: now_ns() })?,
            AgentCommand::Heartbeat => answer(&AgentEvent::Alive)?,
            _ => {}
        }
    }
    Ok(())
}

fn answer(event: &AgentEvent) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{}", serde_json::to_string(event)?)?)
}
