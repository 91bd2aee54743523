//! Each count grows with its subject, and a count that is not at its limit is reported.

use super::{super::sources::source, *};

fn counted(sources: &[Source]) -> Counts {
    of(sources, &cycles::find(sources))
}

#[test]
fn each_count_of_a_crate_grows_with_what_it_counts() {
    let doc = "//! It is.\n\n/// Whether\n/// That\nfn a() {}\n/// Itself.\n";
    let long = "\n".repeat(LONG_FILE + 1);
    let exception = format!("#[allow({EXCEPTION})]");
    let calls = concat!("fn assert", "_fine() { assert", "_ended(1) }");
    let tests = "#[cfg(test)]\nmod tests {\n}\n";
    let cases = [
        ("src/b.rs", doc, [1, 0, 0, 0, 2, 0, 0, 0]),
        ("src/b.rs", tests, [0, 3, 0, 0, 0, 0, 0, 0]),
        ("tests/golden/b.txt", "one\n", [0, 0, 1, 0, 0, 0, 0, 0]),
        ("src/b.rs", &long, [0, 0, 0, 0, 0, 1, 0, 0]),
        ("src/b.rs", &exception, [1, 0, 0, 0, 0, 0, 1, 0]),
        ("tests/it.rs", calls, [0, 1, 0, 0, 0, 0, 0, 1]),
    ];
    for (path, text, expected) in cases {
        let counts = counted(&[source(&format!("crates/a/{path}"), text)]);
        assert_eq!(counts.crates, [("a".to_owned(), expected)], "{text}");
    }
    let circle = ["use crate::c;", "use crate::b;"];
    let circle = [("b", circle[0]), ("c", circle[1])];
    let circle = circle.map(|(name, text)| source(&format!("xtask/src/{name}.rs"), text));
    assert_eq!(counted(&circle).crates, [("xtask".to_owned(), [2, 0, 0, 1, 0, 0, 0, 0])]);
}

#[test]
fn counts_of_the_workspace_are_read_from_types_manifests_and_the_golden_file() {
    let manifest = "[dependencies]\nwirebench-a = 1\n[dev-dependencies]\nwirebench-b = 1\n";
    let types = "pub struct A;\npub(crate) enum A {}\npub enum A {}\nstruct A;\n";
    let sources = [
        source("crates/a/src/b.rs", types),
        source("crates/b/src/b.rs", "pub type A = B;\npub(super) struct Arguments;\n"),
        source("xtask/src/c.rs", "pub(crate) struct Arguments;\n"),
        source("xtask/Cargo.toml", manifest),
        source("clippy.toml", "too-many-lines-threshold = 70\n"),
        source(OPTIONS, "run 79\n"),
    ];
    let counts = counted(&sources);
    let expected = [
        ("surplus definitions of pub types with one name", 2),
        ("surplus definitions of pub and pub(..) types with one name", 3),
        ("product crates in xtask/Cargo.toml", 2),
        ("threshold of lines of a function in clippy.toml", 70),
        ("options of run", 79),
    ];
    assert_eq!(counts.others, expected.map(|(name, count)| (name.to_owned(), count)));
    assert_eq!(counts.details[expected[0].0], "A 3");
}

#[test]
fn more_and_fewer_than_a_limit_and_either_without_the_other_are_reported() {
    let row = |lines, cycles| vec![("a".to_owned(), [lines, 0, 0, cycles, 0, 0, 0, 0])];
    let options = |verb: &str, count| vec![(format!("options of {verb}"), count)];
    let lower = "lower the number to";
    let cases = [
        (row(100, 1), options("run", 5), String::new()),
        (row(97, 1), options("run", 5), String::new()),
        (
            row(101, 1),
            options("run", 5),
            "lines of code of a: 101, at most 100: reduce by 1".into(),
        ),
        (
            row(96, 1),
            options("run", 5),
            format!("lines of code of a: 96, limit 100: {lower} 96 in {FILE}"),
        ),
        (
            row(100, 2),
            options("run", 5),
            "cycles of modules of a: 2, at most 1: reduce by 1: b c; d e".into(),
        ),
        (
            row(100, 0),
            options("run", 5),
            format!("cycles of modules of a: 0, limit 1: {lower} 0 in {FILE}"),
        ),
        (row(100, 1), options("run", 7), "options of run: 7, at most 5: reduce by 2".into()),
        (
            row(100, 1),
            options("run", 4),
            format!("options of run: 4, limit 5: {lower} 4 in {FILE}"),
        ),
        (row(100, 1), vec![], format!("options of run: a limit, but no count: {HOW}")),
        (
            row(100, 1),
            [options("run", 5), options("ab", 3)].concat(),
            format!("options of ab: 3, without a limit: {HOW}"),
        ),
    ];
    for (crates, others, expected) in cases {
        let details = [("cycles of modules of a".to_owned(), "b c; d e".to_owned())].into();
        let counts = Counts { crates, others, details };
        let found = counts.compared(&row(100, 1), &options("run", 5));
        assert_eq!(found.join("\n"), expected);
    }
}

#[test]
fn the_printed_tables_name_limits_that_differ() {
    assert_eq!(shown_row("a", &3, Some(&3)), "    (\"a\", 3),\n");
    assert_eq!(shown_row("a", &3, Some(&4)), "    (\"a\", 3), // limit: 4\n");
}
