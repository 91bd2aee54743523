//! Comments on how far the CPUs that server and load generator would have are from each other.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_host::{distance::Probe, place::PlacementRequest, place_here};
use wirebench_stats::states::States;

use super::{Comment, fine, unknown, warning};

/// How long is looked, and how often. States of virtual machines last for seconds to minutes.
const LOOK: Duration = Duration::from_secs(2);
const BETWEEN: Duration = Duration::from_millis(20);

/// Reads the distances for a while; nothing where the sides have no CPUs of their own.
pub(super) fn read(stop: &AtomicBool) -> Vec<Vec<u32>> {
    let Ok(placement) = place_here(&PlacementRequest::default()) else { return Vec::new() };
    let (probe, until) = (Probe::new(&placement, true), Instant::now() + LOOK);
    let mut readings = Vec::new();
    while !probe.pairs.is_empty() && Instant::now() < until && !stop.load(Ordering::Relaxed) {
        readings.push(probe.read());
        thread::sleep(BETWEEN);
    }
    readings.retain(|reading| !reading.is_empty());
    readings
}

pub(super) fn examine(readings: &[Vec<u32>]) -> Comment {
    let states = States::of(&readings.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let shown = |state: usize| {
        let pairs = states.distance_ns(state).iter().map(|ns| format!("{ns:.0}"));
        pairs.collect::<Vec<_>>().join(", ") + " ns"
    };
    let all: Vec<String> = (0..states.count()).map(shown).collect();
    let takes = all.join(" or ");
    let text =
        format!("a cache line takes {takes} from the server's CPU to the generator's and back");
    match all.len() {
        0 => unknown("not measured: server and load generator have no CPUs of their own"),
        1 => fine(format!("{text}; one state within 2 s")),
        several => warning(
            format!("{text}: {several} states within 2 s, between which ratios of servers differ"),
            "measure with more --cohorts: only visits of one state are compared",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    #[test]
    fn one_state_is_fine_and_several_are_a_warning_with_their_distances() {
        let look = |distances: &[u32]| {
            let readings: Vec<Vec<u32>> = distances.iter().map(|it| vec![*it]).collect();
            let Comment { state, text, .. } = examine(&readings);
            (state, text)
        };
        assert_eq!(look(&[]).0, State::Unknown);
        let (state, text) = look(&[84, 86, 82]);
        assert!(state == State::Fine && text.contains("takes 84 ns"), "{text}");
        let (state, text) = look(&[84, 86, 82, 400, 396, 404]);
        assert!(state == State::Warning && text.contains("84 ns or 400 ns"), "{text}");
        assert!(text.contains("2 states"), "{text}");
    }
}
