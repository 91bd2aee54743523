//! Counts the ends of request heads in a stream that arrives in pieces. Pure. Not a parser: it
//! looks at nothing else.

use std::sync::LazyLock;

use memchr::memmem::Finder;

const TERMINATOR: &[u8; 4] = b"\r\n\r\n";

/// Choosing the search instructions for this processor is done once, not once per read.
static TERMINATOR_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(TERMINATOR));

/// Remembers how much of a terminator the pieces so far ended with.
#[derive(Debug, Default)]
pub(crate) struct HeadCounter {
    /// How many bytes of the terminator have been seen, 0 to 3.
    matched: usize,
}

impl HeadCounter {
    /// How many heads end within `input`, which continues all earlier input.
    pub(crate) fn count(&mut self, input: &[u8]) -> usize {
        let mut ends = 0;
        let mut rest = input;
        // Byte by byte only until an unfinished terminator is decided, which takes three bytes at
        // most per attempt.
        while self.matched > 0 {
            let Some((&byte, after)) = rest.split_first() else { return ends };
            ends += usize::from(self.step(byte));
            rest = after;
        }
        let mut after_last_end = 0;
        for start in TERMINATOR_FINDER.find_iter(rest) {
            ends += 1;
            after_last_end = start + TERMINATOR.len();
        }
        self.matched = unfinished_terminator(&rest[after_last_end..]);
        ends
    }

    /// Advances by one byte and says whether it finished a terminator.
    fn step(&mut self, byte: u8) -> bool {
        if byte == TERMINATOR[self.matched] {
            self.matched = (self.matched + 1) % TERMINATOR.len();
            return self.matched == 0;
        }
        // After a mismatch only a carriage return can begin anew: no longer prefix of the
        // terminator ends with it.
        self.matched = usize::from(byte == b'\r');
        false
    }
}

/// The length of the longest beginning of a terminator that `tail` ends with. `tail` contains no
/// whole one.
fn unfinished_terminator(tail: &[u8]) -> usize {
    (1..TERMINATOR.len()).rev().find(|&length| tail.ends_with(&TERMINATOR[..length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, without any regard to speed: scan from the left, and let no byte belong to
    /// two terminators.
    fn count_slowly(input: &[u8]) -> usize {
        let (mut ends, mut position) = (0, 0);
        while position + TERMINATOR.len() <= input.len() {
            if &input[position..position + TERMINATOR.len()] == TERMINATOR {
                ends += 1;
                position += TERMINATOR.len();
            } else {
                position += 1;
            }
        }
        ends
    }

    /// Mostly the two bytes that matter, so that nearly complete terminators are everywhere.
    fn tricky_bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(b"\r\r\r\n\n\nx".as_slice()), 0..200)
    }

    proptest! {
        #[test]
        fn any_split_counts_the_same(
            input in tricky_bytes(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
            cuts.push(input.len());
            cuts.sort_unstable();
            let mut counter = HeadCounter::default();
            let (mut ends, mut from) = (0, 0);
            for cut in cuts {
                ends += counter.count(&input[from..cut]);
                from = cut;
            }
            prop_assert_eq!(ends, count_slowly(&input));
        }

        #[test]
        fn byte_by_byte_counts_the_same(input in tricky_bytes()) {
            let mut counter = HeadCounter::default();
            let ends: usize = input.iter().map(|byte| counter.count(&[*byte])).sum();
            prop_assert_eq!(ends, count_slowly(&input));
        }
    }
}
