//! How a verb ends: an exit code, or an error that becomes one line on standard error and an exit
//! code.

use std::{fmt, process::ExitCode};
use wirebench_experiment::experiment::ExperimentError;

/// How the program ends. Of several ends the one that is later in this list takes precedence. Scripts rely on the
/// numbers.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Exit {
    Fine,
    /// What was asked cannot be meant.
    Usage,
    /// Figures cannot be compared, or are not valid.
    NotValid,
    /// A run failed, a check failed, a server could not be reached.
    Failed,
    /// A condition of `--fail-if` is violated.
    Regression,
    /// A signal asked to end, and everything was ended in order.
    Interrupted(i32),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Fine => Self::SUCCESS,
            Exit::Failed => Self::FAILURE,
            Exit::Usage => Self::from(2),
            Exit::NotValid => Self::from(3),
            Exit::Regression => Self::from(4),
            // The shells' convention: 128 and the number of the signal.
            Exit::Interrupted(signal) => Self::from(u8::try_from(128 + signal).unwrap_or(130)),
        }
    }
}

/// An error of the user's, made of anything that is a sentence.
pub(crate) fn usage(message: impl fmt::Display) -> anyhow::Error {
    Ended(Exit::Usage, message.to_string()).into()
}

/// An error of figures that do not belong together, made of anything that is a sentence.
pub(crate) fn incomparable(message: impl fmt::Display) -> anyhow::Error {
    Ended(Exit::NotValid, message.to_string()).into()
}

/// An error with the exit code that goes with it, and without a text after a signal.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) Exit, pub(crate) String);

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.1)
    }
}

impl std::error::Error for Ended {}

/// Prints an error, if there is one, and gives the exit code.
pub(crate) fn report(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            let text = format!("{error:#}");
            if !text.is_empty() {
                crate::out::error(&text);
            }
            let exit = match error.downcast_ref() {
                Some(ExperimentError::OtherParts(_)) => Exit::NotValid,
                _ => error.downcast_ref::<Ended>().map_or(Exit::Failed, |ended| ended.0),
            };
            exit.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violated_condition_takes_precedence_over_a_failure_and_that_over_figures_that_are_not_valid()
     {
        assert!([Exit::NotValid, Exit::Failed, Exit::Regression].is_sorted());
    }
}
