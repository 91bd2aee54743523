//! How wide tables are. The journals have what the suite `quick` has: its longest names, marks and
//! references.

use super::*;
use crate::fixtures::changed;
use wirebench_schema::{
    entry::Class,
    journal::ReasonKind::{self, NotSteady, ScheduleLag as Late, Stolen, Swapped},
};

/// The rows of the suite and what a request costs them in microseconds.
const ROWS: [(&str, Class, f64); 9] = [
    ("c/epoll", Class::Raw, 8.07),
    ("builtin/epoll", Class::Raw, 8.17),
    ("c/io_uring", Class::Raw, 8.39),
    ("c/threads", Class::Raw, 9.5),
    ("cpp/boost-asio:shared", Class::Library, 8.6),
    ("go/net", Class::Library, 11.79),
    ("rust/tokio", Class::Library, 8.52),
    ("node/http", Class::Framework, 14.2),
    ("python/asyncio:uvloop", Class::Library, 12.9),
];

/// A cost phase of all rows, in which all runs are not valid, two rows with the longest names have
/// further notes, and the second half of the rows has few samples.
fn quick(loudness: f64) -> Journal {
    let mut journal = journal_of(COST);
    journal.start.workloads.truncate(1);
    journal.start.blocks = 6;
    let described = journal.start.variants[0].clone();
    journal.start.variants = ROWS
        .iter()
        .map(|(name, class, _)| {
            let (variant, title) = (name.parse().unwrap(), (*name).to_owned());
            Described { variant, title, class: Some(*class), ..described.clone() }
        })
        .collect();
    add_row(&mut journal, ("c/epoll", 1), 8.07, loudness, &[Late, NotSteady]);
    for (place, (name, _, cpu_us)) in ROWS.into_iter().enumerate() {
        let notes: &[ReasonKind] = match place {
            0 => &[Late, Stolen, Swapped],
            4 | 8 => &[Late, NotSteady, Swapped],
            _ => &[Late],
        };
        add_row(&mut journal, (name, 0), cpu_us, loudness, notes);
    }
    journal
}

fn add_row(journal: &mut Journal, row: (&str, u32), us: f64, loudness: f64, notes: &[ReasonKind]) {
    let values = noisy(1.0, if row == ("c/epoll", 0) { 1 } else { 5 })
        .map(|noise| (1.0 + (noise - 1.0) * loudness) * us * 1e3);
    let few = row.0.len() > 10;
    add(journal, "hello", row, values, |value| {
        changed(cost(value), |it| {
            it.reasons.extend(notes.iter().map(|kind| kind.reason(Weight::Invalid, None, "")));
            let latency = it.load.latency.as_mut().unwrap();
            latency.count = if few { 9000 } else { 90_000 };
        })
    });
}

/// The lines of the table, with its head.
fn table_of(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let head = lines.iter().position(|line| line.trim_start().starts_with("rank ")).unwrap();
    let end = lines.iter().position(|line| line.starts_with("  [1]")).unwrap();
    lines[head - 1..end].to_vec()
}

#[test]
fn a_table_of_the_cost_with_long_names_marks_and_references_fits_a_terminal() {
    for (loudness, verdict) in [(1.0, " more CPU "), (40.0, " inconclusive ")] {
        let text = report(&quick(loudness), Style::Text);
        assert!(text.contains(verdict), "{text}");
        let lines = table_of(&text);
        assert_eq!(lines.len(), 2 + 10, "{text}");
        for line in &lines {
            let width = line.chars().count();
            assert!(width <= 120, "{width} {line}\n{}", lines.join("\n"));
        }
        let line = lines.iter().find(|line| line.contains("python/asyncio")).unwrap();
        assert!(line.contains("! python/asyncio:uvloop [1,3,4] library "), "{text}");
        assert!(line.contains(" 2.00 ms? "), "{text}");
    }
}
