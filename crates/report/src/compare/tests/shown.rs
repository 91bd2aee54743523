//! What the text, the Markdown and the JSON of a comparison say.

use super::*;
use crate::{
    fixtures::{assert_golden, assert_golden_page, difference_in_words},
    format::Format,
    junit,
    schemas::tests::valid,
    view::tests::{cell_of, figure_of},
};
use expect_test::expect;
use wirebench_schema::journal::{ReasonKind, Weight};

/// One entry 5 % slower, with a condition that it meets.
fn slower() -> Comparison {
    let (old, new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (0.95, 1.0)));
    compared(&old, &new, &conditions(&["throughput < -3%", "p99 > +10%"]))
}

#[test]
fn the_text_shows_significant_changes_and_counts_the_others() {
    let (all, short) = (slower().text(Rows::All), slower().text(Rows::ThatCount));
    assert_golden("compare/all.txt", &all);
    assert!(all.lines().all(|line| line.chars().count() <= 180), "{all}");
    let changed = difference_in_words(&all, &short);
    let changes = changed.lines().filter(|it| it.len() > 2);
    let (new, hidden): (Vec<&str>, Vec<&str>) = changes.partition(|it| it.starts_with('+'));
    assert_eq!(new, ["+ 11 without a significant change: --all shows them"]);
    assert!(hidden.len() == 11 && hidden.iter().all(|it| it.ends_with(" same")), "{changed}");
}

#[test]
fn where_nothing_changed_that_is_the_first_thing_said_and_nothing_is_explained() {
    let (old, new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (1.0, 1.0)));
    let text = compared(&old, &new, &CompareOptions::default()).text(Rows::ThatCount);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[3], "10 figures compared: no significant change, 10 the same");
    assert_eq!(lines[5..], ["10 without a significant change: --all shows them"]);
    assert!(!text.contains("legend"), "{text}");
}

#[test]
fn runs_that_are_not_what_they_claim_to_be_mark_their_rows() {
    let (old, mut new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (0.95, 1.0)));
    let usual = compared(&old, &new, &CompareOptions::default()).text(Rows::ThatCount);
    for it in measurements(&mut new, "go/net", "hello").take(2) {
        it.reasons.push(ReasonKind::Errors.reason(Weight::Invalid, None, "3 errors: late"));
        it.reasons.push(ReasonKind::Stderr.reason(Weight::Note, None, "it says much"));
    }
    let comparison = compared(&old, &new, &CompareOptions::default());
    expect![[r#"
        - hello go/net requests/s 100 231 94 988 -5.2 % ±0.4 slower
        + hello ! go/net [1] requests/s 100 231 95 132 -5.1 % ±0.5 slower
        + [1] in the newer result: some requests failed (3 errors: late); check the server's log
    "#]]
    .assert_eq(&difference_in_words(&usual, &comparison.text(Rows::ThatCount)));
    assert!(comparison.json().contains("3 errors: late"));
    for it in measurements(&mut new, "go/net", "hello") {
        it.reasons.push(ReasonKind::Errors.reason(Weight::Invalid, None, "3 errors: late"));
    }
    let comparison = compared(&old, &new, &conditions(&["throughput < -1%"]));
    let change = comparison.changes.iter().find(|it| it.metric == Metric::Throughput).unwrap();
    let ratio = &change.ratio.judged;
    assert_eq!((ratio.claim, change.movement()), (Some(Claim::CannotTell), None));
    assert_eq!(ratio.inconclusive, Some(Inconclusive::NotValid));
    let gate = comparison.gate.unwrap();
    assert_eq!((gate.fails(), gate.conditions[0].inconclusive.len()), (false, 1));
}

#[test]
fn a_program_that_did_not_change_and_its_figures_did_is_noted() {
    let (old, mut new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (0.95, 1.0)));
    new.start.variants[1].fingerprint = old.start.variants[1].fingerprint.clone();
    let text = compared(&old, &new, &CompareOptions::default()).text(Rows::ThatCount);
    let note = "[1] same program in both results: something else changed";
    assert!(text.contains("  go/net [1]  requests/s ") && text.contains(note), "{text}");
}

#[test]
fn every_form_of_a_comparison() {
    let comparison = slower();
    let json = valid("result", &comparison.json());
    let ratio = &figure_of(cell_of(&json, "go/net", 0), "requests_per_second")["ratios"][0];
    assert_eq!((&ratio["to"], &ratio["claim"]), (&"older-ratio".into(), &"lower".into()));
    let csv = Format::Csv.write(&comparison, None).text;
    let row = csv.lines().find(|it| it.contains(",hello-cost,") && it.contains("_p99")).unwrap();
    assert!(
        row.contains(
            ",go/net,0,entrant,raw,true,10,0,0,0,0,server,false,,,latency_ns_p99,ns,399948,"
        ),
        "{row}"
    );
    assert!(row.contains(",true,0.99839") && row.ends_with(",exactly,same,400923"), "{row}");
    assert_golden_page("compare.html", &Format::Html.write(&comparison, None).text);
    let gate = comparison.gate.as_ref().unwrap();
    let cases = junit::text("wirebench compare", &junit::of_gate(gate));
    assert_golden("compare/junit.xml", &cases);
}
