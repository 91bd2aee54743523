//! Estimates the memory that all connections need on this side, and compares it with the free
//! memory of the machine and of its control groups.
//!
//! It measures nothing, and does not include the memory of the server.

use std::path::Path;
use wirebench_schema::load::LoadConfig;
use wirebench_sys::memory::{Memory, memory};

use crate::{codec::http1::HEADS_LIMIT_BYTES, error::LoadError};

/// Kernel memory of one connection of one process: the socket, its file and its watch, with empty
/// buffers.
const KERNEL_BYTES: u64 = 4096;

/// Memory of this process per connection.
const OWN_BYTES: u64 = 1024;

/// Additional memory of this process per request in flight.
const REQUEST_BYTES: u64 = 16;

/// Refuses a load that this machine has too little memory for. Where it does not say how much is
/// free, nothing is refused.
pub(crate) fn check(config: &LoadConfig) -> Result<(), LoadError> {
    memory(Path::new("/")).map_or(Ok(()), |memory| refuse_if_short(config, memory))
}

/// Memory of the load regardless of its active connections.
fn base_bytes(config: &LoadConfig) -> u64 {
    let has_heads = config.target.protocol().traits().has_heads;
    let heads_bytes =
        if has_heads { config.connections.saturating_mul(config.head_limit_bytes) } else { 0 };
    let idle_bytes = (config.idle_connections as u64).saturating_mul(KERNEL_BYTES + OWN_BYTES);
    let limit_bytes = config.threads.saturating_mul(config.head_limit_bytes).max(HEADS_LIMIT_BYTES);
    idle_bytes.saturating_add(heads_bytes.min(limit_bytes) as u64)
}

const fn connection_bytes(config: &LoadConfig) -> u64 {
    KERNEL_BYTES + OWN_BYTES + REQUEST_BYTES * config.pipeline as u64
}

fn refuse_if_short(config: &LoadConfig, memory: Memory) -> Result<(), LoadError> {
    let free_bytes = memory.available;
    let place = if memory.is_of_group { " within the limit of the control group" } else { "" };
    let (active, idle) = (config.connections as u64, config.idle_connections as u64);
    let (base_bytes, each_bytes) = (base_bytes(config), connection_bytes(config));
    let needed_bytes = base_bytes.saturating_add(active.saturating_mul(each_bytes));
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    let next_step = match free_bytes.saturating_sub(base_bytes) / each_bytes {
        0 => "give fewer connections".to_owned(),
        possible => format!("give -c at most {possible}"),
    };
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(LoadError::Configuration(format!(
        "{} connections need about {} MiB of memory and {} MiB are free{place}: {next_step}",
        active.saturating_add(idle),
        mebibytes(needed_bytes),
        mebibytes(free_bytes)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIBIBYTE: Memory = mebibytes(1024);

    const fn mebibytes(available: u64) -> Memory {
        Memory { total: u64::MAX, available: available << 20, is_of_group: false }
    }

    fn config(connections: usize, idle_connections: usize) -> LoadConfig {
        let config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        LoadConfig { connections, idle_connections, ..config }
    }

    #[test]
    fn a_load_that_fits_is_accepted() {
        assert!(refuse_if_short(&config(100_000, 50_000), GIBIBYTE).is_ok());
        assert!(check(&config(1, 0)).is_ok());
    }

    #[test]
    fn heads_that_come_in_part_are_in_the_estimate() {
        let fits = |config: &LoadConfig| refuse_if_short(config, mebibytes(70)).is_ok();
        let echo = config(2000, 0);
        let http =
            LoadConfig { target: "http://127.0.0.1:80/".parse().unwrap(), ..config(2000, 0) };
        assert_eq!((fits(&echo), fits(&http)), (true, false));
        assert!(fits(&LoadConfig { connections: 64, ..http }));
    }

    #[test]
    fn a_load_that_does_not_fit_is_refused_with_the_numbers_and_an_alternative() {
        let message = refuse_if_short(&config(300_000, 0), GIBIBYTE).unwrap_err().to_string();
        let begin = "300000 connections need about 1470 MiB of memory and 1024 MiB are free";
        assert!(message.starts_with(begin), "{message}");
        assert!(message.ends_with("give -c at most 209061"), "{message}");
        assert!(refuse_if_short(&config(209_061, 0), GIBIBYTE).is_ok());
        let message = refuse_if_short(&config(10, 300_000), GIBIBYTE).unwrap_err().to_string();
        assert!(message.ends_with("give fewer connections"), "{message}");
        let of_group = Memory { is_of_group: true, ..GIBIBYTE };
        let message = refuse_if_short(&config(300_000, 0), of_group).unwrap_err().to_string();
        let place = "and 1024 MiB are free within the limit of the control group: give -c at most";
        assert!(message.contains(place), "{message}");
        assert!(refuse_if_short(&config(usize::MAX, usize::MAX), GIBIBYTE).is_err());
    }
}
