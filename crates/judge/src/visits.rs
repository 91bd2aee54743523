//! Whether a visit counts, which clocks alone decide, and findings about visits that were disturbed.

use serde::{Deserialize, Serialize};
use wirebench_schema::journal::{ProgramShare, Reason, ReasonKind, Visit, Weight};

use crate::generators;

/// Share of a visit in which a side may wait for others: waiting costs time, and hardly any CPU time.
const WAITED_SHARE: f64 = 0.1;
/// Share of a visit by which the generator's threads may be late.
const LATE_SHARE: f64 = 0.03;
/// The same of stolen time, which the kernel shows in ticks of 10 ms: one tick of a visit of 100 ms
/// is no proof.
const STOLEN_SHARE: f64 = 0.1;
/// Share of a visit that the parked servers may use beyond what they use at rest.
const PARKED_SHARE: f64 = 0.03;

/// The clocks of a visit that decide whether it counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct VisitClocks {
    /// Its length, and that of the discarded part before it.
    pub length_ns: u64,
    pub discard_ns: u64,
    /// Time in which a control group held the sides back.
    pub throttled_ns: u64,
    /// CPU time that the hypervisor gave to other guests.
    pub stolen_ns: u64,
    /// CPU time of the parked servers beyond what they use at rest.
    pub parked_ns: u64,
    /// Shares of its time in which a side waited for others, 0 to 1.
    pub server_waited: f64,
    pub generator_waited: f64,
    /// The sum of the times by which the generator's threads came too late.
    pub late_ns: u64,
    /// How far apart several generators began.
    pub apart_ns: Option<u64>,
}

impl VisitClocks {
    /// Why the visit does not count, if so. Where the sides share CPUs, the server makes the generator late: that is
    /// what is measured.
    #[must_use]
    pub fn dropped(&self, disjoint: bool) -> Option<ReasonKind> {
        let load_ns = (self.discard_ns + self.length_ns).max(1) as f64;
        let share = |nanoseconds: u64| nanoseconds as f64 / load_ns;
        let waited = self.server_waited.max(self.generator_waited);
        let are_apart = self.apart_ns.is_some_and(|it| generators::are_apart(it, self.length_ns));
        let rules = [
            (self.throttled_ns > 0, ReasonKind::Throttled),
            (share(self.stolen_ns) > STOLEN_SHARE, ReasonKind::Stolen),
            (share(self.parked_ns) > PARKED_SHARE, ReasonKind::ParkedBusy),
            (waited > WAITED_SHARE, ReasonKind::Neighbour),
            (disjoint && share(self.late_ns) > LATE_SHARE, ReasonKind::GeneratorStall),
            (are_apart, ReasonKind::GeneratorsApart),
        ];
        rules.into_iter().find(|(applies, _)| *applies).map(|(_, kind)| kind)
    }

    /// The visit as far as these clocks decide about it.
    pub(crate) fn judged(&self, disjoint: bool) -> Visit {
        Visit {
            length_ns: self.length_ns,
            discard_ns: self.discard_ns,
            throttled_ns: Some(self.throttled_ns).filter(|it| *it > 0),
            server_waited: self.server_waited,
            generator_waited: self.generator_waited,
            dropped: self.dropped(disjoint),
            ..Visit::default()
        }
    }
}

/// How many of the visits were disturbed, what disturbed most of them, and whether they count anyway. If a side
/// had to wait for its CPUs, `programs` are those that were seen.
#[must_use]
pub fn disturbed(visits: &[Visit], programs: &[ProgramShare]) -> Option<Reason> {
    let kinds: Vec<ReasonKind> = visits.iter().filter_map(|it| it.dropped).collect();
    let count = |kind: ReasonKind| kinds.iter().filter(|other| **other == kind).count();
    let most = kinds.iter().copied().max_by_key(|kind| count(*kind))?;
    let (dropped, all) = (kinds.len(), visits.len());
    let counted: Vec<ReasonKind> =
        Visit::counted(visits).into_iter().filter_map(|it| it.dropped).collect();
    let (weight, what) = if counted.is_empty() {
        (Weight::Note, "were disturbed and excluded")
    } else if counted.iter().all(|kind| *kind == ReasonKind::Neighbour) {
        // How long a side waited in them is judged by itself.
        (Weight::Note, "were disturbed; too few others are left, so they count")
    } else {
        (Weight::Invalid, "were disturbed")
    };
    if most == ReasonKind::Throttled {
        let ns = visits.iter().filter_map(|it| it.throttled_ns).sum::<u64>() as f64;
        let detail = format!("summed over CPUs: {dropped} of {all} visits {what}");
        return Some(most.reason(weight, Some(ns), detail));
    }
    let detail = format!("{dropped} of {all} {what}, most by `{}`", most.name());
    let share = Some(dropped as f64 / all as f64);
    let reason = ReasonKind::VisitsDropped.reason(weight, share, detail);
    Some(if most.is_disturbance() { reason.by(programs) } else { reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_that_were_dropped_are_counted_and_most_of_them_spoil_a_run() {
        let visits = |dropped: usize, kind: ReasonKind| -> Vec<Visit> {
            let kind = |n| (n < dropped).then_some(kind);
            (0..4).map(|n| Visit { dropped: kind(n), ..Visit::default() }).collect()
        };
        let of_group = |dropped: usize| {
            let visits = visits(dropped, ReasonKind::Throttled).into_iter();
            let visits = visits.map(|it| Visit { throttled_ns: Some(5_000_000), ..it });
            disturbed(&visits.collect::<Vec<_>>(), &[]).unwrap()
        };
        assert_eq!((of_group(2).kind, of_group(2).weight), (ReasonKind::Throttled, Weight::Note));
        assert_eq!((of_group(3).weight, of_group(3).figure), (Weight::Invalid, Some(2e7)));
        let (stolen, waited) = (ReasonKind::Stolen, ReasonKind::Neighbour);
        assert_eq!(disturbed(&visits(0, stolen), &[]), None);
        let few = disturbed(&visits(2, waited), &[]).unwrap();
        assert_eq!((few.weight, few.figure), (Weight::Note, Some(0.5)));
        let shown = [(2, waited), (3, waited), (3, stolen)].map(|(dropped, kind)| {
            let reason = disturbed(&visits(dropped, kind), &[]).unwrap();
            format!("{:?}: {}\n", reason.weight, reason.text().replace("; ", "\n"))
        });
        expect_test::expect![[r#"
            Note: 50 % of the visits were disturbed (2 of 4 were disturbed and excluded, most by `neighbour`
            no program was seen: the hypervisor or interrupts took the time)
            measure for longer, or on another machine
            Note: 75 % of the visits were disturbed (3 of 4 were disturbed
            too few others are left, so they count, most by `neighbour`
            no program was seen: the hypervisor or interrupts took the time)
            measure for longer, or on another machine
            Invalid: 75 % of the visits were disturbed (3 of 4 were disturbed, most by `stolen`)
            measure for longer, or on another machine
        "#]]
        .assert_eq(&shown.concat());
    }
}
