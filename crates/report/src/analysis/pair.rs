//! Any two rows compared with each other: in one workload, by the intervals that hold for all pairs of its
//! rows, or over several workloads, by the means of the blocks that have both.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::journal::block_of_cohort;
use wirebench_stats::judge_series;

use super::{JudgedRatio, Metric, Reads, Role, WorkloadRows};

/// A row in its workload, by itself or relative to another one of it.
#[derive(Clone, Copy)]
pub(crate) struct PairSide<'r, 'a> {
    pub(crate) rows: &'r WorkloadRows<'a>,
    pub(crate) row: usize,
    pub(crate) relative_to: Option<usize>,
}

impl WorkloadRows<'_> {
    /// A row over another one. Where one of them is the baseline, it is the ratio that tables have. None without
    /// a cohort that has both.
    pub(crate) fn compare_pair(
        &self,
        metric: Metric,
        [row, reference]: [usize; 2],
    ) -> Option<JudgedRatio> {
        if self.rows[row].role == Role::Baseline {
            return self.to_baseline(metric, reference).map(JudgedRatio::inverse);
        }
        if self.rows[reference].role == Role::Baseline {
            return self.to_baseline(metric, row);
        }
        let comparison = self.compare(metric);
        let judged = comparison.levels.judge_pair(&self.firsts(), [row, reference])?;
        let (check, margin) = (comparison.baseline_check.state, comparison.margin);
        let withheld = self.withheld([&[row], &[reference]], metric, check);
        let [row, reference] = [row, reference].map(|index| self.rows[index].is_limited());
        let reads = Reads::of(metric, row, reference);
        Some(JudgedRatio::of(&judged, BTreeMap::new(), reads, withheld, margin))
    }

    /// A row that is compared over the baseline.
    pub(crate) fn to_baseline(&self, metric: Metric, row: usize) -> Option<JudgedRatio> {
        self.compare(metric).ratios[row].clone().filter(|it| it.claim.is_some())
    }

    /// The logarithm of the mean of a program's instances in each block. Empty if a value is not above zero.
    fn by_block(&self, metric: Metric, row: usize) -> BTreeMap<u32, f64> {
        let second = self.second().filter(|_| self.rows[row].role == Role::Baseline);
        let instances = [row].into_iter().chain(second);
        let mut logs: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (cohort, value) in instances.flat_map(|index| self.rows[index].values(metric)) {
            if value <= 0.0 {
                return BTreeMap::new();
            }
            logs.entry(block_of_cohort(cohort)).or_default().push(value.ln());
        }
        let mean = |logs: Vec<f64>| logs.iter().sum::<f64>() / logs.len() as f64;
        logs.into_iter().map(|(block, logs)| (block, mean(logs))).collect()
    }
}

impl PairSide<'_, '_> {
    fn by_block(&self, metric: Metric) -> BTreeMap<u32, f64> {
        let own = self.rows.by_block(metric, self.row);
        let Some(base) = self.relative_to else { return own };
        let base = self.rows.by_block(metric, base);
        own.into_iter().filter_map(|(block, own)| Some((block, own - base.get(&block)?))).collect()
    }

    fn reads(&self, metric: Metric) -> Reads {
        let limited = |row: usize| self.rows.rows[row].is_limited();
        Reads::of(metric, limited(self.row), self.relative_to.is_some_and(limited))
    }
}

/// The mean of the first sides over that of the second ones, which are of several workloads, as one of this many
/// comparisons. Their instances are not the same, so that only what a pair has in a block is compared. None where no
/// pair has both sides in two blocks.
pub(crate) fn compare_series(
    series: &[[PairSide<'_, '_>; 2]],
    metric: Metric,
    comparisons: usize,
) -> Option<JudgedRatio> {
    let sides = || series.iter().flatten();
    let margins = sides().map(|side| side.rows.margins.of(metric, side.rows.workload.phase));
    let margin = margins.fold(0.0, f64::max);
    let pairs: Vec<BTreeMap<u32, f64>> = series.iter().map(|pair| logs(pair, metric)).collect();
    let blocks: BTreeSet<u32> = pairs.iter().flat_map(BTreeMap::keys).copied().collect();
    let cell = |pair: &BTreeMap<u32, f64>, block| pair.get(block).copied().unwrap_or(f64::NAN);
    let cells = pairs.iter().map(|pair| blocks.iter().map(|it| cell(pair, it)).collect());
    let judged = judge_series(&cells.collect::<Vec<_>>(), comparisons, margin)?;
    let reads = series.iter().fold(Reads::Exactly, |reads, [own, base]| {
        reads.with(own.reads(metric)).with(base.reads(metric).inverse())
    });
    let withheld = sides().find_map(|side| {
        let check = side.rows.compare(metric).baseline_check.state;
        side.rows.withheld([&[side.row], side.relative_to.as_slice()], metric, check)
    });
    Some(JudgedRatio::of(&judged, BTreeMap::new(), reads, withheld, margin))
}

/// The logarithm of the first side over the second one in each block that has both.
pub(crate) fn logs(pair: &[PairSide<'_, '_>; 2], metric: Metric) -> BTreeMap<u32, f64> {
    let [own, base] = pair.map(|side| side.by_block(metric));
    own.iter().filter_map(|(block, own)| Some((*block, own - base.get(block)?))).collect()
}
