//! The page of a run from fixture journals: its text, its pictures, hostile names, its size.

use super::*;
use crate::{
    fixtures::{add, assert_golden, changed, cost, failed, journal, noisy, pair, rate, reason},
    tune::Look,
};
use wirebench_schema::journal::Weight;

const FACTS: Facts<'_> = Facts { machine: Some("AMD EPYC"), elapsed: None, look: Look::Plain };

/// Three servers saturated and at a rate; one is disturbed, and one has failed at the rate.
fn run() -> Journal {
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
    let mut at_rate = journal.start.workloads[0].at_rate(20_000);
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
    journal
}

#[test]
fn a_run_as_a_page() {
    assert_golden("page/run.html", &page(&run(), &FACTS));
}

#[test]
fn each_ratio_that_may_be_compared_has_a_picture_with_a_ring_for_each_cohort() {
    let page = page(&run(), &FACTS);
    assert_eq!(page.matches("role=\"img\"").count(), 2, "go/net and own/server, saturated");
    assert_eq!(page.matches("class=\"cohort\"").count(), 2 * 6);
}

#[test]
fn names_from_elsewhere_are_only_text() {
    let mut journal = run();
    journal.start.suite = "<script>alert(1)</script>\u{202e}".to_owned();
    let page = page(&journal, &Facts { machine: Some("</p><b onclick=\"x\">"), ..FACTS });
    assert!(!page.contains("<script") && !page.contains("<b "), "{page}");
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
    let page = page(&journal, &FACTS);
    assert_eq!(page.matches("<tr>").count(), 2 + 61, "one scenario, all loads next to each other");
    assert_eq!(page.matches("role=\"img\"").count(), 60 * 8);
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
}
