//! Where load goes: `http://host:port/path` or `tcp://host:port`.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

use crate::scenario::Protocol;

/// Why a text is not a target. Each message says what to write instead.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TargetError {
    /// There is no `http://` or `tcp://` in front.
    #[error("`{text}` has no scheme: write http://{text} for HTTP/1.1 or tcp://{text} for echo")]
    NoScheme {
        /// What was given.
        text: String,
    },
    /// The scheme is one that wirebench does not speak.
    #[error(
        "`{text}`: wirebench does not speak `{scheme}`; write http://HOST:PORT/PATH for HTTP/1.1 or tcp://HOST:PORT for echo"
    )]
    Scheme {
        /// What was given.
        text: String,
        /// The unknown scheme.
        scheme: String,
    },
    /// The port is missing.
    #[error(
        "`{text}` has no port: write {scheme}://{host}:PORT, for example {scheme}://{host}:8080"
    )]
    NoPort {
        /// What was given.
        text: String,
        /// Its scheme.
        scheme: &'static str,
        /// Its host.
        host: String,
    },
    /// A `tcp://` target with a path.
    #[error("`{text}`: an echo target has no path; write tcp://{authority}")]
    Path {
        /// What was given.
        text: String,
        /// The part that counts.
        authority: String,
    },
    /// Not a URL at all.
    #[error("`{text}` is not a URL ({reason}): write http://HOST:PORT/PATH or tcp://HOST:PORT")]
    Malformed {
        /// What was given.
        text: String,
        /// What the parser said.
        reason: String,
    },
}

/// A server to load, and the protocol to speak to it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Target {
    protocol: Protocol,
    host: String,
    port: u16,
    path: String,
}

impl Target {
    /// A target from its parts. An IPv6 address stands without brackets; `path` matters to HTTP
    /// only.
    #[must_use]
    pub fn new(protocol: Protocol, host: &str, port: u16, path: &str) -> Self {
        Self { protocol, host: host.to_owned(), port, path: path.to_owned() }
    }

    /// What to speak.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// A name or an address, an IPv6 address without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, never 0.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Path and query of an HTTP target, beginning with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// `HOST:PORT` as it stands in a `Host` header, an IPv6 address in brackets.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    const fn scheme(&self) -> &'static str {
        match self.protocol {
            Protocol::Http1 => "http",
            Protocol::Echo => "tcp",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self.protocol {
            Protocol::Http1 => self.path.as_str(),
            Protocol::Echo => "",
        };
        write!(formatter, "{}://{}{path}", self.scheme(), self.authority())
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let owned = || text.to_owned();
        if text.starts_with("unix:") {
            return Err(TargetError::Scheme { text: owned(), scheme: "unix".to_owned() });
        }
        let Some((scheme, _)) = text.split_once("://") else {
            return Err(TargetError::NoScheme { text: owned() });
        };
        let (protocol, scheme) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Protocol::Http1, "http"),
            "tcp" => (Protocol::Echo, "tcp"),
            other => return Err(TargetError::Scheme { text: owned(), scheme: other.to_owned() }),
        };
        let malformed =
            |reason: &str| TargetError::Malformed { text: owned(), reason: reason.to_owned() };
        let uri: http::Uri =
            text.parse().map_err(|e: http::uri::InvalidUri| malformed(&e.to_string()))?;
        let authority = uri.authority().ok_or_else(|| malformed("no host"))?;
        if authority.as_str().contains('@') {
            return Err(malformed("it carries a user name"));
        }
        let bracketed = uri.host().unwrap_or_default();
        let host = bracketed.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(malformed("no host"));
        }
        let port = match uri.port_u16() {
            Some(0) => return Err(malformed("port 0 cannot be connected to")),
            Some(port) => port,
            None if authority.as_str().len() > bracketed.len() + 1 => {
                return Err(malformed("the port is not a number from 1 to 65535"));
            }
            None => {
                return Err(TargetError::NoPort {
                    text: owned(),
                    scheme,
                    host: bracketed.to_owned(),
                });
            }
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        if protocol == Protocol::Echo && path != "/" && !path.is_empty() {
            return Err(TargetError::Path { text: owned(), authority: authority.to_string() });
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { protocol, host, port, path })
    }
}

impl TryFrom<String> for Target {
    type Error = TargetError;

    fn try_from(text: String) -> Result<Self, TargetError> {
        text.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_and_echo_targets_read_back_as_they_are_shown() {
        for text in ["http://127.0.0.1:80/", "http://localhost:8080/a?b=c", "tcp://[::1]:7000"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        let target: Target = "http://h:1".parse().unwrap();
        assert_eq!((target.path(), target.authority().as_str()), ("/", "h:1"));
    }

    #[test]
    fn each_mistake_names_the_next_step() {
        let rows = [
            ("localhost:8080", "write http://localhost:8080"),
            ("https://localhost:8080/", "does not speak `https`"),
            ("ftp://localhost:21/", "does not speak `ftp`"),
            ("unix:/tmp/socket", "does not speak `unix`"),
            ("http://localhost/", "write http://localhost:PORT"),
            ("http://localhost:/", "has no port"),
            ("http://[::1]/", "write http://[::1]:PORT"),
            ("http://localhost:0/", "port 0"),
            ("http://localhost:99999/", "1 to 65535"),
            ("http://localhost:abc/", "not a URL"),
            ("tcp://localhost:1/x", "an echo target has no path"),
            ("http://:80/", "not a URL"),
            ("http://a b:80/", "not a URL"),
        ];
        for (text, part) in rows {
            let message = text.parse::<Target>().unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
