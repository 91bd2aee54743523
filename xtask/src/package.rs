//! `cargo xtask package`: makes a Debian package, a static program or the crates of a registry, and checks that they
//! work. The Debian package's metadata is in `crates/cli/Cargo.toml`.

use crate::step::{Shown::AtOnce, script};

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

/// Makes the package, and checks it if requested.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<f64> {
    let name = match arguments {
        Arguments { crates: true, .. } => "package-crates",
        Arguments { is_static: true, .. } => "package-static",
        _ => "package-deb",
    };
    let options = [(arguments.no_build, "--no-build"), (arguments.check, "--check")];
    let options: Vec<&str> = options.iter().filter(|it| it.0).map(|it| it.1).collect();
    script(name, &options, AtOnce)
}

/// For `cargo xtask test`: packages the crates without building them again, installs the release build that is there by
/// cargo and, as root, as a Debian package, and purges that.
pub(crate) fn test() -> anyhow::Result<()> {
    script("package-crates", &["--no-verify"], AtOnce)?;
    script("run-installed", &[], AtOnce)?;
    script("package-deb", &["--no-build", "--if-possible"], AtOnce).map(drop)
}
