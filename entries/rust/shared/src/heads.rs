//! Finds the ends of request heads, which is all of HTTP that the servers on bare sockets know.

/// The reply to each request.
pub const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
const TERMINATOR: &[u8] = b"\r\n\r\n";
const REPLIES_PER_WRITE: usize = 256;

static REPLY_BLOCK: [u8; REPLIES_PER_WRITE * REPLY.len()] = {
    let mut block = [0; REPLIES_PER_WRITE * REPLY.len()];
    let mut index = 0;
    while index < block.len() {
        block[index] = REPLY[index % REPLY.len()];
        index += 1;
    }
    block
};

/// Counts ends of heads; a terminator may be split over any number of reads.
#[derive(Default)]
pub struct HeadCounter {
    seen: usize,
}

impl HeadCounter {
    /// The heads that end in `input`, which follows the input of the call before.
    pub fn count(&mut self, mut input: &[u8]) -> usize {
        let mut heads = 0;
        while let Some((&byte, rest)) = input.split_first() {
            if self.seen == 0 && byte != b'\r' {
                let Some(skip) = memchr::memchr(b'\r', rest) else { break };
                input = &rest[skip..];
                continue;
            }
            input = rest;
            self.seen = match byte {
                _ if byte == TERMINATOR[self.seen] => self.seen + 1,
                b'\r' => 1,
                _ => 0,
            };
            if self.seen == TERMINATOR.len() {
                self.seen = 0;
                heads += 1;
            }
        }
        heads
    }
}

/// The replies to this many heads, in as few pieces as possible.
pub fn replies(mut heads: usize) -> impl Iterator<Item = &'static [u8]> {
    std::iter::from_fn(move || {
        let batch = heads.min(REPLIES_PER_WRITE);
        heads -= batch;
        (batch > 0).then(|| &REPLY_BLOCK[..batch * REPLY.len()])
    })
}
