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
static SIGNS: [u8; 256] = {
    let (mut signs, mut at) = ([BETWEEN; 256], 0);
    while at < 128 {
        signs[at] = match at as u8 {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => OF_WORD,
            b'.' | b':' | b';' | b',' | b'!' | b'?' | b'(' | b')' | b'{' | b'}' | b'|' => END,
            _ => BETWEEN,
        };
        at += 1;
    }
    signs
};
const OF_WORD: u8 = 1;
const END: u8 = 2;
const BETWEEN: u8 = 0;

/// A complaint for each retired phrase, with the line of its end.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    // Phrases by their last two bytes.
    let key =
        |bytes: &[u8], end: usize| usize::from(bytes[end - 1]) << 8 | usize::from(bytes[end - 2]);
    let mut phrases = vec![Vec::new(); 1 << 16];
    for (phrase, instead) in RETIRED {
        let mut all = vec![String::new()];
        for word in phrase.split(' ') {
            let longer = |it: &String| word.split('|').map(|word| format!("{it} {word}")).collect();
            all = all.iter().flat_map(|it| -> Vec<String> { longer(it) }).collect();
        }
        for phrase in all.iter().map(|it| it.trim_start().to_owned()) {
            phrases[key(phrase.as_bytes(), phrase.len())].push((phrase, instead));
        }
    }
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|it| it.path != THIS_FILE) {
        if ![".md", ".toml", ".rs"].iter().any(|end| source.path.ends_with(end)) {
            continue;
        }
        let text = format!(" {}\n\n", source.text.to_lowercase());
        let (bytes, mut line, mut at) = (text.as_bytes(), 1, 1);
        // Iterators over bytes are several times slower in a build without optimisation.
        while at < bytes.len() - 1 {
            let next = bytes[at];
            if SIGNS[next as usize] == OF_WORD {
                at += 1;
                continue;
            }
            let is_in_word = next == b'\'' && SIGNS[bytes[at + 1] as usize] == OF_WORD;
            if SIGNS[bytes[at - 1] as usize] == OF_WORD && !is_in_word {
                let found = phrases[key(bytes, at)].iter().filter(|it| ends(bytes, at, &it.0));
                complaints.extend(found.map(|(phrase, instead)| {
                    format!("{}:{line}: instead of `{phrase}` write: {instead}", source.path)
                }));
            }
            line += usize::from(next == b'\n');
            at += 1;
        }
    }
    complaints
}

/// Compares the text before `at` with a phrase backwards: across line breaks, comment markers and the underscores of
/// identifiers, but not across the end of a part of a sentence.
fn ends(bytes: &[u8], mut at: usize, phrase: &str) -> bool {
    for byte in phrase.bytes().rev() {
        let end = at;
        while byte == b' ' && at > 0 && SIGNS[bytes[at - 1] as usize] == BETWEEN {
            at -= 1;
        }
        if byte != b' ' && at > 0 && bytes[at - 1] == byte {
            at -= 1;
        }
        if at == end {
            return false;
        }
    }
    at == 0 || SIGNS[bytes[at - 1] as usize] != OF_WORD
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
