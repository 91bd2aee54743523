//! Foreign text in one line of a message: control characters are escaped, so that none reaches a terminal.

use std::{borrow::Cow, fmt::Write};

/// The same text with every control character escaped, such as `\u{1b}`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        // Writing to a string cannot fail.
        let _ = match character.is_control() {
            true => write!(shown, "{}", character.escape_default()),
            false => write!(shown, "{character}"),
        };
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_other_text_is_unchanged() {
        assert_eq!(printable("a\u{1b}[2J\n\u{9b}b\u{7f}"), r"a\u{1b}[2J\n\u{9b}b\u{7f}");
        assert!(matches!(printable("Größe 東"), Cow::Borrowed("Größe 東")));
    }
}
