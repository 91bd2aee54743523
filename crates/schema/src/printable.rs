//! Text of other programs as it may be printed: a terminal takes control characters for commands.

use std::borrow::Cow;

/// Whether a character changes how other text is shown: those of control, those that turn the direction of
/// writing, and those that end lines.
#[must_use]
pub fn is_unsafe(it: char) -> bool {
    (it.is_control() && !matches!(it, '\n' | '\t'))
        || matches!(it, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` with such characters as `\u{1b}`. Line ends and tabs stay.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return text.into();
    }
    let show = |it: char| match is_unsafe(it) {
        true => it.escape_default().to_string(),
        false => it.to_string(),
    };
    text.replace("\r\n", "\n").chars().map(show).collect::<String>().into()
}

/// Escapes them as JSON does (`\u001b`): whoever reads it gets the text as it was.
#[must_use]
pub fn printable_json(text: &str) -> String {
    let mut shown = String::new();
    for it in text.chars() {
        if is_unsafe(it) {
            let units = it.encode_utf16(&mut [0; 2]).to_vec();
            shown.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(it);
        }
    }
    shown
}

/// The same, apart from the commands by which wirebench itself colours text.
#[must_use]
pub fn printable_with_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = printable(pieces.next().unwrap_or_default()).into_owned();
    pieces.fold(first, |shown, piece| {
        let rest = piece.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';');
        let start = if rest.starts_with('m') { "\u{1b}[" } else { "\\u{1b}[" };
        shown + start + &printable(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_a_terminal_are_shown_and_colours_stay_where_they_are_wanted() {
        let text = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{9b}2J\r\nd\te\u{202e}f\rg";
        let shown =
            r"a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{9b}2J".to_owned() + "\nd\te" + r"\u{202e}f\rg";
        assert_eq!(printable(text), shown);
        assert_eq!(printable_with_colours(text), shown);
        let json = printable_json("\"a\u{7f}\u{9b}\u{200e}\\u001b\"");
        assert_eq!(json, r#""a\u007f\u009b\u200e\u001b""#);
        let colours = "\u{1b}[31merror\u{1b}[0m: \u{1b}[1;2H\u{1b}[";
        let expected = "\u{1b}[31merror\u{1b}[0m: ".to_owned() + r"\u{1b}[1;2H\u{1b}[";
        assert_eq!(printable_with_colours(colours), expected);
    }
}
