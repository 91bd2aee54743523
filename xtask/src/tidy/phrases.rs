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
/// By byte: a part of a word in lower case, the end of a part of a sentence, or neither.
const SIGNS: [u8; 256] = {
    let (mut signs, mut at) = ([0; 256], 0);
    while at < 128 {
        signs[at] = match at as u8 {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => OF_WORD,
            b'.' | b':' | b';' | b',' | b'!' | b'?' | b'(' | b')' | b'{' | b'}' | b'|' => END,
            _ => 0,
        };
        at += 1;
    }
    signs
};
const OF_WORD: u8 = 1;
const END: u8 = 2;

/// A complaint for each retired phrase, with the line of its end. Phrases are found across line breaks, comment markers
/// and the underscores of identifiers, but not across a part of a sentence.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let mut phrases = Vec::new();
    // By the first and by the last byte of a phrase's last word: a bit for each length of such words.
    let (mut firsts, mut lasts) = ([0_u64; 256], [0_u64; 256]);
    for (phrase, instead) in RETIRED {
        let mut all = vec![String::new()];
        for word in phrase.split(' ') {
            let longer = |it: &String| word.split('|').map(|word| format!("{it} {word}")).collect();
            all = all.iter().flat_map(|it| -> Vec<String> { longer(it) }).collect();
        }
        for last in phrase.split(' ').next_back().unwrap_or_default().split('|').map(str::as_bytes)
        {
            firsts[usize::from(last[0])] |= 1 << last.len();
            lasts[usize::from(last[last.len() - 1])] |= 1 << last.len();
        }
        phrases.extend(all.into_iter().map(|phrase| (phrase, instead)));
    }
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| it.path != THIS_FILE) {
        if ![".md", ".toml", ".rs"].iter().any(|end| source.path.ends_with(end)) {
            continue;
        }
        let text = source.text.to_lowercase() + "\n";
        let bytes = text.as_bytes();
        // All words so far, a space before each, and a full stop for the end of a part of a sentence.
        let mut words = Vec::with_capacity(bytes.len());
        let (mut line, mut begin, mut at) = (1, 0, 0);
        // Iterators over bytes are several times slower in a build without optimisation.
        while at < bytes.len() {
            let sign = SIGNS[bytes[at] as usize];
            let is_within =
                bytes[at] == b'\'' && begin < at && SIGNS[bytes[at + 1] as usize] == OF_WORD;
            if sign != OF_WORD && !is_within {
                if begin < at {
                    words.push(b' ');
                    words.extend_from_slice(&bytes[begin..at]);
                    let bits =
                        firsts[usize::from(bytes[begin])] & lasts[usize::from(bytes[at - 1])];
                    if bits >> (at - begin).min(63) & 1 == 1 {
                        let found = phrases.iter().filter(|it| words.ends_with(it.0.as_bytes()));
                        complaints.extend(found.map(|(phrase, instead)| {
                            let phrase = phrase.trim_start();
                            format!(
                                "{}:{line}: instead of `{phrase}` write: {instead}",
                                source.path
                            )
                        }));
                    }
                }
                if sign == END {
                    words.push(b'.');
                }
                line += usize::from(bytes[at] == b'\n');
                begin = at + 1;
            }
            at += 1;
        }
    }
    complaints
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
            "fn waits() {}\nfn two_at_the_most() {}",
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
