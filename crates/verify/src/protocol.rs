//! What the checks need of a protocol. The protocols themselves are listed in `protocols`.

use std::net::SocketAddr;
use wirebench_schema::scenario::Protocol;

use super::{
    Check,
    client::{Client, ClientError},
};

/// One protocol, as far as the checks need it.
pub(super) struct ProtocolSupport {
    /// The checks of its conversation; the first one must pass before the others make sense.
    pub(super) checks: &'static [Check],
    /// Opens a connection on which requests can be repeated.
    pub(super) open: fn(SocketAddr) -> Result<Box<dyn RequestStream>, String>,
    /// Whether the server answers on a fresh connection.
    pub(super) works: fn(SocketAddr) -> Result<(), String>,
    /// Makes clients that reset their connections at the worst moments.
    pub(super) reset_clients: fn(SocketAddr) -> Result<(), ClientError>,
    /// The first exchange of a connection that is idle afterwards.
    pub(super) first_exchange:
        fn(&mut Client, SocketAddr, &FirstExchange) -> Result<(), ClientError>,
    pub(super) request: fn(SocketAddr) -> Vec<u8>,
    /// Counts the replies to requests of a flood that end in these bytes. The number is the state
    /// between two calls, 0 at first.
    pub(super) count_replies: fn(&mut usize, &[u8]) -> usize,
}

/// A connection on which requests can be repeated.
pub(super) trait RequestStream {
    /// The port of the client's side.
    fn port(&self) -> u16;

    /// Sends requests without waiting for their replies.
    fn send(&mut self, count: usize) -> Result<(), String>;

    /// Waits for replies, and checks them.
    fn receive(&mut self, count: usize) -> Result<(), String>;

    fn exchange(&mut self) -> Result<(), String> {
        self.send(1)?;
        self.receive(1)
    }
}

/// The only exchange of a connection that is idle afterwards.
#[derive(Clone, Copy, Debug)]
pub struct FirstExchange {
    pub protocol: Protocol,
    /// Size of a message, in protocols that have messages of a chosen size.
    pub payload_bytes: usize,
    /// Whether the server passed the checks. Otherwise any reply is accepted, and only its start is
    /// read.
    pub is_verified: bool,
}
