//! Counts: bytes in, replies out, and a request for each of them. Pure: it owns no socket.

use std::net::SocketAddr;

#[derive(Debug)]
pub(crate) struct Tally {
    reply_bytes: usize,
    /// Received bytes of an incomplete reply, by connection.
    begun: Vec<usize>,
    replies: u64,
    /// All requests that a connection has in flight, in memory that is never freed: the kernel may read from it
    /// whenever it likes.
    requests: &'static [u8],
    request_bytes: usize,
}

impl Tally {
    /// Of connections to this address with `depth` requests in flight on each.
    pub(crate) fn new(
        address: SocketAddr,
        connections: usize,
        depth: usize,
        reply_bytes: usize,
    ) -> Self {
        let request = request(address);
        let requests = request.repeat(depth).into_bytes().leak();
        let begun = vec![0; connections];
        Self { reply_bytes, begun, replies: 0, requests, request_bytes: request.len() }
    }

    /// Counts bytes that arrived, and returns how many replies they completed.
    pub(crate) fn received(&mut self, connection: usize, bytes: usize) -> usize {
        let begun = self.begun[connection] + bytes;
        // Most arrivals are exactly one reply, and a division costs more than this comparison.
        let completed = if begun == self.reply_bytes { 1 } else { begun / self.reply_bytes };
        self.begun[connection] = begun - completed * self.reply_bytes;
        self.replies += completed as u64;
        completed
    }

    pub(crate) fn replies(&self) -> u64 {
        self.replies
    }

    /// Bytes of the replies that a connection has in flight.
    pub(crate) fn in_flight_bytes(&self) -> usize {
        self.requests.len() / self.request_bytes * self.reply_bytes
    }

    /// This many requests; there are never more than are in flight.
    pub(crate) fn requests(&self, count: usize) -> &'static [u8] {
        &self.requests[..count * self.request_bytes]
    }

    /// The requests that a connection begins with.
    pub(crate) fn first(&self) -> &'static [u8] {
        self.requests
    }
}

pub(crate) fn request(address: SocketAddr) -> String {
    format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_counted_however_their_bytes_are_split_and_each_is_followed_by_a_request() {
        let address = "127.0.0.1:80".parse().unwrap();
        let mut tally = Tally::new(address, 2, 3, 10);
        let pieces = [(0, 3), (1, 10), (0, 0), (0, 7), (1, 9), (0, 25), (1, 1), (0, 5)];
        let completed = pieces.map(|(connection, bytes)| tally.received(connection, bytes));
        assert_eq!(completed, [0, 1, 0, 1, 0, 2, 1, 1]);
        assert_eq!(tally.replies(), 6);
        assert_eq!(tally.requests(2), request(address).repeat(2).as_bytes());
        assert_eq!(tally.first(), request(address).repeat(3).as_bytes());
    }
}
