//! The requests of a connection as one stream of bytes: requests of equal length in sequence, answered in order.
//! A position in that stream gives the next bytes to send, so that no request is copied, and several of them go out
//! in one piece.

#[derive(Debug, Default)]
pub(crate) struct EqualRequests {
    begun: u64,
    answered: u64,
    sent_bytes: u64,
}

impl EqualRequests {
    #[inline]
    pub(crate) const fn begin(&mut self) {
        self.begun += 1;
    }

    /// The oldest one that was not answered is.
    #[inline]
    pub(crate) const fn answer(&mut self) {
        self.answered += 1;
    }

    /// Whether the last one that was answered had been sent whole.
    #[inline]
    pub(crate) const fn is_answered_sent(&self, request_bytes: u64) -> bool {
        self.sent_bytes >= self.answered * request_bytes
    }

    /// Bytes of the stream that have been sent.
    #[inline]
    pub(crate) const fn position(&self) -> u64 {
        self.sent_bytes
    }

    /// Bytes that are left to send.
    #[inline]
    pub(crate) const fn unsent_bytes(&self, request_bytes: u64) -> u64 {
        (self.begun * request_bytes).saturating_sub(self.sent_bytes)
    }

    #[inline]
    pub(crate) const fn sent(&mut self, bytes: usize) {
        self.sent_bytes += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_sent_when_its_last_byte_is() {
        let mut requests = EqualRequests::default();
        requests.begin();
        requests.begin();
        requests.sent(15);
        assert_eq!((requests.position(), requests.unsent_bytes(10)), (15, 5));
        requests.answer();
        assert!(requests.is_answered_sent(10));
        requests.answer();
        assert!(!requests.is_answered_sent(10));
        requests.sent(5);
        assert!(requests.is_answered_sent(10));
        assert_eq!(requests.unsent_bytes(10), 0);
    }
}
