//! What `perf stat -x ,` and `perf script` print. Pure.

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
            *calls.by_name.entry(name.to_owned()).or_default() += count;
        } else if event == ALL_CALLS {
            all += count;
        } else if event == SWITCHES {
            has_switches = true;
            calls.context_switches += count;
        }
    }
    let others = all.saturating_sub(calls.by_name.values().sum());
    calls.by_name.insert(OTHER.to_owned(), others);
    calls.by_name.retain(|_, count| *count > 0);
    if has_switches { Ok(calls) } else { Err("perf counted nothing".to_owned()) }
}

/// The number of samples, and the sampled CPU time of each stack in nanoseconds. A stack is the name of the thread and
/// the frames, the outermost first, without those that say nothing.
pub(super) fn stacks(script: &[u8]) -> Result<(u64, BTreeMap<String, u64>), String> {
    let (mut samples, mut stacks) = (0, BTreeMap::new());
    for sample in String::from_utf8_lossy(script).split("\n\n") {
        let mut lines = sample.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
        let Some((thread, ns)) = lines.next().and_then(thread) else { continue };
        let mut frames: Vec<String> = lines.filter_map(frame).collect();
        frames.extend(frames.is_empty().then(|| UNKNOWN.to_owned()));
        frames.push(thread);
        frames.reverse();
        *stacks.entry(frames.join(";")).or_default() += ns;
        samples += 1;
    }
    let none = || "perf has no sample of the server".to_owned();
    (samples > 0).then_some((samples, stacks)).ok_or_else(none)
}

/// The name and the CPU time in `a thread 1994 47621.426791:    1003009 cpu-clock:`.
fn thread(line: &str) -> Option<(String, u64)> {
    let (thread, sample) = line.split_once(": ")?;
    // The CPU has brackets; the number of the thread and the time are last.
    let words: Vec<&str> = thread.split_whitespace().filter(|it| !it.starts_with('[')).collect();
    let name = words[..words.len().checked_sub(2)?].join("_");
    Some((name, sample.split_whitespace().next()?.parse().ok()?))
}

/// The function in `    82ff0 function+0x1a (/path/file)`, or its file; those of the kernel have a mark.
fn frame(line: &str) -> Option<String> {
    let (symbol, path) = line.trim().split_once(' ')?.1.rsplit_once('(')?;
    let symbol = symbol.rsplit_once("+0x").map_or(symbol, |(symbol, _)| symbol).trim();
    let file = path.trim_end_matches(')').rsplit('/').next()?;
    let mark = if path.starts_with('[') || file == "vmlinux" { "_[k]" } else { "" };
    match symbol {
        "" | UNKNOWN if file == UNKNOWN => None,
        "" | UNKNOWN => Some(format!("[{file}]{mark}")),
        _ => Some(symbol.replace(';', ":") + mark),
    }
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
        let text = "1,,syscalls:sys_enter_read,1\n<not counted>,,context-switches,0\n";
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
        let text = "a b 7 [1] 5.1: 9 c:\n 1 [unknown] (/l.so)\n 2 f;g+0x1 (/b)\n\na 7 5.2: 9 c:\n";
        let stacks = |text: &str| stacks(text.as_bytes()).map(|it| it.1.into_keys().collect());
        assert_eq!(stacks(text), Ok(vec!["a;[unknown]".to_owned(), "a_b;f:g;[l.so]".to_owned()]));
        assert_eq!(stacks(""), Err("perf has no sample of the server".to_owned()));
    }
}
