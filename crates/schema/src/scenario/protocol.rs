//! The protocols that the load generator speaks, each described once. The other crates ask for what a protocol
//! has instead of which one it is; what needs code of its own, such as a codec, is one `match` in its crate.

use std::net::SocketAddr;

use super::{HELLO_BODY, Scenario};

/// A protocol between the load generator and a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// HTTP/1.1 with keep-alive.
    Http1,
    /// Bytes that come back unchanged over TCP.
    Echo,
}

/// What a protocol has.
#[derive(Debug)]
pub struct ProtocolTraits {
    /// The name in text.
    pub title: &'static str,
    /// Whether a request has a method and headers, and a reply a status and headers.
    pub has_heads: bool,
    /// Whether the size of a message is chosen by `--payload`.
    pub has_payload: bool,
    /// The body of every reply of its scenarios, if there is one.
    pub reply_body: Option<&'static str>,
    /// The scenario of a built-in server that answers any load in this protocol.
    pub builtin_scenario: Scenario,
    /// A command with which a person tries a server at this address.
    pub try_command: fn(SocketAddr) -> String,
}

const HTTP1: ProtocolTraits = ProtocolTraits {
    title: "HTTP/1.1",
    has_heads: true,
    has_payload: false,
    reply_body: Some(HELLO_BODY),
    builtin_scenario: Scenario::Hello,
    try_command: |address| format!("curl -i http://{address}/"),
};

const ECHO: ProtocolTraits = ProtocolTraits {
    title: "echo",
    has_heads: false,
    has_payload: true,
    reply_body: None,
    builtin_scenario: Scenario::Echo,
    try_command: |address| format!("nc {} {}", address.ip(), address.port()),
};

impl Protocol {
    /// What it has.
    #[must_use]
    pub const fn traits(self) -> &'static ProtocolTraits {
        match self {
            Self::Http1 => &HTTP1,
            Self::Echo => &ECHO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_scenario_of_a_protocol_is_spoken_in_it() {
        for protocol in Scenario::ALL.map(Scenario::protocol) {
            assert_eq!(protocol.traits().builtin_scenario.protocol(), protocol);
        }
    }

    #[test]
    fn a_command_to_try_a_server_names_its_port() {
        let address: SocketAddr = "127.0.0.1:4321".parse().unwrap();
        let command = |protocol: Protocol| (protocol.traits().try_command)(address);
        assert_eq!(command(Protocol::Http1), "curl -i http://127.0.0.1:4321/");
        assert_eq!(command(Protocol::Echo), "nc 127.0.0.1 4321");
    }
}
