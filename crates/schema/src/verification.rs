//! Whether servers are checked before anything is measured. The checks themselves are not here.

use serde::{Deserialize, Serialize};

/// The check of servers against each other in the scenario `requests`: all send the same replies.
pub const SAME_REPLIES: &str = "same-replies";

/// Whether conformance is checked before anything is measured.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verification {
    /// Every scenario of every subject that is to be measured.
    #[default]
    Full,
    /// The same, and one that fails them ends the experiment: all are needed, because they are
    /// compared with each other.
    AllOrNothing,
    /// Skipped; every run is flagged.
    LeftOut,
}

impl Verification {
    /// Whether a server that is measured has passed its checks.
    #[must_use]
    pub const fn is_done(self) -> bool {
        match self {
            Self::Full | Self::AllOrNothing => true,
            Self::LeftOut => false,
        }
    }
}
