//! Scenarios, the contracts of servers, and the protocol and the requests of each.

mod heavy;
mod protocol;

pub use self::{
    heavy::HeavyConnections,
    protocol::{Protocol, ProtocolTraits},
};

/// The body of every `hello` response.
pub const HELLO_BODY: &str = "Hello world!";

/// The time without progress after which `hello-timeout` closes a connection, unless a check asks
/// for another.
pub const DEFAULT_TIMEOUT_MS: u64 = 5000;

crate::names! {
    /// A scenario: the contract of a server. `entries/README.md` describes each in full.
    pub enum Scenario "scenario" {
        /// One constant HTTP/1.1 response per request head.
        Hello = "hello",
        /// `hello`, and a connection without progress is closed after a time.
        HelloTimeout = "hello-timeout",
        /// Every byte back, in order.
        Echo = "echo",
        /// `hello`, and each request works while it holds a lock that all connections share.
        Mutex = "mutex",
        /// `hello`, and one task of the server answers all requests, through a bounded channel.
        Channel = "channel",
        /// `hello`, and the requests of some connections need much CPU time.
        Skewed = "skewed",
        /// `hello`, and a second task of the connection answers while the first one works.
        Handoff = "handoff",
        /// The requests of a user, each with what it expects: the contract is theirs.
        Requests = "requests",
    }
}

impl Scenario {
    /// The protocol in which the scenario is spoken.
    #[must_use]
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::Echo => Protocol::Echo,
            _ => Protocol::Http1,
        }
    }

    /// What the load requests.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Hello | Self::HelloTimeout | Self::Echo | Self::Requests => "/",
            Self::Channel => "/0",
            Self::Mutex => "/1",
            // As long as the path of the heavy connections.
            Self::Skewed => "/000",
            Self::Handoff => "/100",
        }
    }

    /// The connections of a load that request something else, if there are some.
    #[must_use]
    pub fn heavy(self) -> Option<HeavyConnections> {
        (self == Self::Skewed).then(|| HeavyConnections { every: 8, path: "/100".to_owned() })
    }
}
