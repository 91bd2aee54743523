//! The chunked transfer coding of HTTP/1.1 (RFC 9112, section 7.1), piece by piece.
//!
//! Extensions and trailers are read over; what they say is of no concern to a load.

use crate::codec::{
    ReplyError,
    lines::{Line, LineScanner},
};

/// The longest line with the size of a chunk.
const SIZE_LINE_LIMIT_BYTES: u32 = 4096;

/// Where in the coding the last piece ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkedScanner {
    step: Step,
    trailer_bytes_left: usize,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Size { value: u64, digits: u32, length: u32, part: SizePart },
    Data { left: u64 },
    DataEnd { line_feed_due: bool },
    Trailer(LineScanner),
}

/// Which part of the size line is being read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SizePart {
    Digits,
    Extension,
    LineFeedDue,
}

/// What the first bytes of a piece are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ChunkEvent {
    /// So many bytes of sizes and line ends.
    Framing {
        /// How many.
        used: usize,
    },
    /// So many bytes of the body.
    Data {
        /// How many.
        used: usize,
    },
    /// The last bytes of the coding.
    End {
        /// How many.
        used: usize,
    },
}

const SIZE: Step = Step::Size { value: 0, digits: 0, length: 0, part: SizePart::Digits };

impl ChunkedScanner {
    /// At the start of a body whose trailer may have so many bytes.
    pub(crate) const fn new(trailer_limit_bytes: usize) -> Self {
        Self { step: SIZE, trailer_bytes_left: trailer_limit_bytes }
    }

    /// One step over bytes of which there is at least one.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> Result<ChunkEvent, ReplyError> {
        match &mut self.step {
            Step::Size { .. } => self.size_byte(bytes[0]).map(|()| ChunkEvent::Framing { used: 1 }),
            Step::Data { left } => {
                let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= used as u64;
                if *left == 0 {
                    self.step = Step::DataEnd { line_feed_due: false };
                }
                Ok(ChunkEvent::Data { used })
            }
            Step::DataEnd { line_feed_due } => {
                match (bytes[0], *line_feed_due) {
                    (b'\r', false) => *line_feed_due = true,
                    (b'\n', true) => self.step = SIZE,
                    (b'\n', false) => return Err(ReplyError::BareLineFeed),
                    _ => return Err(ReplyError::Chunk("a chunk is longer than its size says")),
                }
                Ok(ChunkEvent::Framing { used: 1 })
            }
            Step::Trailer(scanner) => {
                let line = scanner.next(bytes)?;
                let (used, empty) = match line {
                    Line::Partial => (bytes.len(), false),
                    Line::Whole { used, empty } => (used, empty),
                };
                self.trailer_bytes_left = self
                    .trailer_bytes_left
                    .checked_sub(used)
                    .ok_or(ReplyError::Chunk("the trailer is too long"))?;
                Ok(if empty { ChunkEvent::End { used } } else { ChunkEvent::Framing { used } })
            }
        }
    }

    fn size_byte(&mut self, byte: u8) -> Result<(), ReplyError> {
        let Step::Size { value, digits, length, part } = &mut self.step else { return Ok(()) };
        *length += 1;
        if *length > SIZE_LINE_LIMIT_BYTES {
            return Err(ReplyError::Chunk("the line with a size is too long"));
        }
        match (*part, byte) {
            (SizePart::LineFeedDue, b'\n') if *digits == 0 => {
                return Err(ReplyError::Chunk("a size is missing"));
            }
            (SizePart::LineFeedDue, b'\n') => {
                self.step = match *value {
                    0 => Step::Trailer(LineScanner::default()),
                    left => Step::Data { left },
                };
            }
            (SizePart::LineFeedDue, _) => return Err(ReplyError::Chunk("a CR stands alone")),
            (_, b'\n') => return Err(ReplyError::BareLineFeed),
            (_, b'\r') => *part = SizePart::LineFeedDue,
            (SizePart::Digits, b';' | b' ' | b'\t') => *part = SizePart::Extension,
            (SizePart::Extension, _) => {}
            (SizePart::Digits, _) => {
                let digit = char::from(byte)
                    .to_digit(16)
                    .ok_or(ReplyError::Chunk("a size is not hexadecimal"))?;
                *digits += 1;
                *value = value
                    .checked_mul(16)
                    .and_then(|sixteenfold| sixteenfold.checked_add(u64::from(digit)))
                    .ok_or(ReplyError::Chunk("a size is too large"))?;
            }
        }
        Ok(())
    }
}
