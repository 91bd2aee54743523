//! Writing to the terminal, or to the pipe that stands in for one.
//!
//! Results go to standard output, everything else to standard error. A reader that has gone away,
//! such as `head`, is no error.

use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, IsTerminal, Write};
use wirebench_report::document::Look;
use wirebench_schema::{
    printable::{printable, printable_json, printable_with_colours},
    secrets,
};

/// Writes a result. Its last line gets an end if it has none. A result that is lost, as on a full
/// disk, ends the program with an error.
pub(crate) fn result(text: &str) {
    let text = match look() {
        _ if is_json(text) => printable_json(text),
        look => shown(text, look),
    };
    script(&text);
}

/// Writes a script, in which names of options are no secrets, like a result.
pub(crate) fn script(text: &str) {
    let written = match wirebench_sys::stdout::was_closed() {
        true => Err(io::Error::other("standard output is closed")),
        false => write(&mut io::stdout().lock(), text),
    };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            self::error(&format!("the result could not be written: {error}"));
            std::process::exit(1);
        }
        Ok(()) | Err(_) => {}
    }
}

/// Tells if this is a document for programs, which other escapes than its own would break.
fn is_json(text: &str) -> bool {
    if !text.trim_start().starts_with(['{', '[']) {
        return false;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    values.all(|it| it.is_ok())
}

/// Writes a note to standard error; failure is ignored.
pub(crate) fn note(text: &str) {
    let look = if colours() { Look::Colours } else { Look::Plain };
    let _ = write(&mut io::stderr().lock(), &shown(text, look));
}

/// A text for people as a terminal may show it, without secrets.
pub(crate) fn shown(text: &str, look: Look) -> String {
    let text = hide(text.to_owned(), |it| secrets::hidden_text(&it));
    match look {
        Look::Colours => printable_with_colours(&text),
        Look::Plain => printable(&text).into_owned(),
    }
}

/// Hides secrets, unless they are asked for. The words are searched, because errors of arguments come before they are
/// parsed.
pub(crate) fn hide<T>(it: T, hidden: impl FnOnce(T) -> T) -> T {
    if std::env::args_os().any(|word| word == secrets::SHOW_OPTION) { it } else { hidden(it) }
}

/// Hides the secrets of a record, unless they are asked for.
pub(crate) fn hide_in<T: Serialize + DeserializeOwned>(it: T) -> serde_json::Result<T> {
    hide(Ok(it), |it| it.and_then(secrets::hidden))
}

pub(crate) fn error(text: &str) {
    let label = if colours() { "\u{1b}[31merror\u{1b}[0m" } else { "error" };
    note(&format!("{label}: {text}"));
}

fn write(to: &mut dyn Write, text: &str) -> io::Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    to.write_all(text.as_bytes())?;
    to.write_all(end.as_bytes())?;
    to.flush()
}

/// Whether standard error takes colours: it is a terminal, and they are wanted.
pub(crate) fn colours() -> bool {
    are_wanted() && is_live()
}

/// Whether lines of standard error can be drawn again: it is a terminal, and not a dumb one.
pub(crate) fn is_live() -> bool {
    std::env::var_os("TERM").is_none_or(|value| value != "dumb") && io::stderr().is_terminal()
}

/// How wide standard output is, if it is a terminal.
pub(crate) fn columns() -> Option<u16> {
    wirebench_sys::terminal::columns(&io::stdout())
}

/// Colours and bars for standard output, or plain text.
pub(crate) fn look() -> Look {
    if are_wanted() && io::stdout().is_terminal() { Look::Colours } else { Look::Plain }
}

/// Whether colours are wanted at all (no-color.org, bixense.com/clicolors).
fn are_wanted() -> bool {
    let is = |name, value| std::env::var_os(name).is_some_and(|it| it == value);
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !(no_color || is("CLICOLOR", "0") || is("TERM", "dumb"))
}
