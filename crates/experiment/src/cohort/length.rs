//! Whether CPU time per request depends on how long a visit is: of each instance the visits are compared
//! with the end of longer ones, and then the instances with each other. What all of them have in common
//! is the machine, which may have changed its speed in between. Pure.

use wirebench_judge::settle::{TAIL_SHARE, moments};
use wirebench_schema::{
    agent::VisitPiece,
    journal::{Visit, logarithms_by_round},
};
use wirebench_stats::{instance_values, median, median_deviation};

/// A difference below this share is none.
const TOLERANCE: f64 = 0.05;
/// A difference must be larger than this many standard errors of both sides, and than this many
/// deviations of the other instances.
const STANDARD_ERRORS: f64 = 4.0;
/// The fewest pieces of a long visit, and the fewest short visits, whose scatter is known.
const FEWEST: usize = 5;
/// Fewer instances do not show what the machine did.
const FEWEST_INSTANCES: usize = 3;

/// CPU time per request at the end of a long visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tail {
    /// Its logarithm.
    value: f64,
    error: f64,
}

impl Tail {
    /// Of a visit with this series. None with too few pieces.
    pub(super) fn of(series: &[VisitPiece]) -> Option<Self> {
        let value = |piece: &VisitPiece| piece.cpu_ns as f64 / piece.requests as f64;
        let from = series.len() - (series.len() as f64 * TAIL_SHARE) as usize;
        let pieces = series[from..].iter().filter(|piece| piece.requests > 0);
        let values: Vec<f64> = pieces.map(value).filter(|value| *value > 0.0).collect();
        let (mean, deviation) = moments(&values);
        let error = deviation / mean / (values.len() as f64).sqrt();
        (values.len() >= FEWEST).then(|| Self { value: mean.ln(), error })
    }
}

/// What is known of one instance: the long visits of each pass over all instances, and the short ones.
pub(super) type Compared = (Vec<Option<Tail>>, Vec<Visit>);

/// For each instance how its visits compare with the long ones, if they differ by more than those of
/// the other instances.
pub(super) fn differing(instances: &[Compared]) -> Vec<Option<f64>> {
    let long = |passes: &[Option<Tail>]| {
        median(&passes.iter().flatten().map(|tail| tail.value).collect::<Vec<_>>())
    };
    let by_round =
        |(_, visits): &Compared| logarithms_by_round(visits, Visit::cpu_ns_per_request, |_| true);
    let short = instance_values(&instances.iter().map(by_round).collect::<Vec<_>>());
    let difference = |(index, (passes, _)): (usize, &Compared)| {
        let short = short[index].filter(|it| it.visits >= FEWEST)?;
        let errors: Vec<f64> = passes.iter().flatten().map(|it| it.error).collect();
        let squares: f64 = errors.iter().map(|error| error.powi(2)).sum();
        let long_error = squares.sqrt() / errors.len() as f64;
        Some((short.value - long(passes)?, short.error?.hypot(long_error)))
    };
    let differences: Vec<Option<(f64, f64)>> =
        instances.iter().enumerate().map(difference).collect();
    let known: Vec<f64> = differences.iter().flatten().map(|(value, _)| *value).collect();
    let Some(machine) = median(&known).filter(|_| known.len() >= FEWEST_INSTANCES) else {
        return vec![None; instances.len()];
    };
    let scatter = median_deviation(&known, machine);
    let named = |(value, error): (f64, f64)| {
        let own = value - machine;
        let allowed = TOLERANCE.ln_1p().max(STANDARD_ERRORS * error.max(scatter));
        (own.abs() > allowed).then(|| own.exp())
    };
    differences.into_iter().map(|it| it.and_then(named)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five instances with a noise like that of real servers. The visits of the last one cost so
    /// much, when a long one costs 10 us; the machine takes `machine(round)` times as long for all.
    fn found(
        short: f64,
        visits: u32,
        machine: impl Fn(u32, u32) -> f64,
        seed: u64,
    ) -> Vec<Option<f64>> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut noise = |width: f64| 1.0 + width * (random.f64() + random.f64() - 1.0);
        let instances: Vec<Compared> = (0..5)
            .map(|instance| {
                let own = if instance == 4 { short } else { 1.0 };
                let piece = |_| VisitPiece { requests: 2000, cpu_ns: (20e6 * noise(0.08)) as u64 };
                let series: Vec<VisitPiece> = (0..20).map(piece).collect();
                let visit = |round| Visit {
                    round,
                    requests: 10_000,
                    cpu_ns: Some((100e6 * own * machine(instance, round) * noise(0.04)) as u64),
                    ..Visit::default()
                };
                (vec![Tail::of(&series)], (0..visits).map(visit).collect())
            })
            .collect();
        differing(&instances)
    }

    const EVEN: fn(u32, u32) -> f64 = |_, _| 1.0;

    #[test]
    fn visits_that_cost_as_much_as_long_ones_are_right() {
        let wrong = |short| {
            let is_named = |seed: &u64| found(short, 10, EVEN, *seed).iter().any(Option::is_some);
            (0..400).filter(is_named).count()
        };
        assert!(wrong(1.0) <= 4, "{} of 400", wrong(1.0));
        assert!(wrong(1.02) <= 12, "{} of 400", wrong(1.02));
    }

    #[test]
    fn visits_that_cost_more_or_less_are_found() {
        for (short, reasonable) in [(1.25, 1.15..1.35), (0.8, 0.72..0.88)] {
            let all: Vec<_> = (0..200).map(|seed| found(short, 10, EVEN, seed)).collect();
            let last: Vec<f64> = all.iter().filter_map(|it| it[4]).collect();
            assert!(last.len() >= 190, "{short}: {} of 200", last.len());
            assert!(last.iter().all(|ratio| reasonable.contains(ratio)), "{last:?}");
            let others = all.iter().filter(|it| it[..4].iter().any(Option::is_some)).count();
            assert!(others <= 2, "{short}: {others} of 200");
        }
    }

    #[test]
    fn a_machine_that_slows_down_halfway_is_no_property_of_a_server() {
        // In the middle of round 5, after the second instance.
        let slower = |instance: u32, round: u32| match (round, instance) {
            (0..5, _) | (5, 0..2) => 1.0,
            _ => 1.2,
        };
        let before: fn(u32, u32) -> f64 = |_, _| 1.2;
        let named = |machine: &dyn Fn(u32, u32) -> f64, short| {
            let all = (0..200).map(|seed| found(short, 10, machine, seed));
            all.fold([0; 2], |[others, last], it| {
                let of_others = usize::from(it[..4].iter().any(Option::is_some));
                [others + of_others, last + usize::from(it[4].is_some())]
            })
        };
        for machine in [&slower as &dyn Fn(u32, u32) -> f64, &before] {
            let [others, last] = named(machine, 1.0);
            assert!(others + last <= 2, "{others} and {last} of 200");
            let [others, last] = named(machine, 1.3);
            assert!(others <= 2 && last >= 190, "{others} and {last} of 200");
        }
    }

    #[test]
    fn few_visits_few_instances_and_visits_that_were_dropped_prove_nothing() {
        assert_eq!(found(2.0, 4, EVEN, 1), [None; 5]);
        let tail = Some(Tail { value: 0.0, error: 0.001 });
        let visit = |cpu_ns| Visit { requests: 1, cpu_ns: Some(cpu_ns), ..Visit::default() };
        let of = |cpu_ns| {
            let visits = (0..8).map(|round| Visit { round, ..visit(cpu_ns) });
            (vec![tail], visits.collect::<Vec<_>>())
        };
        assert_eq!(differing(&[of(1), of(1), of(9)])[2].map(f64::round), Some(9.0));
        assert_eq!(differing(&[of(1), of(9)]), [None; 2]);
        let unknown = |(_, visits): Compared| (Vec::new(), visits);
        assert_eq!(differing(&[of(1), of(9), unknown(of(1))]), [None; 3]);
        assert_eq!(Tail::of(&[]), None);
    }

    #[test]
    fn one_long_visit_of_three_may_be_disturbed() {
        let tail = |value| Some(Tail { value, error: 0.001 });
        let visit = |round| Visit { round, requests: 1, cpu_ns: Some(1), ..Visit::default() };
        let of = |long: &[Option<Tail>]| (long.to_vec(), (0..8).map(visit).collect::<Vec<_>>());
        let undisturbed = of(&[tail(0.0), None, tail(0.0)]);
        let found =
            |long: &[_]| differing(&[undisturbed.clone(), undisturbed.clone(), of(long)])[2];
        assert_eq!(found(&[tail(0.5)]).map(|ratio| ratio < 1.0), Some(true));
        assert_eq!(found(&[tail(0.5), tail(0.0), tail(0.0)]), None);
        assert_eq!(found(&[None, None, None]), None);
    }
}
