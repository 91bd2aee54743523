//! Each rule complains of what breaks it, and each count grows with its subject.

use super::{
    sources::{Source, read},
    *,
};
use crate::step::{at_root, output};

/// Tables, each below a line with its name and an explanation.
const TABLES: &str = include_str!("cases.txt");

fn source(path: &str, text: &str) -> Source {
    Source::new(path, text.to_owned())
}

/// The cells of each line of a table.
fn rows(table: &str) -> impl Iterator<Item = [String; 3]> {
    let (_, rows) = TABLES.split_once(&format!("# {table}: ")).unwrap();
    rows.split("\n\n").next().unwrap().lines().skip(1).map(|line| {
        let mut cells = line.split(" =>").map(|it| it.trim_start().replace("\\n", "\n"));
        std::array::from_fn(|_| cells.next().unwrap_or_default().replace("\\t", "\t"))
    })
}

#[test]
fn each_rule_complains_of_what_breaks_it() {
    let project: BTreeMap<_, _> = rows("PROJECT").map(|[path, text, _]| (path, text)).collect();
    for [path, text, expected] in rows("CASES") {
        // Words that would be complaints of this project too.
        let text = text.replace("LIMIT", "most").replace("LONG", &"x".repeat(rules::LINE_LENGTH));
        let text = text.replace("MANY", &"\n".repeat(rules::FILE_LINES + 1));
        let instead = concat!("instead of `at the", " most` write: at most, at least");
        let expected = expected.replace('@', &path).replace("INSTEAD", instead);
        let mut project = project.clone();
        project.insert(path.clone(), text.clone());
        let sources: Vec<_> = project.iter().map(|it| source(it.0, it.1)).collect();
        assert_eq!(rules::complaints(&sources).join("\n"), expected, "{path}: {text}");
    }
}

#[test]
fn cycles_are_found_with_parents_and_through_every_form_of_a_path_and_verbs_that_use_another() {
    for [modules, expected, _] in rows("CYCLES") {
        let of = |(path, code): (&str, &str)| source(&format!("crates/cli/src/{path}.rs"), code);
        let modules = modules.split(" | ").filter_map(|it| it.split_once(':')).map(of);
        let verb = source("crates/cli/src/cmd/v.rs", "use crate::x;\n");
        let sources: Vec<_> = modules.chain([verb]).collect();
        let (cycles, complaints) = cycles::find(&sources);
        let wrong = "the verb `w` uses `v`: move what both need into a shared module";
        let found = [&cycles["cli"][..], &complaints].concat().join("\n");
        assert_eq!(found, expected.replace("WRONG", wrong), "{sources:?}");
    }
}

#[test]
fn each_count_of_a_crate_grows_with_what_it_counts() {
    for [path, text, expected] in rows("COUNTS") {
        let text = text.replace("LONG", &"\n".repeat(counts::LONG_FILE + 1));
        let text = text.replace("EXCEPTION", counts::EXCEPTION);
        let text = text.replace("ACCEPTING", counts::ACCEPTING[0]);
        let sources = [source(&path, &text)];
        let counts = counts::of_crates(&sources, &BTreeMap::new());
        assert_eq!(format!("{:?}", counts[0].1), format!("[{expected}]"), "{path}: {text}");
    }
    let sources = [source("crates/a/src/b.rs", "//! A.")];
    let cycles = [("a", vec!["b c".to_owned(); 2])].into();
    assert_eq!(counts::of_crates(&sources, &cycles), [("a", [0, 0, 0, 2, 0, 0, 0, 0])]);
}

#[test]
fn counts_of_the_workspace_are_read_from_types_and_the_golden_file() {
    let types = "pub struct A;\npub(crate) enum A {}\npub enum A {}\nstruct A;\n";
    let sources = [
        source("crates/a/src/b.rs", types),
        source("crates/b/src/b.rs", "pub type A = B;\npub(super) struct Arguments;\n"),
        source("xtask/src/c.rs", "pub(crate) struct Arguments;\n"),
        source(counts::OPTIONS, "run 79\n"),
    ];
    let (counts, names) = counts::of_workspace(&sources);
    let expected = [
        ("surplus definitions of pub types with one name", 2),
        ("surplus definitions of pub and pub(..) types with one name", 3),
        ("options of run", 79),
    ];
    assert_eq!(counts, expected);
    assert_eq!(names, ["A: 3 definitions", "A: 4 definitions"]);
}

#[test]
fn more_and_fewer_than_a_limit_and_either_without_the_other_are_reported() {
    let limits = [("a", [100, 0, 0, 1, 0, 0, 0, 0])];
    for [text, expected, _] in rows("LIMITS") {
        let words: Vec<&str> = text.split(' ').collect();
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        let crates = [("a", [number(0), 0, 0, number(1), 0, 0, 0, 0])];
        let others = (2..words.len()).step_by(2).map(|at| (words[at], number(at + 1)));
        let others: Vec<_> = others.collect();
        let complaints = counts::complaints(flat(&crates, &others), flat(&limits, &[("run", 5)]));
        let how = "compare `cargo xtask tidy --counts` with FILE";
        let expected = expected.replace("HOW", how).replace("FILE", counts::FILE);
        assert_eq!(complaints.join("\n"), expected);
    }
}

#[test]
fn texts_are_read_outside_of_skipped_folders() {
    let folder = tempfile::tempdir().unwrap();
    output(at_root("git", ["init", "--quiet"]).current_dir(folder.path())).unwrap();
    let kept = ["a.md", "b/c.toml", "b/e.c", "b/golden/i.txt", "b/results/d.rs"];
    for path in kept.iter().chain(&["target/f.md", ".gitignore", "b/.g/h.md", "results/h.md"]) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "target\n").unwrap();
    }
    let found = read(folder.path()).unwrap();
    let expected = kept.map(|path| (path, if path == "b/e.c" { "" } else { "target\n" }));
    assert_eq!(found.iter().map(|it| (&*it.path, it.text)).collect::<Vec<_>>(), expected);
}
