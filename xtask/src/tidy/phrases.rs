//! Rejects phrases that the project's plain English has replaced, in Markdown, TOML and Rust.
//!
//! A phrase is on the list only if every use of it can be rewritten; style beyond that is left to reviewers.

use std::collections::HashSet;

use super::sources::Source;

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

/// A complaint for each retired phrase.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let is_text = |it: &&Source| [".md", ".toml", ".rs"].iter().any(|end| it.path.ends_with(end));
    let texts = sources.iter().filter(is_text).filter(|it| it.path != THIS_FILE);
    texts.flat_map(|it| retired(&it.path, &it.text)).collect()
}

/// Complaints about one text. Phrases are found across line breaks, comment markers and the
/// underscores of identifiers.
fn retired(shown: &str, text: &str) -> Vec<String> {
    // By the first byte of a word: a bit for each length that the first word of a phrase has.
    let mut lengths = [0_u64; 256];
    let first: HashSet<&str> = RETIRED.iter().filter_map(|it| it.0.split(' ').next()).collect();
    for word in &first {
        lengths[usize::from(word.as_bytes()[0])] |= 1 << word.len();
    }
    let text = text.to_ascii_lowercase() + " ";
    let (bytes, mut start, mut at) = (text.as_bytes(), 0, 0);
    let mut complaints = Vec::new();
    // Iterators over bytes are several times slower in a build without optimisation.
    while at < bytes.len() {
        if !is_of_word(bytes[at]) {
            let end = if at > start && bytes[at - 1] == b'\'' { at - 1 } else { at };
            let is_length = |bits: u64| (bits >> (end - start).min(63)) & 1 == 1;
            if end > start
                && is_length(lengths[usize::from(bytes[start])])
                && first.contains(&text[start..end])
            {
                for (phrase, instead) in phrases_at(&text[start..]) {
                    let line = 1 + text[..start].matches('\n').count();
                    complaints
                        .push(format!("{shown}:{line}: instead of `{phrase}` write: {instead}"));
                }
            }
            start = at + 1;
        } else if start == at && bytes[at] == b'\'' {
            start += 1;
        }
        at += 1;
    }
    complaints
}

fn is_of_word(sign: u8) -> bool {
    matches!(sign, b'a'..=b'z' | b'0'..=b'9' | b'\'' | b'-')
}

/// Phrases that a text in lower case begins with. The end of a sentence is a word, so that no phrase is found across
/// it.
fn phrases_at(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = text.split_inclusive(|sign| !u8::try_from(sign).is_ok_and(is_of_word));
    let words = parts.flat_map(|part| {
        let (word, sign) =
            part.split_at(part.len() - part.chars().next_back().map_or(0, char::len_utf8));
        let end = ".:;,!?(){}|".contains(sign).then_some(".");
        let word = word.trim_matches('\'');
        (!word.is_empty()).then_some(word).into_iter().chain(end)
    });
    let words: Vec<&str> = words.take(5).collect();
    let begins = move |phrase: &str| {
        let mut words = words.iter();
        phrase.split(' ').all(|it| words.next() == Some(&it))
    };
    RETIRED.into_iter().filter(move |it| begins(it.0))
}

#[cfg(test)]
mod tests {
    use super::{super::sources::source, *};

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
    fn golden_files_and_this_file_may_have_retired_phrases() {
        let files = ["a.md", "b/c.toml", "b/d.rs", "b/golden/e.txt", THIS_FILE];
        let found = complaints(&files.map(|path| source(path, "nobody")));
        let expected = ["a.md", "b/c.toml", "b/d.rs"];
        let write = |path| format!("{path}:1: instead of `nobody` write: no process, no client");
        assert_eq!(found, expected.map(write));
    }
}
