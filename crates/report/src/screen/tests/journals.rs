//! From fixture journals to models: rows, loads next to each other, what is hidden and why.

use super::*;
use crate::analysis::MetricFacts;
use crate::fixtures::{
    add, alter_last, alter_runs, assert_golden_differences, cost, failed, noisy, pair, rate,
    reason, silence, silent, trio, verified,
};
use wirebench_schema::journal::{
    Bound, Cause, End, EndReason, Journal, Measurement, Owner, ProgramShare, ReasonKind, Run,
    RunSide, Unavailable, Visit, Weight,
};

/// Six blocks of three servers: hello saturated, and at two rates.
fn two_rates() -> Journal {
    let mut journal = pair(1.0);
    add(&mut journal, "hello", ("own/server", 0), noisy(60e3, 4), rate);
    for rate in [20_000, 40_000] {
        let name = format!("hello-{rate}");
        let mut workload = journal.start.workloads[0].at_rate(rate);
        workload.name.clone_from(&name);
        workload.phase = wirebench_schema::suite::Phase::Cost;
        journal.start.workloads.push(workload);
        trio(&mut journal, &name, (4000.0, 4800.0), cost);
        add(&mut journal, &name, ("own/server", 0), noisy(3200.0, 2), cost);
    }
    journal.end = Some(End { ended: String::new(), reason: EndReason::Complete });
    journal
}

fn shown(journal: &Journal) -> String {
    let text = page(&Analysis::of(journal), &Facts::default());
    assert!(width(&text) <= WIDTH, "{text}");
    text
}

/// Changes the outcomes of all runs of a row.
fn change(journal: &mut Journal, (variant, workload): (&str, &str), by: impl Fn(&mut Measurement)) {
    let is_meant = |run: &Run| run.variant.to_string() == variant && run.workload == workload;
    alter_runs(journal, is_meant, by);
}

/// A run that differs from the first one.
type Case = (&'static str, fn(&mut Journal));

const CASES: [Case; 12] = [
    ("loads of a scenario are next to each other, and the baseline comes first", |_| ()),
    ("a row that was not saturated is named; rows at a rate wait by design", |it| {
        change(it, ("go/net", "hello"), |it| it.bound = Bound::Neither);
    }),
    ("a rate that was not held hides the figures of the row", |it| {
        change(it, ("go/net", "hello-40000"), |it| {
            it.reasons.push(ReasonKind::BelowRate.reason(Weight::Invalid, Some(0.8), "80 %"));
        });
    }),
    ("a disturbed row is not compared, and a disturbed tail is hidden", disturb),
    ("a condition that was asked for is stated once and hides nothing", |it| {
        for row in ["c/epoll", "go/net", "own/server"] {
            change(it, (row, "hello-20000"), |it| {
                it.reasons.push(ReasonKind::NotPinned.reason(Weight::Invalid, None, ""));
            });
        }
    }),
    ("one disturbed run of six hides nothing", |it| {
        alter_last(it, |it| it.reasons.push(reason(Weight::Invalid, "2 errors")));
    }),
    ("a server that closes after every reply is compared, and its line says so", |it| {
        change(it, ("go/net", "hello"), |it| {
            it.reasons.push(ReasonKind::ClosesAfterReply.reason(Weight::Note, Some(9.0), ""));
        });
    }),
    ("with CPUs of its own a server does not wait for the generator", wait),
    ("on shared CPUs the scheduler has a part in each request", |it| {
        wait(it);
        it.start.placement.disjoint = false;
        // Then the two sides together are the bottleneck.
        change(it, ("go/net", "hello"), |it| it.bound = Bound::Neither);
    }),
    ("idle connections have columns of memory", |it| {
        let (journal, name) = silent();
        *it = journal;
        trio(it, &name, (100.0, 4096.0), silence);
    }),
    ("without figures", |it| *it = crate::fixtures::journal()),
    ("what was not measured is listed with its reason", |it| {
        it.start.workloads.truncate(2);
        for run in it.runs.iter_mut().filter(|run| run.variant.to_string() == "own/server") {
            run.outcome = failed("the server ended");
        }
        it.runs.retain(|run| run.variant.to_string() != "go/net");
        it.verified.push(verified("go/net", &[("reply-once", "it sent more")], &[]));
        let (variant, reason) = ("d/vibe".parse().unwrap(), "no compiler".into());
        it.unavailable.push(Unavailable { variant, reason, cause: Cause::Missing });
    }),
];

fn wait(journal: &mut Journal) {
    for (row, ns) in [("c/epoll", 5_000_000), ("go/net", 5_000_000), ("own/server", 9_000_000)] {
        change(journal, (row, "hello"), |it| {
            (it.load.requests, it.cost.processes) = (1000, 1);
            (it.cost.run_queue_ns, it.cost.context_switches_involuntary) = (Some(ns), 250);
        });
    }
}

fn disturb(journal: &mut Journal) {
    change(journal, ("go/net", "hello-20000"), |it| {
        let reason = ReasonKind::Neighbour.reason(Weight::Invalid, Some(0.4), "");
        let python = ProgramShare { name: "python3".into(), owner: Owner::Other, share: 0.4 };
        it.reasons.push(reason.by(&[python]));
    });
    for row in ["c/epoll", "go/net", "own/server"] {
        change(journal, (row, "hello-40000"), |it| {
            let reason = ReasonKind::Neighbour.reason(Weight::Tail, Some(0.02), "");
            it.reasons.push(reason.of(RunSide::Generator));
        });
    }
}

#[test]
fn pages_have_what_must_be_known_of_their_rows() {
    let shown = CASES.map(|(name, change)| {
        let mut journal = two_rates();
        change(&mut journal);
        (name, shown(&journal))
    });
    assert!(shown[0].1.lines().count() < 20, "{}", shown[0].1);
    assert_golden_differences("page/texts.txt", shown);
}

#[test]
fn the_next_step_is_about_programs_that_can_be_stopped() {
    let step = |journal: &Journal| causes(&Analysis::of(journal)).1;
    let mut journal = two_rates();
    disturb(&mut journal);
    assert_eq!(step(&journal), Some("stop these programs and measure again"));
    change(&mut journal, ("go/net", "hello-20000"), |it| it.reasons.clear());
    assert_eq!(step(&journal), Some("measure for longer, or on another machine"));
}

#[test]
fn a_load_has_one_headline_figure_in_every_form() {
    let journal = two_rates();
    let analysis = Analysis::of(&journal);
    let model = Model::of(&analysis);
    let report = crate::build::run(&analysis, None);
    let details = crate::table::document(&analysis, None, None).text(Paint::FILE);
    for (group, load) in model.blocks[0].groups.iter().zip(&report.loads) {
        assert_eq!((group.metric(), group.metric().field()), (Metric::Cpu, load.primary_metric));
        assert_eq!(group.columns[0], cells::Column::Figure(Metric::Cpu));
    }
    // The tables of the details have it in front of the ratio, which then needs no name.
    let is_head = |line: &&str| line.contains(" request  ") && line.contains("  ratio  ");
    assert_eq!(details.lines().filter(is_head).count(), 3, "{details}");
}

#[test]
fn a_figure_is_a_bound_if_most_runs_were_limited_by_the_generator() {
    for (limited_runs, is_bound) in [(1, false), (2, false), (3, true), (6, true)] {
        let mut journal = pair(1.0);
        let is_meant = |run: &Run| run.variant.to_string() == "go/net" && run.block < limited_runs;
        alter_runs(&mut journal, is_meant, |it| it.bound = Bound::Generator);
        let text = shown(&journal);
        assert_eq!(text.contains(">="), is_bound, "{limited_runs}: {text}");
    }
}

#[test]
fn only_programs_that_the_user_can_stop_are_to_be_stopped_and_the_rest_is_one_line() {
    let page_of = |programs: &[(&str, Owner, f64)]| {
        let mut journal = two_rates();
        let share =
            |&(name, owner, share): &(&str, _, _)| ProgramShare { name: name.into(), owner, share };
        change(&mut journal, ("go/net", "hello-20000"), |it| {
            let reason = ReasonKind::Neighbour.reason(Weight::Invalid, Some(0.4), "");
            it.reasons.push(reason.by(&programs.iter().map(share).collect::<Vec<_>>()));
        });
        let text = shown(&journal);
        let lines = text.lines().skip_while(|line| !line.starts_with("    go/net"));
        lines.collect::<Vec<_>>().join("\n") + "\n\n"
    };
    let kernel = ("kernel threads", Owner::Kernel, 0.9);
    let users = ("other users", Owner::OtherUsers, 0.05);
    let texts = [
        page_of(&[kernel, ("rustc", Owner::Other, 0.3), users]),
        page_of(&[kernel, users, ("sh", Owner::Other, 0.002)]),
    ];
    expect_test::expect![[r#"
            go/net hello at 20k/s: other work took 40 % of the CPU time of server or generator (rustc);
              ratios of different programs may shift beside other work
            other work took 95.0 % of a CPU that cannot be stopped from here: kernel threads, other users
        Next: stop these programs and measure again.

            go/net hello at 20k/s: other work took 40 % of the CPU time of server or generator (kernel
              threads, other users); ratios of different programs may shift beside other work
            other work took 95.0 % of a CPU that cannot be stopped from here: kernel threads, other users
        Next: measure for longer, or on another machine.

    "#]].assert_eq(&texts.concat());
}

#[test]
fn a_baseline_that_is_not_valid_leaves_no_comparison() {
    let mut journal = two_rates();
    change(&mut journal, ("c/epoll", "hello-20000"), |it| {
        it.reasons.push(reason(Weight::Invalid, "2 errors"));
    });
    let analysis = Analysis::of(&journal);
    let group = &Model::of(&analysis).blocks[0].groups[1];
    assert_eq!(group.with(cells::Outcome::Withheld).count(), 3);
}

#[test]
fn a_run_that_goes_on_has_its_table_and_nothing_else() {
    let mut journal = two_rates();
    journal.end = None;
    journal.start.blocks = 10;
    journal.runs.retain(|run| run.workload == "hello");
    let facts = Facts::default();
    let text = live_page(&journal, &facts);
    assert_golden("page/a-run-that-goes-on-has-its-table-and.txt", &text);
    journal.runs.clear();
    assert!(!live_page(&journal, &facts).is_empty());
    assert!(shown(&journal).contains("(cut off)"), "{}", shown(&journal));
}

#[test]
fn waking_has_a_column_of_each_load_in_both_idle_modes_and_a_legend() {
    let mut journal = two_rates();
    let visit = |cpu_ns: u64| Visit {
        requests: 1,
        cpu_ns: Some(cpu_ns),
        latency_ns_p50: Some(cpu_ns),
        ..Visit::default()
    };
    let in_both = |run: &Run| run.workload == "hello-20000";
    alter_runs(&mut journal, in_both, |it| {
        (it.visits, it.natural_visits) = (vec![visit(13_000)], vec![visit(16_560)]);
    });
    let text = shown(&journal);
    assert_eq!((text.matches("waking").count(), text.matches("+3.6").count()), (2, 3), "{text}");
    let html = crate::screen::html::page(&Analysis::of(&journal), &Facts::default()).html();
    assert!(html.contains("waking: CPU us") && html.contains(">+3.6<"), "{html}");
}
