//! Rejects phrases that the project's plain English has replaced, in Markdown, TOML and Rust.
//!
//! A phrase is on the list only if every use of it can be rewritten; style beyond that is left to reviewers.

use std::collections::HashMap;

use super::sources::Source;

const RETIRED: &str = include_str!("phrases.txt");
/// Ends of parts of a sentence, across which no phrase goes.
const ENDS: &str = ".:;,!?(){}|";

/// A complaint for each retired phrase, with the line of its end.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let mut phrases: HashMap<&str, Vec<(Vec<&str>, &str)>> = HashMap::new();
    for (phrase, instead) in RETIRED.lines().filter_map(|line| line.split_once(" => ")) {
        let words: Vec<&str> = phrase.split(' ').collect();
        for first in words[0].split('|') {
            phrases.entry(first).or_default().push((words.clone(), instead));
        }
    }
    let is_text = |it: &&Source| [".md", ".toml", ".rs"].iter().any(|end| it.path.ends_with(end));
    let mut complaints = Vec::new();
    for source in sources.iter().filter(is_text) {
        let text = source.text.to_lowercase();
        let words = words(&text);
        for (at, (_, first)) in words.iter().enumerate() {
            for (phrase, instead) in phrases.get(first).into_iter().flatten() {
                let Some(found) = words.get(at..at + phrase.len()) else { continue };
                let mut pairs = found.iter().zip(phrase);
                if pairs.all(|(word, choice)| choice.split('|').any(|it| it == word.1)) {
                    let shown: Vec<&str> = found.iter().map(|it| it.1).collect();
                    let (path, line, shown) =
                        (&source.path, found.last().map_or(0, |it| it.0), shown.join(" "));
                    complaints
                        .push(format!("{path}:{line}: instead of `{shown}` write: {instead}"));
                }
            }
        }
    }
    complaints
}

/// The words of a text and the signs that end parts of a sentence, each with its line. Line breaks, comment markers and
/// the underscores of identifiers separate words.
fn words(text: &str) -> Vec<(usize, &str)> {
    let is_of_word = |sign: char| sign.is_ascii_alphanumeric() || "-'".contains(sign);
    let mut words = Vec::new();
    for (number, mut line) in (1..).zip(text.lines()) {
        while let Some(begin) = line.find(|it| is_of_word(it) || ENDS.contains(it)) {
            let rest = &line[begin..];
            let end = rest.find(|it| !is_of_word(it)).unwrap_or(rest.len()).max(1);
            let word;
            (word, line) = rest.split_at(end);
            words.push((number, word.trim_matches('\'')));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{super::sources::source, *};

    /// Complaints about a text in which `LIMIT` stands for a word, because the text would be a complaint itself.
    fn found(path: &str, text: &str) -> Vec<String> {
        complaints(&[source(path, &text.replace("LIMIT", "most"))])
    }

    #[test]
    fn a_retired_phrase_is_found_with_its_line_unless_the_words_are_only_similar() {
        let expected =
            "2: instead of `at the LIMIT` write: at most, at least".replace("LIMIT", "most");
        for (path, text) in [
            ("a.md", "one\nAt the LIMIT two"),
            ("b/c.toml", "# two at the\n# LIMIT three"),
            ("b/d.rs", "\nfn two_at_the_LIMIT() {}"),
            ("b/d.rs", "\"two at the \\\n 'LIMIT'\""),
        ] {
            assert_eq!(found(path, text), [format!("{path}:{expected}")]);
        }
        for text in
            ["at most", "at the. LIMIT", "at the LIMITs", "at the LIMIT's", "(at the) LIMIT"]
        {
            assert_eq!(found("a.md", text), [""; 0], "{text}");
        }
        assert_eq!(found("b/golden/e.txt", "at the LIMIT"), [""; 0]);
    }
}
