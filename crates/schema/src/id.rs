//! The names of entries and of their variants: `go/net`, `cpp/boost-asio:prefork`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Why a text is not the name of an entry or a variant.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{text}` is not an entry's name: write LANGUAGE/NAME or LANGUAGE/NAME:VARIANT in letters, digits, `.`, `_` and `-`"
)]
pub struct IdError {
    text: String,
}

/// The name of one variant of an entry; an entry without variants has one unnamed variant.
#[derive(
    Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct VariantId {
    entry: String,
    variant: Option<String>,
}

impl VariantId {
    /// The variant `variant` of the entry `entry`, for example `cpp/boost-asio` and `prefork`.
    pub fn new(entry: &str, variant: Option<&str>) -> Result<Self, IdError> {
        let error = || IdError {
            text: variant.map_or_else(|| entry.to_owned(), |variant| format!("{entry}:{variant}")),
        };
        let (language, name) = entry.split_once('/').ok_or_else(error)?;
        if [Some(language), Some(name), variant].into_iter().flatten().all(is_word) {
            Ok(Self { entry: entry.to_owned(), variant: variant.map(str::to_owned) })
        } else {
            Err(error())
        }
    }

    /// The entry's part, for example `cpp/boost-asio`.
    #[must_use]
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The variant's part, for example `prefork`.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.variant.as_deref()
    }

    /// Whether a name that a person gave means this variant: its entry or itself.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.entry == name || self.to_string() == name
    }

    /// The same, or the name of its language with a slash.
    #[must_use]
    pub fn is_among(&self, name: &str) -> bool {
        self.matches(name) || (name.ends_with('/') && self.entry.starts_with(name))
    }
}

fn is_word(text: &str) -> bool {
    let ordinary = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(ordinary)
}

impl fmt::Display for VariantId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => formatter.pad(&format!("{}:{variant}", self.entry)),
            None => formatter.pad(&self.entry),
        }
    }
}

impl FromStr for VariantId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.split_once(':') {
            Some((entry, variant)) => Self::new(entry, Some(variant)),
            None => Self::new(text, None),
        }
    }
}

impl TryFrom<String> for VariantId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<VariantId> for String {
    fn from(id: VariantId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_they_are_shown() {
        for text in
            ["c/epoll", "cpp/boost-asio:prefork", "rust/fiber:io_uring-stealing-bounded_spmc"]
        {
            assert_eq!(text.parse::<VariantId>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn names_that_could_leave_their_folder_are_refused() {
        for text in
            ["epoll", "c/", "/epoll", "c/../x", "c/..", "c/a b", "c/epoll:", "c/epoll:a/b", ""]
        {
            assert!(text.parse::<VariantId>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_entrys_name_means_all_of_its_variants() {
        let id: VariantId = "cpp/boost-asio:prefork".parse().unwrap();
        assert!(id.matches("cpp/boost-asio") && id.matches("cpp/boost-asio:prefork"));
        assert!(!id.matches("cpp/boost-asio:shared") && !id.matches("cpp"));
        assert!(id.is_among("cpp/") && id.is_among("cpp/boost-asio") && !id.matches("cpp/"));
        assert!(!id.is_among("cpp") && !id.is_among("c/") && !id.is_among("cpp/boost-asio/"));
    }
}
