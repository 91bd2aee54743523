//! The frame of every HTML report: one file without references to other files, with all foreign text
//! escaped, and with no script but our own.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

pub(crate) use crate::escape::html as safe;

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

/// A link to another page.
pub(crate) fn link(path: &str, text: &str) -> Markup {
    html! { a href=(path) { bdi { (text) } } }
}
