//! `cargo xtask splice FOLDER`: copies the page of a run into the README, so that no figure is
//! typed by hand.

use anyhow::{Context, bail};
use std::{fs, path::PathBuf, process::Command};

use crate::step::root;

/// Arguments of `cargo xtask splice`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder that `wirebench run` named
    folder: PathBuf,
}

/// Replaces the text between the marks of the README by the output of `wirebench report FOLDER`.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut report = Command::new("cargo");
    report.args(["run", "--release", "--quiet", "--", "report"]).arg(&arguments.folder);
    let output = report.output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("wirebench report failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let page = String::from_utf8(output.stdout).context("the page is not UTF-8")?;
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    fs::write(&path, splice(&readme, &page)?).with_context(|| path.display().to_string())?;
    println!("{} has the page of {}", path.display(), arguments.folder.display());
    Ok(())
}

fn splice(readme: &str, page: &str) -> anyhow::Result<String> {
    let begin = readme.find("<!-- BEGIN run").context("the README has no BEGIN mark")?;
    let end = readme.find("<!-- END run -->").context("the README has no END mark")?;
    let first = begin + readme[begin..].find('\n').context("the BEGIN mark has no line end")? + 1;
    if first > end {
        bail!("the END mark is before the BEGIN mark");
    }
    // The folder is one of this machine.
    let lines = page.lines().filter(|line| !line.starts_with("Report: "));
    let body: String =
        lines.map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
    Ok(format!("{}\n    {}\n\n{}", &readme[..first], body.trim(), &readme[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "a\n<!-- BEGIN run: x -->\nold\n<!-- END run -->\nb\n";

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = "quick: 1 server\n\nhello\nReport: target/x\n";
        let new = splice(README, page).unwrap();
        let expected =
            "a\n<!-- BEGIN run: x -->\n\n    quick: 1 server\n\n    hello\n\n<!-- END run -->\nb\n";
        assert_eq!(new, expected);
        assert_eq!(splice(&new, page).unwrap(), new);
    }

    #[test]
    fn a_readme_without_marks_is_an_error() {
        assert!(splice("a", "b").is_err());
        assert!(splice("<!-- END run -->\n<!-- BEGIN run -->\n", "b").is_err());
    }
}
