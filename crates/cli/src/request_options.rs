//! What is requested and what a correct reply is: the same options in every verb.

use jiff::Timestamp;
use serde::Serialize;
use std::{collections::BTreeSet, fs::File, io::Read, path::Path};
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::plan::Asked;
use wirebench_schema::{
    entry::RunCommand,
    load::{Body, Expect, RequestFile, RequestOrder, RequestSet, RequestSpec, SeqStart, Trust},
    scenario::Scenario,
    secrets::{hidden_json, hidden_text, learn},
    server_url::ServerUrl,
    suite::Workload,
};

use crate::{context::Context, exit::usage, value};

/// Where `--help` lists them.
const REQUESTS: &str = "Requests";
const TLS: &str = "TLS";

/// The request and the expected reply.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct RequestOptions {
    /// Request method; a standard one in any case [default: GET]
    #[arg(long, value_name = "NAME", value_parser = value::method, help_heading = REQUESTS)]
    pub(crate) method: Option<String>,
    /// Path and query of the request, such as /users?page=1 [default: those of the URL]
    #[arg(long, value_name = "PATH", help_heading = REQUESTS)]
    pub(crate) path: Option<String>,
    /// Header line 'Name: value'; repeatable
    #[arg(
        short = 'H', long = "header", value_name = "LINE", value_parser = value::header,
        allow_hyphen_values = true, help_heading = REQUESTS
    )]
    pub(crate) headers: Vec<(String, String)>,
    /// Request body
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = REQUESTS)]
    pub(crate) body: Option<String>,
    /// File or pipe with the request body, at most 1GiB; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "body", help_heading = REQUESTS)]
    pub(crate) body_file: Option<String>,
    /// Statuses of correct replies, such as 401,404 [default: all below 400]
    #[arg(long, value_name = "LIST", value_parser = value::statuses, help_heading = REQUESTS)]
    pub(crate) expect_status: Option<value::List<u16>>,
    /// Expected reply body [default: the body of the first reply]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = REQUESTS)]
    pub(crate) expect_body: Option<String>,
    /// File with the expected reply body, at most 256MiB
    #[arg(long, value_name = "FILE", help_heading = REQUESTS)]
    pub(crate) expect_body_file: Option<String>,
    /// Text that each reply body must contain
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = REQUESTS)]
    pub(crate) expect_contains: Option<String>,
    /// Accept any reply body; still check its length
    #[arg(long, help_heading = REQUESTS)]
    pub(crate) any_body: bool,
    /// File with requests: URLs or paths, vegeta's targets, JSON lines or an HTTP archive
    #[arg(
        long = "requests", value_name = "FILE",
        help_heading = REQUESTS, conflicts_with_all = ["method", "path", "body", "body_file"]
    )]
    pub(crate) requests_file: Option<String>,
    /// Order of the requests of --requests: in-turn, shuffled or weighted
    #[arg(
        long, value_name = "ORDER", default_value = "in-turn", requires = "requests_file",
        help_heading = REQUESTS
    )]
    pub(crate) order: RequestOrder,
    /// Least number of {seq} in --requests [default: the time in microseconds plus a random number]
    #[arg(long, value_name = "N", requires = "requests_file", help_heading = REQUESTS)]
    pub(crate) seq_from: Option<u64>,
}

/// The requests of a user to servers that wirebench starts.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OwnOptions {
    #[command(flatten)]
    requests: RequestOptions,
    #[command(flatten)]
    trust: TrustOptions,
    /// URL of the servers that are started, such as 'https://{host}:{port}/api' or 'unix:{path}'; one
    /// for all, or one for each in their order [default: http://{host}:{port}/]
    #[arg(long = "url", value_name = "URL", help_heading = REQUESTS)]
    urls: Vec<ServerUrl>,
}

/// Accepted certificates.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TrustOptions {
    /// Accept any certificate
    #[arg(long, conflicts_with = "ca", help_heading = TLS)]
    pub(crate) insecure: bool,
    /// Trust the authorities in this PEM file, at most 16MiB, instead of the system's; a server's own
    /// certificate may be among them
    #[arg(long, visible_alias = "cacert", value_name = "FILE", help_heading = TLS)]
    pub(crate) ca: Option<String>,
}

impl TrustOptions {
    pub(crate) fn trust(&self) -> Trust {
        match &self.ca {
            _ if self.insecure => Trust::Anybody,
            Some(file) => Trust::File(file.clone()),
            None => Trust::System,
        }
    }
}

/// The requests of a scenario are part of its contract.
pub(crate) const CONTRADICTION: &str = "--scenario says what is requested, and so do --method, --path, \
                                        --requests and the like: omit one of them";

/// Hides what the files of `sent` have of secrets: bodies, and lines from which a secret is chosen. Those of a set are
/// next to its file.
pub(crate) fn learn_files(sent: &impl Serialize, set: Option<&RequestSet>) {
    let file = set.and_then(|set| set.file.as_deref());
    let folder = file.and_then(|it| Path::new(it).parent()).unwrap_or(Path::new(""));
    let read = |path: &str| read_requests(&folder.join(path).display().to_string());
    for body in set.iter().flat_map(|it| &it.requests).filter_map(|it| it.body.as_ref()) {
        if let Body::File(path) = body {
            let _ = read(path);
        }
    }
    // Without its brace it is no placeholder, and hidden as a value.
    let plain = serde_json::to_string(sent).unwrap_or_default().replace("{choose:", "choose:");
    let hidden = hidden_json(&plain);
    let chosen = plain.split("choose:").skip(1).filter_map(|it| Some(it.split_once('}')?.0));
    let of_secret = chosen.filter(|path| !hidden.contains(&format!("choose:{path}}}")));
    for text in of_secret.collect::<BTreeSet<_>>().into_iter().flat_map(read) {
        learn(&text.lines().map(|line| ["secret", line]).collect::<Vec<_>>());
    }
}

/// The text of a file of requests, whose secrets are hidden from now on.
pub(crate) fn read_requests(path: &str) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let mut bounded = file.take(RequestFile::LIMIT_BYTES + 1);
    bounded.read_to_string(&mut text).map_err(|error| error.to_string())?;
    if bounded.limit() == 0 {
        return Err(format!("it is larger than {} MiB", RequestFile::LIMIT_BYTES >> 20));
    }
    learn(&text);
    Ok(text)
}

/// The requests that `entries` name in their descriptions, if they do.
pub(crate) fn of_entries(entries: &[Subject]) -> anyhow::Result<Option<RequestSet>> {
    let mut all = entries.iter().filter_map(|it| Some((it, it.variant.requests.as_ref()?)));
    let Some((first, set)) = all.next() else { return Ok(None) };
    let is_same =
        |other: &RequestSet| (&other.order, &other.requests) == (&set.order, &set.requests);
    match all.find(|(_, other)| !is_same(other)) {
        Some((other, _)) => Err(usage(format!(
            "{} and {} have different `requests`: measure one at a time, or give both --requests FILE",
            first.variant.id, other.variant.id
        ))),
        None => Ok(Some(set.clone())),
    }
}

impl RequestOptions {
    /// The requests of a file. The files that it names are looked for next to it.
    pub(crate) fn of_file(&self) -> anyhow::Result<Option<RequestFile>> {
        let Some(path) = &self.requests_file else { return Ok(None) };
        let text = read_requests(path)
            .map_err(|reason| usage(format!("--requests {path} cannot be read: {reason}")))?;
        let mut file = RequestFile::parse(&text, self.order)
            .map_err(|error| usage(format!("--requests {path}, {error}")))?;
        file.set.file = Some(path.clone());
        let at_us = Timestamp::now().as_microsecond().unsigned_abs();
        file.set.seq = self.seq_from.map(|from| SeqStart { from, at_us });
        Ok(Some(file))
    }

    /// The one request of the options.
    pub(crate) fn one(&self) -> anyhow::Result<RequestSet> {
        let method = self.method.clone().unwrap_or_else(|| "GET".to_owned());
        let path = self.path.clone().unwrap_or_default();
        let request = RequestSpec {
            name: hidden_text(format!("{method} {path}").trim_end()),
            weight: 1,
            method,
            path,
            headers: Vec::new(),
            body: self.request_body(),
            expect: self.expect(),
        };
        request.check().map_err(usage)?;
        let (order, requests) = (RequestOrder::InTurn, vec![request]);
        Ok(RequestSet { order, file: None, seq: None, requests })
    }

    pub(crate) fn expect(&self) -> Expect {
        Expect {
            status: self.expect_status.clone().unwrap_or_default(),
            body: self.expect_body.clone(),
            body_file: self.expect_body_file.clone(),
            contains: self.expect_contains.clone(),
            any: self.any_body,
        }
    }

    pub(crate) fn request_body(&self) -> Option<Body> {
        let file = || self.body_file.clone().map(Body::File);
        self.body.clone().map(Body::Text).or_else(file)
    }
}

/// Whether the subject says that it is reached over TLS.
fn is_tls(subject: &Subject) -> bool {
    let RunCommand { url, service, .. } = &subject.variant.run;
    service.as_ref().is_some_and(|it| it.target.is_tls())
        || url.as_ref().is_some_and(ServerUrl::is_tls)
}

/// Refuses a server that listens elsewhere than its URL says.
fn check_place(run: &RunCommand) -> Result<(), String> {
    let takes =
        |place: &str| run.command.iter().chain(run.env.values()).any(|it| it.contains(place));
    match run.url.as_ref().is_some_and(ServerUrl::is_unix) {
        true if !takes("{path}") => {
            Err("the URL unix:{path} is that of a Unix socket, and the server's command has no \
                                         {path}: write it where the path of the socket goes"
                .to_owned())
        }
        false if takes("{path}") => {
            Err("{path} in a command is the path of a Unix socket: add --url 'unix:{path}'"
                .to_owned())
        }
        _ => Ok(()),
    }
}

impl OwnOptions {
    /// Whether an option says what is requested, or of which server.
    pub(crate) fn is_given(&self) -> bool {
        self.requests != RequestOptions::default()
            || !self.urls.is_empty()
            || self.trust.trust() != Trust::System
    }

    /// Why idle connections cannot be made to the servers.
    pub(crate) fn without_idle(&self) -> Option<&'static str> {
        if self.urls.iter().any(ServerUrl::is_tls) {
            return Some("idle connections are made without TLS");
        }
        self.urls.iter().any(ServerUrl::is_unix).then_some("idle connections are made over TCP")
    }

    /// What is requested instead of a scenario's contract, if an option says so. Without one it is the path of a
    /// service's URL, unless one of `subjects` has requests.
    pub(crate) fn asked(&self, subjects: &[Subject]) -> anyhow::Result<Option<Asked>> {
        let has_path = subjects.iter().any(|it| it.variant.run.service.is_some())
            && subjects.iter().all(|it| it.variant.requests.is_none());
        if !self.is_given() && !has_path {
            return Ok(None);
        }
        if self.trust.trust() != Trust::System
            && !self.urls.iter().any(ServerUrl::is_tls)
            && !subjects.iter().any(is_tls)
        {
            return Err(usage(
                "--insecure and --ca are for TLS: add --url 'https://{host}:{port}/', or omit them",
            ));
        }
        if self.requests.body_file.as_deref() == Some("-") {
            return Err(usage(
                "--body-file - is for `load`: name a file, which is read for each server",
            ));
        }
        let mut set = match self.requests.of_file()? {
            Some(file) => file.set,
            None => self.requests.one()?,
        };
        let of_all = self.requests.expect();
        for RequestSpec { expect, .. } in &mut set.requests {
            if expect.status.is_empty() {
                expect.status.clone_from(&of_all.status);
            }
            if expect.leaves_body_open() {
                *expect = Expect { status: expect.status.clone(), ..of_all.clone() };
            }
        }
        Ok(Some(Asked {
            requests: set,
            headers: self.requests.headers.clone(),
            trust: self.trust.trust(),
        }))
    }

    /// The subjects of the command lines `lines`, with their URLs.
    pub(crate) fn servers(
        &self,
        context: &Context,
        lines: &[String],
        scenarios: &[Scenario],
    ) -> anyhow::Result<Vec<Subject>> {
        let mut own = context.own(lines, scenarios)?;
        self.set_urls(&mut own)?;
        Ok(own)
    }

    /// Gives each of the servers its URL.
    pub(crate) fn set_urls(&self, servers: &mut [Subject]) -> anyhow::Result<()> {
        let mut started: Vec<&mut Subject> =
            servers.iter_mut().filter(|it| it.variant.run.service.is_none()).collect();
        let urls = self.urls(started.len())?;
        for (server, url) in started.iter_mut().zip(urls) {
            server.variant.run.url = url.or(server.variant.run.url.take());
            check_place(&server.variant.run).map_err(usage)?;
        }
        Ok(())
    }

    fn urls(&self, servers: usize) -> anyhow::Result<Vec<Option<ServerUrl>>> {
        match self.urls.as_slice() {
            [] => Ok(vec![None; servers]),
            _ if servers == 0 => Err(usage("--url is for servers that wirebench starts: omit it")),
            [one] => Ok(vec![Some(one.clone()); servers]),
            each if each.len() == servers => Ok(each.iter().cloned().map(Some).collect()),
            more => Err(usage(format!(
                "there are {} --url for {servers} servers: give one for all, or one for each",
                more.len()
            ))),
        }
    }
}

/// Gives a workload the scenario or the requests that were asked for, or those that `entries` name.
pub(crate) fn set_requests(
    workload: &mut Workload,
    scenario: Option<Scenario>,
    own: &OwnOptions,
    entries: &[Subject],
) -> anyhow::Result<()> {
    match (own.asked(entries)?, scenario) {
        (Some(asked), None | Some(Scenario::Requests)) => asked.apply(workload),
        (Some(_), Some(_)) => return Err(usage(CONTRADICTION)),
        (None, scenario) => {
            let needs_requests = entries.iter().any(|it| it.variant.answers_only_requests());
            let usual = if needs_requests { Scenario::Requests } else { workload.scenario };
            workload.scenario = scenario.unwrap_or(usual);
            if workload.scenario == Scenario::Requests {
                workload.requests = of_entries(entries)?;
            }
        }
    }
    Ok(())
}
