//! The table of one shape. Pure: samples in, text out.

use std::collections::BTreeMap;
use wirebench_report::table_units::thousands;
use wirebench_stats::{geometric_mean_interval, median, range, ratios_by_block};

use super::{
    contestant::{Contestant, Shape},
    measure::Sample,
};
use crate::table::{self, figure, middle};

pub(crate) const LEGEND: &str = "\
requests/s, CPU and idle are medians. wirebench/it is the median of the ratios of wirebench's
requests/s to the contestant's within each block, with the least and the most and the 95 % interval
of their geometric mean, which needs three blocks; CPU ratio is the same of the generator's CPU per
request, where less than 1 is cheaper.
Generator CPU is user and system time of the contestant's process from its start to its end.
wirebench chooses its engine by itself, and checks and records every reply; the bare loops only
count bytes. Where the server is hardly idle, it is the limit, and a ratio says little.";

const HEAD: &str = "contestant | requests/s | wirebench/it | (least..most) | 95 % interval | \
    generator CPU us/request | CPU ratio | 95 % interval | server CPU us/request | server idle % | errors";

/// One row for each contestant that has samples in this shape.
pub(crate) fn table(shape: Shape, samples: &[Sample]) -> String {
    let mut by_contestant: BTreeMap<Contestant, Vec<&Sample>> = BTreeMap::new();
    for it in samples.iter().filter(|it| it.shape == shape.name) {
        by_contestant.entry(it.contestant).or_default().push(it);
    }
    let ours = by_contestant.get(&Contestant::Wirebench).map_or(&[][..], Vec::as_slice);
    table::text(HEAD, 1, by_contestant.values().map(|samples| row(samples, ours)).collect())
}

fn row(samples: &[&Sample], ours: &[&Sample]) -> Vec<String> {
    let rate = |it: &Sample| it.counted.requests_per_second;
    let cpu = |it: &Sample| it.generator_cpu_us_per_request;
    let ratios = |of| ratios_by_block(&by_block(ours, of), &by_block(samples, of));
    let (ratios, cpu_ratios) = (ratios(rate), ratios(cpu));
    let rates: Vec<f64> = samples.iter().map(|it| rate(it)).collect();
    let between = |(low, high): (f64, f64)| format!("{low:.3}..{high:.3}");
    let interval = |ratios: &[f64]| {
        let known = geometric_mean_interval(ratios).map(|it| (it.low, it.high));
        known.map_or("-".to_owned(), between)
    };
    vec![
        samples[0].contestant.name(),
        median(&rates).map_or("-".to_owned(), thousands),
        figure(median(&ratios), 3),
        range(&ratios).map_or("-".to_owned(), |it| format!("({})", between(it))),
        interval(&ratios),
        middle(samples, 3, |it| Some(cpu(it))),
        figure(median(&cpu_ratios), 3),
        interval(&cpu_ratios),
        middle(samples, 3, |it| Some(it.server_cpu_us_per_request)),
        middle(samples, 0, |it| Some(it.server_idle * 100.0)),
        samples.iter().map(|it| it.counted.errors).sum::<u64>().to_string(),
    ]
}

/// A figure by block; those of one block are added up.
fn by_block(samples: &[&Sample], figure: fn(&Sample) -> f64) -> BTreeMap<u32, f64> {
    let mut sums = BTreeMap::new();
    samples.iter().for_each(|it| *sums.entry(it.block).or_default() += figure(it));
    sums
}

#[cfg(test)]
pub(crate) mod tests;
