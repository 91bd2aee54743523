//! Comments on what programs may take: of the process, of its control groups, of the kernel.

use wirebench_schema::environment::{Cgroup, Environment, Limit};

use super::{AtLeast, Comment, ENOUGH_MEMORY_BYTES, Named, change, fine, unknown, warning};

/// Files for some thousand connections and a runtime.
const ENOUGH_FILES: u64 = 8192;
/// Locked memory for the rings and buffers of a server with a few workers.
const ENOUGH_LOCKED_BYTES: u64 = 8 << 20;
/// Threads for a server with one of them for each of some thousand connections.
const ENOUGH_PROCESSES: u64 = 4096;

const OF_THE_KERNEL: [AtLeast; 3] = [
    AtLeast {
        name: "file-max",
        sysctl: "fs/file-max",
        enough: 65_536,
        better: 1_048_576,
        means: "open files are the limit of the whole machine",
    },
    AtLeast {
        name: "nr-open",
        sysctl: "fs/nr_open",
        enough: 65_536,
        better: 1_048_576,
        means: "open files are the most that a process limit allows",
    },
    AtLeast {
        name: "threads-max",
        sysctl: "kernel/threads-max",
        enough: 8192,
        better: 65_536,
        means: "threads are the limit of the whole machine",
    },
];

pub(super) fn examine(environment: &Environment) -> Vec<Named> {
    let mut comments = vec![
        ("open-files", open_files(environment)),
        ("locked-memory", locked_memory(environment)),
        ("processes", processes(environment)),
    ];
    comments.extend(OF_THE_KERNEL.iter().map(|setting| (setting.name, setting.look(environment))));
    match &environment.cgroup {
        None => comments.push(("cgroup", fine("this process is in no limited control group"))),
        Some(cgroup) => {
            let usable = environment.cpus.len();
            comments.extend([
                ("cgroup-cpu", quota(cgroup, usable)),
                ("cgroup-throttled", throttling(cgroup)),
                ("cgroup-cpus", cpuset(cgroup)),
                ("cgroup-memory", memory(cgroup)),
            ]);
        }
    }
    comments
}

fn shown(bound: Option<u64>) -> String {
    bound.map_or_else(|| "any number of".to_owned(), |bound| bound.to_string())
}

/// A limit as a service has it.
fn bound(limit: Option<u64>) -> String {
    limit.map_or_else(|| "infinity".to_owned(), |limit| limit.to_string())
}

/// Whether a bound, if there is one, is at least `least`.
fn enough(bound: Option<u64>, least: u64) -> bool {
    bound.is_none_or(|bound| bound >= least)
}

fn open_files(environment: &Environment) -> Comment {
    let Some(Limit { soft, hard }) = environment.limits.open_files else {
        return unknown("the limit of open files cannot be read");
    };
    let text = format!(
        "a process can open {} files (soft limit {}, raised automatically)",
        shown(hard),
        soft.map_or_else(|| "none".to_owned(), |soft| soft.to_string())
    );
    let remedy = change(
        "raise it: ulimit -Hn 65536, or LimitNOFILE= of the service",
        format!("leave the shell; LimitNOFILE={} of the service", bound(hard)),
    );
    fine(text).warning_if(!enough(hard, ENOUGH_FILES), "", remedy)
}

fn locked_memory(environment: &Environment) -> Comment {
    let Some(Limit { soft, .. }) = environment.limits.locked_memory_bytes else {
        return unknown("the limit of locked memory cannot be read");
    };
    let text = format!("a process can lock {} bytes of memory", shown(soft));
    fine(text).warning_if(
        !enough(soft, ENOUGH_LOCKED_BYTES),
        ": rings with registered buffers may be refused",
        change(
            "raise it: ulimit -l unlimited, or LimitMEMLOCK= of the service",
            format!("leave the shell; LimitMEMLOCK={} of the service", bound(soft)),
        ),
    )
}

fn processes(environment: &Environment) -> Comment {
    let Some(Limit { soft, .. }) = environment.limits.processes else {
        return unknown("the limit of processes cannot be read");
    };
    let of_group = environment.cgroup.as_ref().and_then(|cgroup| cgroup.processes);
    let (most, text, remedy) = match of_group.filter(|bound| soft.is_none_or(|soft| *bound < soft))
    {
        Some(bound) => (
            Some(bound),
            format!("the control group can have {bound} processes and threads"),
            change(
                "raise it: pids.max, TasksMax= of the service, or docker run --pids-limit=-1",
                format!("set it to {bound} again"),
            ),
        ),
        None => (
            soft,
            format!("a user can have {} processes and threads", shown(soft)),
            change(
                "raise it: ulimit -u 65536, or TasksMax= of the service",
                format!("leave the shell; TasksMax={} of the service", bound(soft)),
            ),
        ),
    };
    let means = ": servers with a thread per connection fail";
    fine(text).warning_if(!enough(most, ENOUGH_PROCESSES), means, remedy)
}

fn quota(cgroup: &Cgroup, usable: usize) -> Comment {
    match cgroup.cpu_quota_cpus {
        None => fine("no control group limits CPU time"),
        Some(cpus) if cpus < usable as f64 => warning(
            format!(
                "a control group limits {usable} CPUs to the time of {cpus}: all threads stop when it is used up"
            ),
            change(
                "raise the quota: docker run without --cpus, or systemctl set-property UNIT CPUQuota=",
                format!(
                    "docker run --cpus={cpus}, or systemctl set-property UNIT CPUQuota={:.0}%",
                    cpus * 100.0
                ),
            ),
        ),
        Some(cpus) => fine(format!("a control group limits CPU time to {cpus} CPUs")),
    }
}

fn throttling(cgroup: &Cgroup) -> Comment {
    match (cgroup.throttled_periods, cgroup.periods) {
        (Some(throttled), Some(periods)) if throttled > 0 => warning(
            format!("the CPU quota was used up in {throttled} of {periods} periods"),
            change("raise the quota, or give the load fewer threads", "set the old quota again"),
        ),
        _ => fine("no CPU quota was used up"),
    }
}

fn cpuset(cgroup: &Cgroup) -> Comment {
    match cgroup.cpuset.as_deref() {
        None => fine("no control group limits the CPUs"),
        Some([only]) => warning(
            format!("a control group allows only CPU {only}"),
            change(
                "allow at least two: docker run --cpuset-cpus=0,1, or AllowedCPUs= of the service",
                format!("docker run --cpuset-cpus={only}, or AllowedCPUs={only} of the service"),
            ),
        ),
        Some(cpus) => fine(format!("the control group allows {} CPUs", cpus.len())),
    }
}

fn memory(cgroup: &Cgroup) -> Comment {
    let Some(bytes) = cgroup.memory_bytes else {
        return fine("no control group limits memory");
    };
    let text = format!("a control group limits memory to {} MiB", bytes >> 20);
    fine(text).warning_if(
        bytes < ENOUGH_MEMORY_BYTES,
        "; the kernel kills a process that uses more",
        change(
            "raise it: docker run --memory=2g, or systemctl set-property UNIT MemoryMax=2G",
            format!(
                "docker run --memory={bytes}, or systemctl set-property UNIT MemoryMax={bytes}"
            ),
        ),
    )
}
