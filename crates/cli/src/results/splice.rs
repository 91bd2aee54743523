//! `report --splice`: replaces the text between two markers in a document, so that no figure in it is
//! typed by hand, and records the command.
//!
//! A file is replaced as a whole or not at all: the new text is written next to it and renamed.

use anyhow::Context as _;
use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};
use wirebench_schema::argv;

use crate::exit::usage;

const BEGIN: &str = "<!-- wirebench: begin -->";
const END: &str = "<!-- wirebench: end -->";

/// How the text appears in the document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Block {
    Markdown,
    Code,
}

/// Replaces what is between the markers of `file` by `text`.
pub(crate) fn into(file: &Path, block: Block, text: &str) -> anyhow::Result<()> {
    let shown = file.display();
    // A link is followed, so that the file that it names is replaced and not the link.
    let file = file.canonicalize().with_context(|| format!("cannot read {shown}"))?;
    let old = fs::read_to_string(&file).with_context(|| format!("cannot read {shown}"))?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let body = format!("<!-- {} -->\n\n{}", command(&arguments), body(block, text));
    let new = replaced(&old, &body).map_err(|why| usage(format!("{shown}: {why}")))?;
    replace(&file, &new).with_context(|| {
        format!("cannot write {shown}, which is unchanged; it and its folder must be writable")
    })
}

/// The command as a comment can hold it.
fn command(arguments: &[String]) -> String {
    let line = argv::display(arguments).replace("-->", "--&gt;");
    format!("wirebench {line}")
}

/// The text, which ends with an empty line. A fence is longer than any in the text.
fn body(block: Block, text: &str) -> String {
    let text = text.trim_matches('\n');
    if block == Block::Markdown {
        return format!("{text}\n\n");
    }
    let ticks = |line: &str| line.chars().take_while(|sign| *sign == '`').count();
    let longest = text.lines().map(|line| ticks(line.trim_start())).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n\n")
}

/// The document with `body` between its markers, in the line ends of the document.
fn replaced(document: &str, body: &str) -> Result<String, String> {
    let begin = only_line(document, BEGIN)?;
    let end = only_line(document, END)?;
    if end.start < begin.end {
        return Err(format!("the line `{END}` is above `{BEGIN}`: exchange them"));
    }
    let body = if document.contains("\r\n") { body.replace('\n', "\r\n") } else { body.to_owned() };
    Ok(format!("{}{body}{}", &document[..begin.end], &document[end.start..]))
}

/// The place of the only line that is `marker`, with its line end.
fn only_line(document: &str, marker: &str) -> Result<std::ops::Range<usize>, String> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in document.split_inclusive('\n') {
        if line.trim() == marker {
            found.push(start..start + line.len());
        }
        start += line.len();
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(format!(
            "there is no line `{marker}`: add the lines `{BEGIN}` and `{END}` where the result belongs"
        )),
        lines => Err(format!("{lines} lines are `{marker}`: keep one of them")),
    }
}

/// Writes `text` next to `file`, with the same permissions, and renames it.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let next_to = folder.join(format!(".{name}.{}.new", std::process::id()));
    let permissions = fs::metadata(file)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let written = fs::File::create_new(&next_to).and_then(|mut written| {
        written.write_all(text.as_bytes())?;
        written.set_permissions(permissions)?;
        written.sync_all()?;
        fs::rename(&next_to, file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&next_to);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};

    const DOCUMENT: &str =
        "a\n<!-- wirebench: begin -->\nold\n<!-- wirebench: end -->\n`<!-- wirebench: begin -->`\n";

    #[test]
    fn only_the_text_between_the_markers_changes() {
        let new = replaced(DOCUMENT, "new\n").unwrap();
        assert_eq!(new, DOCUMENT.replace("old", "new"));
        assert_eq!(replaced(&new, "new\n").unwrap(), new);
        let windows = DOCUMENT.replace('\n', "\r\n");
        assert_eq!(replaced(&windows, "new\n").unwrap(), windows.replace("old", "new"));
    }

    #[test]
    fn a_missing_a_doubled_and_an_exchanged_marker_are_errors() {
        let twice = DOCUMENT.replace("old", BEGIN);
        let exchanged = format!("{END}\n{BEGIN}\n");
        let documents = ["a\n", BEGIN, &twice, &exchanged];
        let errors = documents.map(|document| replaced(document, "new\n").unwrap_err());
        expect_file!["../../tests/golden/unit/splice.txt"].assert_eq(&errors.join("\n"));
    }

    #[test]
    fn text_cannot_end_its_block_or_the_comment() {
        assert_eq!(body(Block::Code, "\na\n```\nb\n"), "````text\na\n```\nb\n````\n\n");
        assert_eq!(body(Block::Markdown, "a\n"), "a\n\n");
        let arguments = ["report", "a --> b"].map(str::to_owned);
        assert_eq!(command(&arguments), "wirebench report 'a --&gt; b'");
    }

    #[test]
    fn a_file_keeps_its_permissions_and_leaves_nothing_next_to_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("README.md");
        fs::write(&file, DOCUMENT).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        into(&file, Block::Code, "figures").unwrap();
        let text = fs::read_to_string(&file).unwrap();
        // The comment in the first part has the arguments of the test program.
        let parts = text.split_once(" -->\n\n").unwrap();
        assert!(parts.0.starts_with("a\n<!-- wirebench: begin -->\n<!-- wirebench "), "{text}");
        let end = DOCUMENT.split_once("old\n").unwrap().1;
        assert_eq!(parts.1, format!("```text\nfigures\n```\n\n{end}"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
        let error = into(&file, Block::Code, "other").unwrap_err();
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        let causes = causes.join("\n").replace(&file.display().to_string(), "README.md");
        expect![[r#"
            cannot write README.md, which is unchanged; it and its folder must be writable
            the file is read-only"#]]
        .assert_eq(&causes);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}
