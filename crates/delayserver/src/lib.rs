//! An HTTP/1.1 server that answers after known delays, to check measured latencies.
//!
//! The loop is that of the null server over epoll; this crate decides when each reply is sent.
//! Deliberately absent: sleeping. The server keeps its CPU busy, because waking up would make replies
//! late by tens of microseconds on many machines.
#![forbid(unsafe_code)]

mod mode;
mod schedule;

pub use mode::Mode;

use std::{convert::Infallible, io, net::TcpListener, time::Instant};
use wirebench_nullserver::{Timing, serve_delayed};

use schedule::Schedule;

/// Answer HTTP/1.1 requests on the loopback interface after known delays; keep a CPU busy
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::Parser)]
#[command(name = "wirebench-delay-server")]
pub struct Options {
    /// Port to listen on; 0 lets the kernel choose one
    pub port: u16,
    /// When requests are answered
    #[command(subcommand)]
    pub mode: Mode,
}

/// The schedule, with a clock that begins with the server.
struct Delays {
    schedule: Schedule,
    began: Instant,
}

impl Timing for Delays {
    const WAITS: bool = true;

    fn arrived(&mut self, connection: u64) {
        self.schedule.arrived(connection, self.began.elapsed());
    }

    fn take_due(&mut self) -> Option<u64> {
        self.schedule.take_due(self.began.elapsed())
    }
}

/// Serves until the process ends.
///
/// # Errors
///
/// Returns an error when the listening socket or epoll fails, which no client can cause.
pub fn serve(listener: TcpListener, mode: Mode) -> io::Result<Infallible> {
    serve_delayed(listener, Delays { schedule: Schedule::new(mode), began: Instant::now() })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn parsed(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(format!("delay-server {line}").split_whitespace())
    }

    #[test]
    fn every_mode_is_written_as_it_is_read() {
        for line in ["constant 500us", "two-point 1ms 20ms 20", "stall 1s 200ms"] {
            let options = parsed(&format!("0 {line}")).unwrap();
            assert_eq!(options.mode.to_string(), line);
            assert_eq!(options.mode.check(), Ok(()));
        }
    }

    #[test]
    fn invalid_values_are_errors() {
        for line in
            ["0", "0 random 1ms", "0 constant soon", "65536 constant 1ms", "0 two-point 1ms 2ms 0"]
        {
            assert!(parsed(line).is_err(), "{line}");
        }
        assert!(parsed("0 stall 1s 1s").unwrap().mode.check().is_err());
    }
}
