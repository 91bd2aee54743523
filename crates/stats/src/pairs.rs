//! Any two rows of a load compared with each other, by intervals that hold for all pairs at once. Where it is
//! not known yet which two, what is needed for it: the level and the noise of each, and critical values.

use crate::estimate::CONFIDENCE;
use crate::judgement::{Judged, MIN_COHORTS, PLAIN_TAILS, Rule};
use crate::simultaneous::{Family, student_critical};
use crate::two_way::{Contrast, TwoWay};

/// A row that can be compared with any other one of its load.
///
/// The logarithm of the ratio of two rows is the difference of their levels. The square of its standard
/// error is the sum of their variances, exactly so where both have a value in each cohort.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLevel {
    /// The logarithm of the row's figure without the effects of the cohorts.
    pub level: f64,
    /// The square of its standard error.
    pub variance: f64,
    /// How many standard errors the 95 % intervals of all pairs reach (Tukey 1953, Kramer 1956). Of two
    /// rows the larger value holds.
    pub critical: f64,
    /// How many the 90 % interval of a pair by itself reaches.
    pub plain: f64,
}

/// The levels of `items`, each of which has the rows of `model` that are its instances. None for an
/// item with fewer than [`MIN_COHORTS`] cohorts.
#[must_use]
pub fn pair_levels(model: &TwoWay, items: &[Vec<usize>]) -> Vec<Option<PairLevel>> {
    let levels = items.iter().map(|rows| model.level(rows));
    let levels: Vec<Option<Contrast>> =
        levels.map(|it| it.filter(|it| it.cohorts >= MIN_COHORTS)).collect();
    let rows = levels.iter().flatten().count();
    let mut rule = Rule::new(Family::AllPairs { rows }, 1.0 - CONFIDENCE, 0.0);
    let mut level = |it: Contrast| PairLevel {
        level: it.difference,
        variance: it.error.powi(2),
        critical: rule.critical(&it),
        plain: student_critical(PLAIN_TAILS, it.freedom),
    };
    levels.into_iter().map(|it| it.map(&mut level)).collect()
}

/// The first of each of these pairs of `items` against the second, by the margin. None where the model does not
/// connect them.
#[must_use]
pub fn judge_pairs(
    model: &TwoWay,
    items: &[Vec<usize>],
    pairs: &[[usize; 2]],
    margin: f64,
) -> Vec<Option<Judged>> {
    let is_known =
        |rows: &&Vec<usize>| model.level(rows).is_some_and(|level| level.cohorts >= MIN_COHORTS);
    let rows = items.iter().filter(is_known).count();
    let mut rule = Rule::new(Family::AllPairs { rows }, 1.0 - CONFIDENCE, margin);
    let contrasts = pairs.iter().map(|[one, other]| model.contrast(&items[*one], &items[*other]));
    contrasts.map(|contrast| contrast.map(|it| rule.judge(&it))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::Outcome;

    const NOISE: [f64; 6] = [-0.010, 0.004, 0.010, -0.002, 0.006, -0.008];

    #[test]
    fn two_levels_make_the_contrast_of_their_rows() {
        let row = |turn: usize, ratio: f64| -> Vec<f64> {
            (0..6).map(|cohort| ratio.ln() + NOISE[(cohort * 5 + turn) % 6]).collect()
        };
        let cells = [row(0, 1.0), row(1, 1.0), row(2, 1.3), row(4, 0.8)];
        let model = TwoWay::fit(&cells, &[0, 1]).unwrap();
        let items = [vec![0, 1], vec![2], vec![3]];
        let levels: Vec<PairLevel> =
            pair_levels(&model, &items).into_iter().map(Option::unwrap).collect();
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let contrast = model.contrast(&items[one], &items[other]).unwrap();
            let difference = levels[one].level - levels[other].level;
            let error = (levels[one].variance + levels[other].variance).sqrt();
            assert!((difference - contrast.difference).abs() < 1e-12, "{contrast:?}");
            assert!((error - contrast.error).abs() < 1e-9, "{error} {contrast:?}");
            let family = Family::AllPairs { rows: 3 };
            let mut rule = Rule::new(family, 1.0 - CONFIDENCE, 0.0);
            let critical = levels[one].critical.max(levels[other].critical);
            assert!((critical - rule.critical(&contrast)).abs() < 1e-12, "{critical}");
        }
        assert!(levels.iter().all(|it| it.plain < it.critical), "{levels:?}");
    }

    #[test]
    fn a_pair_has_the_interval_that_holds_for_all_pairs() {
        let row = |turn: usize, ratio: f64| -> Vec<f64> {
            (0..6).map(|cohort| ratio.ln() + NOISE[(cohort * 5 + turn) % 6]).collect()
        };
        let cells = [row(0, 1.0), row(1, 1.0), row(2, 1.3), row(4, 1.31)];
        let model = TwoWay::fit(&cells, &[0, 1]).unwrap();
        let items = [vec![0, 1], vec![2], vec![3]];
        let judged = judge_pairs(&model, &items, &[[1, 0], [0, 1], [2, 1]], 0.03);
        let [above, below, close] = judged.as_slice() else { panic!("{judged:?}") };
        let outcomes = [above, below, close].map(|it| it.unwrap().outcome);
        assert_eq!(outcomes, [Outcome::Higher, Outcome::Lower, Outcome::Same]);
        let levels = pair_levels(&model, &items);
        let (one, other) = (levels[1].unwrap(), levels[0].unwrap());
        let reach = one.critical.max(other.critical) * (one.variance + other.variance).sqrt();
        let interval = above.unwrap().interval.unwrap();
        assert!((interval.high.ln() - (one.level - other.level) - reach).abs() < 1e-9);
        assert!((above.unwrap().ratio * below.unwrap().ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn two_cohorts_are_too_few() {
        let cells = [vec![0.0, 0.1], vec![0.5, 0.7]];
        let model = TwoWay::fit(&cells, &[]).unwrap();
        assert_eq!(pair_levels(&model, &[vec![0], vec![1]]), [None, None]);
    }
}
