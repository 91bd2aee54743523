//! What `perf stat -x ,` and `perf script` print. Pure.

use inferno::collapse::{Collapse as _, perf};
use std::collections::BTreeMap;

use super::events::{ALL_CALLS, CALL, OTHER, SWITCHES};

/// The frame of an address that is in no file. Without frame pointers most callers of a function are such.
const UNKNOWN: &str = "[unknown]";

/// System calls and context switches.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Calls {
    /// Those that were made; `other` are all that are not counted by name.
    pub by_name: BTreeMap<String, u64>,
    pub context_switches: u64,
}

/// Lines of `COUNT,UNIT,EVENT,...`. What was not counted is an error: it would seem to be zero.
pub(super) fn calls(text: &str) -> Result<Calls, String> {
    let mut calls = Calls::default();
    let (mut all, mut has_switches) = (0, false);
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut fields = line.split(',');
        let (count, event) = (fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default());
        let Ok(count) = count.parse::<u64>() else {
            return Err(format!("perf did not count {event}: {count}"));
        };
        if let Some(name) = event.strip_prefix(CALL) {
            if count > 0 {
                *calls.by_name.entry(name.to_owned()).or_default() += count;
            }
        } else if event == ALL_CALLS {
            all += count;
        } else if event == SWITCHES {
            has_switches = true;
            calls.context_switches += count;
        }
    }
    let others = all.saturating_sub(calls.by_name.values().sum());
    if others > 0 {
        calls.by_name.insert(OTHER.to_owned(), others);
    }
    if has_switches { Ok(calls) } else { Err("perf counted nothing".to_owned()) }
}

/// The number of samples, and the sampled CPU time of each stack in nanoseconds. A stack is the name of the thread and
/// the frames, the outermost first.
pub(super) fn stacks(script: &[u8]) -> Result<(u64, BTreeMap<String, u64>), String> {
    let mut options = perf::Options::default();
    (options.annotate_kernel, options.nthreads) = (true, 1);
    let mut folded = Vec::new();
    perf::Folder::from(options)
        .collapse(script, &mut folded)
        .map_err(|error| format!("the samples of perf cannot be read: {error}"))?;
    let mut stacks = BTreeMap::new();
    for line in String::from_utf8_lossy(&folded).lines() {
        let Some((stack, count)) = line.rsplit_once(' ') else { continue };
        let count: u64 = count.parse().map_err(|_| format!("no CPU time of a stack: {line}"))?;
        *stacks.entry(tidy(stack)).or_default() += count;
    }
    // Each sample begins with a line of its thread, and its frames are indented.
    let lines = script.split(|byte| *byte == b'\n');
    let is_first = |it: &&[u8]| it.first().is_some_and(|byte| !byte.is_ascii_whitespace());
    let samples = lines.filter(is_first).count() as u64;
    match stacks.is_empty() {
        true => Err("perf has no sample of the server".to_owned()),
        false => Ok((samples, stacks)),
    }
}

/// Without frames that say nothing.
fn tidy(stack: &str) -> String {
    let mut frames = stack.split(';');
    let thread = frames.next().unwrap_or_default();
    let known: Vec<&str> = frames.filter(|it| *it != UNKNOWN).collect();
    let known = if known.is_empty() { vec![UNKNOWN] } else { known };
    format!("{thread};{}", known.join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};

    #[test]
    fn recorded_counts_are_read() {
        let calls = calls(include_str!("golden/stat.csv")).unwrap();
        expect![[r#"
            Calls {
                by_name: {
                    "close": 38922,
                    "openat": 38923,
                    "other": 300,
                    "read": 77832,
                },
                context_switches: 71,
            }
        "#]]
        .assert_debug_eq(&calls);
    }

    #[test]
    fn what_was_not_counted_is_not_zero() {
        let text =
            "1,,syscalls:sys_enter_read,1,100.00,,\n<not counted>,,context-switches,0,0.00,,\n";
        assert_eq!(calls(text).unwrap_err(), "perf did not count context-switches: <not counted>");
        assert_eq!(calls("# started\n\n").unwrap_err(), "perf counted nothing");
    }

    #[test]
    fn recorded_stacks_are_folded() {
        let (samples, stacks) = stacks(include_bytes!("golden/script.txt")).unwrap();
        assert_eq!(samples, 10);
        let lines = stacks.iter().map(|(stack, ns)| format!("{ns} {stack}\n"));
        expect_file!["golden/stacks.txt"].assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn frames_that_say_nothing_are_dropped() {
        assert_eq!(tidy("a;[unknown];f::g;[libc.so.6]"), "a;f::g;[libc.so.6]");
        assert_eq!(tidy("a;[unknown]"), "a;[unknown]");
        assert_eq!(stacks(b"").unwrap_err(), "perf has no sample of the server");
    }
}
