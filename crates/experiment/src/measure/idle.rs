//! A run without requests: what a server costs with many connections that are silent. How the
//! connections are made is in `idle_connections`.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_judge::{idle::Idle, validity::end_reasons};
use wirebench_schema::{
    journal::{IdleMeasurement, Outcome, ReasonKind, Run, Weight},
    scenario::Scenario,
};
use wirebench_server::{
    cost::{self, Course, Details, Window},
    launch::{Request, Server},
    memory::Measure,
    tree,
};
use wirebench_verify::protocol::FirstExchange;

use super::{Cell, RunSettings, STEP, end, failed, idle_connections::IdleConnections, server_end};

/// The silent window of a workload that ends after a count.
const WINDOW: Duration = Duration::from_secs(1);
/// How long memory is waited for until it stands still: a runtime may collect its garbage.
const STILL_PATIENCE: Duration = Duration::from_secs(2);

impl RunSettings {
    pub(super) fn run_idle(&self, cell: &Cell<'_>, stop: &AtomicBool) -> Run {
        let mut run = self.begin(cell);
        let request = self.patient_request(cell);
        let mut server = match self.launcher.start(&request, stop) {
            Ok(server) => server,
            Err(error) => {
                return Run { outcome: failed(error.to_string(), String::new()), ..run };
            }
        };
        server.command().clone_into(&mut run.server_command);
        let held = hold_idle(cell, &request, &mut server, stop);
        let (held, stopped) = end(server, held, stop);
        run.outcome = match held {
            Ok(mut held) => {
                // There is no load that could be in the way of the server on a CPU of both.
                held.reasons.extend(end_reasons(&server_end(&stopped)));
                Outcome::Idle(Box::new(held))
            }
            Err(reason) => failed(reason, stopped.stderr),
        };
        run
    }
}

fn hold_idle(
    cell: &Cell<'_>,
    request: &Request<'_>,
    server: &mut Server,
    stop: &AtomicBool,
) -> Result<IdleMeasurement, String> {
    let workload = cell.workload;
    let first_exchange = FirstExchange {
        protocol: workload.scenario.protocol(),
        payload_bytes: workload.payload_bytes,
        // Only a scenario's contract says what `GET /` is answered with.
        is_verified: cell.verification.is_done() && workload.requests.is_none(),
    };
    let address = server.address();
    // Whatever the first request alone brings about is there before the rest is looked at.
    let first = IdleConnections::make(address, 1, &first_exchange, stop)?;
    if let Some(missing) = first.missing {
        return Err(format!("the first request was not answered: {missing}"));
    }
    drop(first);
    if server.is_service() && server.tree().is_empty() {
        let no_processes = ReasonKind::NoProcesses.reason(Weight::Note, None, "");
        return Err(no_processes.text());
    }
    let measure = Measure::possible(&server.tree());
    let (rest, is_still) = measure.settled(|| server.tree(), STILL_PATIENCE, stop);
    let mut idle = IdleConnections::make(address, workload.connections, &first_exchange, stop)?;
    let (_, stays_still) = measure.settled(|| server.tree(), STILL_PATIENCE, stop);
    let files = idle.missing.as_ref().and_then(|_| exhausted_files(server, idle.len()));
    let before = server.look();
    let details = Details::read(&before);
    wait(workload.stop.length().unwrap_or(WINDOW), server, stop)?;
    let after = server.look();
    let details = (details, Details::read(&after));
    let silent = measure.held(&server.tree());
    let course = Course { before, after };
    let cpu = course.cpu(&details.0.ignoring_with(&details.1));
    let nothing = Window { window_ns: course.length_ns(), requests: 0, thread_cpu_ns_most: 0 };
    let (made, lost) = (idle.len(), idle.lost());
    if made == 0 {
        let why = idle.missing.unwrap_or_default();
        return Err(format!("no connection had a request answered: {why}"));
    }
    let evidence = Idle {
        asked: workload.connections,
        made,
        missing: idle.missing.as_deref(),
        files,
        lost,
        timeout_is_fixed: timeout_is_fixed(request),
        memory_is_resident: measure == Measure::Resident,
        memory_moved: (!(is_still && stays_still)).then_some(STILL_PATIENCE),
        verification: cell.verification,
    };
    let cost = cost::cost(cpu, (&details.0, &details.1), nothing, 1);
    let grown_bytes = silent.own_bytes as f64 - rest.own_bytes as f64;
    Ok(IdleMeasurement {
        connections: workload.connections as u64,
        made: made as u64,
        lost: lost as u64,
        memory_rest_bytes: rest.bytes,
        memory_bytes: silent.bytes,
        memory_bytes_per_connection: grown_bytes / made as f64,
        window_ns: nothing.window_ns,
        cpu_ns: cost.cpu_ns,
        context_switches_voluntary: cost.context_switches_voluntary,
        context_switches_involuntary: cost.context_switches_involuntary,
        processes: cost.processes,
        threads: cost.threads,
        mapped: cost.mapped,
        reasons: evidence.reasons(),
    })
}

/// Lets `time` pass, unless a signal or the end of the server comes first.
fn wait(time: Duration, server: &mut Server, stop: &AtomicBool) -> Result<(), String> {
    let until = Instant::now() + time;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(STEP));
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        if server.ended().is_some() {
            return Err("its connections were silent".to_owned());
        }
    }
}

/// The server's limit of open files, if this many connections come near it.
fn exhausted_files(server: &Server, made: usize) -> Option<u64> {
    /// Files that a server has open besides.
    const BESIDES: u64 = 64;
    let processes = server.tree().into_iter().filter_map(tree::process);
    let limits =
        processes.filter_map(|process| match process.limits().ok()?.max_open_files.soft_limit {
            procfs::process::LimitValue::Value(files) => Some(files),
            procfs::process::LimitValue::Unlimited => None,
        });
    limits.min().filter(|files| *files <= made as u64 + BESIDES)
}

/// Whether the server closes silent connections after a time that has no option.
fn timeout_is_fixed(request: &Request<'_>) -> bool {
    let run = &request.variant.run;
    let mut words = run.command.iter().chain(run.env.values());
    request.scenario == Scenario::HelloTimeout && !words.any(|word| word.contains("{timeout_ms}"))
}
