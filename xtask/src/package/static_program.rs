//! One static program that needs no library: linked with musl, and run in a root folder that has nothing else.

use anyhow::Context;
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Stdio},
};

use crate::step::{at_root, built, cargo, root, step};

const TARGET: &str = "x86_64-unknown-linux-musl";

/// Builds the program, and runs it alone if `check` says so.
pub(super) fn run(check: bool) -> anyhow::Result<()> {
    let build = ["build", "--release", "--locked", "-p", "wirebench", "--target", TARGET];
    step("static build", &[&[cargo()], &build[..]].concat(), &[]).with_context(|| {
        format!("needs `rustup target add {TARGET}` and, on Debian, `apt-get install musl-tools`")
    })?;
    let program = built(&format!("../{TARGET}/release/wirebench"))?.canonicalize()?;
    println!("{}", program.display());
    if check { run_alone(&program) } else { Ok(()) }
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
    let words = ["null-server", "epoll", "hello", "127.0.0.1", "0", "1"];
    let mut server = at_root(alone[0], [&alone[1..], &words].concat());
    let server = Server(server.stdout(Stdio::piped()).spawn().context("the server")?);
    load(server, &alone)
}

/// A running server, which ends with this value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Loads the server once it has printed where it listens.
fn load(mut server: Server, alone: &[&str]) -> anyhow::Result<()> {
    let output = server.0.stdout.take().context("its output is a pipe")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let address = line.trim().strip_prefix("listening ");
    let address = address.with_context(|| format!("the server printed `{}`", line.trim()))?;
    let url = format!("http://{address}/");
    step("load", &[alone, &["load", "-t1", "-c8", "-d1s", &url]].concat(), &[])
}
