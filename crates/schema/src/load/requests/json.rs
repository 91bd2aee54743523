//! Requests as JSON lines: an object per line, with vegeta's fields and ours. Unknown keys are errors.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;
use std::collections::BTreeMap;

use super::{
    found::{Found, RequestFileError},
    spec::Expect,
};
use crate::{load::message::Body, one_or_many::OneOrMany};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: Option<String>,
    weight: Option<u32>,
    #[serde(default = "get")]
    method: String,
    #[serde(alias = "path")]
    url: String,
    #[serde(default, alias = "headers")]
    header: BTreeMap<String, OneOrMany<String>>,
    /// In base64, as vegeta writes it.
    body: Option<String>,
    body_text: Option<String>,
    body_file: Option<String>,
    #[serde(default)]
    expect: Expect,
}

fn get() -> String {
    "GET".to_owned()
}

pub(super) fn read(text: &str) -> Result<Vec<Found>, RequestFileError> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    lines
        .map(|(index, line)| {
            let failed = |reason| RequestFileError { line: index + 1, reason };
            let line: Line = serde_json::from_str(line)
                .map_err(|error| failed(format!("not a request as JSON: {error}")))?;
            let body = line.body().map_err(failed)?;
            let headers = line.header.into_iter().flat_map(|(name, values)| {
                values.values().into_iter().map(move |value| (name.clone(), value))
            });
            Ok(Found {
                line: index + 1,
                headers: headers.collect(),
                name: line.name,
                weight: line.weight,
                method: line.method,
                url: line.url,
                body,
                expect: line.expect,
            })
        })
        .collect()
}

impl Line {
    fn body(&self) -> Result<Option<Body>, String> {
        match (&self.body, &self.body_text, &self.body_file) {
            (None, None, None) => Ok(None),
            (Some(encoded), None, None) => {
                let bytes = BASE64_STANDARD.decode(encoded).map_err(|error| {
                    format!("\"body\" is not base64 ({error}): give text as \"body_text\"")
                })?;
                let text = String::from_utf8(bytes).map_err(|_| {
                    "\"body\" is not text: give a file with these bytes as \"body_file\"".to_owned()
                })?;
                Ok(Some(Body::Text(text)))
            }
            (None, Some(text), None) => Ok(Some(Body::Text(text.clone()))),
            (None, None, Some(file)) => Ok(Some(Body::File(file.clone()))),
            _ => Err("give one of \"body\", \"body_text\" and \"body_file\"".to_owned()),
        }
    }
}
