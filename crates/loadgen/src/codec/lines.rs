//! Finds the ends of lines in bytes that arrive in pieces, and requires CR LF.

use crate::codec::ReplyError;

/// Remembers where in a line the last piece ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineScanner {
    /// Bytes of the line that came in earlier pieces, saturating.
    carried: u32,
    /// The last of them.
    last: u8,
}

/// The content of a piece.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// The line goes on; all bytes belong to it.
    Partial,
    /// The line ends after this many bytes.
    Whole {
        /// Bytes up to and with the LF.
        used: usize,
        /// Whether the line holds nothing but its CR LF.
        empty: bool,
    },
}

impl LineScanner {
    /// Looks for the end of the line that is being read.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Result<Line, ReplyError> {
        let Some(at) = memchr::memchr(b'\n', bytes) else {
            if let Some(last) = bytes.last() {
                self.last = *last;
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                self.carried = self.carried.saturating_add(length);
            }
            return Ok(Line::Partial);
        };
        let before = if at > 0 { bytes[at - 1] } else { self.last };
        let empty = self.carried as usize + at == 1;
        *self = Self::default();
        if before != b'\r' {
            return Err(ReplyError::BareLineFeed);
        }
        Ok(Line::Whole { used: at + 1, empty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_that_is_split_between_pieces_is_found() {
        let mut scanner = LineScanner::default();
        assert_eq!(scanner.next(b"ab\r"), Ok(Line::Partial));
        assert_eq!(scanner.next(b"\n\r"), Ok(Line::Whole { used: 1, empty: false }));
        assert_eq!(scanner.next(b"\r"), Ok(Line::Partial));
        assert_eq!(scanner.next(b"\n"), Ok(Line::Whole { used: 1, empty: true }));
    }

    #[test]
    fn a_bare_line_feed_is_refused_also_at_the_start_of_a_piece() {
        assert_eq!(LineScanner::default().next(b"a\n"), Err(ReplyError::BareLineFeed));
        assert_eq!(LineScanner::default().next(b"\n"), Err(ReplyError::BareLineFeed));
        let mut scanner = LineScanner::default();
        assert_eq!(scanner.next(b"a"), Ok(Line::Partial));
        assert_eq!(scanner.next(b"\n"), Err(ReplyError::BareLineFeed));
    }
}
