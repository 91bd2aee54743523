//! The part of a build's log that says why it failed. It reads lines and knows no compiler.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

const LINES: usize = 12;
/// Bytes of a line that are shown; a command of a linker may have tens of thousands.
const LINE_BYTES: usize = 200;

/// Bytes of a log that are read; compilers print less, and what runs away may print gigabytes.
const LOG_BYTES: u64 = 4 << 20;

/// What the log at `path` says from the byte `from` on, or the end of that when it is very long.
pub(crate) fn read_log(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let begin = from.max(file.metadata()?.len().saturating_sub(LOG_BYTES));
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The lines of `log` from the first one that speaks of an error, or the last ones when none does.
/// Near the end there are always as many as fit.
pub(super) fn excerpt(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.len().saturating_sub(LINES);
    let first = lines.iter().position(|line| speaks_of_an_error(line));
    let begin = first.map_or(last, |first| first.min(last));
    let end = lines.len().min(begin + LINES);
    let mut text: String =
        lines[begin..end].iter().map(|line| format!("\n    {}", shorten(line))).collect();
    if end < lines.len() {
        text += &format!("\n    ... and {} lines more", lines.len() - end);
    }
    text
}

/// The last line of a program's output that is not empty, for one sentence.
pub(crate) fn last_line(output: &str) -> Option<String> {
    let line = output.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(shorten(line).to_owned())
}

fn shorten(line: &str) -> &str {
    let mut end = line.len().min(LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

/// Whether `error` stands in it as a word of a message: neither an option such as `-Werror` nor a
/// part of a name such as `error_code` or `0 errors`.
fn speaks_of_an_error(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.match_indices("error").any(|(at, word)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + word.len()..].chars().next();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-/.=".contains(c);
        !before.is_some_and(is_name) && after.is_none_or(|c| ":[ !".contains(c))
    }) || lower.contains("undefined reference to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_from_the_first_error_on_are_shown() {
        let noise: String = (0..30).map(|n| format!("compiling part {n} with -Werror\n")).collect();
        let after: String = (0..30).map(|n| format!("note {n}\n")).collect();
        let log = format!("{noise}main.c:3:1: error: expected `;`\n{after}");
        let text = excerpt(&log);
        assert!(text.starts_with("\n    main.c:3:1: error: expected `;`\n    note 0\n"), "{text}");
        assert!(text.ends_with("\n    note 10\n    ... and 19 lines more"), "{text}");
        let rust = excerpt(&format!("{noise}error[E0432]: unresolved import\n --> x\n"));
        assert_eq!(rust.lines().count(), LINES + 1);
        assert!(rust.ends_with("\n    error[E0432]: unresolved import\n     --> x"), "{rust}");
    }

    #[test]
    fn without_an_error_the_last_lines_are_shown() {
        let log: String = (0..30).map(|n| format!("error_code.o {n}: 0 errors\n")).collect();
        assert!(
            excerpt(&log).starts_with("\n    error_code.o 18: 0 errors\n"),
            "{}",
            excerpt(&log)
        );
        assert_eq!(excerpt(""), "");
        assert_eq!(excerpt("one\n\n"), "\n    one");
    }

    #[test]
    fn of_a_log_the_part_that_was_asked_for_is_read_and_of_a_very_long_one_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "before\nnow\n").unwrap();
        assert_eq!(read_log(&path, 7).unwrap(), "now\n");
        assert_eq!(read_log(&path, 1000).unwrap(), "");
        let mut long = vec![b'x'; usize::try_from(LOG_BYTES).unwrap()];
        long.extend(b"\nthe end");
        std::fs::write(&path, &long).unwrap();
        let read = read_log(&path, 3).unwrap();
        assert_eq!(read.len() as u64, LOG_BYTES);
        assert_eq!(last_line(&read), Some("the end".to_owned()));
        assert!(read_log(&folder.path().join("absent"), 0).is_err());
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let text = excerpt(&"ä".repeat(LINE_BYTES));
        assert_eq!(text.trim().chars().count(), LINE_BYTES / 2);
        assert_eq!(last_line("a\n b \n\n"), Some("b".to_owned()));
        assert_eq!(last_line("\n"), None);
    }
}
