//! Synthetic results. Not here: what is expected of them.

use std::collections::BTreeMap;
use wirebench_schema::{
    entry::Class,
    environment::Environment,
    journal::{
        Bound, Cost, Counts, Described, FixedRate, GeneratorVersion, Goal, IdleMeasurement,
        JOURNAL_FORMAT, Journal, Measurement, Outcome, Placement, Procedure, Run, Start,
    },
    load::{EngineChoice, LatencySummary, LoadConfig, LoadReport},
    suite::{Phase, Scale, Suite},
};

use crate::compare::{CompareOptions, Comparison, NotComparable, Side, compare};

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
const VARIANTS: [&str; 3] = [BASE, "go/net", "rust/tokio"];

#[derive(Clone, Copy)]
pub(super) struct Figures {
    pub(super) rate: f64,
    pub(super) cpu_ns: f64,
    pub(super) p99_ns: f64,
    pub(super) memory: f64,
}

impl Figures {
    /// As many requests per second, and all that less is better of, in proportion.
    pub(super) fn times(self, rate: f64, rest: f64) -> Self {
        Self {
            rate: self.rate * rate,
            cpu_ns: self.cpu_ns * rest,
            p99_ns: self.p99_ns * rest,
            memory: self.memory * rest,
        }
    }
}

pub(super) const USUAL: Figures =
    Figures { rate: 100_000.0, cpu_ns: 5_000.0, p99_ns: 400_000.0, memory: 2_048.0 };

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

/// A result whose runs have the figures that `figures` says.
pub(super) fn result(blocks: u32, figures: impl Fn(Place<'_>) -> Figures) -> Journal {
    let mut journal = Journal::new(start());
    for block in 0..blocks {
        for workload in journal.start.workloads.clone() {
            for (variant, copy) in [(BASE, 0), (BASE, 1), ("go/net", 0), ("rust/tokio", 0)] {
                let place = Place { variant, copy, block };
                let outcome = outcome(workload.phase, figures(place));
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
        let usual = USUAL.times(small, small);
        if place.variant == "go/net" { usual.times(rate, rest) } else { usual }
    });
    // It would not be compared if it were the same.
    journal.start.variants[1].fingerprint = Some(format!("go {seed}"));
    journal
}

pub(super) fn rate(requests_per_second: u64) -> FixedRate {
    FixedRate {
        workload: "hello-cost".into(),
        requests_per_second,
        reason: "half of the slowest".into(),
        reached: Vec::new(),
        too_slow: Vec::new(),
    }
}

fn start() -> Start {
    let described = |name: &str| Described {
        variant: name.parse().unwrap(),
        title: name.to_owned(),
        class: Some(Class::Raw),
        model: None,
        mechanism: None,
        sharing: None,
        skips: Vec::new(),
        versions: BTreeMap::from([("library".into(), "1.0".into())]),
        fingerprint: Some("0011".into()),
    };
    Start {
        format: JOURNAL_FORMAT,
        started: "2026-01-02T03:04:05Z".into(),
        command: vec!["wirebench".into()],
        suite: "example".into(),
        baselines: vec![BASE.parse().unwrap()],
        seed: 7,
        folder: "/".into(),
        copies: 1,
        procedure: Procedure::Process,
        margin: None,
        metric: None,
        baseline_copies: 2,
        goal: Goal::default(),
        blocks: 10,
        warmup_blocks: 0,
        scale: Scale::Machine,
        published: None,
        generator: GeneratorVersion::default(),
        left_out: Vec::new(),
        variants: VARIANTS.map(described).to_vec(),
        workloads: Suite::parse("example", SUITE).unwrap().workloads,
        placement: Placement {
            server_cpus: vec![0],
            generator_cpus: vec![1],
            pinned: true,
            disjoint: true,
            split_cores: Vec::new(),
            one_cache: false,
        },
    }
}

pub(super) fn run(place: Place<'_>, workload: &str, outcome: Outcome) -> Run {
    Run {
        block: place.block,
        group: 0,
        counts: Counts::Yes,
        position: 0,
        copy: place.copy,
        variant: place.variant.parse().unwrap(),
        workload: workload.into(),
        started: String::new(),
        workers: 1,
        server_command: Vec::new(),
        generator_command: Vec::new(),
        outcome,
    }
}

fn outcome(phase: Phase, figures: Figures) -> Outcome {
    if phase == Phase::Idle {
        return Outcome::Idle(Box::new(IdleMeasurement {
            connections: 1000,
            made: 1000,
            lost: 0,
            memory_rest_bytes: 1 << 20,
            memory_bytes: 3 << 20,
            memory_bytes_per_connection: figures.memory,
            window_ns: 1_000_000_000,
            cpu_ns: 1_000_000,
            context_switches_voluntary: 0,
            context_switches_involuntary: 0,
            processes: 1,
            threads: 1,
            reasons: Vec::new(),
        }));
    }
    Outcome::Measured(Box::new(Measurement {
        load: load(figures),
        tool: None,
        cost: Cost {
            cpu_ns: 1,
            sampled_ns: 1,
            cpu_ns_per_request: Some(figures.cpu_ns),
            cpu_share: 0.99,
            busiest_thread_share: 0.5,
            generator_cpu_share: 0.5,
            memory_peak_bytes: 3 << 20,
            processes: 1,
            threads: 1,
            context_switches_voluntary: 0,
            context_switches_involuntary: 0,
        },
        bound: Bound::Server,
        warm_up: None,
        slices: Vec::new(),
        distances: wirebench_schema::journal::Distances::default(),
        instance: None,
        reasons: Vec::new(),
    }))
}

fn load(figures: Figures) -> LoadReport {
    let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    let p99 = figures.p99_ns as u64;
    LoadReport {
        window_ns: 1_000_000_000,
        requests: figures.rate as u64,
        requests_per_second: figures.rate,
        latency: Some(LatencySummary {
            count: 1,
            censored: 0,
            lower_bounds: None,
            latency_ns_mean_answered: None,
            latency_ns_mean: 1.0,
            latency_ns_stdev: 0.0,
            within_stdev: 1.0,
            latency_ns_min: 1,
            latency_ns_p50: p99 / 4,
            latency_ns_p75: p99 / 3,
            latency_ns_p90: p99 / 2,
            latency_ns_p95: p99 / 2,
            latency_ns_p99: p99,
            latency_ns_p999: p99 * 2,
            latency_ns_max: p99 * 3,
            histogram: String::new(),
            replies: None,
            ages: None,
        }),
        ..LoadReport::new("0".into(), config, EngineChoice::Epoll)
    }
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
        cpu_model: Some("Model 1".into()),
        ..Environment::default()
    }
}

/// Compares two results of one machine.
pub(super) fn try_compare(
    old: &Journal,
    new: &Journal,
    wishes: &CompareOptions,
) -> Result<Comparison, NotComparable> {
    let environment = Some(machine());
    let side = |name, journal| Side { name, journal, environment: environment.as_ref() };
    compare(&side("old", old), &side("new", new), wishes)
}

/// The same where they can be compared.
pub(super) fn compared(old: &Journal, new: &Journal, wishes: &CompareOptions) -> Comparison {
    try_compare(old, new, wishes).unwrap()
}

pub(super) fn conditions(conditions: &[&str]) -> CompareOptions {
    let conditions = conditions.iter().map(|text| text.parse().unwrap()).collect();
    CompareOptions { conditions, ..CompareOptions::default() }
}
