//! Which files the processes of a server run, whatever their command names: programs, interpreters and libraries.

use procfs::process::{MMPermissions, MMapPath, Process};
use rustix::process::Pid;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::{
    digest::{of_file, of_text},
    executable::is_shared,
    tree,
};

/// Mapped files without a content of their own: memory, such as code that was compiled at run time, and devices.
const VOLATILE: [&str; 3] = ["/memfd:", "/dev/", "/anon_hugepage"];

/// A digest of the contents of all files that the processes have mapped, in any order. A file that is shared and not
/// executed is data. None if a file cannot be read, such as one that was replaced, and if a process is an interpreter
/// or a program of the system: it may have read programs from anywhere.
#[must_use]
pub fn digest(pids: &[Pid]) -> Option<String> {
    let mut digests = BTreeSet::new();
    for process in pids.iter().filter_map(|pid| tree::process(*pid)) {
        if is_shared(&process.exe().ok()?) {
            return None;
        }
        // As the process sees them, which may be in a container.
        let root = Path::new("/proc").join(process.pid.to_string()).join("root");
        for path in files(&process)? {
            digests.insert(of_file(&root.join(path.strip_prefix("/").ok()?))?);
        }
    }
    let all: Vec<String> = digests.into_iter().collect();
    (!all.is_empty()).then(|| of_text(&all.join(" ")))
}

/// The files with a content that a process has mapped and runs.
pub(crate) fn files(process: &Process) -> Option<BTreeSet<PathBuf>> {
    let mut paths = BTreeSet::new();
    for map in process.maps().ok()? {
        let is_run = map.perms.intersects(MMPermissions::PRIVATE | MMPermissions::EXECUTE);
        match map.pathname {
            MMapPath::Path(path) if is_run => _ = paths.insert(path),
            _ => {}
        }
    }
    paths.retain(|path| !VOLATILE.iter().any(|it| path.to_string_lossy().starts_with(it)));
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs,
        io::{Read, Write},
        process::{Command, Stdio},
    };

    /// The digest of a copy of `cat` that runs, of which another one may be in the place by then.
    fn of_cat(more: &[u8], is_replaced: bool) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("server");
        fs::copy("/bin/cat", &program).unwrap();
        let content = [fs::read(&program).unwrap(), more.to_vec()].concat();
        fs::write(&program, content).unwrap();
        let mut command = Command::new(&program);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // What comes back shows that all its libraries are loaded.
        child.stdin.as_mut().unwrap().write_all(b"?").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        if is_replaced {
            fs::remove_file(&program).unwrap();
        }
        let digest = digest(&[Pid::from_child(&child)]);
        child.kill().unwrap();
        child.wait().unwrap();
        digest
    }

    #[test]
    fn the_content_of_what_runs_decides_and_a_replaced_file_is_unknown() {
        let one = of_cat(b"", false);
        assert!(one.is_some());
        assert_eq!(of_cat(b"", false), one);
        assert_ne!(of_cat(b"more", false), one);
        assert_eq!(of_cat(b"", true), None);
    }
}
