//! The purpose of requests, encoded so that completions carry it. It submits nothing.

use wirebench_uring::SILENT;

use crate::table::Key;

/// The purpose of a request; stored above the connection's key in the number that returns with its
/// completion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operation {
    Accept,
    AcceptRest,
    Receive,
    /// Send, waiting for room if need be, and report.
    Send,
    /// Send at once, and report only if not everything went out.
    SilentSend,
    Cancel,
}

impl Operation {
    const ALL: [Self; 6] =
        [Self::Accept, Self::AcceptRest, Self::Receive, Self::Send, Self::SilentSend, Self::Cancel];

    /// The number for a request that belongs to no connection.
    pub(super) fn tag(self) -> u64 {
        let tag = (self as u64) << Key::BITS;
        if self == Self::SilentSend { tag | SILENT } else { tag }
    }

    /// The number for a request of this connection.
    pub(super) fn tagged(self, key: Key) -> u64 {
        self.tag() | key.to_number()
    }

    /// The operation in a number that came back.
    pub(super) fn of(number: u64) -> Self {
        Self::ALL[((number & !SILENT) >> Key::BITS) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_survives_the_way_through_a_completion() {
        for operation in Operation::ALL {
            let key = Key::from_number((1 << Key::BITS) - 1);
            assert_eq!(Operation::of(operation.tagged(key)), operation);
            assert_eq!(Key::from_number(operation.tagged(key)), key);
            assert_eq!(Operation::of(operation.tag()), operation);
        }
    }
}
