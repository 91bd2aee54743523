//! The record of a run, made of its slices.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::{
    journal::{Cost, Instance, Measurement, Reason, ReasonKind, Slice, Weight},
    load::{LoadModel, LoadReport},
    suite::Workload,
};

use super::{
    length,
    member::{RESTLESS_SHARE, SUBTRACTED_SHARE, subtracted_share},
    slice::Done,
    uneven::uneven,
};
use crate::{
    cost,
    experiment::Verification,
    launch::Stopped,
    measure::Bench,
    neighbours::{self, Arrivals},
    subject::Subject,
    validity::{self, BUSY, Evidence, Processes, bound_of_run},
};

/// A server whose rest is above this share of a CPU is worth a word.
const REST_NOTED: f64 = 0.005;

/// All that is known of a run.
pub(super) struct Parts<'a> {
    pub(super) bench: &'a Bench,
    pub(super) subject: &'a Subject,
    pub(super) workload: &'a Workload,
    pub(super) workers: u32,
    pub(super) verified: bool,
    pub(super) instance: Instance,
    pub(super) processes_same: bool,
    pub(super) stopped: &'a Stopped,
    pub(super) slices: &'a [Done],
    /// How slices of a closed loop compare with long ones, if they differ.
    pub(super) length_ratio: Option<f64>,
    /// What was found wrong over several slices.
    pub(super) found: Vec<Reason>,
}

impl Parts<'_> {
    /// The measurement, or why there is none.
    pub(super) fn measurement(self) -> Result<Measurement, String> {
        let slices: Vec<Slice> = self.slices.iter().map(|it| it.slice.clone()).collect();
        let counted: BTreeSet<u64> = Slice::counted(&slices).iter().map(|it| it.start_ns).collect();
        let counts = |done: &&Done| counted.contains(&done.slice.start_ns);
        let kept: Vec<&Done> = self.slices.iter().filter(counts).collect();
        let loads: Vec<LoadReport> = kept.iter().map(|it| it.report.report.clone()).collect();
        let load = LoadReport::merge(&loads).ok_or("no slice of it was carried out")?;
        if load.requests == 0 {
            return Err(validity::nothing_answered(&load));
        }
        let cost = self.cost(&kept, &load);
        let bound = bound_of_run(&cost, load.ready_share, &load);
        let evidence = Evidence {
            phase: self.workload.phase,
            load: &load,
            tool: None,
            cost: &cost,
            bound,
            placement: &self.bench.placement,
            stopped: self.stopped,
            others: self.disturbed(&kept),
            verification: match self.verified {
                true => Verification::Full,
                false => Verification::LeftOut,
            },
            processes: if self.processes_same { Processes::Same } else { Processes::Changed },
        };
        let mut reasons = evidence.reasons();
        reasons.extend(self.found.into_iter().map(Reason::with_next_step));
        let cpus = self.bench.placement.server_cpus.len();
        let used = subtracted_share(self.instance.rest_share)
            + cost.cpu_ns as f64 / load.window_ns.max(1) as f64;
        let busy = used / cpus.max(1) as f64;
        reasons.extend(rests(self.instance.rest_share, busy).map(Reason::with_next_step));
        if self.workload.model == LoadModel::Closed {
            let sharing = self.subject.variant.sharing;
            reasons
                .extend(uneven(sharing, self.workers, ran_ns(&kept)).map(Reason::with_next_step));
            reasons.extend(self.length_ratio.map(length::reason).map(Reason::with_next_step));
        }
        Ok(Measurement {
            load,
            tool: None,
            cost,
            bound,
            warm_up: None,
            slices,
            instance: Some(self.instance),
            reasons,
        })
    }

    fn cost(&self, kept: &[&Done], load: &LoadReport) -> Cost {
        let length = load.window_ns.max(1) as f64;
        let sum = |of: fn(&Slice) -> u64| kept.iter().map(|it| of(&it.slice)).sum::<u64>();
        let known: Option<u64> = kept.iter().map(|it| it.slice.cpu_ns).sum();
        let cpu_ns = known.unwrap_or(0);
        let busy_cpus =
            cost::busy_cpus(self.subject.variant.sharing, self.workers, &self.bench.placement);
        let busiest_ns: f64 = kept.iter().map(|it| busiest_ns(it)).sum();
        let generator_ns = load.thread_cpu_ns.iter().copied().max().unwrap_or(0);
        let last = kept.last().map(|it| &it.details.1);
        Cost {
            cpu_ns,
            sampled_ns: load.window_ns,
            // What other processes of the server have used is not known.
            cpu_ns_per_request: known
                .filter(|_| self.processes_same)
                .map(|cpu_ns| cpu_ns as f64 / load.requests as f64),
            cpu_share: cpu_ns as f64 / length / busy_cpus.max(1) as f64,
            busiest_thread_share: busiest_ns / length,
            generator_cpu_share: generator_ns as f64 / length,
            memory_peak_bytes: last.map_or(0, |details| details.memory_peak_bytes),
            processes: last.map_or(0, |it| u32::try_from(it.processes).unwrap_or(u32::MAX)),
            threads: last.map_or(0, |it| u32::try_from(it.threads.count()).unwrap_or(u32::MAX)),
            context_switches_voluntary: sum(|slice| slice.switches_voluntary),
            context_switches_involuntary: sum(|slice| slice.switches_involuntary),
        }
    }

    /// What others did in the slices that count, and how many do not.
    fn disturbed(&self, kept: &[&Done]) -> Vec<Reason> {
        let arrivals = match self.workload.model {
            LoadModel::Rate { .. } => Arrivals::AtMoments,
            _ => Arrivals::AfterReplies,
        };
        let mean = |of: fn(&Slice) -> f64| {
            kept.iter().map(|it| of(&it.slice)).sum::<f64>() / kept.len().max(1) as f64
        };
        let server = neighbours::waited("server", mean(|slice| slice.server_waited), arrivals);
        let generator =
            neighbours::waited("generator", mean(|slice| slice.generator_waited), arrivals);
        let (kind, dropped) = dropped(self.slices);
        let all = self.slices.len();
        let reason = || {
            let share = dropped as f64 / all as f64;
            // When most are disturbed, all of them count.
            let (weight, what) = match 2 * dropped > all {
                true => (Weight::Invalid, "were disturbed"),
                false => (Weight::Note, "were disturbed and excluded"),
            };
            let text = format!("{dropped} of {all} slices {what}, most by `{kind}`");
            ReasonKind::SlicesDropped.reason(weight, Some(share), text)
        };
        [server, generator, (dropped > 0).then(reason)].into_iter().flatten().collect()
    }
}

/// How long the busiest thread ran in the part that counts.
fn busiest_ns(done: &Done) -> f64 {
    let (before, after) = &done.details;
    let whole_ns = after.threads.busiest_since(&before.threads) as f64;
    let share = done.report.cpu.counted_ns.unwrap_or(0) as f64;
    whole_ns * share / done.report.cpu.whole_ns.max(1) as f64
}

/// How long each thread of the server ran in these slices.
fn ran_ns(kept: &[&Done]) -> Vec<u64> {
    let mut sums: BTreeMap<i32, u64> = BTreeMap::new();
    for (before, after) in kept.iter().map(|done| &done.details) {
        for (thread, ran_ns) in after.threads.ran_since(&before.threads) {
            *sums.entry(thread).or_default() += ran_ns;
        }
    }
    sums.into_values().collect()
}

/// How many slices were disturbed, and by which kind most of them.
fn dropped(slices: &[Done]) -> (&'static str, usize) {
    let kinds: Vec<ReasonKind> = slices.iter().filter_map(|it| it.slice.dropped).collect();
    let count = |kind: ReasonKind| kinds.iter().filter(|other| **other == kind).count();
    let most = kinds.iter().copied().max_by_key(|kind| count(*kind));
    (most.map_or("none", |kind| kind.guide().name), kinds.len())
}

/// That the server uses this share of a CPU at rest, when its CPUs were `busy` for this share of the
/// load, its rest included. On CPUs that are busy all the time, work at rest gives way to requests, so
/// it is less than was measured at rest and the difference is not the cost of requests.
fn rests(share: f64, busy: f64) -> Option<Reason> {
    let percent = share * 100.0;
    let (weight, what) = match share > RESTLESS_SHARE && busy >= BUSY {
        true => (Weight::Invalid, "at saturation, cost per request cannot be separated from it"),
        false if share > SUBTRACTED_SHARE => (Weight::Note, "cost per request includes it"),
        false => (Weight::Note, "subtracted from cost per request"),
    };
    let text = format!("the server uses {percent:.1} % of a CPU at rest; {what}");
    (share > REST_NOTED).then(|| ReasonKind::Restless.reason(weight, Some(share), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_at_rest_is_subtracted_unless_it_competes_with_requests() {
        let weight = |share, busy| rests(share, busy).map(|reason| reason.weight);
        let says = |share, part| rests(share, 0.5).is_some_and(|it| it.text.contains(part));
        assert!(says(0.1, "10.0 % of a CPU at rest; subtracted"));
        assert!(says(0.6, "cost per request includes it"));
        assert_eq!(weight(0.1, 0.99), Some(Weight::Invalid));
        assert_eq!(weight(0.004, 1.0), None);
        assert_eq!(weight(0.02, 1.0), Some(Weight::Note));
        assert_eq!(weight(0.6, 0.9), Some(Weight::Note));
        assert_eq!(weight(0.6, 0.99), Some(Weight::Invalid));
    }
}
