//! The kinds of failure of a request or connection during a load. Each failure has exactly one
//! kind.

use rustix::io::Errno;
use std::fmt;
use wirebench_schema::load::{ErrorExample, ErrorKind};

use crate::codec::ReplyError;

/// One failure. It becomes a count, and the first of its kind becomes a sentence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Failure {
    Refused,
    /// No local port was free for the connection.
    NoPort,
    /// The connection could not be made for another reason.
    Connect(Errno),
    Tls(String),
    ConnectTimeout,
    Timeout,
    Reset,
    /// The server closed while a reply was due.
    ClosedEarly,
    WrongReply(ReplyError),
    /// At least this many bytes beyond the replies to all requests, and their start.
    Surplus(usize, String),
    /// A complete reply with this status, and the text of its page.
    Status(u16, String),
    /// Any other failure of the socket.
    Socket(Errno),
}

impl Failure {
    /// The failure for an error number while a connection is being made.
    pub(crate) fn of_connecting(error: Errno) -> Self {
        match error {
            Errno::CONNREFUSED => Self::Refused,
            Errno::TIMEDOUT => Self::ConnectTimeout,
            Errno::ADDRNOTAVAIL => Self::NoPort,
            other => Self::Connect(other),
        }
    }

    /// The failure for an error number on an established connection.
    pub(crate) fn of_open(error: Errno) -> Self {
        match error {
            Errno::CONNRESET | Errno::PIPE => Self::Reset,
            Errno::TIMEDOUT => Self::Timeout,
            other => Self::Socket(other),
        }
    }

    pub(crate) const fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused => ErrorKind::Refused,
            Self::NoPort => ErrorKind::NoPort,
            Self::Connect(_) => ErrorKind::Connect,
            Self::Tls(_) => ErrorKind::Tls,
            Self::ConnectTimeout | Self::Timeout => ErrorKind::Timeout,
            Self::Reset => ErrorKind::Reset,
            Self::ClosedEarly => ErrorKind::ClosedEarly,
            Self::WrongReply(_) => ErrorKind::WrongReply,
            Self::Surplus(..) => ErrorKind::Surplus,
            Self::Status(..) => ErrorKind::Status,
            Self::Socket(_) => ErrorKind::Socket,
        }
    }

    pub(crate) fn example(&self) -> ErrorExample {
        let sentence = match self {
            Self::Refused => "nothing listens any more".to_owned(),
            Self::NoPort => "no local port is free towards the server: give more addresses to \
                             connect from (--source 127.0.0.2-127.0.0.9), or fewer connections; a \
                             port that was closed is kept in TIME_WAIT"
                .to_owned(),
            Self::Connect(error) | Self::Socket(error) => error.to_string(),
            Self::Tls(reason) => reason.clone(),
            Self::ConnectTimeout => "no connection in time".to_owned(),
            Self::Timeout => "no reply in time".to_owned(),
            Self::Reset => "the server reset the connection".to_owned(),
            Self::ClosedEarly => "the server closed while a reply was due".to_owned(),
            Self::WrongReply(error) => error.to_string(),
            Self::Surplus(bytes, start) => {
                format!("{bytes} bytes came without a request: \"{start}\"")
            }
            Self::Status(status, page) => {
                let class = if *status > 599 { ", above the 599 of HTTP" } else { "" };
                let page = match page.as_str() {
                    "" => String::new(),
                    page => format!(": \"{page}\"{}", next_step(*status, page)),
                };
                format!("a reply had status {status}{class}{page}")
            }
        };
        ErrorExample { kind: Some(self.kind()), sentence }
    }
}

/// The next step that the page of a TLS port suggests: nginx, Apache and Go answer plain HTTP with such
/// pages, and nginx a client without a certificate.
fn next_step(status: u16, page: &str) -> &'static str {
    match status {
        400 if page.contains("HTTPS") || page.contains("SSL-enabled") => "; write https://",
        400 if page.contains("SSL certificate") => "; give --cert and --key",
        _ => "",
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.example().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_a_kind_of_its_own_that_its_sentence_begins_with() {
        let failures = [
            Failure::Refused,
            Failure::of_connecting(Errno::ADDRNOTAVAIL),
            Failure::of_connecting(Errno::NOBUFS),
            Failure::Tls("no certificate".to_owned()),
            Failure::Timeout,
            Failure::Reset,
            Failure::ClosedEarly,
            Failure::WrongReply(ReplyError::BeforeRequest),
            Failure::Surplus(1, "x".to_owned()),
            Failure::Status(500, String::new()),
            Failure::Socket(Errno::NOBUFS),
        ];
        // Requests that are lost with another failure have none of their own.
        let has = |kind: &ErrorKind| failures.iter().any(|it| it.kind() == *kind);
        let without: Vec<_> = ErrorKind::ALL.into_iter().filter(|kind| !has(kind)).collect();
        assert_eq!(without, [ErrorKind::Lost]);
        for failure in failures {
            assert!(failure.to_string().starts_with(failure.kind().name()), "{failure}");
        }
    }
}
