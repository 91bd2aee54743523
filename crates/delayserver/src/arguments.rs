//! The argument list, turned into options. Not a command line parser: there are no flags and no
//! help.

use std::num::NonZeroU64;
use std::time::Duration;

use wirebench_schema::units::parse_duration;

use crate::{Idle, Mode};

/// Everything that the program needs to know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// When requests are answered.
    pub mode: Mode,
    /// The port on the loopback interface; 0 lets the kernel choose one.
    pub port: u16,
    /// The server's waiting strategy while nothing is due.
    pub idle: Idle,
}

/// Why an argument list is refused. A program that sees one prints it on standard error and exits
/// with code 2.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The words do not fit any mode.
    #[error(
        "expected `constant DELAY`, `two-point SHORT LONG EVERY` or `stall PERIOD LENGTH`, then PORT \
         and perhaps `spin`; got `{given}`"
    )]
    Shape {
        /// All of them.
        given: String,
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

/// Parses `MODE PORT [spin]`.
///
/// # Errors
///
/// Returns the first argument that does not fit.
pub fn options_from_arguments(arguments: &[String]) -> Result<Options, ArgumentError> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (words, idle) = match words.split_last() {
        Some((&"spin", rest)) => (rest, Idle::Spin),
        _ => (words.as_slice(), Idle::Sleep),
    };
    let (mode, port) = match words {
        ["constant", delay, port] => (Mode::Constant { delay: duration("DELAY", delay)? }, port),
        ["two-point", short, long, every, port] => {
            let (short, long) = (duration("SHORT", short)?, duration("LONG", long)?);
            let every: NonZeroU64 = parse("EVERY", "a number of at least 1", every)?;
            (Mode::TwoPoint { short, long, every }, port)
        }
        ["stall", period, length, port] => {
            (stall(duration("PERIOD", period)?, duration("LENGTH", length)?, length)?, port)
        }
        _ => return Err(ArgumentError::Shape { given: arguments.join(" ") }),
    };
    Ok(Options { mode, port: parse("PORT", "a number from 0 to 65535", port)?, idle })
}

fn stall(period: Duration, length: Duration, given: &str) -> Result<Mode, ArgumentError> {
    if length >= period {
        let (place, expected) = ("LENGTH", "shorter than PERIOD");
        return Err(ArgumentError::Value { place, expected, value: given.to_owned() });
    }
    Ok(Mode::Stall { period, length })
}

fn duration(place: &'static str, value: &str) -> Result<Duration, ArgumentError> {
    parse_duration(value).map_err(|_| ArgumentError::Value {
        place,
        expected: "a duration such as 500us, 1ms or 2s",
        value: value.to_owned(),
    })
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

    fn parsed(line: &str) -> Result<Options, ArgumentError> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        options_from_arguments(&arguments)
    }

    #[test]
    fn every_mode_is_understood() {
        let ms = Duration::from_millis;
        let constant = parsed("constant 500us 80").unwrap();
        assert_eq!(constant.mode, Mode::Constant { delay: Duration::from_micros(500) });
        assert_eq!((constant.port, constant.idle), (80, Idle::Sleep));
        let two_point = parsed("two-point 1ms 20ms 20 0 spin").unwrap();
        let every = NonZeroU64::new(20).unwrap();
        assert_eq!(two_point.mode, Mode::TwoPoint { short: ms(1), long: ms(20), every });
        assert_eq!(two_point.idle, Idle::Spin);
        let stall = parsed("stall 1s 200ms 0").unwrap();
        assert_eq!(stall.mode, Mode::Stall { period: ms(1000), length: ms(200) });
    }

    #[test]
    fn every_mode_is_written_as_it_is_read() {
        for line in ["constant 500us", "two-point 1ms 20ms 20", "stall 1s 200ms"] {
            assert_eq!(parsed(&format!("{line} 0")).unwrap().mode.to_string(), line);
        }
    }

    #[test]
    fn whatever_does_not_fit_is_refused_by_name() {
        for (line, names) in [
            ("", "expected `constant DELAY`"),
            ("constant 1ms", "got `constant 1ms`"),
            ("random 1ms 0", "got `random 1ms 0`"),
            ("constant soon 0", "DELAY"),
            ("constant 1ms 65536", "PORT"),
            ("two-point 1ms 2ms 0 0", "EVERY"),
            ("stall 1s 1s 0", "LENGTH must be shorter"),
        ] {
            let message = parsed(line).unwrap_err().to_string();
            assert!(message.contains(names), "{line:?} gave {message:?}");
        }
    }
}
