//! What a connection has sent and is to send, whichever way its requests are kept.

use crate::codec::{RequestId, equal::EqualRequests, outbox::Outbox};

#[derive(Debug)]
pub(super) enum Stream {
    Equal(EqualRequests),
    Set(Box<Outbox>),
}

impl Stream {
    /// The request whose reply comes next.
    #[inline]
    pub(super) fn oldest(&self) -> RequestId {
        match self {
            Self::Equal(_) => RequestId::default(),
            Self::Set(outbox) => outbox.oldest().unwrap_or_default(),
        }
    }

    /// It has been answered.
    #[inline]
    pub(super) fn answer(&mut self) {
        match self {
            Self::Equal(requests) => requests.answer(),
            Self::Set(outbox) => outbox.answer(),
        }
    }

    pub(super) fn restart(&mut self) {
        match self {
            Self::Equal(requests) => *requests = EqualRequests::default(),
            Self::Set(outbox) => outbox.clear(),
        }
    }
}
