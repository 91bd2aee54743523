//! What `list` and `versions` show of the project's own entries and of others.

use crate::world::{ENTRY, World, program, repository};
use expect_test::expect_file;
use std::{collections::BTreeSet, fs, path::PathBuf};

/// The first and the last lines of the project's list, and the lines of its entries.
fn of_project(arguments: &[&str]) -> Vec<String> {
    let root = repository().display().to_string();
    let text = World::new().stdout(&[arguments, &["--project", &root]].concat());
    text.lines().map(str::to_owned).collect()
}

#[test]
fn the_projects_list_has_a_line_for_each_entry_and_fits_80_columns() {
    let lines = of_project(&["list"]);
    let names: Vec<&str> = lines
        .iter()
        .skip(1)
        .take_while(|it| !it.is_empty())
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    let files = walk(&repository().join("entries"));
    let (builtins, entries) = names.split_at(2);
    assert_eq!(builtins, ["builtin/epoll", "builtin/io_uring"]);
    assert_eq!(entries, files, "{lines:#?}");
    let wide: Vec<&String> = lines.iter().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let reasons: Vec<&str> =
        lines.iter().filter_map(|it| it.split_once(": ")).map(|it| it.1).collect();
    assert_eq!(reasons.iter().collect::<BTreeSet<_>>().len(), reasons.len(), "{lines:#?}");
}

/// Folders of entries, in the order of their names.
fn walk(entries: &std::path::Path) -> Vec<String> {
    let below = |folder: &std::path::Path| -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path()).collect()
    };
    let files = below(entries).into_iter().flat_map(|it| below(&it));
    let files = files.filter(|it| it.join("entry.toml").is_file());
    let name = |path: PathBuf| path.strip_prefix(entries).unwrap().display().to_string();
    let mut names: Vec<String> = files.map(name).collect();
    names.sort();
    names
}

#[test]
fn documents_count_entries_and_variants_as_the_list_does() {
    let lines = of_project(&["list"]);
    let totals = lines.iter().find(|line| line.contains(" built-in servers: ")).unwrap();
    let words: Vec<&str> = totals.split(' ').collect();
    let [entries, "entries", "with", variants, "variants", "and", "2", ..] = words[..] else {
        panic!("{totals}")
    };
    for (file, sentence) in [
        ("README.md", format!("{entries} entries in C, C++, D, ")),
        ("CHANGELOG.md", format!("- {entries} entries in C, C++, D, ")),
        ("CHANGELOG.md", format!(" with {variants} variants")),
    ] {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        assert!(text.contains(&sentence), "{file} does not contain {sentence:?}");
    }
    let readme = fs::read_to_string(repository().join("entries/README.md")).unwrap();
    let rows = readme.lines().filter(|line| line.starts_with("| [`")).count();
    assert_eq!(rows.to_string(), entries, "rows in entries/README.md");
}

#[test]
fn the_glossary_explains_the_heads_of_columns() {
    let glossary = fs::read_to_string(repository().join("docs/glossary.md")).unwrap();
    let rows = glossary.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let terms: BTreeSet<&str> = rows.flat_map(|terms| terms.split(", ")).collect();
    let world = World::new();
    // Wide enough for all columns.
    let wide = on_terminal(&world, 200, "list");
    let wide = wide.lines().next().unwrap();
    assert!(wide.contains("mechanism") && wide.contains("sharing"), "{wide}");
    let markdown = world.stdout(&["list", "--format=markdown"]);
    let heads =
        [wide, &world.stdout(&["list", "builtin"]), &world.stdout(&["versions"]), &markdown];
    let words = heads.iter().flat_map(|text| text.lines().next().unwrap().split_whitespace());
    for word in words.filter(|word| *word != "|") {
        let is_term = |term: &&str| *term == word || format!("{term}s") == word;
        assert!(terms.iter().any(is_term), "docs/glossary.md does not explain the column `{word}`");
    }
}

/// What wirebench prints to a terminal of this width.
fn on_terminal(world: &World, columns: u16, verb: &str) -> String {
    let program = program().display();
    let line = format!("stty cols {columns}; TERM=dumb {program} {verb} 2>/dev/null");
    world.on_terminal(&line).replace("\r\n", "\n")
}

/// Three entries of two languages: one with variants of two mechanisms, one that needs setup, one that is wrong.
fn entries() -> World {
    let step = "[[build]]\ncommand = [\"true\"]\n";
    let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nmechanism = \"blocking\"\n\
                    [[variant]]\nname = \"published\"\n";
    let lacks = |name: &str| format!("[[variant.requires]]\ncommand = \"{name}\"\n");
    let needs = "[[requires]]\ncommand = \"no-such-program\"\ndebian = [\"some-package\"]\n";
    let some = format!(
        "{ENTRY}[[variant]]\nname = \"a\"\n{}[[variant]]\nname = \"b\"\n{}[[variant]]\nname = \"c\"\n",
        lacks("no-such"),
        lacks("nor-this")
    );
    World::new()
        .with_entry("c/several", &format!("{ENTRY}{step}{variants}"))
        .with_entry("c/needy", &format!("{ENTRY}{needs}"))
        .with_entry("go/needy", &format!("{ENTRY}{needs}"))
        .with_entry("go/some", &some)
        .with_entry("go/wrong", &ENTRY.replace("skips", "skipz"))
}

#[test]
fn entries_are_folded_filtered_and_their_reasons_are_said_once() {
    let world = entries();
    let own = ["--language", "c", "--language", "go"];
    let mut text = String::new();
    for (arguments, is_whole) in [
        (&["list"][..], true),
        (&["list", "*/*"], true),
        (&["list", "--ready"], false),
        (&["list", "--missing"], false),
        (&["list", "--mechanism", "blocking"], false),
        (&["list", "--framework", "*e*"], false),
        (&["list", "--framework", "wrong", "--ready"], true),
    ] {
        let shown = world.stdout(&[arguments, &own].concat());
        // Reasons and totals of a filtered list are made as those of a whole one.
        let rows = shown.split_once("\n\n").filter(|_| !is_whole);
        let shown = rows.map_or(shown.clone(), |(rows, _)| format!("{rows}\n"));
        text += &format!("$ wirebench {}\n{shown}\n", arguments.join(" "));
    }
    text += &format!("$ wirebench versions c/ go/\n{}", world.stdout(&["versions", "c/", "go/"]));
    expect_file!["../golden/lists.txt"].assert_eq(&text);
    assert!(world.stdout(&["versions", "--format=markdown"]).starts_with("| entry"));
    for (option, message) in [
        (
            "--language=goo",
            "unknown language `goo`: did you mean `go`? (`wirebench list` shows all)",
        ),
        (
            "--framework=sever",
            "unknown framework `sever`: did you mean `several`? (`wirebench list` shows all)",
        ),
    ] {
        world.wirebench(&["list", option]).assert_error(2, message);
    }
}

#[test]
fn lists_are_as_wide_as_the_terminal() {
    let probe = "[[version]]\nname = \"another\"\ncommand = [\"cat\", \"--version\"]\npattern = '(\\d+\\.\\d+)'\n";
    let world = World::new().with_entry(
        "c/x",
        &ENTRY.replace(
            "[run]",
            &format!(
                "{}[run]",
                [
                    probe,
                    &probe.replace("another", "a-third"),
                    &probe.replace("another", "a-fourth")
                ]
                .concat()
            ),
        ),
    );
    for (verb, columns) in [("versions", 44), ("versions", 60), ("list", 80), ("list", 100)] {
        let text = on_terminal(&world, columns, verb);
        assert!(text.contains("c/x "), "{text}");
        let wide = text.lines().find(|line| line.chars().count() > columns.into());
        assert_eq!(wide, None, "{verb} {columns}: {text}");
    }
    let text = on_terminal(&world, 44, "versions");
    assert!(text.contains("a-third ") && text.contains("a-fourth "), "{text}");
}
