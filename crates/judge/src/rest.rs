//! What a server uses at rest, and what that means for its cost per request.

use wirebench_schema::journal::{Reason, ReasonKind, Weight};

use crate::thresholds::BUSY;

/// A server that uses more than this share of a CPU at rest never rests. It is stopped while others
/// are loaded.
pub const RESTLESS_SHARE: f64 = 0.05;

/// One that uses more than this spins, and works for requests instead of at rest: nothing is subtracted
/// from what it uses under load.
pub const SUBTRACTED_SHARE: f64 = 0.25;

/// The share of a CPU that is subtracted from the cost of a server that uses this one at rest.
#[must_use]
pub fn subtracted_share(rest_share: f64) -> f64 {
    if rest_share > SUBTRACTED_SHARE { 0.0 } else { rest_share }
}

/// A server that uses more than this share of a CPU at rest is worth a note.
const REST_NOTED: f64 = 0.005;

/// That the server uses this share of a CPU at rest, when its CPUs were `busy` for this share of the
/// load, its rest included. On CPUs that are busy all the time, work at rest gives way to requests, so
/// it is less than was measured at rest and the difference is not the cost of requests.
#[must_use]
pub fn rests(share: f64, busy: f64) -> Option<Reason> {
    let percent = share * 100.0;
    let (weight, what) = match share > RESTLESS_SHARE && busy >= BUSY {
        true => (Weight::Invalid, "at saturation, cost per request cannot be separated from it"),
        false if share > SUBTRACTED_SHARE => (Weight::Note, "cost per request includes it"),
        false => (Weight::Note, "subtracted from cost per request"),
    };
    let text = format!("the server uses {percent:.1} % of a CPU at rest; {what}");
    (share > REST_NOTED).then(|| ReasonKind::Restless.reason(weight, Some(share), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_at_rest_is_subtracted_unless_it_competes_with_requests() {
        let weight = |share, busy| rests(share, busy).map(|reason| reason.weight);
        let text = |share| rests(share, 0.5).unwrap().text;
        assert_eq!(
            text(0.1),
            "the server uses 10.0 % of a CPU at rest; subtracted from cost per request"
        );
        assert_eq!(
            text(0.6),
            "the server uses 60.0 % of a CPU at rest; cost per request includes it"
        );
        assert_eq!(weight(0.1, 0.99), Some(Weight::Invalid));
        assert_eq!(weight(0.004, 1.0), None);
        assert_eq!(weight(0.02, 1.0), Some(Weight::Note));
        assert_eq!(weight(0.6, 0.9), Some(Weight::Note));
        assert_eq!(weight(0.6, 0.99), Some(Weight::Invalid));
    }
}
