//! One visit, and what is read around it. Whether it counts is decided in `judge`, by clocks alone and never by
//! its result.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};
use wirebench_host::{
    distance::Probe,
    environment::resources,
    neighbours::{Machine, VisitInterference},
};
use wirebench_judge::{generators::spread_ns, visits::VisitClocks};
use wirebench_schema::{
    agent::{LoadProcesses, Recording, WindowOrder, WindowReport},
    journal::{Distances, Visit},
    load::{LatencyFigure, LoadModel, LoadReport, Stop},
};
use wirebench_server::{cost::Details, process_clocks};

use super::{children, course::RunningCohort, member::Member};

/// How old readings may be that hold before a visit.
const FRESH: Duration = Duration::from_millis(20);

/// What a visit is to be.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) round: u32,
    pub(super) model: LoadModel,
    pub(super) discard_ns: u64,
    pub(super) length_ns: u64,
    pub(super) recording: Recording,
}

impl Shape {
    pub(super) fn new(
        model: &LoadModel,
        round: u32,
        (discard, length): (Duration, Duration),
    ) -> Self {
        let whole = |it| model.whole_intervals(it).as_nanos();
        let [discard_ns, length_ns] =
            [discard, length].map(|it| u64::try_from(whole(it)).unwrap_or(u64::MAX));
        let recording = Recording::Silent;
        Self { round, model: model.clone(), discard_ns, length_ns, recording }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Done {
    /// What the journal says of it.
    pub(super) visit: Visit,
    /// What decides whether it counts.
    pub(super) clocks: VisitClocks,
    pub(super) report: WindowReport,
    /// What was read of the server's threads before and after.
    pub(super) details: (Details, Details),
    /// CPU time of children that ended and were waited for in all of it.
    pub(super) ended_ns: u64,
    /// Bytes of the server's output that were read in it, and CPU time of wirebench without its threads that
    /// load.
    pub(super) output_bytes: u64,
    pub(super) own_ns: u64,
    /// CPU time of each other server beyond what it uses at rest, by load.
    pub(super) parked: Vec<(u32, u64)>,
}

impl Done {
    /// The mean latency of its replies.
    pub(super) fn latency_ns(&self) -> u64 {
        self.report.report.latency.as_ref().map_or(0, |it| it.latency_ns_mean as u64)
    }

    /// The load on the parked server that used the most CPU time meanwhile, if one used any.
    pub(super) fn busiest_parked(&self) -> Option<u32> {
        let most = self.parked.iter().max_by_key(|(_, cpu_ns)| *cpu_ns);
        most.filter(|(_, cpu_ns)| *cpu_ns > 0).map(|(load, _)| *load)
    }
}

/// What was read after a visit holds before the next one, unless much time has passed.
#[derive(Debug, Default)]
pub(super) struct LastReadings {
    machine: Option<(Instant, Machine, Vec<u32>)>,
    /// Of each server, by load: parked, its threads do nothing.
    details: BTreeMap<u32, Details>,
}

impl LastReadings {
    /// The machine and the distances.
    fn machine(&mut self, probe: &Probe) -> (Machine, Vec<u32>) {
        match self.machine.take() {
            Some((at, machine, distances)) if at.elapsed() < FRESH => (machine, distances),
            _ => (Machine::read(None), probe.read()),
        }
    }
}

impl RunningCohort<'_> {
    /// Runs one visit on the member `index`.
    pub(super) fn try_visit(&mut self, index: usize, shape: &Shape) -> Result<Done, String> {
        let placement = &self.cohort.settings.placement;
        let member = &self.members[index];
        let processes: Vec<LoadProcesses> =
            self.members.iter().filter(|it| it.is_beside(member)).map(Member::processes).collect();
        member.park(false);
        let order = WindowOrder {
            load: member.load,
            model: shape.model.clone(),
            discard_ns: shape.discard_ns,
            stop: Stop::After(Duration::from_nanos(shape.length_ns)),
            start_ns: None,
            recording: shape.recording,
            processes,
            server_cpus: self.cohort.settings.sitter_cpus(&self.agents, &member.server),
        };
        let (machine, distance_ns_before) = self.last.machine(&self.probe);
        let details = self.last.details.remove(&member.load);
        let before = (details.unwrap_or_else(|| member.details()), machine);
        let (pids, before_ns) = (member.pids(), member.ended_ns());
        let own = [Some(rustix::process::getpid()), member.server.guard()];
        let own_now = || {
            (
                member.server.stderr().bytes(),
                own.into_iter().flatten().filter_map(process_clocks::of).sum::<u64>(),
            )
        };
        let (bytes_before, own_before_ns) = own_now();
        let every = member.children.look_every(shape.discard_ns, before.0.ignores_children());
        let load = || self.agents.window(&order, None, &mut |_| {});
        let (report, seen) = children::watched(&pids, every, load)?;
        let ended = member.clocks();
        let (bytes_after, own_after_ns) = own_now();
        let output_bytes = bytes_after.saturating_sub(bytes_before);
        // A guard may have ended meanwhile.
        let own_ns = own_after_ns.saturating_sub(own_before_ns);
        let frequency_khz = resources::frequency_khz(Path::new("/"), &placement.server_cpus);
        let after = (member.details(), Machine::read(None));
        let account_ns = (before_ns, member.ended_ns());
        member.park(true);
        let distance_ns_after = self.probe.read();
        self.last.machine = Some((Instant::now(), after.1.clone(), distance_ns_after.clone()));
        self.last.details.insert(member.load, after.0.clone());
        let ended_ns = self.members[index].children.note(account_ns, seen);
        let report = report?;
        self.members[index].totals.note(&report, ended_ns, ended);
        let load_ns = shape.discard_ns + shape.length_ns;
        let threads = (&before.0.threads, &after.0.threads);
        let waited = (report.generator_waited_ns, report.report.window_ns);
        let taken = after.1.taken(&before.1, placement, threads, load_ns, waited);
        let parked = parked(&self.members, &report);
        let details = (before.0, after.0);
        let visit = visit(shape, &report, taken, &details, &parked);
        let clocks = clocks(&visit, &report.report);
        let dropped = clocks.dropped(placement.disjoint);
        let distances = Distances { distance_ns_before, distance_ns_after };
        let visit = Visit { frequency_khz, distances, dropped, ..visit };
        Ok(Done { visit, clocks, report, details, ended_ns, output_bytes, own_ns, parked })
    }
}

/// CPU time of each parked server beyond what it uses at rest.
fn parked(members: &[Member<'_>], report: &WindowReport) -> Vec<(u32, u64)> {
    let length_ns = report.end_ns.saturating_sub(report.start_ns) + report.waited_ns;
    let beyond = |(load, used_ns): &(u32, u64)| {
        let member = members.iter().find(|member| member.load == *load)?;
        let rests_ns = share_of(length_ns, member.instance.rest_share);
        Some((*load, used_ns.saturating_sub(rests_ns)))
    };
    report.parked_cpu_ns.iter().filter_map(beyond).collect()
}

fn visit(
    shape: &Shape,
    report: &WindowReport,
    taken: VisitInterference,
    (before, after): &(Details, Details),
    parked: &[(u32, u64)],
) -> Visit {
    let load = &report.report;
    let latency = |figure| load.latency.as_ref()?.known(figure).map(|it| it as u64);
    let counted = report.cpu.counted_ns;
    // The details are of the whole visit; the part that counts has its share of them.
    let share = counted.unwrap_or(0) as f64 / report.cpu.whole_ns.max(1) as f64;
    let (voluntary, involuntary) = after.switches_since(before);
    Visit {
        round: shape.round,
        start_ns: report.start_ns,
        discard_ns: shape.discard_ns,
        length_ns: load.window_ns,
        requests: load.requests,
        requests_per_second: Some(load.requests_per_second).filter(|it| *it > 0.0),
        cpu_ns: counted,
        latency_ns_p50: latency(LatencyFigure::P50),
        latency_ns_p99: latency(LatencyFigure::P99),
        lag_ns_p99: load.lag.as_ref().map(|it| it.latency_ns_p99),
        generator_cpu_ns: load.thread_cpu_ns.iter().sum(),
        rest_ns: report.waited_ns,
        server_waited: taken.server_waited,
        generator_waited: taken.generator_waited,
        stolen_ns: taken.stolen_ns,
        throttled_ns: Some(taken.throttled_ns).filter(|it| *it > 0),
        switches_voluntary: share_of(voluntary, share),
        switches_involuntary: share_of(involuntary, share),
        parked_cpu_ns: parked.iter().map(|(_, cpu_ns)| cpu_ns).sum(),
        frequency_khz: None,
        distances: Distances::default(),
        dropped: None,
    }
}

/// The clocks of a visit and of the load in it.
fn clocks(visit: &Visit, load: &LoadReport) -> VisitClocks {
    VisitClocks {
        length_ns: visit.length_ns,
        discard_ns: visit.discard_ns,
        throttled_ns: visit.throttled_ns.unwrap_or(0),
        stolen_ns: visit.stolen_ns,
        parked_ns: visit.parked_cpu_ns,
        server_waited: visit.server_waited,
        generator_waited: visit.generator_waited,
        late_ns: load.stall_ns_total,
        apart_ns: spread_ns(load),
    }
}

pub(super) fn share_of(count: u64, share: f64) -> u64 {
    // A count is far below 2^53, and no share is negative.
    (count as f64 * share).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::{
        journal::ReasonKind,
        load::{EngineChoice, LoadConfig},
    };

    const MS: u64 = 1_000_000;

    fn why_with(
        disjoint: bool,
        change: impl FnOnce(&mut Visit, &mut LoadReport),
    ) -> Option<ReasonKind> {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        let mut load = LoadReport::new("0".into(), config, EngineChoice::Epoll);
        let mut visit = Visit { discard_ns: 20 * MS, length_ns: 100 * MS, ..Visit::default() };
        change(&mut visit, &mut load);
        clocks(&visit, &load).dropped(disjoint)
    }

    fn why(change: impl FnOnce(&mut Visit, &mut LoadReport)) -> Option<ReasonKind> {
        why_with(true, change)
    }

    #[test]
    fn a_visit_is_dropped_for_what_clocks_say_and_not_for_its_result() {
        assert_eq!(why(|visit, _| visit.requests = 0), None);
        assert_eq!(why(|visit, _| visit.cpu_ns = Some(1000 * MS)), None);
        assert_eq!(why(|visit, _| visit.latency_ns_p99 = Some(90 * MS)), None);
        assert_eq!(why(|visit, _| visit.server_waited = 0.09), None);
        assert_eq!(why(|visit, _| visit.server_waited = 0.11), Some(ReasonKind::Neighbour));
        assert_eq!(why(|visit, _| visit.generator_waited = 0.3), Some(ReasonKind::Neighbour));
        assert_eq!(why(|visit, _| visit.stolen_ns = 20 * MS), Some(ReasonKind::Stolen));
        assert_eq!(why(|visit, _| visit.stolen_ns = 10 * MS), None);
        assert_eq!(why(|visit, _| visit.parked_cpu_ns = 5 * MS), Some(ReasonKind::ParkedBusy));
        let stalled = why(|_, load| load.stall_ns_total = 5 * MS);
        assert_eq!(stalled, Some(ReasonKind::GeneratorStall));
        let shared = why_with(false, |_, load| load.stall_ns_total = 5 * MS);
        assert_eq!(shared, None, "the server is on the CPUs of the generator");
    }
}
