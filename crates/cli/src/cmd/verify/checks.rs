//! `verify --list`: each check once, with its scenarios, its requirement and what it is for.

use wirebench_schema::scenario::Scenario;
use wirebench_verify::{Described, catalogue};

use crate::scenarios::folded;

/// A paragraph for each check, in the order in which they run.
pub(super) fn list() -> String {
    let mut checks: Vec<Described> = Vec::new();
    for check in Scenario::ALL.into_iter().flat_map(catalogue) {
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    let of = |check: &Described| folded(|scenario| catalogue(scenario).contains(check));
    let paragraph = |check: &Described| {
        format!("{} ({})\n  {}\n  for: {}\n", check.name, of(check), check.about, check.purpose())
    };
    checks.iter().map(paragraph).collect::<Vec<_>>().join("\n")
}
