//! How much is known of a result as a whole: how wide the widest interval is, which never depends on whether something
//! differs, and whether every verdict is known, for a run with levels for each look.

use wirebench_stats::MIN_COHORTS;

use super::{Analysis, Claim, JudgedRatio, Metric, MetricFacts};

/// A row that misses more than this share of its baseline's blocks fails too often to become
/// precise, so the run does not wait for it.
const MISSED: f64 = 0.5;

impl Analysis<'_> {
    /// The widest interval of all ratios to the baselines, each by the primary metric of its phase:
    /// half of its width over its middle, so that 0.01 is +-1 %. None as long as a row has too few blocks
    /// for an interval, and where there is no ratio at all.
    #[must_use]
    pub fn widest_interval(&self) -> Option<f64> {
        let width = |it: Option<&JudgedRatio>| Some(it?.estimate.interval?.half_width_relative());
        let widths: Option<Vec<f64>> = self.awaited().into_iter().map(width).collect();
        widths?.into_iter().max_by(f64::total_cmp)
    }

    /// True if every such ratio has a verdict, and there is one.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let is_known = |it: &JudgedRatio| it.claim.is_some_and(|claim| claim != Claim::CannotTell);
        let ratios = self.awaited();
        !ratios.is_empty() && ratios.into_iter().all(|it| it.is_some_and(is_known))
    }

    /// The ratios for which a run waits; none where there are too few blocks yet.
    ///
    /// The baselines' second instances are not among the rows: both instances are in every ratio.
    fn awaited(&self) -> Vec<Option<&JudgedRatio>> {
        let mut awaited = Vec::new();
        for workload in &self.workloads {
            let Some(baseline) = workload.baseline else { continue };
            let blocks = workload.rows[baseline].blocks_measured();
            let compared = workload.compare(Metric::primary(workload.workload.phase));
            for (row, ratio) in workload.rows.iter().zip(&compared.ratios) {
                let measured = row.blocks_measured();
                let fails = measured == 0 || (measured as f64) < blocks as f64 * MISSED;
                // After this many blocks without a ratio, there will be none.
                let is_hopeless = ratio.is_none() && measured.min(blocks) >= MIN_COHORTS;
                if row.role.is_compared() && !fails && !is_hopeless {
                    awaited.push(ratio.as_ref());
                }
            }
        }
        awaited
    }
}
