//! What a check hands to the session that runs it.

use super::Verdict;

/// What a check hands to the session.
#[derive(Debug)]
pub(super) enum Outcome {
    Verdict(Verdict),
    /// It fails because the server ended, which `finding` says already.
    ServerEnded {
        finding: String,
    },
}

impl<T: Into<Verdict>> From<T> for Outcome {
    fn from(verdict: T) -> Self {
        Self::Verdict(verdict.into())
    }
}
