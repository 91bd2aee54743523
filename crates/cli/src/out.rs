//! Writing to the terminal, or to the pipe that stands in for one.
//!
//! Results go to standard output, everything else to standard error. A reader that has gone away,
//! such as `head`, is no error.

use std::io::{self, IsTerminal, Write};

/// Writes a result. Its last line gets an end if it has none.
pub(crate) fn result(text: &str) {
    write(&mut io::stdout().lock(), text);
}

/// Writes a line that is no result.
pub(crate) fn note(text: &str) {
    write(&mut io::stderr().lock(), text);
}

/// Writes an error.
pub(crate) fn error(text: &str) {
    let label = if colours() { "\u{1b}[31merror\u{1b}[0m" } else { "error" };
    note(&format!("{label}: {text}"));
}

fn write(to: &mut dyn Write, text: &str) {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.write_all(end.as_bytes()));
    let _ = to.flush();
}

/// Whether standard error takes colours: it is a terminal, and nobody asked to leave them out
/// (no-color.org).
pub(crate) fn colours() -> bool {
    let asked = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    asked && io::stderr().is_terminal()
}
