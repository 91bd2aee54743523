//! The URL of a server that wirebench starts, such as `https://{host}:{port}/api` or `unix:{path}`.

use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, str::FromStr};

use crate::{
    placeholder,
    refuse::refuse_if,
    scenario::{Protocol, Scenario},
    target::Target,
};

/// HTTP over the Unix socket whose path takes the place of `{path}`.
const UNIX: &str = "unix:{path}";

/// A URL with `{host}` and `{port}` in the places of the address on which the server listens, or `unix:{path}`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerUrl(String);

crate::names::as_text!(ServerUrl);

impl ServerUrl {
    fn filled(&self, address: SocketAddr) -> Result<Target, String> {
        if self.is_unix() {
            return Ok(Target::of_scenario(Scenario::Requests, "localhost", 80));
        }
        let host = match address {
            SocketAddr::V4(it) => it.ip().to_string(),
            SocketAddr::V6(it) => format!("[{}]", it.ip()),
        };
        let values = [("host", host), ("port", address.port().to_string())];
        placeholder::fill(&self.0, &values).map_err(|error| error.to_string())?.parse()
    }

    /// Whether the server listens on a Unix socket. The requests are those for `localhost`.
    #[must_use]
    pub fn is_unix(&self) -> bool {
        self.0 == UNIX
    }

    /// Whether the bytes go through TLS.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.at(SocketAddr::from(([127, 0, 0, 1], 1))).is_tls()
    }

    /// What is requested of the server at `address`.
    #[must_use]
    pub fn at(&self, address: SocketAddr) -> Target {
        let plain =
            || Target::of_scenario(Scenario::Requests, &address.ip().to_string(), address.port());
        self.filled(address).unwrap_or_else(|_| plain())
    }
}

crate::names::shown_as_text!(ServerUrl);

impl FromStr for ServerUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXAMPLE: &str =
            "write it like 'https://{host}:{port}/api' or 'unix:{path}'; --path may have {seq}";
        let url = Self(text.to_owned());
        let target = url.filled(SocketAddr::from(([127, 0, 0, 1], 1)));
        let target = target.map_err(|reason| format!("{reason}; {EXAMPLE}"))?;
        let is_http = target.protocol() == Protocol::Http1;
        refuse_if!(!is_http, "`{text}` is no URL of HTTP: {EXAMPLE}");
        refuse_if!(
            !url.is_unix() && !text.contains("{port}"),
            "`{text}` has no place for the port, which wirebench chooses: {EXAMPLE}"
        );
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_takes_the_places_of_host_and_port() {
        let at = |url: &str, address: &str| {
            url.parse::<ServerUrl>().unwrap().at(address.parse().unwrap()).to_string()
        };
        let url = "https://{host}:{port}/api?x={y}";
        assert!(url.parse::<ServerUrl>().unwrap_err().contains("unknown placeholder `y`"));
        assert_eq!(at("https://{host}:{port}/api", "127.0.0.2:81"), "https://127.0.0.2:81/api");
        assert_eq!(at("http://{host}:{port}", "[::1]:81"), "http://[::1]:81/");
        assert_eq!(at("https://localhost:{port}/", "127.0.0.1:81"), "https://localhost:81/");
        assert_eq!(at("unix:{path}", "127.0.0.1:0"), "http://localhost:80/");
    }

    #[test]
    fn each_mistake_is_answered_with_what_to_write() {
        let texts = [
            "",
            "{host}:{port}",
            "tcp://{host}:{port}",
            "unix:/run/a",
            "http://{host}/",
            "http://{hots}:{port}/",
            "http://{build}:{port}/",
        ];
        expect_test::expect_file!["golden/server_url.txt"]
            .assert_eq(&crate::mistakes::of_texts::<ServerUrl>(&texts));
    }
}
