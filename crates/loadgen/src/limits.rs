//! File descriptors: enough for all connections, or a reason why not.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::LoadError;

/// File descriptors for everything that is not a connection: standard streams, what the program has
/// open, the engines.
const RESERVED: u64 = 64;

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
    let others = RESERVED + 2 * threads as u64;
    let needed = connections as u64 + others;
    if limits.current.is_none_or(|soft| needed <= soft) {
        return Ok(None);
    }
    match limits.maximum {
        Some(limit) if limit < needed => Err(LoadError::FileDescriptors {
            connections,
            needed,
            limit,
            possible: limit.saturating_sub(others),
        }),
        hard => Ok(Some(hard)),
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
        assert!(message.contains("-c at most 4932"), "{message}");
    }
}
