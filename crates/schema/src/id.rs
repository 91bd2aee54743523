//! The names of entries and of their variants: `go/net`, `cpp/boost-asio:prefork`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Names become names of files, with something before and behind.
const MOST_BYTES: usize = 100;

/// The name of one variant of an entry; an entry without variants has one unnamed variant.
///
/// A variant named `published`, or `published-` and more, is the form of the entry that produced a
/// document's figures. It is measured only where it is named in full.
#[derive(
    Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct VariantId {
    entry: String,
    variant: Option<String>,
}

crate::names::as_text!(VariantId);

impl VariantId {
    /// The variant `variant` of the entry `entry`, for example `cpp/boost-asio` and `prefork`.
    pub fn new(entry: &str, variant: Option<&str>) -> Result<Self, String> {
        let error = || {
            let variant = variant.map(|variant| format!(":{variant}")).unwrap_or_default();
            format!(
                "`{entry}{variant}` is not an entry's name: write LANGUAGE/NAME or LANGUAGE/NAME:VARIANT in letters, \
                 digits, `.`, `_` and `-`, each part of at most {MOST_BYTES} bytes"
            )
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

    /// Whether this is the form of an entry that produced a document's figures.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.variant.as_deref().is_some_and(is_published)
    }

    /// Whether a name that a person gave means this variant: its entry, unless this is a published
    /// form, or itself.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        (self.entry == name && !self.is_published()) || self.to_string() == name
    }

    /// Whether a person means this variant by `name`: as in [`matches`](Self::matches), or without the language,
    /// `server` of `own/server`.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let full = self.to_string();
        let short = |text: &str| text.split_once('/').is_some_and(|(_, own)| own == name);
        self.matches(name) || short(&self.entry) || short(&full)
    }

    /// As in [`matches`](Self::matches), or the name of its language, with or without a slash, or a pattern of
    /// any of these.
    #[must_use]
    pub fn is_among(&self, name: &str) -> bool {
        let language = name.strip_suffix('/').unwrap_or(name);
        let is_named = is_like(language, self.language())
            || is_like(name, &self.entry)
            || is_like(name, &self.to_string());
        self.matches(name) || (is_named && !self.is_published())
    }

    /// The language's part, for example `cpp`.
    #[must_use]
    pub fn language(&self) -> &str {
        self.entry.split_once('/').map_or(&self.entry, |(language, _)| language)
    }

    /// The framework's part, for example `boost-asio`.
    #[must_use]
    pub fn framework(&self) -> &str {
        self.entry.split_once('/').map_or(&self.entry, |(_, framework)| framework)
    }
}

/// Whether `text` is `pattern`, in which each `*` means any characters.
#[must_use]
pub fn is_like(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(after) = text.strip_prefix(start) else { return false };
    let mut tails = after.char_indices().map(|(at, _)| &after[at..]).chain([""]);
    tails.any(|tail| is_like(rest, tail))
}

/// Whether a variant with this name is a published form.
pub(crate) fn is_published(variant: &str) -> bool {
    variant == "published" || variant.starts_with("published-")
}

fn is_word(text: &str) -> bool {
    let ordinary = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=MOST_BYTES).contains(&text.len()) && !text.starts_with('.') && text.chars().all(ordinary)
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
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (entry, variant) =
            text.split_once(':').map_or((text, None), |(entry, it)| (entry, Some(it)));
        Self::new(entry, variant)
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
        let lengths = [100, 101].map(|length| format!("ab/{}", "x".repeat(length)));
        assert_eq!(lengths.map(|text| text.parse::<VariantId>().is_ok()), [true, false]);
    }

    #[test]
    fn an_entrys_name_means_all_of_its_variants() {
        let id: VariantId = "cpp/boost-asio:prefork".parse().unwrap();
        assert!(id.matches("cpp/boost-asio") && id.matches("cpp/boost-asio:prefork"));
        assert!(!id.matches("cpp/boost-asio:shared") && !id.matches("cpp"));
        assert!(id.is_among("cpp/") && id.is_among("cpp/boost-asio") && !id.matches("cpp/"));
        assert!(!id.is_among("cp") && !id.is_among("c/") && !id.is_among("cpp/boost-asio/"));
    }

    #[test]
    fn a_pattern_means_languages_entries_and_variants_but_no_published_form() {
        let id: VariantId = "cpp/boost-asio:prefork".parse().unwrap();
        for pattern in ["c*", "*/*asio*", "cpp/*:pre*", "*asio", "*", "*:prefork"] {
            assert!(id.is_among(pattern), "{pattern}");
        }
        for pattern in ["*c", "asio*", "*/asio*", "cpp/*:p", ""] {
            assert!(!id.is_among(pattern), "{pattern}");
        }
        assert!(!"c/epoll:published".parse::<VariantId>().unwrap().is_among("*"));
    }

    #[test]
    fn a_published_form_is_meant_by_its_full_name_only() {
        for text in ["c/epoll:published", "c/epoll:published-timers"] {
            let id: VariantId = text.parse().unwrap();
            assert!(id.is_published() && id.matches(text) && id.is_among(text), "{text}");
            assert!(!id.matches("c/epoll") && !id.is_among("c/") && !id.is_among("c"), "{text}");
        }
        assert!(!"c/epoll:publishedx".parse::<VariantId>().unwrap().is_published());
    }
}
