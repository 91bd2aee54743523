//! The argument list, turned into options. Not a command line parser: there are no flags and no
//! help.

use std::time::Duration;

use crate::{Engine, Options};

/// The most connections, so that a typing error does not exhaust the machine.
const CONNECTIONS_MOST: usize = 65_536;

/// Why an argument list is refused. A program that sees one prints it on standard error and exits
/// with code 2.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// Too few or too many arguments.
    #[error("expected ENGINE ADDRESS CONNECTIONS SECONDS REPLY_BYTES DEPTH, got {count} arguments")]
    Count {
        /// How many arguments there were.
        count: usize,
    },
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

/// Parses `ENGINE ADDRESS CONNECTIONS SECONDS REPLY_BYTES DEPTH`.
///
/// # Errors
///
/// Returns the first argument that does not fit.
pub fn options_from_arguments(arguments: &[String]) -> Result<Options, ArgumentError> {
    let [engine, address, connections, seconds, reply_bytes, depth] = arguments else {
        return Err(ArgumentError::Count { count: arguments.len() });
    };
    Ok(Options {
        engine: parse("ENGINE", "io_uring or epoll", engine, |text| match text {
            "epoll" => Some(Engine::Epoll),
            "io_uring" => Some(Engine::IoUring),
            _ => None,
        })?,
        address: parse("ADDRESS", "an address and port such as 127.0.0.1:8080", address, |text| {
            text.parse().ok()
        })?,
        connections: parse("CONNECTIONS", "a number from 1 to 65536", connections, |text| {
            text.parse()
                .ok()
                .filter(|number: &std::num::NonZeroUsize| number.get() <= CONNECTIONS_MOST)
        })?,
        duration: parse("SECONDS", "a number of seconds above 0, at most 3600", seconds, |text| {
            let seconds: f64 = text.parse().ok()?;
            (seconds > 0.0 && seconds <= 3600.0).then(|| Duration::from_secs_f64(seconds))
        })?,
        reply_bytes: parse("REPLY_BYTES", "a number of at least 1", reply_bytes, |text| {
            text.parse().ok()
        })?,
        depth: parse("DEPTH", "a number from 1 to 1024", depth, |text| {
            text.parse().ok().filter(|depth: &std::num::NonZeroUsize| depth.get() <= 1024)
        })?,
    })
}

fn parse<T>(
    place: &'static str,
    expected: &'static str,
    value: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, ArgumentError> {
    read(value).ok_or_else(|| ArgumentError::Value { place, expected, value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, ArgumentError> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        options_from_arguments(&arguments)
    }

    #[test]
    fn a_whole_argument_list_is_understood() {
        let options = parsed("io_uring 127.0.0.1:80 64 0.5 77 16").unwrap();
        assert_eq!(options.engine, Engine::IoUring);
        assert_eq!(options.address, "127.0.0.1:80".parse().unwrap());
        assert_eq!(options.connections.get(), 64);
        assert_eq!(options.duration, Duration::from_millis(500));
        assert_eq!((options.reply_bytes.get(), options.depth.get()), (77, 16));
    }

    #[test]
    fn whatever_does_not_fit_is_refused_by_name() {
        for (line, names) in [
            ("", "got 0 arguments"),
            ("kqueue 127.0.0.1:80 64 1 77 1", "ENGINE"),
            ("epoll localhost:80 64 1 77 1", "ADDRESS"),
            ("epoll 127.0.0.1:80 0 1 77 1", "CONNECTIONS"),
            ("epoll 127.0.0.1:80 100000 1 77 1", "CONNECTIONS"),
            ("epoll 127.0.0.1:80 64 0 77 1", "SECONDS"),
            ("epoll 127.0.0.1:80 64 NaN 77 1", "SECONDS"),
            ("epoll 127.0.0.1:80 64 1 0 1", "REPLY_BYTES"),
            ("epoll 127.0.0.1:80 64 1 77 2000", "DEPTH"),
        ] {
            let message = parsed(line).unwrap_err().to_string();
            assert!(message.contains(names), "{line:?} gave {message:?}");
        }
    }
}
