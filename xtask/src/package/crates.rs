//! The crates as a registry gets them: packages every published one, with the archive of entries that a checkout makes
//! when it is built.

use anyhow::Context;
use std::{fs, path::PathBuf, process::Stdio};

use crate::step::{at_root, cargo, output, root, step};

/// The archive in the package of `wirebench-bundle`; `crates/bundle/build.rs` reads it.
const ARCHIVE: &str = "crates/bundle/project.tar.gz";

/// Removes the archive however packaging ends: in a checkout it would only go stale.
struct Archive(PathBuf);

impl Drop for Archive {
    fn drop(&mut self) {
        // If it stays, git reports it as untracked.
        _ = fs::remove_file(&self.0);
    }
}

/// Packages all published crates; with `build`, each package is also built from its own files alone.
pub(super) fn run(build: bool) -> anyhow::Result<()> {
    let archive = Archive(root().join(ARCHIVE));
    fs::copy(packed()?, &archive.0).with_context(|| ARCHIVE.to_owned())?;
    let private = private()?;
    let exclude: Vec<&str> = private.iter().flat_map(|name| ["--exclude", name]).collect();
    // The archive is not tracked, so the tree counts as changed.
    let package = [cargo(), "package", "--workspace", "--locked", "--allow-dirty", "--quiet"];
    let verify: &[&str] = if build { &[] } else { &["--no-verify"] };
    step("crates", &[&package[..], verify, &exclude].concat(), &[])
}

/// The archive that the build script of `wirebench-bundle` made.
fn packed() -> anyhow::Result<PathBuf> {
    let build = ["build", "--release", "--locked", "-p", "wirebench-bundle"];
    let messages = messages(&[&build[..], &["--message-format=json"]].concat())?;
    let folder = messages.lines().find_map(out_folder);
    Ok(folder.context("cargo reported no folder of the build script")?.join("project.tar.gz"))
}

/// The folder of the build script's output, if a message of cargo is about the one of `wirebench-bundle`.
fn out_folder(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let is_bundle = message["reason"] == "build-script-executed"
        && message["package_id"].as_str()?.contains("crates/bundle#");
    is_bundle.then(|| message["out_dir"].as_str().map(PathBuf::from)).flatten()
}

/// The packages of the workspace that are not published.
fn private() -> anyhow::Result<Vec<String>> {
    let metadata = messages(&["metadata", "--no-deps", "--format-version", "1", "--locked"])?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let private = packages.iter().filter(|it| it["publish"].as_array().is_some_and(Vec::is_empty));
    Ok(private.filter_map(|it| it["name"].as_str().map(str::to_owned)).collect())
}

fn messages(arguments: &[&str]) -> anyhow::Result<String> {
    output(at_root(cargo(), arguments).stderr(Stdio::inherit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_archive_is_found_in_a_message_of_cargo() {
        let message = |reason: &str, id: &str| {
            let value = serde_json::json!({"reason": reason, "package_id": id, "out_dir": "/o"});
            out_folder(&value.to_string())
        };
        let bundle = "path+file:///p/crates/bundle#wirebench-bundle@0.1.0";
        assert_eq!(message("build-script-executed", bundle), Some("/o".into()));
        assert_eq!(message("compiler-artifact", bundle), None);
        assert_eq!(message("build-script-executed", "registry+x#ring@0.17.0"), None);
        assert_eq!(out_folder("no JSON"), None);
    }
}
