//! Work that an instance does outside its visits: what belongs to its requests is in no figure of them.

use wirebench_schema::journal::{Balance, Reason, ReasonKind, Weight};

/// Shares of the CPU time in its visits from which on the work between them is noted, and is too much.
const NOTED: f64 = 0.05;
const TOO_MUCH: f64 = 0.1;
/// CPU time after the last visit that is noted: an end takes some, and closing each connection.
const LATE_NS: u64 = 50_000_000;
const CLOSING_NS: u64 = 100_000;
/// Share of a CPU that rare timers may use at rest. It is small, because a parked server rests for many times as long
/// as it is loaded: with seven others, 2 % of the time would be 15 % of the CPU time in its visits.
const TIMERS_SHARE: f64 = 0.001;

/// CPU time that a server used outside its visits within `length_ns`, less what it uses at rest in any case.
#[must_use]
pub fn beyond_rest(used_ns: u64, length_ns: u64, rest_share: f64) -> u64 {
    used_ns.saturating_sub((rest_share.max(TIMERS_SHARE) * length_ns as f64) as u64)
}

/// A finding about work between visits: a request costs more with it, and it disturbed `visits` of other servers.
pub(crate) fn deferred(balance: Balance, request_ns: Option<f64>, visits: usize) -> Option<Reason> {
    let share = balance.between_ns as f64 / balance.visits_ns as f64;
    let (request_ns, weight) = match share {
        share if share > TOO_MUCH => (request_ns?, Weight::Invalid),
        share if share > NOTED => (request_ns?, Weight::Note),
        _ => return None,
    };
    let [counted, whole] = [1.0, 1.0 + share].map(|factor| request_ns * factor / 1e3);
    let mut detail = format!("{counted:.2} us as counted, {whole:.2} us with it");
    if visits > 0 {
        detail += &format!("; visits of other servers that it disturbed: {visits}");
    }
    Some(ReasonKind::DeferredWork.reason(weight, Some(share), detail))
}

/// A finding about CPU time after the last visit.
pub(crate) fn late(balance: Balance, connections: usize) -> Option<Reason> {
    let Balance { after_ns, end_ns, .. } = balance;
    let is_much = after_ns + end_ns > LATE_NS + CLOSING_NS * connections as u64;
    let [after, end] = [after_ns, end_ns].map(|ns| ns as f64 / 1e6);
    let detail = format!("{after:.0} ms before SIGTERM, {end:.0} ms from then on");
    let reason =
        ReasonKind::LateWork.reason(Weight::Note, Some((after_ns + end_ns) as f64), detail);
    is_much.then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn work_between_visits_is_noted_above_a_twentieth_and_makes_a_run_not_valid_above_a_tenth() {
        let found = |between_ns, request_ns| {
            let balance = Balance { visits_ns: 1000, between_ns, ..Balance::default() };
            deferred(balance, request_ns, 0).map(|it| it.weight)
        };
        assert_eq!(found(50, Some(1e3)), None);
        assert_eq!(found(51, Some(1e3)), Some(Weight::Note));
        assert_eq!(found(100, Some(1e3)), Some(Weight::Note));
        assert_eq!(found(101, Some(1e3)), Some(Weight::Invalid));
        assert_eq!(found(101, None), None, "its CPU time is not known");
        assert_eq!(deferred(Balance::default(), Some(1e3), 0), None, "it had no visit");
    }

    #[test]
    fn both_figures_are_shown_and_the_visits_of_others() {
        let balance = Balance { visits_ns: 1000, between_ns: 250, ..Balance::default() };
        let reason = deferred(balance, Some(8000.0), 7).unwrap();
        assert_eq!(reason.figure, Some(0.25));
        let shown =
            "8.00 us as counted, 10.00 us with it; visits of other servers that it disturbed: 7";
        assert_eq!(reason.detail.as_deref(), Some(shown));
    }

    #[test]
    fn timers_at_rest_are_not_work_of_requests() {
        assert_eq!(beyond_rest(10 * MS, 1000 * MS, 0.0), 9 * MS);
        assert_eq!(beyond_rest(10 * MS, 1000 * MS, 0.008), 2 * MS);
        assert_eq!(beyond_rest(10 * MS, 1000 * MS, 0.02), 0);
    }

    #[test]
    fn work_after_the_last_visit_is_a_note_with_its_two_parts() {
        let found = |after_ns, end_ns, connections| {
            late(Balance { after_ns, end_ns, ..Balance::default() }, connections)
        };
        assert_eq!(found(20 * MS, 30 * MS, 0), None);
        assert_eq!(found(20 * MS, 100 * MS, 1000), None, "connections were closed");
        let reason = found(20 * MS, 100 * MS, 64).unwrap();
        assert_eq!((reason.weight, reason.figure), (Weight::Note, Some(120e6)));
        let shown = "20 ms before SIGTERM, 100 ms from then on";
        assert_eq!(reason.detail.as_deref(), Some(shown));
    }
}
