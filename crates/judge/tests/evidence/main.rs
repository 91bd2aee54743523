//! Judges recorded evidence again: each fault that is provoked in real runs must be reported by the kind, the weight
//! and the sentence in `expected.md`. A threshold that changes a judgement changes a row of it.
//!
//! `cargo xtask provoke --record` records evidence anew, after a change of the facts that are read.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[allow(dead_code, reason = "files are written by another test program")]
mod file;

use expect_test::expect_file;
use file::{GOOD, Recorded, is_good, is_of_server, row};
use std::path::Path;
use wirebench_schema::journal::ReasonKind;

fn recorded() -> Vec<Recorded> {
    file::read_all(&file::folder(Path::new(env!("CARGO_MANIFEST_DIR")))).unwrap()
}

#[test]
fn evidence_is_judged_as_it_was() {
    let mut table =
        "| fault | server | kind | weight | sentence |\n|---|---|---|---|---|\n".to_owned();
    for Recorded { case, servers, .. } in recorded() {
        for (server, evidence) in servers {
            let reasons = evidence.reasons();
            let mut rows: Vec<String> =
                reasons.iter().map(|reason| row(&case, &server, Some(reason)) + "\n").collect();
            if rows.is_empty() {
                rows.push(row(&case, &server, None) + "\n");
            }
            table += &rows.concat();
        }
    }
    expect_file!["expected.md"].assert_eq(&table);
}

#[test]
fn evidence_of_a_fault_has_its_kinds_and_that_of_the_good_server_has_none_of_them() {
    let mut good_ones = 0;
    for Recorded { case, provoked, servers } in recorded() {
        let kinds = |server: &str| -> Vec<ReasonKind> {
            servers[server].reasons().iter().map(|reason| reason.kind).collect()
        };
        for (server, expected) in &provoked {
            let missing = expected.iter().find(|kind| !kinds(server).contains(kind));
            assert_eq!(missing, None, "{case}: {server}");
        }
        if provoked.is_empty() {
            assert!(is_good(&servers[GOOD].reasons()), "{case}: {:?}", kinds(GOOD));
            good_ones += 1;
        } else if !provoked.contains_key(GOOD) {
            let all: Vec<&ReasonKind> = provoked.values().flatten().collect();
            let is_wrong = |kind: &ReasonKind| is_of_server(*kind) && all.contains(&kind);
            let wrong = kinds(GOOD).into_iter().find(is_wrong);
            assert_eq!(wrong, None, "{case}: {GOOD}");
        }
    }
    assert_eq!(good_ones, 2, "a run and a cohort");
}
