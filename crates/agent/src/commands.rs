//! Reads commands on a thread of its own, so that the end of the input is noticed while a slice lasts.

use std::{
    io::BufRead,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
};
use wirebench_schema::agent::AgentCommand;

/// Commands as they come.
pub(crate) struct Commands {
    lines: Receiver<String>,
    /// Set when the input has ended: whatever lasts shall stop.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Commands {
    /// Reads `input` from now on.
    pub(crate) fn read(input: impl BufRead + Send + 'static) -> Self {
        let (sender, lines) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&stop);
        thread::spawn(move || {
            for line in input.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
            ended.store(true, Ordering::Relaxed);
        });
        Self { lines, stop }
    }

    /// The next command, or why a line is none; nothing when the input has ended.
    pub(crate) fn next(&self) -> Option<Result<AgentCommand, String>> {
        let line = self.lines.recv().ok()?;
        Some(serde_json::from_str(&line).map_err(|error| {
            format!("`{line}` is not a command ({error}): both sides must be the same version")
        }))
    }
}
