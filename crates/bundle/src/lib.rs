//! The entries and suites that are part of the program, for use outside a checkout: unpacks them once per version.
//!
//! It does not decide where they go, and prints nothing.
#![forbid(unsafe_code)]

use flate2::read::GzDecoder;
use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

/// A tar archive, compressed by gzip, with `entries/` and `suites/`.
static ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/project.tar.gz"));
/// How long the folders of other versions stay.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// It differs whenever the contents differ.
pub const DIGEST: &str = env!("WIREBENCH_BUNDLE_DIGEST");

/// The archive, for a package of this crate.
#[must_use]
pub fn archive() -> &'static [u8] {
    ARCHIVE
}

/// The entries and suites on disk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Provided {
    /// The folder with `entries/` and `suites/`.
    pub folder: PathBuf,
    pub work: Work,
}

/// What had to be done to provide them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Work {
    /// Nothing: they were complete.
    Nothing,
    Unpacked,
    /// They were damaged or changed. They were unpacked anew, and the old folder has this name now.
    Replaced(PathBuf),
}

type Entries<'a> = tar::Archive<GzDecoder<&'a [u8]>>;

fn open() -> Entries<'static> {
    let mut archive = tar::Archive::new(GzDecoder::new(ARCHIVE));
    // Toolchains compare the times of sources with those of outputs.
    archive.set_preserve_mtime(false);
    archive
}

/// The text of one file, such as `suites/quick.toml`.
#[must_use]
pub fn text(name: &str) -> Option<String> {
    for file in open().entries().ok()? {
        let mut file = file.ok()?;
        if file.path().is_ok_and(|path| path == Path::new(name)) {
            let mut text = String::new();
            return file.read_to_string(&mut text).ok().map(|_| text);
        }
    }
    None
}

/// Makes sure that the folder of this version below `parent` is complete. It appears as a whole or not at all, and
/// whatever an interrupted process left is replaced.
pub fn provide(parent: &Path, version: &str) -> io::Result<Provided> {
    let folder = parent.join(format!("{version}-{DIGEST}"));
    let done = |work| Ok(Provided { folder: folder.clone(), work });
    if is_complete(&folder) {
        return done(Work::Nothing);
    }
    fs::create_dir_all(parent)?;
    // Two processes at once unpack one after the other. The lock ends with the file handle.
    let lock = File::create(parent.join("lock"))?;
    lock.lock()?;
    if is_complete(&folder) {
        return done(Work::Nothing);
    }
    let new = folder.with_file_name(format!("{version}-{DIGEST}.new"));
    if new.symlink_metadata().is_ok() {
        fs::remove_dir_all(&new)?;
    }
    open().unpack(&new)?;
    let mut work = Work::Unpacked;
    if folder.symlink_metadata().is_ok() {
        let old = free_name(&folder);
        fs::rename(&folder, &old)?;
        work = Work::Replaced(old);
    }
    fs::rename(&new, &folder)?;
    remove_old(parent, &folder);
    done(work)
}

/// Removes what other versions unpacked long ago. One that is still in use unpacks its folder again. What a user
/// changed was set aside under another name, and stays.
fn remove_old(parent: &Path, own: &Path) {
    let Ok(found) = fs::read_dir(parent) else { return };
    for folder in found.flatten().map(|it| it.path()).filter(|it| it != own) {
        let age = fs::metadata(&folder).and_then(|it| it.modified()).map(|it| it.elapsed());
        let is_old = matches!(age, Ok(Ok(age)) if age > KEPT);
        // Failure leaves a folder too many.
        if is_old && is_unpacked(&folder) {
            _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Whether the name of `folder` ends in a digest, as those of unpacked versions do.
fn is_unpacked(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let digest = name.rsplit_once('-').map_or("", |(_, digest)| digest);
    digest.len() == DIGEST.len() && digest.chars().all(|c| c.is_ascii_hexdigit())
}

/// Whether every file has the content that it has in the archive.
fn is_complete(folder: &Path) -> bool {
    let check = || -> io::Result<bool> {
        for file in open().entries()? {
            let mut file = file?;
            let found = fs::read(folder.join(file.path()?))?;
            let mut expected = Vec::with_capacity(found.len());
            file.read_to_end(&mut expected)?;
            if found != expected {
                return Ok(false);
            }
        }
        Ok(true)
    };
    folder.is_dir() && check().unwrap_or(false)
}

/// A name next to `folder` that no file has.
fn free_name(folder: &Path) -> PathBuf {
    let mut number = 1;
    loop {
        let mut name = folder.as_os_str().to_owned();
        name.push(format!(".old-{number}"));
        let name = PathBuf::from(name);
        if name.symlink_metadata().is_err() {
            return name;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    fn provided(parent: &Path) -> Provided {
        provide(parent, "1.2.3").unwrap()
    }

    #[test]
    fn the_archive_has_what_the_tree_has_with_links_as_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut count = 0;
        for file in open().entries().unwrap() {
            let mut file = file.unwrap();
            assert!(file.header().entry_type().is_file());
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            let path = file.path().unwrap().into_owned();
            assert_eq!(content, fs::read(root.join(&path)).unwrap(), "{}", path.display());
            count += 1;
        }
        assert!(count > 250, "{count}");
        for name in ["suites/quick.toml", "entries/rust/fiber/runtime/Cargo.toml"] {
            assert!(text(name).is_some(), "{name}");
        }
        assert_eq!(text("suites/no.toml"), None);
    }

    #[test]
    fn it_is_unpacked_once_and_what_an_interrupted_process_left_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().join("data/embedded");
        let leftover = parent.join(format!("1.2.3-{DIGEST}.new"));
        fs::create_dir_all(leftover.join("entries")).unwrap();
        fs::write(leftover.join("entries/half"), "x").unwrap();
        let first = provided(&parent);
        assert_eq!(first.work, Work::Unpacked);
        assert!(!leftover.exists() && !first.folder.join("entries/half").exists());
        assert_eq!(provided(&parent).work, Work::Nothing);
    }

    #[test]
    fn folders_of_other_versions_are_removed_after_a_month() {
        let parent = tempfile::tempdir().unwrap();
        let names =
            ["1.0.0-0123456789ab", "1.1.0-0123456789ab", "1.0.0-0123456789ab.old-1", "mine"];
        for name in names {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        for name in names.iter().filter(|name| !name.starts_with("1.1.0")) {
            let time = std::time::SystemTime::now() - KEPT - Duration::from_secs(60);
            File::open(parent.path().join(name)).unwrap().set_modified(time).unwrap();
        }
        provided(parent.path());
        let left: Vec<&str> =
            names.into_iter().filter(|name| parent.path().join(name).exists()).collect();
        assert_eq!(left, ["1.1.0-0123456789ab", "1.0.0-0123456789ab.old-1", "mine"]);
    }

    #[test]
    fn a_damaged_folder_is_set_aside_and_unpacked_anew() {
        let parent = tempfile::tempdir().unwrap();
        let first = provided(parent.path());
        let file = first.folder.join("suites/quick.toml");
        for damage in 1..=2 {
            fs::write(&file, "mine").unwrap();
            let Work::Replaced(old) = provided(parent.path()).work else { panic!("{damage}") };
            assert!(old.display().to_string().ends_with(&format!(".old-{damage}")));
            assert_eq!(fs::read_to_string(old.join("suites/quick.toml")).unwrap(), "mine");
            assert_eq!(fs::read_to_string(&file).ok(), text("suites/quick.toml"));
        }
        fs::remove_file(&file).unwrap();
        assert!(matches!(provided(parent.path()).work, Work::Replaced(_)));
    }
}
