//! The tables of the project's own suites that repeat a document, with synthetic runs: nothing in the
//! golden files was measured.

use std::collections::BTreeSet;

use super::*;
use crate::{
    analysis::Analysis,
    conclusions,
    document::{Document, Look, Paint},
    fixtures::{assert_golden, changed, journal_of},
    wrap::WIDTH,
};
use wirebench_schema::{
    id::VariantId,
    journal::{Described, Run},
    suite::Column,
};

/// The tables of `suite`. Each entry has the published rate, or 1000 requests/s where there is none;
/// those in Go have half of it, those in D twice as much.
fn tables(name: &str, suite: &str, figures: &str) -> String {
    let suite = Suite::parse(name, suite).unwrap();
    let published = published(&suite, figures);
    let figures = &published.figures;
    let here = suite.at_scale(Scale::Machine, 2).unwrap();
    let variants: BTreeSet<VariantId> = figures.variants().into_iter().cloned().collect();
    let mut journal = journal_of(SUITE);
    journal.start.baselines = suite.baselines.iter().map(|it| it.parse().unwrap()).collect();
    let described = journal.start.variants[0].clone();
    journal.start.variants = variants
        .iter()
        .map(|variant| Described { variant: variant.clone(), ..described.clone() })
        .collect();
    for workload in &here.workloads {
        for (variant, block) in variants.iter().flat_map(|it| (0..4).map(move |block| (it, block)))
        {
            let published_figure = |column| figures.figure(&workload.name, variant, column);
            let megabytes = published_figure(Column::MegabytesPerSecond);
            let own = published_figure(Column::RequestsPerSecond).or(megabytes);
            let factor = match variant.entry().split_once('/').unwrap().0 {
                "go" => 0.5,
                "d" => 2.0,
                _ => 1.0,
            };
            let noise = 1.0 + f64::from(block) / 1000.0;
            let outcome = measured(own.unwrap_or(1000.0) * factor * noise, 0, &[]);
            // A request of 1 MB in both directions, or of 77 bytes in one.
            let bytes = if megabytes.is_some() { 1_000_000 } else { 77 };
            let outcome = changed(outcome, |it| it.load.bytes_received = it.load.requests * bytes);
            let run = run(block, &variant.to_string(), outcome);
            journal.runs.push(Run { workload: workload.name.clone(), ..run });
        }
    }
    journal.start.workloads = here.workloads;
    journal.start.published = Some(Box::new(published));
    let analysis = Analysis::of(&journal);
    let document = |blocks| Document { blocks, ..Document::default() };
    for width in [80, WIDTH] {
        let text = document(sections(&analysis)).text(Paint(Look::Plain, width));
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width, "{name}: {widest} columns instead of {width}:\n{text}");
    }
    let tables = document(sections(&analysis)).markdown();
    let conclusions = conclusions::table(&conclusions::judge(&analysis)).into_iter().collect();
    let conclusions = document(conclusions).markdown();
    if name == WHOLE { tables + "\n" + &conclusions } else { brief(&tables) + "\n" + &conclusions }
}

/// The document of which the golden file has every row.
const WHOLE: &str = "zab";
/// Lines of other tables: the head, and three rows as published and as measured. The others are made alike.
const SHOWN: usize = 2 + 3 * 2;

fn brief(tables: &str) -> String {
    let mut of_table = 0;
    let is_shown = |line: &&str| {
        of_table = if line.starts_with('|') { of_table + 1 } else { 0 };
        of_table <= SHOWN
    };
    tables.lines().filter(is_shown).map(|line| line.to_owned() + "\n").collect()
}

macro_rules! documents {
    ($($test:ident = $name:literal)+) => {
        $(
            #[test]
            fn $test() {
                let suite = include_str!(concat!("../../../../../../suites/", $name, ".toml"));
                let figures =
                    include_str!(concat!("../../../../../../suites/published/", $name, ".toml"));
                let text = tables($name, suite, figures);
                assert_golden(concat!("documents/", $name, ".md"), &text);
            }
        )+
    };
}

documents! {
    async_bench = "async-bench"
    go_uring = "go-uring"
    restinio = "restinio"
    zab = "zab"
    httpbench = "httpbench"
}
