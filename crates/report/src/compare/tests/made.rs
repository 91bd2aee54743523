//! Synthetic results. Not here: what is expected of them.

use std::sync::atomic::{AtomicU32, Ordering};
use wirebench_schema::{
    entry::Class,
    environment::Environment,
    journal::{FixedRate, Journal, Measurement, Outcome, Run},
    suite::Phase,
};

use crate::{
    compare::{CompareOptions, Comparison, NotComparable, Side, compare},
    fixtures::{self, changed, fixed_rate, journal_of, silence},
};

const SUITE: &str = r#"
description = "An example."
blocks = 10
[[workload]]
name = "hello"
scenario = "hello"
connections = 64
duration = "1s"
phases = ["saturate", "cost", "idle"]
"#;

pub(super) const BASE: &str = "c/epoll";
const TOKIO: &str = "rust/tokio";

/// Where a run stands: its workload, its variant, which copy, and the block.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) variant: &'a str,
    pub(super) copy: u32,
    pub(super) block: u32,
}

/// A little noise, other in every place and for every seed: about `size` up or down.
pub(super) fn noise(place: Place<'_>, seed: u64, size: f64) -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(place.copy) << 40;
    for byte in place.variant.bytes().chain(place.block.to_le_bytes()) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        state ^= state >> 29;
    }
    // The sum of three even ones is nearly normal.
    let even = |shift: u32| (state >> shift & 0xFFFF) as f64 / 65_536.0 - 0.5;
    1.0 + 2.0 * size * (even(0) + even(16) + even(32))
}

/// A result whose runs have the usual figures, times these factors: of throughput, and of all figures of which less
/// is better.
pub(super) fn result(blocks: u32, factors: impl Fn(Place<'_>) -> (f64, f64)) -> Journal {
    let mut journal = journal_of(SUITE);
    let start = &mut journal.start;
    start.baselines.truncate(1);
    start.baseline_copies = 2;
    start.variants[2].variant = TOKIO.parse().unwrap();
    for described in &mut start.variants {
        described.class = Some(Class::Raw);
        described.versions.insert("library".into(), "1.0".into());
        described.fingerprint = Some("0011".into());
    }
    // Nothing would be compared if all programs were the same in both.
    static BUILDS: AtomicU32 = AtomicU32::new(0);
    let build = BUILDS.fetch_add(1, Ordering::Relaxed);
    start.variants[2].fingerprint = Some(format!("tokio {build}"));
    for block in 0..blocks {
        for workload in journal.start.workloads.clone() {
            for (variant, copy) in [(BASE, 0), (BASE, 1), ("go/net", 0), (TOKIO, 0)] {
                let place = Place { variant, copy, block };
                let outcome = outcome(workload.phase, factors(place));
                journal.runs.push(run(place, &workload.name, outcome));
            }
        }
    }
    journal.rates.push(rate(20_000));
    journal
}

/// A result with a little noise in which `go/net` does `rate` times as much, and needs `rest` times
/// as much of everything else.
pub(super) fn with_go(blocks: u32, seed: u64, (rate, rest): (f64, f64)) -> Journal {
    let mut journal = result(blocks, |place| {
        let small = noise(place, seed, 0.003);
        if place.variant == "go/net" { (small * rate, small * rest) } else { (small, small) }
    });
    // It would not be compared if it were the same.
    journal.start.variants[1].fingerprint = Some(format!("go {seed}"));
    journal
}

pub(super) fn rate(requests_per_second: u64) -> FixedRate {
    fixed_rate("hello-cost", requests_per_second, &[])
}

fn run(place: Place<'_>, workload: &str, outcome: Outcome) -> Run {
    let run = fixtures::run(place.block, place.variant, outcome);
    Run { copy: place.copy, workload: workload.into(), ..run }
}

fn outcome(phase: Phase, (rate, rest): (f64, f64)) -> Outcome {
    if phase == Phase::Idle {
        return silence(2_048.0 * rest);
    }
    changed(fixtures::rate(100_000.0 * rate), |it| {
        it.cost.cpu_ns_per_request = Some(5_000.0 * rest);
        let latency = it.load.latency.as_mut().unwrap();
        let p99 = (400_000.0 * rest) as u64;
        (latency.latency_ns_p50, latency.latency_ns_p99) = (p99 / 4, p99);
        (latency.latency_ns_p999, latency.latency_ns_max) = (p99 * 2, p99 * 3);
    })
}

/// The measurements of `variant` in `workload`.
pub(super) fn measurements<'a>(
    journal: &'a mut Journal,
    variant: &'a str,
    workload: &'a str,
) -> impl Iterator<Item = &'a mut Measurement> {
    let runs = journal.runs.iter_mut();
    let here = runs.filter(move |it| it.variant.to_string() == variant && it.workload == workload);
    here.filter_map(|run| match &mut run.outcome {
        Outcome::Measured(it) => Some(&mut **it),
        Outcome::Idle(_) | Outcome::Failed { .. } => None,
    })
}

/// A machine that tells a little.
pub(super) fn machine() -> Environment {
    Environment {
        architecture: "x86_64".into(),
        kernel: "6.1.0".into(),
        ..fixtures::environment("Model 1")
    }
}

/// Compares two results of these machines.
pub(super) fn compare_on(
    [one, other]: [Option<&Environment>; 2],
    old: &Journal,
    new: &Journal,
    options: &CompareOptions,
) -> Result<Comparison, NotComparable> {
    let side = |name, journal, environment| Side { name, journal, environment };
    compare(&side("old", old, one), &side("new", new, other), options)
}

/// Compares two results of one machine.
pub(super) fn try_compare(
    old: &Journal,
    new: &Journal,
    options: &CompareOptions,
) -> Result<Comparison, NotComparable> {
    compare_on([Some(&machine()); 2], old, new, options)
}

/// The same where they can be compared.
pub(super) fn compared(old: &Journal, new: &Journal, options: &CompareOptions) -> Comparison {
    try_compare(old, new, options).unwrap()
}

pub(super) fn conditions(conditions: &[&str]) -> CompareOptions {
    let conditions = conditions.iter().map(|text| text.parse().unwrap()).collect();
    CompareOptions { conditions, ..CompareOptions::default() }
}
