//! Ratios of paired runs, and their intervals.

use super::{super::contestant::SHAPES, Contestant as C, *};
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
    expect_file!["../golden/table.txt"].assert_eq(&format!("{text}\n"));
}
