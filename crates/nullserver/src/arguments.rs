//! The contract's argument list, turned into options. Not a command line parser: there are no flags
//! and no help.

use std::net::IpAddr;
use std::num::NonZeroU32;

use crate::{Options, UnknownName};

/// Why an argument list is refused. A program that sees one prints it on standard error and exits
/// with code 2.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// Too few or too many arguments.
    #[error("expected ENGINE SCENARIO HOST PORT WORKERS [TIMEOUT_MS], got {count} arguments")]
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
        /// What would have been accepted.
        expected: &'static str,
        /// What was given.
        value: String,
    },
}

/// Parses `ENGINE SCENARIO HOST PORT WORKERS [TIMEOUT_MS]`.
///
/// `TIMEOUT_MS` is checked and then ignored, because neither scenario has a timeout; it is accepted
/// so that one command template fits every entry.
///
/// # Errors
///
/// Returns the first argument that does not fit.
pub fn options_from_arguments(arguments: &[String]) -> Result<Options, ArgumentError> {
    let (required, timeout_ms) = match arguments {
        [required @ .., timeout_ms] if required.len() == 5 => (required, Some(timeout_ms)),
        required => (required, None),
    };
    let [engine, scenario, host, port, workers] = required else {
        return Err(ArgumentError::Count { count: arguments.len() });
    };
    let options = Options {
        engine: engine.parse()?,
        scenario: scenario.parse()?,
        host: parse::<IpAddr>("HOST", "an IPv4 or IPv6 address", host)?,
        port: parse::<u16>("PORT", "a number from 0 to 65535", port)?,
        workers: parse::<NonZeroU32>("WORKERS", "a number of at least 1", workers)?,
    };
    if let Some(timeout_ms) = timeout_ms {
        parse::<u64>("TIMEOUT_MS", "a number of milliseconds", timeout_ms)?;
    }
    Ok(options)
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
    fn whatever_does_not_fit_is_refused_by_name() {
        for (line, names) in [
            ("", "ENGINE"),
            ("epoll hello 127.0.0.1 80", "got 4 arguments"),
            ("epoll hello 127.0.0.1 80 1 5000 more", "got 7 arguments"),
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
