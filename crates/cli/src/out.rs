//! Writing to the terminal, or to the pipe that stands in for one.
//!
//! Results go to standard output, everything else to standard error. A reader that has gone away,
//! such as `head`, is no error.

use std::io::{self, IsTerminal, Write};

/// Writes a result. Its last line gets an end if it has none. A result that is lost, as on a full
/// disk, ends the program with an error.
pub(crate) fn result(text: &str) {
    match write(&mut io::stdout().lock(), text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            self::error(&format!("the result could not be written: {error}"));
            std::process::exit(1);
        }
        Ok(()) | Err(_) => {}
    }
}

/// Writes a line that is no result, and that nobody needs to see.
pub(crate) fn note(text: &str) {
    let _ = write(&mut io::stderr().lock(), text);
}

/// Writes an error.
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

/// Whether standard error takes colours: it is a terminal, and nobody asked to leave them out
/// (no-color.org).
pub(crate) fn colours() -> bool {
    let asked = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    asked && io::stderr().is_terminal()
}
