//! How the program behind a published row compares with the variant that is measured here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refuse::refuse_if;

/// Ends the message for a row without a state.
pub(super) const HOW_TO_WRITE: &str = "write `state = \"same-program\"`, `\"same-design\"`, \
                                       `\"different\"` or `\"missing\"`";

/// How a published program and the variant here compare.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum RowState {
    /// The same program: its server or library at the same version, in the same design.
    SameProgram,
    /// The same design, written anew or with newer versions.
    SameDesign,
    /// Another design: the figures cannot be compared.
    Different,
    /// The project has no such variant.
    Missing,
}

crate::names! { RowState:
    SameProgram = "same program", SameDesign = "same design", Different = "different",
    Missing = "missing"
}

impl RowState {
    /// Whether conclusions may use the row.
    #[must_use]
    pub const fn is_comparable(self) -> bool {
        matches!(self, Self::SameProgram | Self::SameDesign)
    }
}

/// A row of `[rows]` in a file of figures.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Its name as the document prints it. Journals of an older wirebench have none.
    pub name: Option<String>,
    /// How the two programs compare.
    pub state: RowState,
    /// What produced the published figures, with its version.
    pub published: Option<String>,
    /// What is measured here, with its version.
    pub here: Option<String>,
    /// Why the row is different or missing, or what is newer, in one clause.
    pub clause: Option<String>,
    /// Why its ratio differs from the published one, in one clause: what those figures show apart from the program's
    /// speed, or what has changed since. The key of older journals is `artefact`.
    #[serde(alias = "artefact")]
    pub reason: Option<String>,
    /// The command, the figure or the line of source that shows it; without, it is a guess.
    pub measured: Option<String>,
}

/// A reason with what shows it, or marked as a guess.
pub(super) fn why(reason: Option<&str>, measured: Option<&str>) -> Option<String> {
    reason.map(|reason| match measured {
        Some(measured) => format!("{reason} ({measured})"),
        None => format!("guess: {reason}"),
    })
}

/// Refuses empty texts, texts of several lines, and the last one without the one before it.
pub(super) fn check_texts(texts: &[&Option<String>]) -> Result<(), String> {
    let is_line = |text: &String| !text.trim().is_empty() && !text.contains('\n');
    let has_lines = texts.iter().copied().flatten().all(is_line);
    refuse_if!(!has_lines, "each of its texts is one line that is not empty");
    let is_unfounded = matches!(texts, [.., None, Some(_)]);
    refuse_if!(is_unfounded, "`measured` needs a `reason`");
    Ok(())
}

impl PublishedRow {
    /// What there is to say of the row after its state: versions, clause and reason.
    #[must_use]
    pub fn explanation(&self) -> String {
        let versions = match (&self.published, &self.here) {
            (Some(published), Some(here)) => Some(format!("published {published}, here {here}")),
            (Some(published), None) => Some(format!("published {published}")),
            (None, Some(here)) => Some(format!("here {here}")),
            (None, None) => None,
        };
        let parts = [versions, self.clause.clone(), self.why()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Why its ratio differs from the published one.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        why(self.reason.as_deref(), self.measured.as_deref())
    }

    /// The first thing that is missing for its state.
    pub(super) fn check(&self) -> Result<(), String> {
        let texts =
            [&self.name, &self.published, &self.here, &self.clause, &self.reason, &self.measured];
        check_texts(&texts)?;
        refuse_if!(self.name.is_none(), "write `name`, as the document prints it");
        let has_versions = self.published.is_some() && self.here.is_some();
        let has_clause = self.clause.is_some();
        let (is_right, otherwise) = match self.state {
            RowState::SameProgram => {
                (has_versions, "`same-program` needs both versions: write `published` and `here`")
            }
            RowState::SameDesign => (
                has_versions || has_clause,
                "`same-design` needs both versions, `published` and `here`, or a `clause`",
            ),
            RowState::Different => {
                (has_clause, "`different` needs a `clause` that says what differs")
            }
            RowState::Missing if has_clause => {
                (self.here.is_none(), "a `missing` row has no version `here`")
            }
            RowState::Missing => (false, "`missing` needs a `clause` that says why"),
        };
        if is_right { Ok(()) } else { Err(otherwise.to_owned()) }
    }
}
