//! Files of programs: if one is shared by servers that have nothing else in common, and why one cannot be executed.
//! The kernel's error alone leaves that open: it says "no such file" of a script whose interpreter is missing, and
//! "permission denied" of a folder. Which program a server runs is not here.

use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
use std::{
    env,
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::parallel;

/// Programs that run what they read, by their names without a version.
const INTERPRETERS: &str = " ash bash beam.smp bun busybox dash deno dotnet guile java julia ksh lua luajit mono node \
                            nodejs perl php pypy python R racket ruby sbcl sh tclsh wasmtime zsh ";
/// Folders of the distribution. What its packages start may read files that no command names.
const SYSTEM: [&str; 5] = ["/bin", "/lib", "/nix/store", "/sbin", "/usr"];
/// The exception, where users install products.
const LOCAL: &str = "/usr/local";

/// True of interpreters and programs of the system, which may read programs that no command names.
#[must_use]
pub fn is_shared(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_end_matches(|it: char| it.is_ascii_digit() || ".-".contains(it));
    let is_of_system =
        SYSTEM.iter().any(|it| program.starts_with(it)) && !program.starts_with(LOCAL);
    INTERPRETERS.contains(&format!(" {name} ")) || is_of_system && !is_own(program)
}

pub(crate) fn is_own(program: &Path) -> bool {
    env::current_exe().is_ok_and(|own| own == program)
}

/// Whether `program` is on the search path, or exists when it has a slash.
#[must_use]
pub fn exists(program: &str) -> bool {
    find(program, Path::new("")).is_some_and(|path| may_be_executed(&path))
}

/// Whether `path` is a file that this process may execute.
pub fn may_be_executed(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// Where `program` is: on the search path, or below `folder` when it has a slash.
fn find(program: &str, folder: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(folder.join(program)).filter(|path| path.exists());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| may_be_executed(place))
}

/// Why the file of `program` cannot be executed from `folder`, and the next step. None if there is no
/// such file, or if nothing speaks against it.
#[must_use]
pub fn obstacle(program: &str, folder: &Path) -> Option<String> {
    let path = find(program, folder)?;
    let metadata = fs::metadata(&path).ok()?;
    if metadata.is_dir() {
        return Some(format!("`{program}` is a folder: write the path of a program in it"));
    }
    if access(&path, Access::EXEC_OK).is_err() {
        let is_marked = metadata.permissions().mode() & 0o111 != 0;
        let is_noexec =
            statvfs(&path).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::NOEXEC));
        return Some(match (is_marked, is_noexec) {
            (_, true) => format!(
                "`{program}` is on a file system that is mounted with noexec: copy it to another one"
            ),
            (true, false) => {
                format!("`{program}` may not be executed by this user: check its owner")
            }
            (false, false) => {
                format!(
                    "`{program}` is not executable: run `chmod +x {program}`, or name its interpreter"
                )
            }
        });
    }
    let mut head = Vec::new();
    File::open(&path).ok()?.take(256).read_to_end(&mut head).ok()?;
    by_first_line(program, &head)
}

/// The same from the first bytes of the file.
fn by_first_line(program: &str, head: &[u8]) -> Option<String> {
    if head.is_empty() {
        return Some(format!("`{program}` is an empty file: build it again"));
    }
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    if line.ends_with('\r') {
        return Some(format!(
            "`{program}` has Windows line ends (CRLF), so its interpreter is not found: run \
             `sed -i 's/\\r$//' {program}`"
        ));
    }
    let mut words = line.split_whitespace();
    let interpreter = words.next()?;
    let by_env = interpreter.ends_with("/env").then(|| {
        let is_option = |word: &&str| word.starts_with('-') || word.contains('=');
        words.find(|word| !is_option(word))
    });
    let missing = [Some(interpreter), by_env.flatten()].into_iter().flatten();
    missing.into_iter().find(|it| !exists(it)).map(|it| {
        format!("the interpreter `{it}` of `{program}` is missing: install it, or correct the first line")
    })
}

/// Why `program` could not be started in `folder`, and the next step.
pub(crate) fn start_error(program: &str, folder: &Path, error: io::Error) -> String {
    if let Some(reason) = obstacle(program, folder) {
        return reason;
    }
    match error.kind() {
        io::ErrorKind::NotFound if find(program, folder).is_some() => format!(
            "the dynamic loader of `{program}` is missing: build it on this system, or link it statically"
        ),
        io::ErrorKind::NotFound => format!("there is no program `{program}`"),
        _ => format!("`{program}` could not be started: {}", parallel::at_limit(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obstacle_of(text: &[u8], mode: u32) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("srv");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        obstacle("./srv", folder.path())
    }

    #[test]
    fn each_kind_of_file_that_cannot_be_executed_has_a_reason_and_a_next_step() {
        let rows: [(&[u8], u32, &str); 6] = [
            (b"#!/bin/sh\n", 0o644, "is not executable: run `chmod +x ./srv`"),
            (b"#!/bin/sh\r\necho\r\n", 0o755, "has Windows line ends (CRLF)"),
            (b"#!/usr/bin/env sh\r\n", 0o755, "has Windows line ends (CRLF)"),
            (b"#!/no/such/interpreter -x\n", 0o755, "the interpreter `/no/such/interpreter` of"),
            (
                b"#!/usr/bin/env -S A=1 no-such-program\n",
                0o755,
                "the interpreter `no-such-program`",
            ),
            (b"", 0o755, "is an empty file"),
        ];
        for (text, mode, expected) in rows {
            let found = obstacle_of(text, mode).unwrap();
            assert!(found.contains(expected), "{found}");
        }
        let folder = obstacle("./", &env::temp_dir()).unwrap();
        assert!(folder.contains("is a folder"), "{folder}");
    }

    #[test]
    fn a_program_that_can_be_executed_has_no_obstacle() {
        assert_eq!(obstacle_of(b"#!/bin/sh\n", 0o755), None);
        assert_eq!(obstacle_of(b"#!/usr/bin/env sh\n", 0o755), None);
        assert_eq!(obstacle("sh", Path::new("/")), None);
        assert_eq!(obstacle("./no-such-program", Path::new("/")), None);
    }

    #[test]
    fn an_error_that_the_file_does_not_explain_is_explained_by_the_limit_or_the_loader() {
        let error = |program, code| {
            start_error(program, Path::new("/"), io::Error::from_raw_os_error(code))
        };
        assert!(error("sh", 11).contains("raise `ulimit -u`"));
        assert!(error("sh", 2).contains("the dynamic loader of `sh` is missing"));
        assert_eq!(error("no-such-program", 2), "there is no program `no-such-program`");
    }

    #[test]
    fn interpreters_and_programs_of_the_system_are_shared_and_products_are_not() {
        for shared in ["/usr/sbin/nginx", "/home/a/.pyenv/bin/python3.12", "/opt/jdk-17/bin/java"] {
            assert!(is_shared(Path::new(shared)), "{shared}");
        }
        for product in ["/usr/local/bin/server", "/home/a/javac/server", "/opt/server"] {
            assert!(!is_shared(Path::new(product)), "{product}");
        }
    }
}
