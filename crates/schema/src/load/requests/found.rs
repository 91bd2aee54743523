//! One request as a reader finds it, and what it is for a load: the server of its URL, its path, its credentials.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::spec::{Expect, RequestSpec};
use crate::{load::message::Body, secrets::decoded, target::Target};

/// What is wrong with a file of requests.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct RequestFileError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, with the next step.
    pub reason: String,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) line: usize,
    pub(super) name: Option<String>,
    pub(super) weight: Option<u32>,
    pub(super) method: String,
    /// A URL, or a path that begins with `/`.
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Body>,
    pub(super) expect: Expect,
}

impl Found {
    /// The server that its URL names, and the request.
    pub(super) fn resolve(self) -> Result<(Option<Target>, RequestSpec), String> {
        let Self { name, weight, method, url, mut headers, body, expect, .. } = self;
        let (target, path) = match url.starts_with('/') {
            true => (None, url),
            false => {
                let (url, credentials) = without_credentials(&url);
                let target: Target = url.parse()?;
                if target.unix_path().is_some() || !url.contains("://") {
                    return Err(format!(
                        "`{url}` is not a URL: write http://HOST:PORT/PATH, or /PATH"
                    ));
                }
                let says = |(name, _): &(String, String)| name.eq_ignore_ascii_case(AUTHORIZATION);
                if let Some(credentials) = credentials.filter(|_| !headers.iter().any(says)) {
                    let encoded = BASE64_STANDARD.encode(credentials);
                    headers.push((AUTHORIZATION.to_owned(), format!("Basic {encoded}")));
                }
                let path = target.path().to_owned();
                (Some(target), path)
            }
        };
        let name = name.unwrap_or_else(|| {
            let place = path.find('?').unwrap_or(path.len());
            format!("{method} {}", &path[..place])
        });
        let weight = weight.unwrap_or(1);
        let request = RequestSpec { name, weight, method, path, headers, body, expect };
        request.check()?;
        Ok((target, request))
    }
}

const AUTHORIZATION: &str = "Authorization";

/// A URL without its `user:password@`, which clients send as a header field (RFC 7617), and these bytes.
fn without_credentials(url: &str) -> (String, Option<Vec<u8>>) {
    let parts = url.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (credentials, host) = rest[..end].rsplit_once('@')?;
        Some((format!("{scheme}://{host}{}", &rest[end..]), decoded(credentials)))
    });
    match parts {
        Some((url, credentials)) => (url, Some(credentials)),
        None => (url.to_owned(), None),
    }
}
