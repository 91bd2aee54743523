//! The values of secrets that a process was given. A server may give them back without their names.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    sync::{Arc, RwLock},
};

use super::{
    MARK, REDACTED,
    names::{decoded, is_secret},
    text,
};

/// From how many characters on a value is hidden without its name: shorter ones are parts of many words.
const LEAST: usize = 6;

/// How much of a value is hidden where an excerpt ends within it, in bytes.
const LEAST_BEGUN: usize = 3;
/// In how many characters before its end an excerpt is searched for the beginning of a value.
const LONGEST: usize = 128;
/// The end of an excerpt.
const CUT: &str = "…";

/// Values that are looked for in texts.
#[derive(Debug, Default)]
pub(super) struct SecretValues {
    all: BTreeSet<String>,
    search: Option<AhoCorasick>,
}

/// What this process was given.
static GIVEN: RwLock<Option<Arc<SecretValues>>> = RwLock::new(None);

pub(super) fn given() -> Arc<SecretValues> {
    GIVEN.read().ok().and_then(|it| it.clone()).unwrap_or_default()
}

/// Adds the values of the secrets in `value`.
pub(super) fn add(value: &Value) {
    let mut found = secrets_of(value);
    if let Ok(mut given) = GIVEN.write() {
        let known = given.take().unwrap_or_default();
        let is_new = !found.is_subset(&known.all);
        found.extend(known.all.iter().cloned());
        *given = Some(if is_new { Arc::new(SecretValues::new(found)) } else { known });
    }
}

impl SecretValues {
    /// The values of the secrets in a document.
    pub(super) fn of(value: &Value) -> Self {
        Self::new(secrets_of(value))
    }

    fn new(all: BTreeSet<String>) -> Self {
        let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&all);
        Self { search: builder.ok().filter(|_| !all.is_empty()), all }
    }

    /// The text with `mark` in the place of each value. A number is none where it is a part of another one.
    pub(super) fn hidden(&self, text: &str, mark: &str) -> String {
        let Some(search) = &self.search else { return text.to_owned() };
        let mut result = String::with_capacity(text.len());
        search.replace_all_with(text, &mut result, |found, value, result| {
            let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
            let is_part = value.chars().all(|it| it.is_ascii_digit())
                && (is_digit(text[..found.start()].chars().next_back())
                    || is_digit(text[found.end()..].chars().next()));
            result.push_str(if is_part { value } else { mark });
            true
        });
        // An excerpt may end within a value.
        let shown = result.split_inclusive(CUT).map(|piece| {
            let start = piece.strip_suffix(CUT).and_then(|it| self.begun(it));
            start.map_or(piece.to_owned(), |start| format!("{}{mark}{CUT}", &piece[..start]))
        });
        shown.collect()
    }

    /// Where a value begins at which `text` ends.
    fn begun(&self, text: &str) -> Option<usize> {
        let begins = |part: &str| {
            part.len() >= LEAST_BEGUN
                && self.all.range(part.to_owned()..).next().is_some_and(|it| it.starts_with(part))
        };
        let starts = text.char_indices().rev().take(LONGEST).map(|(at, _)| at);
        starts.filter(|at| begins(&text[*at..])).last()
    }
}

fn secrets_of(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(document, None, &mut found);
    found
}

/// Adds the values below `value`, all of them if it has the name of a secret. A list of texts may be a command or a
/// header line, and a text may hold JSON.
fn collect(value: &Value, name: Option<&str>, found: &mut BTreeSet<String>) {
    match value {
        // The key of a certificate is a file.
        Value::String(text) if name == Some("key") && text::is_file(text) => {}
        Value::String(text) if name.is_some_and(text::is_name) => add_forms(text, found),
        Value::String(text) => {
            text::search(text, REDACTED, is_secret, &mut |it| add_forms(it, found));
            let json = serde_json::Deserializer::from_str(text).into_iter::<Value>();
            for json in json.map_while(Result::ok).filter(|it| it.is_object() || it.is_array()) {
                collect(&json, None, found);
            }
        }
        Value::Array(items) => {
            let is_pair = items.len() == 2;
            let mut before = name.filter(|it| text::is_name(it)).unwrap_or_default();
            for item in items {
                let word = item.as_str().unwrap_or_default();
                let (option, value) = named(before, word, is_pair || name.is_some());
                collect(&value.map_or_else(|| item.clone(), Into::into), option, found);
                before = if name.is_some_and(text::is_name) { before } else { word };
            }
        }
        Value::Object(fields) => {
            // As archives of browsers have header lines and fields.
            let of_pair = fields.get("name").and_then(Value::as_str);
            for (field, it) in fields {
                let own = of_pair.filter(|_| field == "value").unwrap_or(field);
                collect(it, name.filter(|it| text::is_name(it)).or(Some(own)), found);
            }
        }
        _ => {}
    }
}

/// The name and the value in a word of a command, or in one of the two texts of a header line.
fn named<'a>(before: &'a str, word: &'a str, is_field: bool) -> (Option<&'a str>, Option<&'a str>) {
    let of_user = word.split_once(':').filter(|_| text::USERS.contains(&before));
    let of_header = word.split_once(' ').filter(|_| ["-H", "--header"].contains(&before));
    let pair = word.split_once('=').or(of_header).filter(|(name, _)| text::is_name(name));
    match (pair, of_user) {
        _ if text::takes_value(before, word) || is_field && text::is_name(before) => {
            (Some("secret"), None)
        }
        (Some((name, value)), _) => (Some(name), Some(value)),
        (None, Some((_, password))) => (Some("secret"), Some(password)),
        (None, None) => (None, None),
    }
}

/// Adds a value and what a server may take it apart into: words after a scheme, cookies, the password of a user, and
/// what it encodes.
fn add_forms(value: &str, found: &mut BTreeSet<String>) {
    let value = value.trim_matches(['"', '\'', '\\', ' ']);
    let plain = |text| String::from_utf8_lossy(&decoded(text)).into_owned();
    let mut forms = vec![value.to_owned(), plain(value)];
    let words: Vec<&str> = value.split([' ', ';', ',']).filter(|it| !it.is_empty()).collect();
    for (index, word) in words.iter().enumerate() {
        let is_scheme = index == 0 && words.len() > 1 && !word.contains('=');
        match word.split_once('=') {
            _ if is_scheme => {}
            Some((_, rest)) if !rest.trim_matches('=').is_empty() => forms.push(rest.to_owned()),
            _ => forms.push((*word).to_owned()),
        }
    }
    if let Some((_, password)) = value.split_once(':').filter(|_| words.len() == 1) {
        forms.extend([password.to_owned(), plain(password)]);
        forms.push(BASE64_STANDARD.encode(decoded(value)));
    }
    if let [scheme, .., encoded] = words[..]
        && scheme.eq_ignore_ascii_case("basic")
        && let Ok(text) = BASE64_STANDARD.decode(encoded)
        && let Some((_, password)) = String::from_utf8_lossy(&text).split_once(':')
    {
        forms.push(password.to_owned());
    }
    let forms = forms.into_iter().map(|it| it.trim_matches(['"', '\'']).to_owned());
    found.extend(forms.filter(|it| it.len() >= LEAST && !MARK.contains(it) && !it.contains(MARK)));
}
