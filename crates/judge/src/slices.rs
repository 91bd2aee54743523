//! Findings about slices that were disturbed.

use wirebench_schema::journal::{ProgramShare, Reason, ReasonKind, Slice, Weight};

/// How many of the slices were disturbed, what disturbed most of them, and whether they count anyway. If a side
/// had to wait for its CPUs, `programs` are those that were seen.
#[must_use]
pub fn disturbed(slices: &[Slice], programs: &[ProgramShare]) -> Option<Reason> {
    let kinds: Vec<ReasonKind> = slices.iter().filter_map(|it| it.dropped).collect();
    let count = |kind: ReasonKind| kinds.iter().filter(|other| **other == kind).count();
    let most = kinds.iter().copied().max_by_key(|kind| count(*kind))?;
    let (dropped, all) = (kinds.len(), slices.len());
    let counted: Vec<ReasonKind> =
        Slice::counted(slices).into_iter().filter_map(|it| it.dropped).collect();
    let (weight, what) = if counted.is_empty() {
        (Weight::Note, "were disturbed and excluded")
    } else if counted.iter().all(|kind| *kind == ReasonKind::Neighbour) {
        // How long a side waited in them is judged by itself.
        (Weight::Note, "were disturbed; too few others are left, so they count")
    } else {
        (Weight::Invalid, "were disturbed")
    };
    if most == ReasonKind::Throttled {
        let ns = slices.iter().filter_map(|it| it.throttled_ns).sum::<u64>() as f64;
        let detail = format!("summed over CPUs: {dropped} of {all} slices {what}");
        return Some(most.reason(weight, Some(ns), detail));
    }
    let detail = format!("{dropped} of {all} {what}, most by `{}`", most.guide().name);
    let share = Some(dropped as f64 / all as f64);
    let reason = ReasonKind::SlicesDropped.reason(weight, share, detail);
    Some(if most.is_disturbance() { reason.by(programs) } else { reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_that_were_dropped_are_counted_and_most_of_them_spoil_a_run() {
        let slices = |dropped: usize, kind: ReasonKind| -> Vec<Slice> {
            let kind = |n| (n < dropped).then_some(kind);
            (0..4).map(|n| Slice { dropped: kind(n), ..Slice::default() }).collect()
        };
        let of_group = |dropped: usize| {
            let slices = slices(dropped, ReasonKind::Throttled).into_iter();
            let slices = slices.map(|it| Slice { throttled_ns: Some(5_000_000), ..it });
            disturbed(&slices.collect::<Vec<_>>(), &[]).unwrap()
        };
        assert_eq!((of_group(2).kind, of_group(2).weight), (ReasonKind::Throttled, Weight::Note));
        assert_eq!((of_group(3).weight, of_group(3).figure), (Weight::Invalid, Some(2e7)));
        let (stolen, waited) = (ReasonKind::Stolen, ReasonKind::Neighbour);
        assert_eq!(disturbed(&slices(0, stolen), &[]), None);
        let few = disturbed(&slices(2, waited), &[]).unwrap();
        assert_eq!((few.weight, few.figure), (Weight::Note, Some(0.5)));
        let shown = [(2, waited), (3, waited), (3, stolen)].map(|(dropped, kind)| {
            let reason = disturbed(&slices(dropped, kind), &[]).unwrap();
            format!("{:?}: {}\n", reason.weight, reason.text().replace("; ", "\n"))
        });
        expect_test::expect![[r#"
            Note: 50 % of the slices were disturbed (2 of 4 were disturbed and excluded, most by `neighbour`
            no program was seen: the hypervisor or interrupts took the time)
            measure for longer, or on another machine
            Note: 75 % of the slices were disturbed (3 of 4 were disturbed
            too few others are left, so they count, most by `neighbour`
            no program was seen: the hypervisor or interrupts took the time)
            measure for longer, or on another machine
            Invalid: 75 % of the slices were disturbed (3 of 4 were disturbed, most by `stolen`)
            measure for longer, or on another machine
        "#]]
        .assert_eq(&shown.concat());
    }
}
