//! The folder on another host in which a verb is carried out: a copy of the entries and suites, what is built of
//! them, and results until they are fetched.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};
use wirebench_schema::argv;
use wirebench_server::digest;

use super::{Carrier, Program, install};

/// The parts of a project that are copied.
const PARTS: [&str; 2] = ["entries", "suites"];
/// The folders of projects, in the user's cache.
const PROJECTS: &str = "\"${XDG_CACHE_HOME:-$HOME/.cache}\"/wirebench/projects";

/// The copy of a project on another host. What was built there stays for the next time.
#[derive(Clone, Debug)]
pub struct Folder {
    /// A name that no other project of this host has.
    key: String,
}

impl Folder {
    /// That of the project in `root`, or of none.
    #[must_use]
    pub fn of(root: Option<&Path>) -> Self {
        let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
        let root = root.map_or("none".to_owned(), |root| root.display().to_string());
        Self { key: digest::of_text(&format!("{} {root}", host.trim())) }
    }

    fn path(&self) -> String {
        format!("{PROJECTS}/{}", self.key)
    }

    /// Copies the entries and suites of `root` to `host`.
    pub fn send(&self, carrier: &Carrier, host: &str, root: Option<&Path>) -> Result<(), String> {
        let failed = |why: String| format!("{host}: the project could not be copied: {why}");
        let Some(root) = root else { return Ok(()) };
        // A folder with a user's own entries may have no suites.
        let parts = PARTS.iter().filter(|part| root.join(part).is_dir());
        let mut pack = Command::new("tar");
        pack.arg("-C").arg(root).args(["-chzf", "-"]).args(parts).stdout(Stdio::piped());
        let mut pack = pack.spawn().map_err(|error| failed(format!("tar: {error}")))?;
        let packed = pack.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let sent = install::finish(carrier.command(host, &self.receive()).stdin(packed));
        let status = pack.wait().map_err(|error| failed(error.to_string()))?;
        sent.map_err(|(_, why)| failed(why))?;
        if status.success() { Ok(()) } else { Err(failed(format!("tar failed ({status})"))) }
    }

    /// The script that takes the packed parts. A copy that was cut off changes nothing.
    fn receive(&self) -> String {
        let parts = PARTS.join(" ");
        format!(
            "set -eu; umask 077; root={}; new=\"$root/.new.$$\"; mkdir -p \"$new\"; \
             trap 'rm -rf \"$new\"' EXIT; tar -C \"$new\" -xzf -; \
             for part in {parts}; do rm -rf \"$root/$part\"; \
             if test -d \"$new/$part\"; then mv \"$new/$part\" \"$root/$part\"; fi; done",
            self.path()
        )
    }

    /// The script that becomes wirebench in this folder.
    #[must_use]
    pub fn start(&self, program: &Program) -> String {
        let path = self.path();
        format!("mkdir -p {path} && cd {path} && {}", program.start("host"))
    }

    /// Fetches the results in `folder`, a path in this folder, into `to`.
    pub fn fetch(
        &self,
        carrier: &Carrier,
        host: &str,
        folder: &str,
        to: &Path,
    ) -> Result<(), String> {
        let failed = |why: String| format!("{host}: the results could not be fetched: {why}");
        fs::create_dir_all(to).map_err(|error| failed(format!("{}: {error}", to.display())))?;
        let folder = argv::display(&[folder.to_owned()]);
        let script =
            format!("cd {} && if test -d {folder}; then tar -C {folder} -czf - .; fi", self.path());
        let mut unpack = Command::new("tar");
        unpack.arg("-C").arg(to).args(["--no-same-owner", "-xzf", "-"]).stdin(Stdio::piped());
        let mut packed = carrier.command(host, &script);
        let packed = packed.stdin(Stdio::null()).stderr(Stdio::piped()).output();
        let packed = packed.map_err(|error| failed(error.to_string()))?;
        if !packed.status.success() {
            return Err(failed(String::from_utf8_lossy(&packed.stderr).trim().to_owned()));
        }
        if packed.stdout.is_empty() {
            return Ok(());
        }
        let mut unpack = unpack.spawn().map_err(|error| failed(format!("tar: {error}")))?;
        let mut input = unpack.stdin.take();
        let written = input.as_mut().map(|it| std::io::Write::write_all(it, &packed.stdout));
        drop(input);
        let status = unpack.wait().map_err(|error| failed(error.to_string()))?;
        match (status.success(), written) {
            (true, Some(Ok(()))) => Ok(()),
            _ => Err(failed(format!("tar failed ({status})"))),
        }
    }

    /// Writes a file; `path` is one in this folder.
    pub fn write(
        &self,
        carrier: &Carrier,
        host: &str,
        path: &str,
        text: &str,
    ) -> Result<(), String> {
        let failed = |why: String| format!("{host}: {path} could not be written: {why}");
        let path = argv::display(&[path.to_owned()]);
        let script =
            format!("cd {} && mkdir -p \"$(dirname {path})\" && cat > {path}", self.path());
        let mut command = carrier.command(host, &script);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let mut input = child.stdin.take();
        // One that has ended says why.
        let _ = input.as_mut().map(|it| std::io::Write::write_all(it, text.as_bytes()));
        drop(input);
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }

    /// Removes results that were fetched.
    pub fn clear(&self, carrier: &Carrier, host: &str, folder: &str) -> Result<(), String> {
        let folder = argv::display(&[folder.to_owned()]);
        let script = format!("cd {} && rm -rf {folder}", self.path());
        let cleared = install::finish(carrier.command(host, &script).stdin(Stdio::null()));
        cleared.map_err(|(_, why)| format!("{host}: {folder} could not be removed: {why}"))
    }
}
