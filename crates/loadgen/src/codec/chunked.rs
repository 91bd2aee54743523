//! The chunked transfer coding of HTTP/1.1 (RFC 9112, section 7.1), piece by piece.
//!
//! Extensions and trailers are skipped, because they do not matter to a load. They must be text, and
//! their length is bounded. A line may end with LF alone.

use crate::codec::ReplyError;

/// The state of the decoder at the end of the last piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkedScanner {
    step: Step,
    trailer_bytes: usize,
    limit: usize,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Size { value: u64, digits: u32, length: usize, part: SizePart },
    Data { left: u64 },
    DataEnd { line_feed_due: bool },
    Trailer { length: usize, line_feed_due: bool },
    Over,
}

/// Which part of the size line is being read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SizePart {
    Digits,
    Extension,
    LineFeedDue,
}

/// The kind of the first bytes of a piece.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ChunkEvent {
    /// This many bytes of sizes and line ends.
    Framing { used: usize },
    /// This many bytes of the body.
    Data { used: usize },
    /// The last bytes of the coding.
    End { used: usize },
}

const SIZE: Step = Step::Size { value: 0, digits: 0, length: 0, part: SizePart::Digits };

impl ChunkedScanner {
    /// At the start of a body whose trailer, and each line with a size, may have at most `limit` bytes.
    pub(crate) const fn new(limit: usize) -> Self {
        Self { step: SIZE, trailer_bytes: 0, limit }
    }

    /// One step over bytes of which there is at least one.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> Result<ChunkEvent, ReplyError> {
        if let Step::Data { left } = &mut self.step {
            let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
            *left -= used as u64;
            if *left == 0 {
                self.step = Step::DataEnd { line_feed_due: false };
            }
            return Ok(ChunkEvent::Data { used });
        }
        for (index, byte) in bytes.iter().enumerate() {
            match &mut self.step {
                Step::Size { .. } => self.size_byte(*byte)?,
                Step::DataEnd { line_feed_due } => match (*byte, *line_feed_due) {
                    (b'\r', false) => *line_feed_due = true,
                    (b'\n', _) => self.step = SIZE,
                    _ => return Err(ReplyError::Chunk("a chunk is longer than its size says")),
                },
                Step::Trailer { .. } => self.trailer_byte(*byte)?,
                Step::Data { .. } => return Ok(ChunkEvent::Framing { used: index }),
                Step::Over => return Ok(ChunkEvent::End { used: index }),
            }
        }
        let used = bytes.len();
        match self.step {
            Step::Over => Ok(ChunkEvent::End { used }),
            _ => Ok(ChunkEvent::Framing { used }),
        }
    }

    fn size_byte(&mut self, byte: u8) -> Result<(), ReplyError> {
        let Step::Size { value, digits, length, part } = &mut self.step else { return Ok(()) };
        *length += 1;
        if *length > self.limit {
            return Err(ReplyError::TooLong { part: "line with a chunk size", limit: self.limit });
        }
        match (*part, byte) {
            (_, b'\n') if *digits == 0 => {
                return Err(ReplyError::Chunk("a size is missing"));
            }
            (_, b'\n') => {
                self.step = match *value {
                    0 => Step::Trailer { length: 0, line_feed_due: false },
                    left => Step::Data { left },
                };
            }
            (SizePart::LineFeedDue, _) => return Err(ReplyError::Chunk("a CR stands alone")),
            (_, b'\r') => *part = SizePart::LineFeedDue,
            (SizePart::Digits, b';' | b' ' | b'\t') => *part = SizePart::Extension,
            (SizePart::Extension, byte) if is_control(byte) => {
                return Err(ReplyError::Chunk("an extension has a control character"));
            }
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

    fn trailer_byte(&mut self, byte: u8) -> Result<(), ReplyError> {
        let Step::Trailer { length, line_feed_due } = &mut self.step else { return Ok(()) };
        self.trailer_bytes += 1;
        if self.trailer_bytes > self.limit {
            return Err(ReplyError::TooLong { part: "trailer", limit: self.limit });
        }
        match (byte, *line_feed_due) {
            (b'\n', _) if *length == 0 => self.step = Step::Over,
            (b'\n', _) => self.step = Step::Trailer { length: 0, line_feed_due: false },
            (_, true) => return Err(ReplyError::Chunk("a CR stands alone")),
            (b'\r', false) => *line_feed_due = true,
            (byte, false) if is_control(byte) => {
                return Err(ReplyError::Chunk("the trailer has a control character"));
            }
            (_, false) => *length += 1,
        }
        Ok(())
    }
}

/// Bytes that text may not contain.
const fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t'
}
