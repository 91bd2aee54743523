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

    /// Tells if a part of the last one that was answered had been sent.
    #[inline]
    pub(crate) const fn is_answered_begun(&self, request_bytes: u64) -> bool {
        self.sent_bytes > self.answered.saturating_sub(1) * request_bytes
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
    fn a_request_may_be_answered_from_its_first_byte_on() {
        let mut requests = EqualRequests::default();
        requests.begin();
        requests.begin();
        requests.sent(15);
        assert_eq!((requests.position(), requests.unsent_bytes(10)), (15, 5));
        requests.answer();
        assert!(requests.is_answered_begun(10));
        requests.answer();
        assert!(requests.is_answered_begun(10));
        requests.sent(5);
        assert_eq!(requests.unsent_bytes(10), 0);
        requests.begin();
        requests.answer();
        assert!(!requests.is_answered_begun(10));
    }
}
