//! Comments on what the kernel is and how it was started.

use wirebench_schema::environment::Environment;

use super::{Comment, State, fine, number, set, warning};

/// Clocks that are read by asking a device, which takes a microsecond or more each time.
const SLOW_CLOCKS: [&str; 4] = ["acpi_pm", "hpet", "jiffies", "refined-jiffies"];
/// The setting that decides who may use rings.
const RINGS: &str = "kernel/io_uring_disabled";

pub(super) fn examine(environment: &Environment, io_uring: &Result<(), String>) -> Vec<Comment> {
    vec![
        kernel(environment),
        options(environment),
        isolation(environment),
        mitigations(environment),
        clock(environment),
        huge_pages(environment),
        layout(environment),
        overcommit(environment),
        balancing(environment),
        ring(environment, io_uring),
    ]
}

fn kernel(environment: &Environment) -> Comment {
    let version = environment.kernel_version.as_deref().unwrap_or_default();
    let text = format!("Linux {} {version}", environment.kernel).trim_end().to_owned();
    if version.contains("PREEMPT_RT") {
        warning(
            "kernel",
            format!("{text}: a real-time kernel trades throughput for latency"),
            "start a kernel without PREEMPT_RT, unless servers will run on this one",
        )
    } else {
        fine("kernel", text)
    }
}

fn options(environment: &Environment) -> Comment {
    match environment.kernel_options.as_deref() {
        None => fine("kernel-options", "the kernel's command line cannot be read"),
        Some([]) => fine("kernel-options", "no option of the kernel changes how servers run"),
        Some(options) => {
            fine("kernel-options", format!("the kernel was started with {}", options.join(" ")))
        }
    }
}

/// Threads stay where they are put on an isolated CPU: a server with several workers bound to
/// several of them runs all on the first.
fn isolation(environment: &Environment) -> Comment {
    let Some(isolated) = &environment.isolated_cpus else {
        return fine("isolation", "the kernel does not tell which CPUs are isolated");
    };
    let usable = |cpu: &&u32| environment.cpus.iter().any(|it| it.cpu == **cpu);
    let used: Vec<String> = isolated.iter().filter(usable).map(u32::to_string).collect();
    if isolated.is_empty() {
        fine("isolation", "no CPU is isolated")
    } else if used.is_empty() {
        fine("isolation", format!("the CPUs {isolated:?} are isolated and not used"))
    } else {
        warning(
            "isolation",
            format!(
                "the CPUs {} are isolated: all threads of a server stay on the first of them",
                used.join(",")
            ),
            "start the kernel without isolcpus=, or give each side one of them with --server-cpus and \
             --generator-cpus",
        )
    }
}

fn mitigations(environment: &Environment) -> Comment {
    let off = |option: &String| {
        ["mitigations=off", "nopti", "pti=off", "nospectre_v2", "spectre_v2=off"]
            .contains(&option.as_str())
    };
    let options = environment.kernel_options.iter().flatten();
    if let Some(option) = options.clone().find(|option| off(option)) {
        return warning(
            "mitigations",
            format!(
                "the kernel was started with `{option}`: system calls cost less than where servers face \
                 a network"
            ),
            format!("start the kernel without `{option}`, or say so beside the figures"),
        );
    }
    let known = environment.mitigations.len();
    let of = |word: &str| {
        let values = environment.mitigations.values();
        values.filter(|text| text.starts_with(word)).count()
    };
    let (mitigated, vulnerable) = (of("Mitigation"), of("Vulnerable"));
    fine(
        "mitigations",
        format!("of {known} known weaknesses {mitigated} are mitigated and {vulnerable} are open"),
    )
}

fn clock(environment: &Environment) -> Comment {
    match environment.clock_source.as_deref() {
        None => fine("clock", "the kernel does not tell its clock"),
        Some(name) if SLOW_CLOCKS.contains(&name) => warning(
            "clock",
            format!("the clock is `{name}`, which is slow to read: timers and latencies suffer"),
            "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        Some(name) => fine("clock", format!("the clock is `{name}`")),
    }
}

fn huge_pages(environment: &Environment) -> Comment {
    match environment.transparent_huge_pages.as_deref() {
        None => fine("huge-pages", "the kernel makes no large pages by itself"),
        Some("always") => warning(
            "huge-pages",
            "the kernel makes large pages for every process: memory and pauses change from run to run",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        Some(when) => fine("huge-pages", format!("large pages are made by the rule `{when}`")),
    }
}

/// Each block has fresh processes. With a random layout the blocks sample it; with one and the same,
/// its good or bad luck is in every figure.
fn layout(environment: &Environment) -> Comment {
    const NAME: &str = "kernel/randomize_va_space";
    match number(environment, NAME) {
        None => fine("aslr", "the kernel does not tell how it lays out memory"),
        Some(0) => warning(
            "aslr",
            "memory is always laid out alike: the luck of one layout is in every figure",
            set(NAME, 2),
        ),
        Some(_) => fine("aslr", "each run has a memory layout of its own"),
    }
}

fn overcommit(environment: &Environment) -> Comment {
    const NAME: &str = "vm/overcommit_memory";
    match number(environment, NAME) {
        None => fine("overcommit", "the kernel does not tell how it promises memory"),
        Some(2) => warning(
            "overcommit",
            "memory that is reserved counts as used: runtimes that reserve much do not start",
            set(NAME, 0),
        ),
        Some(_) => fine("overcommit", "memory that is reserved is not used"),
    }
}

fn balancing(environment: &Environment) -> Comment {
    const NAME: &str = "kernel/numa_balancing";
    match number(environment, NAME) {
        Some(1) if environment.nodes.len() > 1 => warning(
            "numa-balancing",
            "the kernel moves memory between nodes while servers run",
            set(NAME, 0),
        ),
        _ => fine("numa-balancing", "the kernel moves no memory between nodes"),
    }
}

fn ring(environment: &Environment, io_uring: &Result<(), String>) -> Comment {
    let disabled = number(environment, RINGS).is_some_and(|value| value > 0);
    match io_uring {
        Ok(()) => fine("io_uring", "rings can be set up"),
        Err(reason) => Comment {
            name: "io_uring",
            state: State::Missing,
            text: reason.clone(),
            remedy: disabled.then(|| set(RINGS, 0)),
        },
    }
}
