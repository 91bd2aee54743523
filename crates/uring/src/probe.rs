//! Whether io_uring can be used here, and if not, why and what to do about it. It opens no socket.

use std::fs;
use std::io;

use rustix::io::Errno;

use crate::{Exchange, Shape};

/// Whether this kernel lets us set up a ring with everything that this crate is made of. It takes
/// about as long as it takes to make a thread.
///
/// # Errors
///
/// Returns a sentence without its full stop, which states the likely cause and what switches
/// io_uring on.
pub fn probe() -> Result<(), String> {
    let shape = Shape { buffers: 1, buffer_bytes: 64 };
    Exchange::new(8, 16, shape).map(drop).map_err(|error| {
        explain(&error, read_trimmed("/proc/sys/kernel/io_uring_disabled").as_deref(), &release())
    })
}

fn release() -> String {
    read_trimmed("/proc/sys/kernel/osrelease").unwrap_or_else(|| "of unknown version".to_owned())
}

fn read_trimmed(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The cause behind an error of setting up, given the value of `kernel.io_uring_disabled` and the
/// kernel's release.
fn explain(error: &io::Error, disabled: Option<&str>, release: &str) -> String {
    match (Errno::from_io_error(error), disabled) {
        (Some(Errno::PERM | Errno::ACCESS), Some("2")) => {
            "io_uring is switched off by kernel.io_uring_disabled = 2; \
             `sysctl -w kernel.io_uring_disabled=0` as root switches it on"
                .to_owned()
        }
        (Some(Errno::PERM | Errno::ACCESS), Some("1")) => {
            "io_uring is restricted by kernel.io_uring_disabled = 1; run with CAP_SYS_ADMIN, join the group in \
             kernel.io_uring_group, or use `sysctl -w kernel.io_uring_disabled=0` as root"
                .to_owned()
        }
        (Some(Errno::PERM | Errno::ACCESS), _) => {
            "io_uring is forbidden by a seccomp filter, as is usual in containers; allow the io_uring system calls \
             (with Docker: --security-opt seccomp=unconfined)"
                .to_owned()
        }
        (Some(Errno::NOSYS), _) => format!(
            "io_uring is missing: Linux {release} is built without CONFIG_IO_URING, or a seccomp filter blocks \
             its system calls; allow them, or use another kernel"
        ),
        (Some(Errno::INVAL), _) => format!(
            "wirebench needs the io_uring of Linux 6.1 or newer, and this is Linux {release}; use a newer kernel"
        ),
        (Some(Errno::NOMEM), _) => {
            "there is not enough memory for a ring; raise the limit of locked memory (`ulimit -l`) or of the control \
             group"
                .to_owned()
        }
        _ => format!("io_uring cannot be set up ({error}); check the limits of this process"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn each_cause_is_named_with_its_remedy() {
        let rows = [
            (Errno::PERM, Some("2")),
            (Errno::PERM, Some("1")),
            (Errno::PERM, Some("0")),
            (Errno::PERM, None),
            (Errno::NOSYS, None),
            (Errno::INVAL, Some("0")),
            (Errno::NOMEM, Some("0")),
        ];
        let sentences = rows.map(|(error, disabled)| {
            format!("{disabled:?}: {}\n", explain(&error.into(), disabled, "5.4.0"))
        });
        let other = io::Error::from(Errno::MFILE);
        assert_eq!(
            explain(&other, Some("0"), "5.4.0"),
            format!("io_uring cannot be set up ({other}); check the limits of this process")
        );
        expect_file!["golden/probe.txt"].assert_eq(&sentences.concat());
    }
}
