//! The table of one shape. Pure: samples in, text out.

use clap::ValueEnum as _;
use wirebench_stats::{median, range, ratios_by_block};

use super::{
    contestant::Contestant,
    measure::{Sample, by_block, of},
    shape::Shape,
};
use crate::table::{self, thousands};

pub(crate) const LEGEND: &str = "\
requests/s, CPU and idle are medians over the blocks. wirebench/it is the median of the ratios of
wirebench's requests/s to the contestant's within each block, with the least and the most; CPU
ratio is the same of the generator's CPU per request, where less than 1 is cheaper.
Generator CPU is user and system time of the contestant's process from its start to its end.
wirebench chooses its engine by itself, and checks and records every reply; the bare loops only
count bytes. Where the server is hardly idle, it is the limit, and a ratio says little.";

const HEAD: [&str; 9] = [
    "contestant",
    "requests/s",
    "wirebench/it",
    "(least..most)",
    "generator CPU us/request",
    "CPU ratio",
    "server CPU us/request",
    "server idle",
    "errors",
];

/// One row for each contestant that has samples in this shape.
pub(crate) fn table(shape: Shape, samples: &[Sample]) -> String {
    let mut rows = Vec::new();
    let ours = of(samples, shape, &Contestant::Wirebench.name());
    for contestant in Contestant::value_variants() {
        let samples = of(samples, shape, &contestant.name());
        if !samples.is_empty() {
            rows.push(row(*contestant, &samples, &ours));
        }
    }
    if rows.is_empty() { String::new() } else { table::text(&HEAD, 1, &rows) }
}

fn row(contestant: Contestant, samples: &[&Sample], ours: &[&Sample]) -> Vec<String> {
    let ratios = |figure| ratios_by_block(&by_block(ours, figure), &by_block(samples, figure));
    let cpu_ratios = ratios(|sample| sample.generator_cpu_us_per_request);
    let ratios = ratios(|sample| sample.requests_per_second);
    let middle = |value: fn(&Sample) -> f64| {
        median(&samples.iter().map(|sample| value(sample)).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    let absent = || "-".to_owned();
    vec![
        contestant.name(),
        thousands(middle(|sample| sample.requests_per_second)),
        median(&ratios).map_or_else(absent, |ratio| format!("{ratio:.2}")),
        range(&ratios).map_or_else(absent, |(least, most)| format!("({least:.2}..{most:.2})")),
        format!("{:.3}", middle(|sample| sample.generator_cpu_us_per_request)),
        median(&cpu_ratios).map_or_else(absent, |ratio| format!("{ratio:.2}")),
        format!("{:.3}", middle(|sample| sample.server_cpu_us_per_request)),
        format!("{:.0} %", middle(|sample| sample.server_idle) * 100.0),
        samples.iter().map(|sample| sample.errors).sum::<u64>().to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::shape::SHAPES;
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn a_row_says_how_many_times_faster_wirebench_is_within_the_blocks() {
        let rates = [(1, 3000.0, 1000.0), (2, 1500.0, 1000.0), (3, 2000.0, 1000.0)];
        let samples: Vec<Sample> = rates
            .iter()
            .flat_map(|&(block, ours, theirs)| {
                [
                    Sample::example(block, Contestant::Wirebench, ours),
                    Sample::example(block, Contestant::Wrk, theirs),
                ]
            })
            .collect();
        let text = table(SHAPES[1], &samples);
        expect_file!["golden/table.txt"].assert_eq(&format!("{text}\n"));
        assert_eq!(table(SHAPES[0], &samples), "");
    }
}
