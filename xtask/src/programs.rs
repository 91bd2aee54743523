//! Programs that chores need: whether they are installed, and the command that installs Debian's load generators.

use rustix::fs::{Access, access};
use std::{path::Path, process::Command};

/// The load generators that Debian has, for tests and benches.
const GENERATORS: [&str; 3] = ["wrk", "hey", "nghttp2-client"];

/// Whether a program of this name on the search path may be executed.
pub(crate) fn exists(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.any(|place| place.is_file() && access(&place, Access::EXEC_OK).is_ok())
}

/// The command that installs the load generators of Debian, and further packages.
pub(crate) fn apt_get<'a>(further: &[&'a str]) -> Vec<&'a str> {
    let root = rustix::process::geteuid().is_root();
    let become_root: &[&str] = if root { &[] } else { &["sudo"] };
    let install = ["apt-get", "install", "--yes", "--no-install-recommends"];
    [become_root, &install, &GENERATORS, further].concat()
}

/// Whether `perf` may count system calls and sample stacks.
pub(crate) fn can_trace() -> bool {
    let calls = ["stat", "-e", "raw_syscalls:sys_enter"];
    let stacks = ["record", "-q", "-B", "-N", "-g", "-e", "cpu-clock"];
    tempfile::tempdir().is_ok_and(|folder| {
        [&calls[..], &stacks].iter().all(|words| may_record(folder.path(), words))
    })
}

/// Whether this command of `perf` works for a program that ends at once; its result is in `folder`.
fn may_record(folder: &Path, words: &[&str]) -> bool {
    let mut perf = Command::new("perf");
    perf.args(words).args(["-o", "result", "true"]).current_dir(folder);
    perf.output().is_ok_and(|it| it.status.success())
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_a_program_that_may_be_executed_exists() {
        assert!(super::exists("sh"));
        assert!(!super::exists("no-such-program"));
    }
}
