//! The target of a load: `http://host:port/path`, `https://host:port/path`, `tcp://host:port` or
//! `unix:PATH`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, str::FromStr};

use crate::scenario::{Protocol, Scenario};

/// The longest path of a Unix socket (unix(7)): 108 bytes with the one that ends it.
const UNIX_PATH_LIMIT_BYTES: usize = 107;

/// The scheme of a target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scheme {
    Http,
    Https,
    Tcp,
    Unix,
}

impl Scheme {
    /// All that are written with `://`.
    const OF_URLS: [Self; 3] = [Self::Http, Self::Https, Self::Tcp];

    /// Its name, its protocol, and the port of a URL that names none. An echo has no usual one.
    const fn traits(self) -> (&'static str, Protocol, Option<u16>) {
        match self {
            Self::Http => ("http", Protocol::Http1, Some(80)),
            Self::Https => ("https", Protocol::Http1, Some(443)),
            Self::Tcp => ("tcp", Protocol::Echo, None),
            Self::Unix => ("unix", Protocol::Echo, None),
        }
    }
}

/// A server to load, and the protocol to speak to it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Target {
    scheme: Scheme,
    /// The path of the socket when it is a Unix socket.
    host: String,
    port: u16,
    path: String,
}

crate::names::as_text!(Target);

impl Target {
    /// A target from its parts. An IPv6 address has no brackets; `path` matters to HTTP only.
    #[must_use]
    pub fn new(protocol: Protocol, host: &str, port: u16, path: &str) -> Self {
        let scheme = match protocol {
            Protocol::Http1 => Scheme::Http,
            Protocol::Echo => Scheme::Tcp,
        };
        Self { scheme, host: host.to_owned(), port, path: path.to_owned() }
    }

    /// What a load in this scenario requests of the server at an address.
    #[must_use]
    pub fn of_scenario(scenario: Scenario, host: &str, port: u16) -> Self {
        Self::new(scenario.protocol(), host, port, scenario.path())
    }

    /// The protocol.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.scheme.traits().1
    }

    /// Whether the bytes go through TLS.
    #[must_use]
    pub const fn is_tls(&self) -> bool {
        matches!(self.scheme, Scheme::Https)
    }

    /// The path of the socket, when the target is a Unix socket.
    #[must_use]
    pub fn unix_path(&self) -> Option<&str> {
        (self.scheme == Scheme::Unix).then_some(self.host.as_str())
    }

    /// A name or an address, an IPv6 address without brackets but with its zone (`fe80::1%eth0`); the path of a Unix
    /// socket.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host without a zone, which has a meaning only on the client (RFC 6874, 4).
    #[must_use]
    pub fn host_without_zone(&self) -> &str {
        self.host.split_once('%').filter(|_| self.is_ipv6()).map_or(&self.host, |(host, _)| host)
    }

    fn is_ipv6(&self) -> bool {
        self.scheme != Scheme::Unix && self.host.contains(':')
    }

    /// The port; 0 only for a Unix socket, which has none.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Path and query of an HTTP target, beginning with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The same server with another path and query.
    pub fn with_path(&self, path: &str) -> Result<Self, String> {
        match path.starts_with('/') {
            true => format!("{}://{}{path}", self.scheme.traits().0, self.authority()).parse(),
            false => Err(format!("`{path}` is not a path: write it like /users?page=1")),
        }
    }

    /// `HOST:PORT` as in a URL: an IPv6 address in brackets, its zone after `%25` (RFC 6874).
    #[must_use]
    pub fn authority(&self) -> String {
        if self.is_ipv6() {
            format!("[{}]:{}", self.host.replacen('%', "%25", 1), self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// The value of the `Host` field, without a zone and without the scheme's usual port, which clients omit and some
    /// servers do not expect (RFC 9110, 4.2.3 and 7.2).
    #[must_use]
    pub fn host_field(&self) -> String {
        let host = self.host_without_zone();
        let host = if self.is_ipv6() { format!("[{host}]") } else { host.to_owned() };
        if self.scheme.traits().2 == Some(self.port) {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, authority) = (self.scheme.traits().0, self.authority());
        match self.scheme {
            Scheme::Http | Scheme::Https => {
                write!(formatter, "{scheme}://{authority}{}", self.path)
            }
            Scheme::Tcp => write!(formatter, "{scheme}://{authority}"),
            Scheme::Unix => write!(formatter, "{scheme}:{}", self.host),
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let given = text;
        let is_unix = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("unix:"));
        if is_unix {
            return unix(&text[5..]).map_err(|reason| {
                format!("`{given}` names no Unix socket ({reason}): write unix:/run/server.socket")
            });
        }
        let Some((scheme, _)) = text.split_once("://") else {
            return Err(format!(
                "`{given}` has no scheme: write http://{given} for HTTP/1.1 or tcp://{given} for echo"
            ));
        };
        let name = scheme.to_ascii_lowercase();
        let scheme =
            Scheme::OF_URLS.into_iter().find(|it| it.traits().0 == name).ok_or_else(|| {
                format!(
                    "`{given}`: wirebench does not speak `{name}`; write http://HOST:PORT/PATH or \
                 https://HOST:PORT/PATH for HTTP/1.1, tcp://HOST:PORT or unix:PATH for echo"
                )
            })?;
        let malformed = |reason: &str| {
            format!(
                "`{given}` is not a URL ({reason}): write http://HOST:PORT/PATH or tcp://HOST:PORT"
            )
        };
        let (text, zone) = without_zone(text);
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
            None => match scheme.traits().2 {
                // A colon announces a port, so one that is missing behind it was forgotten.
                Some(port) if !authority.as_str().ends_with(':') => port,
                _ => {
                    let url = format!("{name}://{bracketed}");
                    return Err(format!(
                        "`{given}` has no port: write {url}:PORT, for example {url}:8080"
                    ));
                }
            },
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        if scheme == Scheme::Tcp && path != "/" && !path.is_empty() {
            return Err(format!("`{given}`: an echo target has no path; write tcp://{authority}"));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let host = zone.map_or_else(|| host.clone(), |zone| format!("{host}%{zone}"));
        Ok(Self { scheme, host, port, path })
    }
}

/// A URL without the zone of its IPv6 address, and the zone. `%25eth0` is its form in a URL (RFC 6874), `%eth0` the one
/// that other programs print.
fn without_zone(url: &str) -> (Cow<'_, str>, Option<&str>) {
    let zoned = || {
        let (before, rest) = url.split_once("://[")?;
        let (address, after) = rest.split_once(']')?;
        let (address, zone) = address.split_once('%')?;
        let zone = zone.strip_prefix("25").filter(|zone| !zone.is_empty()).unwrap_or(zone);
        let plain =
            zone.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
        (plain && !zone.is_empty()).then(|| (format!("{before}://[{address}]{after}"), zone))
    };
    zoned().map_or((Cow::Borrowed(url), None), |(url, zone)| (Cow::Owned(url), Some(zone)))
}

fn unix(path: &str) -> Result<Target, &'static str> {
    let path = path.strip_prefix("//").unwrap_or(path);
    match path {
        "" => Err("the path is missing"),
        path if path.len() > UNIX_PATH_LIMIT_BYTES => Err("its path is longer than 107 bytes"),
        path if path.contains('\0') => Err("its path contains a NUL"),
        path => {
            Ok(Target { scheme: Scheme::Unix, host: path.to_owned(), port: 0, path: String::new() })
        }
    }
}

#[cfg(test)]
mod tests;
