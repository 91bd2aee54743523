//! A step that is a few lines of a shell.

use crate::step::{cargo, step};

/// Runs the lines up to the first error: `$1` is the subject, `$2` an empty folder, and `fail` prints why and ends.
pub(crate) fn run(title: &str, lines: &str, subject: &str) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path().display().to_string();
    let lines = format!("fail() {{ echo \"$*\" >&2; exit 1; }}\n{lines}");
    step(title, &["sh", "-eu", "-c", &lines, "sh", subject, &folder], &[("CARGO", cargo())])
}
