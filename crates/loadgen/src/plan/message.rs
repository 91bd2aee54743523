//! The parts of requests and replies that a configuration names: heads, bodies and what is expected.

use std::sync::Arc;
use wirebench_schema::load::{Body, LoadConfig};

use super::file;
use crate::{
    codec::{
        http1::{ExpectedBody, Needle, ReplyBody, Rules},
        requests::Head,
    },
    error::LoadError,
};

/// The most memory that the files of a set take together, or that of an expected body.
pub(super) const FILES_LIMIT_BYTES: u64 = 256 << 20;

/// How replies are judged whose request says nothing else.
pub(super) fn rules(config: &LoadConfig) -> Result<Rules, LoadError> {
    let expect = config.expect();
    let expected = expect.whole_body().map(|body| {
        let failed = cannot_read("the expected body", "--expect-body-file", "256MiB");
        read_body(&body, FILES_LIMIT_BYTES, failed)
    });
    Ok(Rules {
        reply_body: ReplyBody::to(&config.method),
        expected: expected.transpose()?.map(|body| Arc::new(ExpectedBody::given(&body))),
        contains: expect.contains.as_deref().map(Needle::new),
        statuses: expect.status,
        head_limit_bytes: config.head_limit_bytes,
    })
}

/// The sentence on a file of an option that cannot be read.
pub(super) fn cannot_read(
    what: &str,
    option: &str,
    limit: &str,
) -> impl FnOnce(&str, String) -> String {
    move |path, reason| {
        format!(
            "{what} cannot be read from `{path}` ({reason}): give {option} a file or a pipe with at most {limit}, \
             or - for standard input"
        )
    }
}

pub(super) fn read_body(
    body: &Body,
    limit_bytes: u64,
    failed: impl FnOnce(&str, String) -> String,
) -> Result<Vec<u8>, LoadError> {
    match body {
        Body::Text(text) => Ok(text.clone().into_bytes()),
        Body::File(path) => file::read(path, limit_bytes)
            .map_err(|reason| LoadError::Configuration(failed(path, reason))),
    }
}

/// The head of a request with these fields, whose body is given or not.
pub(super) fn head(
    config: &LoadConfig,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    has_body: bool,
) -> Head {
    let mut start = format!("{method} {path} HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        start.push_str(&format!("Host: {}\r\n", config.target.host_field()));
    }
    let fields = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    Head { start, fields, says_length: has_body || matches!(method, "POST" | "PUT" | "PATCH") }
}
