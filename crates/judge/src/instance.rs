//! What is said of an instance over its slices, and of the load that warmed it up.

use std::time::Duration;
use wirebench_schema::journal::{Reason, ReasonKind, Weight};

/// A cost in slices that is off by this factor is not that of the server under a longer load.
pub const FAR: f64 = 1.1;

/// That the server was not steady after a load of this length.
#[must_use]
pub fn not_steady(waited_ns: u64, detail: &str) -> Reason {
    ReasonKind::NotSteady.reason(Weight::Invalid, Some(waited_ns as f64), detail)
}

/// By how much a server still changed, if enough requests were answered to know.
#[must_use]
pub fn still_changed(change: Option<f64>) -> String {
    match change.filter(|change| change.is_finite()) {
        Some(change) => format!("its CPU time per request changed by {:+.1} %", change * 100.0),
        None => "too few requests were answered to judge".to_owned(),
    }
}

/// That the server had not settled this long after a rest.
#[must_use]
pub fn unsettled(after: Duration) -> Reason {
    let detail = format!("{:.0} ms after a rest", after.as_secs_f64() * 1e3);
    ReasonKind::Unsettled.reason(Weight::Note, None, detail)
}

/// That the machine swapped this many pages during the cohort.
#[must_use]
pub fn swapped(pages: u64) -> Reason {
    ReasonKind::Swapped.reason(Weight::Invalid, Some(pages as f64), "")
}

/// That the server used CPU time in this many slices of others.
#[must_use]
pub fn parked_busy(slices: u32) -> Reason {
    ReasonKind::ParkedBusy.reason(Weight::Note, Some(f64::from(slices)), "")
}

/// That CPU time per request changed by this share from the first slice to the last.
#[must_use]
pub fn drifting(change: f64) -> Reason {
    ReasonKind::Drifting.reason(Weight::Note, Some(change), "")
}

/// That slices cost this much, compared with a long one.
#[must_use]
pub fn slice_length(ratio: f64) -> Reason {
    let is_far = !(1.0 / FAR..=FAR).contains(&ratio);
    let weight = if is_far { Weight::Invalid } else { Weight::Note };
    ReasonKind::SliceLength.reason(weight, Some(ratio), "relative to the other servers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_is_far_from_that_of_a_longer_slice_is_not_valid() {
        for (ratio, weight) in
            [(1.6, Weight::Invalid), (0.8, Weight::Invalid), (1.08, Weight::Note)]
        {
            assert_eq!(slice_length(ratio).weight, weight, "{ratio}");
        }
    }
}
