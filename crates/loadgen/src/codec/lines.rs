//! Finds the ends of lines in bytes that arrive in pieces. A line ends with CR LF, or with LF alone as
//! RFC 9112 permits (section 2.2).

/// Remembers where in a line the last piece ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineScanner {
    /// Bytes of the line that came in earlier pieces, saturating.
    carried: u32,
    last: u8,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// The line goes on; all bytes belong to it.
    Partial,
    /// The line ends after this many bytes.
    Whole {
        /// Bytes up to and with the LF.
        used: usize,
        /// Whether the line holds nothing but its end.
        empty: bool,
    },
}

impl LineScanner {
    /// Looks for the end of the line that is being read.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Line {
        let Some(at) = memchr::memchr(b'\n', bytes) else {
            if let Some(last) = bytes.last() {
                self.last = *last;
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                self.carried = self.carried.saturating_add(length);
            }
            return Line::Partial;
        };
        let before = if at > 0 { bytes[at - 1] } else { self.last };
        let length = self.carried as usize + at;
        *self = Self::default();
        Line::Whole { used: at + 1, empty: length == 0 || (length == 1 && before == b'\r') }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_that_is_split_between_pieces_is_found() {
        let mut scanner = LineScanner::default();
        assert_eq!(scanner.next(b"ab\r"), Line::Partial);
        assert_eq!(scanner.next(b"\n\r"), Line::Whole { used: 1, empty: false });
        assert_eq!(scanner.next(b"\r"), Line::Partial);
        assert_eq!(scanner.next(b"\n"), Line::Whole { used: 1, empty: true });
    }

    #[test]
    fn a_line_feed_alone_ends_a_line_also_at_the_start_of_a_piece() {
        assert_eq!(LineScanner::default().next(b"a\n"), Line::Whole { used: 2, empty: false });
        assert_eq!(LineScanner::default().next(b"\n"), Line::Whole { used: 1, empty: true });
        let mut scanner = LineScanner::default();
        assert_eq!(scanner.next(b"a"), Line::Partial);
        assert_eq!(scanner.next(b"\n"), Line::Whole { used: 1, empty: false });
    }
}
