//! Digests of programs and texts, by which a later run finds that they are the same.

use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::File,
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::{Mutex, PoisonError},
};

/// Hexadecimal digits of a fingerprint: enough that no two programs of a user's meet.
const DIGITS: usize = 16;
/// The largest file that is read. A subject that names a larger one has no fingerprint, rather than
/// a start that takes minutes.
const FILE_BYTES: u64 = 1 << 30;

/// Device, inode, size and the time of the last change.
type FileState = (u64, u64, u64, i64, i64);

/// A digest of wirebench's own program.
#[must_use]
pub fn own() -> Option<String> {
    // The file of the program that reads it, even after another one was put in its place.
    of_file(Path::new("/proc/self/exe"))
}

/// The first digits of what `sha256sum` prints for a file, as long as a fingerprint.
#[must_use]
pub fn of_file(path: &Path) -> Option<String> {
    content(path).map(hexadecimal)
}

/// A digest of a text, as long as a fingerprint.
#[must_use]
pub fn of_text(text: &str) -> String {
    hexadecimal(Sha256::new().chain_update(text))
}

/// A hash as it is written, cut to as many digits as are needed.
#[must_use]
pub fn hexadecimal(hash: Sha256) -> String {
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    digits[..DIGITS].to_owned()
}

/// Adds the content of a file; nothing where it cannot be read or is too large.
pub fn add_content(hash: &mut Sha256, path: &Path) -> Option<()> {
    hash.update(content(path)?.finalize());
    Some(())
}

/// The hash of a file, which is read once as long as its place, its size and the time of its last change are the same.
fn content(path: &Path) -> Option<Sha256> {
    static KNOWN: Mutex<BTreeMap<FileState, Sha256>> = Mutex::new(BTreeMap::new());
    let file = File::open(path).ok()?;
    let state = file.metadata().ok()?;
    let state = (state.dev(), state.ino(), state.size(), state.ctime(), state.ctime_nsec());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hash) = known().get(&state) {
        return Some(hash.clone());
    }
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 1 << 18];
    let mut bytes = 0;
    // One byte more than is allowed shows that the file is too large, also when it still grows.
    let mut content = file.take(FILE_BYTES + 1);
    while let count @ 1.. = content.read(&mut chunk).ok()? {
        bytes += count as u64;
        digest.update(&chunk[..count]);
    }
    (bytes <= FILE_BYTES).then(|| known().entry(state).or_insert(digest).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_its_length_and_this_program_has_one() {
        assert_eq!(of_text("a").len(), DIGITS);
        assert_eq!(of_text("a"), of_text("a"));
        assert_ne!(of_text("a"), of_text("b"));
        assert_eq!(own().map(|digits| digits.len()), Some(DIGITS));
        // printf '' | sha256sum
        assert_eq!(of_file(Path::new("/dev/null")).as_deref(), Some("e3b0c44298fc1c14"));
    }
}
