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

/// Runs a static program where there is no library and no shell. A container mounts the same folders; `list` needs
/// them to start processes, `load` does not.
const RUN_ALONE: &str = r#"
folder=target/static-root
for it in proc dev sys entries suites; do mkdir -p "$folder/$it"; done
cp "$1" "$folder/wirebench"
chroot "$folder" /wirebench --version
unshare --mount sh -eu -c 'for it in proc dev sys; do mount --rbind "/$it" "$1/$it"; done
    exec chroot "$1" /wirebench list' sh "$folder"
mkfifo "$2/lines"
chroot "$folder" /wirebench null-server epoll hello 127.0.0.1 0 1 >"$2/lines" &
trap 'kill $!' EXIT
read -r word address <"$2/lines"
[ "$word" = listening ] || fail "the server printed: $word $address"
chroot "$folder" /wirebench load -t1 -c8 -d1s "http://$address/"
"#;

/// Installs the program by cargo into an empty folder, and measures entries that need only a C compiler: elsewhere,
/// without a checkout and, if possible, as a user without rights. The folder of the release build saves a second one.
const RUN_INSTALLED: &str = r#"
home=$2/home
"$CARGO" install --path crates/cli --locked --root "$2/root" --target-dir "${1%/release/wirebench}"
wc -c "$2/root/bin/wirebench"
mkdir "$home"
user=
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$2"
    chown 65534:65534 "$home"
    user='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
env --ignore-environment --chdir "$home" HOME="$home" PATH="$PATH" $user "$2/root/bin/wirebench" \
    run c/epoll c/threads --cohorts 1 --rounds 1 --slice 40ms
set -- "$home"/.local/state/wirebench/*/report.html
[ $# = 1 ] && [ -f "$1" ] || fail "not one report: $*"
"#;

/// Packages all published crates with the options `$1`. The package of `wirebench-bundle` contains the archive of
/// entries that its build script makes from a checkout; there it would only go stale. It is not tracked, so the tree
/// counts as changed.
const PACKAGE_CRATES: &str = r#"
archive=crates/bundle/project.tar.gz
messages=$("$CARGO" build --release --locked -p wirebench-bundle --message-format=json)
folder=$(echo "$messages" |
    sed -n 's/.*"build-script-executed".*crates\/bundle#.*"out_dir":"\([^"]*\)".*/\1/p')
[ -n "$folder" ] || fail 'cargo reported no folder of the build script'
trap 'rm -f "$archive"' EXIT
cp "$folder/project.tar.gz" "$archive"
private=$(grep -l '^publish = false' lab/Cargo.toml xtask/Cargo.toml crates/*/Cargo.toml)
exclude=$(sed -n 's/^name = "\(.*\)"/--exclude \1/p' $private)
"$CARGO" package --workspace --locked --allow-dirty --quiet $1 $exclude
"#;

/// Makes the package, and checks it if requested.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.check {
        let is_root = rustix::process::geteuid().is_root();
        ensure!(is_root, "--check needs root; without it, the package is only made");
    }
    if arguments.crates {
        return script::run("crates", PACKAGE_CRATES, "");
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
    if arguments.check { script::run("static program", RUN_ALONE, &program) } else { Ok(()) }
}

/// For `cargo xtask test`: packages the crates without building them again, installs the release build that is there by
/// cargo and, as root, as a Debian package, and purges that.
pub(crate) fn test() -> anyhow::Result<()> {
    script::run("crates", PACKAGE_CRATES, "--no-verify")?;
    let program = built("wirebench")?.display().to_string();
    script::run("installed program", RUN_INSTALLED, &program)?;
    deb::test()
}
