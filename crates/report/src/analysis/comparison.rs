//! The rows of a workload compared with its baseline, by one metric: ratios within cohorts, the
//! check of the baseline, claims and ranks. It renders nothing.

use schemars::JsonSchema;
use serde::Serialize;
use std::{cell::OnceCell, collections::BTreeMap};
use wirebench_judge::standing::Standing;
use wirebench_stats::{Estimate, Judged, Outcome, PairLevel, Rank};

use super::{
    BaselineCheck, CheckState, Claim, JudgedRatio, Metric, MetricFacts, Reads, Role, Row,
    WorkloadRows, levels::Levels,
};

/// Values or ratios by cohort.
pub(crate) type Values = BTreeMap<u32, f64>;

/// All rows of a workload by one metric.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub metric: Metric,
    /// The difference below which two rows count as the same: 0.03 is 3 %.
    pub margin: f64,
    /// The baseline's two instances compared with each other.
    pub baseline_check: BaselineCheck,
    /// The ratio to the baseline of each row, in the order of [`WorkloadRows::rows`]; none of the baseline itself, and
    /// where a value of a cohort is not above zero.
    pub ratios: Vec<Option<JudgedRatio>>,
    pub(super) levels: Levels,
    ranks: OnceCell<Vec<Option<Rank>>>,
}

/// Why nothing is claimed of a row.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inconclusive {
    /// There are fewer than three cohorts of the row and the baseline.
    TooFewCohorts,
    /// The two instances of the baseline differ.
    BaselineCheckFailed,
    /// The load generator was the limit, so that the ratio is a bound.
    Bound,
    /// The interval reaches into the margin and beyond it.
    WideInterval,
    /// Too few cohorts of a side are valid.
    NotValid,
}

wirebench_schema::names! {
    Inconclusive: TooFewCohorts = "fewer than three cohorts",
    BaselineCheckFailed = "the two instances of the baseline differ", Bound = "the load generator was saturated",
    WideInterval = "the interval is too wide", NotValid = "too few cohorts are valid",
}

impl Inconclusive {
    /// True if nothing is claimed whatever the figures are.
    pub(crate) fn is_withheld(self) -> bool {
        matches!(self, Self::NotValid | Self::BaselineCheckFailed)
    }
}

impl WorkloadRows<'_> {
    /// All rows compared with the baseline by `metric`.
    #[must_use]
    pub fn compare(&self, metric: Metric) -> &Comparison {
        self.comparisons[metric.place()].get_or_init(|| self.fit(metric))
    }

    /// The ranks that each row may have; absent with fewer than three cohorts, of the baseline's second
    /// instance, and where the check of the baseline is suspicious. Every row is compared with every other
    /// one, which takes nearly all of the time with many rows.
    #[must_use]
    pub fn ranks(&self, metric: Metric) -> &[Option<Rank>] {
        let comparison = self.compare(metric);
        comparison.ranks.get_or_init(|| match comparison.baseline_check.state {
            CheckState::Suspicious => vec![None; self.rows.len()],
            _ => self.rank(&comparison.levels, metric),
        })
    }

    /// What is needed to compare any two of these rows by `metric`; nothing where the check of the
    /// baseline is suspicious.
    pub(crate) fn pairs(&self, metric: Metric, rows: &[usize]) -> Vec<Option<PairLevel>> {
        let comparison = self.compare(metric);
        match comparison.baseline_check.state {
            CheckState::Suspicious => vec![None; rows.len()],
            _ => comparison.levels.pairs(rows),
        }
    }

    fn fit(&self, metric: Metric) -> Comparison {
        let values = self.values(metric);
        let margin = self.margins.of(metric, self.workload.phase);
        let levels = Levels::against(self.baseline, self, &values, margin);
        let baseline_check = BaselineCheck::of(levels.check(), margin);
        let judged = self.judge(&levels);
        let baseline = self.baseline.as_slice();
        let ratio = |(index, row): (usize, &Row<'_>)| {
            let (ratios, reads) = (self.ratios(index, &values)?, self.reads(row, metric));
            let withheld = self.withheld([&[index], baseline], metric, baseline_check.state);
            let ratio = JudgedRatio::of(judged[index].as_ref()?, ratios, reads, withheld, margin);
            Some(match row.role.is_compared() {
                true => ratio,
                false => JudgedRatio { claim: None, inconclusive: None, ..ratio },
            })
        };
        let (ratios, ranks) = (self.rows.iter().enumerate().map(ratio).collect(), OnceCell::new());
        Comparison { metric, margin, baseline_check, ratios, levels, ranks }
    }

    /// Why nothing is claimed of two sides after the check of their programs, whatever the figures are.
    /// The instances of a side are judged together.
    pub(crate) fn withheld(
        &self,
        sides: [&[usize]; 2],
        metric: Metric,
        check: CheckState,
    ) -> Option<Inconclusive> {
        let is_void = |rows: &[usize]| {
            let rows: Vec<&Row<'_>> = rows.iter().map(|row| &self.rows[*row]).collect();
            let standing = Row::standing_of(&rows, metric);
            standing != Standing::NotMeasured && !standing.is_compared()
        };
        let differ = (check == CheckState::Suspicious).then_some(Inconclusive::BaselineCheckFailed);
        if sides.into_iter().any(is_void) { Some(Inconclusive::NotValid) } else { differ }
    }

    /// How the ratio of a row is to be read. What equal things make of the same limit is exact.
    fn reads(&self, row: &Row<'_>, metric: Metric) -> Reads {
        let Some(baseline) = self.baseline.map(|index| &self.rows[index]) else {
            return Reads::Exactly;
        };
        match row.role {
            Role::Baseline | Role::SecondOfBaseline => Reads::Exactly,
            Role::Entrant | Role::SecondWithoutFirst => {
                Reads::of(metric, row.is_limited(), baseline.is_limited())
            }
        }
    }

    /// The judgements of all rows that are one family. The baseline is not in it, and its second
    /// instance is by itself: it is compared with the first one.
    fn judge(&self, levels: &Levels) -> Vec<Option<Judged>> {
        let mut judged = vec![None; self.rows.len()];
        let family: Vec<usize> =
            (0..self.rows.len()).filter(|index| self.rows[*index].role.is_compared()).collect();
        for (index, judgement) in family.iter().zip(levels.judge(&family)) {
            judged[*index] = judgement;
        }
        if let Some(second) = self.second() {
            judged[second] = levels.check().map(|check| check.judged);
        }
        judged
    }

    /// The ratios of a row within cohorts: to the geometric mean of the baseline's instances, and of
    /// its second instance to the first. None without any.
    fn ratios(&self, index: usize, values: &[Values]) -> Option<Values> {
        let is_whole = |row: &usize| values[*row].values().all(|value| *value > 0.0);
        let second = self.second().filter(|second| *second != index).filter(is_whole);
        let instances: Vec<usize> = [self.baseline?].into_iter().chain(second).collect();
        let ratios = ratios([&instances, &[index]], values);
        (!ratios.is_empty()).then_some(ratios)
    }

    /// The ranks among each other of all rows but the baseline's second instance.
    fn rank(&self, levels: &Levels, metric: Metric) -> Vec<Option<Rank>> {
        let mut ranked = self.firsts();
        ranked.retain(|index| self.rows[*index].standing(metric).is_compared());
        let mut found = levels.ranks(&ranked, metric);
        if metric.is_bounded_by_generator() {
            let limited: Vec<bool> =
                ranked.iter().map(|index| self.rows[*index].is_limited()).collect();
            loosen(&mut found, &limited);
        }
        let mut ranks = vec![None; self.rows.len()];
        for (index, rank) in ranked.into_iter().zip(found) {
            ranks[index] = rank;
        }
        ranks
    }
}

/// The ratio of the geometric means of both sides in each cohort that has values of both.
pub(super) fn ratios(sides: [&[usize]; 2], values: &[Values]) -> Values {
    let mean = |rows: &[usize], block: &u32| {
        let of_block = rows.iter().filter_map(|row| values[*row].get(block));
        let logs: Vec<f64> = of_block.map(|value| value.ln()).collect();
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    };
    let blocks = sides[1].iter().flat_map(|row| values[*row].keys());
    let ratio = |block: &u32| {
        let [first, second] = sides.map(|rows| mean(rows, block));
        Some((*block, (second? - first?).exp()))
    };
    blocks.filter_map(ratio).collect()
}

/// What may be claimed of a ratio unless it is withheld, and why nothing may.
pub(super) fn claim(
    judged: &Judged,
    reads: Reads,
    withheld: Option<Inconclusive>,
    margin: f64,
) -> (Claim, Option<Inconclusive>) {
    let claim = withheld.map_or_else(|| Claim::of(judged, reads, margin), |_| Claim::CannotTell);
    let why = match (judged.outcome, withheld, reads) {
        (_, Some(Inconclusive::NotValid), _) => Inconclusive::NotValid,
        (Outcome::TooFewCohorts, _, _) => Inconclusive::TooFewCohorts,
        (_, Some(why), _) => why,
        (Outcome::Inconclusive, _, _) | (_, _, Reads::Exactly) => Inconclusive::WideInterval,
        _ => Inconclusive::Bound,
    };
    (claim, (claim == Claim::CannotTell).then_some(why))
}

pub(crate) fn estimate(judged: &Judged) -> Estimate {
    let Judged { ratio, interval, cohorts, .. } = *judged;
    Estimate { value: ratio, interval, samples: cohorts }
}

/// Widens ranks where the limit of the generator hides the true figure. A limited row may be better
/// than its figure, so no row is claimed to be better: the limited row may be the first of all, and
/// the rows ranked ahead of it may be behind it.
fn loosen(ranks: &mut [Option<Rank>], limited: &[bool]) {
    let before: Vec<(Rank, bool)> = ranks
        .iter()
        .zip(limited)
        .filter_map(|(rank, limited)| Some(((*rank)?, *limited)))
        .collect();
    let of_limited = || before.iter().filter(|(_, limited)| *limited).map(|(rank, _)| rank);
    // No line between groups can be drawn above a limited row.
    let lowest = of_limited().map(|rank| rank.group).max().unwrap_or(1);
    for (rank, limited) in ranks.iter_mut().zip(limited) {
        let Some(rank) = rank else { continue };
        // A row claimed to be behind has both ends of its ranks behind.
        let behind = of_limited().filter(|it| it.first > rank.first && it.last > rank.last).count();
        rank.last = (rank.last + behind).min(before.len());
        if *limited {
            rank.first = 1;
        }
        rank.group = rank.group.saturating_sub(lowest - 1).max(1);
    }
}
