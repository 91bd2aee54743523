//! One request of a set, and what a correct reply to it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{load::message::Body, one_or_many::list, printable::printable, refuse::refuse_if};

/// What a correct reply is. Without any of these, a request that changes nothing on the server and has no placeholder
/// expects a status below 400 and the body of its first reply; one that may change something expects a status from
/// 200 to 299. Framing is always checked.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// The statuses of correct replies.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
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

    /// The names of those that say which bodies are correct, as far as they are given.
    pub(crate) fn of_body<'a>(&self, names: &[&'a str; 5]) -> Vec<&'a str> {
        let given =
            [self.body.is_some(), self.body_file.is_some(), self.contains.is_some(), self.any];
        let given = names.iter().zip(given).filter(|(_, is_given)| *is_given);
        given.map(|(name, _)| *name).collect()
    }

    /// Why no reply can be as expected. `names` are those of body, file, text, any body and status.
    pub(crate) fn check(&self, names: &[&str; 5]) -> Result<(), String> {
        let [.., contains, any, status] = names;
        if let [first, second, ..] = self.of_body(names)[..] {
            return Err(format!("{first} and {second} contradict each other: omit one"));
        }
        refuse_if!(
            self.contains.as_ref().is_some_and(String::is_empty),
            "every body contains an empty text: give {any} instead of {contains}"
        );
        if let Some(wrong) = self.status.iter().find(|it| !(200..1000).contains(*it)) {
            return Err(format!("{wrong} ends no reply: give {status} from 200 to 999"));
        }
        Ok(())
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
        refuse_if!(
            name.chars().any(char::is_control),
            "the name `{}` has a control character: write it in one line",
            printable(&name.replace(['\n', '\t'], " "))
        );
        let is_path = path.is_empty() || path.starts_with('/');
        refuse_if!(!is_path, "`{path}` is not a path: write it like /users?page=1");
        if let Some(wrong) = path.bytes().find(|it| !(0x21..=0x7e).contains(it)) {
            return Err(format!("the path has the byte 0x{wrong:02x}: write it as %{wrong:02X}"));
        }
        check_head(method, headers)?;
        expect.check(&["body", "body_file", "contains", "any", "status"])
    }
}

/// Why a request cannot have this method and these headers.
pub(crate) fn check_head(method: &str, headers: &[(String, String)]) -> Result<(), String> {
    for (name, value) in headers {
        let is_header = http::HeaderName::from_bytes(name.as_bytes()).is_ok()
            && http::HeaderValue::from_bytes(value.as_bytes()).is_ok();
        refuse_if!(!is_header, "`{name}: {value}` is not a header: write it like 'Name: value'");
        let frames = ["content-length", "transfer-encoding"];
        refuse_if!(
            frames.iter().any(|frame| name.eq_ignore_ascii_case(frame)),
            "`{name}` is written by wirebench itself: omit it"
        );
    }
    // RFC 9112, 3.2: a server answers 400 to a request with several.
    let hosts = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).count();
    refuse_if!(hosts > 1, "{hosts} Host headers are given: give one");
    let is_method = http::Method::from_bytes(method.as_bytes()).is_ok();
    refuse_if!(!is_method, "`{method}` is not an HTTP method: write GET or POST");
    refuse_if!(
        method == "CONNECT",
        "CONNECT opens a tunnel and has no reply to check: write GET or POST"
    );
    Ok(())
}
