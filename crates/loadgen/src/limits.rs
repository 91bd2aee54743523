//! Checks the resources of this machine before the load: file descriptors here, ports and memory in
//! submodules. If they do not suffice, a message has the numbers.

pub(crate) mod memory;
pub(crate) mod ports;

use wirebench_schema::load::LoadConfig;
use wirebench_sys::limits::{open_files, raise_open_files};

use crate::error::LoadError;

/// File descriptors outside of the threads: standard streams and open files of the program.
const RESERVED: u64 = 64;

/// File descriptors that the engine of one thread may have besides its connections.
const PER_THREAD: u64 = 2;

/// Raises the soft limit, as the connections may need it.
pub(crate) fn provide_descriptors(config: &LoadConfig) -> Result<(), LoadError> {
    check_descriptors(config, open_files().1)?;
    raise_open_files().map(drop).map_err(|source| LoadError::Engine {
        engine: "load",
        action: "raise the limit of open files",
        source,
    })
}

/// Checks whether a process that may open `limit` files has the file descriptors that a load
/// needs; changes nothing. [`run`](crate::run) does the same check with the limit of its process: this function is for
/// earlier ones.
///
/// # Errors
/// [`LoadError::Configuration`], with the hard limit and what to do.
pub fn check_descriptors(config: &LoadConfig, limit: u64) -> Result<(), LoadError> {
    let LoadConfig { connections, idle_connections, threads, .. } = *config;
    let others = (threads as u64).saturating_mul(PER_THREAD).saturating_add(RESERVED);
    let needed = others.saturating_add(connections as u64).saturating_add(idle_connections as u64);
    if needed <= limit {
        return Ok(());
    }
    let also = match idle_connections {
        0 => String::new(),
        idle => format!(" and {idle} idle ones"),
    };
    let next_step = next_step(config, limit, limit.saturating_sub(others));
    Err(LoadError::Configuration(format!(
        "{connections} connections{also} need {needed} file descriptors and this process may have {limit}: \
         {next_step}"
    )))
}

/// The next step if this many threads can have at most `possible` connections. No thread can be
/// without a connection, so with too many threads each of them counts as one.
fn next_step(config: &LoadConfig, limit: u64, possible: u64) -> String {
    let raise = "raise the hard limit of open files (ulimit -Hn)";
    let LoadConfig { connections, idle_connections: idle, threads, .. } = *config;
    let active = connections.max(threads) as u64;
    if idle > 0 && possible > active {
        let left = possible - active;
        return format!("give --idle-connections at most {left}, or {raise}");
    }
    let alone = match idle {
        0 => "",
        _ => " without --idle-connections",
    };
    if possible >= threads as u64 {
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

    fn load(connections: usize, idle_connections: usize, threads: usize) -> LoadConfig {
        LoadConfig { connections, idle_connections, threads, ..LoadConfig::default() }
    }

    #[test]
    fn a_hard_limit_that_is_too_low_is_explained_with_the_numbers() {
        assert!(check_descriptors(&load(4932, 0, 2), 5000).is_ok());
        let message = check_descriptors(&load(5000, 0, 2), 5000).unwrap_err().to_string();
        assert_eq!(
            message,
            "5000 connections need 5068 file descriptors and this process may have 5000: give -c \
             at most 4932, or raise the hard limit of open files (ulimit -Hn)"
        );
    }

    #[test]
    fn the_proposed_alternative_fits() {
        let refused = |connections, threads, limit| {
            check_descriptors(&load(connections, 0, threads), limit).unwrap_err().to_string()
        };
        assert!(check_descriptors(&load(320, 0, 320), 1024).is_ok());
        assert!(check_descriptors(&load(321, 0, 321), 1024).is_err());
        let refused = [(1024, 1024, 1024), (1, 1, 66), (usize::MAX, usize::MAX, 1024)]
            .map(|(connections, threads, limit)| refused(connections, threads, limit) + "\n");
        expect_file!["golden/limits.txt"].assert_eq(&refused.concat());
    }

    #[test]
    fn idle_connections_count_and_are_reduced_first() {
        let refused =
            |active, idle| check_descriptors(&load(active, idle, 2), 5000).unwrap_err().to_string();
        let refused = [(64, 10_000), (6000, 1)].map(|(active, idle)| refused(active, idle) + "\n");
        expect_file!["golden/limits-idle.txt"].assert_eq(&refused.concat());
        assert!(check_descriptors(&load(64, 4868, 2), 5000).is_ok());
    }
}
