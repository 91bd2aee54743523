//! Keeps idle CPUs from sleeping, with the kernel's limit on the time that a CPU may take to wake up.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
};

/// Its writers limit that time, in microseconds, for as long as they have it open.
pub const DEVICE: &str = "/dev/cpu_dma_latency";

/// All CPUs of this host stay awake as long as this exists, at most as long as the process.
#[derive(Debug)]
pub struct AwakeCpus {
    _device: File,
}

impl AwakeCpus {
    /// From now on. An error is a sentence.
    pub fn hold() -> Result<Self, String> {
        Self::by(Path::new(DEVICE))
    }

    fn by(device: &Path) -> Result<Self, String> {
        let open = OpenOptions::new().write(true).open(device);
        let hold = open.and_then(|mut file| file.write_all(&0_i32.to_ne_bytes()).map(|()| file));
        hold.map(|file| Self { _device: file })
            .map_err(|error| format!("cannot write to {} ({error})", device.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_gets_the_limit_of_zero_and_without_it_there_is_a_reason() {
        let path = std::env::temp_dir().join(format!("wirebench-awake-{}", std::process::id()));
        let reason = AwakeCpus::by(&path).unwrap_err();
        let expected = format!("cannot write to {} (No such file or directory", path.display());
        assert!(reason.starts_with(&expected), "{reason}");
        std::fs::write(&path, [1; 4]).unwrap();
        let awake = AwakeCpus::by(&path);
        assert_eq!(std::fs::read(&path).unwrap(), [0; 4]);
        std::fs::remove_file(&path).unwrap();
        assert!(awake.is_ok());
    }
}
