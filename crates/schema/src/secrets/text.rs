//! Finds the secrets in a text by the names in front of them, in whatever form its words are quoted: header lines,
//! options, variables, parameters of queries and forms, JSON, and the user names of URLs.

use serde::de::IgnoredAny;

use super::{MARK, names::is_secret};
use crate::environment::settings::changes_servers;

const QUOTES: [&str; 5] = ["&quot;", "\\\"", "\"", "'", "`"];

/// Options whose value is a name and a password, with a colon between them.
pub(super) const USERS: [&str; 2] = ["-u", "--user"];

/// Decides if the value of a word is hidden.
type IsHidden = fn(&str) -> bool;

const fn is_of_name(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '%')
}

/// Tells if a text is nothing but the name of a secret.
pub(super) fn is_name(text: &str) -> bool {
    text.chars().all(is_of_name) && is_secret(text)
}

/// Tells if this is a variable in capitals that is not known to be a setting.
pub(super) fn is_variable(word: &str) -> bool {
    word.starts_with(|it: char| it.is_ascii_uppercase())
        && !word.contains(|it: char| it.is_ascii_lowercase() || it == '-')
        && !changes_servers(word)
}

/// The text with `mark` in the place of the value of each word that is hidden.
pub(super) fn hidden(text: &str, mark: &str, is_hidden: IsHidden) -> String {
    search(text, mark, is_hidden, &mut |_| {})
}

/// The same, with a call for each value.
pub(super) fn search(
    text: &str,
    mark: &str,
    is_hidden: IsHidden,
    found: &mut dyn FnMut(&str),
) -> String {
    let text = &without_users(text, mark, found);
    let mut result = String::with_capacity(text.len());
    let (mut written, mut at) = (0, 0);
    while let Some(start) = text[at..].find(is_of_name).map(|it| at + it) {
        at = text[start..].find(|it| !is_of_name(it)).map_or(text.len(), |it| start + it);
        let (before, word, after) = (&text[..start], &text[start..at], &text[at..]);
        let begins = before.chars().next_back();
        let begins = begins.is_none_or(|it| it.is_whitespace() || "\"'`=(,[{<>?&;:#".contains(it));
        let value = match begins {
            true if is_hidden(word) => value(before, word, after),
            true if USERS.contains(&word) => of_user(after),
            _ => None,
        };
        if let Some((from, length)) =
            value.filter(|(from, _)| !unquoted(&after[*from..]).starts_with(MARK))
        {
            found(&after[from..from + length]);
            // A value of JSON stays one.
            let between = &after[..from];
            let is_json =
                between.contains(':') && !between.contains('\r') && unquoted(after) != after;
            let quote = if is_json && ends_in(between).is_none() { "\"" } else { "" };
            result = result + &text[written..at + from] + quote + mark + quote;
            at += from + length;
            written = at;
        }
    }
    result + &text[written..]
}

/// The text without what is in front of the `@` of URLs.
fn without_users(text: &str, mark: &str, found: &mut dyn FnMut(&str)) -> String {
    let mut pieces = text.split("://");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |result, piece| {
        let end = piece.find(|it: char| it.is_whitespace() || "/?#\"'<>`\\".contains(it));
        let user = piece[..end.unwrap_or(piece.len())].rfind('@').unwrap_or(0);
        let is_secret = user > 0 && !piece.starts_with(MARK);
        let mark = if is_secret { mark } else { &piece[..user] };
        if is_secret {
            found(&piece[..user]);
        }
        result + "://" + mark + &piece[user..]
    })
}

/// Tells if `word` may be the secret after `option`, and not another option, a place for a port, or a file.
pub(super) fn takes_value(option: &str, word: &str) -> bool {
    option.starts_with('-')
        && is_name(option)
        && !word.starts_with(['-', ']', ')', '}', ':', '{'])
        && !(option == "--key" && is_file(word))
}

pub(super) fn is_file(word: &str) -> bool {
    let endings = [".pem", ".key", ".crt"];
    word.starts_with(['/', '.', '~']) || endings.iter().any(|it| word.ends_with(it))
}

/// Where the password in the value of such an option is, and how long it is. Numbers are those of a group.
fn of_user(after: &str) -> Option<(usize, usize)> {
    let rest = unquoted(unquoted(after).trim_start_matches([',', ' ', '=', '\n']));
    let word = &rest[..length(rest, "")];
    let (name, password) = word.split_once(':')?;
    let is_secret = !password.chars().all(|it| it.is_ascii_digit());
    is_secret.then_some((after.len() - rest.len() + name.len() + 1, password.len()))
}

/// Where the value of `word` begins in the text `after` it, and how long it is; none if it has none.
fn value(before: &str, word: &str, after: &str) -> Option<(usize, usize)> {
    if let Some(found) = part_of_form(before, after) {
        return Some(found);
    }
    if let Some(element) = after.strip_prefix('>').filter(|_| before.ends_with('<')) {
        return element.find("</").filter(|length| *length > 0).map(|length| (1, length));
    }
    let closed = if after.starts_with('`') { after } else { unquoted(after) };
    let is_option = word.starts_with('-') && !after.starts_with('=');
    let (rest, mut is_line) = match after.strip_prefix(']').unwrap_or(after).strip_prefix('=') {
        // A form may have blanks in its fields, although browsers write none.
        Some(rest) => {
            (rest, before.is_empty() || before.ends_with('&') && !before.contains([' ', '?', '/']))
        }
        None if is_option => (closed.trim_start_matches([',', ' ', '\n']), false),
        None => (closed.trim_start().strip_prefix(':')?.trim_start_matches([' ', '\t']), true),
    };
    let is_field = is_line && !after.starts_with('=');
    if is_field && closed != after {
        let mut value = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        if matches!(value.next(), Some(Ok(_))) && (is_secret(word) || !rest.starts_with('{')) {
            return Some((after.len() - rest.len(), value.byte_offset()));
        }
        is_line = false;
    }
    // An argument, as in `login(password: "a b")` of GraphQL.
    let is_argument = before.trim_end().ends_with(['(', ',', '{']) && rest.starts_with(['"', '\\']);
    let inner = if is_line && is_field && !is_argument { rest } else { unquoted(rest) };
    let start = after.len() - inner.len();
    let enclosing = ends_in(before).filter(|_| !is_option && closed == after);
    let quote = ends_in(&after[..start]).or(enclosing);
    // A word in a sentence that a colon follows is none of a header, unless no sentence has it.
    let begins = before.is_empty() || before.ends_with(['\n', '=', '>']) || quote.is_some();
    let is_likely = word.contains('-')
        || ["authorization", "cookie"].iter().any(|it| word.eq_ignore_ascii_case(it));
    let end = match (is_line, is_field) {
        (true, false) => "&",
        (true, true) if before.ends_with('>') => "<",
        (true, true) => "\n",
        (false, _) => "",
    };
    let length = inner[..length(inner, quote.unwrap_or(end))].trim_end().len();
    let value = &inner[..length];
    let is_plain = value.chars().all(|it| it.is_ascii_digit() || it == '.') && !is_secret(word);
    let is_place = value.starts_with('{') && !value.starts_with("{\"");
    let is_value = match (is_option, is_field) {
        // Sentences about the option of `load` go on with a word.
        (true, _) if word == "--key" && value.chars().all(|it| it.is_ascii_lowercase()) => false,
        (true, _) => start > 0 && takes_value(word, value),
        (_, true) => is_secret(word) && (begins || is_likely),
        (_, false) => !is_plain && !is_place,
    };
    (length > 0 && is_value).then_some((start, length))
}

/// The value of a part of `multipart/form-data` (RFC 7578), whose name stands in its header.
fn part_of_form(before: &str, after: &str) -> Option<(usize, usize)> {
    let head = after.strip_prefix('"').filter(|_| before.ends_with("; name=\""))?;
    let (head, value) = head.split_once("\r\n\r\n").filter(|(head, _)| !head.contains("\r\n--"))?;
    let length = value.find("\r\n--").unwrap_or(value.len());
    (length > 0).then_some(("\"\r\n\r\n".len() + head.len(), length))
}

fn unquoted(text: &str) -> &str {
    QUOTES.iter().find_map(|quote| text.strip_prefix(quote)).unwrap_or(text)
}

/// The quote at the end of a text.
fn ends_in(text: &str) -> Option<&'static str> {
    QUOTES.into_iter().find(|it| text.ends_with(it))
}

/// How long the value at the beginning of a text is that has this end; without one it ends with its word.
fn length(text: &str, end: &str) -> usize {
    let mut is_escaped = false;
    let found = text.char_indices().find(|(at, it)| {
        let is_end = match end {
            "" => it.is_whitespace() || "\"'`<>&,;)]".contains(*it),
            end => text[*at..].starts_with(end),
        };
        let was_escaped = is_escaped;
        is_escaped = *it == '\\' && !was_escaped;
        is_end && !was_escaped || *it == '\n' && matches!(end, "&" | "\n")
    });
    found.map_or(text.len(), |(at, _)| at)
}
