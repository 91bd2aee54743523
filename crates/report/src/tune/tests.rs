//! What is said of synthetic sweeps and searches: where it is fastest, what is inconclusive, who was
//! the limit, and in which sentence a search ends.

use super::*;
use crate::fixtures::{
    NOISE, add_reason, alter_all, assert_golden, assert_golden_cases, assert_golden_page, changed,
    failed, journal_of, limited, measured, noisy, rate, reason, run, with_reason,
};
use crate::{format::Format, schemas::tests::valid, view::tests::figure_of};
use wirebench_schema::{
    journal::{
        Counts, End, EndReason, Outcome, ReasonKind, Run, SearchLimit, SearchResult, SearchSpec,
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

#[test]
fn the_highest_cell_is_named_and_so_are_those_that_are_not_slower() {
    for blocks in [6, 3] {
        let journal = sweep(blocks);
        use CellRank::{Alike, Best, Slower};
        let found = places(&journal, [(1, 50), (2, 50), (1, 10), (2, 10)]);
        assert_eq!(found, [Best, Alike, Slower, Slower], "{blocks}");
    }
    let shown = [6, 3].map(|blocks| (format!("{blocks} blocks"), text(&sweep(blocks))));
    assert_golden_cases("tune/sweep-blocks.txt", shown);
}

#[test]
fn a_plain_difference_is_found_with_three_blocks() {
    let mut journal = sweep(3);
    for run in journal.runs.iter_mut().filter(|run| run.workload == "workers-2-connections-50") {
        run.outcome = rate(90_000.0 * NOISE[run.block as usize]);
    }
    assert_golden("tune/sweep-plain-difference.txt", &text(&journal));
}

#[test]
fn a_sweep_that_ended_early_claims_nothing() {
    let mut journal = sweep(6);
    journal.runs.retain(|run| run.block < 2);
    let early = text(&journal);
    journal.runs.retain(|run| run.workload == "workers-1-connections-50");
    let cases = [("two blocks", early), ("one cell", text(&journal))];
    assert_golden_cases("tune/sweep-early.txt", cases);
    journal.end = Some(End { ended: String::new(), reason: EndReason::Budget });
    journal.start.goal.budget = Some(std::time::Duration::from_secs(20));
    assert!(text(&journal).contains("; stopped after the budget of 20s\n"));
}

#[test]
fn more_workers_than_cpus_are_said_to_share_them() {
    let mut journal = sweep(6);
    let shared = text(&journal);
    journal.start.placement.server_cpus = vec![0, 2];
    let cases = [("one server CPU", shared), ("two server CPUs", text(&journal))];
    assert_golden_cases("tune/sweep-cpus.txt", cases);
}

#[test]
fn cells_where_the_generator_was_at_its_limit_are_marked() {
    let mut journal = sweep(6);
    let last = journal.runs.iter_mut().find(|run| run.workload == "workers-1-connections-50");
    let last = last.unwrap();
    last.outcome = limited(last.outcome.clone());
    assert_golden("tune/sweep-generator-limit.txt", &text(&journal));
}

#[test]
fn a_cell_that_is_a_bound_or_shares_no_block_with_the_best_is_not_called_slower() {
    let mut journal = sweep(6);
    journal.runs.retain(|run| run.workload != "workers-2-connections-50");
    for run in journal.runs.iter_mut().filter(|run| run.workload == "workers-1-connections-10") {
        run.outcome = limited(run.outcome.clone());
    }
    assert_eq!(places(&journal, [(1, 10), (2, 10)]), [CellRank::Unknown, CellRank::Slower]);
    let bound = text(&journal);
    journal.runs.retain(|run| {
        let is_best = run.workload == "workers-1-connections-50";
        if is_best { run.block < 2 } else { run.block >= 2 }
    });
    assert_eq!(places(&journal, [(2, 10)]), [CellRank::Unknown]);
    let cases = [("bound", bound), ("no common block", text(&journal))];
    assert_golden_cases("tune/sweep-not-compared.txt", cases);
}

#[test]
fn what_speaks_against_figures_and_what_failed_is_shown() {
    let mut journal = sweep(6);
    journal.runs[0].outcome = measured(60_000.0, 0, &["it rained"]);
    for run in journal.runs.iter_mut().filter(|run| run.workload == "workers-2-connections-10") {
        run.outcome = failed("it fell over");
    }
    assert_golden("tune/sweep-failed.txt", &text(&journal));
}

#[test]
fn a_combination_that_is_not_valid_is_not_compared_and_a_void_tail_is_not_shown() {
    let mut journal = sweep(6);
    let is_of = |name: &'static str| move |run: &Run| run.workload == name;
    let [wrong, bound] =
        [(ReasonKind::WrongReplies, Weight::Invalid), (ReasonKind::LowerBound, Weight::Tail)]
            .map(|(kind, weight)| kind.reason(weight, None, ""));
    add_reason(&mut journal, is_of("workers-1-connections-10"), &wrong);
    add_reason(&mut journal, is_of("workers-1-connections-50"), &bound);
    assert_eq!(places(&journal, [(1, 10), (2, 10)]), [CellRank::Unknown, CellRank::Slower]);
    assert!(text(&journal).contains("1 worker and 50 connections (p99 -;"));
}

#[test]
fn a_sweep_without_a_run_says_so_and_shows_no_table() {
    let mut journal = sweep(6);
    journal.runs.clear();
    assert_golden("tune/sweep-empty.txt", &text(&journal));
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
        (it.cost.cpu_share, it.cost.busiest_thread_share) = (0.5, 0.5);
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
    assert_golden_cases("tune/search-limits.txt", shown);
}

#[test]
fn both_results_in_all_forms() {
    for (name, journal, cells) in [("sweep", sweep(6), 4), ("search", search(Some(FOUND)), 1)] {
        let tuned = Tuned::of(&journal).unwrap();
        assert_golden(&format!("tune/{name}.txt"), &tuned.details());
        assert_golden(&format!("tune/{name}.md"), &tuned.markdown());
        let json = valid("result", &tuned.json());
        assert_eq!(json["cells"].as_array().unwrap().len(), cells, "{name}");
        let p99 = if name == "search" { 2e6 } else { 1.5e6 };
        assert_eq!(figure_of(&json["cells"][0], "latency_ns_p99")["value"], p99, "{name}");
        assert_golden_page(&format!("{name}.html"), &Format::Html.write(&tuned, None).text);
    }
}

#[test]
fn a_search_of_an_older_journal_says_how_it_was_confirmed() {
    let line = r#"{"requests_per_second":61000,"held":3,"confirmations":3,"missed":62000,
                   "limit":"server"}"#;
    let found: SearchResult = serde_json::from_str(line).unwrap();
    let cases =
        [("confirmed", found), ("not", SearchResult { confirmations: 0, held: 0, ..found })];
    let shown = cases.map(|(name, found)| (name, conclusion(&search(Some(found)))));
    assert_golden_cases("tune/search-older.txt", shown);
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
    assert_golden_cases("tune/search-nothing.txt", cases);
}

#[test]
fn a_larger_limit_is_no_advice_where_replies_fail() {
    let nothing = SearchResult { requests_per_second: None, low: None, high: None, ..FOUND };
    for found in [nothing, FOUND] {
        let mut journal = search(Some(found));
        alter_all(&mut journal, |it| {
            (it.cost.cpu_share, it.cost.busiest_thread_share) = (0.5, 0.5);
        });
        assert!(conclusion(&journal).contains("try a larger limit"), "{found:?}");
        alter_all(&mut journal, |it| it.load.errors.status = 3);
        let text = text(&journal);
        assert!(!text.contains("larger limit"), "{text}");
        assert_eq!(text.contains("find out why replies fail"), found == nothing, "{text}");
    }
}

#[test]
fn too_few_samples_for_the_objective_are_reported() {
    let mut journal = search(Some(FOUND));
    alter_all(&mut journal, |it| {
        it.load.latency.as_mut().unwrap().count = 999;
    });
    assert_golden("tune/search-few-samples.txt", &conclusion(&journal));
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

#[test]
fn a_server_that_misses_with_time_to_spare_was_held_up() {
    let of = |limit, share| {
        let mut journal = search(Some(SearchResult { limit, ..FOUND }));
        alter_all(&mut journal, |it| {
            (it.cost.cpu_share, it.cost.busiest_thread_share) = (share, share);
        });
        conclusion(&journal)
    };
    let cases = [
        ("server, 55 % busy", of(SearchLimit::Server, 0.55)),
        ("server, 85 % busy", of(SearchLimit::Server, 0.85)),
        ("generator, 55 % busy", of(SearchLimit::Generator, 0.55)),
    ];
    assert_golden_cases("tune/search-stalled.txt", cases);
}
