//! What the replies of a server look like: two servers whose replies differ do not offer the same service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The first reply to a request; before a load only those to requests that change nothing on the server.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SampleReply {
    /// Name of the request.
    pub request: String,
    /// Status of the final reply.
    pub status: u16,
    /// Length of the body; in older journals absent where replies may have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes: Option<u64>,
    /// True if replies may have any body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_body: bool,
    /// Media type in lower case, without parameters; empty if the reply names none.
    #[serde(default)]
    pub content_type: String,
    /// Interim replies before it, such as `100 Continue`.
    #[serde(default)]
    pub interim_replies: u32,
}

impl SampleReply {
    /// The most of them that are kept of a set of requests.
    pub const MOST: usize = 1000;

    /// The first pair of replies to the same request that differ, of the same requests to two servers: in the length of
    /// a body that may be any, or in what must be equal. What only one of them was asked for is no difference.
    #[must_use]
    pub fn first_difference<'a>(
        one: &'a [Self],
        other: &'a [Self],
        in_any_body: bool,
    ) -> Option<(&'a Self, &'a Self)> {
        let differ = |(one, other): &(&Self, &Self)| {
            let is_any = one.any_body || other.any_body;
            let lengths =
                one.body_bytes.zip(other.body_bytes).is_some_and(|(one, other)| one != other);
            let head = |it: &Self| (it.status, it.content_type.clone(), it.interim_replies);
            let differs =
                lengths && is_any == in_any_body || !in_any_body && head(one) != head(other);
            one.request == other.request && differs
        };
        one.iter().zip(other).find(differ)
    }
}

impl fmt::Display for SampleReply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "status {}", self.status)?;
        if let Some(bytes) = self.body_bytes {
            write!(formatter, ", {bytes} bytes")?;
        }
        match &self.content_type[..] {
            "" => write!(formatter, ", no content type")?,
            media_type => write!(formatter, ", {media_type}")?,
        }
        match self.interim_replies {
            0 => Ok(()),
            count => write!(formatter, ", after {count} interim"),
        }
    }
}
