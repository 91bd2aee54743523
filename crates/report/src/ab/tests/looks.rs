//! Comparisons that may end at a look.

use super::*;
use wirebench_schema::journal::InterimLook;

/// The comparison of `costs` that ended at the last of these looks.
fn at(looks: &[(u32, f64)], (ratio, loudness): (f64, f64)) -> Journal {
    let mut journal = two("cost");
    let cohorts = looks.last().map_or(14, |it| it.0) as usize;
    runs(&mut journal, cohorts, (10_000.0, 10_000.0 * ratio), loudness, cost);
    journal.start.goal.until_decided = true;
    journal.looks = looks.iter().map(|&(cohorts, share)| InterimLook { cohorts, share }).collect();
    ended(&mut journal, EndReason::Decided);
    journal
}

#[test]
fn a_comparison_that_may_end_at_a_look_has_wider_intervals_than_one_with_a_fixed_end() {
    let looked = at(&[(3, 0.2), (4, 0.3), (5, 0.4)], (1.02, 1.0));
    let mut fixed = looked.clone();
    (fixed.start.goal.until_decided, fixed.looks) = (false, Vec::new());
    let width = |journal: &Journal| of(journal, &[]).half_width().unwrap();
    assert!(width(&looked) > 1.4 * width(&fixed), "{} {}", width(&looked), width(&fixed));
    // An answer that is due later may cost more.
    let early = at(&[(3, 0.05), (4, 0.06), (5, 0.07)], (1.02, 1.0));
    assert!(width(&early) > width(&looked));
    // Without a record of its last cohorts it is judged as if it had ended there.
    let mut cut_off = looked.clone();
    cut_off.looks.pop();
    cut_off.end = None;
    assert!(width(&cut_off) < width(&looked) && width(&cut_off) > width(&fixed));
}

#[test]
fn it_is_decided_when_the_verdict_or_every_condition_is() {
    let decided = |journal: &Journal, conditions: &[&str]| of(journal, conditions).is_decided();
    let higher = at(&[(3, 0.2), (4, 0.3), (5, 0.4)], (1.05, 1.0));
    assert!(decided(&higher, &[]) && decided(&higher, &["cpu > +1%"]));
    assert!(!decided(&higher, &["cpu > +5%"]), "the limit is inside the interval");
    assert!(!decided(&higher, &["cpu > +1%", "cpu > +5%"]));
    let noisy = at(&[(3, 0.2)], (1.0, 30.0));
    assert!(!decided(&noisy, &[]));
    let not_valid = with_reason(higher.clone(), &reason(Weight::Invalid, "disturbed"));
    assert_eq!(of(&not_valid, &[]).verdict, Verdict::NotValid);
    assert!(!decided(&not_valid, &[]), "more cohorts may be valid");
    let text = of(&higher, &[]).sentence();
    assert!(text.ends_with(", 5 cohorts at 40 000 requests/s, decided at look 3)"), "{text}");
    let page = of(&higher, &[]).page(None);
    assert!(page.contains("\n9 of 10 such runs find a difference of 0."), "{page}");
}

#[test]
fn the_outlook_is_that_of_an_earlier_result() {
    let quiet = at(&[(3, 0.2), (4, 0.3), (5, 0.4)], (1.02, 1.0));
    let noisy = at(&[(3, 0.2), (4, 0.3), (5, 0.4)], (1.02, 10.0));
    let of = |journal, cohorts| outlook(journal, Metric::Cpu, cohorts, Some(0.0)).unwrap();
    let ratio = of(&noisy, 8) / of(&quiet, 8);
    assert!((8.0..14.0).contains(&ratio), "{ratio}");
    assert!(of(&quiet, 16) < of(&quiet, 8));
    assert_eq!(outlook(&quiet, Metric::Cpu, 2, Some(0.0)), None, "no verdict");
    let found = super::of(&noisy, &[]).ratio().unwrap().judged.detectable.unwrap();
    assert!((of(&noisy, 5) / found - 1.0).abs() < 0.5, "{} {found}", of(&noisy, 5));
    assert_eq!(outlook(&at(&[], (1.0, 1.0)), Metric::Cpu, 1000, Some(0.2)), Some(0.2));
}
