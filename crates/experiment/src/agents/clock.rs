//! The offset of another host's monotonic clock, from messages there and back, as NTP finds it (RFC 5905,
//! section 8): the answer was given somewhere between sending and receiving.

#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// When it was sent, on this clock.
    pub(super) sent_ns: u64,
    /// The other clock when it was answered.
    pub(super) there_ns: u64,
    /// When the answer was here, on this clock.
    pub(super) received_ns: u64,
}

/// What the other clock shows when this one shows zero.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Offset {
    there_ns: i128,
    /// How far that may be wrong.
    pub(super) error_ns: u64,
}

impl Offset {
    /// That of the exchange with the shortest way; none without any.
    pub(super) fn of(exchanges: &[Exchange]) -> Option<Self> {
        let trip = |it: &&Exchange| it.received_ns.saturating_sub(it.sent_ns);
        let best = exchanges.iter().min_by_key(trip)?;
        let middle = best.sent_ns.midpoint(best.received_ns);
        let there_ns = i128::from(best.there_ns) - i128::from(middle);
        Some(Self { there_ns, error_ns: trip(&best).div_ceil(2) })
    }

    /// The same when the clocks may have drifted apart since.
    pub(super) const fn with_drift(self, drift_ns: u64) -> Self {
        Self { error_ns: self.error_ns + drift_ns, ..self }
    }

    /// A moment of this clock on the other one.
    pub(super) fn there(self, here_ns: u64) -> u64 {
        clamp(i128::from(here_ns) + self.there_ns)
    }

    /// A moment of the other clock on this one.
    pub(super) fn here(self, there_ns: u64) -> u64 {
        clamp(i128::from(there_ns) - self.there_ns)
    }
}

fn clamp(moment_ns: i128) -> u64 {
    u64::try_from(moment_ns.max(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_counts_and_half_of_it_is_the_error() {
        let exchange = |sent_ns, there_ns, received_ns| Exchange { sent_ns, there_ns, received_ns };
        // The other clock is 5000 ahead; the first answer came back late.
        let exchanges = [exchange(0, 5010, 1000), exchange(2000, 7020, 2050)];
        let offset = Offset::of(&exchanges).unwrap();
        assert_eq!((offset.there(0), offset.error_ns), (4995, 25));
        assert_eq!(offset.here(offset.there(123_456)), 123_456);
        assert!(Offset::of(&[]).is_none());
    }

    #[test]
    fn a_clock_that_is_behind_has_a_negative_offset() {
        let exchange = Exchange { sent_ns: 10_000, there_ns: 105, received_ns: 10_010 };
        let offset = Offset::of(&[exchange]).unwrap();
        assert_eq!((offset.there(10_005), offset.here(105), offset.there(0)), (105, 10_005, 0));
    }
}
