//! One request of a set, and what a correct reply to it is.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{load::message::Body, printable::printable};

/// What a correct reply is. Without any of these, a request that changes nothing on the server and has no placeholder
/// expects a status below 400 and the body of its first reply; one that may change something expects a status from
/// 200 to 299. Framing is always checked.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// The statuses of correct replies.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_more")]
    #[schemars(with = "Vec<u16>")]
    pub status: Vec<u16>,
    /// The whole body, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The file with the whole body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_file: Option<String>,
    /// A text that the body contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Whether any body is correct.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub any: bool,
}

impl Expect {
    /// Where the whole body is from, if it is expected.
    #[must_use]
    pub fn whole_body(&self) -> Option<Body> {
        let text = self.body.clone().map(Body::Text);
        text.or_else(|| self.body_file.clone().map(Body::File))
    }

    /// Whether nothing decides which bodies are correct, so that the first one does.
    #[must_use]
    pub const fn leaves_body_open(&self) -> bool {
        !self.names_body() && !self.any
    }

    /// Whether the body, or a part of it, is given.
    #[must_use]
    pub const fn names_body(&self) -> bool {
        self.body.is_some() || self.body_file.is_some() || self.contains.is_some()
    }

    /// Why these cannot be expected together.
    fn check(&self) -> Result<(), String> {
        let given =
            [self.body.is_some(), self.body_file.is_some(), self.contains.is_some(), self.any];
        if given.into_iter().filter(|it| *it).count() > 1 {
            return Err("expect one of body, body_file, contains and any".to_owned());
        }
        if self.contains.as_ref().is_some_and(String::is_empty) {
            return Err("every body contains an empty text: expect any".to_owned());
        }
        match self.status.iter().find(|it| !(200..1000).contains(*it)) {
            Some(status) => Err(format!("status {status} ends no reply: expect 200 to 999")),
            None => Ok(()),
        }
    }
}

/// One request of a set.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct RequestSpec {
    /// Requests of one name have figures together.
    pub name: String,
    /// How often it is made, next to the others, where the order is weighted.
    pub weight: u32,
    /// The method.
    pub method: String,
    /// Path and query, beginning with `/`; empty for those of the target.
    pub path: String,
    /// Further header lines, name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// What a correct reply is.
    #[serde(default)]
    pub expect: Expect,
}

impl RequestSpec {
    /// Why it is no request.
    pub fn check(&self) -> Result<(), String> {
        let Self { name, method, path, headers, expect, .. } = self;
        // It stands in rows of tables, and in labels of metrics.
        if name.chars().any(char::is_control) {
            let name = printable(&name.replace(['\n', '\t'], " ")).into_owned();
            return Err(format!("the name `{name}` has a control character: write it in one line"));
        }
        if !path.is_empty() && !path.starts_with('/') {
            return Err(format!("`{path}` is not a path: write it like /users?page=1"));
        }
        if let Some(wrong) = path.bytes().find(|it| !(0x21..=0x7e).contains(it)) {
            return Err(format!("the path has the byte 0x{wrong:02x}: write it as %{wrong:02X}"));
        }
        if !is_token(method) || method == "CONNECT" {
            return Err(format!(
                "`{method}` is no method of a request: write GET, POST or another"
            ));
        }
        for (name, value) in headers {
            if !is_token(name) || value.bytes().any(|it| it < b' ' && it != b'\t' || it == 0x7f) {
                return Err(format!("`{name}: {value}` is no header: write it like 'Name: value'"));
            }
            if ["content-length", "transfer-encoding"]
                .iter()
                .any(|it| name.eq_ignore_ascii_case(it))
            {
                return Err(format!("`{name}` is written by wirebench itself: omit it"));
            }
        }
        // RFC 9112, 3.2: a server answers 400 to a request with several.
        if headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).count() > 1 {
            return Err("the request has several Host headers: write one".to_owned());
        }
        expect.check()
    }
}

/// Whether it is a token (RFC 9110, 5.6.2), as methods and names of fields are.
fn is_token(text: &str) -> bool {
    let is_other = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_other(byte))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(u16),
    More(Vec<u16>),
}

/// A list that may be written as its only element.
fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u16>, D::Error> {
    OneOrMore::deserialize(from).map(|it| match it {
        OneOrMore::One(one) => vec![one],
        OneOrMore::More(more) => more,
    })
}
