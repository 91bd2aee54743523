//! Findings about an instance over its visits, and about the load that warmed it up.

use serde::{Deserialize, Serialize};
use wirebench_schema::{
    agent::VisitPiece,
    entry::Sharing,
    journal::{Balance, Placement, ProgramShare, Reason, ReasonKind, RunSide, Visit, Weight},
};

use crate::{
    balance::{deferred, late},
    neighbours::{self, Arrivals},
    rest::rests,
    settle::{PILOT_LENGTH, TAIL_SHARE, settle_ns},
    uneven::uneven,
    visits::{VisitClocks, disturbed},
};

/// A cost in visits that is off by this factor is not that of the server under a longer load.
pub const FAR: f64 = 1.1;

/// Observations about an instance in a cohort, in addition to its load.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct InstanceEvidence {
    /// The clocks of its visits, including those that do not count.
    pub visits: Vec<VisitClocks>,
    /// The clocks of visits of other servers, in which it used the most CPU time of all that were parked.
    pub parked: Vec<VisitClocks>,
    /// Length of the load before the first round, where the server was not warm after it.
    pub cold_ns: Option<u64>,
    /// The sum of the long visits that show when it settles; absent where there were none.
    pub settling: Option<Vec<VisitPiece>>,
    /// Pages that the machine swapped during the cohort.
    pub swapped_pages: Option<u64>,
    /// Share of a CPU that it uses at rest.
    pub rest_share: f64,
    /// Its CPU time in visits and outside them, where that is known.
    pub balance: Option<Balance>,
    /// In a closed loop: its workers.
    pub workers: Option<WorkerUse>,
    /// In a closed loop: cost in visits compared with long ones, where it differs.
    pub length_ratio: Option<f64>,
    /// Its change over the rounds, which only all instances of a cohort together show. A run of a cohort is judged
    /// before they are compared.
    pub drift: Option<Drift>,
}

/// The CPU time of the threads of a server with several workers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct WorkerUse {
    pub sharing: Sharing,
    pub workers: u32,
    pub ran_ns: Vec<u64>,
}

/// The trend of CPU time per request over all rounds, where it is certain.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Drift {
    /// Logarithm of the last cost over the first.
    pub change: f64,
    /// The share below which it counts as none.
    pub margin: f64,
}

impl InstanceEvidence {
    /// What others did in the visits that count, and how many do not.
    pub(crate) fn disturbances(
        &self,
        placement: &Placement,
        programs: &[ProgramShare],
        arrivals: Arrivals,
    ) -> Vec<Reason> {
        let visits: Vec<Visit> =
            self.visits.iter().map(|it| it.judged(placement.disjoint)).collect();
        let counted = Visit::counted(&visits);
        let mean = |of: fn(&Visit) -> f64| {
            counted.iter().map(|visit| of(visit)).sum::<f64>() / counted.len().max(1) as f64
        };
        let waited = |side, share| neighbours::waited(side, share, arrivals);
        let server = waited(RunSide::Server, mean(|visit| visit.server_waited));
        let generator = waited(RunSide::Generator, mean(|visit| visit.generator_waited));
        [server, generator, disturbed(&visits, programs)].into_iter().flatten().collect()
    }

    /// Findings about the instance itself, under a load with this CPU time per request and as many connections.
    pub(crate) fn reasons(
        &self,
        placement: &Placement,
        request_ns: Option<f64>,
        connections: usize,
    ) -> Vec<Reason> {
        let is_late = |series: &Vec<VisitPiece>| settle_ns(series).is_none();
        let at_work =
            |it: &&VisitClocks| it.dropped(placement.disjoint) == Some(ReasonKind::ParkedBusy);
        let at_work = self.parked.iter().filter(at_work).count();
        let deferred = self.balance.and_then(|it| deferred(it, request_ns, at_work));
        let workers = self.workers.clone();
        let reasons = [
            self.cold_ns.map(|it| not_steady(it, "before the first round")),
            self.settling.as_ref().filter(|it| is_late(it)).map(|_| unsettled()),
            (at_work > 0 && deferred.is_none()).then(|| parked_busy(at_work)),
            deferred,
            self.balance.and_then(|it| late(it, connections)),
            self.swapped_pages.map(swapped),
            rests(self.rest_share),
            workers.and_then(|it| uneven(it.sharing, it.workers, it.ran_ns)),
            self.length_ratio.map(visit_length),
            self.drift.and_then(|it| it.reason()),
        ];
        reasons.into_iter().flatten().collect()
    }
}

impl Drift {
    /// A note, if it is larger than the margin.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        let is_large = self.change.abs() > self.margin.ln_1p();
        let change = Some(self.change.exp_m1());
        is_large.then(|| ReasonKind::Drifting.reason(Weight::Note, change, ""))
    }
}

/// That the server was not steady after a load of this length.
#[must_use]
pub fn not_steady(waited_ns: u64, detail: &str) -> Reason {
    ReasonKind::NotSteady.reason(Weight::Invalid, Some(waited_ns as f64), detail)
}

/// That the server had not settled when the tail of a long visit began.
fn unsettled() -> Reason {
    let after = PILOT_LENGTH.mul_f64(1.0 - TAIL_SHARE);
    let detail = format!("{:.0} ms after a rest", after.as_secs_f64() * 1e3);
    ReasonKind::Unsettled.reason(Weight::Note, None, detail)
}

/// That the machine swapped this many pages during the cohort.
fn swapped(pages: u64) -> Reason {
    ReasonKind::Swapped.reason(Weight::Invalid, Some(pages as f64), "")
}

/// That the server used CPU time in this many visits of others.
fn parked_busy(visits: usize) -> Reason {
    ReasonKind::ParkedBusy.reason(Weight::Note, Some(visits as f64), "")
}

/// That visits cost this much, compared with a long one.
fn visit_length(ratio: f64) -> Reason {
    let is_far = !(1.0 / FAR..=FAR).contains(&ratio);
    let weight = if is_far { Weight::Invalid } else { Weight::Note };
    ReasonKind::VisitLength.reason(weight, Some(ratio), "relative to the other servers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fact_about_an_instance_has_its_reason() {
        let none = InstanceEvidence::default;
        let of_workers = |ran_ns| WorkerUse { sharing: Sharing::Prefork, workers: 2, ran_ns };
        let visit =
            |parked_ns| VisitClocks { length_ns: 1000, parked_ns, ..VisitClocks::default() };
        let drift = |change| Some(Drift { change, margin: 0.03 });
        let balance = |between_ns, end_ns| {
            Some(Balance { visits_ns: 1000, between_ns, end_ns, ..Balance::default() })
        };
        let rows = [
            (InstanceEvidence { cold_ns: Some(1), ..none() }, ReasonKind::NotSteady),
            (InstanceEvidence { settling: Some(Vec::new()), ..none() }, ReasonKind::Unsettled),
            (InstanceEvidence { parked: vec![visit(31)], ..none() }, ReasonKind::ParkedBusy),
            (
                InstanceEvidence { balance: balance(101, 0), parked: vec![visit(31)], ..none() },
                ReasonKind::DeferredWork,
            ),
            (InstanceEvidence { balance: balance(0, 100_000_000), ..none() }, ReasonKind::LateWork),
            (InstanceEvidence { swapped_pages: Some(9), ..none() }, ReasonKind::Swapped),
            (InstanceEvidence { rest_share: 0.1, ..none() }, ReasonKind::Restless),
            (
                InstanceEvidence { workers: Some(of_workers(vec![9, 1])), ..none() },
                ReasonKind::UnevenWorkers,
            ),
            (InstanceEvidence { length_ratio: Some(1.1), ..none() }, ReasonKind::VisitLength),
            (InstanceEvidence { drift: drift(-0.05), ..none() }, ReasonKind::Drifting),
        ];
        let kinds = |evidence: &InstanceEvidence| -> Vec<ReasonKind> {
            let reasons = evidence.reasons(&Placement::default(), Some(1e3), 64);
            reasons.iter().map(|reason| reason.kind).collect()
        };
        for (evidence, kind) in rows {
            assert_eq!(kinds(&evidence), [kind]);
        }
        let good = InstanceEvidence {
            parked: vec![visit(30)],
            workers: Some(of_workers(vec![5, 5])),
            drift: drift(0.02),
            balance: balance(50, 1000),
            ..none()
        };
        assert_eq!(kinds(&good), []);
    }

    #[test]
    fn a_cost_that_is_far_from_that_of_a_longer_visit_is_not_valid() {
        for (ratio, weight) in
            [(1.6, Weight::Invalid), (0.8, Weight::Invalid), (1.08, Weight::Note)]
        {
            assert_eq!(visit_length(ratio).weight, weight, "{ratio}");
        }
    }
}
