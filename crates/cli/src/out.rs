//! Writing to the terminal, or to the pipe that stands in for one.
//!
//! Results go to standard output, everything else to standard error. A reader that has gone away,
//! such as `head`, is no error.

use std::io::{self, IsTerminal, Write};
use wirebench_report::tune::Look;

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

/// Writes a note to standard error; failure is ignored.
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

/// Whether standard error takes colours: it is a terminal, and `NO_COLOR` is not set.
pub(crate) fn colours() -> bool {
    are_wanted() && io::stderr().is_terminal()
}

/// Colours and bars for standard output, or plain text.
pub(crate) fn look() -> Look {
    if are_wanted() && io::stdout().is_terminal() { Look::Colours } else { Look::Plain }
}

/// Whether colours are wanted at all (no-color.org).
fn are_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
