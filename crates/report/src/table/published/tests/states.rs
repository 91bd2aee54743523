//! The states of a document's rows in every form of a report, from synthetic runs.

use super::*;
use crate::{
    analysis::Analysis,
    build::run,
    document::{Document, Paint},
    fixtures::{add_reason, assert_golden_cases, difference, reason},
};
use wirebench_schema::journal::{Cause, LeftOut, Run, Unavailable, Weight};

/// The states of two rows, of which one has no variant here.
const APART: &str = r#"[rows]
"c/epoll" = { name = "raw epoll", state = "same-design", clause = "written anew" }
"c/gone" = { name = "gone", state = "missing", clause = "its library is in no package" }
"own/server" = { name = "own server", state = "same-program", published = "own 1", here = "own 1" }
[rows."go/net"]
name = "Go"
state = "different"
published = "Go 1"
clause = "it has one thread per connection"
reason = "reads block"
"#;

fn apart() -> Journal {
    let rows =
        "\"c/epoll\" = [1000]\n\"go/net\" = [500]\n\"c/gone\" = [400]\n\"own/server\" = [300]";
    let mut journal = repeated_with(&rates(rows), APART);
    let reason = "the library `own` is missing".to_owned();
    journal.unavailable.push(Unavailable {
        variant: "own/server".parse().unwrap(),
        reason,
        cause: Cause::Missing,
    });
    let what = "c/gone".to_owned();
    let reason = "the project has no entry `c/gone`".to_owned();
    journal.start.left_out.push(LeftOut { what, reason });
    journal
}

#[test]
fn a_row_that_is_different_or_missing_is_listed_with_its_reason() {
    assert_golden("published/states.txt", &report(&apart(), Style::Text));
}

#[test]
fn a_journal_without_states_says_why_no_row_counts() {
    let mut journal = repeated(&rates("\"c/epoll\" = [1000]\n\"go/net\" = [500]"));
    let with = report(&journal, Style::Text);
    journal.start.published.as_mut().unwrap().figures.rows.clear();
    let without = difference(&with, &report(&journal, Style::Text));
    assert_golden("published/without-states.txt", &without);
}

#[test]
fn the_first_screen_and_its_html_count_the_states_and_name_the_missing_rows() {
    let facts = crate::screen::Facts::default();
    assert_golden("published/screen.txt", &crate::screen::page(&Analysis::of(&apart()), &facts));
    let page = crate::screen::html::page(&Analysis::of(&apart()), &facts).html();
    let section = |begin: &str, end: &str| {
        let from = page.find(begin).unwrap();
        format!("{}\n", &page[from..from + page[from..].find(end).unwrap()])
    };
    let tables = section("<p>Document: ", "<p class=\"result\"");
    let after = page.find("class=\"result\"").unwrap();
    assert!(page.find("<p>Document: ").unwrap() < after, "the tables are not first");
    assert_golden("published/screen.html", &(tables + &section("<h2>rows of the", "<h2>Servers")));
}

#[test]
fn published_figures_stay_where_the_baseline_or_a_row_is_not_valid_or_not_measured() {
    let rows = "\"c/epoll\" = [1000, 10, 20]\n\"go/net\" = [500, 30, 40]";
    let columns = "[\"requests_per_second\", \"latency_ns_p50\", \"latency_ns_p99\"]";
    let figures = table(&format!("workloads = [\"hello\"]\ncolumns = {columns}"), rows);
    let text = |is_meant: fn(&Run) -> bool, weight| {
        let mut journal = repeated(&figures);
        add_reason(&mut journal, is_meant, &reason(weight, "13 errors"));
        tables(&journal)
    };
    let without = |is_meant: fn(&Run) -> bool| {
        let mut journal = repeated(&figures);
        journal.runs.retain(|run| !is_meant(run));
        tables(&journal)
    };
    let is_baseline = |run: &Run| run.variant.to_string() == "c/epoll";
    let is_entrant = |run: &Run| run.variant.to_string() == "go/net";
    assert_golden_cases(
        "published/not-valid.txt",
        [
            ("baseline not valid", text(is_baseline, Weight::Invalid)),
            ("row not valid", text(is_entrant, Weight::Invalid)),
            ("tail of the row not valid", text(is_entrant, Weight::Tail)),
            ("baseline not measured", without(is_baseline)),
            ("row not measured", without(is_entrant)),
            ("nothing measured", without(|_| true)),
        ],
    );
}

/// The tables of the document in text.
fn tables(journal: &Journal) -> String {
    let blocks = sections(&Analysis::of(journal));
    Document { blocks, ..Document::default() }.text(Paint::FILE)
}

#[test]
fn json_has_the_state_of_each_row_and_both_ratios() {
    let journal = apart();
    let analysis = Analysis::of(&journal);
    let text = serde_json::to_string_pretty(&run(&analysis, None).published).unwrap();
    assert_golden("published/report.json", &(text + "\n"));
    let mut smoke = apart();
    smoke.start.scale = Scale::Smoke;
    assert!(run(&Analysis::of(&smoke), None).published.is_none());
}

#[test]
fn a_table_wider_than_a_terminal_continues_below() {
    let columns: Vec<String> = ["mean", "p50", "p90", "p99", "p999", "p9999"]
        .map(|name| format!("\"latency_ns_{name}\""))
        .to_vec();
    let keys = format!(
        "workloads = [\"hello\"]\ncolumns = [{}, \"requests_per_second\", \"errors\", \"requests\"]",
        columns.join(", ")
    );
    let figures = table(&keys, "\"c/epoll\" = [1e9, 2e9, 3e9, 4e9, 5e9, 6e9, 7e9, 8e9, 9e9]");
    let text = report(&repeated(&figures), Style::Text);
    let from = text.find("A (times in ns").unwrap();
    let tables = &text[from..from + text[from..].find("rows of the document").unwrap()];
    assert!(tables.lines().all(|line| line.chars().count() <= crate::wrap::WIDTH), "{tables}");
    assert_golden("published/wide.txt", tables);
}
