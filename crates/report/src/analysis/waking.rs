//! The cost of waking a server: how much more its requests take where idle CPUs sleep. It is in no comparison.

use wirebench_judge::standing::void_cohorts;
use wirebench_schema::journal::{Distances, Measurement, Visit, WakeUpPrice};
use wirebench_stats::median;

use super::Row;

/// Medians over the rounds of all valid runs that were measured in both idle modes.
pub(super) fn waking(row: &Row<'_>, keep: &impl Fn(&Distances) -> bool) -> Option<WakeUpPrice> {
    let void = void_cohorts(&row.runs, false, &row.asked_for);
    let valid = row.runs.iter().filter(|run| !void.contains(&run.cohort()));
    let pairs = valid.filter_map(|run| run.outcome.measured()).flat_map(pairs);
    let pairs: Vec<[&Visit; 2]> =
        pairs.filter(|pair| pair.iter().all(|it| keep(&it.distances))).collect();
    let added = |of: fn(&Visit) -> Option<f64>| {
        let added = pairs.iter().filter_map(|[awake, natural]| Some(of(natural)? - of(awake)?));
        median(&added.collect::<Vec<f64>>())
    };
    Some(WakeUpPrice {
        cpu_ns: added(Visit::cpu_ns_per_request)?,
        latency_ns: added(|it| Some(it.latency_ns_p50? as f64))?,
    })
}

/// The visits of both modes in each round, awake first, where neither was dropped.
fn pairs(measured: &Measurement) -> impl Iterator<Item = [&Visit; 2]> {
    let is_pair = |[awake, natural]: &[&Visit; 2]| {
        awake.round == natural.round && awake.dropped.is_none() && natural.dropped.is_none()
    };
    let natural = |awake| measured.natural_visits.iter().map(move |natural| [awake, natural]);
    measured.visits.iter().flat_map(natural).filter(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{analysis::Analysis, fixtures};
    use wirebench_schema::journal::{Outcome, ReasonKind};

    /// A visit of 1000 requests that take this many microseconds of CPU, and ten times that each.
    fn visit(round: u32, cpu_us: u64) -> Visit {
        let cpu_ns = Some(cpu_us * 1_000_000);
        Visit {
            round,
            requests: 1000,
            cpu_ns,
            latency_ns_p50: Some(cpu_us * 10_000),
            ..Visit::default()
        }
    }

    #[test]
    fn waking_is_the_difference_of_visits_of_one_round_and_moves_no_other_figure() {
        let awake = |journal: &mut wirebench_schema::journal::Journal, has_both: bool| {
            for (run, base) in journal.runs.iter_mut().zip(5..) {
                let Outcome::Measured(measured) = &mut run.outcome else { continue };
                measured.visits = (0..3).map(|round| visit(round, base)).collect();
                let dropped = Visit { dropped: Some(ReasonKind::Stolen), ..visit(0, 900) };
                let natural = [dropped, visit(1, base + 4), visit(2, base + 4), visit(7, 800)];
                measured.natural_visits = natural.into_iter().filter(|_| has_both).collect();
            }
        };
        let (mut one, mut both) = (fixtures::cost_pair(1.2), fixtures::cost_pair(1.2));
        awake(&mut one, false);
        awake(&mut both, true);
        let [one, both] = [&one, &both].map(Analysis::of);
        let waking = |analysis: &Analysis<'_>| {
            analysis.workloads[0].rows.iter().map(|it| it.waking).collect::<Vec<_>>()
        };
        let price = WakeUpPrice { cpu_ns: 4000.0, latency_ns: 40_000.0 };
        assert_eq!((waking(&one), waking(&both)), (vec![None; 3], vec![Some(price); 3]));
        let compared = |analysis: &Analysis<'_>| {
            let rows = &analysis.workloads[0];
            let metric = super::super::Metric::Cpu;
            let values: Vec<_> = rows.rows.iter().map(|it| it.values(metric)).collect();
            (rows.compare(metric).ratios.clone(), values)
        };
        assert_eq!(compared(&one), compared(&both));
    }
}
