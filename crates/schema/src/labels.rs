//! What identifies the measured version of a server: a label of the user's, and the revision of the folder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refuse::refuse_if;

/// The longest label in bytes.
const MOST_BYTES: usize = 100;

/// The measured version, as its author names it.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Labels {
    /// The text of `--label`, such as `v1.2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The git revision of the folder in which the command was started, with `-dirty` when it has changes; absent
    /// outside a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

impl Labels {
    /// Both as a part of a sentence; none if there are none.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let label = self.label.as_ref().map(|it| format!("label {it}"));
        let revision = self.revision.as_ref().map(|it| format!("revision {it}"));
        let words: Vec<String> = label.into_iter().chain(revision).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Reads a label: printable text in one line.
pub fn parse_label(text: &str) -> Result<String, String> {
    let label = text.trim();
    let bytes = label.len();
    refuse_if!(bytes == 0, "a label needs at least one character, such as v1.2");
    refuse_if!(bytes > MOST_BYTES, "the label has {bytes} bytes: use at most {MOST_BYTES}");
    let has_control = label.chars().any(char::is_control);
    refuse_if!(has_control, "the label has a control character: use text in one line");
    Ok(label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_text_in_one_line() {
        assert_eq!(parse_label(" v1.2 beta "), Ok("v1.2 beta".to_owned()));
        for text in ["", " ", "a\nb", "\u{1b}[31m", &"x".repeat(101)] {
            assert!(parse_label(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn words_name_what_there_is() {
        let mut labels = Labels::default();
        assert_eq!(labels.words(), None);
        labels.revision = Some("1a2b-dirty".to_owned());
        assert_eq!(labels.words().as_deref(), Some("revision 1a2b-dirty"));
        labels.label = Some("v1.2".to_owned());
        assert_eq!(labels.words().as_deref(), Some("label v1.2, revision 1a2b-dirty"));
    }
}
