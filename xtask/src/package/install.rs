//! The program as a user has it: installed by cargo into an empty folder, and run elsewhere, without a checkout.

use anyhow::{Context, ensure};
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::Path,
};

use crate::step::{built, cargo, step};

/// A user and a group without rights of their own.
const ORDINARY: u32 = 65534;
/// One short measurement of entries that need only a C compiler.
const RUN: [&str; 9] =
    ["run", "c/epoll", "c/threads", "--cohorts", "1", "--rounds", "1", "--slice", "40ms"];

/// Installs the program of this checkout, and measures with it as an ordinary user in an empty folder.
pub(super) fn test() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    let root_text = root.to_str().context("the folder's path is not text")?;
    // The folder of the release build saves a second one.
    let target = built("wirebench")?;
    let target = target.ancestors().nth(2).and_then(Path::to_str).context("no target folder")?;
    let install = [cargo(), "install", "--path", "crates/cli", "--locked", "--root", root_text];
    step("cargo install", &[&install[..], &["--target-dir", target]].concat(), &[])?;
    let program = root.join("bin/wirebench");
    println!("{} bytes", fs::metadata(&program)?.len());
    let home = folder.path().join("home");
    fs::create_dir(&home)?;
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        chown(&home, Some(ORDINARY), Some(ORDINARY))?;
    }
    let home_text = home.display().to_string();
    let variable = format!("HOME={home_text}");
    let path = format!("PATH={}", std::env::var("PATH").unwrap_or_default());
    let alone = ["env", "--ignore-environment", "--chdir", &home_text, &variable, &path];
    let (user, group) = (format!("--reuid={ORDINARY}"), format!("--regid={ORDINARY}"));
    let setpriv = ["setpriv", &user, &group, "--clear-groups"];
    let as_user: &[&str] = if is_root { &setpriv } else { &[] };
    let program = program.display().to_string();
    step("run of an ordinary user", &[&alone[..], as_user, &[&program], &RUN].concat(), &[])?;
    let results = home.join(".local/state/wirebench");
    let made = fs::read_dir(&results).with_context(|| results.display().to_string())?;
    let reports = made.flatten().filter(|it| it.path().join("report.html").is_file()).count();
    ensure!(reports == 1, "{} has {reports} reports instead of 1", results.display());
    Ok(())
}
