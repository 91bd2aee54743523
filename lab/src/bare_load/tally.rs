//! Counts: bytes in, replies out; replies in, requests to be sent. Pure: it owns no socket.

use std::net::SocketAddr;

/// Received bytes per connection, and in total.
#[derive(Debug)]
pub(crate) struct Tally {
    reply_bytes: usize,
    /// Bytes of a reply that has not arrived whole, by connection.
    begun: Vec<usize>,
    replies: u64,
}

impl Tally {
    pub(crate) fn new(connections: usize, reply_bytes: usize) -> Self {
        Self { reply_bytes, begun: vec![0; connections], replies: 0 }
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
}

/// One constant request, many times in a row, in memory that is never freed: the kernel may read
/// from it whenever it likes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests {
    batch: &'static [u8],
    request_bytes: usize,
    depth: usize,
}

impl Requests {
    /// Requests to this address, `depth` of which are sent at the beginning.
    pub(crate) fn new(address: SocketAddr, depth: usize) -> Self {
        let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes();
        // One more, so that all that is owed is in one piece also where a write stopped within a request.
        Self { batch: request.repeat(depth + 1).leak(), request_bytes: request.len(), depth }
    }

    pub(crate) fn bytes(&self, requests: usize) -> usize {
        requests * self.request_bytes
    }

    pub(crate) fn first_bytes(&self) -> usize {
        self.bytes(self.depth)
    }

    /// The next bytes to send when `owed` bytes are still owed; as many of them as there are.
    ///
    /// Owed bytes always end at the end of a request, so their number alone gives the position
    /// within a request at which the last write stopped.
    pub(crate) fn next(&self, owed: usize) -> &'static [u8] {
        let unfinished = owed % self.request_bytes;
        let already_sent = if unfinished == 0 { 0 } else { self.request_bytes - unfinished };
        let end = (already_sent + owed).min(self.batch.len());
        &self.batch[already_sent..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_sent_whole_in_pieces_of_any_length() {
        for depth in [1, 3] {
            let requests = Requests::new("127.0.0.1:80".parse().unwrap(), depth);
            let one = requests.next(requests.bytes(1));
            assert!(one.starts_with(b"GET / HTTP/1.1\r\n") && one.ends_with(b"\r\n\r\n"));
            for piece_length in [1, 7, usize::MAX] {
                let mut owed = requests.first_bytes();
                let mut sent = Vec::new();
                while owed > 0 {
                    let next = requests.next(owed);
                    let piece = &next[..next.len().min(piece_length)];
                    sent.extend_from_slice(piece);
                    owed -= piece.len();
                }
                assert_eq!(sent, one.repeat(depth));
            }
        }
    }

    proptest! {
        #[test]
        fn replies_are_counted_however_their_bytes_are_split(
            reply_bytes in 1_usize..200,
            pieces in prop::collection::vec((0_usize..3, 0_usize..500), 0..50),
        ) {
            let mut tally = Tally::new(3, reply_bytes);
            let (mut bytes, mut completed) = ([0; 3], [0; 3]);
            for (connection, piece) in pieces {
                bytes[connection] += piece;
                completed[connection] += tally.received(connection, piece);
                prop_assert_eq!(completed[connection], bytes[connection] / reply_bytes);
            }
            prop_assert_eq!(tally.replies(), completed.iter().sum::<usize>() as u64);
        }
    }
}
