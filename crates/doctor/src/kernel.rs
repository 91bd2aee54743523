//! Comments on what the kernel is and how it was started.

use wirebench_schema::environment::Environment;

use super::{Comment, Named, change, fine, missing, number, set, unknown, warning, written};

/// Clocks that are read by asking a device, which takes a microsecond or more each time.
const SLOW_CLOCKS: [&str; 4] = ["acpi_pm", "hpet", "jiffies", "refined-jiffies"];
/// Commands that give all users the right to keep CPUs awake, and take it back.
const GIVE_RIGHT: &str = "echo 'KERNEL==\"cpu_dma_latency\", MODE=\"0666\"' > /etc/udev/rules.d/90-wirebench.rules; \
                          udevadm control --reload; udevadm trigger /dev/cpu_dma_latency (of a container: start it \
                          with --device /dev/cpu_dma_latency)";
const TAKE_RIGHT: &str = "rm /etc/udev/rules.d/90-wirebench.rules; chmod 600 /dev/cpu_dma_latency";
/// The setting that decides who may use rings.
const RINGS: &str = "kernel/io_uring_disabled";

pub(super) fn examine(
    environment: &Environment,
    io_uring: &Result<(), String>,
    awake: &Result<(), String>,
) -> Vec<Named> {
    vec![
        ("kernel", kernel(environment)),
        ("kernel-options", options(environment)),
        ("isolation", isolation(environment)),
        ("mitigations", mitigations(environment)),
        ("clock", clock(environment)),
        ("huge-pages", huge_pages(environment)),
        ("aslr", layout(environment)),
        ("overcommit", overcommit(environment)),
        ("numa-balancing", balancing(environment)),
        ("io_uring", ring(environment, io_uring)),
        ("awake", kept_awake(awake)),
    ]
}

fn kernel(environment: &Environment) -> Comment {
    let version = environment.kernel_version.as_deref().unwrap_or_default();
    let text = format!("Linux {} {version}", environment.kernel).trim_end().to_owned();
    if environment.kernel.ends_with("-Microsoft") {
        // The second version of WSL runs a Linux kernel, whose name ends otherwise.
        warning(
            format!("{text}: WSL 1 imitates Linux, without io_uring or the scheduler's statistics"),
            "use WSL 2 or a machine with Linux",
        )
    } else if version.contains("PREEMPT_RT") {
        warning(
            format!("{text}: a real-time kernel has lower throughput"),
            change(
                "start a kernel without PREEMPT_RT, unless servers will run on this one",
                "start this one again",
            ),
        )
    } else {
        fine(text)
    }
}

fn options(environment: &Environment) -> Comment {
    match environment.kernel_options.as_deref() {
        None => unknown("the kernel's command line cannot be read"),
        Some([]) => fine("no boot option changes how servers run"),
        Some(options) => fine(format!("boot options: {}", options.join(" "))),
    }
}

/// Threads stay where they are put on an isolated CPU: a server with several workers bound to
/// several of them runs all on the first.
fn isolation(environment: &Environment) -> Comment {
    let Some(isolated) = &environment.isolated_cpus else {
        return unknown("the kernel does not report isolated CPUs");
    };
    let usable = |cpu: &&u32| environment.cpus.iter().any(|it| it.cpu == **cpu);
    let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let used: Vec<u32> = isolated.iter().filter(usable).copied().collect();
    if isolated.is_empty() {
        fine("no CPU is isolated")
    } else if used.is_empty() {
        fine(format!("CPUs {isolated:?} are isolated and not used"))
    } else {
        warning(
            format!(
                "CPUs {} are isolated: all threads of a server stay on the first of them",
                list(&used)
            ),
            change(
                "start the kernel without isolcpus=, or give each side one of them with --server-cpus and \
                 --generator-cpus",
                format!("start it with isolcpus={} again", list(isolated)),
            ),
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
            format!(
                "the kernel was started with `{option}`: system calls cost less than where servers face \
                 a network"
            ),
            change(
                format!("start the kernel without `{option}`, or mention it with the figures"),
                format!("start it with `{option}` again"),
            ),
        );
    }
    let known = environment.mitigations.len();
    let of = |word: &str| {
        let values = environment.mitigations.values();
        values.filter(|text| text.starts_with(word)).count()
    };
    let (mitigated, vulnerable) = (of("Mitigation"), of("Vulnerable"));
    fine(format!(
        "{known} known CPU vulnerabilities: {mitigated} mitigated, {vulnerable} not mitigated"
    ))
}

fn clock(environment: &Environment) -> Comment {
    match environment.clock_source.as_deref() {
        None => unknown("the kernel does not report its clock source"),
        Some(name) if SLOW_CLOCKS.contains(&name) => warning(
            format!(
                "the clock source is `{name}`, which is slow to read: timers and latencies are less exact"
            ),
            written(
                "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                "tsc",
                name,
            ),
        ),
        Some(name) => fine(format!("the clock source is `{name}`")),
    }
}

fn huge_pages(environment: &Environment) -> Comment {
    match environment.transparent_huge_pages.as_deref() {
        None => fine("transparent huge pages are off"),
        Some("always") => warning(
            "transparent huge pages are on for every process: memory use and pauses change from run to run",
            written("/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "always"),
        ),
        Some(when) => fine(format!("transparent huge pages: `{when}`")),
    }
}

/// Each block has fresh processes. With a random layout the blocks sample it; with one and the same,
/// its good or bad luck is in every figure.
fn layout(environment: &Environment) -> Comment {
    const NAME: &str = "kernel/randomize_va_space";
    match number(environment, NAME) {
        None => unknown("the kernel does not report address space randomization"),
        Some(0) => warning(
            "address space randomization is off: every run has the same, perhaps lucky, memory layout",
            set(environment, NAME, 2),
        ),
        Some(_) => fine("address space randomization is on: each run has its own memory layout"),
    }
}

fn overcommit(environment: &Environment) -> Comment {
    const NAME: &str = "vm/overcommit_memory";
    match number(environment, NAME) {
        None => unknown("the kernel does not report its overcommit policy"),
        Some(2) => warning(
            "strict overcommit: runtimes that reserve much memory fail to start",
            set(environment, NAME, 0),
        ),
        Some(_) => fine("reserved memory does not count as used"),
    }
}

fn balancing(environment: &Environment) -> Comment {
    const NAME: &str = "kernel/numa_balancing";
    match number(environment, NAME) {
        None if environment.nodes.len() > 1 => {
            unknown("the kernel does not report automatic NUMA balancing")
        }
        Some(1) if environment.nodes.len() > 1 => warning(
            "automatic NUMA balancing moves memory while servers run",
            set(environment, NAME, 0),
        ),
        _ => fine("automatic NUMA balancing is off"),
    }
}

fn kept_awake(awake: &Result<(), String>) -> Comment {
    match awake {
        Ok(()) => fine("idle CPUs can be kept awake while load is measured"),
        Err(reason) => warning(
            format!("{reason}: idle CPUs sleep, and requests at a rate pay for waking them"),
            change(GIVE_RIGHT, TAKE_RIGHT),
        ),
    }
}

fn ring(environment: &Environment, io_uring: &Result<(), String>) -> Comment {
    let disabled = number(environment, RINGS).is_some_and(|value| value > 0);
    match io_uring {
        Ok(()) => fine("rings can be set up"),
        Err(reason) => missing(reason, disabled.then(|| set(environment, RINGS, 0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    #[test]
    fn cpus_that_cannot_be_kept_awake_are_a_warning_with_the_rule_that_allows_it() {
        let Comment { state, text, remedy } =
            kept_awake(&Err("cannot write to x (denied)".to_owned()));
        assert_eq!(state, State::Warning);
        assert!(text.starts_with("cannot write to x (denied): idle CPUs sleep"), "{text}");
        let remedy = remedy.unwrap();
        assert!(remedy.text.contains("udevadm trigger /dev/cpu_dma_latency"), "{}", remedy.text);
        assert!(remedy.undo.unwrap().starts_with("rm /etc/udev/rules.d/90-wirebench.rules;"));
        assert_eq!(kept_awake(&Ok(())).state, State::Fine);
    }
}
