//! Requests of an HTTP archive (HAR 1.2), as browsers and proxies record them. What each connection decides for itself
//! is left out: host, length, framing and compression.

use serde::Deserialize;

use super::found::{Found, RequestFileError};
use crate::load::message::Body;

/// Header fields that belong to the recorded connection.
const OF_CONNECTION: [&str; 8] = [
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "accept-encoding",
    "te",
    "upgrade",
];

#[derive(Deserialize)]
struct Archive {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Field>,
    #[serde(rename = "postData")]
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct PostData {
    #[serde(default)]
    text: String,
}

/// Whether the text is one object with a log, and not one object per line.
pub(super) fn is_archive(text: &str) -> bool {
    let object: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_str(text);
    object.is_ok_and(|it| it.contains_key("log"))
}

pub(super) fn read(text: &str) -> Result<Vec<Found>, RequestFileError> {
    let archive: Archive = serde_json::from_str(text).map_err(|error| RequestFileError {
        line: error.line(),
        reason: format!("not an HTTP archive: {error}"),
    })?;
    let found = archive.log.entries.into_iter().map(|Entry { request }| {
        let is_own = |field: &Field| {
            let name = field.name.to_ascii_lowercase();
            !name.starts_with(':') && !OF_CONNECTION.contains(&name.as_str())
        };
        let headers = request.headers.into_iter().filter(is_own);
        Found {
            line: 1,
            method: request.method,
            // A fragment is for the browser alone.
            url: request.url.split('#').next().unwrap_or_default().to_owned(),
            headers: headers.map(|Field { name, value }| (name, value)).collect(),
            body: request.post_data.map(|it| Body::Text(it.text)),
            ..Found::default()
        }
    });
    Ok(found.collect())
}
