//! Reads commands on a thread of its own, so that the end of the input is noticed while a load lasts.

use std::{
    io::{self, BufRead},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};
use wirebench_loadgen::now_ns;
use wirebench_schema::agent::{AgentCommand, HEARTBEAT_WITHIN_NS};
use wirebench_server::parallel;

type Line = Result<AgentCommand, String>;

pub(crate) struct Commands {
    /// None is the end.
    lines: Receiver<Option<Line>>,
    end: End,
}

impl Commands {
    /// Reads `input` from now on. `alive` answers a heartbeat.
    pub(crate) fn read(
        input: impl BufRead + Send + 'static,
        alive: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, lines) = mpsc::channel();
        let end = End { lines: sender, stop: Arc::default(), ended: Arc::default() };
        let all = end.clone();
        parallel::spawn(move || {
            let mut heartbeat: Option<Arc<AtomicU64>> = None;
            for line in input.lines().map_while(Result::ok) {
                let command = parse(&line);
                match &command {
                    Ok(AgentCommand::Heartbeat) => {
                        let watch = || watch(&all);
                        heartbeat.get_or_insert_with(watch).store(now_ns(), Ordering::Relaxed);
                        alive();
                        continue;
                    }
                    Ok(AgentCommand::Stop) => all.stop.store(true, Ordering::Relaxed),
                    _ => {}
                }
                if all.lines.send(Some(command)).is_err() {
                    return;
                }
            }
            all.end();
        })?;
        Ok(Self { lines, end })
    }

    /// Set when every load and wait has to stop.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.end.stop)
    }

    /// The next command, or why a line is none; nothing when the input has ended.
    pub(crate) fn next(&self) -> Option<Line> {
        let line = self.lines.recv().ok()??;
        if let Ok(AgentCommand::Stop) = line {
            // It was for the window before.
            self.end.stop.store(self.end.ended.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        Some(line)
    }
}

fn parse(line: &str) -> Line {
    serde_json::from_str(line).map_err(|error| {
        format!("`{line}` is not a command ({error}): both sides must be the same version")
    })
}

/// What ends everything.
#[derive(Clone)]
struct End {
    lines: Sender<Option<Line>>,
    stop: Arc<AtomicBool>,
    /// Set when the input has ended, or heartbeats stay away.
    ended: Arc<AtomicBool>,
}

impl End {
    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.lines.send(None);
    }
}

/// Ends everything when heartbeats stay away. Returns where the moment of the last one is kept.
fn watch(all: &End) -> Arc<AtomicU64> {
    let last_ns = Arc::new(AtomicU64::new(now_ns()));
    let (seen, late) = (Arc::clone(&last_ns), all.clone());
    let watcher = parallel::spawn(move || {
        let left_ns = || {
            let silence_ns = now_ns().saturating_sub(seen.load(Ordering::Relaxed));
            HEARTBEAT_WITHIN_NS.checked_sub(silence_ns).filter(|left_ns| *left_ns > 0)
        };
        while let Some(left_ns) = left_ns() {
            thread::sleep(Duration::from_nanos(left_ns));
        }
        late.end();
    });
    if watcher.is_err() {
        // Without a watch a host that is cut off would go on generating load.
        all.end();
    }
    last_ns
}
