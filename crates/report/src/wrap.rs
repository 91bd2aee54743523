//! Breaks a text into lines of a width, at spaces.

/// What a terminal shows: no line of a first screen is longer, unless a single word is.
pub(crate) const WIDTH: usize = 100;

/// Stands for what is not shown.
const GAP: &str = "...";

/// A name of up to `most` characters: a gap replaces the middle of a longer one, since names differ at
/// either end.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    let kept = most - GAP.len();
    let end = text.chars().skip(length(text) - kept / 2);
    text.chars().take(kept - kept / 2).chain(GAP.chars()).chain(end).collect()
}

/// The lines of a text, at most `most` of them: a gap replaces the words before the end, where
/// advice stands.
pub(crate) fn shorten(text: &str, most: usize, width: usize, indent: &str) -> Vec<String> {
    let lines = wrap(text, width, indent);
    if lines.len() <= most {
        return lines;
    }
    let room = if most == 1 { width / 3 } else { width - length(indent) - GAP.len() - 1 };
    let words: Vec<&str> = text.split_whitespace().collect();
    let fits = |from: &usize| length(&words[*from..].join(" ")) <= room;
    let end = words[(0..words.len()).find(fits).unwrap_or(words.len())..].join(" ");
    if most == 1 {
        let start = wrap(text, width - length(&end) - GAP.len() - 2, indent);
        return vec![format!("{} {GAP} {end}", start[0])];
    }
    lines.into_iter().take(most - 1).chain([format!("{indent}{GAP} {end}")]).collect()
}

pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// The lines of `text`, none longer than `width` unless a word is; all but the first begin with
/// `indent`. The spaces in front of the text stay.
#[must_use]
pub fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let start = text.len() - text.trim_start().len();
    let mut lines = Vec::new();
    let mut line = text[..start].to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let room = width.saturating_sub(line.chars().count() + usize::from(!is_empty));
        if !is_empty && word.chars().count() > room {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_a_long_word_stays_whole() {
        let lines = wrap("  one two three", 9, "    ");
        assert_eq!(lines, ["  one two", "    three"]);
        assert_eq!(wrap("a verylongword b", 4, ""), ["a", "verylongword", "b"]);
        assert_eq!(wrap("", 4, ""), [""]);
    }

    #[test]
    fn what_is_too_long_keeps_both_ends() {
        assert_eq!(cut("abcdefghijk", 8), "abc...jk");
        assert_eq!(cut("abcdefgh", 8), "abcdefgh");
        let text = "one two three four five six seven: give eight";
        assert_eq!(shorten(text, 1, 31, ""), ["one two three ... give eight"]);
        let lines = ["one two three", "  four five six", "  ... give eight"];
        assert_eq!(shorten(text, 3, 16, "  "), lines);
        assert_eq!(shorten("one two", 1, 31, ""), ["one two"]);
    }
}
