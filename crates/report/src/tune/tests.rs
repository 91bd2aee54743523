//! What is said of synthetic sweeps and searches: where it is fastest, what is inconclusive, who was
//! the limit, and in which sentence a search ends.

use super::*;
use crate::fixtures::{
    NOISE, add_reason, alter_all, assert_golden, assert_golden_differences, assert_golden_page,
    changed, failed, journal_of, limited, measured, noisy, rate, reason, run, with_reason,
};
use crate::{format::Format, schemas::tests::valid, view::tests::figure_of};
use wirebench_schema::{
    journal::{
        Counts, End, EndReason, Measurement, Outcome, ReasonKind, Run, SearchLimit, SearchResult,
        SearchSpec,
    },
    load::{LatencySummary, Offered},
};

const SWEEP: &str = r#"
description = "An example."
blocks = 6
[[workload]]
name = "workers-1-connections-{connections}"
scenario = "hello"
workers = 1
connections = [10, 50]
duration = "1s"
[[workload]]
name = "workers-2-connections-{connections}"
scenario = "hello"
workers = 2
connections = [10, 50]
duration = "1s"
"#;

/// One worker with 50 connections is a little faster than two, and 10 connections are far slower.
fn sweep(blocks: usize) -> Journal {
    let mut journal = journal_of(SWEEP);
    journal.start.suite = SUITE.to_owned();
    journal.start.blocks = u32::try_from(blocks).unwrap();
    for (workload, middle, turn) in [
        ("workers-1-connections-10", 60_000.0, 1),
        ("workers-1-connections-50", 100_500.0, 5),
        ("workers-2-connections-10", 50_000.0, 1),
        ("workers-2-connections-50", 100_000.0, 1),
    ] {
        for (block, value) in (0..).zip(noisy(middle, turn)).take(blocks) {
            journal
                .runs
                .push(Run { workload: workload.into(), ..run(block, "c/epoll", rate(value)) });
        }
    }
    journal
}

fn text(journal: &Journal) -> String {
    Tuned::of(journal).unwrap().details()
}

/// The places of the combinations with this many workers and connections.
fn places<const N: usize>(journal: &Journal, combinations: [(u32, usize); N]) -> [CellRank; N] {
    let tuned = Tuned::of(journal).unwrap();
    let Tuning::Sweep(sweep) = &tuned.tuning else { panic!("a search") };
    combinations
        .map(|(workers, connections)| sweep.cell(workers, connections).unwrap().place.unwrap())
}

fn conclusion(journal: &Journal) -> String {
    text(journal).rsplit("\n\n").next().unwrap().to_owned()
}

/// A line for the conclusion of each case, and more for its notes.
fn lines_of<T: std::fmt::Display>(cases: impl IntoIterator<Item = (T, String)>) -> String {
    cases.into_iter().map(|(name, conclusion)| format!("{name}: {conclusion}")).collect()
}

/// The runs of a combination.
fn of<'j>(journal: &'j mut Journal, name: &str) -> impl Iterator<Item = &'j mut Run> {
    journal.runs.iter_mut().filter(move |run| run.workload == name)
}

/// Without the second best combination, and with a bound in another one.
fn bound(journal: &mut Journal) {
    journal.runs.retain(|run| run.workload != "workers-2-connections-50");
    of(journal, "workers-1-connections-10")
        .for_each(|run| run.outcome = limited(run.outcome.clone()));
}

fn without_common_block(journal: &mut Journal) {
    bound(journal);
    journal.runs.retain(|run| (run.workload == "workers-1-connections-50") == (run.block < 2));
}

/// A sweep that differs from the first one.
type Case = (&'static str, fn(&mut Journal));

const SWEEPS: [Case; 10] = [
    ("one server CPU", |_| ()),
    ("two server CPUs", |it| it.start.placement.server_cpus = vec![0, 2]),
    ("three blocks and a plain difference", |it| {
        *it = sweep(3);
        for run in of(it, "workers-2-connections-50") {
            run.outcome = rate(90_000.0 * NOISE[run.block as usize]);
        }
    }),
    ("two blocks claim nothing", |it| it.runs.retain(|run| run.block < 2)),
    ("nor does one cell, after a budget", |it| {
        it.runs.retain(|run| run.block < 2 && run.workload == "workers-1-connections-50");
        it.end = Some(End { ended: String::new(), reason: EndReason::Budget });
        it.start.goal.budget = Some(std::time::Duration::from_secs(20));
    }),
    ("the generator was at its limit", |it| {
        let best = of(it, "workers-1-connections-50").next().unwrap();
        best.outcome = limited(best.outcome.clone());
    }),
    ("a cell that is a bound is not called slower", bound),
    ("nor is one that shares no block with the best", without_common_block),
    ("what speaks against figures and what failed", |it| {
        it.runs[0].outcome = measured(60_000.0, 0, &["it rained"]);
        of(it, "workers-2-connections-10").for_each(|run| run.outcome = failed("it fell over"));
    }),
    ("without a run", |it| it.runs.clear()),
];

#[test]
fn a_sweep_names_the_highest_cell_and_what_qualifies_it() {
    let cases = SWEEPS.map(|(name, change)| {
        let mut journal = sweep(6);
        change(&mut journal);
        (name, text(&journal))
    });
    assert_golden_differences("tune/sweeps.txt", cases);
}

#[test]
fn cells_that_are_bounds_void_or_without_a_common_block_are_not_called_slower() {
    use CellRank::{Alike, Best, Slower, Unknown};
    for blocks in [6, 3] {
        let found = places(&sweep(blocks), [(1, 50), (2, 50), (1, 10), (2, 10)]);
        assert_eq!(found, [Best, Alike, Slower, Slower], "{blocks}");
    }
    let mut journal = sweep(6);
    bound(&mut journal);
    assert_eq!(places(&journal, [(1, 10), (2, 10)]), [Unknown, Slower]);
    without_common_block(&mut journal);
    assert_eq!(places(&journal, [(2, 10)]), [Unknown]);
    let mut journal = sweep(6);
    let is_of = |name: &'static str| move |run: &Run| run.workload == name;
    let [wrong, bound] =
        [(ReasonKind::WrongReplies, Weight::Invalid), (ReasonKind::LowerBound, Weight::Tail)]
            .map(|(kind, weight)| kind.reason(weight, None, ""));
    add_reason(&mut journal, is_of("workers-1-connections-10"), &wrong);
    add_reason(&mut journal, is_of("workers-1-connections-50"), &bound);
    assert_eq!(places(&journal, [(1, 10), (2, 10)]), [Unknown, Slower]);
    let text = text(&journal);
    assert!(
        text.contains("1 worker and 50 connections (p99 -;"),
        "a void tail is not shown: {text}"
    );
}

#[test]
fn results_of_other_verbs_are_no_tuning() {
    let mut journal = sweep(6);
    journal.start.suite = "quick".to_owned();
    assert!(Tuned::of(&journal).is_none());
    (journal.start.suite, journal.start.workloads) = (SUITE.to_owned(), Vec::new());
    assert!(Tuned::of(&journal).is_none());
}

/// A run at a rate that answers all after `latency_ns`.
fn at_rate(due: u64, latency_ns: u64) -> Run {
    let outcome = changed(rate(due as f64), |it| {
        let workload = journal_of(SWEEP).start.workloads.remove(0).at_rate(due);
        it.load.config.model = workload.model;
        let (waiting, requests_per_second) = ([0; 3], due as f64);
        it.load.offered = Some(Offered { due, owed_at_end: 0, waiting, requests_per_second });
        let latency = it.load.latency.as_mut().unwrap();
        *latency = LatencySummary { count: due, latency_ns_p99: latency_ns, ..latency.clone() };
    });
    Run { workload: "rate".into(), counts: Counts::Pilot, ..run(0, "c/epoll", outcome) }
}

pub(crate) fn search(found: Option<SearchResult>) -> Journal {
    let mut journal = journal_of(
        &SWEEP.replace("workers-1-connections-{connections}", "rate").replace("[10, 50]", "64"),
    );
    journal.start.suite = SUITE.to_owned();
    journal.sought = Some(SearchSpec {
        variant: "c/epoll".parse().unwrap(),
        workload: "rate".into(),
        objectives: vec!["p99 < 2ms".parse().unwrap()],
        precision: 0.03,
        most_runs: None,
        confirmations: 0,
        lowest: 100,
        highest: 1_000_000,
    });
    journal.found = found;
    let outcome = rate(80_000.0);
    journal.runs.push(Run { workload: "closed-loop".into(), ..run(0, "c/epoll", outcome) });
    let rates =
        [(40_000, 1_300_000), (62_000, 2_300_000), (61_000, 1_900_000), (61_000, 2_100_000)];
    for (block, (rate, latency_ns)) in (1..).zip(rates) {
        journal.runs.push(Run { block, ..at_rate(rate, latency_ns) });
    }
    journal
}

pub(crate) const FOUND: SearchResult = SearchResult {
    requests_per_second: Some(61_000),
    low: Some(59_800),
    high: Some(62_100),
    runs: 14,
    held: 0,
    confirmations: 0,
    disturbed: None,
    missed: Some(62_000),
    limit: SearchLimit::Server,
};

#[test]
fn a_search_ends_in_one_sentence_that_says_what_bounds_it() {
    use SearchLimit::{Budget, Generator, HighestRate, Interrupted, Others, Server};
    let limits = [Server, Generator, Others, HighestRate, Budget, Interrupted];
    let by_limit = limits.map(|limit| (format!("{limit:?}"), SearchResult { limit, ..FOUND }));
    let mut disturbed = search(Some(SearchResult { limit: SearchLimit::Budget, ..FOUND }));
    alter_all(&mut disturbed, |it| {
        it.reasons.push(ReasonKind::Neighbour.reason(Weight::Invalid, Some(0.3), ""));
        busy(it, 0.5);
    });
    let disturbed = conclusion(&disturbed);
    assert!(disturbed.contains("(it misses at 62 000 because of other programs)"), "{disturbed}");
    let disturbed = search(Some(SearchResult { disturbed: Some(61_000), ..FOUND }));
    assert!(conclusion(&disturbed).contains("14 runs, no confirmation was undisturbed: repeat on"));
    let by_interval = [
        ("no upper bound", SearchResult { high: None, limit: SearchLimit::Generator, ..FOUND }),
        ("no interval", SearchResult { low: None, high: None, ..FOUND }),
        ("confirmed", SearchResult { held: 1, confirmations: 2, ..FOUND }),
    ];
    let by_interval = by_interval.map(|(name, found)| (name.to_owned(), found));
    let cases = by_limit.into_iter().chain(by_interval);
    let shown = cases.map(|(name, found)| (name, conclusion(&search(Some(found)))));
    let few: fn(&mut Measurement) = |it| it.load.latency.as_mut().unwrap().count = 999;
    let more = [
        ("few samples", Server, few),
        // A server that misses with time to spare was held up.
        ("server, 55 % busy", Server, |it| busy(it, 0.55)),
        ("server, 85 % busy", Server, |it| busy(it, 0.85)),
        ("generator, 55 % busy", Generator, |it| busy(it, 0.55)),
    ];
    let more = more.map(|(name, limit, change)| {
        let mut journal = search(Some(SearchResult { limit, ..FOUND }));
        alter_all(&mut journal, change);
        (name.to_owned(), conclusion(&journal))
    });
    assert_golden("tune/search-limits.txt", &lines_of(shown.chain(more)));
}

/// With this share of the server's CPU time in use.
fn busy(measured: &mut Measurement, share: f64) {
    (measured.cost.cpu_share, measured.cost.busiest_thread_share) = (share, share);
}

#[test]
fn both_results_in_all_forms() {
    for (name, journal, cells) in [("sweep", sweep(6), 4), ("search", search(Some(FOUND)), 1)] {
        let tuned = Tuned::of(&journal).unwrap();
        let json = valid("result", &tuned.json());
        assert_eq!(json["cells"].as_array().unwrap().len(), cells, "{name}");
        let p99 = if name == "search" { 2e6 } else { 1.5e6 };
        assert_eq!(figure_of(&json["cells"][0], "latency_ns_p99")["value"], p99, "{name}");
        assert_golden_page(&format!("{name}.html"), &Format::Html.write(&tuned, None).text);
    }
    assert_golden("tune/search.txt", &text(&search(Some(FOUND))));
}

#[test]
fn a_search_of_an_older_journal_says_how_it_was_confirmed() {
    let line = r#"{"requests_per_second":61000,"held":3,"confirmations":3,"missed":62000,
                   "limit":"server"}"#;
    let found: SearchResult = serde_json::from_str(line).unwrap();
    let cases =
        [("confirmed", found), ("not", SearchResult { confirmations: 0, held: 0, ..found })];
    let shown = cases.map(|(name, found)| (name, conclusion(&search(Some(found)))));
    assert_golden("tune/search-older.txt", &lines_of(shown));
    let line = r#"{"variant":"c/epoll","workload":"rate","objectives":["p99 < 2ms"],"precision":0.02,
                   "confirmations":3,"lowest":100,"highest":1000}"#;
    let sought: SearchSpec = serde_json::from_str(line).unwrap();
    assert_eq!((sought.most_runs, sought.confirmations), (None, 3));
}

#[test]
fn a_search_that_found_nothing_says_why() {
    let nothing = SearchResult { requests_per_second: None, low: None, high: None, ..FOUND };
    use SearchLimit::{Budget, Generator, Interrupted, Others, Server};
    let of = |limit| search(Some(SearchResult { limit, ..nothing }));
    let reasons = with_reason(of(Server), &reason(Weight::Invalid, "it rained"));
    let disturbed = search(Some(SearchResult { disturbed: Some(60_000), ..nothing }));
    let cases = [
        ("Server", reasons),
        ("Generator", of(Generator)),
        ("Others", of(Others)),
        ("Budget", of(Budget)),
        ("disturbed", disturbed),
        ("not finished", search(None)),
    ]
    .map(|(name, journal)| (name, conclusion(&journal)));
    assert_eq!(conclusion(&of(Interrupted)), cases[5].1);
    assert_golden("tune/search-nothing.txt", &lines_of(cases));
}

#[test]
fn a_larger_limit_is_no_advice_where_replies_fail() {
    let nothing = SearchResult { requests_per_second: None, low: None, high: None, ..FOUND };
    for found in [nothing, FOUND] {
        let mut journal = search(Some(found));
        alter_all(&mut journal, |it| busy(it, 0.5));
        assert!(conclusion(&journal).contains("try a larger limit"), "{found:?}");
        alter_all(&mut journal, |it| it.load.errors.status = 3);
        let text = text(&journal);
        assert!(!text.contains("larger limit"), "{text}");
        assert_eq!(text.contains("find out why replies fail"), found == nothing, "{text}");
    }
}

#[test]
fn a_server_that_did_not_start_is_no_rate_but_a_note() {
    let mut journal = search(None);
    journal.runs.truncate(1);
    let outcome = Outcome::Failed { reason: "no port".into(), server_stderr: String::new() };
    journal.runs.push(Run { workload: "rate".into(), ..run(0, "c/epoll", outcome) });
    let text = text(&journal);
    assert!(!text.contains("why not") && text.contains("no port"), "{text}");
}
