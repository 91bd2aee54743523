//! Synthetic journals for the tests of this crate. No figure in them was measured.

mod golden;

pub(crate) use self::golden::{
    assert_golden, assert_golden_cases, assert_golden_differences, assert_golden_page, difference,
    difference_in_words,
};

use std::collections::BTreeMap;
use wirebench_schema::{
    entry::Class,
    environment::Environment,
    journal::{
        Bound, Cost, Counts, Described, FixedRate, IdleMeasurement, JOURNAL_FORMAT, Journal,
        Measurement, Outcome, Placement, Reason, ReasonKind, Run, Start, Verified, Weight,
    },
    load::{
        EngineChoice, ErrorCounts, GeneratorPart, LatencySummary, LoadConfig, LoadReport, Rate,
    },
    scenario::Scenario,
    suite::Suite,
};

const SUITE: &str = r#"
description = "An example."
blocks = 3
[[workload]]
name = "hello"
scenario = "hello"
connections = 64
duration = "1s"
"#;

/// A suite of a cost phase and an idle one, six blocks each.
pub(crate) const COST: &str = r#"
description = "An example."
blocks = 6
[[workload]]
name = "hello"
scenario = "hello"
phases = ["cost", "idle"]
connections = 64
duration = "1s"
"#;

/// The noise of six blocks: the same for all rows with the same turn, and about 0.3 %.
pub(crate) const NOISE: [f64; 6] = [0.997, 1.002, 1.004, 0.999, 1.003, 0.996];

/// A machine with this CPU.
pub(crate) fn environment(cpu_model: &str) -> Environment {
    let cpu_model = Some(cpu_model.to_owned());
    Environment { cpu_model, cpus_online: 2, ..Environment::default() }
}

/// A journal of three variants without a run.
pub(crate) fn journal() -> Journal {
    journal_of(SUITE)
}

/// A journal of the workloads of a suite without a run.
pub(crate) fn journal_of(suite: &str) -> Journal {
    let suite = Suite::parse("example", suite).unwrap();
    let described = |name: &str, class| Described {
        variant: name.parse().unwrap(),
        title: name.to_owned(),
        class,
        model: None,
        mechanism: None,
        sharing: None,
        skips: Vec::new(),
        versions: BTreeMap::new(),
        fingerprint: None,
        runs_others: false,
    };
    Journal::new(Start {
        format: JOURNAL_FORMAT,
        started: "2026-01-02T03:04:05Z".into(),
        command: vec!["wirebench".into()],
        suite: "example".into(),
        baselines: vec!["c/epoll".parse().unwrap(), "go/net".parse().unwrap()],
        seed: 7,
        folder: "/".into(),
        copies: 1,
        baseline_copies: 1,
        blocks: suite.blocks,
        variants: vec![
            described("c/epoll", Some(Class::Raw)),
            described("go/net", Some(Class::Library)),
            described("own/server", None),
        ],
        workloads: suite.workloads,
        placement: Placement {
            server_cpus: vec![0],
            generator_cpus: vec![1],
            pinned: true,
            disjoint: true,
            ..Placement::default()
        },
        ..Start::default()
    })
}

pub(crate) fn load(rate: f64, errors: u64) -> LoadReport {
    let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    LoadReport {
        window_ns: 1_000_000_000,
        requests: rate as u64,
        requests_per_second: rate,
        latency: Some(LatencySummary {
            count: 100_000,
            latency_ns_mean: 1.0,
            within_stdev: 1.0,
            latency_ns_min: 1,
            latency_ns_p50: 50_000,
            latency_ns_p75: 60_000,
            latency_ns_p90: 70_000,
            latency_ns_p95: 70_000,
            latency_ns_p99: 1_500_000,
            latency_ns_p999: 2_000_000,
            latency_ns_max: 3_000_000,
            ..LatencySummary::default()
        }),
        errors: ErrorCounts { timeout: errors, ..ErrorCounts::default() },
        ..LoadReport::new("0".into(), config, EngineChoice::Epoll)
    }
}

/// A run at `rate` that was bounded by the server, with an invalid reason for each of `flags`.
pub(crate) fn measured(rate: f64, errors: u64, flags: &[&str]) -> Outcome {
    Outcome::Measured(Box::new(Measurement {
        load: load(rate, errors),
        cost: Cost {
            cpu_ns: 1_000_000,
            sampled_ns: 1_000_000_000,
            cpu_ns_per_request: Some(4250.0),
            cpu_share: 0.99,
            busiest_thread_share: 0.5,
            generator_cpu_share: 0.5,
            memory_peak_bytes: 3 << 20,
            processes: 1,
            threads: 1,
            context_switches_voluntary: 100,
            mapped: Some("4455".into()),
            ..Cost::default()
        },
        bound: Bound::Server,
        reasons: flags.iter().map(|&flag| reason(Weight::Invalid, flag)).collect(),
        ..Measurement::default()
    }))
}

/// A run at `value` requests a second.
pub(crate) fn rate(value: f64) -> Outcome {
    measured(value, 0, &[])
}

/// Six blocks of the baseline twice and of `go/net`, whose ratios to it are about `ratio`.
pub(crate) fn pair(ratio: f64) -> Journal {
    let mut journal = journal();
    journal.start.blocks = 6;
    trio(&mut journal, "hello", (100e3, 100e3 * ratio), rate);
    journal
}

/// The same of a cost phase, by CPU time.
pub(crate) fn cost_pair(ratio: f64) -> Journal {
    let mut journal = journal_of(COST);
    journal.start.workloads.truncate(1);
    trio(&mut journal, "hello", (4000.0, 4000.0 * ratio), cost);
    journal
}

/// A journal of an idle phase without a run, and the name of its workload.
pub(crate) fn silent() -> (Journal, String) {
    let mut journal = journal_of(COST);
    journal.start.workloads.remove(0);
    let name = journal.start.workloads[0].name.clone();
    (journal, name)
}

pub(crate) fn reason(weight: Weight, text: &str) -> Reason {
    ReasonKind::Errors.reason(weight, None, text)
}

pub(crate) fn changed(outcome: Outcome, change: impl FnOnce(&mut Measurement)) -> Outcome {
    let Outcome::Measured(mut measurement) = outcome else { return outcome };
    change(&mut measurement);
    Outcome::Measured(measurement)
}

/// Changes the figures of all runs of a variant that have some.
pub(crate) fn alter(journal: &mut Journal, variant: &str, change: impl Fn(&mut Measurement)) {
    alter_runs(journal, |run| run.variant.to_string() == variant, change);
}

/// The same of all variants.
pub(crate) fn alter_all(journal: &mut Journal, change: impl Fn(&mut Measurement)) {
    alter_runs(journal, |_| true, change);
}

/// Adds a reason to the runs that are meant and have figures.
pub(crate) fn add_reason(journal: &mut Journal, is_meant: impl Fn(&Run) -> bool, reason: &Reason) {
    alter_runs(journal, is_meant, |it| it.reasons.push(reason.clone()));
}

/// The same journal with a reason in all runs.
pub(crate) fn with_reason(mut journal: Journal, reason: &Reason) -> Journal {
    alter_all(&mut journal, |it| it.reasons.push(reason.clone()));
    journal
}

/// The same of the runs that are meant.
pub(crate) fn alter_runs(
    journal: &mut Journal,
    is_meant: impl Fn(&Run) -> bool,
    change: impl Fn(&mut Measurement),
) {
    for run in journal.runs.iter_mut().filter(|run| is_meant(run)) {
        if let Outcome::Measured(measurement) = &mut run.outcome {
            change(measurement);
        }
    }
}

/// The same of the last run.
pub(crate) fn alter_last(journal: &mut Journal, change: impl FnOnce(&mut Measurement)) {
    let last = journal.runs.last_mut().unwrap();
    last.outcome = changed(last.outcome.clone(), change);
}

/// The same while the load generator was at its limit.
pub(crate) fn limited(outcome: Outcome) -> Outcome {
    changed(outcome, |measurement| measurement.bound = Bound::Generator)
}

/// A run at a fixed rate, at `cpu_ns` per request.
pub(crate) fn cost(cpu_ns: f64) -> Outcome {
    changed(measured(40_000.0, 0, &[]), |measurement| {
        measurement.cost.cpu_ns_per_request = Some(cpu_ns);
        measurement.bound = Bound::Neither;
    })
}

/// A run with 1000 silent connections of `bytes` each.
pub(crate) fn silence(bytes: f64) -> Outcome {
    Outcome::Idle(Box::new(IdleMeasurement {
        connections: 1000,
        made: 1000,
        memory_rest_bytes: 1 << 20,
        memory_bytes: (1 << 20) + (bytes * 1000.0) as u64,
        memory_bytes_per_connection: bytes,
        window_ns: 1_000_000_000,
        cpu_ns: 2_500_000,
        context_switches_voluntary: 1,
        processes: 1,
        threads: 1,
        mapped: Some("4455".into()),
        ..IdleMeasurement::default()
    }))
}

pub(crate) fn failed(reason: &str) -> Outcome {
    Outcome::Failed { reason: reason.to_owned(), server_stderr: String::new() }
}

/// A rate that was found for a workload, and which servers cannot hold it.
pub(crate) fn fixed_rate(workload: &str, rate: u64, too_slow: &[(&str, &str)]) -> FixedRate {
    let slow = |(variant, why): &(&str, &str)| (variant.parse().unwrap(), (*why).to_owned());
    FixedRate {
        workload: workload.into(),
        requests_per_second: Rate::per_second(rate),
        reason: "half of what go/net reached".into(),
        reached: Vec::new(),
        too_slow: too_slow.iter().map(slow).collect(),
    }
}

/// The checks of a variant: those that failed, and those that failed as declared.
pub(crate) fn verified(
    variant: &str,
    failed: &[(&str, &str)],
    deviates: &[(&str, &str)],
) -> Verified {
    let owned = |checks: &[(&str, &str)]| {
        checks.iter().map(|(check, why)| ((*check).into(), (*why).into())).collect()
    };
    Verified {
        variant: variant.parse().unwrap(),
        scenario: Scenario::Hello,
        passed: 3,
        failed: owned(failed),
        deviates: owned(deviates),
        replies: Vec::new(),
        skipped: Vec::new(),
    }
}

/// A run of `variant` in the first workload of [`journal`].
pub(crate) fn run(block: u32, variant: &str, outcome: Outcome) -> Run {
    Run {
        block,
        group: 0,
        counts: Counts::Yes,
        position: 0,
        copy: 0,
        variant: variant.parse().unwrap(),
        workload: "hello".into(),
        started: String::new(),
        workers: 1,
        server_command: Vec::new(),
        generator_command: Vec::new(),
        outcome,
    }
}

/// Adds a run of `variant` for each value, in blocks from 0.
pub(crate) fn add(
    journal: &mut Journal,
    workload: &str,
    (variant, copy): (&str, u32),
    values: impl IntoIterator<Item = f64>,
    outcome: impl Fn(f64) -> Outcome,
) {
    for (block, value) in (0..).zip(values) {
        let run = run(block, variant, outcome(value));
        journal.runs.push(Run { copy, workload: workload.to_owned(), ..run });
    }
}

/// Adds six blocks of the baseline twice at about `base`, and of `go/net` at about `other`.
pub(crate) fn trio(
    journal: &mut Journal,
    workload: &str,
    (base, other): (f64, f64),
    outcome: impl Fn(f64) -> Outcome,
) {
    for (row, middle, turn) in
        [(("c/epoll", 0), base, 1), (("c/epoll", 1), base, 5), (("go/net", 0), other, 5)]
    {
        add(journal, workload, row, noisy(middle, turn), &outcome);
    }
}

/// `middle` with the noise of six blocks, which differs between turns.
pub(crate) fn noisy(middle: f64, turn: usize) -> [f64; 6] {
    std::array::from_fn(|block| middle * NOISE[(block * turn + turn) % 6])
}

/// The parts of a load of two hosts, of which the second one began late.
pub(crate) fn two_hosts() -> [GeneratorPart; 2] {
    [("lab2", 0), ("lab3", 900_000_000)].map(|(host, start_delay_ns)| GeneratorPart {
        host: host.to_owned(),
        threads: 2,
        cpus_used: 1.99,
        start_delay_ns,
        latency_ns_p99: Some(1_000_000),
        ..GeneratorPart::default()
    })
}
