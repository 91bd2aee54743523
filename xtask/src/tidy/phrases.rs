//! Rejects phrases that the project's plain English has replaced, in Markdown, TOML and Rust.
//!
//! A phrase is on the list only if every use of it can be rewritten; style beyond that is left to reviewers.

use std::{fs, path::Path};
use walkdir::{DirEntry, WalkDir};

/// Phrases in lower case, each with what to write instead.
const RETIRED: [(&str, &str); 41] = [
    ("nobody", "no process, no client"),
    ("somebody", "another process, another program"),
    ("everybody", "every client, any"),
    ("is told", "is reported, is shown"),
    ("are told", "are reported, are shown"),
    ("be told", "be reported, be distinguished"),
    ("dearer", "uses more CPU"),
    ("unwise", "warning"),
    ("beyond the noise", "significant, larger than the noise"),
    ("so many", "N, this many"),
    ("at the most", "at most"),
    ("at the least", "at least"),
    ("at the longest", "at most"),
    ("made-up", "synthetic, fixture"),
    ("hold against", "compare with"),
    ("holds against", "compares with"),
    ("held against", "compared with"),
    ("all the same", "anyway, identical"),
    ("leave out", "skip"),
    ("leaves out", "skips"),
    ("leaving out", "skipping"),
    ("bring it", "install it"),
    ("brings it", "installs it"),
    ("brings them", "installs them"),
    ("stands behind", "follows"),
    ("stands beside", "is next to"),
    ("stand beside", "are next to"),
    ("other people's", "third-party"),
    ("somebody else's", "third-party"),
    ("worth a word", "worth a remark"),
    ("cannot tell", "is inconclusive, does not report"),
    ("in relation to", "relative to, compared with"),
    ("what came of", "result of"),
    ("must be said of", "finding about"),
    ("carries out", "runs, executes"),
    ("makes load", "generates load"),
    ("makes the load", "generates the load"),
    ("told apart", "distinguished"),
    ("tell apart", "distinguish"),
    ("waiting set the rate", "neither side was the bottleneck"),
    ("share of luck", "the same random layout effects"),
];
/// The list above would complain of itself.
const THIS_FILE: &str = "xtask/src/tidy/phrases.rs";
/// Reports of earlier versions, as these printed them.
const RESULTS: &str = "results";

/// A complaint for each retired phrase below `root`.
pub(super) fn complaints(root: &Path) -> Vec<String> {
    let kept = |entry: &DirEntry| {
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let name = entry.file_name().to_string_lossy();
        let hidden = name.starts_with('.') || name == "target" || name == "node_modules";
        entry.depth() == 0
            || !hidden && ![THIS_FILE, RESULTS].iter().any(|it| path == Path::new(it))
    };
    let entries = WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(kept).flatten();
    let texts = entries.filter(|entry| {
        let kind = entry.path().extension().and_then(|kind| kind.to_str());
        entry.file_type().is_file() && kind.is_some_and(|kind| ["md", "toml", "rs"].contains(&kind))
    });
    texts
        .filter_map(|entry| {
            let text = fs::read_to_string(entry.path()).ok()?;
            let shown =
                entry.path().strip_prefix(root).unwrap_or(entry.path()).display().to_string();
            Some(retired(&shown, &text))
        })
        .flatten()
        .collect()
}

/// Complaints about one text. Phrases are found across line breaks, comment markers and the
/// underscores of identifiers.
fn retired(shown: &str, text: &str) -> Vec<String> {
    let words = words(text);
    let mut complaints = Vec::new();
    for (phrase, instead) in RETIRED {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        for found in words.windows(wanted.len()) {
            if found.iter().map(|(_, word)| word).eq(&wanted) {
                let line = found[0].0;
                complaints.push(format!("{shown}:{line}: instead of `{phrase}` write: {instead}"));
            }
        }
    }
    complaints
}

/// The words of `text` in lower case, with their line numbers. The end of a sentence is a word, so
/// that no phrase is found across it.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let of_word = |letter: char| letter.is_alphanumeric() || letter == '\'' || letter == '-';
        let is_end = |letter: char| ".:;,!?(){}|".contains(letter);
        let parts = line.split_inclusive(|letter| !of_word(letter));
        for part in parts {
            let word =
                part.trim_matches(|letter| !of_word(letter)).trim_matches('\'').to_lowercase();
            if !word.is_empty() {
                words.push((number, word));
            }
            if part.ends_with(is_end) {
                words.push((number, ".".to_owned()));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retired_phrase_is_found_with_its_line() {
        let found = |text: &str| retired("a.md", text);
        let expected = "a.md:2: instead of `at the most` write: at most";
        assert_eq!(found("one\nAt the most two"), [expected]);
        assert_eq!(found("one\n/// two at the\n/// most three"), [expected]);
        assert_eq!(found("fn waits() {}\nfn two_at_the_most() {}"), [expected]);
        assert_eq!(found("one\n\"two at the \\\n most\""), [expected]);
    }

    #[test]
    fn similar_words_are_accepted() {
        for text in
            ["at most", "at the. Most", "at the mosts", "someone is toldest", "(at the) most"]
        {
            assert_eq!(retired("a.md", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn only_texts_outside_of_excluded_folders_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "nobody").unwrap();
        };
        for path in ["a.md", "b/c.toml", "b/d.rs", "b/e.c", "target/f.md", ".git/g.md", THIS_FILE] {
            write(path);
        }
        let found = complaints(folder.path());
        let files: Vec<&str> = found.iter().filter_map(|it| it.split(':').next()).collect();
        assert_eq!(files, ["a.md", "b/c.toml", "b/d.rs"]);
    }
}
