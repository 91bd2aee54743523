//! The limits that the kernel sets on this process and that its children inherit.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Soft and hard limit of open files; no limit is `u64::MAX`.
#[must_use]
pub fn open_files() -> (u64, u64) {
    let limit = getrlimit(Resource::Nofile);
    (limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX))
}

/// Raises the soft limit of open files to the hard one, which every process may do, and returns it.
pub fn raise_open_files() -> io::Result<u64> {
    let (soft, hard) = open_files();
    if soft < hard {
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    }
    Ok(hard)
}

#[cfg(test)]
mod tests {
    #[test]
    fn raising_makes_the_soft_limit_the_hard_one() {
        let hard = super::raise_open_files().unwrap();
        assert_eq!(super::open_files(), (hard, hard));
    }
}
