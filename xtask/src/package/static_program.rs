//! One static program that needs no library: linked with musl, and run in a root folder that has nothing else.

use anyhow::{Context, ensure};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::step::{built, root, step};

const TARGET: &str = "x86_64-unknown-linux-musl";

/// Builds the program, and runs it alone if `check` says so.
pub(super) fn run(cargo: &str, check: bool) -> anyhow::Result<()> {
    let build = ["build", "--release", "--locked", "-p", "wirebench", "--target", TARGET];
    step("static build", &[&[cargo], &build[..]].concat(), &[]).with_context(|| {
        format!("needs `rustup target add {TARGET}` and, on Debian, `apt-get install musl-tools`")
    })?;
    let program = built(&format!("../{TARGET}/release/wirebench"))?.canonicalize()?;
    println!("{}", program.display());
    if check { run_alone(&program) } else { Ok(()) }
}

/// Ends the server however the check ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// What a container mounts in every root folder. `list` starts processes, so it needs them; `load` does not.
const MOUNT_AND_LIST: &str = "for it in proc dev sys; do mount --rbind /$it \"$1/$it\"; done; \
                              exec chroot \"$1\" /wirebench list";

/// Runs the program where there is no library and no shell.
fn run_alone(program: &Path) -> anyhow::Result<()> {
    let folder = root().join("target/static-root");
    for name in ["proc", "dev", "sys", "entries", "suites"] {
        fs::create_dir_all(folder.join(name))?;
    }
    fs::copy(program, folder.join("wirebench"))?;
    let folder = folder.display().to_string();
    let alone = ["chroot", &folder, "/wirebench"];
    step("version", &[&alone[..], &["--version"]].concat(), &[])?;
    let list = ["unshare", "--mount", "sh", "-e", "-c", MOUNT_AND_LIST, "sh", &folder];
    step("list", &list, &[])?;
    let mut server = Command::new(alone[0])
        .args(&alone[1..])
        .args(["null-server", "epoll", "hello", "127.0.0.1", "0", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .context("the built-in server cannot be started")?;
    let out = server.stdout.take().context("a pipe is missing")?;
    let _server = Server(server);
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    let address = line.trim().strip_prefix("listening ");
    ensure!(address.is_some(), "the built-in server printed {line:?}");
    let url = format!("http://{}/", address.unwrap_or_default());
    step("load", &[&alone[..], &["load", "-t1", "-c8", "-d1s", &url]].concat(), &[])
}
