//! The table agrees with the program and with the manual.

use super::*;
use clap::Parser as _;
use expect_test::expect_file;
use std::collections::{BTreeMap, BTreeSet};

/// Letters that have several meanings, with the options that they stand for. `-q` is the rate of hey and oha.
const AMBIGUOUS: [(char, &[&str]); 1] = [('q', &["quiet", "rate"])];

fn built() -> Command {
    let mut command = Arguments::command();
    command.build();
    command
}

#[test]
fn a_letter_has_one_meaning_in_all_verbs() {
    let mut meanings: BTreeMap<char, BTreeSet<String>> = BTreeMap::new();
    for verb in built().get_subcommands().filter(|it| !it.is_hide_set()) {
        for argument in verb.get_arguments() {
            let long = argument.get_long().unwrap_or_default().to_owned();
            for letter in argument.get_short_and_visible_aliases().unwrap_or_default() {
                meanings.entry(letter).or_default().insert(long.clone());
            }
        }
    }
    let several = meanings.iter().filter(|(_, longs)| longs.len() > 1);
    let found: Vec<(char, Vec<&str>)> = several
        .map(|(letter, longs)| (*letter, longs.iter().map(String::as_str).collect()))
        .collect();
    let expected = AMBIGUOUS.map(|(letter, longs)| (letter, longs.to_vec()));
    assert_eq!(found, expected);
}

#[test]
fn every_answer_names_options_that_load_has_and_none_is_given_for_one_of_its_own() {
    let command = built();
    let load = command.find_subcommand("load").unwrap();
    let mut names = BTreeSet::new();
    for (given, answer) in rows(OPTIONS) {
        for option in options(answer) {
            assert!(has(load, option), "{option} of {answer:?}");
        }
        for name in given {
            assert!(!has(load, name), "load has {name} itself");
            assert!(names.insert(name.to_owned()), "{name} has two answers");
        }
    }
    for name in rows(REMOVED).flat_map(|(names, _)| names) {
        assert!(command.get_subcommands().any(|it| of_option(it, name).is_some()), "{name}");
    }
    for (_, verb) in VERBS {
        assert!(command.find_subcommand(verb).is_some(), "{verb}");
    }
}

/// The tables of the manual: what another tool calls an option, and what it is here.
#[test]
fn the_options_in_the_tables_of_the_manual_exist_and_those_of_other_tools_have_an_answer() {
    let manual = include_str!("../../../../docs/load.md");
    let (_, tables) = manual.split_once("## Coming from other tools").unwrap();
    let command = built();
    let code = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut seen = 0;
    for line in tables.lines().filter(|it| it.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [theirs, ours] = cells.as_slice() else { panic!("{line}") };
        seen += 1;
        for text in code(ours) {
            let verb = text.strip_prefix("wirebench ").and_then(|it| it.split(' ').next());
            let verb = command.find_subcommand(verb.unwrap_or("load")).unwrap();
            // What is in quotes is a value.
            let text: String = text.split('\'').step_by(2).collect();
            for option in text.split(' ').filter(|it| it.starts_with('-') && it.len() > 1) {
                let option = option.split('=').next().unwrap();
                assert!(has(verb, option), "`{}` has no {option}: {line}", verb.get_name());
            }
        }
        let load = command.find_subcommand("load").unwrap();
        for text in code(theirs) {
            let Some(option) = text.split([' ', '=']).next().filter(|it| it.starts_with('-'))
            else {
                continue;
            };
            let is_known =
                has(load, option) || rows(OPTIONS).any(|(given, _)| given.contains(&option));
            let is_of_commands = ours.contains("`wirebench ");
            assert!(is_known || is_of_commands, "no answer for {option}: {line}");
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn words_of_other_tools_are_answered_with_those_of_this_one() {
    let url = "http://127.0.0.1:8080/";
    let lines: [&[&str]; 20] = [
        &["load", "-k", url],
        &["load", "-o", "out.csv", url],
        &["load", "-t", "5s", url],
        &["load", "-d", "{\"a\":1}", url],
        &["load", "-p", "body.json", url],
        &["load", "-disable-keepalive", url],
        &["load", "-h2", url],
        &["run", "-m", "POST", url],
        &["run", "--vus", "10", url],
        &["run", "--markdown"],
        &["list", "--html"],
        &["versions", "--csv"],
        &["load", "--html", url],
        &["ab", "-n", "100", "-c", "10", url],
        &["rn"],
        &["attack"],
        &[url],
        &["-t2", "-c10", url],
        &["load", "--no-such-option", url],
        &["no-such-verb"],
    ];
    let mut text = String::new();
    for line in lines {
        let words: Vec<String> = line.iter().map(|it| (*it).to_owned()).collect();
        let error = Arguments::try_parse_from([&["wirebench"], line].concat()).unwrap_err();
        let shown = answer(&error, &words).unwrap_or_else(|| {
            let first = error.to_string();
            format!("clap: {}", first.lines().next().unwrap_or_default())
        });
        text += &format!("$ wirebench {}\n{shown}\n\n", line.join(" "));
    }
    expect_file!["../../tests/golden/unit/foreign.txt"].assert_eq(&text);
}
