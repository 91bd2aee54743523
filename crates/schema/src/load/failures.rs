//! Kinds of failures, and one failure of a kind in words. Counts are in `errors`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Defines the kinds, the counts by kind, and the access to a count by its kind.
macro_rules! failures {
    ($($(#[$doc:meta])+ $field:ident $kind:ident = $name:literal,)+) => {
        /// What failed: one kind for each field of [`ErrorCounts`].
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum ErrorKind {
            $($(#[$doc])+ $kind,)+
        }

        crate::names! { ErrorKind: $($kind = $name),+ }

        /// Failures by kind: in the window, while waiting for its last replies, and while connecting. Each
        /// failed request or connection is counted in exactly one field.
        #[derive(
            Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize,
        )]
        pub struct ErrorCounts {
            $($(#[$doc])+ pub $field: u64,)+
        }

        impl ErrorCounts {
            /// The count of this kind.
            pub const fn of_mut(&mut self, kind: ErrorKind) -> &mut u64 {
                match kind {
                    $(ErrorKind::$kind => &mut self.$field,)+
                }
            }
        }
    };
}

failures! {
    /// The server refused the connection.
    refused Refused = "refused",
    /// The connection could not be made for another reason.
    connect Connect = "connect",
    /// TLS failed: the handshake, or later.
    tls Tls = "tls",
    /// No reply, or no connection, within the timeout.
    timeout Timeout = "timeout",
    /// The server reset the connection.
    reset Reset = "reset",
    /// The server closed the connection while a reply was due.
    closed_early ClosedEarly = "closed early",
    /// A reply that violates the protocol or the expectation.
    wrong_reply WrongReply = "wrong reply",
    /// Bytes beyond the replies to all requests.
    surplus Surplus = "surplus",
    /// A complete HTTP reply with a status of 400 or above.
    status Status = "status",
    /// Any other failure of the socket.
    socket Socket = "socket",
    /// Further requests that were in flight on a connection that failed.
    lost Lost = "lost",
    /// The connection could not be made because no local port was free.
    no_port NoPort = "no port",
}

impl ErrorKind {
    /// Whether a request failed so. A timeout is one, though it may have been that of a connection being made.
    #[must_use]
    pub const fn is_of_request(self) -> bool {
        use ErrorKind::{ClosedEarly, Lost, Reset, Socket, Status, Timeout, WrongReply};
        matches!(self, Timeout | Reset | ClosedEarly | WrongReply | Status | Socket | Lost)
    }
}

/// One failure in words. Files have it as `KIND: SENTENCE`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(from = "String", into = "String")]
pub struct ErrorExample {
    /// Its kind; absent where a file names none.
    pub kind: Option<ErrorKind>,
    /// What happened.
    pub sentence: String,
}

impl fmt::Display for ErrorExample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(formatter, "{kind}: {}", self.sentence),
            None => formatter.write_str(&self.sentence),
        }
    }
}

impl From<ErrorExample> for String {
    fn from(example: ErrorExample) -> Self {
        example.to_string()
    }
}

impl From<String> for ErrorExample {
    fn from(text: String) -> Self {
        let known = text.split_once(": ").and_then(|(name, sentence)| {
            let kind = ErrorKind::ALL.into_iter().find(|kind| kind.name() == name)?;
            Some(Self { kind: Some(kind), sentence: sentence.to_owned() })
        });
        known.unwrap_or(Self { kind: None, sentence: text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_reads_back_with_its_kind_and_an_unknown_one_as_it_was() {
        for kind in ErrorKind::ALL {
            let example = ErrorExample { kind: Some(kind), sentence: "a: b".to_owned() };
            let json = serde_json::to_string(&example).unwrap();
            assert_eq!(json, format!("\"{kind}: a: b\""));
            assert_eq!(serde_json::from_str::<ErrorExample>(&json).unwrap(), example);
        }
        let older = ErrorExample::from("gave up: no reply came".to_owned());
        assert_eq!((older.kind, older.to_string().as_str()), (None, "gave up: no reply came"));
    }
}
