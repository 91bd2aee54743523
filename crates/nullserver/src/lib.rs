//! The built-in null servers: they show the throughput of the load generator against a server that
//! does next to nothing.
//!
//! They implement the server contract for `hello` and `echo` completely, with either of two event
//! mechanisms, as cheaply as Linux allows. They are also entries that need only Rust.
//!
//! Deliberately absent: parsing of requests, timeouts, TLS, logging, statistics, graceful shutdown.
//! Of the workspace the crate depends on `uring` alone, and it never changes its CPU affinity.
#![deny(unsafe_code)]

mod connection;
mod epoll;
mod head;
#[allow(
    unsafe_code,
    reason = "a ring shares memory with the kernel, which no safe interface covers"
)]
mod io_uring;
mod listen;
mod reply;
mod serve;
mod service;
mod table;

pub use io_uring::probe_io_uring;
pub use serve::{ServeError, serve, serve_announcing};

use clap::ValueEnum;
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;

use reply::{BODY_BYTES, BODY_BYTES_MOST};

/// Which event mechanism serves.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Engine {
    /// Readiness: `epoll_wait`, then one read and one write for each request.
    Epoll,
    /// Completion: multishot receives and sends that are submitted in batches.
    #[value(name = "io_uring")]
    IoUring,
}

/// The server's treatment of received bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Scenario {
    /// The same HTTP/1.1 response for each request head.
    Hello,
    /// Every byte back, in order.
    Echo,
}

/// The arguments of a null server, in the order of the server contract.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::Args)]
pub struct Options {
    /// Event mechanism
    pub engine: Engine,
    /// Treatment of received bytes
    pub scenario: Scenario,
    /// Address to listen on
    pub host: IpAddr,
    /// Port to listen on; 0 lets the kernel choose one
    pub port: u16,
    /// Threads, each with its own listening socket and event loop
    pub workers: NonZeroU32,
    /// Ignored, because neither scenario has a timeout; accepted so that one command template fits every
    /// entry
    pub timeout_ms: Option<u64>,
    /// Length of the body of a hello reply, up to 64 MiB
    #[arg(default_value_t = BODY_BYTES, value_parser = body_bytes())]
    pub body_bytes: usize,
    /// Steps of arithmetic for each request of hello, of one or two nanoseconds
    #[arg(long, value_name = "STEPS", default_value_t = 0)]
    pub extra_work: u32,
}

fn body_bytes() -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(..=BODY_BYTES_MOST as u64)
}

/// Shows the name as on the command line.
impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        formatter.pad(value.as_ref().map_or("", |it| it.get_name()))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }

    fn parsed(line: &str) -> Result<Options, clap::Error> {
        let words = ["null-server"].into_iter().chain(line.split_whitespace());
        Arguments::try_parse_from(words).map(|it| it.options)
    }

    #[test]
    fn the_argument_list_of_the_contract_is_understood() {
        let options = parsed("io_uring echo ::1 0 3").unwrap();
        let expected = Options {
            engine: Engine::IoUring,
            scenario: Scenario::Echo,
            host: "::1".parse().unwrap(),
            port: 0,
            workers: NonZeroU32::new(3).unwrap(),
            timeout_ms: None,
            body_bytes: 12,
            extra_work: 0,
        };
        assert_eq!(options, expected);
        let with_body = parsed("io_uring echo ::1 0 3 5000 67108864").unwrap();
        let most = BODY_BYTES_MOST;
        assert_eq!(with_body, Options { timeout_ms: Some(5000), body_bytes: most, ..expected });
        let slower = parsed("io_uring echo ::1 0 3 --extra-work 0020").unwrap();
        assert_eq!(slower, Options { extra_work: 20, ..expected });
    }

    #[test]
    fn an_invalid_argument_is_named() {
        for (line, name) in [
            ("", "<ENGINE>"),
            ("epoll hello 127.0.0.1 80", "<WORKERS>"),
            ("epoll hello 127.0.0.1 80 1 5000 12 more", "'more'"),
            ("epoll hello 127.0.0.1 80 1 5000 67108865", "[BODY_BYTES]"),
            ("kqueue hello 127.0.0.1 80 1", "<ENGINE>"),
            ("epoll hello-timeout 127.0.0.1 80 1", "<SCENARIO>"),
            ("epoll hello localhost 80 1", "<HOST>"),
            ("epoll hello 127.0.0.1 65536 1", "<PORT>"),
            ("epoll hello 127.0.0.1 80 0", "<WORKERS>"),
            ("epoll hello 127.0.0.1 80 1 soon", "[TIMEOUT_MS]"),
        ] {
            let message = parsed(line).unwrap_err().to_string();
            assert!(message.contains(name), "{line:?} gave {message:?}");
        }
    }
}
