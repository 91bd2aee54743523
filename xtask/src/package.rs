//! `cargo xtask package`: makes a Debian package, a static program or the crates of a registry, and checks that they
//! work.

mod deb;

use anyhow::{Context as _, ensure};

use crate::{
    script,
    step::{built, cargo, step},
};

/// Arguments of `cargo xtask package`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Build one static program with musl instead of a Debian package
    #[arg(long = "static", conflicts_with = "no_build")]
    is_static: bool,
    /// Package every published crate instead, and build each package from its own files
    #[arg(long, conflicts_with_all = ["is_static", "no_build", "check"])]
    crates: bool,
    /// Package the release build that exists
    #[arg(long)]
    no_build: bool,
    /// Install the package, run its program and purge it, or run the static program in an empty root folder;
    /// needs root
    #[arg(long)]
    check: bool,
}

const TARGET: &str = "x86_64-unknown-linux-musl";

/// Makes the package, and checks it if requested.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.check {
        let is_root = rustix::process::geteuid().is_root();
        ensure!(is_root, "--check needs root; without it, the package is only made");
    }
    if arguments.crates {
        return script::run("crates", include_str!("../scripts/package-crates.sh"), "");
    }
    let build = [cargo(), "build", "--release", "--locked"];
    if !arguments.is_static {
        if !arguments.no_build {
            step("release build", &build, &[])?;
        }
        return deb::run(arguments.check);
    }
    let build = [&build[..], &["-p", "wirebench", "--target", TARGET]].concat();
    step("static build", &build, &[]).with_context(|| {
        format!("needs `rustup target add {TARGET}` and, on Debian, `apt-get install musl-tools`")
    })?;
    let program = built(&format!("../{TARGET}/release/wirebench"))?.display().to_string();
    println!("{program}");
    if arguments.check {
        script::run("static program", include_str!("../scripts/run-static.sh"), &program)
    } else {
        Ok(())
    }
}

/// For `cargo xtask test`: packages the crates without building them again, installs the release build that is there by
/// cargo and, as root, as a Debian package, and purges that.
pub(crate) fn test() -> anyhow::Result<()> {
    script::run("crates", include_str!("../scripts/package-crates.sh"), "--no-verify")?;
    let program = built("wirebench")?.display().to_string();
    script::run("installed program", include_str!("../scripts/run-installed.sh"), &program)?;
    deb::test()
}
