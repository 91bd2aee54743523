//! One program of a workload against another: the instances of both in every cohort, by one metric.
//! `ab` compares its two servers so. Where a workload has a baseline, see `comparison`.

use wirebench_stats::{Bounds, TwoWay, check_baseline, judge_sides};

use super::{
    BaselineCheck, CheckState, Inconclusive, JudgedRatio, Metric, Reads, WorkloadRows,
    comparison::{Values, ratios},
    levels::cells,
    looks,
};

/// The second side over the first, with the check of the instances of each, from logarithms by row and cohort: at the
/// levels of a look, or else as one of this many comparisons. Nothing is claimed of void sides.
pub(crate) fn judge_both(
    cells: &[Vec<f64>],
    [first, second]: [&[usize]; 2],
    bounds: Option<Bounds>,
    comparisons: usize,
    margin: f64,
    reads: Reads,
    void: Option<Inconclusive>,
) -> Option<JudgedRatio> {
    let model = TwoWay::fit_programs(cells, &[first, second])?;
    let judged = match bounds {
        Some(bounds) => bounds.judge_sides(&model, [first, second], margin)?,
        None => judge_sides(&model, [first, second], comparisons, margin)?,
    };
    let checks = [first, second].map(|rows| match *rows {
        [one, other] => BaselineCheck::of(check_baseline(&model, [one, other], margin), margin),
        _ => BaselineCheck::of(None, margin),
    });
    let differ = checks.iter().any(|check| check.state == CheckState::Suspicious);
    let withheld = void.or(differ.then_some(Inconclusive::BaselineCheckFailed));
    Some(JudgedRatio {
        detectable: bounds
            .and_then(|it| Some(it.detectable(&model.contrast(second, first)?, margin))),
        checks: checks.to_vec(),
        ..JudgedRatio::of(&judged, Values::new(), reads, withheld, margin)
    })
}

impl WorkloadRows<'_> {
    /// The logarithms of each row in the cohorts that have a value of every row.
    pub(crate) fn complete_cells(&self, metric: Metric) -> Vec<Vec<f64>> {
        let cells = cells(&self.values(metric));
        let is_complete = |cohort: &usize| cells.iter().all(|row| row[*cohort].is_finite());
        let count = cells.first().map_or(0, Vec::len);
        let complete: Vec<usize> = (0..count).filter(is_complete).collect();
        let kept = |row: &Vec<f64>| complete.iter().map(|cohort| row[*cohort]).collect();
        cells.iter().map(kept).collect()
    }

    /// The rows of the second side against those of the first, as one of this many metrics that are
    /// compared together. None without a cohort that has values of both.
    #[must_use]
    pub fn versus(
        &self,
        sides: [&[usize]; 2],
        metric: Metric,
        comparisons: usize,
    ) -> Option<JudgedRatio> {
        let margin = self.margins.of(metric, self.workload.phase);
        let values = self.values(metric);
        let cells = cells(&values);
        let has_values = |row: &&usize| cells[**row].iter().any(|cell| cell.is_finite());
        let sides = sides.map(|rows| rows.iter().filter(has_values).copied().collect::<Vec<_>>());
        let [first, second] = sides.each_ref().map(Vec::as_slice);
        let bounds = looks::last(&self.looks, comparisons);
        let void = self.withheld([first, second], metric, CheckState::Passed);
        let [of_first, of_second] = [first, second].map(|rows| self.is_limited(rows));
        let reads = Reads::of(metric, of_second, of_first);
        let sides = [first, second];
        let ratio = judge_both(&cells, sides, bounds, comparisons, margin, reads, void)?;
        Some(JudgedRatio { by_block: ratios(sides, &values), ..ratio })
    }

    fn is_limited(&self, rows: &[usize]) -> bool {
        rows.iter().any(|row| self.rows[*row].is_limited())
    }
}
