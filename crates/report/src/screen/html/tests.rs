//! The page of a run from fixture journals: its text, its pictures, hostile names, its size.

use super::*;
use crate::distribution::tests::summary_of;
use crate::{
    document::Look,
    fixtures::{
        add, assert_golden_page, changed, cost, failed, journal, limited, noisy, pair, rate, reason,
    },
};
use wirebench_schema::{
    journal::{Instance, Journal, Outcome, ReasonKind, Visit, Weight},
    scenario::Scenario,
};

const FACTS: Facts<'_> = Facts {
    machine: Some("AMD EPYC"),
    elapsed: None,
    look: Look::Plain,
    columns: None,
    folder: None,
    gate: None,
};

pub(crate) fn page_of(journal: &Journal) -> Document {
    page(&Analysis::of(journal), &FACTS)
}

/// Adds to each run what a cohort observes: visits, of which one is disturbed, the instance's CPU time,
/// and a distribution of latency.
fn observe(journal: &mut Journal) {
    let samples: Vec<u64> = (1..=2000).map(|it| 50_000 + 40_000_000 / (2001 - it)).collect();
    let summary = summary_of(&samples, 0);
    for (place, run) in journal.runs.iter_mut().enumerate() {
        let Outcome::Measured(measured) = &mut run.outcome else { continue };
        let Some(cpu_ns) = measured.cost.cpu_ns_per_request else { continue };
        let visit = |round: u32| {
            let (place, turn) = (place as u32 % 7, f64::from(round % 3));
            let drift = 1.0 + 0.02 * turn + 0.01 * f64::from(place);
            Visit {
                round,
                start_ns: u64::from(round * 8 + place) * 100_000_000,
                length_ns: 100_000_000,
                requests: 10_000,
                cpu_ns: Some((cpu_ns * drift * 1e4) as u64),
                dropped: (round == 3).then_some(ReasonKind::Stolen),
                ..Visit::default()
            }
        };
        measured.visits = (0..10).map(visit).collect();
        let (user_ns, kernel_ns) = (300_000_000, 700_000_000 + 10_000_000 * place as u64);
        measured.instance = Some(Instance { user_ns, kernel_ns, ..Instance::default() });
        measured.load.latency = Some(summary.clone());
    }
}

/// Three servers saturated and at a rate; one is disturbed, and one has failed at the rate.
pub(crate) fn run() -> Journal {
    let mut journal = pair(1.0);
    let with_cost = |cpu_ns: f64| {
        move |value| {
            changed(rate(value), |it| it.cost.cpu_ns_per_request = Some(cpu_ns * 1e5 / value))
        }
    };
    journal.runs.clear();
    for (row, turn, cpu_ns) in
        [(("c/epoll", 0), 1, 4000.0), (("c/epoll", 1), 5, 4000.0), (("go/net", 0), 2, 5000.0)]
    {
        add(&mut journal, "hello", row, noisy(1e5, turn), with_cost(cpu_ns));
    }
    add(&mut journal, "hello", ("own/server", 0), noisy(1e5, 4), with_cost(3000.0));
    let mut at_rate = journal.start.workloads[0].at_rate(20_000_u64);
    at_rate.name = "hello-at-rate".to_owned();
    at_rate.phase = wirebench_schema::suite::Phase::Cost;
    journal.start.workloads.push(at_rate);
    for (row, turn) in [(("c/epoll", 0), 1), (("c/epoll", 1), 5)] {
        add(&mut journal, "hello-at-rate", row, noisy(6000.0, turn), cost);
    }
    let disturbed =
        |value| changed(cost(value), |it| it.reasons.push(reason(Weight::Invalid, "lost")));
    add(&mut journal, "hello-at-rate", ("go/net", 0), noisy(9000.0, 2), disturbed);
    add(&mut journal, "hello-at-rate", ("own/server", 0), [0.0; 6], |_| failed("did not start"));
    observe(&mut journal);
    journal
}

#[test]
fn a_run_as_a_page() {
    assert_golden_page("run.html", &page_of(&run()).html());
}

/// An echo with two servers over three numbers of connections; the load generator limits one of them.
fn scaling() -> Journal {
    let mut journal = journal();
    let first = journal.start.workloads[0].clone();
    journal.start.workloads.clear();
    journal.runs.clear();
    for (place, connections) in [10_usize, 100, 1000].into_iter().enumerate() {
        let name = format!("echo-c{connections}");
        let mut workload = first.clone();
        workload.name.clone_from(&name);
        (workload.scenario, workload.payload_bytes) = (Scenario::Echo, 128);
        workload.connections = connections;
        journal.start.workloads.push(workload);
        let values = |turn: usize, share: f64| {
            noisy(1e5, turn).map(|it| it * share / (1.0 + place as f64 / 4.0))
        };
        for (row, turn) in [(("c/epoll", 0), 1), (("c/epoll", 1), 5)] {
            add(&mut journal, &name, row, values(turn, 1.0), |it| limited(rate(it)));
        }
        add(&mut journal, &name, ("go/net", 0), values(2, 0.7), rate);
    }
    journal
}

#[test]
fn loads_that_differ_in_their_connections_have_a_picture() {
    assert_golden_page("scaling.html", &page_of(&scaling()).html());
}

#[test]
fn names_from_elsewhere_are_only_text() {
    let mut journal = run();
    journal.start.suite = "<script>alert(1)</script>\u{202e}".to_owned();
    let page =
        page(&Analysis::of(&journal), &Facts { machine: Some("</p><b x=\"\">"), ..FACTS }).html();
    assert!(page.matches("<script").count() == 1 && !page.contains("<b "), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;\u{fffd}"), "{page}");
}

#[test]
fn a_run_of_60_servers_under_8_loads_is_below_4_megabytes() {
    let mut journal = journal();
    journal.start.blocks = 10;
    let first = journal.start.workloads[0].clone();
    let name = |load: usize| if load == 0 { "hello".to_owned() } else { format!("hello-{load}") };
    for load in 1..8 {
        let mut workload = first.at_rate(1000 * load as u64);
        workload.name = name(load);
        workload.phase = wirebench_schema::suite::Phase::Cost;
        journal.start.workloads.push(workload);
    }
    let described = journal.start.variants[0].clone();
    for server in 0..60 {
        let variant = format!("own/server-{server}");
        let variant_id = variant.parse().unwrap();
        journal.start.variants.push(wirebench_schema::journal::Described {
            variant: variant_id,
            ..described.clone()
        });
        for load in 0..8 {
            let values = (0..10).map(|block| 5000.0 + f64::from(server) + f64::from(block % 3));
            add(&mut journal, &name(load), (&variant, 0), values, cost);
        }
    }
    let baseline = (0..10).map(|block| 5000.0 + f64::from(block % 2));
    for load in 0..8 {
        add(&mut journal, &name(load), ("c/epoll", 0), baseline.clone(), cost);
    }
    observe(&mut journal);
    let page = page_of(&journal).html();
    let (table, _) = page.split_once("</table>").unwrap();
    assert_eq!(table.matches("<tr").count(), 2 + 61, "one scenario, all loads next to each other");
    assert_eq!(page.matches("class=\"band\"").count(), 60 * 8);
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
}
