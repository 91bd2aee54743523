//! Each rule complains of what breaks it, and each count grows with its subject.

use std::collections::BTreeMap;

use super::{limits::LONG_FILE, sources::source, *};

/// The files of a project without a fault, in addition to `DOCUMENTS` and the manifests of crates.
const PROJECT: &str = r#"
Cargo.toml => repository = "https://example.org/me/wirebench"\n
docs/methodology.md => ## Known traps, a\n\n| trap | test |\n|---|---|\n| `a` | `b`, `c d` |\n| e | |\n## F\n| `x` |\n
entries/README.md => | [`c/x`](c/x/) | x |\n
entries/verified.tsv => # 1\t2\t3\t4\t5\t6\t7\nc/x\t-\t-\t-\t-\t0\t-\n
entries/c/x/entry.toml =>
entries/c/x/README.md =>
entries/c/shared/main.c =>
crates/cli/src/cmd/b.rs => //! A header.\nfn b() {}\n
crates/cli/tests/provoke/c.rs => //! A header.\nconst C: &str = "c d";\n
"#;
/// A file that is added, replaced or removed, and the complaint with `@` for the path.
const CASES: &str = r"
crates/stats/src/b.rs => //! A header.\n =>
crates/stats/src/b.rs => fn a() {}\n => @: begin with `//!`: what it is, and what it is not
crates/stats/src/b.rs => //! A header.\nuse std::time::Instant;\n => @: `Instant` has no place in a pure crate
crates/host/src/b.rs => //! A header.\nuse std::time::Instant;\n =>
crates/host/src/b.rs => //! LONG\n => @:1: longer than 120 bytes
crates/host/src/b.rs => //! MANY => @: 401 lines, split it (at most 400)
crates/host/src/b.rs => //! A header.\n// UNDONE\n => @:2: do it, or write down why not
crates/host/Cargo.toml => [dependencies]\nwirebench-sys = 1\nclap = 1\n[dev-dependencies]\nwirebench-b = 1 =>
crates/host/Cargo.toml => [dependencies]\nwirebench-cli = 1 => host may not depend on cli: see ARCHITECTURE.md
crates/host/Cargo.toml => REMOVED => host is missing: remove it from ARROWS
crates/new/Cargo.toml => => crates/new has no line in ARROWS of xtask/src/tidy/crates.rs
LICENSE-MIT => REMOVED => @ is missing
README.md => uses: me/wirebench/action@main  # run\n =>
README.md => a\nwith: { repository: you/wirebench }\n => @:2: `you/wirebench` is not the repository of Cargo.toml: URL
docs/methodology.md => ## Known traps\n| trap |\n|---|\n| `b`, `f` |\n => @: there is no test `f`
docs/methodology.md => ## Known traps\nnone => @: no table below `## Known traps`
docs/methodology.md => # T => @: no table below `## Known traps`
docs/methodology.md => REMOVED => @ is missing\n@: no table below `## Known traps`
entries/c/x/entry.toml => REMOVED => entries/c/x: no entry.toml
entries/c/x/README.md => REMOVED => entries/c/x: no README.md
entries/README.md => => @: no line for `c/x`, add it
entries/README.md => | [`c/x`](c/y/) | x |\n => @: no line for `c/x`, add it
entries/README.md => | [`c/x`](c/x/) |\n| [`c/x`](c/x/) |\n => @: `c/x` is SURPLUS
entries/README.md => | [`c/x`](c/x/) |\n| [`c/y`](c/y/) |\n => @: `c/y` is SURPLUS
entries/verified.tsv => # 1\t2\t3\t4\t5\t6\t7\n => @: no line for `c/x`, add it
entries/verified.tsv => # 1\t2\t3\t4\t5\t6\t7\nc/x\t-\t-\t-\t-\t0\t-\nc/y\t-\t-\t-\t-\t0\t-\n => @: `c/y` is SURPLUS
entries/verified.tsv => c/x\t-\t-\t-\t-\t0\t-\n => @: begin with `#` and the names of the columns
";
/// Modules of the crate `cli` next to the verb `v`, and their cycles or the complaint.
const CYCLES: &str = r"
a: use crate::b; | b: fn c() { crate::a::d() } => a b
a: use crate::b; | b: // crate::a\nuse crate::c; // crate::a | c: =>
a: use crate::{\n    c::{D, E},\n    b,\n}; | b: use super::a::X; | c: => a b
a: mod b;\nfn c() { b::d() } | a/b: use super::X; => a a::b
a: mod b;\npub use b::C; | a/b: pub(in crate::a) fn c() {} =>
a: mod b; // b::c | a/b: use super::X; =>
a/b: use super::c::d; | a/c: use super::e; | a/e: use super::b; => a::b a::c a::e
a: use crate::b; | b: #[cfg(test)]\nmod tests {\n    use crate::a;\n} =>
a: use crate::b; | b/tests: use crate::a; | b: =>
cmd/w: use crate::cmd::v::X; => WRONG
cmd/w: use super::{v, y}; => WRONG
cmd/w: use crate::{a, cmd::{v}}; => WRONG
cmd/w/x: use super::super::v::Y; => WRONG
cmd/w/x: use super::{y, z}; | cmd/w/y: =>
cmd: | cmd/w: use super::Shared; =>
";
/// A file, and the counts of its crate.
const COUNTS: &str = r"
crates/a/src/b.rs => //! It is.\n\n/// Whether\n/// That\nfn a() {}\n/// Itself.\n => 1, 0, 0, 0, 2, 0, 0, 0
crates/a/src/b.rs => #[cfg(test)]\nmod tests {\n}\n => 0, 3, 0, 0, 0, 0, 0, 0
crates/a/src/b.rs => #[cfg(test)]\nmod fixtures;\nfn a() {}\n#[cfg(test)]\nmod tests {\n}\n => 3, 5, 0, 0, 0, 0, 0, 0
crates/a/src/b/tests.rs => fn a() {}\n => 0, 0, 0, 0, 0, 0, 0, 0
crates/a/src/fixtures.rs => fn a() {}\n => 0, 0, 0, 0, 0, 0, 0, 0
crates/a/tests/golden/b.txt => one\n => 0, 0, 1, 0, 0, 0, 0, 0
crates/a/src/b.rs => LONG => 0, 0, 0, 0, 0, 1, 0, 0
xtask/src/b.rs => #[allow(EXCEPTION)] => 1, 0, 0, 0, 0, 0, 1, 0
crates/a/tests/it.rs => fn ACCEPTING(1) { it.ACCEPTING(1); my_ACCEPTING(1) } => 0, 1, 0, 0, 0, 0, 0, 1
";
/// Lines of code, cycles and options of verbs of which 100, 1 and `run 5` are the limits, and the complaint.
const LIMITS: &str = r"
100 1 run 5 =>
97 1 run 5 =>
101 1 run 5 => lines of code of a: 101, at most 100: reduce by 1
96 1 run 5 => lines of code of a: 96, limit 100: lower the number to 96 in FILE
100 2 run 5 => cycles of modules of a: 2, at most 1: reduce by 1: b c; d e
100 0 run 5 => cycles of modules of a: 0, limit 1: lower the number to 0 in FILE
100 1 run 7 => options of run: 7, at most 5: reduce by 2
100 1 run 4 => options of run: 4, limit 5: lower the number to 4 in FILE
100 1 => options of run: a limit, but no count: HOW
100 1 run 5 ab 3 => options of ab: 3, without a limit: HOW
";

/// The cells of each line of a table.
fn rows(table: &str) -> impl Iterator<Item = [String; 3]> {
    table.trim().lines().map(|line| {
        let mut cells = line.split(" =>").map(|it| it.trim_start().replace("\\n", "\n"));
        std::array::from_fn(|_| cells.next().unwrap_or_default().replace("\\t", "\t"))
    })
}

#[test]
fn each_rule_complains_of_what_breaks_it() {
    let manifests = crates::ARROWS.map(|it| crates::manifest(it.0));
    let documents = DOCUMENTS.split(' ').map(str::to_owned);
    let empty = manifests.into_iter().chain(documents).map(|path| (path, String::new()));
    let project: BTreeMap<String, String> =
        empty.chain(rows(PROJECT).map(|[path, text, _]| (path, text))).collect();
    for [path, text, expected] in rows(CASES) {
        let text = text.replace("LONG", &"x".repeat(LINE_LENGTH)).replace("UNDONE", UNDONE[0]);
        let text = text.replace("MANY", &"\n".repeat(FILE_LINES + 1));
        let expected =
            expected.replace('@', &path).replace("URL", "https://example.org/me/wirebench");
        let expected = expected.replace("SURPLUS", "not an entry, or is listed twice: remove it");
        let mut project = project.clone();
        project.insert(path.clone(), text.clone());
        project.retain(|_, text| text != "REMOVED");
        let sources: Vec<_> = project.iter().map(|it| source(it.0, it.1)).collect();
        assert_eq!(complaints(&sources).join("\n"), expected, "{path}: {text}");
    }
    assert_eq!(documents::open(&[source("Cargo.toml", "authors = [\"a@localhost\"]\n")]).len(), 1);
}

#[test]
fn cycles_are_found_with_parents_and_through_every_form_of_a_path_and_verbs_that_use_another() {
    for [modules, expected, _] in rows(CYCLES) {
        let of = |(path, code): (&str, &str)| source(&format!("crates/cli/src/{path}.rs"), code);
        let modules = modules.split(" | ").filter_map(|it| it.split_once(':')).map(of);
        let verb = source("crates/cli/src/cmd/v.rs", "use crate::x;\n");
        let (cycles, complaints) = cycles::find(&modules.chain([verb]).collect::<Vec<_>>());
        let wrong = "the verb `w` uses `v`: move what both need into a shared module";
        let found = [&cycles["cli"][..], &complaints].concat().join("\n");
        assert_eq!(found, expected.replace("WRONG", wrong));
    }
    assert_eq!(cycles::find(&[]).1, ["crates/cli/src/cmd: no verbs, adapt VERBS"]);
}

#[test]
fn each_count_of_a_crate_grows_with_what_it_counts() {
    for [path, text, expected] in rows(COUNTS) {
        let text = text.replace("LONG", &"\n".repeat(LONG_FILE + 1));
        let text = text.replace("EXCEPTION", counts::EXCEPTION);
        let text = text.replace("ACCEPTING(", counts::ACCEPTING[0]);
        let counts = counts::of(&[source(&path, &text)], &BTreeMap::new());
        assert_eq!(format!("{:?}", counts.rows[0].1), format!("[{expected}]"), "{path}: {text}");
    }
    let cycles = [("a".to_owned(), vec!["b c".to_owned(); 2])].into();
    let counts = counts::of(&[source("crates/a/src/b.rs", "//! A.")], &cycles);
    assert_eq!(counts.rows[0].1, [0, 0, 0, 2, 0, 0, 0, 0]);
    assert_eq!(counts.details["cycles of modules of a"], "b c; b c");
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
        source(counts::OPTIONS, "run 79\n"),
    ];
    let counts = counts::of(&sources, &BTreeMap::new());
    let expected = [
        ("surplus definitions of pub types with one name", 2),
        ("surplus definitions of pub and pub(..) types with one name", 3),
        ("product crates in xtask/Cargo.toml", 2),
        ("threshold of lines of a function in clippy.toml", 70),
        ("options of run", 79),
    ];
    assert_eq!(counts.rows[4..], expected.map(|(name, count)| (name.to_owned(), vec![count])));
    assert_eq!(counts.details[expected[0].0], "A 3");
}

#[test]
fn more_and_fewer_than_a_limit_and_either_without_the_other_are_reported() {
    let counts = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        let mut rows = vec![("a".to_owned(), vec![number(0), 0, 0, number(1), 0, 0, 0, 0])];
        let options = (2..words.len()).step_by(2);
        rows.extend(options.map(|at| (format!("options of {}", words[at]), vec![number(at + 1)])));
        let details = [("cycles of modules of a".to_owned(), "b c; d e".to_owned())].into();
        counts::Counts { rows, details }
    };
    let limits = counts("100 1 run 5").rows;
    for [text, expected, _] in rows(LIMITS) {
        let how = "compare `cargo xtask tidy --counts` with FILE";
        let expected = expected.replace("HOW", how).replace("FILE", counts::FILE);
        assert_eq!(counts(&text).complaints(&limits).join("\n"), expected);
    }
    let shown = counts("100 2 run 5").shown(&limits);
    let row = "(\"a\", [100, 0, 0, 2, 0, 0, 0, 0]), // limit: [100, 0, 0, 1, 0, 0, 0, 0]\n];\n";
    let is_shown = shown.contains(row) && shown.ends_with("    (\"options of run\", 5),\n];");
    assert!(is_shown, "{shown}");
}

#[test]
fn texts_are_read_outside_of_skipped_folders() {
    let folder = tempfile::tempdir().unwrap();
    let skipped = ["target/f.md", ".git/g.md", "results/h.md"];
    let kept =
        ["a.md", "b/c.toml", "b/e.c", "b/golden/i.txt", "b/results/d.rs", "b/src/target/j.rs"];
    for path in kept.iter().chain(&skipped) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let found = sources::read(folder.path()).unwrap();
    assert_eq!(found.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), kept);
    let texts = kept.map(|path| if path == "b/e.c" { "" } else { "x" });
    assert_eq!(found.iter().map(|it| it.text).collect::<Vec<_>>(), texts);
}
