//! The options for requests and the replies that they expect.

use std::{fs::File, io::Read, path::Path};
use wirebench_schema::{
    load::{Body, RequestFile, RequestOrder, RequestSet},
    scenario::HeavyConnections,
    target::Target,
};

use crate::{
    exit::usage,
    value::{self, only},
};

/// The request and the expected reply.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "HTTP")]
pub(super) struct MessageOptions {
    /// Message size for echo, at most 1GiB [default: 64]
    #[arg(long, value_name = "SIZE", help_heading = "Load", value_parser = value::size)]
    pub(super) payload: Option<usize>,
    /// Request method; a standard one in any case [default: GET]
    #[arg(long, value_name = "NAME", value_parser = value::method)]
    pub(super) method: Option<String>,
    /// Header line 'Name: value'; repeatable
    #[arg(short = 'H', long = "header", value_name = "LINE", value_parser = value::header, allow_hyphen_values = true)]
    pub(super) headers: Vec<(String, String)>,
    /// Let one connection in N request another path; latencies are those of the others
    #[arg(long, value_name = "N:PATH")]
    pub(super) heavy: Option<HeavyConnections>,
    /// File with requests: URLs or paths, vegeta's targets, JSON lines or an HTTP archive
    #[arg(
        long = "requests", value_name = "FILE",
        conflicts_with_all = ["method", "body", "body_file", "heavy"]
    )]
    pub(super) requests_file: Option<String>,
    /// Order of the requests of --requests: in-turn, shuffled or weighted
    #[arg(long, value_name = "ORDER", default_value = "in-turn", requires = "requests_file")]
    pub(super) order: RequestOrder,
    /// Request body
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) body: Option<String>,
    /// File or pipe with the request body, at most 1GiB; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) body_file: Option<String>,
    /// Expected reply body [default: the body of the first reply]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) expect_body: Option<String>,
    /// File with the expected reply body, at most 256MiB
    #[arg(long, value_name = "FILE")]
    pub(super) expect_body_file: Option<String>,
    /// Text that each reply body must contain
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) expect_contains: Option<String>,
    /// Accept any reply body; still check its length
    #[arg(long)]
    pub(super) any_body: bool,
    /// Statuses of correct replies, such as 401,404 [default: all below 400]
    #[arg(long, value_name = "LIST", value_parser = value::statuses)]
    pub(super) expect_status: Option<value::List<u16>>,
    /// Longest head of a reply, at most 64MiB [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = value::size)]
    pub(super) head_limit: Option<usize>,
}

/// The largest file of requests.
const REQUESTS_LIMIT_BYTES: u64 = 64 << 20;

fn read(path: &str) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let mut bounded = file.take(REQUESTS_LIMIT_BYTES + 1);
    bounded.read_to_string(&mut text).map_err(|error| error.to_string())?;
    if bounded.limit() == 0 {
        return Err(format!("it is larger than {} MiB", REQUESTS_LIMIT_BYTES >> 20));
    }
    Ok(text)
}

impl MessageOptions {
    /// Refuses what means nothing to the target's protocol and cannot be seen in a configuration
    /// any more.
    pub(super) fn check(&self, target: &Target) -> Result<(), String> {
        let traits = target.protocol().traits();
        let refuse = |option, reason| Err(format!("{option} does not apply to {target}: {reason}"));
        if self.payload.is_some() && !traits.has_payload {
            return refuse("--payload", "use --body or --body-file for HTTP");
        }
        if self.method.is_some() && !traits.has_heads {
            return refuse("--method", "it applies to http:// and https://");
        }
        Ok(())
    }

    /// The requests of a file, whose own files are looked for beside it.
    pub(super) fn requests(&self) -> anyhow::Result<Option<RequestSet>> {
        let Some(path) = &self.requests_file else { return Ok(None) };
        let text = read(path)
            .map_err(|reason| usage(format!("--requests {path} cannot be read: {reason}")))?;
        let file = RequestFile::parse(&text, self.order)
            .map_err(|error| usage(format!("--requests {path}, {error}")))?;
        let folder = Path::new(path).parent().map(|it| it.display().to_string());
        let name = Path::new(path).file_name().map(|it| it.to_string_lossy().into_owned());
        Ok(Some(RequestSet { file: name, folder, ..file.set }))
    }

    pub(super) fn body(&self) -> Result<Option<Body>, String> {
        let given = [
            ("--body", self.body.clone().map(Body::Text)),
            ("--body-file", self.body_file.clone().map(Body::File)),
        ];
        Ok(only(&given, "set the request body")?.map(|(_, body)| body))
    }
}
