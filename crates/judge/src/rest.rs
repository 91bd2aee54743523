//! What a server uses at rest. It is never subtracted from what it uses under load: what a server does
//! while it is idle may be what it does not do while it has requests.

use wirebench_schema::journal::{Reason, ReasonKind, Weight};

/// A server that uses more than this share of a CPU at rest never rests. It is stopped while others
/// are loaded.
pub const RESTLESS_SHARE: f64 = 0.05;

/// A server that uses more than this share of a CPU at rest is worth a note.
const REST_NOTED: f64 = 0.005;

/// That the server uses this share of a CPU at rest.
#[must_use]
pub fn rests(share: f64) -> Option<Reason> {
    let detail = "its cost per request includes what continues under load";
    (share > REST_NOTED).then(|| ReasonKind::Restless.reason(Weight::Note, Some(share), detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_at_rest_is_noted() {
        assert_eq!(rests(0.004), None);
        let reason = rests(0.1).unwrap();
        assert_eq!((reason.weight, reason.figure), (Weight::Note, Some(0.1)));
    }
}
