//! What a gate says where the load generator was at its limit: which bounds exclude that a condition
//! is met, and which do not.

use super::{
    super::{GateVerdict, json, markdown, text},
    *,
};

/// Results in which the generator was at its limit with `go/net` in the older one, in the newer one,
/// or in both, held against each other with a condition.
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
    (gate.verdict(), gate.conditions[0].passed)
}

#[test]
fn only_a_bound_that_excludes_that_a_condition_is_met_passes_it() {
    use GateVerdict::{CannotTell, Failed, Passed};
    let less = "throughput < -3%";
    assert_eq!(verdict(1.0, [false, false], less), (Passed, 2));
    assert_eq!(verdict(1.0, [false, true], less), (Passed, 2), "at least as much as before");
    assert_eq!(verdict(1.0, [true, false], less), (CannotTell, 1), "at most as much as before");
    assert_eq!(verdict(1.2, [true, false], less), (CannotTell, 1), "before it may have been more");
    assert_eq!(verdict(1.0, [true, true], less), (CannotTell, 1));
    assert_eq!(verdict(0.9, [true, false], less), (Failed, 1), "at most so much, which is less");
    let longer = "p99 > +3%";
    let same_latency = |limited| verdict(1.0, limited, longer).0;
    assert_eq!(same_latency([false, false]), Passed);
    assert_eq!(same_latency([false, true]), Passed, "at most as long as before");
    assert_eq!(same_latency([true, false]), CannotTell, "before it may have been shorter");
    assert_eq!(verdict(1.0, [true, true], "cpu > +3%").0, Passed, "nothing bounds CPU time");
}

#[test]
fn what_is_not_passed_is_told_everywhere_with_its_reason() {
    let comparison = of_bounds(1.0, [true, false], "throughput < -3%");
    assert!(!fails(&comparison));
    let parts = [
        "cannot tell 'throughput < -3%': hello go/net: requests/s <=",
        ": the load generator was at its limit, so that the true change is at most that and may be \
         below -3.0 %: give it more CPUs, or compare `cpu`",
        "passed 'throughput < -3%' in 1 cell\n",
        "WARNING: 'throughput < -3%' cannot be told in 1 of 2 cells, because the load generator",
        "NOT PASSED, though nothing fails: what cannot be told may meet its condition, and only a \
         change beyond the noise makes the exit code 1\n",
    ];
    let shown = text(&comparison, Rows::ThatCount);
    let escaped = markdown(&comparison).replace("&lt;", "<");
    for part in parts {
        assert!(shown.contains(part), "{part} in\n{shown}");
        assert!(escaped.contains(part), "{part} in\n{escaped}");
    }
    let first = escaped.lines().next().unwrap();
    assert!(first.ends_with("; **neither failed nor passed: not everything can be told**"));
    let value: serde_json::Value = serde_json::from_str(&json(&comparison)).unwrap();
    let gate = &value["gate"];
    assert_eq!((&gate["verdict"], &gate["passed"]), (&"cannot-tell".into(), &false.into()));
    let told = &gate["conditions"][0]["cannot_tell"];
    assert_eq!(told.as_array().unwrap().len(), 1, "{gate:#}");
    assert!(told[0]["why"].as_str().unwrap().contains("at its limit"), "{gate:#}");
}
