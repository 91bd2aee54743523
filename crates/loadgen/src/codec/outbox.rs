//! The requests of a connection where they differ: their bytes are copied one behind the other, long ones are sent from
//! where they are. Replies come in the order of the requests.

use std::{collections::VecDeque, sync::Arc};

use super::RequestId;

/// Requests up to this length are copied, so that pipelined ones go out together.
pub(crate) const COPIED_LIMIT_BYTES: usize = 16 * 1024;

#[derive(Debug)]
enum Piece {
    /// This many bytes of [`Outbox::copied`].
    Copied(usize),
    Shared(Arc<[u8]>),
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    request: RequestId,
    /// Bytes of all requests of the connection up to its end.
    end_bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// The bytes of the pieces that are copied, from the first unsent piece on.
    copied: Vec<u8>,
    pieces: VecDeque<Piece>,
    /// Sent bytes of the first piece.
    sent_of_first: usize,
    begun_bytes: u64,
    sent_bytes: u64,
    in_flight: VecDeque<InFlight>,
    /// Bytes of all requests of the connection up to the last one that was answered, and up to its end.
    answered_start_bytes: u64,
    answered_end_bytes: u64,
}

impl Outbox {
    /// Adds a request whose bytes `write` appends.
    pub(crate) fn write(&mut self, request: RequestId, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.copied.len();
        write(&mut self.copied);
        let bytes = self.copied.len() - before;
        match self.pieces.back_mut() {
            Some(Piece::Copied(length)) => *length += bytes,
            _ => self.pieces.push_back(Piece::Copied(bytes)),
        }
        self.begun(request, bytes);
    }

    /// Adds a request that is sent from where it is.
    pub(crate) fn share(&mut self, request: RequestId, bytes: &Arc<[u8]>) {
        self.pieces.push_back(Piece::Shared(Arc::clone(bytes)));
        self.begun(request, bytes.len());
    }

    fn begun(&mut self, request: RequestId, bytes: usize) {
        self.begun_bytes += bytes as u64;
        self.in_flight.push_back(InFlight { request, end_bytes: self.begun_bytes });
    }

    /// The request whose reply comes next.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<RequestId> {
        self.in_flight.front().map(|it| it.request)
    }

    /// It has been answered.
    #[inline]
    pub(crate) fn answer(&mut self) {
        if let Some(answered) = self.in_flight.pop_front() {
            self.answered_start_bytes = self.answered_end_bytes;
            self.answered_end_bytes = answered.end_bytes;
        }
    }

    /// Tells if a part of the last one that was answered had been sent.
    #[inline]
    pub(crate) const fn is_answered_begun(&self) -> bool {
        self.sent_bytes > self.answered_start_bytes
    }

    #[inline]
    pub(crate) const fn unsent_bytes(&self) -> u64 {
        self.begun_bytes - self.sent_bytes
    }

    #[inline]
    pub(crate) fn outgoing(&self) -> &[u8] {
        match self.pieces.front() {
            None => &[],
            Some(Piece::Copied(length)) => &self.copied[self.sent_of_first..*length],
            Some(Piece::Shared(bytes)) => &bytes[self.sent_of_first..],
        }
    }

    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.sent_bytes += bytes as u64;
        self.sent_of_first += bytes;
        let length = match self.pieces.front() {
            Some(Piece::Copied(length)) => *length,
            Some(Piece::Shared(bytes)) => bytes.len(),
            None => return,
        };
        if self.sent_of_first < length {
            return;
        }
        self.sent_of_first = 0;
        if let Some(Piece::Copied(length)) = self.pieces.pop_front() {
            if length == self.copied.len() {
                self.copied.clear();
            } else {
                self.copied.drain(..length);
            }
        }
    }

    /// Forgets everything, but keeps its memory.
    pub(crate) fn clear(&mut self) {
        let Self { mut copied, mut pieces, mut in_flight, .. } = std::mem::take(self);
        copied.clear();
        pieces.clear();
        in_flight.clear();
        *self = Self { copied, pieces, in_flight, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_bytes_go_out_in_order_however_they_are_added_and_taken(
            steps in prop::collection::vec((0..3_u8, 1..40_usize), 0..60),
        ) {
            let (mut outbox, mut expected, mut sent) = (Outbox::default(), Vec::new(), Vec::new());
            let (mut begun, mut answered) = (0_u32, 0_u32);
            for (step, size) in steps {
                let bytes = vec![u8::try_from(begun % 251).unwrap(); size];
                match step {
                    0 => outbox.write(RequestId(begun), |to| to.extend_from_slice(&bytes)),
                    1 => outbox.share(RequestId(begun), &Arc::from(&bytes[..])),
                    _ => {
                        let piece = outbox.outgoing();
                        let piece = piece[..piece.len().min(size)].to_vec();
                        outbox.sent(piece.len());
                        sent.extend(piece);
                        if outbox.oldest().is_some() {
                            prop_assert_eq!(outbox.oldest(), Some(RequestId(answered)));
                            outbox.answer();
                            answered += 1;
                            let before = expected.iter().take(answered as usize - 1).map(Vec::len);
                            prop_assert_eq!(outbox.is_answered_begun(), sent.len() > before.sum());
                        }
                        continue;
                    }
                }
                expected.push(bytes);
                begun += 1;
            }
            let unsent = expected.concat().len() - sent.len();
            prop_assert_eq!(outbox.unsent_bytes(), unsent as u64);
            while !outbox.outgoing().is_empty() {
                let piece = outbox.outgoing().to_vec();
                outbox.sent(piece.len());
                sent.extend(piece);
            }
            prop_assert_eq!(sent, expected.concat());
            outbox.clear();
            prop_assert_eq!((outbox.unsent_bytes(), outbox.oldest()), (0, None));
        }
    }
}
