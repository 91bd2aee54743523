//! The parts of a message that options and files of requests have alike.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of an HTTP request.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// This text.
    Text(String),
    /// The content of this file at the start of the load.
    File(String),
}

/// Name and value of a header line.
pub fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| format!("`{text}` is not a header: write it like 'Name: value'"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
