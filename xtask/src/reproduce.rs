//! `cargo xtask reproduce`: builds the last commit in two folders, and compares the programs.

use anyhow::{Context, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::step::{cargo, root, step};

/// Two folders whose paths differ also in length.
const FOLDERS: [&str; 2] = ["target/reproduce/one", "target/reproduce/another-folder"];

/// Builds twice, and fails if the programs differ.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut programs = Vec::new();
    for folder in FOLDERS {
        programs.push(build(&root().join(folder))?);
    }
    let paths: Vec<String> = programs.iter().map(|it| it.display().to_string()).collect();
    step("hashes", &["sha256sum", &paths[0], &paths[1]], &[])?;
    let [one, another] = [fs::read(&programs[0])?, fs::read(&programs[1])?];
    let differing = one.iter().zip(&another).filter(|(a, b)| a != b).count();
    ensure!(
        one == another,
        "the programs differ: {} and {} bytes, {differing} bytes differ in the common part; \
         `cmp -l` lists them",
        one.len(),
        another.len()
    );
    println!("\nboth builds are the same {} bytes", one.len());
    Ok(())
}

/// Builds the last commit in `folder`, and returns the program.
fn build(folder: &Path) -> anyhow::Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let path = folder.to_str().context("the folder's path is not text")?;
    let archive = format!("{path}/source.tar");
    step("copy", &["git", "archive", "--output", &archive, "HEAD"], &[])?;
    step("unpack", &["tar", "-xf", &archive, "-C", path], &[])?;
    let manifest = format!("{path}/Cargo.toml");
    let target = format!("{path}/target");
    let arguments = [cargo(), "build", "--release", "--locked", "-p", "wirebench"];
    let arguments = [&arguments[..], &["--manifest-path", &manifest]].concat();
    // Folders of this machine are in the messages of panics, in Rust and in C.
    let flags = format!(
        "--remap-path-prefix={path}=/source --remap-path-prefix={}=/cargo",
        cargo_home()?.display()
    );
    let c_flags = format!("-ffile-prefix-map={path}=/source");
    let env = [("CARGO_TARGET_DIR", &*target), ("RUSTFLAGS", &flags), ("CFLAGS", &c_flags)];
    step("build", &arguments, &env)?;
    let program = folder.join("target/release/wirebench");
    ensure!(!contains(&program, path)?, "{} contains the folder's name", program.display());
    Ok(program)
}

fn cargo_home() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("HOME").map(|it| Path::new(&it).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home).context("HOME is not set")
}

/// Whether the file has this text in it.
fn contains(file: &Path, text: &str) -> anyhow::Result<bool> {
    let status = Command::new("grep").args(["-qF", "--", text]).arg(file).status();
    Ok(status.context("`grep` cannot be run")?.success())
}
