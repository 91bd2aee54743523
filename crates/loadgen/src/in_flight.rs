//! The requests in flight on one connection, in any order of their replies.
//!
//! They are kept by place and linked by age, so that the oldest one is known whichever is answered first. The first
//! place is part of the connection: nothing is allocated where there is never more than one.

use smallvec::{SmallVec, smallvec};

use crate::codec::{RequestId, Ticket};

const NONE: u32 = u32::MAX;

/// The times of a request in flight.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Stamp {
    /// Its due time; in a closed loop, its start.
    pub(crate) due_ns: u64,
    /// Its start, just before it is sent.
    pub(crate) begun_ns: u64,
    pub(crate) request: RequestId,
    pub(crate) is_sample: bool,
    /// How often the server has refused to process it.
    pub(crate) refusals: u8,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    stamp: Stamp,
    older: u32,
    /// Of a free place, the next free one.
    newer: u32,
}

#[derive(Debug)]
pub(crate) struct InFlight {
    places: SmallVec<[Place; 1]>,
    oldest: u32,
    newest: u32,
    free: u32,
    count: u32,
}

impl InFlight {
    pub(crate) fn new() -> Self {
        Self { places: smallvec![], oldest: NONE, newest: NONE, free: NONE, count: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, stamp: Stamp) -> Ticket {
        let place = Place { stamp, older: self.newest, newer: NONE };
        let at = self.free;
        let at = match self.places.get_mut(at as usize) {
            Some(free) => {
                self.free = free.newer;
                *free = place;
                at
            }
            None => {
                self.places.push(place);
                // One connection has far fewer requests in flight.
                u32::try_from(self.places.len() - 1).unwrap_or(NONE)
            }
        };
        match self.newest {
            NONE => self.oldest = at,
            newest => self.places[newest as usize].newer = at,
        }
        self.newest = at;
        self.count += 1;
        Ticket(at)
    }

    /// The request is no longer in flight. It must have been.
    #[inline]
    pub(crate) fn remove(&mut self, Ticket(at): Ticket) -> Stamp {
        let Place { stamp, older, newer } = self.places[at as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.places[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.places[newer as usize].older = older,
        }
        self.places[at as usize].newer = self.free;
        self.free = at;
        self.count -= 1;
        stamp
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { places: std::mem::take(&mut self.places), ..Self::new() };
        self.places.clear();
    }

    #[inline]
    pub(crate) fn oldest(&self) -> Option<Ticket> {
        (self.oldest != NONE).then_some(Ticket(self.oldest))
    }

    #[inline]
    pub(crate) fn stamp(&self, Ticket(at): Ticket) -> &Stamp {
        &self.places[at as usize].stamp
    }

    pub(crate) fn stamp_mut(&mut self, Ticket(at): Ticket) -> &mut Stamp {
        &mut self.places[at as usize].stamp
    }

    /// All of them, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Ticket, Stamp)> + '_ {
        let stamped = |ticket| (ticket, *self.stamp(ticket));
        let newer = move |(Ticket(at), _): &(Ticket, Stamp)| {
            let newer = self.places[*at as usize].newer;
            (newer != NONE).then(|| stamped(Ticket(newer)))
        };
        std::iter::successors(self.oldest().map(stamped), newer)
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamp(begun_ns: u64) -> Stamp {
        Stamp { due_ns: begun_ns, begun_ns, ..Stamp::default() }
    }

    fn times(in_flight: &InFlight) -> Vec<u64> {
        in_flight.iter().map(|(_, stamp)| stamp.begun_ns).collect()
    }

    #[test]
    fn one_request_at_a_time_needs_no_memory_of_its_own() {
        let mut in_flight = InFlight::new();
        for begun_ns in 0..3 {
            let ticket = in_flight.push(stamp(begun_ns));
            assert_eq!((ticket, in_flight.oldest()), (Ticket(0), Some(ticket)));
            assert_eq!(in_flight.remove(ticket), stamp(begun_ns));
        }
        assert!(!in_flight.places.spilled());
    }

    proptest! {
        #[test]
        fn whichever_is_answered_the_others_stay_in_the_order_of_their_age(
            steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..100),
        ) {
            let (mut in_flight, mut model) = (InFlight::new(), Vec::<(Ticket, u64)>::new());
            for (now_ns, (begins, index)) in (0..).zip(steps) {
                if begins || model.is_empty() {
                    let ticket = in_flight.push(stamp(now_ns));
                    prop_assert!(model.iter().all(|(other, _)| *other != ticket));
                    model.push((ticket, now_ns));
                } else {
                    let (ticket, begun_ns) = model.remove(index.index(model.len()));
                    prop_assert_eq!(in_flight.remove(ticket), stamp(begun_ns));
                }
                let expected: Vec<u64> = model.iter().map(|(_, begun_ns)| *begun_ns).collect();
                prop_assert_eq!(times(&in_flight), expected);
                prop_assert_eq!(in_flight.len(), model.len());
            }
            prop_assert!(in_flight.places.len() <= 100);
            in_flight.clear();
            prop_assert_eq!((in_flight.len(), in_flight.oldest()), (0, None));
        }
    }
}
