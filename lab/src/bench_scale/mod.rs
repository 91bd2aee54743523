//! `cargo xtask bench-scale`: what one side that carries many agents uses, with agents that generate no load. Each is a
//! process over real pipes, as a carrier is.

mod fake;

pub(crate) use fake::run as fake_agent;

use anyhow::{Context as _, ensure};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use wirebench_report::table::{Style, listing};
use wirebench_schema::load::{GeneratorPart, LoadEvent};
use wirebench_stats::median;

use crate::process::{self, Server, command, finish, root};

/// How long the load of the report may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Each column after the number of agents, and its digits.
const COLUMNS: [(&str, usize); 7] = [
    // From the start of the program.
    ("until connected s", 2),
    // From the end of the window.
    ("until the report s", 2),
    // From the report until the program and all agents have ended.
    ("until all ended s", 2),
    // CPU time and memory until the end of the window.
    ("CPU s", 2),
    ("memory MiB", 0),
    ("started within ms", 2),
    ("clock error us", 0),
];

/// What one load with some agents took, by column.
type Taken = [f64; COLUMNS.len()];

/// Arguments of `cargo xtask bench-scale`.
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
    fs::write(&report, canned(&program)?)?;
    println!("a report has {} bytes", fs::metadata(&report)?.len());
    let names = COLUMNS.iter().map(|(name, _)| *name);
    let head: Vec<&str> = std::iter::once("agents").chain(names).collect();
    let mut rows = Vec::new();
    for agents in &arguments.agents {
        let rounds =
            (0..arguments.rounds).map(|_| load(&program, &report, *agents, arguments.seconds));
        let rounds: Vec<Taken> = rounds.collect::<anyhow::Result<_>>()?;
        let cells = (0..).zip(COLUMNS).map(|(column, (_, digits)): (usize, _)| {
            let values: Vec<f64> = rounds.iter().map(|taken| taken[column]).collect();
            median(&values).map_or("-".to_owned(), |it| format!("{it:.digits$}"))
        });
        rows.push(std::iter::once(agents.to_string()).chain(cells).collect());
    }
    println!("{}", listing(Style::Markdown, &head, 0, rows));
    Ok(())
}

/// The report of a real load of 1 s.
fn canned(program: &Path) -> anyhow::Result<String> {
    let server = ["null-server", "epoll", "hello", "127.0.0.1", "0", "1"];
    let server = Server::start(command(program, server))?;
    let url = format!("http://{}/", server.address);
    let load = command(program, ["load", "-t1", "-c16", "-d1s", "--json", &url]);
    finish(load, PATIENCE)?.output()
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
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id())?;
    let (mut connected, mut window_ended, mut used_so_far) = (None, None, (0.0, 0.0));
    let mut last = None;
    for line in BufReader::new(child.stdout.take().context("no pipe")?).lines() {
        match serde_json::from_str(&line?)? {
            LoadEvent::Connected { .. } => connected = Some(began.elapsed()),
            LoadEvent::WindowEnd => {
                window_ended = Some(began.elapsed());
                used_so_far = used(pid)?;
            }
            LoadEvent::Report(report) => last = Some((report, began.elapsed())),
            _ => {}
        }
    }
    // 3 says that they began too far apart, which the table shows.
    let code = child.wait()?.code();
    ensure!(matches!(code, Some(0 | 3)), "the load of {agents} agents failed");
    let ended = began.elapsed();
    let ((report, reported), connected) =
        (last.context("no report")?, connected.context("no connection")?);
    ensure!(report.generators.len() == agents, "{} generators", report.generators.len());
    let most =
        |of: fn(&GeneratorPart) -> u64| report.generators.iter().map(of).max().unwrap_or(0) as f64;
    let window_ended = window_ended.context("no window")?;
    Ok([
        connected.as_secs_f64(),
        reported.saturating_sub(window_ended).as_secs_f64(),
        ended.saturating_sub(reported).as_secs_f64(),
        used_so_far.0,
        used_so_far.1,
        most(|it| it.start_delay_ns) / 1e6,
        most(|it| it.clock_error_ns) / 1e3,
    ])
}

/// CPU time and the most memory of a process so far.
fn used(pid: i32) -> anyhow::Result<(f64, f64)> {
    let process = procfs::process::Process::new(pid)?;
    let stat = process.stat()?;
    let ticks = stat.utime + stat.stime;
    let memory_kib = process.status()?.vmhwm.unwrap_or(0);
    Ok((ticks as f64 / procfs::ticks_per_second() as f64, memory_kib as f64 / 1024.0))
}
