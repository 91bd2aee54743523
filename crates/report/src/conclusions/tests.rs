//! Conclusions about synthetic runs in which the truth is known. No figure in them was measured.

use super::*;
use crate::{
    analysis::{Analysis, Metric, Reads},
    document::{Document, Paint},
    fixtures::{
        add, add_reason, alter, alter_runs, assert_golden, journal_of, limited, noisy, rate,
        reason, trio,
    },
};
use wirebench_schema::{
    journal::{Journal, Published, Run, Weight},
    suite::{PublishedFigures, Relation, Suite},
};

const SUITE: &str = r#"
description = "An example."
blocks = 6
[published]
document = "Example"
machine = "a machine"
cpus = 12
placement = "shared"
generator = "their tool"
[[workload]]
name = "{payload}"
scenario = "echo"
connections = 1
payload = ["64", "128"]
duration = "1s"
"#;

const FIGURES: &str = r#"
[rows]
"c/epoll" = { name = "epoll", state = "same-design", clause = "written anew", reason = "it parses" }
"go/net" = { name = "Go", state = "same-design", clause = "written anew", reason = "it copies", measured = "2 writes" }
"own/server" = { name = "own", state = "same-design", clause = "written anew" }
"own/other" = { name = "other", state = "different", clause = "one thread" }
[[table]]
section = "Results"
workloads = ["64", "128"]
columns = ["requests_per_second"]
[table.rows]
"c/epoll" = [1000, 800]
"go/net" = [500, 600]
"own/server" = [505, 400]
"own/other" = [250, 200]
"#;

/// A run in which `go/net` has half of what the baseline serves with 64 bytes, and as much with 128 bytes; `own/server`
/// has as much as `go/net` with 64 bytes, and less with 128 bytes.
fn journal(conclusions: &str) -> Journal {
    let suite = Suite::parse("example", SUITE).unwrap();
    let mut journal = journal_of(SUITE);
    let figures = PublishedFigures::parse(&format!("{FIGURES}{conclusions}"), &suite).unwrap();
    journal.start.published = Some(Box::new(Published {
        document: suite.document.clone().unwrap(),
        blocks: suite.blocks,
        warmup_blocks: suite.warmup_blocks,
        workloads: suite.workloads,
        figures,
    }));
    trio(&mut journal, "64", (100e3, 50e3), rate);
    trio(&mut journal, "128", (80e3, 80e3), rate);
    add(&mut journal, "64", ("own/server", 0), noisy(50e3, 5), rate);
    add(&mut journal, "128", ("own/server", 0), noisy(40e3, 5), rate);
    journal
}

/// A conclusion on requests per second with these keys.
fn conclusion(keys: &str) -> String {
    format!("[[conclusion]]\nsays = \"A sentence\"\ncolumn = \"requests_per_second\"\n{keys}\n")
}

fn of(journal: &Journal) -> Vec<ConclusionReport> {
    judge(&Analysis::of(journal))
}

/// What became of one conclusion.
fn answered(keys: &str) -> (Answer, String) {
    let found = of(&journal(&conclusion(keys))).remove(0);
    (found.answer, words::sizes(&found))
}

fn within(workloads: &str, pairs: &str) -> String {
    format!("workloads = {workloads}\npairs = {pairs}")
}

#[test]
fn a_pair_has_the_answer_of_its_direction_and_its_size() {
    for (workloads, pair, expected) in [
        ("[\"64\"]", "go/net < c/epoll", Answer::Holds),
        ("[\"64\"]", "c/epoll > go/net", Answer::Holds),
        // Neither is the baseline.
        ("[\"64\"]", "own/server = go/net", Answer::Holds),
        // The document has 0.67, and a half is measured.
        ("[\"128\"]", "own/server < go/net", Answer::LargerEffect),
        // The document has 0.75 and 0.5, and 1.0 and 0.5 is measured.
        ("[\"128\"]", "go/net < c/epoll", Answer::NoDifference),
        ("[\"64\", \"128\"]", "go/net < c/epoll", Answer::SmallerEffect),
        // The document has 505 and 500.
        ("[\"64\"]", "own/server > go/net", Answer::NoDifference),
    ] {
        let (answer, _) = answered(&within(workloads, &format!("[\"{pair}\"]")));
        assert_eq!(answer, expected, "{pair} in {workloads}");
    }
}

#[test]
fn what_a_document_calls_the_same_differs_where_it_is_further_apart_than_there() {
    for (factor, published, expected) in [
        (1.0, 1.01, Answer::Holds),
        (1.5, 1.01, Answer::Differs),
        (0.5, 1.01, Answer::Differs),
        (0.95, 0.9, Answer::Holds),
        (0.95, 1.0, Answer::Differs),
    ] {
        let mut journal = journal("");
        alter(&mut journal, "own/server", |it| it.load.requests_per_second *= factor);
        let analysis = Analysis::of(&journal);
        let rows = &analysis.workloads[0];
        let places = ["own/server", "go/net"].map(|it| rows.first_of(&it.parse().unwrap()));
        let ratio = rows.compare_pair(Metric::Throughput, places.map(Option::unwrap)).unwrap();
        let (answer, _) = judge::judged(Relation::Same, published, &ratio);
        assert_eq!(answer, expected, "{factor} times, published {published}");
    }
}

#[test]
fn one_reversed_pair_reverses_a_conclusion_unless_one_pair_is_enough() {
    let mut journal = journal(
        &[
            conclusion(&within("[\"64\"]", "[\"go/net < c/epoll\", \"c/epoll > own/server\"]")),
            conclusion(&(within("[\"64\"]", "[\"c/epoll > *\"]") + "\nsome = true")),
        ]
        .concat(),
    );
    alter(&mut journal, "own/server", |it| it.load.requests_per_second *= 3.0);
    let found = of(&journal);
    let answers: Vec<(Answer, String)> =
        found.iter().map(|it| (it.answer, words::answers(it))).collect();
    assert_eq!(answers[0], (Answer::Reversed, "reversed in 1 of 2 pairs, holds in 1".to_owned()));
    let expected = "holds in 1 of 2 pairs, 1 reversed, 1 not measured";
    assert_eq!(answers[1], (Answer::Holds, expected.to_owned()));
}

#[test]
fn a_row_is_compared_with_itself_in_another_workload_and_relative_to_another_row() {
    let keys = "workloads = [\"128\"]\nagainst = \"64\"\n";
    let (answer, size) = answered(&format!("{keys}pairs = [\"c/epoll < c/epoll\"]\nby = \"20 %\""));
    assert_eq!(answer, Answer::Holds);
    assert!(size.starts_with("0.80 became 0.8"), "{size}");
    // Of the baseline, Go has 0.75 and 0.5 there, and all and a half here.
    let relative = format!("{keys}relative_to = \"c/epoll\"\npairs = [\"go/net > go/net\"]");
    let (answer, size) = answered(&relative);
    assert_eq!(answer, Answer::LargerEffect);
    assert!(size.starts_with("1.50 became 2.0") || size.starts_with("1.50 became 1.9"), "{size}");
}

#[test]
fn a_series_is_answered_by_its_mean_and_one_workload_reverses_nothing() {
    let both = within("[\"64\", \"128\"]", "[\"c/epoll > go/net\"]");
    let mut journal = journal(&conclusion(&both));
    let is_meant = |run: &Run| run.workload == "128" && run.variant.to_string() == "go/net";
    alter_runs(&mut journal, is_meant, |it| it.load.requests_per_second *= 1.2);
    let found = of(&journal).remove(0);
    let pair = &found.pairs[0];
    let each = pair.workloads.iter().map(|it| it.ratio.answer);
    assert_eq!(each.collect::<Vec<_>>(), [Answer::Holds, Answer::Reversed]);
    assert_eq!((found.answer, pair.mean.answer), (Answer::SmallerEffect, Answer::SmallerEffect));
    let [there, here] = [pair.mean.published, pair.mean.measured.unwrap().value];
    let expected = [(2.0f64 * 4.0 / 3.0).sqrt(), (2.0f64 / 1.2).sqrt()];
    assert!(
        (there - expected[0]).abs() < 1e-9 && (here - expected[1]).abs() < 0.01,
        "{there} {here}"
    );
    assert!(words::answers(&found).ends_with(" on average over 2 loads"));
    // A single block says nothing of its noise.
    let first = journal.runs[0].block;
    journal.runs.retain(|run| run.workload != "128" || run.block == first);
    assert_eq!(words::answers(&of(&journal)[0]), "holds");
}

#[test]
fn a_ratio_of_two_workloads_has_the_interval_of_their_paired_differences() {
    let mut journal = journal(&conclusion(
        "workloads = [\"128\"]\nagainst = \"64\"\npairs = [\"own/server < own/server\"]",
    ));
    journal.runs.retain(|run| run.variant.to_string() != "own/server");
    let ratios = [0.70, 0.74, 0.71, 0.75, 0.72, 0.76];
    add(&mut journal, "64", ("own/server", 0), [100e3, 120e3, 90e3, 110e3, 95e3, 105e3], rate);
    let values = [100e3, 120e3, 90e3, 110e3, 95e3, 105e3];
    let values = values.iter().zip(ratios).map(|(base, ratio)| base * ratio);
    add(&mut journal, "128", ("own/server", 0), values, rate);
    let found = of(&journal)[0].pairs[0].mean.measured.unwrap();
    let paired = wirebench_stats::geometric_mean_interval(&ratios).unwrap();
    let interval = found.interval.unwrap();
    let close = |one: f64, other: f64| (one / other - 1.0).abs() < 0.01;
    assert!(
        close(interval.low, paired.low) && close(interval.high, paired.high),
        "{interval:?} {paired:?}"
    );
}

#[test]
fn what_was_not_measured_or_is_not_valid_has_its_reason() {
    let all = [
        within("[\"64\"]", "[\"own/other < c/epoll\", \"go/net > own/other\"]"),
        within("[\"128\"]", "[\"go/net > own/server\"]"),
        within("[\"64\"]", "[\"go/net < c/epoll\"]"),
    ];
    let mut journal = journal(&all.map(|keys| conclusion(&keys)).concat());
    let is_meant = |run: &Run| run.variant.to_string() == "own/server" && run.workload == "128";
    add_reason(&mut journal, is_meant, &reason(Weight::Invalid, "5 requests failed"));
    journal.start.workloads.remove(0);
    let found = of(&journal);
    assert!(found.iter().all(|it| it.answer == Answer::NotMeasured));
    let whys =
        found.iter().flat_map(|it| &it.pairs).map(|it| it.mean.why.as_ref().unwrap().to_string());
    assert_golden("conclusions/not-measured.txt", &whys.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_saturated_generator_leaves_a_bound_that_confirms_only_its_own_side() {
    let keys = [
        within("[\"64\"]", "[\"go/net < c/epoll\"]"),
        within("[\"128\"]", "[\"own/server < go/net\"]"),
    ];
    let mut journal = journal(&keys.map(|keys| conclusion(&keys)).concat());
    for run in &mut journal.runs {
        if run.variant.to_string() == "c/epoll" || run.workload == "128" {
            run.outcome = limited(run.outcome.clone());
        }
    }
    let found = of(&journal);
    let shown = found.iter().map(|it| (it.answer, it.pairs[0].mean.reads.unwrap()));
    let expected = [(Answer::Holds, Reads::AtMost), (Answer::Inconclusive, Reads::Either)];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

const ALL: &str = r#"
[[conclusion]]
quote = "Go serves half of the requests."
context = "64 bytes"
column = "requests_per_second"
workloads = ["64"]
pairs = ["go/net < c/epoll"]
by = "50 %"
[[conclusion]]
quote = "Epoll is around 40 % faster."
column = "requests_per_second"
workloads = ["64", "128"]
pairs = ["c/epoll > go/net"]
by = "40 %"
by_its_figures = "33..100 %"
reason = "the network is faster"
measured = "1 Gbit/s there"
[[conclusion]]
says = "All others serve fewer requests than epoll"
column = "requests_per_second"
workloads = ["64", "128"]
pairs = ["c/epoll > *"]
[[conclusion]]
says = "Larger messages cost other programs a fifth"
column = "requests_per_second"
workloads = ["128"]
against = "64"
pairs = ["own/other < own/other"]
by = "20 %"
[[conclusion]]
says = "Messages of 128 bytes cost epoll more than Go"
column = "requests_per_second"
workloads = ["128"]
against = "64"
relative_to = "c/epoll"
pairs = ["go/net > go/net"]
"#;

#[test]
fn every_form_has_the_conclusions_their_sizes_and_their_reasons() {
    let journal = journal(ALL);
    let analysis = Analysis::of(&journal);
    let conclusions = judge(&analysis);
    let published = journal.start.published.as_ref().unwrap();
    let blocks = table(&conclusions).into_iter().chain(pairs(published, &conclusions)).collect();
    let document = Document { blocks, ..Document::default() };
    assert_golden(
        "conclusions/tables.txt",
        &document.text(Paint(crate::document::Look::Plain, 100)),
    );
    assert_golden("conclusions/tables.md", &document.markdown());
    assert_golden("conclusions/tables.html", &document.body().into_string());
    let report = crate::build::run(&analysis, None).published.unwrap().conclusions;
    let text = serde_json::to_string_pretty(&report[1]).unwrap() + "\n";
    assert_golden("conclusions/report.json", &text);
    let details = crate::table::document(&analysis, None, None).text(Paint::FILE);
    let [first, last] = ["conclusions of the document: ", "pairs of the conclusions\n"]
        .map(|title| details.find(title).unwrap());
    assert!(first < last);
    let screen = crate::screen::page(&analysis, &crate::screen::Facts::default());
    assert!(screen.contains("\nconclusions of the document: ") && !screen.contains("pairs of the"));
    assert!(screen.lines().all(|line| line.chars().count() <= crate::wrap::WIDTH), "{screen}");
}

#[test]
fn a_document_without_conclusions_has_no_table_of_them() {
    let journal = journal("");
    let found = of(&journal);
    assert!(found.is_empty() && table(&found).is_none());
    assert!(pairs(journal.start.published.as_ref().unwrap(), &found).is_none());
}
