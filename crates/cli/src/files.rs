//! Whether this process may open as many files as a workload has connections, before anything is
//! started. How many there must be is reckoned by who opens them: the load generator, and the
//! runner for silent connections. A server inherits the same limit. Ports and memory are no matter
//! of this file: the generator tells of them when the run begins.

use wirebench_experiment::measure::{RunSettings, require_files};
use wirebench_schema::{
    suite::{Phase, Workload},
    target::Target,
};

/// Why the connections of `workload` cannot be had here, as a sentence with the numbers and the
/// next step.
pub(crate) fn shortage(workload: &Workload, settings: &RunSettings) -> Option<String> {
    let (_, hard) = wirebench_sys::limits::open_files();
    shortage_within(hard, workload, settings)
}

/// The same where a process may open `limit` files.
pub(crate) fn shortage_within(
    limit: u64,
    workload: &Workload,
    settings: &RunSettings,
) -> Option<String> {
    if workload.phase == Phase::Idle {
        return require_files(workload.connections, limit).err();
    }
    // Which server it is makes no difference.
    let anywhere = Target::of_scenario(workload.scenario, "127.0.0.1", 1);
    let threads = settings.placement.generator_cpus.len();
    let config = workload.load_config(anywhere, threads, settings.seed);
    wirebench_loadgen::check_descriptors(&config, limit).err().map(|error| error.to_string())
}
