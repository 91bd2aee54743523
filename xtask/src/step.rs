//! One command of a chore: printed before it runs, timed, and an error if it fails.

use anyhow::{Context, bail};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

/// The project's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// A program of the workspace, after a release build.
pub(crate) fn built(name: &str) -> anyhow::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let program = std::path::absolute(root().join(target).join("release").join(name))?;
    anyhow::ensure!(program.is_file(), "{} was not built", program.display());
    Ok(program)
}

/// How a step ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    Passed,
    Failed,
}

/// Runs `argv` in the project's folder with `env` added to the environment; it must succeed.
pub(crate) fn step(title: &str, argv: &[&str], env: &[(&str, &str)]) -> anyhow::Result<()> {
    match attempt(title, argv, env)? {
        End::Passed => Ok(()),
        End::Failed => bail!("{title}: `{}` failed", argv.join(" ")),
    }
}

/// The same for a command that may fail.
pub(crate) fn attempt(title: &str, argv: &[&str], env: &[(&str, &str)]) -> anyhow::Result<End> {
    let shown: Vec<String> = env
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .chain(argv.iter().map(|&word| word.to_owned()))
        .collect();
    println!("\n== {title}\n$ {}", shown.join(" "));
    let began = Instant::now();
    let mut command = Command::new(argv[0]);
    // Cargo describes this package to its own children. Build scripts of dependencies that watch these
    // variables would build anew each time a command is given by hand and by a chore in turn.
    for (name, _) in std::env::vars_os() {
        let is_of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if is_of_package.iter().any(|start| name.to_string_lossy().starts_with(start)) {
            command.env_remove(name);
        }
    }
    let status = command
        .args(&argv[1..])
        .envs(env.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("`{}` cannot be run", argv[0]))?;
    let seconds = began.elapsed().as_secs_f64();
    println!("== {title}: {seconds:.0} s, {status}");
    Ok(if status.success() { End::Passed } else { End::Failed })
}
