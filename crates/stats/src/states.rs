//! The states of a machine, known from the distance between the CPUs of the two sides: the time of a round trip
//! of a cache line. A hypervisor that moves virtual CPUs changes it by a factor, and ratios between
//! servers with it. States come from these readings alone, never from results.

use std::collections::BTreeMap;

use crate::{FEWEST_TRIMMED, MIN_COHORTS, summary::median};

/// Readings on both sides of a gap of this factor belong to different states. Within one state the largest
/// ratio that was seen between neighbours is 1.34, and states differ by 3 to 5.
pub const APART: f64 = 1.5;
/// Fewer readings than this share are no state.
const RARE_SHARE: f64 = 0.05;
/// Readings of a disturbed probe that may lie between two states and do not join them.
const ODD_SHARE: f64 = 0.01;
/// Visits of an instance in a cohort beyond which more say little.
const ENOUGH: usize = 3;

/// The states that all readings of a run show, the nearest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct States(Vec<State>);

#[derive(Clone, Debug, PartialEq)]
struct State {
    /// The least and the greatest distance of each pair of CPUs.
    bounds: Vec<(u32, u32)>,
    distance_ns: Vec<f64>,
}

impl States {
    /// From readings that each have the distances of the same pairs of CPUs, in nanoseconds.
    #[must_use]
    pub fn of(readings: &[&[u32]]) -> Self {
        let pairs = readings.iter().map(|it| it.len()).min().unwrap_or(0);
        let bounds: Vec<Vec<(u32, u32)>> =
            (0..pairs).map(|pair| clusters(readings.iter().map(|it| it[pair]))).collect();
        // A state is a combination of clusters, one of each pair, that is seen often enough.
        let mut seen: BTreeMap<Vec<usize>, Vec<&[u32]>> = BTreeMap::new();
        for reading in readings {
            let cluster = |(value, bounds): (&u32, &Vec<(u32, u32)>)| {
                bounds.iter().position(|it| within(*value, *it))
            };
            if let Some(of_pairs) = reading.iter().zip(&bounds).map(cluster).collect() {
                seen.entry(of_pairs).or_default().push(*reading);
            }
        }
        seen.retain(|of_pairs, seen| {
            !of_pairs.is_empty() && seen.len() as f64 >= RARE_SHARE * readings.len() as f64
        });
        let state = |(of_pairs, seen): (&Vec<usize>, &Vec<&[u32]>)| {
            let of_pair =
                |pair: usize| seen.iter().map(|it| f64::from(it[pair])).collect::<Vec<f64>>();
            let distance_ns = (0..pairs).map(|pair| median(&of_pair(pair)).unwrap_or(0.0));
            State {
                bounds: of_pairs.iter().zip(&bounds).map(|(index, of)| of[*index]).collect(),
                distance_ns: distance_ns.collect(),
            }
        };
        let mut states: Vec<State> = seen.iter().map(state).collect();
        let whole = |state: &State| state.distance_ns.iter().sum::<f64>();
        states.sort_by(|a, b| whole(a).total_cmp(&whole(b)));
        Self(states)
    }

    /// How many there are: one on a machine that does not change, none without readings.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The median distance of each pair of CPUs in a state, in nanoseconds.
    #[must_use]
    pub fn distance_ns(&self, state: usize) -> &[f64] {
        self.0.get(state).map_or(&[], |state| &state.distance_ns)
    }

    /// The state in which the machine was before and after a visit; none if it changed meanwhile, was in none or
    /// was not read twice.
    #[must_use]
    pub fn during(&self, readings: Option<[&[u32]; 2]>) -> Option<usize> {
        let readings = readings?;
        let is_in = |state: &State| readings.into_iter().all(|it| state.has(it));
        self.0.iter().position(is_in)
    }

    /// The state in which most can be compared, from the `cohorts` of all loads: how many visits that count each
    /// instance has in each state. Ties go to the nearest. None with fewer than two states.
    #[must_use]
    pub fn choose(&self, cohorts: &[Vec<Vec<usize>>]) -> Option<usize> {
        let score =
            |state: usize| cohorts.iter().map(|it| least(it, state).min(ENOUGH)).sum::<usize>();
        (0..self.count()).rev().max_by_key(|state| score(*state)).filter(|_| self.count() > 1)
    }
}

impl State {
    fn has(&self, reading: &[u32]) -> bool {
        reading.len() == self.bounds.len()
            && reading.iter().zip(&self.bounds).all(|(value, bounds)| within(*value, *bounds))
    }
}

/// The fewest visits that an instance of a cohort has in `state`.
#[must_use]
pub fn least(cohort: &[Vec<usize>], state: usize) -> usize {
    let of = |instance: &Vec<usize>| instance.get(state).copied().unwrap_or(0);
    cohort.iter().map(of).min().unwrap_or(0)
}

/// How many visits of `state` an instance has at least, or it has no value in its cohort: as many as a trimmed mean
/// needs, where enough cohorts have that number of every instance, because one that stalled would decide among fewer;
/// else one. None if too few cohorts have one of every instance.
#[must_use]
pub fn fewest_visits<'a>(
    cohorts: &(impl Iterator<Item = &'a Vec<Vec<usize>>> + Clone),
    state: usize,
) -> Option<usize> {
    let have = |fewest| cohorts.clone().filter(|cohort| least(cohort, state) >= fewest).count();
    [FEWEST_TRIMMED, 1].into_iter().find(|fewest| have(*fewest) >= MIN_COHORTS)
}

/// Whether distances of the same pairs are of different states.
#[must_use]
pub fn are_apart(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).any(|(one, other)| one.max(*other) > APART * one.min(*other))
}

fn within(value: u32, (least, most): (u32, u32)) -> bool {
    (least..=most).contains(&value)
}

/// The bounds of the parts into which sorted values fall: where hardly any value lies within a factor of one, and some
/// do beyond, they are cut at the widest gap.
fn clusters(values: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut sorted: Vec<u32> = values.collect();
    sorted.sort_unstable();
    let few = (ODD_SHARE * sorted.len() as f64) as usize;
    let (mut bounds, mut first, mut at) = (Vec::new(), 0, 0);
    while at < sorted.len() {
        let beyond =
            sorted.partition_point(|value| f64::from(*value) <= APART * f64::from(sorted[at]));
        if beyond < sorted.len() && beyond - at - 1 <= few {
            let gap = |place: &usize| f64::from(sorted[place + 1]) / f64::from(sorted[*place]);
            let last = (at..beyond).max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(at);
            bounds.push((sorted[first], sorted[last]));
            (first, at) = (last + 1, last);
        }
        at += 1;
    }
    bounds.extend(sorted.get(first).zip(sorted.last()).map(|(least, most)| (*least, *most)));
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn during(states: &States, before: &[u32], after: &[u32]) -> Option<usize> {
        states.during(Some([before, after]))
    }

    fn states(readings: &[Vec<u32>]) -> States {
        States::of(&readings.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// Readings of one pair of CPUs, `far` of every hundred far apart.
    fn of_hundred(far: usize) -> Vec<Vec<u32>> {
        let jitter = |n: usize| (n % 7) as u32 * 4;
        (0..100).map(|n| vec![if n < far { 330 } else { 75 } + jitter(n)]).collect()
    }

    #[test]
    fn near_and_far_are_two_states_and_what_is_seen_rarely_is_none() {
        let both = states(&of_hundred(40));
        assert_eq!(both.count(), 2);
        assert!(both.distance_ns(0)[0] < 100.0 && both.distance_ns(1)[0] > 325.0, "{both:?}");
        assert_eq!(during(&both, &[80], &[99]), Some(0));
        assert_eq!(during(&both, &[340], &[331]), Some(1));
        assert_eq!(during(&both, &[80], &[340]), None);
        assert_eq!(during(&both, &[80], &[]), None);
        let rare = states(&of_hundred(4));
        assert_eq!((rare.count(), during(&rare, &[340], &[340])), (1, None));
    }

    #[test]
    fn odd_readings_between_two_states_do_not_join_them() {
        let mut readings = of_hundred(40);
        readings.extend(of_hundred(40));
        readings.extend(of_hundred(40));
        readings.extend([140, 205, 290].map(|odd| vec![odd]));
        let both = states(&readings);
        assert_eq!(both.count(), 2, "{both:?}");
        assert_eq!(during(&both, &[99], &[75]), Some(0));
        assert_eq!(during(&both, &[354], &[330]), Some(1));
        assert_eq!(during(&both, &[205], &[205]), None);
    }

    #[test]
    fn a_machine_that_does_not_change_has_one_state_of_which_nothing_is_chosen() {
        let one = states(&of_hundred(0));
        assert_eq!((one.count(), one.choose(&[vec![vec![9]]])), (1, None));
        let none = states(&[]);
        assert_eq!((none.count(), during(&none, &[], &[]), none.choose(&[])), (0, None, None));
    }

    #[test]
    fn an_instance_needs_three_visits_where_enough_cohorts_have_them_of_all() {
        let cohort = |visits: usize| vec![vec![visits], vec![visits + 1]];
        let fewest = |visits: &[usize]| {
            let cohorts: Vec<_> = visits.iter().map(|it| cohort(*it)).collect();
            fewest_visits(&cohorts.iter(), 0)
        };
        assert_eq!(fewest(&[3, 3, 3, 2]), Some(3));
        assert_eq!(fewest(&[3, 3, 2, 2]), Some(1));
        assert_eq!(fewest(&[3, 1, 0]), None);
    }

    #[test]
    fn several_pairs_of_cpus_make_a_state_together() {
        let reading = |n: usize| match n % 3 {
            0 => vec![80, 80],
            1 => vec![80, 350],
            _ => vec![350, 350],
        };
        let three = states(&(0..99).map(reading).collect::<Vec<_>>());
        assert_eq!(three.count(), 3);
        assert_eq!(three.distance_ns(1), [80.0, 350.0]);
        assert_eq!(during(&three, &[80, 350], &[80, 350]), Some(1));
        assert_eq!(during(&three, &[350, 80], &[350, 80]), None);
        assert!(are_apart(three.distance_ns(0), three.distance_ns(1)));
        assert!(!are_apart(&[80.0], &[110.0]) && !are_apart(&[80.0], &[]));
    }

    #[test]
    fn the_state_is_chosen_in_which_every_instance_has_slices_and_ties_go_to_the_nearest() {
        let two = states(&of_hundred(40));
        // One instance has no visit in the near state, however many the other has.
        assert_eq!(two.choose(&[vec![vec![9, 1], vec![0, 2]]]), Some(1));
        // Beyond three, visits of one cohort are worth less than another cohort.
        assert_eq!(two.choose(&[vec![vec![9, 0]], vec![vec![0, 3]], vec![vec![0, 1]]]), Some(1));
        assert_eq!(two.choose(&[vec![vec![2, 2]]]), Some(0));
        assert_eq!(least(&[vec![9, 1], vec![0, 2]], 1), 1);
        assert_eq!(least(&[], 0), 0);
    }
}
