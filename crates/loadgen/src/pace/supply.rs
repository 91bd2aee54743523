//! The number of requests still to be sent.

/// Requests of the window still to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Supply {
    /// As many as fit in the time.
    Unlimited,
    /// As many as the warm-up needs; then this many in the window.
    UnlimitedUntilWindow {
        window_requests: u64,
    },
    Limited {
        left: u64,
    },
}

impl Supply {
    /// With a quota no more than that many requests belong to the window.
    pub(crate) const fn new(quota: Option<u64>) -> Self {
        match quota {
            None => Self::Unlimited,
            Some(window_requests) => Self::UnlimitedUntilWindow { window_requests },
        }
    }

    /// The window begins with `in_flight` requests in flight, which belong to its quota.
    pub(super) const fn enter_window(&mut self, in_flight: u64) {
        if let Self::UnlimitedUntilWindow { window_requests } = *self {
            *self = Self::Limited { left: window_requests.saturating_sub(in_flight) };
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        matches!(self, Self::Limited { left: 0 })
    }

    pub(super) const fn take(&mut self) {
        if let Self::Limited { left } = self {
            *left = left.saturating_sub(1);
        }
    }

    /// Their number, if it is limited.
    pub(super) const fn left(&self) -> u64 {
        match *self {
            Self::Limited { left } => left,
            Self::Unlimited | Self::UnlimitedUntilWindow { .. } => u64::MAX,
        }
    }

    pub(super) const fn put_back(&mut self) {
        if let Self::Limited { left } = self {
            *left += 1;
        }
    }

    /// A request will never be sent. Says whether there was one left.
    pub(super) const fn cancel_one(&mut self) -> bool {
        let was_empty = self.is_empty();
        self.take();
        !was_empty
    }
}
