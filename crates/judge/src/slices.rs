//! What must be said of slices that were disturbed.

use wirebench_schema::journal::{Reason, ReasonKind, Slice, Weight};

/// How many of the slices do not count, and what disturbed most of them.
#[must_use]
pub fn disturbed(slices: &[Slice]) -> Option<Reason> {
    let kinds: Vec<ReasonKind> = slices.iter().filter_map(|it| it.dropped).collect();
    let count = |kind: ReasonKind| kinds.iter().filter(|other| **other == kind).count();
    let most = kinds.iter().copied().max_by_key(|kind| count(*kind))?;
    let (dropped, all) = (kinds.len(), slices.len());
    // When most are disturbed, all of them count.
    let (weight, what) = match 2 * dropped > all {
        true => (Weight::Invalid, "were disturbed"),
        false => (Weight::Note, "were disturbed and excluded"),
    };
    let text = format!("{dropped} of {all} slices {what}, most by `{}`", most.guide().name);
    Some(ReasonKind::SlicesDropped.reason(weight, Some(dropped as f64 / all as f64), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_that_were_dropped_are_counted_and_most_of_them_spoil_a_run() {
        let slices = |dropped: usize| -> Vec<Slice> {
            let kind = |n| (n < dropped).then_some(ReasonKind::Neighbour);
            (0..4).map(|n| Slice { dropped: kind(n), ..Slice::default() }).collect()
        };
        assert_eq!(disturbed(&slices(0)), None);
        let few = disturbed(&slices(2)).unwrap();
        assert_eq!((few.weight, few.figure), (Weight::Note, Some(0.5)));
        assert_eq!(few.text, "2 of 4 slices were disturbed and excluded, most by `neighbour`");
        assert_eq!(disturbed(&slices(3)).unwrap().weight, Weight::Invalid);
    }
}
