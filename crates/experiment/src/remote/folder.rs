//! The folder on another host in which a verb is carried out: a copy of the entries and suites, what is built of
//! them, and results until they are fetched.

use std::{
    fs,
    io::{self, Read as _, Seek as _},
    path::Path,
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
};
use wirebench_schema::argv;
use wirebench_server::{command::file_of, digest};

use super::{
    Carrier, Program,
    install::{self, COPY},
};
use crate::journal::JOURNAL_FILE;

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
    pub fn send(
        &self,
        carrier: &Carrier,
        host: &str,
        root: Option<&Path>,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let failed = |why: String| format!("{host}: the project could not be copied: {why}");
        let Some(root) = root else { return Ok(()) };
        // A folder with a user's own entries may have no suites.
        let parts = PARTS.iter().filter(|part| root.join(part).is_dir());
        let mut pack = Command::new("tar");
        pack.arg("-C").arg(root).args(["-chzf", "-"]).args(parts).stdout(Stdio::piped());
        let mut pack = pack.spawn().map_err(|error| failed(format!("tar: {error}")))?;
        let packed = pack.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let sent = carrier.run(host, &self.receive(), (packed, Stdio::null()), (COPY, stop));
        let status = pack.wait().map_err(|error| failed(error.to_string()))?;
        sent.map_err(|(_, why)| failed(why))?;
        if status.success() { Ok(()) } else { Err(failed(format!("tar failed ({status})"))) }
    }

    /// The script that takes the packed parts. A copy that was cut off changes nothing.
    fn receive(&self) -> String {
        let parts = PARTS.join(" ");
        format!(
            "set -eu; umask 077; root={}; new=\"$root/.new.$$\"; mkdir -p \"$new\"; {}; \
             trap 'rm -rf \"$new\"' EXIT; tar -C \"$new\" -xzf -; \
             for part in {parts}; do rm -rf \"$root/$part\"; \
             if test -d \"$new/$part\"; then mv \"$new/$part\" \"$root/$part\"; fi; done",
            self.path(),
            install::refuse_foreign("\"$root\"")
        )
    }

    /// The script that becomes wirebench in this folder.
    #[must_use]
    pub fn start(&self, program: &Program) -> String {
        let (path, own) = (self.path(), install::refuse_foreign("."));
        format!("(umask 077; mkdir -p {path}) && cd {path} && {own} && {}", program.start("host"))
    }

    /// The script that packs the results in `folder`, a path in this folder.
    fn pack(&self, folder: &str) -> String {
        let folder = argv::display(&[folder.to_owned()]);
        let some = format!("tar -C {folder} -czf - .");
        format!(
            "cd {} && if test -d {folder}; then {some}; else tar -czf - -T /dev/null; fi",
            self.path()
        )
    }

    /// Fetches the results in `folder`, a path in this folder, into `to`. Without an error all journals are there.
    pub fn fetch(
        &self,
        carrier: &Carrier,
        host: &str,
        folder: &str,
        to: &Path,
    ) -> Result<(), String> {
        fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
        // The results of an interrupted verb are fetched, too.
        let stop = AtomicBool::new(false);
        let mut unpack = Command::new("tar");
        unpack.arg("-C").arg(to).args(["--no-same-owner", "-xzf", "-"]).stdin(Stdio::piped());
        let mut unpack = unpack.spawn().map_err(|error| format!("tar: {error}"))?;
        let input = unpack.stdin.take().map_or_else(Stdio::null, Stdio::from);
        let sent = carrier.run(host, &self.pack(folder), (Stdio::null(), input), (COPY, &stop));
        let status = unpack.wait().map_err(|error| error.to_string())?;
        sent.map_err(|(_, why)| why)?;
        if !status.success() {
            return Err(format!("tar failed ({status})"));
        }
        let folder = argv::display(&[folder.to_owned()]);
        let count = "if test -f \"$it\"; then wc -c \"$it\"; fi";
        let script = format!(
            "cd {} && if cd {folder} 2> /dev/null; then for it in */{JOURNAL_FILE}; do {count}; done; fi",
            self.path()
        );
        let io_error = |error: io::Error| error.to_string();
        let mut printed = file_of("").map_err(io_error)?;
        let output = printed.try_clone().map_err(io_error)?.into();
        let asked = carrier.run(host, &script, (Stdio::null(), output), (COPY, &stop));
        asked.map_err(|(_, why)| why)?;
        let mut sizes = String::new();
        printed.rewind().and_then(|()| printed.read_to_string(&mut sizes)).map_err(io_error)?;
        for (size, name) in sizes.lines().filter_map(|line| line.trim().split_once(' ')) {
            let here = fs::metadata(to.join(name)).map_or(0, |it| it.len());
            if name.ends_with(JOURNAL_FILE) && size != here.to_string() {
                return Err(format!("{here} of the {size} bytes of {name} arrived"));
            }
        }
        Ok(())
    }

    /// Where results are that are still there, and the command that fetches them.
    #[must_use]
    pub fn remains(&self, carrier: &Carrier, host: &str, folder: &str, to: &Path) -> String {
        let unpack = argv::display(
            &["tar", "-C", &to.display().to_string(), "-xzf", "-"].map(str::to_owned),
        );
        let fetch = carrier.shown(host, &self.pack(folder));
        format!(
            "Results are in {}/{folder} on {host}. Fetch them with: {fetch} | {unpack}",
            self.path()
        )
    }

    /// Writes a file; `path` is one in this folder.
    pub fn write(
        &self,
        carrier: &Carrier,
        host: &str,
        path: &str,
        text: &str,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let failed = |why: String| format!("{host}: {path} could not be written: {why}");
        let quoted = argv::display(&[path.to_owned()]);
        let script =
            format!("cd {} && mkdir -p \"$(dirname {quoted})\" && cat > {quoted}", self.path());
        let input = file_of(text).map_err(|error| failed(error.to_string()))?;
        let written = carrier.run(host, &script, (input.into(), Stdio::null()), (COPY, stop));
        written.map_err(|(_, why)| failed(why))
    }

    pub fn clear(&self, carrier: &Carrier, host: &str, folder: &str) -> Result<(), String> {
        let quoted = argv::display(&[folder.to_owned()]);
        let script = format!("cd {} && rm -rf {quoted}", self.path());
        let (nothing, stop) = ((Stdio::null(), Stdio::null()), AtomicBool::new(false));
        let cleared = carrier.run(host, &script, nothing, (COPY, &stop));
        cleared.map_err(|(_, why)| format!("{host}: {folder} could not be removed: {why}"))
    }
}
