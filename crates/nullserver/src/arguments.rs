//! The contract's argument list, turned into options. Not a command line parser: there are no flags
//! and no help.

use std::net::IpAddr;
use std::num::NonZeroU32;

use crate::reply::{BODY_BYTES, BODY_BYTES_MOST};
use crate::{Options, UnknownName};

/// Why an argument list is refused. A program that sees one prints it on standard error and exits
/// with code 2.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// Too few or too many arguments.
    #[error(
        "expected ENGINE SCENARIO HOST PORT WORKERS [TIMEOUT_MS [BODY_BYTES]], got {count} arguments"
    )]
    Count {
        /// How many arguments there were.
        count: usize,
    },
    /// An engine or a scenario that the null server does not have.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// A value that is not of the kind that its place asks for.
    #[error("{place} must be {expected}, got `{value}`")]
    Value {
        /// The name of the argument.
        place: &'static str,
        /// The accepted values.
        expected: &'static str,
        /// The input.
        value: String,
    },
}

/// Parses `ENGINE SCENARIO HOST PORT WORKERS [TIMEOUT_MS [BODY_BYTES]]`.
///
/// `TIMEOUT_MS` is checked and then ignored, because neither scenario has a timeout; it is accepted
/// so that one command template fits every entry. `BODY_BYTES` is the length of the replies' body,
/// 12 without it; it is checked, and then means nothing to `echo`.
///
/// # Errors
///
/// Returns the first argument that does not fit.
pub fn options_from_arguments(arguments: &[String]) -> Result<Options, ArgumentError> {
    let wrong_count = ArgumentError::Count { count: arguments.len() };
    let Some(([engine, scenario, host, port, workers], optional)) = arguments.split_first_chunk()
    else {
        return Err(wrong_count);
    };
    let (timeout_ms, body_bytes) = match optional {
        [] => (None, None),
        [timeout_ms] => (Some(timeout_ms), None),
        [timeout_ms, body_bytes] => (Some(timeout_ms), Some(body_bytes)),
        _ => return Err(wrong_count),
    };
    if let Some(timeout_ms) = timeout_ms {
        parse::<u64>("TIMEOUT_MS", "a number of milliseconds", timeout_ms)?;
    }
    Ok(Options {
        engine: engine.parse()?,
        scenario: scenario.parse()?,
        host: parse::<IpAddr>("HOST", "an IPv4 or IPv6 address", host)?,
        port: parse::<u16>("PORT", "a number from 0 to 65535", port)?,
        workers: parse::<NonZeroU32>("WORKERS", "a number of at least 1", workers)?,
        body_bytes: body_bytes.map_or(Ok(BODY_BYTES), |text| parse_body_bytes(text))?,
    })
}

fn parse_body_bytes(text: &str) -> Result<usize, ArgumentError> {
    let (place, expected) = ("BODY_BYTES", "a number of bytes from 0 to 67108864 (64 MiB)");
    let body_bytes = parse::<usize>(place, expected, text)?;
    if body_bytes > BODY_BYTES_MOST {
        return Err(ArgumentError::Value { place, expected, value: text.to_owned() });
    }
    Ok(body_bytes)
}

fn parse<T: std::str::FromStr>(
    place: &'static str,
    expected: &'static str,
    value: &str,
) -> Result<T, ArgumentError> {
    value.parse().map_err(|_| ArgumentError::Value { place, expected, value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Scenario};

    fn parsed(line: &str) -> Result<Options, ArgumentError> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        options_from_arguments(&arguments)
    }

    #[test]
    fn the_contracts_argument_list_is_understood() {
        let options = parsed("io_uring echo ::1 0 3").unwrap();
        assert_eq!(options.engine, Engine::IoUring);
        assert_eq!(options.scenario, Scenario::Echo);
        assert_eq!(options.host, "::1".parse::<IpAddr>().unwrap());
        assert_eq!(options.port, 0);
        assert_eq!(options.workers.get(), 3);
    }

    #[test]
    fn a_timeout_is_accepted_and_changes_nothing() {
        let without = parsed("epoll hello 127.0.0.1 80 1").unwrap();
        assert_eq!(parsed("epoll hello 127.0.0.1 80 1 5000").unwrap(), without);
    }

    #[test]
    fn the_length_of_the_body_follows_the_timeout() {
        assert_eq!(parsed("epoll hello 127.0.0.1 80 1").unwrap().body_bytes, 12);
        assert_eq!(parsed("epoll hello 127.0.0.1 80 1 5000 4096").unwrap().body_bytes, 4096);
        assert_eq!(parsed("epoll hello 127.0.0.1 80 1 5000 0").unwrap().body_bytes, 0);
        let most = format!("epoll hello 127.0.0.1 80 1 5000 {BODY_BYTES_MOST}");
        assert_eq!(parsed(&most).unwrap().body_bytes, BODY_BYTES_MOST);
    }

    #[test]
    fn whatever_does_not_fit_is_refused_by_name() {
        for (line, names) in [
            ("", "ENGINE"),
            ("epoll hello 127.0.0.1 80", "got 4 arguments"),
            ("epoll hello 127.0.0.1 80 1 5000 12 more", "got 8 arguments"),
            ("epoll hello 127.0.0.1 80 1 5000 more", "BODY_BYTES"),
            ("epoll hello 127.0.0.1 80 1 5000 67108865", "64 MiB"),
            ("kqueue hello 127.0.0.1 80 1", "unknown engine `kqueue`"),
            ("epoll hello-timeout 127.0.0.1 80 1", "unknown scenario `hello-timeout`"),
            ("epoll hello localhost 80 1", "HOST"),
            ("epoll hello 127.0.0.1 65536 1", "PORT"),
            ("epoll hello 127.0.0.1 80 0", "WORKERS"),
            ("epoll hello 127.0.0.1 80 1 soon", "TIMEOUT_MS"),
        ] {
            let message = parsed(line).unwrap_err().to_string();
            assert!(message.contains(names), "{line:?} gave {message:?}");
        }
    }

    #[test]
    fn every_name_parses_back_to_what_it_names() {
        for engine in [Engine::Epoll, Engine::IoUring] {
            assert_eq!(engine.to_string().parse(), Ok(engine));
        }
        for scenario in [Scenario::Hello, Scenario::Echo] {
            assert_eq!(scenario.to_string().parse(), Ok(scenario));
        }
    }
}
