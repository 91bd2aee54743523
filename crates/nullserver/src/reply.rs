//! The reply of `hello`, and many of it in a row so that one write answers a whole pipeline. Built
//! once for each server and never freed: memory that outlives every operation of the kernel that
//! reads from it.

/// The pattern that a body repeats.
const TEXT: &[u8; BODY_BYTES] = b"Hello world!";

/// The length of a body when nothing else is asked for.
pub(crate) const BODY_BYTES: usize = 12;

/// The longest body: a limit against typing errors, since all of it is kept in memory.
pub(crate) const BODY_BYTES_MOST: usize = 64 * 1024 * 1024;

/// How many replies one write can carry at most.
const BATCH_REPLIES: usize = 256;

/// How many bytes one write can carry at most, unless a single reply is longer. Sixteen pipelined
/// replies of 64 KiB fit.
const BATCH_BYTES: usize = 2 * 1024 * 1024;

/// One reply, many times in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replies {
    batch: &'static [u8],
    reply_bytes: usize,
}

impl Replies {
    /// Replies whose body is the text, repeated and cut to this length. They are never freed.
    pub(crate) fn with_body_of(body_bytes: usize) -> Self {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {body_bytes}\r\n\r\n"
        );
        let body = TEXT.iter().copied().cycle().take(body_bytes);
        let reply: Vec<u8> = head.into_bytes().into_iter().chain(body).collect();
        let replies = (BATCH_BYTES / reply.len()).clamp(1, BATCH_REPLIES);
        Self { batch: reply.repeat(replies).leak(), reply_bytes: reply.len() }
    }

    /// The length of one reply with its head.
    pub(crate) fn reply_bytes(&self) -> usize {
        self.reply_bytes
    }

    /// The length of the longest `next`.
    pub(crate) fn batch_bytes(&self) -> usize {
        self.batch.len()
    }

    /// The next bytes to send when `owed` bytes are still owed; as many of them as one batch holds.
    ///
    /// Owed bytes always end at the end of a reply, so their number alone gives the position within
    /// a reply at which the last write stopped.
    pub(crate) fn next(&self, owed: usize) -> &'static [u8] {
        let unfinished = owed % self.reply_bytes;
        let already_sent = if unfinished == 0 { 0 } else { self.reply_bytes - unfinished };
        let end = (already_sent + owed).min(self.batch.len());
        &self.batch[already_sent..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_states_the_length_of_its_body_which_repeats_the_text() {
        for body_bytes in [0, 1, 12, 13, 4096, 64 * 1024] {
            let replies = Replies::with_body_of(body_bytes);
            let one = std::str::from_utf8(replies.next(replies.reply_bytes())).unwrap();
            let (head, body) = one.split_once("\r\n\r\n").unwrap();
            assert!(head.ends_with(&format!("Content-Length: {body_bytes}")), "{head}");
            assert_eq!(body.len(), body_bytes);
            assert!("Hello world!".repeat(6000).starts_with(body));
        }
    }

    #[test]
    fn sixteen_replies_of_64_kib_fit_into_one_write_and_the_longest_body_does_too() {
        let replies = Replies::with_body_of(64 * 1024);
        let owed = 16 * replies.reply_bytes();
        assert_eq!(replies.next(owed).len(), owed);
        let replies = Replies::with_body_of(3 * BATCH_BYTES);
        assert_eq!(replies.batch_bytes(), replies.reply_bytes());
        assert_eq!(replies.next(5 * replies.reply_bytes()).len(), replies.reply_bytes());
    }

    #[test]
    fn nothing_owed_is_nothing_to_send() {
        assert!(Replies::with_body_of(BODY_BYTES).next(0).is_empty());
    }

    #[test]
    fn sending_in_pieces_of_any_length_yields_whole_replies() {
        for (body_bytes, count) in [(BODY_BYTES, 3 * BATCH_REPLIES + 5), (100_000, 45)] {
            let replies = Replies::with_body_of(body_bytes);
            let reply = replies.next(replies.reply_bytes());
            for piece_length in [977, reply.len() - 1, reply.len() + 1, 10_000, usize::MAX] {
                let mut owed = count * reply.len();
                let mut sent = Vec::new();
                while owed > 0 {
                    let next = replies.next(owed);
                    let piece = &next[..next.len().min(piece_length)];
                    sent.extend_from_slice(piece);
                    owed -= piece.len();
                }
                assert!(
                    sent == reply.repeat(count),
                    "{body_bytes}: pieces of {piece_length} bytes"
                );
            }
        }
    }
}
