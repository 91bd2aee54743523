//! The state of the machine in which most visits of a cohort were: figures are compared within it only. Pure.

use wirebench_schema::journal::Distances;
use wirebench_stats::states::States;

/// Whether a visit was in the state in which most of `all` were. Always so on a machine that does not change.
pub(super) fn in_most_common(all: &[&Distances]) -> impl Fn(&Distances) -> bool + use<> {
    let readings: Vec<&[u32]> = all.iter().filter_map(|it| it.readings()).flatten().collect();
    let states = States::of(&readings);
    let count = |wanted: usize| {
        all.iter().filter(|it| states.during(it.readings()) == Some(wanted)).count()
    };
    let most = (0..states.count()).max_by_key(|wanted| count(*wanted));
    move |of| states.count() < 2 || states.during(of.readings()) == most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_visits_of_the_most_common_state_are_compared() {
        let at = |before, after| Distances {
            distance_ns_before: vec![before],
            distance_ns_after: vec![after],
        };
        let mut all = vec![at(80, 82), at(350, 340), at(81, 345), at(79, 83)];
        let is_in = in_most_common(&all.iter().collect::<Vec<_>>());
        assert_eq!(all.iter().map(&is_in).collect::<Vec<_>>(), [true, false, false, true]);
        assert!(!is_in(&Distances::default()), "it was not probed");
        all.retain(|it| it.distance_ns_before[0] < 100 && it.distance_ns_after[0] < 100);
        let is_in = in_most_common(&all.iter().collect::<Vec<_>>());
        assert!(is_in(&at(350, 340)) && is_in(&Distances::default()), "there is one state");
    }
}
