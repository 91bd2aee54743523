//! File descriptors: enough for all connections, or a reason why not.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::LoadError;

/// File descriptors for what belongs to no thread: standard streams, what the program has open.
const RESERVED: u64 = 64;

/// File descriptors that the engine of one thread may have besides its connections.
const PER_THREAD: u64 = 2;

/// Raises the soft limit if the connections need it.
pub(crate) fn provide_descriptors(connections: usize, threads: usize) -> Result<(), LoadError> {
    let limits = getrlimit(Resource::Nofile);
    match new_soft_limit(connections, threads, limits)? {
        None => Ok(()),
        Some(current) => setrlimit(Resource::Nofile, Rlimit { current, maximum: limits.maximum })
            .map_err(|error| LoadError::Engine {
                engine: "load",
                action: "raise the limit of open files",
                source: error.into(),
            }),
    }
}

/// The soft limit to set, if the present one is too low.
fn new_soft_limit(
    connections: usize,
    threads: usize,
    limits: Rlimit,
) -> Result<Option<Option<u64>>, LoadError> {
    let others = (threads as u64).saturating_mul(PER_THREAD).saturating_add(RESERVED);
    let needed = others.saturating_add(connections as u64);
    if limits.current.is_none_or(|soft| needed <= soft) {
        return Ok(None);
    }
    match limits.maximum {
        Some(limit) if limit < needed => Err(LoadError::FileDescriptors {
            connections,
            needed,
            limit,
            next_step: next_step(threads, limit, limit.saturating_sub(others)),
        }),
        hard => Ok(Some(hard)),
    }
}

/// What to do when `possible` is the most connections that this many threads can have. No thread
/// can be without a connection, so where there are too many threads each of them counts as one.
fn next_step(threads: usize, limit: u64, possible: u64) -> String {
    let raise = "raise the hard limit of open files (ulimit -Hn)";
    if possible >= threads as u64 {
        return format!("give -c at most {possible}, or {raise}");
    }
    match limit.saturating_sub(RESERVED) / (PER_THREAD + 1) {
        0 => raise.to_owned(),
        both => format!("give -t and -c at most {both}, or {raise}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Rlimit = Rlimit { current: Some(1000), maximum: Some(5000) };

    #[test]
    fn a_soft_limit_that_suffices_is_left_alone() {
        assert_eq!(new_soft_limit(100, 2, LIMITS).unwrap(), None);
        let unlimited = Rlimit { current: None, maximum: None };
        assert_eq!(new_soft_limit(1_000_000, 2, unlimited).unwrap(), None);
    }

    #[test]
    fn a_soft_limit_that_is_too_low_becomes_the_hard_one() {
        assert_eq!(new_soft_limit(1000, 2, LIMITS).unwrap(), Some(Some(5000)));
    }

    #[test]
    fn a_hard_limit_that_is_too_low_is_explained_with_the_numbers() {
        let message = new_soft_limit(5000, 2, LIMITS).unwrap_err().to_string();
        assert!(message.contains("5000 connections need 5068 file descriptors"), "{message}");
        assert!(message.contains("give -c at most 4932, or raise"), "{message}");
    }

    #[test]
    fn what_is_proposed_instead_fits() {
        let refused = |connections, threads, limit| {
            let limits = Rlimit { current: Some(limit), maximum: Some(limit) };
            new_soft_limit(connections, threads, limits).unwrap_err().to_string()
        };
        let message = refused(1024, 1024, 1024);
        assert!(message.contains(": give -t and -c at most 320, or raise"), "{message}");
        let limits = Rlimit { current: Some(1024), maximum: Some(1024) };
        assert_eq!(new_soft_limit(320, 320, limits).unwrap(), None);
        assert!(new_soft_limit(321, 321, limits).is_err());
        let message = refused(1, 1, 66);
        assert!(message.contains(": raise the hard limit"), "{message}");
        assert!(refused(usize::MAX, usize::MAX, 1024).contains("-c at most 320"));
    }
}
