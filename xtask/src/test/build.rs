//! Builds all tests of the workspace in one call of CARGO, with the lints in it, and hands each program out as soon as
//! it is there. A second call for some of the crates would select other features, and compile dependencies again.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
    time::Instant,
};

use crate::step::{CARGO, line, nice, wait};

/// The program whose tests take longest, which begin first of those that begin after the build.
const LONGEST: &str = "cli/it";

/// A program that cargo has built.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Program {
    /// The names of the package's folder and of the target.
    pub(super) name: String,
    pub(super) executable: PathBuf,
    /// The folder of the package, in which tests expect to run.
    pub(super) folder: PathBuf,
    pub(super) is_test: bool,
    /// Starts programs of its package perhaps, which can be built after it.
    is_integration_test: bool,
}

/// The environment in which cargo compiles with clippy's driver, as `cargo clippy -- -D warnings` does.
pub(super) const LINTS: &[(&str, &str)] = &[
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
];

/// Runs cargo with `lints`, and gives each program of the workspace to `each`, integration tests after the build.
pub(super) fn run(
    lints: &[(&str, &str)],
    mut each: impl FnMut(Program) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut command = nice(&[CARGO, "test", "--workspace", "--locked", "--no-run"]);
    command.envs(lints.iter().copied());
    // A first build has nothing to build upon, and need not write what later ones would use.
    if !std::env::current_exe()?.with_file_name("wirebench").exists() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    println!("\n== build\n$ {}", line(&command));
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut child = command.spawn().context("cargo cannot be run")?;
    let (stdout, mut after) = (child.stdout.take().context("a pipe is missing")?, Vec::new());
    let given = BufReader::new(stdout).lines().try_for_each(|line| {
        match program(&serde_json::from_str(&line?)?) {
            Some(program) if program.is_integration_test => after.push(program),
            Some(program) => each(program)?,
            None => {}
        }
        Ok::<_, anyhow::Error>(())
    });
    let (status, cpu) = wait(&mut child)?;
    println!("\n== build: {:.0} s, {cpu:.1} s of CPU, {status}", began.elapsed().as_secs_f64());
    given?;
    ensure!(status.success(), "the tests cannot be built, or a lint complains");
    after.sort_by_key(|it| it.name != LONGEST);
    after.into_iter().try_for_each(each)
}

/// The program in one of cargo's messages, if it is about one.
fn program(message: &Value) -> Option<Program> {
    let executable = message["executable"].as_str()?.into();
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = folder.file_name()?.to_str()?;
    Some(Program {
        name: format!("{package}/{}", message["target"]["name"].as_str()?),
        executable,
        is_test: message["profile"]["test"] == true,
        is_integration_test: message["target"]["kind"][0] == "test",
        folder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_a_message_of_cargo() {
        for (kind, is_test) in [("test", true), ("bin", false)] {
            let message = serde_json::json!({
                "manifest_path": "/p/crates/cli/Cargo.toml",
                "target": {"name": "it", "kind": [kind]},
                "profile": {"test": is_test},
                "executable": "/p/it-1",
            });
            let (executable, folder) = ("/p/it-1".into(), "/p/crates/cli".into());
            let (name, is_integration_test) = ("cli/it".to_owned(), is_test);
            let expected = Program { name, executable, folder, is_test, is_integration_test };
            assert_eq!(program(&message), Some(expected));
        }
        assert_eq!(program(&serde_json::json!({"reason": "build-finished"})), None);
    }
}
