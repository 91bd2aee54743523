//! The constant reply of `hello`, and many of it in a row so that one write answers a whole
//! pipeline. Not built at run time: it is static memory, which also outlives every operation of the
//! kernel that reads from it.

/// What one request head is answered with.
pub(crate) const REPLY: &[u8; 77] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";

/// How many replies one write can carry at most.
const BATCH_REPLIES: usize = 256;

static BATCH: [u8; REPLY.len() * BATCH_REPLIES] = batch();

const fn batch() -> [u8; REPLY.len() * BATCH_REPLIES] {
    let mut bytes = [0; REPLY.len() * BATCH_REPLIES];
    let mut position = 0;
    while position < bytes.len() {
        bytes[position] = REPLY[position % REPLY.len()];
        position += 1;
    }
    bytes
}

/// The next bytes to send when `owed` bytes are still owed; as many of them as one batch holds.
///
/// What is owed always ends at the end of a reply, so the number alone says where within a reply
/// the last write stopped.
pub(crate) fn next_replies(owed: usize) -> &'static [u8] {
    let already_sent = (REPLY.len() - owed % REPLY.len()) % REPLY.len();
    let end = (already_sent + owed).min(BATCH.len());
    &BATCH[already_sent..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_states_the_length_of_its_body() {
        let text = std::str::from_utf8(REPLY).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
    }

    #[test]
    fn nothing_owed_is_nothing_to_send() {
        assert!(next_replies(0).is_empty());
    }

    #[test]
    fn sending_in_pieces_of_any_length_yields_whole_replies() {
        let replies = 3 * BATCH_REPLIES + 5;
        for piece_length in [1, 7, REPLY.len() - 1, REPLY.len() + 1, 10_000, usize::MAX] {
            let mut owed = replies * REPLY.len();
            let mut sent = Vec::new();
            while owed > 0 {
                let next = next_replies(owed);
                let piece = &next[..next.len().min(piece_length)];
                sent.extend_from_slice(piece);
                owed -= piece.len();
            }
            assert!(sent == REPLY.repeat(replies), "pieces of {piece_length} bytes");
        }
    }
}
