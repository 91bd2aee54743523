//! Request sets: several requests that a load makes in some order, each with its expectation.
//!
//! A file is read by its content: one that begins with `{` has an object per line ([`json`]) or is an HTTP archive
//! ([`har`]), any other has lines of text ([`lines`]). Nothing is opened here: a body in a file stays a name.

mod found;
mod har;
mod json;
mod lines;
mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub use found::RequestFileError;
pub(crate) use spec::check_head;
pub use spec::{Expect, RequestSpec};

use crate::{secrets::Secrets, target::Target};

/// The largest number of names with figures of their own.
pub const NAMES_LIMIT: usize = 64;

crate::names! {
    /// The order in which the requests of a set are made.
    #[derive(Default)]
    pub enum RequestOrder "order" {
        /// One after the other, again and again.
        #[default]
        InTurn = "in-turn",
        /// Each once per round, in another order each round.
        Shuffled = "shuffled",
        /// Each at random, as often as its weight says.
        Weighted = "weighted",
    }
}

/// The requests of a load, at least one.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct RequestSet {
    /// In which order they are made.
    #[serde(default)]
    pub order: RequestOrder,
    /// The file that it was read from. Relative names of other files are looked for beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where the numbers of `{seq}` begin, if not at the time in microseconds and a random number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<SeqStart>,
    /// In the order of the file.
    pub requests: Vec<RequestSpec>,
}

/// The numbers of `{seq}` grow with the clock, so that no check, window or cohort repeats those of an earlier one.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Serialize)]
pub struct SeqStart {
    /// The number at `at_us`.
    pub from: u64,
    /// The time that the option was read, in microseconds since 1970.
    pub at_us: u64,
}

/// Sets that begin elsewhere make the same requests.
impl PartialEq for SeqStart {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl SeqStart {
    /// The least number of a load that begins `now_us` microseconds after 1970.
    #[must_use]
    pub const fn at(self, now_us: u64) -> u64 {
        self.from.saturating_add(now_us.saturating_sub(self.at_us))
    }
}

/// A file of requests as it was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RequestFile {
    /// The server that its URLs name; absent if it has paths alone, an error if they name several.
    pub target: Result<Option<Target>, RequestFileError>,
    /// Its requests.
    pub set: RequestSet,
}

impl RequestFile {
    /// The largest file that is read.
    pub const LIMIT_BYTES: u64 = 64 << 20;

    /// Reads the text of a file.
    pub fn parse(text: &str, order: RequestOrder) -> Result<Self, RequestFileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let found = match text.trim_start().starts_with('{') {
            true if har::is_archive(text) => har::read(text)?,
            true => json::read(text)?,
            false => lines::read(text)?,
        };
        let mut target: Option<(usize, Target)> = None;
        let mut several = None;
        let mut requests = Vec::new();
        let mut secrets = Secrets::default();
        let mut unnamed = Vec::new();
        for found in found {
            let line = found.line;
            if found.name.is_none() {
                unnamed.push(requests.len());
            }
            let failed = |reason| RequestFileError { line, reason };
            let (named, request) = found.resolve().map_err(failed)?;
            if let Some(named) = named {
                let (first, known) = target.get_or_insert((line, named.clone()));
                if (known.authority(), known.is_tls()) != (named.authority(), named.is_tls()) {
                    several.get_or_insert(failed(format!(
                        "{} is another server than {} of line {first}: name the one that gets all requests",
                        server(&named),
                        server(known)
                    )));
                }
            }
            // Names are in every table, and the requests of one name have figures together.
            requests.push(RequestSpec { name: secrets.text(&request.name), ..request });
        }
        if requests.is_empty() {
            let reason = "the file has no request: write a URL or a path on each line".to_owned();
            return Err(RequestFileError { line: 1, reason });
        }
        if distinct_names(&requests) > NAMES_LIMIT {
            unnamed.into_iter().for_each(|at| requests[at].name = requests[at].method.clone());
        }
        let set = RequestSet { order, file: None, seq: None, requests };
        set.check().map_err(|reason| RequestFileError { line: 1, reason })?;
        let target = several.map_or(Ok(target.map(|(_, target)| target)), Err);
        Ok(Self { target, set })
    }
}

fn server(target: &Target) -> String {
    format!("{}://{}", if target.is_tls() { "https" } else { "http" }, target.authority())
}

fn distinct_names(requests: &[RequestSpec]) -> usize {
    requests.iter().map(|it| &it.name).collect::<BTreeSet<_>>().len()
}

/// Path and text of a file that a description names.
pub type NamedFiles<'a> = dyn Fn(&str) -> Result<(String, String), String> + 'a;

impl RequestSet {
    /// The requests of the file that a description names with this key; none if it has no such key.
    pub(crate) fn named(
        key: &str,
        name: Option<&str>,
        order: RequestOrder,
        files: &NamedFiles<'_>,
    ) -> Result<Option<Self>, String> {
        let Some(name) = name else { return Ok(None) };
        let read = |(path, text): (String, String)| {
            let file = RequestFile::parse(&text, order).map_err(|error| error.to_string())?;
            Ok(Some(Self { file: Some(path), ..file.set }))
        };
        files(name).and_then(read).map_err(|reason| format!("`{key} = \"{name}\"`: {reason}"))
    }

    /// The same set with `path` for the requests that have none of their own.
    #[must_use]
    pub fn with_path(&self, path: &str) -> Self {
        let mut set = self.clone();
        for request in set.requests.iter_mut().filter(|it| it.path.is_empty()) {
            path.clone_into(&mut request.path);
        }
        set
    }

    /// Makes any body correct. Expected statuses stay.
    pub fn accept_any_body(&mut self) {
        for RequestSpec { expect, .. } in &mut self.requests {
            let status = std::mem::take(&mut expect.status);
            *expect = Expect { status, any: true, ..Expect::default() };
        }
    }

    /// The first request of each name without body, header lines and expectation, so that a set of any size has room in
    /// each of many reports.
    #[must_use]
    pub fn abridged(&self) -> Self {
        let mut requests: Vec<RequestSpec> = Vec::new();
        for request in &self.requests {
            if !requests.iter().any(|it| it.name == request.name) {
                let (headers, expect) = (Vec::new(), Expect::default());
                requests.push(RequestSpec { headers, body: None, expect, ..request.clone() });
            }
        }
        Self { order: self.order, file: self.file.clone(), seq: self.seq, requests }
    }

    /// The names of its requests, in the order in which they first appear.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for request in &self.requests {
            if !names.contains(&request.name.as_str()) {
                names.push(&request.name);
            }
        }
        names
    }

    fn check(&self) -> Result<(), String> {
        let names = distinct_names(&self.requests);
        if names > NAMES_LIMIT {
            return Err(format!(
                "the requests have {names} names, and {NAMES_LIMIT} have figures of their own: give several requests \
                 the same \"name\""
            ));
        }
        if self.order == RequestOrder::Weighted && self.requests.iter().all(|it| it.weight == 0) {
            return Err("every weight is 0: give one request a \"weight\"".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
