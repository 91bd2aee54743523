//! Reads all that a server writes to standard error and keeps the end of it, so that a flood fills
//! no memory.

use std::{
    collections::VecDeque,
    io::{self, Read},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use wirebench_schema::printable::printable;

use crate::parallel;

/// Bytes that are kept.
const KEPT: usize = 16 * 1024;
/// How long reading the rest may take once the program has ended.
pub const STDERR_PATIENCE: Duration = Duration::from_secs(1);

/// The end of what a server has written so far, and how much it was in all.
#[derive(Clone, Debug, Default)]
pub struct StderrTail(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    last: VecDeque<u8>,
    bytes: u64,
    has_ended: bool,
}

impl StderrTail {
    /// Reads `source` to its end on a thread of its own.
    pub fn follow(mut source: impl Read + Send + 'static) -> io::Result<Self> {
        let tail = Self::default();
        let writer = tail.clone();
        parallel::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = source.read(&mut buffer) {
                writer.push(&buffer[..length]);
            }
            writer.state().has_ended = true;
            writer.0.ended.notify_all();
        })?;
        Ok(tail)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.bytes += bytes.len() as u64;
        state.last.extend(bytes);
        let surplus = state.last.len().saturating_sub(KEPT);
        state.last.drain(..surplus);
    }

    /// Waits until all that was written has been read. Only for a program that has ended; `most`
    /// bounds the wait, because a process that could not be killed may still hold the pipe.
    pub fn wait_for_end(&self, most: Duration) {
        let goes_on = |state: &mut State| !state.has_ended;
        let _ = self.0.ended.wait_timeout_while(self.state(), most, goes_on);
    }

    /// How many bytes were written in all.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.state().bytes
    }

    /// The end of what was written, without commands to a terminal: at most the last five lines.
    #[must_use]
    pub fn text(&self) -> String {
        const LINES: usize = 5;
        let bytes: Vec<u8> = self.state().last.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = printable(&text);
        let lines: Vec<&str> = text.trim_end().lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_only_its_end_is_kept() {
        let tail = StderrTail::default();
        for line in 0..100_000 {
            tail.push(format!("line {line}\n").as_bytes());
        }
        assert!(tail.state().last.len() <= KEPT);
        let written: usize = (0..100_000).map(|n| format!("line {n}\n").len()).sum();
        assert_eq!(tail.bytes(), written as u64);
        assert!(tail.text().ends_with("line 99998\nline 99999"));
        assert_eq!(tail.text().lines().count(), 5);
        tail.push(b"\x1b[2Jcleared\n");
        assert!(tail.text().ends_with("\n\\u{1b}[2Jcleared"), "{}", tail.text());
    }
}
