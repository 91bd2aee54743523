//! The work that requests ask for: reads it from their heads, and does it.

use std::time::{Duration, Instant};

use crate::HeadCounter;

/// Where the digits of a target are, in a head that starts with `GET /`.
const DIGITS_START: usize = 5;
const DIGITS_END: usize = DIGITS_START + 6;

/// Reads the work of each request; a head may be split over any number of reads.
#[derive(Default)]
pub struct WorkReader {
    heads: HeadCounter,
    /// How much of the current head was searched for digits.
    searched: usize,
    microseconds: u64,
}

impl WorkReader {
    /// The work of each head that ends in `input`, which follows the input of the call before.
    ///
    /// The iterator reads `input` as it goes: run it to its end before the next call.
    pub fn read(&mut self, input: &[u8]) -> impl Iterator<Item = Duration> {
        // A head ends where a line ends, so no line has the ends of two.
        input.split_inclusive(|&byte| byte == b'\n').filter_map(|line| {
            self.read_digits(line);
            (self.heads.count(line) > 0).then(|| self.end_head())
        })
    }

    fn read_digits(&mut self, line: &[u8]) {
        for &byte in line {
            if self.searched >= DIGITS_END {
                return;
            }
            if self.searched >= DIGITS_START {
                if !byte.is_ascii_digit() {
                    self.searched = DIGITS_END;
                    return;
                }
                self.microseconds = 10 * self.microseconds + u64::from(byte - b'0');
            }
            self.searched += 1;
        }
    }

    fn end_head(&mut self) -> Duration {
        self.searched = 0;
        Duration::from_micros(std::mem::take(&mut self.microseconds))
    }
}

/// Keeps the CPU busy for this long.
pub fn work(time: Duration) {
    if time.is_zero() {
        return;
    }
    let start = Instant::now();
    while start.elapsed() < time {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The microseconds of each head in reads of at most `length` bytes.
    fn read(input: &[u8], length: usize) -> Vec<u128> {
        let mut reader = WorkReader::default();
        let mut found = Vec::new();
        for part in input.chunks(length) {
            found.extend(reader.read(part).map(|work| work.as_micros()));
        }
        found
    }

    #[test]
    fn heads_may_be_split_anywhere() {
        let input =
            b"GET /100 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\nGET /7 HTTP/1.1\r\n\r\n";
        for length in 1..=input.len() {
            assert_eq!(read(input, length), [100, 0, 7], "{length} bytes at once");
        }
    }

    #[test]
    fn an_incomplete_head_waits_for_its_end() {
        let mut reader = WorkReader::default();
        assert_eq!(reader.read(b"GET /25 HTTP/1.1\r\n\r").count(), 0);
        assert_eq!(reader.read(b"\nGET /3").collect::<Vec<_>>(), [Duration::from_micros(25)]);
        assert_eq!(reader.read(b"0 \r\n\r\n").collect::<Vec<_>>(), [Duration::from_micros(30)]);
    }

    #[test]
    fn only_digits_at_the_start_of_the_target_count() {
        let input = b"GET /a12 HTTP/1.1\r\n\r\nGET /12a3 HTTP/1.1\r\nX: 45\r\n\r\n\r\n\r\n";
        assert_eq!(read(input, input.len()), [0, 12, 0]);
    }

    #[test]
    fn digits_after_the_sixth_do_not_count() {
        let input = b"GET /999999 HTTP/1.1\r\n\r\nGET /12345678 HTTP/1.1\r\n\r\n";
        assert_eq!(read(input, input.len()), [999_999, 123_456]);
        assert_eq!(read(input, 1), [999_999, 123_456]);
    }

    #[test]
    fn work_takes_its_time() {
        let start = Instant::now();
        work(Duration::ZERO);
        work(Duration::from_millis(2));
        assert!(start.elapsed() >= Duration::from_millis(2));
    }
}
