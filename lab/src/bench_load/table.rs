//! The table of one shape. Pure: samples in, text out.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_report::{
    table::{Style, listing},
    table_units::thousands,
};
use wirebench_stats::{geometric_mean_interval, median, range, ratios_by_block};

use super::{contestant::Contestant, measure::Sample, shape::Shape};

pub(crate) const LEGEND: &str = "\
requests/s, CPU and idle are medians. wirebench/it is the median of the ratios of wirebench's
requests/s to the contestant's within each block, with the least and the most and the 95 % interval
of their geometric mean, which needs three blocks; CPU ratio is the same of the generator's CPU per
request, where less than 1 is cheaper.
Generator CPU is user and system time of the contestant's process from its start to its end.
wirebench chooses its engine by itself, and checks and records every reply; the bare loops only
count bytes. Where the server is hardly idle, it is the limit, and a ratio says little.";

const HEAD: [&str; 11] = [
    "contestant",
    "requests/s",
    "wirebench/it",
    "(least..most)",
    "95 % interval",
    "generator CPU us/request",
    "CPU ratio",
    "95 % interval",
    "server CPU us/request",
    "server idle",
    "errors",
];

/// One row for each contestant that has samples in this shape.
pub(crate) fn table(shape: Shape, samples: &[Sample]) -> String {
    let of = |contestant| -> Vec<&Sample> {
        let is_it = |it: &&Sample| (it.shape, it.contestant) == (shape.name, contestant);
        samples.iter().filter(is_it).collect()
    };
    let ours = of(Contestant::Wirebench);
    let contestants: BTreeSet<Contestant> = samples.iter().map(|it| it.contestant).collect();
    let samples = contestants.into_iter().map(of).filter(|samples| !samples.is_empty());
    listing(Style::Text, &HEAD, 1, samples.map(|samples| row(&samples, &ours)).collect())
}

fn row(samples: &[&Sample], ours: &[&Sample]) -> Vec<String> {
    let rate = |sample: &Sample| sample.counted.requests_per_second;
    let cpu = |sample: &Sample| sample.generator_cpu_us_per_request;
    let middle = |figure: fn(&Sample) -> f64| {
        let figures: Vec<f64> = samples.iter().map(|it| figure(it)).collect();
        median(&figures).unwrap_or(f64::NAN)
    };
    let [ratios, cpu_ratios] = [rate as fn(&Sample) -> f64, cpu]
        .map(|it| ratios_by_block(&by_block(ours, it), &by_block(samples, it)));
    let absent = || "-".to_owned();
    let ratio = |ratios: &[f64]| median(ratios).map_or_else(absent, |it| format!("{it:.3}"));
    let interval = |ratios: &[f64]| {
        geometric_mean_interval(ratios)
            .map_or_else(absent, |it| format!("{:.3}..{:.3}", it.low, it.high))
    };
    vec![
        samples[0].contestant.name(),
        thousands(middle(rate)),
        ratio(&ratios),
        range(&ratios).map_or_else(absent, |(least, most)| format!("({least:.2}..{most:.2})")),
        interval(&ratios),
        format!("{:.3}", middle(cpu)),
        ratio(&cpu_ratios),
        interval(&cpu_ratios),
        format!("{:.3}", middle(|it| it.server_cpu_us_per_request)),
        format!("{:.0} %", middle(|it| it.server_idle) * 100.0),
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
pub(crate) mod tests {
    use super::{super::shape::SHAPES, Contestant as C, *};
    use crate::bare_load::Counted;
    use expect_test::expect_file;

    pub(crate) fn sample(block: u32, contestant: C, rate: f64, errors: u64) -> Sample {
        Sample {
            block,
            shape: "connections-64",
            contestant,
            counted: Counted { requests: rate as u64, requests_per_second: rate, errors },
            generator_cpu_us_per_request: 5.0,
            server_cpu_us_per_request: 4.0,
            server_idle: 0.25,
        }
    }

    #[test]
    fn ratios_are_those_within_blocks_and_three_have_an_interval() {
        let few = [(1, 3000.0), (2, 1500.0)];
        let mut samples = few.map(|(block, rate)| sample(block, C::Wirebench, rate, 0)).to_vec();
        samples.extend([1, 2].map(|block| sample(block, C::Wrk, 1000.0, 0)));
        // The machine becomes four times faster meanwhile; within each pair it is 2 % at most.
        let pairs = (1..=15).flat_map(|pair| {
            let rate = 1000.0 * (1.0 + f64::from(pair) / 5.0);
            let ours = rate * (0.98 + f64::from(pair % 3) / 100.0);
            [sample(pair, C::Wirebench, ours, 0), sample(pair, C::Against, rate, 1)]
        });
        let text = [samples, pairs.collect()].map(|it| table(SHAPES[1], &it)).join("\n\n");
        expect_file!["golden/table.txt"].assert_eq(&format!("{text}\n"));
    }
}
