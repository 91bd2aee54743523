//! Checks the resources of this machine before the load: file descriptors here, ports and memory in
//! submodules. If they do not suffice, a message has the numbers.

pub(crate) mod memory;
pub(crate) mod ports;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wirebench_schema::load::LoadConfig;

use crate::error::LoadError;

/// File descriptors outside of the threads: standard streams and open files of the program.
const RESERVED: u64 = 64;

/// File descriptors that the engine of one thread may have besides its connections.
const PER_THREAD: u64 = 2;

#[derive(Clone, Copy, Debug)]
struct ConnectionCounts {
    active: usize,
    idle: usize,
    threads: usize,
}

impl ConnectionCounts {
    const fn of(config: &LoadConfig) -> Self {
        let LoadConfig { connections: active, idle_connections: idle, threads, .. } = *config;
        Self { active, idle, threads }
    }
}

/// Checks whether a process with the limits of this one may have the file descriptors that a load
/// needs; changes nothing. [`run`](crate::run) does the same check: this function is for earlier
/// ones.
///
/// # Errors
/// [`LoadError::FileDescriptors`], with the hard limit and what to do.
pub fn check_descriptors(config: &LoadConfig) -> Result<(), LoadError> {
    new_soft_limit(ConnectionCounts::of(config), getrlimit(Resource::Nofile)).map(drop)
}

/// Raises the soft limit if the connections need it.
pub(crate) fn provide_descriptors(config: &LoadConfig) -> Result<(), LoadError> {
    let limits = getrlimit(Resource::Nofile);
    match new_soft_limit(ConnectionCounts::of(config), limits)? {
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
    crowd: ConnectionCounts,
    limits: Rlimit,
) -> Result<Option<Option<u64>>, LoadError> {
    let others = (crowd.threads as u64).saturating_mul(PER_THREAD).saturating_add(RESERVED);
    let needed = others.saturating_add(crowd.active as u64).saturating_add(crowd.idle as u64);
    if limits.current.is_none_or(|soft| needed <= soft) {
        return Ok(None);
    }
    match limits.maximum {
        Some(limit) if limit < needed => Err(LoadError::FileDescriptors {
            connections: crowd.active,
            also: match crowd.idle {
                0 => String::new(),
                idle => format!(" and {idle} idle ones"),
            },
            needed,
            limit,
            next_step: next_step(crowd, limit, limit.saturating_sub(others)),
        }),
        hard => Ok(Some(hard)),
    }
}

/// The next step if this many threads can have at most `possible` connections. No thread can be
/// without a connection, so with too many threads each of them counts as one.
fn next_step(crowd: ConnectionCounts, limit: u64, possible: u64) -> String {
    let raise = "raise the hard limit of open files (ulimit -Hn)";
    let active = (crowd.active as u64).max(crowd.threads as u64);
    if crowd.idle > 0 && possible > active {
        let left = possible - active;
        return format!("give --idle-connections at most {left}, or {raise}");
    }
    let alone = match crowd.idle {
        0 => "",
        _ => " without --idle-connections",
    };
    if possible >= crowd.threads as u64 {
        return format!("give -c at most {possible}{alone}, or {raise}");
    }
    match limit.saturating_sub(RESERVED) / (PER_THREAD + 1) {
        0 => raise.to_owned(),
        both => format!("give -t and -c at most {both}{alone}, or {raise}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    fn crowd(active: usize, threads: usize) -> ConnectionCounts {
        ConnectionCounts { active, idle: 0, threads }
    }

    const LIMITS: Rlimit = Rlimit { current: Some(1000), maximum: Some(5000) };

    #[test]
    fn a_soft_limit_that_suffices_is_left_alone() {
        assert_eq!(new_soft_limit(crowd(100, 2), LIMITS).unwrap(), None);
        let unlimited = Rlimit { current: None, maximum: None };
        assert_eq!(new_soft_limit(crowd(1_000_000, 2), unlimited).unwrap(), None);
    }

    #[test]
    fn a_soft_limit_that_is_too_low_becomes_the_hard_one() {
        assert_eq!(new_soft_limit(crowd(1000, 2), LIMITS).unwrap(), Some(Some(5000)));
    }

    #[test]
    fn a_hard_limit_that_is_too_low_is_explained_with_the_numbers() {
        let message = new_soft_limit(crowd(5000, 2), LIMITS).unwrap_err().to_string();
        assert_eq!(
            message,
            "5000 connections need 5068 file descriptors and this process may have 5000: give -c \
             at most 4932, or raise the hard limit of open files (ulimit -Hn)"
        );
    }

    #[test]
    fn the_proposed_alternative_fits() {
        let refused = |connections, threads, limit| {
            let limits = Rlimit { current: Some(limit), maximum: Some(limit) };
            new_soft_limit(crowd(connections, threads), limits).unwrap_err().to_string()
        };
        let limits = Rlimit { current: Some(1024), maximum: Some(1024) };
        assert_eq!(new_soft_limit(crowd(320, 320), limits).unwrap(), None);
        assert!(new_soft_limit(crowd(321, 321), limits).is_err());
        let refused = [(1024, 1024, 1024), (1, 1, 66), (usize::MAX, usize::MAX, 1024)]
            .map(|(connections, threads, limit)| refused(connections, threads, limit) + "\n");
        expect_file!["golden/limits.txt"].assert_eq(&refused.concat());
    }

    #[test]
    fn idle_connections_count_and_are_reduced_first() {
        let refused = |active, idle| {
            new_soft_limit(ConnectionCounts { active, idle, threads: 2 }, LIMITS)
                .unwrap_err()
                .to_string()
        };
        let refused = [(64, 10_000), (6000, 1)].map(|(active, idle)| refused(active, idle) + "\n");
        expect_file!["golden/limits-idle.txt"].assert_eq(&refused.concat());
        let fits = ConnectionCounts { active: 64, idle: 4868, threads: 2 };
        assert_eq!(new_soft_limit(fits, LIMITS).unwrap(), Some(Some(5000)));
    }
}
