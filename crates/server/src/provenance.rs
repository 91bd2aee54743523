//! Where the programs of a server come from: from a tree of the user's, from the system, or from elsewhere.

use rustix::process::Pid;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::tree;

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

fn is_own(program: &Path) -> bool {
    env::current_exe().is_ok_and(|own| own == program)
}

/// The first program or script of `processes` that is neither in one of `folders` nor shared, where the process has no
/// argument from them either.
pub(crate) fn outside(processes: &[Pid], folders: &[&Path]) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = folders.iter().flat_map(|it| it.canonicalize()).collect();
    processes.iter().filter_map(|pid| tree::process(*pid)).find_map(|process| {
        let place = process.cwd().ok()?;
        let words = process.cmdline().ok()?.into_iter().skip(1);
        let named = words.flat_map(|word| place.join(word).canonicalize());
        let named = named.filter(|it| fs::metadata(it).is_ok_and(|it| it.is_file()));
        let program = process.exe().ok().filter(|it| !is_own(it))?;
        let program = (!is_shared(&program)).then_some(program);
        let files: Vec<PathBuf> = program.into_iter().chain(named).collect();
        let is_in = |path: &PathBuf| folders.iter().any(|it| path.starts_with(it));
        files.iter().find(|_| !files.iter().any(is_in)).cloned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn interpreters_and_programs_of_the_system_are_shared_and_products_are_not() {
        for shared in ["/usr/sbin/nginx", "/home/a/.pyenv/bin/python3.12", "/opt/jdk-17/bin/java"] {
            assert!(is_shared(Path::new(shared)), "{shared}");
        }
        for product in ["/usr/local/bin/server", "/home/a/javac/server", "/opt/server"] {
            assert!(!is_shared(Path::new(product)), "{product}");
        }
    }

    #[test]
    fn programs_and_scripts_from_elsewhere_are_named_unless_an_argument_is_of_the_tree() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [own, product] = [&folder, &other].map(|it| it.path().join("product"));
        for path in [&own, &product] {
            fs::copy("/bin/cat", path).unwrap();
        }
        let [script, elsewhere] = [&folder, &other].map(|it| it.path().join("script"));
        for path in [&script, &elsewhere] {
            fs::write(path, "read line").unwrap();
        }
        let found = |program: &Path, word: &Path| {
            let mut command = Command::new(program);
            // Both wait for their input.
            command.arg(word).arg("-").stdin(Stdio::piped()).stdout(Stdio::null());
            let mut child = command.spawn().unwrap();
            let pid = Pid::from_child(&child);
            // The kernel sets the words up after the program has begun to run.
            while tree::process(pid).unwrap().cmdline().is_ok_and(|it| it.len() < 2) {}
            let found = outside(&[pid], &[folder.path()]);
            child.kill().unwrap();
            child.wait().unwrap();
            found
        };
        let (shell, word) = (Path::new("/bin/sh"), Path::new("-"));
        assert_eq!(found(&own, word), None);
        assert_eq!(found(&product, word), Some(product.clone()));
        assert_eq!(found(shell, &script), None);
        assert_eq!(found(shell, &elsewhere), Some(elsewhere.clone()));
        assert_eq!(found(&product, &script), None);
    }
}
