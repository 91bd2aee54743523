//! `cargo xtask package`: makes a Debian package, a static program or the crates of a registry, and checks that they
//! work.

mod crates;
mod deb;
mod install;
mod static_program;

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
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.check {
        let is_root = rustix::process::geteuid().is_root();
        anyhow::ensure!(is_root, "--check needs root; without it, the package is only made");
    }
    if arguments.crates {
        crates::run(true)
    } else if arguments.is_static {
        static_program::run(arguments.check)
    } else {
        deb::run(!arguments.no_build, arguments.check)
    }
}

/// For `cargo xtask test`: packages the crates without building them again, installs the release build that is there by
/// cargo and, as root, as a Debian package, and purges that.
pub(crate) fn test() -> anyhow::Result<()> {
    crates::run(false)?;
    install::test()?;
    deb::test()
}
