//! The Unix socket of a server, in a folder that only this user may enter.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// The folder and the name of the socket in it. Dropping it removes both.
#[derive(Debug)]
pub(super) struct Socket {
    folder: PathBuf,
    path: String,
}

impl Socket {
    /// A new folder below that of temporary files; the server makes the socket.
    pub(super) fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("wirebench-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // What an ended process of the same number has left behind.
        let _ = fs::remove_dir_all(&folder);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let path = folder.join("server.socket").display().to_string();
        Ok(Self { folder, path })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Whether a server accepts connections on it.
    pub(super) fn accepts(&self) -> bool {
        std::os::unix::net::UnixStream::connect(Path::new(&self.path)).is_ok()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // What stays is an empty folder of temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
