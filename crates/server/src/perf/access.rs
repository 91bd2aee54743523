//! Why `perf` cannot record here, and the next step. Pure, except for reading the settings.

use std::{fs, io};

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
/// A file of the events that every kernel with them has.
const EVENT: &str = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id";
const EVENTS: &str = "/sys/kernel/tracing/events";

/// What decides on the permission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    is_root: bool,
    /// None where the kernel has no `perf` at all.
    paranoid: Option<i32>,
    events: Events,
}

/// Whether this user may read the events of system calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Events {
    Readable,
    Forbidden,
    Absent,
}

impl Settings {
    pub(super) fn read() -> Self {
        let paranoid = fs::read_to_string(PARANOID).ok();
        Self {
            is_root: rustix::process::geteuid().is_root(),
            paranoid: paranoid.and_then(|text| text.trim().parse().ok()),
            events: match (fs::read(EVENT), fs::metadata(EVENTS)) {
                (Ok(_), _) => Events::Readable,
                (Err(error), _) | (_, Err(error))
                    if error.kind() == io::ErrorKind::PermissionDenied =>
                {
                    Events::Forbidden
                }
                _ => Events::Absent,
            },
        }
    }
}

pub(super) fn missing() -> String {
    "--why needs perf, which is not installed: install your distribution's package (linux-perf on Debian, \
     linux-tools-generic on Ubuntu, perf elsewhere)"
        .to_owned()
}

/// Why it failed after it had said this.
pub(super) fn explain(said: &str, settings: &Settings) -> String {
    if let Some(package) = package_of_kernel(said) {
        return format!(
            "--why needs perf, and the installed one is a script that found no perf for the running kernel: install \
             {package}, or put the folder of the perf of another kernel first in PATH (such as \
             /usr/lib/linux-tools/*/)"
        );
    }
    match *settings {
        Settings { paranoid: None, .. } => {
            "--why needs perf, which this kernel or sandbox lacks: use a kernel with CONFIG_PERF_EVENTS, or omit --why"
                .to_owned()
        }
        // System calls are events of the whole kernel.
        Settings { is_root: false, paranoid: Some(level), .. } if level > -1 => format!(
            "--why needs the permission to trace system calls, and kernel.perf_event_paranoid is {level}: run as \
             root, or allow it until the next boot with `sudo sysctl kernel.perf_event_paranoid=-1`; `sudo sysctl \
             kernel.perf_event_paranoid={level}` undoes that"
        ),
        Settings { events: Events::Forbidden, .. } => {
            "--why needs to read /sys/kernel/tracing: run as root, or allow it until the next boot with `sudo mount \
             -o remount,mode=755 /sys/kernel/tracing`; the same with mode=700 undoes that"
                .to_owned()
        }
        Settings { events: Events::Absent, .. } => {
            "--why needs the events of system calls in /sys/kernel/tracing: mount them with `mount -t tracefs \
             tracefs /sys/kernel/tracing`, or use a kernel with CONFIG_FTRACE_SYSCALLS"
                .to_owned()
        }
        Settings { events: Events::Readable, .. } => format!(
            "--why needs perf, which fails here: {}; try `perf stat -e raw_syscalls:sys_enter true`, or omit --why",
            end(said)
        ),
    }
}

/// The last line of a message.
pub(super) fn end(text: &str) -> &str {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing")
}

/// The package that the script of Debian or Ubuntu in the place of `perf` asks for, if it does.
fn package_of_kernel(said: &str) -> Option<&str> {
    let debian = said
        .lines()
        .find_map(|it| it.trim().strip_prefix("E: ")?.strip_suffix(" is not installed."));
    let has_none = said.contains("perf not found for kernel");
    let mut lines = said.lines().map(str::trim);
    let ubuntu = lines.find(|it| it.starts_with("linux-tools-")).unwrap_or("linux-tools-generic");
    debian.or(has_none.then_some(ubuntu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn each_obstacle_has_its_next_step() {
        let after = |said, is_root, paranoid, events| {
            explain(said, &Settings { is_root, paranoid, events })
        };
        let with = |is_root, paranoid, events| {
            after("\nError:\nNo permission\n\n", is_root, paranoid, events)
        };
        let debian = "E: linux-perf-6.12 is not installed.\n";
        let ubuntu = "WARNING: perf not found for kernel 6.8.0-45\n\n  You may need to install the following packages \
                      for this specific kernel:\n    linux-tools-6.8.0-45-generic\n    \
                      linux-cloud-tools-6.8.0-45-generic\n";
        let texts = [
            missing(),
            with(true, None, Events::Readable),
            with(false, Some(2), Events::Forbidden),
            with(false, Some(-1), Events::Forbidden),
            with(true, Some(4), Events::Absent),
            with(true, Some(2), Events::Readable),
            after(debian, false, Some(3), Events::Forbidden),
            after(ubuntu, true, Some(2), Events::Readable),
        ];
        expect_file!["golden/access.txt"].assert_eq(&(texts.join("\n") + "\n"));
    }
}
