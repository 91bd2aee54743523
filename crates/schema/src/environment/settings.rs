//! The variables of the environment that are known to change how servers or the load generator run.

/// Their names.
const NAMES: &str = " GODEBUG GOGC GOMAXPROCS GOMEMLIMIT GLIBC_TUNABLES JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS \
                     LD_LIBRARY_PATH LD_PRELOAD NODE_OPTIONS OMP_NUM_THREADS TOKIO_WORKER_THREADS UV_THREADPOOL_SIZE \
                     WIREBENCH_AGENT ";
/// Beginnings of their names.
const GROUPS: [&str; 4] = ["DOTNET_", "MALLOC_", "PYTHON", "RUST_"];

/// True if the variable `name` changes how a server or its load generator runs: its value belongs to a result.
#[must_use]
pub fn changes_servers(name: &str) -> bool {
    NAMES.contains(&format!(" {name} ")) || GROUPS.iter().any(|group| name.starts_with(group))
}
