//! Every figure of both sides, with B over A.

use super::{has, side::Side};
use crate::{
    analysis::{Metric, MetricFacts, SideRatio, WorkloadRows},
    compare::Figure as SideFigure,
    shown::sign,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub metric: Metric,
    /// Of A and of B, over all of their runs; none without a value.
    pub values: [Option<SideFigure>; 2],
    /// Behind either value, as in `SIGNS`.
    pub(super) signs: [&'static str; 2],
    /// B over A; none without a cohort of both, and of a rate that was given.
    pub ratio: Option<SideRatio>,
}

impl Figure {
    /// The medians of A and of B.
    pub(super) fn medians(&self) -> [Option<f64>; 2] {
        self.values.each_ref().map(|it| it.as_ref().map(|it| it.median))
    }
}

/// All figures of the phase, `main` first. That one was chosen before the first run and stands by
/// itself; the others are one family.
pub(super) fn figures(rows: &WorkloadRows<'_>, sides: [&Side<'_>; 2], main: Metric) -> Vec<Figure> {
    let phase = rows.workload.phase;
    let others = Metric::of_phase(phase).iter().copied().filter(|metric| *metric != main);
    let metrics: Vec<Metric> = std::iter::once(main).chain(others).collect();
    let instances = sides.map(|side| side.instances.as_slice());
    let values = |metric: Metric| {
        instances.map(|side| {
            let side: Vec<_> = side.iter().map(|row| &rows.rows[*row]).collect();
            SideFigure::of(&side, metric, Vec::new())
        })
    };
    let is_compared = |metric: Metric| {
        let is_given = metric == Metric::Throughput && has(phase, metric).is_none();
        !is_given && values(metric).iter().all(Option::is_some)
    };
    let others = metrics[1..].iter().filter(|metric| is_compared(**metric)).count();
    let figure = |metric: Metric| {
        let comparisons = if metric == main { 1 } else { others };
        let ratio = is_compared(metric).then(|| rows.versus(instances, metric, comparisons));
        let of_row = |row: &usize| sign(&rows.rows[*row], metric);
        let signs = instances.map(|side| {
            let of_side = side.iter().map(of_row).filter(|it| !it.is_empty());
            of_side.min().unwrap_or_default()
        });
        Figure { metric, values: values(metric), signs, ratio: ratio.flatten() }
    };
    metrics.into_iter().map(figure).collect()
}
