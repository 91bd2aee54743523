//! Reads a regular file that the configuration names, up to a bound. A pipe would block the load until
//! a writer appears, and a device may never end. Does not look at the content.

use std::{
    fs::{self, File},
    io::Read,
};

/// The content of the file, or the reason why it is not read.
pub(crate) fn read(path: &str, limit_bytes: u64) -> Result<Vec<u8>, String> {
    // Asked before it is opened: to open a pipe is to wait for its writer.
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let too_large = || format!("it is larger than {} MiB", limit_bytes >> 20);
    if metadata.len() > limit_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // Files of the kernel's say that they are empty, so that the length is known only afterwards.
    File::open(path)
        .and_then(|file| file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > limit_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_regular_file_is_read_up_to_the_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"abc").unwrap();
        assert_eq!(read(path.to_str().unwrap(), 3).unwrap(), b"abc");
        expect!["it is larger than 0 MiB"].assert_eq(&read(path.to_str().unwrap(), 2).unwrap_err());
    }

    #[test]
    fn other_than_regular_files_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        for path in [pipe.to_str().unwrap(), folder.path().to_str().unwrap(), "/dev/zero"] {
            assert_eq!(read(path, 10).unwrap_err(), "it is not a regular file", "{path}");
        }
        assert_eq!(read("no/such/file", 10).unwrap_err(), "No such file or directory (os error 2)");
    }
}
