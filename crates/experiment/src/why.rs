//! The profile of one server under one workload: a fresh instance with the same load and the same CPUs, once
//! while `perf` counts system calls and once while it samples stacks. Its figures count nowhere else.

use rustix::process::Pid;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_judge::validity::nothing_answered;
use wirebench_schema::{
    agent::{Recording, WindowOrder, WindowReport, Windows},
    journal::{Profile, Why, WhyOutcome},
    load::{LoadConfig, LoadReport, Stop},
    suite::Workload,
};
use wirebench_server::{launch::Server, perf::Perf, tree::numbers};

use crate::{
    agents::Agents,
    measure::{Cell, RunSettings, settled_look},
};

/// The load before the first visit, and the two visits.
const WARM_UP: Duration = Duration::from_millis(500);
const COUNTED: Duration = Duration::from_millis(1000);
const SAMPLED: Duration = Duration::from_millis(2000);
/// What starts, attaching and reading the samples take besides.
const ASSUMED_REST: Duration = Duration::from_millis(4500);

/// How long a profile takes, about.
pub(crate) const ESTIMATE: Duration =
    WARM_UP.saturating_add(COUNTED).saturating_add(SAMPLED).saturating_add(ASSUMED_REST);

/// Whether a workload has a profile: one whose connections stay open from one visit to the next.
#[must_use]
pub fn applies(workload: &Workload) -> bool {
    workload.has_slices()
}

/// Profiles the server of a cell. None only after a signal.
pub(crate) fn profile(
    settings: &RunSettings,
    perf: Perf,
    cell: &Cell<'_>,
    stop: &AtomicBool,
) -> Option<Why> {
    let started = crate::journal::now();
    let request = settings.request(cell);
    let work = |server: &Server| loaded_and_profiled(settings, perf, cell, server, stop);
    let attempt = || settings.with_server(&request, stop, work);
    // On a busy machine a whole visit may pass without a reply.
    let profiled = attempt().or_else(|_| attempt());
    let outcome = match profiled {
        _ if stop.load(Ordering::Relaxed) => return None,
        Ok(profile) => WhyOutcome::Profiled(Box::new(profile)),
        Err(reason) => WhyOutcome::Failed(reason),
    };
    let (variant, workload) = (cell.subject.variant.id.clone(), cell.workload.name.clone());
    Some(Why { variant, workload, started, outcome })
}

fn loaded_and_profiled(
    settings: &RunSettings,
    perf: Perf,
    cell: &Cell<'_>,
    server: &Server,
    stop: &AtomicBool,
) -> Result<Profile, String> {
    let config = settings.load_config(cell, server);
    let mut agents = settings.agents(stop)?;
    agents.connect(0, &config, Windows::Many, &mut |_| {})?;
    let mut load = |length| visit(&mut agents, &config, server, length);
    load(WARM_UP)?;
    // A server may start processes for its first requests.
    let pids: Vec<Pid> = settled_look(server).living().pids();
    let counting = perf.count(&pids, stop)?;
    let counted_requests = served(&load(COUNTED)?.report);
    let calls = counting.calls(stop)?;
    let sampling = perf.sample(&pids, stop)?;
    let sampled = load(SAMPLED)?;
    let (samples, stacks) = sampling.stacks(stop)?;
    Ok(Profile {
        counted_requests,
        calls: calls.by_name,
        context_switches: calls.context_switches,
        sampled_requests: served(&sampled.report),
        cpu_ns: sampled.cpu.counted_ns,
        samples,
        stacks,
    })
}

/// Requests that the server worked on in a visit and until the last reply of it, as `perf` sees them.
const fn served(report: &LoadReport) -> u64 {
    report.requests + report.in_flight_at_end
}

/// A visit without a discard, so that all requests that `perf` sees are counted.
fn visit(
    agents: &mut Agents<'_>,
    config: &LoadConfig,
    server: &Server,
    length: Duration,
) -> Result<WindowReport, String> {
    let pids = numbers(&settled_look(server).living().pids());
    let whole = WindowOrder::of_load(config, pids);
    let (stop, recording) = (Stop::After(length), Recording::Silent);
    let order = WindowOrder { discard_ns: 0, stop, recording, ..whole };
    let report = agents.window(&order, None, &mut |_| {})?;
    match report.report.requests {
        0 => Err(nothing_answered(&report.report)),
        _ => Ok(report),
    }
}
