//! Memory: an estimate of what all connections need on this side, against what is free.
//!
//! It is no measurement, and what the server needs is not in it, even if it runs here.

use wirebench_schema::load::LoadConfig;

use crate::error::LoadError;

/// What the kernel keeps for one connection of one process: the socket, its file and what watches
/// it, without anything in its buffers.
const KERNEL_BYTES: u64 = 4096;

/// What this process keeps for one connection.
const OWN_BYTES: u64 = 1024;

/// What this process keeps for a request in flight besides.
const REQUEST_BYTES: u64 = 16;

/// Refuses a load that this machine has too little memory for. Where it does not say how much is
/// free, nothing is refused.
pub(crate) fn check(config: &LoadConfig) -> Result<(), LoadError> {
    use procfs::Current;
    let free_bytes = procfs::Meminfo::current().ok().and_then(|memory| memory.mem_available);
    match free_bytes {
        None => Ok(()),
        Some(free_bytes) => refuse_if_short(config, free_bytes),
    }
}

fn refuse_if_short(config: &LoadConfig, free_bytes: u64) -> Result<(), LoadError> {
    let (active, idle) = (config.connections as u64, config.idle_connections as u64);
    let silent_bytes = KERNEL_BYTES + OWN_BYTES;
    let active_bytes = silent_bytes + REQUEST_BYTES * config.pipeline as u64;
    let idle_bytes = idle.saturating_mul(silent_bytes);
    let needed_bytes = idle_bytes.saturating_add(active.saturating_mul(active_bytes));
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    let next_step = match free_bytes.saturating_sub(idle_bytes) / active_bytes {
        0 => "give fewer connections".to_owned(),
        possible => format!("give -c at most {possible}"),
    };
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(LoadError::Configuration(format!(
        "{} connections need about {} MiB of memory and {} MiB are free: {next_step}",
        active.saturating_add(idle),
        mebibytes(needed_bytes),
        mebibytes(free_bytes)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIBIBYTE: u64 = 1 << 30;

    fn config(connections: usize, idle_connections: usize) -> LoadConfig {
        let config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        LoadConfig { connections, idle_connections, ..config }
    }

    #[test]
    fn what_fits_is_not_refused() {
        assert!(refuse_if_short(&config(100_000, 50_000), GIBIBYTE).is_ok());
        assert!(check(&config(1, 0)).is_ok());
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_numbers_and_what_would_fit() {
        let message = refuse_if_short(&config(300_000, 0), GIBIBYTE).unwrap_err().to_string();
        let begin = "300000 connections need about 1470 MiB of memory and 1024 MiB are free";
        assert!(message.starts_with(begin), "{message}");
        assert!(message.ends_with("give -c at most 209061"), "{message}");
        assert!(refuse_if_short(&config(209_061, 0), GIBIBYTE).is_ok());
        let message = refuse_if_short(&config(10, 300_000), GIBIBYTE).unwrap_err().to_string();
        assert!(message.ends_with("give fewer connections"), "{message}");
        assert!(refuse_if_short(&config(usize::MAX, usize::MAX), GIBIBYTE).is_err());
    }
}
