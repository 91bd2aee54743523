//! The engine's state of each connection, and its number in requests to the kernel. It submits
//! nothing.

use rustix::fd::OwnedFd;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operation {
    /// Tell how an attempt to connect has ended.
    Connect,
    Receive,
    /// Tell when there is room for output.
    Room,
    Send,
}

const OPERATIONS: [Operation; 4] =
    [Operation::Connect, Operation::Receive, Operation::Room, Operation::Send];

/// How many bits of a generation a number keeps. When the numbers of a place repeat, no request of
/// the first connection is in flight any more.
const GENERATION_BITS: u32 = 24;
const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;

/// Names a request of one connection: operation, generation and place, from the highest bit down.
/// The highest bits are left to others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Number(u64);

#[allow(clippy::cast_possible_truncation, reason = "each field is taken out as such")]
impl Number {
    fn new(slot: usize, generation: u32, operation: Operation) -> Self {
        let operation = (operation as u64) << (32 + GENERATION_BITS);
        Self(operation | u64::from(generation) << 32 | slot as u64)
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The number that the kernel returns.
    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) const fn slot(self) -> usize {
        (self.0 & u32::MAX as u64) as usize
    }

    const fn generation(self) -> u32 {
        (self.0 >> 32) as u32 & GENERATION_MASK
    }

    pub(super) const fn operation(self) -> Operation {
        OPERATIONS[(self.0 >> (32 + GENERATION_BITS)) as usize]
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PlaceState {
    /// There is none.
    Free,
    Connecting,
    /// It is established, and a receive is in flight or wanted.
    Open,
}

/// The state of a connection's output.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Output {
    /// Nothing is to be sent, as far as is known.
    Idle,
    Wanted,
    /// This round sends this many bytes.
    Sending {
        bytes: u32,
    },
    /// The send of this round sent fewer bytes, or failed.
    FellShort {
        result: i32,
    },
    /// The next send waits until the socket has room.
    AwaitsRoom,
}

#[derive(Debug)]
struct Place {
    socket: Option<OwnedFd>,
    /// Distinguishes completions of an earlier connection.
    generation: u32,
    state: PlaceState,
    output: Output,
    /// The last round that brought news of it.
    news: u32,
}

#[derive(Debug)]
pub(super) struct Places {
    places: Vec<Place>,
    /// The number of the round; wraps around.
    round: u32,
}

impl Places {
    pub(super) fn new(count: usize) -> Self {
        let place = |_| Place {
            socket: None,
            generation: 0,
            state: PlaceState::Free,
            output: Output::Idle,
            news: 0,
        };
        Self { places: (0..count).map(place).collect(), round: 0 }
    }

    /// The name of a request of the connection that is in this place.
    pub(super) fn number(&self, slot: usize, operation: Operation) -> Number {
        Number::new(slot, self.places[slot].generation, operation)
    }

    /// The socket of the connection that the number belongs to, while that is the one in its place.
    #[inline]
    pub(super) fn socket(&self, number: Number) -> Option<&OwnedFd> {
        let place = self.places.get(number.slot())?;
        if place.generation == number.generation() { place.socket.as_ref() } else { None }
    }

    /// A connection is being made in this place. Returns the number of the request that reports its
    /// result.
    pub(super) fn occupy(&mut self, slot: usize, socket: OwnedFd) -> Number {
        let place = &mut self.places[slot];
        debug_assert_eq!(place.state, PlaceState::Free, "a place holds one connection");
        place.socket = Some(socket);
        place.state = PlaceState::Connecting;
        place.output = Output::Idle;
        self.number(slot, Operation::Connect)
    }

    /// The attempt to connect has ended. Names the receive that a connection has, unless it has one.
    pub(super) fn connected(&mut self, slot: usize) -> Option<Number> {
        let place = &mut self.places[slot];
        if place.state != PlaceState::Connecting {
            return None;
        }
        place.state = PlaceState::Open;
        Some(self.number(slot, Operation::Receive))
    }

    /// Closes the socket and makes its numbers stale. Returns requests that may be in flight and
    /// keep the kernel's side of it open.
    pub(super) fn clear(&mut self, slot: usize) -> [Option<Number>; 2] {
        let place = &self.places[slot];
        let input = match place.state {
            PlaceState::Free => return [None; 2],
            PlaceState::Connecting => Operation::Connect,
            PlaceState::Open => Operation::Receive,
        };
        let room = (place.output == Output::AwaitsRoom).then_some(Operation::Room);
        let in_flight = [Some(input), room]
            .map(|operation| operation.map(|operation| self.number(slot, operation)));
        let place = &mut self.places[slot];
        place.socket = None;
        place.state = PlaceState::Free;
        place.output = Output::Idle;
        place.generation = (place.generation + 1) & GENERATION_MASK;
        in_flight
    }

    /// Names the send to submit, unless there is one or it has to wait.
    pub(super) fn want_send(&mut self, slot: usize) -> Option<Number> {
        let place = &mut self.places[slot];
        if place.state != PlaceState::Open || place.output != Output::Idle {
            return None;
        }
        place.output = Output::Wanted;
        Some(self.number(slot, Operation::Send))
    }

    /// The round sends `bytes`, cut to fit into the 32 bits of a send. Returns whether there are
    /// any.
    pub(super) fn send(&mut self, slot: usize, bytes: usize) -> bool {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.places[slot].output = if bytes > 0 { Output::Sending { bytes } } else { Output::Idle };
        bytes > 0
    }

    /// Number of bytes that the round sends.
    pub(super) fn sending(&self, slot: usize) -> usize {
        match self.places[slot].output {
            Output::Sending { bytes } => bytes as usize,
            _ => 0,
        }
    }

    /// A send of this round did not send everything.
    pub(super) fn fell_short(&mut self, slot: usize, result: i32) {
        let output = &mut self.places[slot].output;
        debug_assert!(matches!(output, Output::Sending { .. }), "{output:?}");
        *output = Output::FellShort { result };
    }

    /// Takes the result of the output, which is idle from now on.
    pub(super) fn take_output(&mut self, slot: usize) -> Output {
        std::mem::replace(&mut self.places[slot].output, Output::Idle)
    }

    /// The next send waits for room. Returns the number of the request that reports it.
    pub(super) fn await_room(&mut self, slot: usize) -> Number {
        self.places[slot].output = Output::AwaitsRoom;
        self.number(slot, Operation::Room)
    }

    /// Number of connections to which these completions of one round belong.
    pub(super) fn count_news(&mut self, numbers: impl Iterator<Item = Number>) -> usize {
        self.round = self.round.wrapping_add(1);
        let mut count = 0;
        for number in numbers {
            if let Some(place) = self.places.get_mut(number.slot())
                && place.generation == number.generation()
                && place.news != self.round
            {
                place.news = self.round;
                count += 1;
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket() -> OwnedFd {
        OwnedFd::from(std::fs::File::open("/dev/null").unwrap())
    }

    #[test]
    fn a_number_keeps_its_parts_and_leaves_the_highest_bits_alone() {
        for operation in OPERATIONS {
            let number = Number::new(u32::MAX as usize, GENERATION_MASK, operation);
            assert!(number.bits() < wirebench_uring::SILENT - 1);
            let back = Number::from_bits(number.bits());
            assert_eq!((back.slot(), back.generation()), (u32::MAX as usize, GENERATION_MASK));
            assert_eq!(back.operation(), operation);
        }
    }

    #[test]
    fn numbers_of_an_earlier_connection_find_nothing() {
        let mut places = Places::new(2);
        let first = places.occupy(1, socket());
        assert!(places.socket(first).is_some());
        let receive = places.connected(1).unwrap();
        assert_eq!(places.clear(1), [Some(receive), None]);
        assert!(places.socket(receive).is_none());
        let second = places.occupy(1, socket());
        assert!(places.socket(first).is_none() && places.socket(receive).is_none());
        assert!(places.socket(second).is_some());
        assert_eq!(places.count_news([first, receive].into_iter()), 0);
        assert_eq!(places.count_news([second, second].into_iter()), 1);
    }

    #[test]
    fn a_connection_has_one_send_at_a_time_and_none_while_it_waits_for_room() {
        let mut places = Places::new(1);
        places.occupy(0, socket());
        assert_eq!(places.want_send(0), None, "it is not connected yet");
        places.connected(0);
        let send = places.want_send(0).unwrap();
        assert_eq!(places.want_send(0), None, "it sends already");
        assert!(places.send(0, 10));
        assert_eq!(places.sending(0), 10);
        places.fell_short(0, 7);
        assert_eq!(places.take_output(0), Output::FellShort { result: 7 });
        let room = places.await_room(0);
        assert_eq!(places.want_send(0), None, "it waits for room");
        places.take_output(0);
        assert_eq!(places.want_send(0), Some(send));
        places.take_output(0);
        places.await_room(0);
        let receive = places.number(0, Operation::Receive);
        assert_eq!(places.clear(0), [Some(receive), Some(room)]);
    }
}
