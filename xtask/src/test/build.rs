//! Builds all tests of the workspace in one call of cargo, with the lints in it, and hands each program out as soon as
//! it is there.
//!
//! A second call for some of the crates would select other features, and compile dependencies again.

use anyhow::{Context, ensure};
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
    time::Instant,
};

use crate::step::{at_root, cargo, line, output, wait};

/// A program that cargo has built.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) executable: PathBuf,
    /// The folder of the package, in which tests expect to run.
    pub(super) folder: PathBuf,
    pub(super) is_test: bool,
    /// Starts programs of its package perhaps, which can be built after it.
    pub(super) is_integration_test: bool,
}

/// The environment in which cargo compiles with clippy's driver, as `cargo clippy -- -D warnings` does.
pub(super) fn lints() -> anyhow::Result<Vec<(&'static str, String)>> {
    let sysroot = output(&mut at_root("rustc", ["--print", "sysroot"]))?;
    let driver = Path::new(sysroot.trim()).join("bin/clippy-driver");
    ensure!(driver.is_file(), "clippy is missing: rustup component add clippy");
    let arguments = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__".to_owned();
    Ok(vec![("RUSTC_WORKSPACE_WRAPPER", driver.display().to_string()), ("CLIPPY_ARGS", arguments)])
}

/// Runs cargo with `lints`, and gives each program of the workspace to `each`.
pub(super) fn run(
    lints: &[(&str, String)],
    mut each: impl FnMut(Program) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let began = Instant::now();
    let build = ["-n", "10", cargo(), "test", "--workspace", "--locked", "--no-run"];
    let mut command = at_root("nice", build);
    command.envs(lints.iter().map(|(name, value)| (name, value)));
    // A first build has nothing to build upon, and need not write what later ones would use.
    if !std::env::current_exe()?.with_file_name("wirebench").exists() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    println!("\n== build\n$ {}", line(&command));
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut child = command.spawn().context("cargo cannot be run")?;
    let stdout = child.stdout.take().context("a pipe is missing")?;
    let programs = BufReader::new(stdout).lines().try_for_each(|line| match program(&line?)? {
        Some(program) => each(program),
        None => Ok(()),
    });
    let (status, cpu) = wait(&mut child)?;
    let seconds = began.elapsed().as_secs_f64();
    println!("\n== build: {seconds:.0} s, {cpu:.1} s of CPU, {status}");
    programs?;
    ensure!(status.success(), "the tests cannot be built, or a lint complains");
    Ok(())
}

/// The program in one of cargo's messages, if it is about one.
fn program(message: &str) -> anyhow::Result<Option<Program>> {
    let message: serde_json::Value = serde_json::from_str(message)?;
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let Some(executable) = text(&message["executable"]) else { return Ok(None) };
    let manifest = PathBuf::from(text(&message["manifest_path"]).context("no manifest_path")?);
    let folder = manifest.parent().context("a manifest lies in a folder")?.to_owned();
    let package = text(&message["package_id"]).context("no package_id")?;
    let package = package.rsplit('/').next().unwrap_or_default();
    // An identifier ends in `folder#version` or in `folder#name@version`.
    let (of_folder, version) = package.split_once('#').unwrap_or((package, ""));
    let package = version.split_once('@').map_or(of_folder, |(name, _)| name);
    let target = text(&message["target"]["name"]).context("no target name")?;
    Ok(Some(Program {
        name: format!("{package}/{target}"),
        executable: executable.into(),
        folder,
        is_test: message["profile"]["test"] == true,
        is_integration_test: message["target"]["kind"][0] == "test",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_a_message_of_cargo() {
        let message = |package: &str, is_test: bool| {
            let kind = if is_test { "test" } else { "bin" };
            let value = serde_json::json!({
                "package_id": format!("path+file:///p/{package}"),
                "manifest_path": "/p/crates/cli/Cargo.toml",
                "target": {"name": "it", "kind": [kind]},
                "profile": {"test": is_test},
                "executable": "/p/it-1",
            });
            program(&value.to_string()).unwrap()
        };
        for (package, name, is_test) in [
            ("crates/cli#wirebench@0.1.0", "wirebench/it", true),
            ("crates/cli#wirebench@0.1.0", "wirebench/it", false),
            ("xtask#0.1.0", "xtask/it", true),
        ] {
            let (executable, folder) = ("/p/it-1".into(), "/p/crates/cli".into());
            let (name, is_integration_test) = (name.to_owned(), is_test);
            let expected = Program { name, executable, folder, is_test, is_integration_test };
            assert_eq!(message(package, is_test), Some(expected));
        }
        assert_eq!(program(r#"{"reason": "build-finished"}"#).unwrap(), None);
    }
}
