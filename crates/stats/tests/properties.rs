//! Properties that hold for any numbers, including those that no machine would show.
//!
//! `cohorts` tests how often results are right.

use proptest::prelude::*;
use wirebench_stats::{
    Better, Contrast, TwoWay, geometric_mean_interval, judge_against, judge_changes, outliers,
    rank_levels,
};

/// Any numbers, those included that are none.
fn any_values() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(proptest::num::f64::ANY, 0..20)
}

/// A logarithm as it may occur, or a missing one.
fn cell() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -20.0_f64..20.0, 1 => Just(1.0), 1 => Just(f64::NAN)]
}

proptest! {
    #[test]
    fn nothing_panics_whatever_the_numbers_are(one in any_values(), other in any_values()) {
        let _ = (geometric_mean_interval(&one), outliers(&one));
        let (old, new) = (Contrast::of_level(&one), Contrast::of_level(&other));
        if let (Some(old), Some(new)) = (old, new) {
            prop_assert_eq!(judge_changes(&[new.since(&old)], 0.03).len(), 1);
        }
    }

    #[test]
    fn no_load_panics_and_what_is_judged_has_a_ratio_within_its_intervals(
        cells in proptest::collection::vec(proptest::collection::vec(cell(), 4), 1..7),
    ) {
        let Some(model) = TwoWay::fit(&cells, &[0, 1]) else { return Ok(()) };
        let rows: Vec<usize> = (2..cells.len()).collect();
        for judged in judge_against(&model, &rows, &[0, 1], 0.03).into_iter().flatten() {
            if let (Some(interval), Some(plain)) = (judged.interval, judged.plain) {
                prop_assert!(interval.contains(judged.ratio) && plain.contains(judged.ratio));
            }
        }
        let items: Vec<Vec<usize>> = (0..cells.len()).map(|row| vec![row]).collect();
        prop_assert_eq!(rank_levels(&model, &items, Better::Less, 0.03).len(), cells.len());
    }

    #[test]
    fn ranks_leave_room_for_each_row_and_no_group_divides_them(
        values in proptest::collection::vec(proptest::collection::vec(1.0_f64..1.5, 6), 2..8),
    ) {
        let rows: Vec<Vec<f64>> =
            values.iter().map(|row| row.iter().map(|value| value.ln()).collect()).collect();
        let items: Vec<Vec<usize>> = (0..rows.len()).map(|row| vec![row]).collect();
        let model = TwoWay::fit(&rows, &[]).unwrap();
        let ranks: Vec<_> =
            rank_levels(&model, &items, Better::More, 0.01).into_iter().flatten().collect();
        prop_assert_eq!(ranks.len(), rows.len());
        // As many rows as there are ranks up to any place may have one of them.
        for place in 1..=rows.len() {
            prop_assert!(ranks.iter().filter(|rank| rank.first <= place).count() >= place);
            prop_assert!(ranks.iter().filter(|rank| rank.last >= place).count() > rows.len() - place);
        }
        for one in &ranks {
            for other in &ranks {
                prop_assert!(one.group >= other.group || one.last < other.first);
            }
        }
    }
}
