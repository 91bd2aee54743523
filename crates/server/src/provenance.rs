//! Where the programs of a server come from: from a tree of the user's, from the system, or from elsewhere.

use procfs::process::Process;
use rustix::{
    process::Pid,
    time::{ClockId, clock_gettime},
};
use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    executable::{is_own, is_shared},
    mapped::files as mapped_files,
    tree,
};

/// The first program or script of `processes` that is neither in one of `folders` nor shared, where the process has no
/// argument from them either; or a library from elsewhere that a build has just written.
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
        let only = files.iter().find(|_| !files.iter().any(is_in)).cloned();
        only.or_else(|| mapped_files(&process)?.into_iter().find(|it| !is_in(it) && is_new(it)))
    })
}

/// True of a file that was written since this process began, as by a build.
fn is_new(file: &Path) -> bool {
    let began = Process::myself().and_then(|it| it.stat()).map(|stat| {
        let now = clock_gettime(ClockId::Boottime);
        let now_s = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9;
        let age_s = now_s - stat.starttime as f64 / procfs::ticks_per_second() as f64;
        SystemTime::now() - Duration::from_secs_f64(age_s.max(0.0))
    });
    let written = fs::metadata(file).map(|it| {
        let since_s = Duration::from_secs(it.ctime().unsigned_abs());
        UNIX_EPOCH + since_s + Duration::from_nanos(it.ctime_nsec().unsigned_abs())
    });
    began.ok().zip(written.ok()).is_some_and(|(began, written)| written > began)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

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
        assert_eq!(found(&product, &script), Some(product.clone()), "it was written just now");
        assert!(!is_new(shell));
    }
}
