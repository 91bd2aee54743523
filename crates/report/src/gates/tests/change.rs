//! Which changes keep a condition, which violate it, and which do neither.

use super::*;
use crate::analysis::{JudgedRatio, Reads};
use wirebench_stats::Estimate;

#[test]
fn a_condition_on_a_change_needs_its_whole_interval_and_a_bound_on_the_right_side() {
    use Reads::{AtLeast, AtMost, Either, Exactly};
    let judged = |condition: &str, (low, high): (f64, f64), reads| {
        let limit = *conditions(&[condition])[0].change().unwrap();
        let interval = Some(Interval { low, high });
        let estimate = Estimate { value: f64::midpoint(low, high), interval, samples: 6 };
        match crate::gates::change::kept(&limit, &JudgedRatio::unjudged(estimate, reads)) {
            Kept::Yes => "kept".to_owned(),
            Kept::No => "violated".to_owned(),
            Kept::Open(why) => why,
        }
    };
    let (less, longer, open) =
        ("throughput < -3%", "p99 > +3%", "the load generator was saturated");
    for (condition, interval, reads, expected) in [
        (less, (0.94, 0.96), Exactly, "violated"),
        (less, (0.96, 0.98), Exactly, "the interval includes -3.0 %"),
        (less, (0.98, 1.02), Exactly, "kept"),
        (less, (0.98, 1.02), AtLeast, "kept"),
        (less, (0.94, 0.96), AtLeast, open),
        (less, (0.94, 0.96), AtMost, "violated"),
        (less, (0.98, 1.02), AtMost, open),
        (less, (1.18, 1.22), Either, open),
        (longer, (1.04, 1.06), Exactly, "violated"),
        (longer, (1.02, 1.04), Exactly, "the interval includes +3.0 %"),
        (longer, (0.98, 1.02), AtMost, "kept"),
        (longer, (0.98, 1.02), AtLeast, open),
        (longer, (1.04, 1.06), AtLeast, "violated"),
    ] {
        let found = judged(condition, interval, reads);
        assert!(found.starts_with(expected), "{condition} {interval:?} {reads:?}: {found}");
    }
}
