//! What a load adds to its HTTP requests, and what becomes of a request whose connection the server
//! has closed. Reads and checks; nothing is sent here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BodyCheck, Expect, LoadConfig};
use crate::refuse::refuse_if;

/// What becomes of a request on a connection that has carried others, if the server closes it before
/// the first byte of the reply.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosedPolicy {
    /// It has failed.
    #[default]
    Fail,
    /// It is sent once more, on a new connection, and counted as retried.
    Retry,
}

/// The methods that change nothing on the server (RFC 9110, 9.2.1).
const SAFE: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// Whether requests of this method change nothing on the server.
#[must_use]
pub fn is_safe(method: &str) -> bool {
    SAFE.contains(&method)
}

/// The other methods whose requests have the same effect when they are sent twice (9.2.2).
const IDEMPOTENT: [&str; 2] = ["PUT", "DELETE"];

/// The shortest head, `HTTP/1.1 200`, and the largest that a user may accept.
const HEAD_LEAST_BYTES: usize = 16;
const HEAD_LIMIT_BYTES: usize = 64 << 20;

/// The options for body, file, text, any body and status.
pub(super) const EXPECT_OPTIONS: [&str; 5] =
    ["--expect-body", "--expect-body-file", "--expect-contains", "--any-body", "--expect-status"];

impl LoadConfig {
    /// What a correct reply to its request is.
    #[must_use]
    pub fn expect(&self) -> Expect {
        Expect {
            status: self.expect_status.clone(),
            body: self.expect_body.clone(),
            body_file: self.expect_body_file.clone(),
            contains: self.expect_contains.clone(),
            any: self.body_check == BodyCheck::Any,
        }
    }

    /// Why no reply could be accepted, with the option to change.
    pub(super) fn check_replies(&self) -> Result<(), String> {
        self.expect().check(&EXPECT_OPTIONS)?;
        refuse_if!(
            !(HEAD_LEAST_BYTES..=HEAD_LIMIT_BYTES).contains(&self.head_limit_bytes),
            "a limit of {} bytes suits no head: give --head-limit from {HEAD_LEAST_BYTES} bytes to 64MiB",
            self.head_limit_bytes
        );
        Ok(())
    }

    /// Why requests of this load cannot be sent twice, with the option to change.
    pub(super) fn check_retries(&self) -> Result<(), String> {
        if self.on_closed == ClosedPolicy::Fail {
            return Ok(());
        }
        refuse_if!(
            self.pipeline > 1,
            "--retry-closed repeats the only request of a connection: omit -p, or omit --retry-closed"
        );
        let of_set = self.requests.iter().flat_map(|set| &set.requests).map(|it| &it.method);
        for method in of_set.chain([&self.method]).map(String::as_str) {
            refuse_if!(
                !is_safe(method) && !IDEMPOTENT.contains(&method),
                "a {method} request may have had its effect when the server closes the connection: omit --retry-closed"
            );
        }
        Ok(())
    }
}
