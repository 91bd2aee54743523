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

/// What a column of a table has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cells {
    /// The name of each row.
    Names,
    Figures,
    Words,
    /// Ratios of the figures in front of them, with their intervals.
    Intervals,
}

impl Cells {
    /// The heads of columns that have this.
    pub(crate) fn of<const N: usize>(self, heads: [&'static str; N]) -> Vec<(Self, &'static str)> {
        heads.map(|head| (self, head)).to_vec()
    }

    const fn class(self) -> Option<&'static str> {
        match self {
            Self::Names | Self::Figures => None,
            Self::Words => Some("words"),
            Self::Intervals => Some("interval"),
        }
    }
}

/// A table of figures, which `words` describe; heads may have `\n` between two lines. It scrolls by itself where it is
/// wider than the page, and a narrow screen has a card for each row.
pub(crate) fn table(
    words: &str,
    heads: &[(Cells, impl AsRef<str>)],
    rows: &[Vec<Markup>],
) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(safe(words)) {
            table {
                thead {
                    tr {
                        @for (cells, head) in heads {
                            th class=[cells.class()] scope="col" {
                                @for (place, line) in head.as_ref().split('\n').enumerate() {
                                    @if place > 0 { br; }
                                    (safe(line))
                                }
                            }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for ((cells, head), cell) in heads.iter().zip(row) {
                                @let label = safe(&head.as_ref().replace('\n', ""));
                                @if *cells == Cells::Names {
                                    th scope="row" data-label=[is_number(cell).then_some(label)] { bdi { (cell) } }
                                } @else {
                                    td class=[cells.class()] data-label=(label) { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether a row is named by a number, which says nothing without the head of its column.
fn is_number(cell: &Markup) -> bool {
    cell.0.chars().all(|it| it.is_ascii_digit() || " .".contains(it))
}

/// A link to another page.
pub(crate) fn link(path: &str, text: &str) -> Markup {
    html! { a href=(path) { bdi { (safe(text)) } } }
}

/// A cell of text.
pub(crate) fn text(text: impl AsRef<str>) -> Markup {
    html! { (safe(text.as_ref())) }
}
