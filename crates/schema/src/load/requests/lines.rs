//! Requests as lines of text: bare URLs and paths (oha, h2load), siege's URLs with variables and bodies, and vegeta's
//! targets with their headers and `@file`.
//!
//! | line | meaning |
//! |---|---|
//! | `# ...` or empty | nothing; it ends the headers of a request |
//! | `http://host/path` or `/path` | `GET` |
//! | `METHOD URL` | that method; `Name: value` and `@file` on the next lines are its headers and its body |
//! | `URL POST text` or `URL POST <file` | siege's form with a body |
//! | `NAME=value` | siege's variable, for `$(NAME)` and `${NAME}` in later lines |

use std::collections::BTreeMap;

use super::found::{Found, RequestFileError};
use crate::load::message::{Body, parse_header};

/// What siege sends with the bodies of such lines.
const FORM: &str = "application/x-www-form-urlencoded";

pub(super) fn read(text: &str) -> Result<Vec<Found>, RequestFileError> {
    let mut variables: BTreeMap<&str, String> = BTreeMap::new();
    let mut found: Vec<Found> = Vec::new();
    // Whether the next line may be a header or the body of the last request.
    let mut goes_on = false;
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let failed = |reason| RequestFileError { line, reason };
        let trimmed = raw.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            goes_on = goes_on && !trimmed.is_empty();
            continue;
        }
        let trimmed = insert(trimmed, &variables);
        let last = found.last_mut().filter(|_| goes_on);
        if let Some(file) = trimmed.strip_prefix('@') {
            let last = last.ok_or_else(|| failed(format!("`@{file}` follows no request")))?;
            last.body = Some(Body::File(file.to_owned()));
            continue;
        }
        if let Some((method, url)) = method_first(&trimmed) {
            found.push(Found { line, method, url: absolute(url), ..Found::default() });
            goes_on = true;
        } else if let Some(last) = last {
            last.headers.push(parse_header(&trimmed).map_err(failed)?);
        } else if let Some((name, _)) = variable(raw.trim()) {
            let value = variable(&trimmed).map(|(_, value)| value.to_owned()).unwrap_or_default();
            variables.insert(name, value);
        } else {
            found.push(url_first(&trimmed, line).map_err(failed)?);
        }
    }
    Ok(found)
}

/// `GET URL`.
fn method_first(line: &str) -> Option<(String, &str)> {
    let (method, url) = line.split_once(char::is_whitespace)?;
    let url = url.trim();
    let is_method = method.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_one = !url.is_empty() && !url.contains(char::is_whitespace);
    (is_method && is_one).then(|| (method.to_owned(), url))
}

/// `URL`, or `URL METHOD body`.
fn url_first(line: &str, line_number: usize) -> Result<Found, String> {
    let (url, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let url = absolute(url);
    let found = Found { line: line_number, url, ..Found::default() };
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(Found { method: "GET".to_owned(), ..found });
    }
    let (method, body) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(format!("`{rest}` behind the URL is no method: write a space as %20"));
    }
    let body = match body.trim() {
        "" => None,
        body => Some(match body.strip_prefix('<') {
            Some(file) => Body::File(file.trim().to_owned()),
            None => Body::Text(body.to_owned()),
        }),
    };
    let headers = match body {
        Some(_) => vec![("Content-Type".to_owned(), FORM.to_owned())],
        None => Vec::new(),
    };
    Ok(Found { method: method.to_owned(), headers, body, ..found })
}

/// A URL without its scheme is one of HTTP, as siege has it.
fn absolute(url: &str) -> String {
    if url.starts_with('/') || url.contains("://") {
        url.to_owned()
    } else {
        format!("http://{url}")
    }
}

/// `NAME=value`.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let is_name = |text: &str| {
        text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
            && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    is_name(name.trim()).then(|| (name.trim(), value.trim()))
}

fn insert(line: &str, variables: &BTreeMap<&str, String>) -> String {
    let mut line = line.to_owned();
    for (name, value) in variables {
        line = line.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
    }
    line
}
