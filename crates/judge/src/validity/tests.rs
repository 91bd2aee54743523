//! Each verdict, provoked.

use super::evidence::{bound, bound_of_run};
use super::*;
use crate::fixtures::{at_rate, good};
use crate::neighbours::{MachineUse, SideUse};
use expect_test::expect_file;
use std::time::Duration;
use wirebench_schema::{
    journal::{Bound, Cost, Placement, ReasonKind, RunSide, Weight},
    load::{ErrorCounts, LoadModel, Stop},
    suite::Phase,
    verification::Verification,
};

fn cost(server: f64, generator: f64) -> Cost {
    Cost {
        sampled_ns: 1,
        cpu_share: server,
        busiest_thread_share: server.min(0.5),
        generator_cpu_share: generator,
        ..Cost::default()
    }
}

fn good_placement() -> Placement {
    Placement {
        server_cpus: vec![0],
        generator_cpus: vec![1],
        pinned: true,
        disjoint: true,
        ..Placement::default()
    }
}

/// A run without anything to complain of but what is given, in a phase of saturation.
fn evidence(cost: Cost) -> Evidence {
    Evidence { load: good(), windows: 1, cost, placement: good_placement(), ..Evidence::default() }
}

/// A machine on which the server waited for others for this share of a second, and was held back this long.
fn machine(waited: f64, throttled_ns: u64) -> MachineUse {
    let elapsed = Duration::from_secs(1);
    let side = RunSide::Server;
    let server = SideUse { side, cpus: 1, elapsed, others_ns: 0, waited, stolen_ns: 0 };
    MachineUse { elapsed, throttled_ns, sides: vec![server] }
}

/// The costs of both sides, and one for each request.
fn counted(server: f64, generator: f64) -> Cost {
    Cost { cpu_ns_per_request: Some(1.0), processes: 1, ..cost(server, generator) }
}

fn reasons_of(spoil: impl FnOnce(&mut LoadReport, &mut Placement, &mut ServerEnd)) -> Vec<Reason> {
    let mut evidence = evidence(counted(0.99, 0.6));
    spoil(&mut evidence.load, &mut evidence.placement, &mut evidence.end);
    evidence.reasons()
}

#[test]
fn the_busy_side_bounds_the_run_and_of_two_the_one_at_which_requests_wait() {
    let busy_thread = Cost { busiest_thread_share: 0.99, ..cost(0.3, 0.6) };
    for (cost, ready_share, expected) in [
        (cost(0.99, 0.6), 0.9, Bound::Server),
        (cost(0.6, 0.99), 0.1, Bound::Generator),
        (cost(0.5, 0.5), 0.5, Bound::Neither),
        (cost(0.99, 0.99), 0.8, Bound::Generator),
        (cost(0.99, 0.99), 0.2, Bound::Server),
        (busy_thread, 0.5, Bound::Server),
    ] {
        assert_eq!(bound(&cost, ready_share), expected, "{cost:?}");
    }
}

#[test]
fn at_a_rate_that_was_kept_a_generator_that_never_sleeps_is_no_limit() {
    let at_a_rate = |achieved: f64, owed_at_end| {
        let mut load = at_rate(1000, 1000, 100_000);
        load.offered.as_mut().unwrap().owed_at_end = owed_at_end;
        load.requests_per_second = achieved;
        bound_of_run(&cost(0.3, 0.99), 0.1, &load)
    };
    assert_eq!(at_a_rate(995.0, 0), Bound::Neither);
    assert_eq!(at_a_rate(900.0, 100), Bound::Generator);
    // All were sent in time, and a tenth of them failed.
    assert_eq!(at_a_rate(900.0, 0), Bound::Neither);
}

#[test]
fn a_good_run_has_no_reasons() {
    assert!(reasons_of(|_, _, _| {}).is_empty());
}

#[test]
fn a_count_may_run_dry_without_a_flag() {
    let reasons = reasons_of(|load, _, _| {
        load.config.stop = Stop::Requests(1000);
        load.unanswered_connections = 4;
    });
    assert!(reasons.is_empty(), "{reasons:?}");
}

#[test]
fn each_fault_of_a_run_has_its_reason_with_the_next_step() {
    type Spoil = fn(&mut LoadReport, &mut Placement, &mut ServerEnd);
    let rows: [(Spoil, ReasonKind, Weight); 9] = [
        (
            |load, _, _| load.errors = ErrorCounts { reset: 3, ..load.errors },
            ReasonKind::ClosedEarly,
            Weight::Invalid,
        ),
        (|load, _, _| load.connections_made = 9, ReasonKind::ConnectionsMissing, Weight::Invalid),
        (|load, _, _| load.unanswered_connections = 4, ReasonKind::Unanswered, Weight::Invalid),
        (|_, placement, _| placement.pinned = false, ReasonKind::NotPinned, Weight::Invalid),
        (|_, placement, _| placement.disjoint = false, ReasonKind::SharedCpu, Weight::Invalid),
        (
            |_, placement, _| placement.split_cores = vec![vec![0, 1]],
            ReasonKind::SplitCore,
            Weight::Note,
        ),
        (|_, _, end| end.forced = true, ReasonKind::Forced, Weight::Note),
        (|_, _, end| end.left_behind = vec!["7 (x)".into()], ReasonKind::LeftBehind, Weight::Note),
        (|_, _, end| end.stderr_bytes = 1 << 20, ReasonKind::Stderr, Weight::Note),
    ];
    let mut text = String::new();
    for (spoil, kind, weight) in rows {
        let reasons = reasons_of(spoil);
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        assert_eq!((reasons[0].kind, reasons[0].weight), (kind, weight));
        assert!(reasons[0].text().ends_with(kind.guide().next_step), "{reasons:?}");
        text += &format!("{}\n", reasons[0]);
    }
    expect_file!["golden/faults.txt"].assert_eq(&text);
}

/// The one reason of a good load in this phase with such a limit, if there is one.
fn of_bound(phase: Phase, bound: Bound, model: &LoadModel) -> Option<(ReasonKind, Weight, f64)> {
    let busy = |side| if bound == side { 0.97 } else { 0.6 };
    let cost = counted(busy(Bound::Server), busy(Bound::Generator));
    let mut evidence = Evidence { phase, ..evidence(cost) };
    evidence.load.config.model = model.clone();
    assert_eq!(evidence.bound(), bound);
    let reasons = evidence.reasons();
    assert!(reasons.len() <= 1, "{reasons:?}");
    reasons.first().map(|it| (it.kind, it.weight, it.figure.unwrap()))
}

#[test]
fn a_rate_that_is_not_the_servers_is_reported_where_the_rate_is_the_figure() {
    use {Bound::Generator, Bound::Neither, Phase::Saturate};
    let (closed, think) = (LoadModel::Closed, LoadModel::Think { delay: Duration::from_millis(1) });
    let limit = Some((ReasonKind::GeneratorBound, Weight::Limit, 0.97));
    let note = Some((ReasonKind::NeitherBound, Weight::Note, 0.6));
    assert_eq!(of_bound(Saturate, Generator, &closed), limit);
    assert_eq!(of_bound(Saturate, Neither, &closed), note);
    assert_eq!(of_bound(Saturate, Bound::Server, &closed), None);
    assert_eq!(of_bound(Saturate, Generator, &think), limit);
    assert_eq!(of_bound(Saturate, Neither, &think), None);
    assert_eq!(of_bound(Phase::Cost, Generator, &closed), None);
}

#[test]
fn a_cost_that_was_not_measured_spoils_a_phase_of_cost_alone() {
    for (phase, weight) in [(Phase::Saturate, Weight::Note), (Phase::Cost, Weight::Invalid)] {
        let reasons = Evidence {
            phase,
            verification: Verification::LeftOut,
            processes: Processes::Lost(3),
            ..evidence(cost(0.99, 0.5))
        }
        .reasons();
        let told: Vec<_> = reasons.iter().map(|reason| (reason.kind, reason.weight)).collect();
        let expected = [
            (ReasonKind::NotVerified, Weight::Invalid),
            (ReasonKind::NoCost, weight),
            (ReasonKind::ProcessesChanged, Weight::Note),
        ];
        assert_eq!(told, expected);
        assert_eq!(reasons[1].figure, Some(3.0));
    }
}

#[test]
fn a_load_without_a_good_reply_says_what_was_bad() {
    let silent = good();
    assert_eq!(nothing_answered(&silent), "no valid reply in the window");
    let errors = ErrorCounts { timeout: 2, socket: 1, ..ErrorCounts::default() };
    let counted = LoadReport { errors, ..good() };
    assert!(nothing_answered(&counted).ends_with("in the window: 2 timeout, 1 socket"));
    let shown = LoadReport { error_examples: vec!["404".to_owned().into()], ..counted };
    assert!(nothing_answered(&shown).ends_with("in the window: 404"));
}

#[test]
fn a_limit_of_the_control_group_comes_first_and_no_other_is_blamed() {
    let kinds = |throttled_ns| {
        let reasons = Evidence {
            machine: machine(0.5, throttled_ns),
            verification: Verification::LeftOut,
            ..evidence(counted(0.3, 0.3))
        }
        .reasons();
        reasons.iter().map(|reason| reason.kind).collect::<Vec<_>>()
    };
    let spoiled = [ReasonKind::Throttled, ReasonKind::NotVerified];
    assert_eq!(kinds(100_000_000), spoiled);
    let noted = [ReasonKind::NotVerified, ReasonKind::Throttled, ReasonKind::Neighbour];
    assert_eq!(kinds(1_000_000), noted);
}

#[test]
fn who_waited_for_a_cpu_that_others_had_is_not_told_to_have_waited_for_the_other_side() {
    for (waited, weight, count) in [(0.05, Weight::Note, 2), (0.5, Weight::Invalid, 1)] {
        let reasons =
            Evidence { machine: machine(waited, 0), ..evidence(counted(0.3, 0.3)) }.reasons();
        assert_eq!(reasons.len(), count);
        assert_eq!(reasons[count - 1].weight, weight);
    }
}

#[test]
fn a_server_that_writes_much_is_named_instead_of_the_program_that_reads_it() {
    let reasons = |stderr_bytes| {
        let reasons = Evidence {
            machine: machine(0.5, 0),
            end: ServerEnd { stderr_bytes, ..ServerEnd::default() },
            ..evidence(counted(0.99, 0.6))
        }
        .reasons();
        reasons.into_iter().map(|reason| (reason.kind, reason.weight)).collect::<Vec<_>>()
    };
    assert_eq!(reasons(1000), [(ReasonKind::Neighbour, Weight::Invalid)]);
    assert_eq!(reasons(1 << 20), [(ReasonKind::Stderr, Weight::Invalid)]);
}
