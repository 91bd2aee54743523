//! Writing to the terminal, or to the pipe that stands in for one.
//!
//! Results go to standard output, everything else to standard error. A reader that has gone away,
//! such as `head`, is no error.

use std::io::{self, IsTerminal, Write};
use wirebench_report::document::Look;
use wirebench_schema::printable::{is_unsafe, printable, printable_json, printable_with_colours};

/// Writes a result. Its last line gets an end if it has none. A result that is lost, as on a full
/// disk, ends the program with an error.
pub(crate) fn result(text: &str) {
    let text = match look() {
        _ if text.contains(is_unsafe) && is_json(text) => printable_json(text).into(),
        Look::Colours => printable_with_colours(text).into(),
        Look::Plain => printable(text),
    };
    let written = match wirebench_sys::stdout::was_closed() {
        true => Err(io::Error::other("standard output is closed")),
        false => write(&mut io::stdout().lock(), &text),
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
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    text.trim_start().starts_with(['{', '[']) && values.all(|it| it.is_ok())
}

/// Writes a note to standard error; failure is ignored.
pub(crate) fn note(text: &str) {
    let text = if colours() { printable_with_colours(text).into() } else { printable(text) };
    let _ = write(&mut io::stderr().lock(), &text);
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
