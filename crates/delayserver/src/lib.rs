//! An HTTP/1.1 server that answers after known delays, to check measured latencies.
//!
//! One thread, one epoll instance, one ordered list of timers. Deliberately absent: optimisations,
//! and any parsing beyond the ends of request heads.
#![forbid(unsafe_code)]

mod mode;
mod schedule;
mod server;

pub use mode::Mode;
pub use server::{Idle, serve};

/// Answer HTTP/1.1 requests on the loopback interface after known delays
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::Parser)]
#[command(name = "wirebench-delay-server")]
pub struct Options {
    /// Keep the CPU busy while no reply is due
    #[arg(long)]
    pub spin: bool,
    /// Port to listen on; 0 lets the kernel choose one
    pub port: u16,
    /// When requests are answered
    #[command(subcommand)]
    pub mode: Mode,
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
            let options = parsed(&format!("--spin 0 {line}")).unwrap();
            assert_eq!((options.mode.to_string().as_str(), options.spin), (line, true));
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
