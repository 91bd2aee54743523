//! Two builds of `wirebench load` in pairs: this tree's and an older one.
//!
//! In a pair both builds load the same server process in many short turns, in the order A B B A, so
//! that linear drift of the machine cancels. The result is the ratio within pairs.

use std::{fmt::Write as _, path::Path};
use wirebench_stats::{MIN_COHORTS, geometric_mean_interval, median, ratios_by_block};

use super::{
    contestant::Contestant,
    measure::{Bench, Sample, by_block, of},
    shape::Shape,
};
use crate::table::thousands;

/// How many turns each build has in a pair. A shared machine changes its speed within a second, so
/// turns are short.
pub(crate) const TURNS: u32 = 16;

/// How samples of the other build are called.
const OTHER: &str = "against";

/// Every pair in every shape; the shapes in random order.
pub(crate) fn measure(
    bench: &Bench,
    other: &Path,
    shapes: &[Shape],
    pairs: u32,
    order: &mut fastrand::Rng,
) -> anyhow::Result<Vec<Sample>> {
    let mut samples = Vec::new();
    let mut shapes = shapes.to_vec();
    for pair in 1..=pairs {
        order.shuffle(&mut shapes);
        for &shape in &shapes {
            let server = bench.start_server(shape)?;
            for build in turns(pair, other) {
                let program = build.unwrap_or(&bench.wirebench);
                let mut sample =
                    bench.attempt(pair, shape, Contestant::Wirebench, program, &server)?;
                if build.is_some() {
                    sample.contestant = OTHER.to_owned();
                }
                samples.push(sample);
            }
            println!("pair {pair} of {pairs}, {}", shape.name);
        }
    }
    Ok(samples)
}

/// The builds in the order of this pair: this tree's, which needs no path, and the other one.
fn turns(pair: u32, other: &Path) -> impl Iterator<Item = Option<&Path>> {
    (0..2 * TURNS).map(move |turn| {
        // A B B A, and the other way round in every second pair.
        let is_other = matches!(turn % 4, 1 | 2) == (pair % 2 == 1);
        is_other.then_some(other)
    })
}

/// The results of the pairs, one paragraph per shape.
pub(crate) fn describe(shapes: &[Shape], samples: &[Sample]) -> String {
    shapes.iter().map(|shape| describe_shape(*shape, samples)).collect::<Vec<_>>().join("\n")
}

fn describe_shape(shape: Shape, samples: &[Sample]) -> String {
    let ours = of(samples, shape, &Contestant::Wirebench.name());
    let theirs = of(samples, shape, OTHER);
    let mut text = format!("{}\n", shape.describe());
    for (name, samples) in [("this tree", &ours), (OTHER, &theirs)] {
        let rates: Vec<f64> = samples.iter().map(|sample| sample.requests_per_second).collect();
        let errors: u64 = samples.iter().map(|sample| sample.errors).sum();
        let middle = thousands(median(&rates).unwrap_or(f64::NAN));
        let _ = writeln!(text, "  {name:<10} median {middle} requests/s, {errors} errors");
    }
    let rate = |sample: &Sample| sample.requests_per_second;
    let cpu = |sample: &Sample| sample.generator_cpu_us_per_request;
    for (name, figure) in [("requests/s", rate as fn(&Sample) -> f64), ("CPU per request", cpu)] {
        let ratios = ratios_by_block(&by_block(&ours, figure), &by_block(&theirs, figure));
        let _ = writeln!(text, "  {name}, this tree / {OTHER}: {}", describe_ratio(&ratios));
    }
    text
}

/// The geometric mean of the ratios, and its 95 % interval.
fn describe_ratio(ratios: &[f64]) -> String {
    if ratios.is_empty() {
        return "no pair has a ratio".to_owned();
    }
    let pairs = ratios.len();
    let value = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / pairs as f64).exp();
    match geometric_mean_interval(ratios) {
        Some(interval) => format!(
            "mean {value:.3}, 95 % interval {:.3}..{:.3} (pairs: {pairs})",
            interval.low, interval.high
        ),
        None => format!("mean {value:.3} (pairs: {pairs}; an interval needs {MIN_COHORTS})"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::AGAINST;
    use super::*;
    use expect_test::expect;

    /// A pair at 64 connections, in which the two made these requests per second.
    fn pair(number: u32, ours: f64, theirs: f64) -> [Sample; 2] {
        let other = Sample::example(number, Contestant::Wirebench, theirs);
        [
            Sample::example(number, Contestant::Wirebench, ours),
            Sample { contestant: OTHER.to_owned(), errors: 1, ..other },
        ]
    }

    #[test]
    fn the_ratio_is_made_within_pairs_and_has_an_interval() {
        // The machine becomes four times faster meanwhile; within each pair it is 2 % at most.
        let samples: Vec<Sample> = (1..=15)
            .flat_map(|number| {
                let rate = 1000.0 * (1.0 + f64::from(number) / 5.0);
                pair(number, rate * (0.98 + f64::from(number % 3) / 100.0), rate)
            })
            .collect();
        let text = describe(&AGAINST[..1], &samples);
        expect![[r#"
            connections-64: 64 connections, body of 12 bytes
              this tree  median 2 600 requests/s, 0 errors
              against    median 2 600 requests/s, 15 errors
              requests/s, this tree / against: mean 0.990, 95 % interval 0.985..0.995 (pairs: 15)
              CPU per request, this tree / against: mean 1.000, 95 % interval 1.000..1.000 (pairs: 15)
        "#]].assert_eq(&text);
    }

    #[test]
    fn few_pairs_have_no_interval() {
        assert_eq!(describe_ratio(&[]), "no pair has a ratio");
        assert_eq!(describe_ratio(&[1.1; 2]), "mean 1.100 (pairs: 2; an interval needs 3)");
    }

    #[test]
    fn a_pair_is_mirrored_and_every_second_one_is_the_other_way_round() {
        let other = Path::new("/old/wirebench");
        let is_other = |pair| turns(pair, other).map(|it| it.is_some()).collect::<Vec<_>>();
        assert_eq!(is_other(1)[..4], [false, true, true, false]);
        let inverted: Vec<bool> = is_other(1).iter().map(|it| !it).collect();
        assert_eq!(is_other(2), inverted);
        assert_eq!(is_other(1).iter().filter(|it| **it).count(), TURNS as usize);
    }
}
