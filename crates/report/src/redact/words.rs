//! Takes the values of options and variables with secrets out of a text, in whatever form its words are quoted.

use wirebench_schema::environment::changes_servers;

use super::REDACTED;

/// Parts of names whose values are secrets.
const SECRETS: &str =
    " token tokens password passwd secret secrets credential credentials key apikey ";
const QUOTES: [&str; 3] = ["&quot;", "\"", "'"];

/// The text without the values of options and variables with such names, and of variables in capitals that are not
/// known to be settings.
pub(super) fn without_secrets(text: &str) -> String {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let mut result = String::with_capacity(text.len());
    let (mut written, mut at) = (0, 0);
    while let Some(start) = text[at..].find(is_of_name).map(|it| at + it) {
        at = text[start..].find(|it| !is_of_name(it)).map_or(text.len(), |it| start + it);
        if let Some((from, length)) = value(&text[..start], &text[start..at], &text[at..]) {
            result = result + &text[written..at + from] + REDACTED;
            at += from + length;
            written = at;
        }
    }
    result + &text[written..]
}

/// Where the value of `word` begins in the text `after` it, and how long it is; none if it is no secret.
fn value(before: &str, word: &str, after: &str) -> Option<(usize, usize)> {
    let name = word.trim_start_matches('-');
    let mut parts = name.split(['-', '_']).map(str::to_ascii_lowercase);
    let is_secret = parts.any(|it| SECRETS.contains(&format!(" {it} ")));
    let is_variable = name == word
        && name.starts_with(|it: char| it.is_ascii_uppercase())
        && !name.contains(|it: char| it.is_ascii_lowercase() || it == '-')
        && !changes_servers(name);
    let is_before = |it: char| it.is_whitespace() || "\"'`=(,[>?&;:".contains(it);
    if !(is_secret || is_variable) || !before.chars().next_back().is_none_or(is_before) {
        return None;
    }
    let unquoted =
        |text| QUOTES.iter().fold(text, |it: &str, quote| it.strip_prefix(quote).unwrap_or(it));
    let rest = match after.strip_prefix('=') {
        Some(rest) => unquoted(rest),
        None if is_secret && name != word => {
            unquoted(unquoted(after).trim_start_matches([',', ' ', '\n']))
        }
        None => return None,
    };
    let start = after.len() - rest.len();
    let ends_in = |text: &str| QUOTES.into_iter().find(|it| text.ends_with(it));
    let quote =
        ends_in(&after[..start]).or_else(|| ends_in(before).filter(|_| after.starts_with('=')));
    let length = length(rest, quote);
    let value = &rest[..length];
    let is_plain =
        value.chars().all(|it| it.is_ascii_digit() || it == '.') || value.starts_with('{');
    let is_other = !after.starts_with('=') && value.starts_with(['-', ']', ')', '}', ':']);
    (length > 0 && !is_other && (is_secret || !is_plain)).then_some((start, length))
}

/// How long the value at the beginning of a text is that ends at `quote`, or at the end of its word.
fn length(text: &str, quote: Option<&str>) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(at, it)| {
        let ends = match quote {
            Some(quote) => text[*at..].starts_with(quote) || *it == '<',
            None => it.is_whitespace() || "\"'`<>&,;)]".contains(*it),
        };
        let is_end = ends && !is_escaped;
        is_escaped = *it == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at)
}
