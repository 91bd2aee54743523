//! How precise a result is as a whole: what a run that stops on precision looks at after each
//! block. It looks at widths alone, never at whether something differs.

use wirebench_stats::MIN_COHORTS;

use super::{Analysis, Metric};

/// A row that misses more than this share of its baseline's blocks fails too often to become
/// precise, so the run does not wait for it.
const MISSED: f64 = 0.5;

impl Analysis<'_> {
    /// The widest interval of all ratios to the baselines, each by the primary metric of its phase:
    /// half of its width over its middle, so that 0.01 is +-1 %. None as long as a row has too few blocks
    /// for an interval, and where there is no ratio at all.
    ///
    /// The baselines' second instances are not among the rows: both instances are in every ratio.
    #[must_use]
    pub fn widest_interval(&self) -> Option<f64> {
        let mut widest: Option<f64> = None;
        for workload in &self.workloads {
            let Some(baseline) = workload.baseline else { continue };
            let blocks = workload.rows[baseline].blocks_measured();
            let compared = workload.compare(Metric::primary(workload.workload.phase));
            for (row, compared) in workload.rows.iter().zip(&compared.rows) {
                let measured = row.blocks_measured();
                let fails = measured == 0 || (measured as f64) < blocks as f64 * MISSED;
                if !row.role.is_compared() || fails {
                    continue;
                }
                let Some(ratio) = compared.as_ref().and_then(|it| it.ratio.as_ref()) else {
                    // After this many blocks without a ratio, there will be none.
                    if measured.min(blocks) >= MIN_COHORTS {
                        continue;
                    }
                    return None;
                };
                let width = ratio.estimate.interval?.half_width_relative();
                widest = Some(widest.map_or(width, |known| known.max(width)));
            }
        }
        widest
    }
}
