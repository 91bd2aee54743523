//! Installs axe, which finds what keeps people from reading an HTML report, in its locked version.

use std::{fs, path::PathBuf};

use crate::{
    programs::exists,
    step::{Shown, attempt, root},
};

/// In the project, and not where cargo builds: a test reads it from there.
fn folder() -> PathBuf {
    root().join("target/axe")
}

pub(crate) fn is_there() -> bool {
    folder().join("node_modules/axe-core/axe.min.js").is_file()
}

/// Without npm, or where the registry cannot be reached, the tests that need axe are left out.
pub(crate) fn install() -> anyhow::Result<()> {
    if is_there() || !exists("npm") {
        return Ok(());
    }
    let folder = folder();
    fs::create_dir_all(&folder)?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(root().join("xtask/axe").join(name), folder.join(name))?;
    }
    let prefix = folder.display().to_string();
    let npm = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", &prefix];
    attempt("axe", &npm, &[], Shown::AtEnd).map(drop)
}
