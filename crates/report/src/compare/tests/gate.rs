//! What a gate says where the load generator was at its limit: which bounds keep a condition, which
//! violate it, and which do neither.

use super::*;
use crate::Report as _;

/// A comparison under a condition, in which the generator was at its limit with `go/net` in the older
/// result, in the newer one, in both or in neither.
fn of_bounds(rate: f64, [old_limited, new_limited]: [bool; 2], condition: &str) -> Comparison {
    let result = |seed: u64, rate: f64, is_limited: bool| {
        let mut journal = with_go(10, seed, (rate, 1.0));
        for it in measurements(&mut journal, "go/net", "hello").filter(|_| is_limited) {
            it.bound = Bound::Generator;
        }
        journal
    };
    let (old, new) = (result(1, 1.0, old_limited), result(2, rate, new_limited));
    compared(&old, &new, &conditions(&[condition]))
}

/// The verdict, and in how many of two cells the condition passed.
fn verdict(rate: f64, limited: [bool; 2], condition: &str) -> (GateVerdict, usize) {
    let gate = of_bounds(rate, limited, condition).gate.unwrap();
    (gate.verdict, gate.conditions[0].kept.len())
}

#[test]
fn only_a_bound_on_the_right_side_of_a_condition_passes_it() {
    use GateVerdict::{Failed, Inconclusive, Passed};
    let less = "throughput < -3%";
    assert_eq!(verdict(1.0, [false, false], less), (Passed, 2));
    assert_eq!(verdict(1.0, [false, true], less), (Passed, 2), "at least as much as before");
    assert_eq!(verdict(1.0, [true, false], less), (Inconclusive, 1), "at most as much as before");
    assert_eq!(
        verdict(1.2, [true, false], less),
        (Inconclusive, 1),
        "before it may have been more"
    );
    assert_eq!(verdict(1.0, [true, true], less), (Inconclusive, 1));
    assert_eq!(verdict(0.9, [true, false], less), (Failed, 1), "at most so much, which is less");
    let longer = "p99 > +3%";
    let same_latency = |limited| verdict(1.0, limited, longer).0;
    assert_eq!(same_latency([false, false]), Passed);
    assert_eq!(same_latency([false, true]), Passed, "at most as long as before");
    assert_eq!(same_latency([true, false]), Inconclusive, "before it may have been shorter");
    assert_eq!(verdict(1.0, [true, true], "cpu > +3%").0, Passed, "nothing bounds CPU time");
}

#[test]
fn what_is_not_passed_is_shown_everywhere_with_its_reason() {
    let comparison = of_bounds(1.0, [true, false], "throughput < -3%");
    assert!(!fails(&comparison));
    crate::fixtures::assert_golden("compare/inconclusive.txt", &comparison.text(Rows::ThatCount));
    let value: serde_json::Value = serde_json::from_str(&comparison.json()).unwrap();
    let gate = &value["gate"];
    assert_eq!(gate["verdict"], "inconclusive");
    let open = &gate["conditions"][0]["inconclusive"];
    assert_eq!(open.as_array().unwrap().len(), 1, "{gate:#}");
    assert!(open[0]["why"].as_str().unwrap().contains("saturated"), "{gate:#}");
}
