//! The codec of a load over HTTP: templates, rules, and the files that they name.

use std::{collections::BTreeSet, path::Path, sync::Arc};
use wirebench_schema::load::{Body, LoadConfig, RequestOrder, RequestSet, RequestSpec, is_safe};

use super::file::{self, FilesDigest};
use crate::{
    codec::{
        http1::{ExpectedBody, FirstUse, Http1, Needle, ReplyBody, Requests, Rules},
        requests::{Choices, Head, Picker, Template, choice_files, has_placeholder},
    },
    error::LoadError,
};

/// The most memory that the files of a set take together, or that of an expected body.
const FILES_LIMIT_BYTES: u64 = 256 << 20;

/// The largest body of a request.
pub(super) const BODY_LIMIT_BYTES: u64 = 1 << 30;

/// The names of a load's requests that have figures of their own.
pub(crate) fn names(config: &LoadConfig) -> Vec<&str> {
    let names = config.requests.as_ref().map(RequestSet::names).unwrap_or_default();
    if names.len() > 1 { names } else { Vec::new() }
}

/// The number of the name of each request.
pub(super) fn numbers(config: &LoadConfig) -> Arc<[u16]> {
    let names = names(config);
    let requests = config.requests.iter().flat_map(|set| &set.requests);
    let number = |request: &RequestSpec| names.iter().position(|it| *it == request.name);
    requests.filter_map(|it| u16::try_from(number(it)?).ok()).collect()
}

/// Reads files within a common bound.
struct Files<'a> {
    folder: Option<&'a Path>,
    left_bytes: u64,
    /// Of what requests send of them.
    sent: &'a mut FilesDigest,
}

impl Files<'_> {
    fn place(&self, path: &str) -> String {
        match self.folder {
            Some(folder) if path != "-" => folder.join(path).display().to_string(),
            _ => path.to_owned(),
        }
    }

    fn body(&mut self, body: &Body, of: &str) -> Result<Vec<u8>, LoadError> {
        let failed = |path: &str, reason| {
            format!(
                "request `{of}`: `{path}` cannot be read ({reason}): relative names begin beside the file of \
                 requests, and the files of all requests may have {} MiB",
                FILES_LIMIT_BYTES >> 20
            )
        };
        let body = match body {
            Body::File(path) => &Body::File(self.place(path)),
            Body::Text(_) => body,
        };
        let bytes = read_body(body, self.left_bytes, failed)?;
        self.left_bytes = self.left_bytes.saturating_sub(bytes.len() as u64);
        Ok(bytes)
    }

    fn lines(&mut self, path: &str) -> Result<Arc<[String]>, LoadError> {
        let failed = |reason| {
            LoadError::Configuration(format!("{{choose:{path}}} cannot be read: {reason}"))
        };
        let bytes = file::read(&self.place(path), self.left_bytes).map_err(failed)?;
        self.left_bytes -= bytes.len() as u64;
        self.sent.add(&bytes);
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not text".to_owned()))?;
        Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    /// The lines of the files that placeholders of these texts name.
    fn choices<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) -> Result<Choices, LoadError> {
        let wanted: BTreeSet<String> = texts.flat_map(choice_files).collect();
        wanted.into_iter().map(|path| Ok((path.clone(), self.lines(&path)?))).collect()
    }
}

/// The codec of a load over HTTP.
pub(super) fn http1(config: &LoadConfig, files: &mut FilesDigest) -> Result<Http1, LoadError> {
    if let Some(requests) = &config.requests {
        return of_set(config, requests, files);
    }
    let rules = rules_of_load(config)?;
    // Read once: a pipe has its content only once.
    let failed = cannot_read("the body", "--body-file", "1GiB");
    let body = config.body.as_ref().map(|body| read_body(body, BODY_LIMIT_BYTES, failed));
    let body = body.transpose()?;
    if let (Some(Body::File(_)), Some(bytes)) = (&config.body, &body) {
        files.add(bytes);
    }
    let head = |path| head(config, &config.method, path, &config.headers, body.is_some());
    let (one, bytes) = (head(config.target.path()), body.as_deref().unwrap_or_default());
    if one.texts(bytes).into_iter().any(has_placeholder) {
        return varying(config, (&one, bytes), rules, files);
    }
    let requests = |head: &Head| Requests::new(&head.bytes(bytes), config.pipeline);
    let heavy = config.heavy.as_ref().map(|heavy| (heavy.clone(), requests(&head(&heavy.path))));
    let (is_safe, learns_body) = (is_safe(&config.method), config.expect().leaves_body_open());
    let http = Http1::new(requests(&one), rules, config.threads);
    Ok(http.with_first_use(FirstUse { is_safe, learns_body }).with_heavy(heavy))
}

/// How replies are judged whose request says nothing else.
fn rules_of_load(config: &LoadConfig) -> Result<Rules, LoadError> {
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
fn cannot_read(what: &str, option: &str, limit: &str) -> impl FnOnce(&str, String) -> String {
    move |path, reason| {
        format!(
            "{what} cannot be read from `{path}` ({reason}): give {option} a file or a pipe with at most {limit}, \
             or - for standard input"
        )
    }
}

fn read_body(
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
fn head(
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

/// The one request of a load without a set.
fn varying(
    config: &LoadConfig,
    (head, body): (&Head, &[u8]),
    rules: Rules,
    sent: &mut FilesDigest,
) -> Result<Http1, LoadError> {
    if config.heavy.is_some() {
        let both = "--heavy needs requests of one length: omit it, or the placeholder";
        return Err(LoadError::Configuration(both.to_owned()));
    }
    let mut files = Files { folder: None, left_bytes: FILES_LIMIT_BYTES, sent };
    let choices = files.choices(head.texts(body).into_iter())?;
    let template = Template::new(head, body, &choices).map_err(LoadError::Configuration)?;
    let first_use = FirstUse { is_safe: is_safe(&config.method), learns_body: false };
    let picker = Picker::new(RequestOrder::InTurn, &[1], config.seed);
    Ok(Http1::of_set(vec![(template, rules, first_use)], (picker, None), config.threads))
}

fn of_set(
    config: &LoadConfig,
    set: &RequestSet,
    sent: &mut FilesDigest,
) -> Result<Http1, LoadError> {
    let mut files = Files {
        folder: set.file.as_deref().and_then(|it| Path::new(it).parent()),
        left_bytes: FILES_LIMIT_BYTES,
        sent,
    };
    let mut read = Vec::new();
    for request in &set.requests {
        let body = request.body.as_ref().map(|body| files.body(body, &request.name)).transpose()?;
        if let (Some(Body::File(_)), Some(bytes)) = (&request.body, &body) {
            files.sent.add(bytes);
        }
        let headers = headers(config, request);
        let head = head(config, &request.method, &request.path, &headers, body.is_some());
        read.push((request, head, body.unwrap_or_default()));
    }
    let choices = files.choices(read.iter().flat_map(|(_, head, body)| head.texts(body)))?;
    let of_load = rules_of_load(config)?;
    let mut kinds = Vec::new();
    for (request, head, body) in read {
        let template = Template::new(&head, &body, &choices).map_err(|reason| {
            LoadError::Configuration(format!("request `{}`: {reason}", request.name))
        })?;
        let first_use = FirstUse {
            is_safe: is_safe(&request.method),
            learns_body: learns_body(config, request, &template),
        };
        kinds.push((template, rules(&of_load, request, &mut files)?, first_use));
    }
    if let [(Template::Constant(bytes), rules, first_use)] = &kinds[..] {
        let requests = Requests::new(bytes, config.pipeline);
        let http = Http1::new(requests, rules.clone(), config.threads);
        return Ok(http.with_first_use(*first_use));
    }
    let weights: Vec<u32> = set.requests.iter().map(|request| request.weight).collect();
    let picker = Picker::new(set.order, &weights, config.seed);
    Ok(Http1::of_set(kinds, (picker, set.seq), config.threads))
}

/// Those of the request, and of the load those that it does not have itself.
fn headers(config: &LoadConfig, request: &RequestSpec) -> Vec<(String, String)> {
    let has = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let others = config.headers.iter().filter(|(name, _)| !has(name));
    request.headers.iter().chain(others).cloned().collect()
}

/// Those of the request, and of the load what it does not say itself.
fn rules(
    of_load: &Rules,
    request: &RequestSpec,
    files: &mut Files<'_>,
) -> Result<Rules, LoadError> {
    let expect = &request.expect;
    let statuses = match (&expect.status[..], &of_load.statuses[..]) {
        ([], []) if !is_safe(&request.method) => (200..300).collect(),
        ([], of_load) => of_load.to_vec(),
        (of_request, _) => of_request.to_vec(),
    };
    let rules = Rules { statuses, reply_body: ReplyBody::to(&request.method), ..of_load.clone() };
    if expect.leaves_body_open() {
        return Ok(rules);
    }
    let body = expect.whole_body().map(|body| files.body(&body, &request.name)).transpose()?;
    Ok(Rules {
        expected: body.map(|body| Arc::new(ExpectedBody::given(&body))),
        contains: expect.contains.as_deref().map(Needle::new),
        ..rules
    })
}

/// Whether the replies to a request must have the body of the first one: nothing else is expected, and neither its
/// method nor a placeholder makes them differ.
fn learns_body(config: &LoadConfig, request: &RequestSpec, template: &Template) -> bool {
    let is_open = request.expect.leaves_body_open() && config.expect().leaves_body_open();
    is_safe(&request.method) && is_open && matches!(template, Template::Constant(_))
}
