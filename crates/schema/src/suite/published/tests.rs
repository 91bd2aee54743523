//! Files of figures, and the message for each mistake in one.

use super::*;

const SUITE: &str = "description = \"\"\nblocks = 1\nentries = [\"c/a\", \"c/b\"]\n\
                     [[workload]]\nname = \"hello\"\nscenario = \"hello\"\nconnections = 1\n\
                     duration = \"1s\"\n";
const TABLE: &str = "[[table]]\nsection = \"Results\"\nworkloads = [\"hello\"]\n\
                     columns = [\"requests_per_second\", \"latency_ns_p50\"]\n\
                     [table.rows]\n\"c/a\" = [200, 5]\n\"c/b\" = [100.5, 6]\n\
                     [rows.\"c/a\"]\nname = \"A\"\nstate = \"same-program\"\npublished = \"A 1\"\nhere = \"A 1\"\n\
                     [rows.\"c/b\"]\nname = \"B\"\nstate = \"different\"\nclause = \"one thread\"\n";

fn parse(table: &str) -> Result<PublishedFigures, String> {
    PublishedFigures::parse(table, &Suite::parse("example", SUITE).unwrap())
}

fn id(text: &str) -> VariantId {
    text.parse().unwrap()
}

#[test]
fn a_figure_is_found_by_workload_variant_and_column() {
    let figures = parse(TABLE).unwrap();
    let rate =
        |workload, variant| figures.figure(workload, &id(variant), Column::RequestsPerSecond);
    assert_eq!(rate("hello", "c/b"), Some(100.5));
    assert_eq!((rate("echo", "c/b"), rate("hello", "c/c")), (None, None));
    let column = Column::LatencyNsP50;
    assert_eq!(figures.ratio("hello", &id("c/b"), &id("c/a"), column), Some(1.2));
}

#[test]
fn a_table_about_several_workloads_has_the_columns_of_each_and_keeps_its_order() {
    let suite = SUITE.replace("connections = 1", "connections = [1, 2]");
    let suite = suite.replace("\"hello\"\nscenario", "\"c{connections}\"\nscenario");
    let table = TABLE.replace("[\"hello\"]", "[\"c1\", \"c2\"]");
    let table = table.replace(
        "\"c/a\" = [200, 5]\n\"c/b\" = [100.5, 6]",
        "\"c/b\" = [1, 2, 3, 4]\n\"c/a\" = [5, 6, 7, 8]",
    );
    let figures =
        PublishedFigures::parse(&table, &Suite::parse("example", &suite).unwrap()).unwrap();
    let median = |workload, variant| figures.figure(workload, &id(variant), Column::LatencyNsP50);
    assert_eq!((median("c1", "c/b"), median("c2", "c/b")), (Some(2.0), Some(4.0)));
    let order = |figures: &PublishedFigures| -> Vec<String> {
        figures.tables[0].rows.iter().map(|(variant, _)| variant.to_string()).collect()
    };
    assert_eq!(order(&figures), ["c/b", "c/a"]);
    let written = serde_json::to_string(&figures).unwrap();
    assert_eq!(order(&serde_json::from_str(&written).unwrap()), ["c/b", "c/a"]);
}

#[test]
fn a_ratio_that_was_published_alone_holds_for_its_own_pair_only() {
    let table = "[[table]]\nsection = \"Text\"\nworkloads = [\"hello\"]\n\
                 relative_to = \"c/b\"\ncolumns = [\"requests_per_second_ratio\"]\n\
                 [table.rows]\n\"c/a\" = [1.6]\n[rows]\n\
                 \"c/a\" = { name = \"A\", state = \"missing\", clause = \"its library is lost\" }\n\
                 \"c/b\" = { name = \"B\", state = \"same-design\", clause = \"written anew\" }\n";
    let figures = parse(table).unwrap();
    let ratio = |own, base, column| figures.ratio("hello", &id(own), &id(base), column);
    assert_eq!(ratio("c/a", "c/b", Column::RequestsPerSecond), Some(1.6));
    assert_eq!(ratio("c/a", "c/a", Column::RequestsPerSecond), None);
    assert_eq!(ratio("c/a", "c/b", Column::LatencyNsP50), None);
}

#[test]
fn each_mistake_is_answered_with_its_table() {
    let changes = [
        ("[\"hello\"]", "[\"helo\"]"),
        ("c/b", "c/c"),
        ("[200, 5]", "[200]"),
        ("200", "-200"),
        ("ns_p50", "ns_p51"),
        ("[\"hello\"]", "[]"),
        ("columns", "relative_to = \"c/c\"\ncolumns"),
        ("per_second", "per_second_ratio"),
        ("[rows.\"c/b\"]\nname = \"B\"\nstate = \"different\"\nclause = \"one thread\"\n", ""),
        ("", "[rows.\"c/c\"]\nname = \"C\"\nstate = \"same-design\"\nclause = \"written anew\"\n"),
        ("state = \"different\"\n", ""),
        ("\"different\"", "\"similar\""),
        ("here = \"A 1\"\n", ""),
        ("\"different\"\nclause = \"one thread\"", "\"same-design\"\npublished = \"B 1\""),
        ("clause = \"one thread\"\n", ""),
        ("\"different\"\nclause = \"one thread\"", "\"missing\""),
        ("\"different\"\n", "\"missing\"\nhere = \"B 1\"\n"),
        ("one thread", " "),
        ("name = \"B\"\n", ""),
        ("columns", "heads = [\"RPS\"]\ncolumns"),
    ];
    let text = crate::mistakes::messages(TABLE, &changes, parse);
    expect_test::expect_file!["golden/mistakes.txt"].assert_eq(&text);
}

#[test]
fn only_a_program_of_the_same_design_is_comparable() {
    let figures = parse(TABLE).unwrap();
    let comparable = ["c/a", "c/b", "c/c"].map(|name| figures.is_comparable(&id(name)));
    assert_eq!(comparable, [true, false, false]);
    assert_eq!(figures.rows[&id("c/a")].explanation(), "published A 1, here A 1");
    let shown = RowState::ALL.map(|state| (state.name(), state.is_comparable()));
    let expected =
        [("same program", true), ("same design", true), ("different", false), ("missing", false)];
    assert_eq!(shown, expected);
}

#[test]
fn figures_of_an_older_journal_have_no_states_and_nothing_is_comparable() {
    let text = r#"{"table": [{"section": "A", "workloads": ["hello"], "relative_to": null,
                   "columns": ["requests_per_second"], "rows": {"c/a": [1.0]}}]}"#;
    let figures: PublishedFigures = serde_json::from_str(text).unwrap();
    assert!(figures.rows.is_empty() && !figures.is_comparable(&id("c/a")));
}

const CONCLUSION: &str = "[[conclusion]]\nquote = \"A is faster.\"\ncolumn = \"requests_per_second\"\n\
                          workloads = [\"hello\"]\npairs = [\"c/a > c/b\"]\nby = \"99 %\"\n\
                          reason = \"it parses\"\nmeasured = \"2 calls\"\n";

#[test]
fn a_conclusion_has_its_pairs_with_the_published_ratio() {
    let text =
        CONCLUSION.replace("c/a > c/b", "c/b < *").replace("by = \"99 %\"", "to = \"50.3 %\"");
    let figures = parse(&format!("{TABLE}{text}")).unwrap();
    let conclusion = &figures.conclusions[0];
    let pairs = figures.pairs(conclusion);
    let [pair] = pairs.as_slice() else { panic!("{pairs:?}") };
    assert_eq!((pair.row, pair.reference), (&id("c/b"), &id("c/a")));
    assert!((pair.published - 0.5025).abs() < 1e-12);
    assert_eq!(conclusion.sentence(), "\"A is faster.\"");
    assert_eq!(conclusion.said().unwrap(), "to 50.3 %");
    assert_eq!(conclusion.why().unwrap(), "it parses (2 calls)");
    let written = serde_json::to_string(&figures).unwrap();
    let read: PublishedFigures = serde_json::from_str(&written).unwrap();
    assert_eq!(read.conclusions, figures.conclusions);
    let guess = parse(&format!("{TABLE}{}", text.replace("measured = \"2 calls\"\n", ""))).unwrap();
    assert_eq!(guess.conclusions[0].why().unwrap(), "guess: it parses");
}

#[test]
fn a_reason_of_an_older_journal_is_read() {
    let row = r#"{"name": null, "state": "different", "published": null, "here": null, "clause": "one thread",
                  "artefact": "a thread waits"}"#;
    let row: PublishedRow = serde_json::from_str(row).unwrap();
    assert_eq!(row.explanation(), "one thread; guess: a thread waits");
}

#[test]
fn each_mistake_of_a_conclusion_is_answered_with_its_sentence() {
    let document = format!("{TABLE}{CONCLUSION}");
    let changes = [
        ("c/a > c/b", "c/b > c/a"),
        ("c/a > c/b", "c/a = c/b"),
        ("c/a > c/b", "c/a > c/c"),
        ("c/a > c/b", "c/a >c/b"),
        ("c/a > c/b", "c/a ~ c/b"),
        ("pairs = [\"c/a > c/b\"]", "pairs = []"),
        ("[\"hello\"]\npairs", "[\"helo\"]\npairs"),
        ("[\"hello\"]\npairs", "[\"hello\"]\nagainst = \"helo\"\npairs"),
        ("column = \"requests_per_second\"", "column = \"errors\""),
        ("column = \"requests_per_second\"", "column = \"latency_ns_p99\""),
        (
            "column = \"requests_per_second\"",
            "column = \"megabytes_per_second\"\nagainst = \"hello\"",
        ),
        ("quote = \"A is faster.\"\n", ""),
        ("quote = ", "says = \"A.\"\nquote = "),
        ("by = \"99 %\"", "by = \"98 %\""),
        ("by = \"99 %\"", "by = \"98 %\"\nby_its_figures = \"97 %\""),
        ("by = \"99 %\"", "by = \"99 %\"\nby_its_figures = \"99 %\""),
        ("by = \"99 %\"", "by = \"99 %\"\nto = \"199 %\""),
        ("by = \"99 %\"", "by_its_figures = \"99 %\""),
        ("by = \"99 %\"", "by = \"99\""),
        ("reason = \"it parses\"\n", ""),
        ("it parses", " "),
        ("c/a > c/b\"]", "c/b > c/a\"]\nsome = true"),
    ];
    let text = crate::mistakes::messages(&document, &changes, parse);
    expect_test::expect_file!["golden/conclusions.txt"].assert_eq(&text);
}
