//! What a server answers to the bytes of one connection: pure, with the faults that lie in the
//! bytes.

use crate::fault::Fault;
use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};
use wirebench_schema::scenario::Scenario;

const REPLY: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
/// Bytes of `GET /`, behind which the work of a request stands.
const PATH_AT: usize = 5;
const HEAD_BYTES_MOST: usize = 2048;
/// The buffer that `echo-fixed-buffer` sends back.
const FIXED_BYTES: usize = 4096;
/// The byte of a connection that `echo-flips-a-bit` changes.
const FLIPPED_BYTE: usize = 700;
/// What `echo-ends-early` sends back on one connection.
const ECHOED_BYTES_MOST: usize = 4 * 1024 * 1024;
/// What `echo-garbles-fourth-piece` takes for a short piece.
const SHORT_BYTES: usize = 3000;
/// What a request takes in `correct-slow`.
const SLOW: Duration = Duration::from_micros(200);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum After {
    GoOn,
    Close,
    /// Send what there is only after this time.
    Delay(Duration),
    /// Work for this long, before or after what there is is sent.
    Work(Duration),
}

#[derive(Debug)]
pub(crate) struct Conversation {
    fault: Fault,
    scenario: Scenario,
    /// How many bytes of the terminator have just been seen.
    matched: usize,
    head_bytes: usize,
    /// Work of the head in microseconds, and whether its digits may go on.
    work_us: u64,
    is_in_digits: bool,
    replies: usize,
    echoed: usize,
    /// Short pieces that have come in a row.
    short_pieces: usize,
}

impl Conversation {
    pub(crate) const fn new(fault: Fault, scenario: Scenario) -> Self {
        Self {
            fault,
            scenario,
            matched: 0,
            head_bytes: 0,
            work_us: 0,
            is_in_digits: true,
            replies: 0,
            echoed: 0,
            short_pieces: 0,
        }
    }

    /// Whether a head has begun and not ended.
    pub(crate) const fn is_in_head(&self) -> bool {
        self.head_bytes > 0
    }

    /// Puts into `out` what is to be sent for `input`.
    pub(crate) fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> After {
        match self.scenario {
            Scenario::Echo => self.feed_echo(input, out),
            Scenario::Hello | Scenario::HelloTimeout | Scenario::Requests => {
                self.feed_http(input, out).0
            }
            Scenario::Mutex | Scenario::Channel | Scenario::Skewed | Scenario::Handoff => {
                match self.feed_http(input, out) {
                    (After::GoOn, work) if !work.is_zero() => After::Work(work),
                    (after, _) => after,
                }
            }
        }
    }

    /// What becomes of the connection, and the work of the heads that have ended.
    fn feed_http(&mut self, input: &[u8], out: &mut Vec<u8>) -> (After, Duration) {
        let mut work = Duration::ZERO;
        let mut ended = 0;
        let mut answered = 0;
        for &byte in input {
            if self.head_bytes == 0 && self.fault == Fault::AnswersEarly {
                answered += 1;
            }
            self.head_bytes += 1;
            self.matched = match (self.matched, byte) {
                (2, b'\r') => 3,
                (_, b'\r') => 1,
                (1, b'\n') => 2,
                (3, b'\n') => 4,
                _ => 0,
            };
            if self.fault == Fault::ShortHeads && self.head_bytes > HEAD_BYTES_MOST {
                return (After::Close, work);
            }
            if self.head_bytes > PATH_AT && self.is_in_digits {
                self.is_in_digits = byte.is_ascii_digit();
                let digit = u64::from(byte.wrapping_sub(b'0'));
                self.work_us =
                    if self.is_in_digits { self.work_us * 10 + digit } else { self.work_us };
            }
            if self.matched == 4 {
                work += Duration::from_micros(self.work_us);
                (self.matched, self.head_bytes) = (0, 0);
                (self.work_us, self.is_in_digits) = (0, true);
                ended += 1;
            }
        }
        let count = match self.fault {
            Fault::AnswersEarly => answered,
            Fault::MergesPipelined => ended.min(1),
            Fault::RepliesTwice => 2 * ended,
            _ => ended,
        };
        let mut after = match (self.fault, u32::try_from(count)) {
            (Fault::NoneSlowly, Ok(count)) if count > 0 => After::Delay(SLOW * count),
            _ => After::GoOn,
        };
        for _ in 0..count {
            self.replies += 1;
            out.extend_from_slice(self.reply().as_bytes());
            match self.fault {
                Fault::DropsConnection => return (After::Close, work),
                Fault::LateReply if self.replies == 10 => {
                    after = After::Delay(Duration::from_millis(1400));
                }
                Fault::Crashes if crash_is_due() => std::process::abort(),
                _ => {}
            }
        }
        (after, work)
    }

    fn reply(&self) -> String {
        match self.fault {
            Fault::HalfReply => REPLY[..REPLY.len() / 2].to_owned(),
            Fault::WrongLength => REPLY.replace("Length: 12", "Length: 13"),
            Fault::BareLf => REPLY.replace("\r\n", "\n"),
            Fault::NoneCounting => {
                let left = 101_usize.saturating_sub(self.replies);
                let field = format!("\r\nKeep-Alive: timeout=5, max={left}\r\n\r\n");
                REPLY.replace("\r\n\r\n", &field)
            }
            Fault::WrongBody => REPLY.replace("world", "World"),
            _ => REPLY.to_owned(),
        }
    }

    fn feed_echo(&mut self, input: &[u8], out: &mut Vec<u8>) -> After {
        let from = out.len();
        match self.fault {
            Fault::EchoReorders if input.len() > 1000 => {
                let (first, second) = input.split_at(input.len() / 2);
                out.extend_from_slice(second);
                out.extend_from_slice(first);
            }
            _ => out.extend_from_slice(input),
        }
        match self.fault {
            Fault::EchoFixedBuffer => out.resize(from + FIXED_BYTES.max(input.len()), 0),
            Fault::EchoFlipsBit => {
                let at = FLIPPED_BYTE.wrapping_sub(self.echoed);
                if let Some(byte) = out.get_mut(from.saturating_add(at)) {
                    *byte ^= 0x10;
                }
            }
            _ => {}
        }
        self.echoed += input.len();
        self.short_pieces = if input.len() < SHORT_BYTES { self.short_pieces + 1 } else { 0 };
        match self.fault {
            Fault::EchoGarblesFourthPiece if self.short_pieces == 4 => {
                if let Some(byte) = out.last_mut() {
                    *byte ^= 1;
                }
            }
            Fault::EchoEndsEarly if self.echoed > ECHOED_BYTES_MOST => return After::Close,
            _ => {}
        }
        After::GoOn
    }
}

fn crash_is_due() -> bool {
    static SERVED: AtomicU32 = AtomicU32::new(0);
    SERVED.fetch_add(1, Ordering::Relaxed) == 30
}
