//! The protocols that can be verified. A further one is a file with a [`ProtocolSupport`] and one line
//! here.

use std::net::SocketAddr;
use wirebench_schema::scenario::Protocol;

use super::{
    client::{Client, ClientError},
    echo, hello,
    protocol::{FirstExchange, ProtocolSupport},
};

pub(super) const fn support(protocol: Protocol) -> &'static ProtocolSupport {
    match protocol {
        Protocol::Http1 => &hello::SUPPORT,
        Protocol::Echo => &echo::SUPPORT,
    }
}

impl FirstExchange {
    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    /// If the connection ends, or the reply is wrong or too slow.
    pub fn make(&self, client: &mut Client, address: SocketAddr) -> Result<(), ClientError> {
        (support(self.protocol).first_exchange)(client, address, self)
    }
}
