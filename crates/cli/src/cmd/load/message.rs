//! The options for messages that only `load` has.

use wirebench_schema::{scenario::HeavyConnections, target::Target};

use crate::{request_options::RequestOptions, value};

#[derive(Debug, clap::Args)]
pub(super) struct MessageOptions {
    #[command(flatten)]
    pub(super) request: RequestOptions,
    /// Let one connection in N request another path; latencies are those of the others
    #[arg(
        long,
        value_name = "N:PATH",
        help_heading = "Requests",
        conflicts_with = "requests_file"
    )]
    pub(super) heavy: Option<HeavyConnections>,
    /// Longest head of a reply, at most 64MiB [default: 1MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Requests", value_parser = value::size)]
    pub(super) head_limit: Option<usize>,
}

impl MessageOptions {
    /// Refuses what means nothing to the target's protocol and cannot be seen in a configuration
    /// any more.
    pub(super) fn check(&self, target: &Target, payload: Option<usize>) -> Result<(), String> {
        let traits = target.protocol().traits();
        let refuse = |option, reason| Err(format!("{option} does not apply to {target}: {reason}"));
        if payload.is_some() && !traits.has_payload {
            return refuse("--payload", "use --body or --body-file for HTTP");
        }
        let RequestOptions { method, path, .. } = &self.request;
        for (option, value) in [("--method", method), ("--path", path)] {
            if value.is_some() && !traits.has_heads {
                return refuse(option, "it applies to http:// and https://");
            }
        }
        Ok(())
    }
}
