//! The frame of every HTML report: one file without references to other files, with all foreign text
//! escaped, and with no script but our own.

pub(crate) mod chart;
pub(crate) mod markdown;
pub(crate) mod ratio;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use wirebench_schema::printable;

/// Reasons for its colours are in the file.
pub(crate) const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/table.js");

pub(crate) fn document(title: &str, body: &Markup) -> String {
    // The file needs nothing from elsewhere, so a browser may refuse everything else.
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    let policy =
        format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'");
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (safe(title)) " - wirebench" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (body) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    markup.into_string()
}

/// A document with the Markdown form of a report. Pictures are in front of the details.
pub(crate) fn of_markdown(title: &str, markdown: &str, pictures: &Markup) -> String {
    let body = markdown::body(markdown);
    let (first, details) = body.split_at(body.find("<details>").unwrap_or(body.len()));
    let body = html! {
        @if !markdown.starts_with("# ") { h1 { (safe(title)) } }
        (PreEscaped(first))
        (pictures)
        (PreEscaped(details))
    };
    document(title, &body)
}

/// Text without characters that change how other text is shown: those of control, except line feeds, and
/// those that turn the direction of writing.
pub(crate) fn safe(text: &str) -> String {
    text.chars().map(|it| if printable::is_unsafe(it) { '\u{fffd}' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_only_text() {
        let page = of_markdown(
            "<script>alert(1)</script>",
            "a < b\n\u{1b}[31m\u{202e}abc & \"d\"",
            &html! {},
        );
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
        assert!(page.contains("a &lt; b\n\u{fffd}[31m\u{fffd}abc &amp; \"d\""), "{page}");
    }

    #[test]
    fn a_document_refers_to_no_other() {
        let page = of_markdown("quick", "http://example.org/", &html! {});
        for reference in ["src=", "href=", "url(", "@import", "<script ", "<link"] {
            assert!(!page.contains(reference), "{reference}");
        }
    }
}
