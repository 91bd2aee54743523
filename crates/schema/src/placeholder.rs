//! Placeholders such as `{port}` in the commands of entries.
//!
//! An unknown word in braces is an error, so that a typo never reaches a server. Braces around
//! anything else are kept.

use std::collections::BTreeMap;

/// The placeholders and what each becomes.
pub const PLACEHOLDERS: [(&str, &str); 10] = [
    ("scenario", "what the server must do, for example hello"),
    ("host", "the address to listen on"),
    ("port", "the port to listen on; 0 lets the kernel choose"),
    ("path", "the Unix socket to listen on instead, with the URL unix:{path}"),
    ("workers", "how many threads, processes or loops do the work"),
    ("timeout_ms", "after how long without progress hello-timeout closes a connection"),
    ("build", "the folder for what the build makes"),
    ("checkouts", "the folder with the fetched sources"),
    ("source", "the entry's folder"),
    ("variant", "the variant's name"),
];

/// Why a command cannot be filled in.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PlaceholderError {
    /// The braces of this argument hold no known word, of which there is a message.
    #[error("in `{0}`: {1}")]
    Unknown(String, String),
    /// The argument has a placeholder that is known but has no value here, such as `{port}` in a build.
    #[error("in `{0}`: `{{{1}}}` has no value here")]
    NoValue(String, String),
}

/// The placeholders that an argument names, or the error that one of them is unknown.
pub fn names(argument: &str) -> Result<Vec<&str>, PlaceholderError> {
    let mut found = Vec::new();
    let mut rest = argument;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        let Some(close) = rest.find('}') else { break };
        let word = &rest[..close];
        if word.is_empty() || !word.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
            continue;
        }
        if !PLACEHOLDERS.iter().any(|(name, _)| *name == word) {
            let message =
                crate::suggest::unknown("placeholder", word, PLACEHOLDERS.iter().map(|(n, _)| *n));
            return Err(PlaceholderError::Unknown(argument.to_owned(), message));
        }
        found.push(word);
        rest = &rest[close + 1..];
    }
    Ok(found)
}

/// Replaces each placeholder of `argument` with the value that `values` has for it.
pub fn fill(argument: &str, values: &[(&str, String)]) -> Result<String, PlaceholderError> {
    let mut filled = argument.to_owned();
    for name in names(argument)? {
        let Some((_, value)) = values.iter().find(|(known, _)| *known == name) else {
            return Err(PlaceholderError::NoValue(argument.to_owned(), name.to_owned()));
        };
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    Ok(filled)
}

/// Replaces the placeholders in every argument of a command.
pub fn fill_all(
    command: &[String],
    values: &[(&str, String)],
) -> Result<Vec<String>, PlaceholderError> {
    command.iter().map(|argument| fill(argument, values)).collect()
}

/// Replaces the placeholders in the values of environment variables.
pub fn fill_values(
    env: &BTreeMap<String, String>,
    values: &[(&str, String)],
) -> Result<BTreeMap<String, String>, PlaceholderError> {
    env.iter().map(|(name, value)| Ok((name.clone(), fill(value, values)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        let values = [("port", "80".to_owned()), ("host", "::1".to_owned())];
        assert_eq!(fill("[{host}]:{port}", &values).unwrap(), "[::1]:80");
        assert_eq!(fill("{\"a\": {port}}", &values).unwrap(), "{\"a\": 80}");
        assert_eq!(fill("{}{A}", &values).unwrap(), "{}{A}");
    }

    #[test]
    fn an_unknown_placeholder_gets_the_nearest_one_and_one_without_a_value_is_an_error() {
        let message = names("--listen={prot}").unwrap_err().to_string();
        expect!["in `--listen={prot}`: unknown placeholder `prot`: did you mean `port`?"]
            .assert_eq(&message);
        assert!(matches!(fill("{port}", &[]), Err(PlaceholderError::NoValue(..))));
    }
}
