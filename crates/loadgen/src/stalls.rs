//! Stalls of the machine during a load, and what its latencies are without them.
//!
//! A thread that runs before all others comes late only when the hypervisor has the CPU, the kernel lets no thread run
//! on it, or a real-time program does. Code of a server or of another usual program never holds it up.

mod apart;
mod log;
mod programs;
mod watch;

use std::{
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::load::{LatencySummary, LoadModel, Samples, Stalls};
use wirebench_sys::affinity;

pub(crate) use self::log::SlowLog;
use self::{
    apart::{Span, keep, union},
    programs::{CpuShares, RealTime},
    watch::{PERIOD_NS, Stall, Watch, Watched, clock_ns},
};
use crate::clock::Clock;

/// The machine is watched by itself for this long.
const CONTROL: Duration = Duration::from_millis(500);
/// A load that has more than this many times the stalls of the machine makes stalls itself.
const OWN: f64 = 2.0;
/// The machine alone would have so few of all stalls with at most this probability.
const SURE: f64 = 0.001;
/// After a stall of a CPU that is busy at a rate its requests wait for at most this many times as long.
const BACKLOG_MOST: f64 = 10.0;

/// The machine by itself, with all its CPUs busy, watched once.
static CONTROLLED: OnceLock<Result<Watched, String>> = OnceLock::new();

/// A load during which the machine is watched.
#[derive(Debug)]
pub(crate) struct StallWatch {
    watch: Watch,
    cpus: CpuShares,
    programs: RealTime,
    /// The moment of the kernel's clock at which that of the load begins.
    origin_ns: u64,
}

/// The stalls during a load.
#[derive(Debug)]
pub(crate) struct SeenStalls {
    /// On the clock of the load, each with the share of the time that its CPU was busy.
    stalls: Vec<(Stall, f64)>,
    seconds: f64,
    /// The sentence that names who made them, if it was not the machine.
    owner: Option<String>,
}

impl StallWatch {
    /// Begins on all CPUs of this machine, for a load with this clock.
    pub(crate) fn begin(clock: Clock) -> Result<Self, String> {
        control()?;
        let (watch, cpus) = begin()?;
        let origin_ns = clock_ns().saturating_sub(clock.now_ns());
        Ok(Self { watch, cpus, programs: RealTime::read(), origin_ns })
    }

    pub(crate) fn end(self) -> Result<SeenStalls, String> {
        let (cpus, programs) = (CpuShares::read(), RealTime::read());
        let watched = self.watch.end();
        let program = programs.worked_since(&self.programs);
        let program = program.map(|it| format!("{it} has real-time priority and may make them"));
        let is_own = makes_own(&control()?, &watched);
        let own = is_own.then(|| "the load makes them: the machine alone has fewer".to_owned());
        let of_cpu = |(cpu, stalls): &(u32, Vec<Stall>)| {
            let busy = cpus.busy_since(&self.cpus, *cpu);
            let here = |it: &Stall| it.due_ns.saturating_sub(self.origin_ns);
            stalls.iter().map(|it| (Stall { due_ns: here(it), ..*it }, busy)).collect::<Vec<_>>()
        };
        let stalls = watched.cpus.iter().flat_map(of_cpu).collect();
        Ok(SeenStalls { stalls, seconds: watched.seconds, owner: program.or(own) })
    }
}

impl SeenStalls {
    /// Their effect on a window with these latencies.
    pub(crate) fn report(
        &self,
        model: &LoadModel,
        window: Span,
        (latency, slow): (&Samples, &SlowLog),
    ) -> Stalls {
        let stalls = Stalls {
            per_second: self.stalls.len() as f64 / self.seconds,
            longest_ns: self.stalls.iter().map(|(it, _)| it.late_ns).max().unwrap_or(0),
            reason: self.owner.clone(),
            ..Stalls::default()
        };
        if stalls.reason.is_some() {
            return stalls;
        }
        match keep(&latency.replies, slow, window, &self.spans(model, window)) {
            Ok(kept) => {
                let mut samples = latency.clone();
                samples.replies = kept.latency;
                let latency = LatencySummary::of_samples(&samples);
                Stalls { apart_share: Some(kept.apart_share), latency, ..stalls }
            }
            Err(reason) => Stalls { reason: Some(reason.to_owned()), ..stalls },
        }
    }

    /// The times of the window in which requests may have waited for a stall.
    fn spans(&self, model: &LoadModel, (start_ns, end_ns): Span) -> Vec<Span> {
        let span = |(Stall { due_ns, late_ns }, busy): &(Stall, f64)| {
            let backlog = match model {
                LoadModel::Rate { .. } => (1.0 / (1.0 - busy.min(0.99))).min(BACKLOG_MOST),
                // The connections that waited are all that wait.
                LoadModel::Closed | LoadModel::Think { .. } => 1.0,
            };
            (due_ns.saturating_sub(PERIOD_NS), due_ns + (*late_ns as f64 * backlog) as u64)
        };
        let spans = self.stalls.iter().map(span);
        union(spans.filter(|it| it.1 > start_ns && it.0 < end_ns).collect())
    }
}

/// Watches the machine by itself, once. What fails then fails later too.
pub(crate) fn learn_machine() {
    let _ = control();
}

fn begin() -> Result<(Watch, CpuShares), String> {
    let cpus = CpuShares::read();
    let watch = Watch::begin(cpus.numbers()).map_err(|error| {
        format!(
            "they cannot be watched ({error}): run as root, or allow real-time priorities (`ulimit -r 10`, \
             CAP_SYS_NICE)"
        )
    })?;
    Ok((watch, cpus))
}

/// The stalls of the machine while its CPUs only count.
fn control() -> Result<Watched, String> {
    let watch = || {
        let (watch, cpus) = begin()?;
        let until = Instant::now() + CONTROL;
        thread::scope(|scope| {
            for cpu in cpus.numbers() {
                let count = move || {
                    let _ = affinity::bind(&[cpu]);
                    while Instant::now() < until {}
                };
                // Where no more threads are to be had, fewer CPUs are busy.
                let _ = thread::Builder::new().spawn_scoped(scope, count);
            }
            thread::sleep(CONTROL);
        });
        Ok(watch.end())
    };
    CONTROLLED.get_or_init(watch).clone()
}

/// A load has more than [`OWN`] times the stalls of the machine alone. If it had just as many as that, each of all
/// stalls would be one of the machine alone with the same probability. The probability of so few of them follows from
/// the binomial distribution.
fn makes_own(alone: &Watched, load: &Watched) -> bool {
    let [few, more] = [alone, load].map(|it| it.cpus.iter().map(|(_, it)| it.len()).sum::<usize>());
    let (all, share) = (few + more, alone.seconds / (alone.seconds + OWN * load.seconds));
    let (mut ln_term, mut sum) = (all as f64 * (1.0 - share).ln(), 0.0);
    for count in 0..=few {
        sum += ln_term.exp();
        ln_term += ((all - count) as f64 / (count + 1) as f64 * share / (1.0 - share)).ln();
    }
    sum < SURE
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::RateCurve;

    const STALL: Stall = Stall { due_ns: 4_000_000, late_ns: 1_000_000 };

    #[test]
    fn a_load_makes_stalls_if_it_has_far_more_than_the_machine_alone() {
        let watched = |count, seconds| Watched { cpus: vec![(0, vec![STALL; count])], seconds };
        let of = |alone, load| makes_own(&watched(alone, 0.5), &watched(load, 10.0));
        assert!(!of(0, 0) && !of(2, 50) && !of(3, 60) && !of(0, 100));
        assert!(of(0, 400) && of(2, 800));
    }

    #[test]
    fn after_a_stall_requests_at_a_rate_wait_longer_the_busier_the_cpu_is() {
        let spans = |model: LoadModel, busy| {
            let stalls = vec![(STALL, busy)];
            SeenStalls { stalls, seconds: 1.0, owner: None }.spans(&model, (0, 100_000_000))
        };
        let rate = || LoadModel::rate(RateCurve::per_second(5));
        assert_eq!(spans(rate(), 0.5), [(3_500_000, 6_000_000)]);
        assert_eq!(spans(rate(), 1.0), [(3_500_000, 14_000_000)]);
        assert_eq!(spans(LoadModel::Closed, 0.9), [(3_500_000, 5_000_000)]);
    }
}
