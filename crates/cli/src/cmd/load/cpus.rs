//! The CPUs that the load does not use.

use wirebench_host::topology;

/// The online CPUs that a process with the CPUs `own` may not use, as with taskset. There may be none.
pub(super) fn others(own: &[u32]) -> Vec<u32> {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let online = topology::parse_list(online.trim()).unwrap_or_default();
    online.into_iter().filter(|cpu| !own.contains(cpu)).collect()
}
