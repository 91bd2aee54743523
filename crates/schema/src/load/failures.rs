//! Kinds of failures, and one failure of a kind in words. Counts are in `errors`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What failed: one kind for each field of [`ErrorCounts`](super::ErrorCounts), which describes it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(missing_docs, reason = "the fields of `ErrorCounts` describe them")]
pub enum ErrorKind {
    Refused,
    Connect,
    Tls,
    Timeout,
    Reset,
    ClosedEarly,
    WrongReply,
    Surplus,
    Status,
    Socket,
    Lost,
    NoPort,
}

crate::names! { ErrorKind:
    Refused = "refused", Connect = "connect", Tls = "tls", Timeout = "timeout", Reset = "reset",
    ClosedEarly = "closed early", WrongReply = "wrong reply", Surplus = "surplus",
    Status = "status", Socket = "socket", Lost = "lost", NoPort = "no port"
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
