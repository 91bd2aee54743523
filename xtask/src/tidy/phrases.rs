//! Rejects phrases that the project's plain English has replaced, in Markdown, TOML and Rust.
//!
//! A phrase is on the list only if every use of it can be rewritten; style beyond that is left to reviewers.

use super::sources::Source;

/// Phrases in lower case, each with what to write instead. `|` separates alternatives of one word.
const RETIRED: [(&str, &str); 28] = [
    ("nobody|somebody", "no process, another process, third-party"),
    ("everybody", "every client, any"),
    ("is|are|be told", "is reported, is shown, is distinguished"),
    ("dearer", "uses more CPU"),
    ("unwise", "warning"),
    ("beyond the noise", "significant, larger than the noise"),
    ("so many", "N, this many"),
    ("at the most|least|longest", "at most, at least"),
    ("made-up", "synthetic, fixture"),
    ("hold|holds|held against", "compare with"),
    ("all the same", "anyway, identical"),
    ("leave|leaves|leaving out", "skip"),
    ("bring|brings it", "install it"),
    ("brings them", "installs them"),
    ("stands behind", "follows"),
    ("stands|stand beside", "is next to"),
    ("other people's", "third-party"),
    ("worth a word", "worth a remark"),
    ("cannot tell", "is inconclusive, does not report"),
    ("in relation to", "relative to, compared with"),
    ("what came of", "result of"),
    ("must be said of", "finding about"),
    ("carries out", "runs, executes"),
    ("makes load", "generates load"),
    ("makes the load", "generates the load"),
    ("told|tell apart", "distinguish"),
    ("waiting set the rate", "neither side was the bottleneck"),
    ("share of luck", "the same random layout effects"),
];
/// The list above would complain of itself.
const THIS_FILE: &str = "xtask/src/tidy/phrases.rs";
/// Ends of parts of a sentence, across which no phrase goes.
const ENDS: &str = ".:;,!?(){}|";

/// A complaint for each retired phrase, with the line of its end.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let mut phrases = Vec::new();
    for (phrase, instead) in RETIRED {
        let mut all = vec![String::new()];
        for word in phrase.split(' ') {
            let longer = |it: &String| word.split('|').map(|word| format!("{it} {word}")).collect();
            all = all.iter().flat_map(|it| -> Vec<String> { longer(it) }).collect();
        }
        phrases.extend(all.into_iter().map(|it| (it.trim_start().to_owned(), instead)));
    }
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| it.path != THIS_FILE) {
        if ![".md", ".toml", ".rs"].iter().any(|end| source.path.ends_with(end)) {
            continue;
        }
        let text = source.text.to_lowercase();
        let mut found = Vec::new();
        for (phrase, instead) in &phrases {
            let last = phrase.rsplit(' ').next().unwrap_or_default();
            let ends = text.match_indices(last).map(|(at, _)| at + last.len());
            // A genitive is another word.
            let goes_on = |rest: &str| rest.trim_start_matches('\'').starts_with(is_of_word);
            let ends = ends.filter(|end| !goes_on(&text[*end..]));
            found.extend(ends.filter(|end| is_before(&text[..*end], phrase)).map(|end| {
                let line = text[..end].matches('\n').count() + 1;
                (line, format!("instead of `{phrase}` write: {instead}"))
            }));
        }
        found.sort();
        complaints.extend(found.iter().map(|(line, it)| format!("{}:{line}: {it}", source.path)));
    }
    complaints
}

fn is_of_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '-'
}

/// Compares the end of a text with a phrase word by word: across line breaks, comment markers and the underscores of
/// identifiers, but not across the end of a part of a sentence.
fn is_before(text: &str, phrase: &str) -> bool {
    let mut rest = text;
    for word in phrase.rsplit(' ') {
        let trimmed = rest.trim_end_matches(|it| !is_of_word(it) && !ENDS.contains(it));
        let gap = rest.len() - trimmed.len();
        let Some(before) = trimmed.strip_suffix(word) else { return false };
        if before.ends_with(is_of_word) || gap == 0 && rest.len() < text.len() {
            return false;
        }
        rest = before;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{super::sources::source, *};

    #[test]
    fn a_retired_phrase_is_found_with_its_line_unless_the_words_are_only_similar() {
        let found = |text: &str| complaints(&[source("a.md", text)]);
        for text in [
            "one\nAt the most two",
            "/// two at the\n/// most three",
            "\nfn two_at_the_most() {}",
            "\"two at the \\\n 'most'\"",
        ] {
            assert_eq!(found(text), ["a.md:2: instead of `at the most` write: at most, at least"]);
        }
        for text in
            ["at most", "at the. Most", "at the mosts", "someone is toldest", "(at the) most"]
        {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn golden_files_and_this_file_may_have_retired_phrases() {
        let files = ["a.md", "b/c.toml", "b/d.rs", "b/golden/e.txt", THIS_FILE];
        let found = complaints(&files.map(|path| source(path, "dearer")));
        let write = |path| format!("{path}:1: instead of `dearer` write: uses more CPU");
        assert_eq!(found, ["a.md", "b/c.toml", "b/d.rs"].map(write));
    }
}
