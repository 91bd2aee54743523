//! `cargo xtask splice FOLDER`: puts the tables of a run into the README, so that nobody types
//! them.

use anyhow::{Context, bail};
use std::{fs, path::PathBuf};

use crate::step::root;

/// Arguments of `cargo xtask splice`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder that `wirebench run` named
    folder: PathBuf,
}

/// Replaces what stands between the marks of the README with the folder's report.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let report = arguments.folder.join("report.md");
    let report = fs::read_to_string(&report).with_context(|| report.display().to_string())?;
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    fs::write(&path, splice(&readme, &report)?).with_context(|| path.display().to_string())?;
    println!("{} has the tables of {}", path.display(), arguments.folder.display());
    Ok(())
}

fn splice(readme: &str, report: &str) -> anyhow::Result<String> {
    let begin = readme.find("<!-- BEGIN run").context("the README has no BEGIN mark")?;
    let end = readme.find("<!-- END run -->").context("the README has no END mark")?;
    let first = begin + readme[begin..].find('\n').context("the BEGIN mark has no line end")? + 1;
    if first > end {
        bail!("the END mark stands before the BEGIN mark");
    }
    // The report is a document of its own; here its title goes and its headings sink by one level.
    let body = report.split_once('\n').map_or("", |(_, body)| body);
    let body = body.replace("\n## ", "\n### ");
    Ok(format!("{}\n{}\n\n{}", &readme[..first], body.trim(), &readme[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "a\n<!-- BEGIN run: x -->\nold\n<!-- END run -->\nb\n";

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let new = splice(README, "# title\n\n## table\n1\n").unwrap();
        assert_eq!(new, "a\n<!-- BEGIN run: x -->\n\n### table\n1\n\n<!-- END run -->\nb\n");
        assert_eq!(splice(&new, "# title\n\n## table\n1\n").unwrap(), new);
    }

    #[test]
    fn a_readme_without_marks_is_an_error() {
        assert!(splice("a", "b").is_err());
        assert!(splice("<!-- END run -->\n<!-- BEGIN run -->\n", "b").is_err());
    }
}
