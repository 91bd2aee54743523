//! Breaks a text into lines of a width, at spaces.

/// What a terminal shows: no line of a first screen is longer, unless a single word is.
pub(crate) const WIDTH: usize = 100;

/// A text of up to `most` characters: three dots replace the end of a longer one.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    text.chars().take(most - 3).chain("...".chars()).collect()
}

pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// The lines of `text`, none longer than `width` unless a word is; all but the first begin with
/// `indent`. The spaces in front of the text stay.
pub(crate) fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
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
}
