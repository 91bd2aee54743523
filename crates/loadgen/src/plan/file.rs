//! Reads a file that the configuration names, up to a bound: a regular file, a pipe such as that of a
//! process substitution, a device, or standard input. Does not look at the content.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_setfl},
};
use std::{
    fs::{self, File, OpenOptions},
    hash::Hasher,
    io::{self, Read},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
};
use twox_hash::XxHash64;

/// Limit of the wait for the first byte of a pipe: without a writer it would never come.
const PIPE_TIMEOUT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// The content of the file, or the reason why it is not read. `-` is standard input.
pub(crate) fn read(path: &str, limit_bytes: u64) -> Result<Vec<u8>, String> {
    read_within(path, limit_bytes, PIPE_TIMEOUT)
}

fn read_within(path: &str, limit_bytes: u64, wait: Timespec) -> Result<Vec<u8>, String> {
    let too_large = || format!("it is larger than {} MiB", limit_bytes >> 20);
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = if path == "-" {
        Box::new(io::stdin().lock())
    } else {
        // Asked before it is opened: to open a pipe is to wait for its writer.
        let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
        if metadata.is_file() && metadata.len() > limit_bytes {
            return Err(too_large());
        }
        let is_pipe = metadata.file_type().is_fifo();
        Box::new(if is_pipe { open_pipe(path, wait)? } else { open(path)? })
    };
    // Files of the kernel's say that they are empty, so that the length is known only afterwards.
    let read = source.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > limit_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}

fn open(path: &str) -> Result<File, String> {
    File::open(path).map_err(|error| error.to_string())
}

/// Opens a pipe that a program writes to.
fn open_pipe(path: &str, wait: Timespec) -> Result<File, String> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let pipe = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let pipe = pipe.map_err(|error| error.to_string())?;
    let ready = poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&wait));
    if ready.map_err(|error| error.to_string())? == 0 {
        return Err(format!("no program wrote to this pipe within {} s", wait.tv_sec));
    }
    fcntl_setfl(&pipe, OFlags::empty()).map_err(|error| error.to_string())?;
    Ok(pipe)
}

/// The content of all files that requests send, in their order.
#[derive(Default)]
pub(super) struct FilesDigest(Option<XxHash64>);

impl FilesDigest {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let digest = self.0.get_or_insert_default();
        digest.write_usize(bytes.len());
        digest.write(bytes);
    }

    pub(super) fn hexadecimal(&self) -> Option<String> {
        self.0.as_ref().map(|it| format!("{:016x}", it.finish()))
    }
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
    fn a_pipe_is_read_to_its_end_and_one_without_a_writer_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        let path = pipe.to_str().unwrap();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let without = read_within(path, 10, at_once).unwrap_err();
        assert_eq!(without, "no program wrote to this pipe within 0 s");

        let long = Timespec { tv_sec: 600, tv_nsec: 0 };
        let content = std::thread::scope(|scope| {
            scope.spawn(|| fs::write(path, vec![b'a'; 200_000]).unwrap());
            read_within(path, 1 << 20, long)
        });
        assert_eq!(content.map(|bytes| bytes.len()), Ok(200_000));
    }

    #[test]
    fn devices_and_folders_get_their_reason_and_an_endless_one_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let reasons = [folder.path().to_str().unwrap(), "/dev/zero", "no/such/file"];
        expect![[r#"
            Is a directory (os error 21)
            it is larger than 0 MiB
            No such file or directory (os error 2)"#]]
        .assert_eq(&reasons.map(|path| read(path, 10).unwrap_err()).join("\n"));
        assert_eq!(read("/dev/null", 10), Ok(Vec::new()));
    }
}
