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
    /// Set when the input has ended: whatever lasts shall stop.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Commands {
    /// Reads `input` from now on. `alive` answers a heartbeat.
    pub(crate) fn read(
        input: impl BufRead + Send + 'static,
        alive: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, lines) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&stop);
        parallel::spawn(move || {
            let mut heartbeat: Option<Arc<AtomicU64>> = None;
            for line in input.lines().map_while(Result::ok) {
                let command = parse(&line);
                match &command {
                    Ok(AgentCommand::Heartbeat) => {
                        let watch = || watch(&sender, &ended);
                        heartbeat.get_or_insert_with(watch).store(now_ns(), Ordering::Relaxed);
                        alive();
                        continue;
                    }
                    Ok(AgentCommand::Stop) => ended.store(true, Ordering::Relaxed),
                    _ => {}
                }
                if sender.send(Some(command)).is_err() {
                    return;
                }
            }
            end(&sender, &ended);
        })?;
        Ok(Self { lines, stop })
    }

    /// The next command, or why a line is none; nothing when the input has ended.
    pub(crate) fn next(&self) -> Option<Line> {
        self.lines.recv().ok()?
    }
}

fn parse(line: &str) -> Line {
    serde_json::from_str(line).map_err(|error| {
        format!("`{line}` is not a command ({error}): both sides must be the same version")
    })
}

fn end(lines: &Sender<Option<Line>>, stop: &AtomicBool) {
    stop.store(true, Ordering::Relaxed);
    let _ = lines.send(None);
}

/// Ends everything when heartbeats stay away. Returns where the moment of the last one is kept.
fn watch(all: &Sender<Option<Line>>, ended: &Arc<AtomicBool>) -> Arc<AtomicU64> {
    let last_ns = Arc::new(AtomicU64::new(now_ns()));
    let (seen, lines, stop) = (Arc::clone(&last_ns), all.clone(), Arc::clone(ended));
    let watcher = parallel::spawn(move || {
        let left_ns = || {
            let silence_ns = now_ns().saturating_sub(seen.load(Ordering::Relaxed));
            HEARTBEAT_WITHIN_NS.checked_sub(silence_ns).filter(|left_ns| *left_ns > 0)
        };
        while let Some(left_ns) = left_ns() {
            thread::sleep(Duration::from_nanos(left_ns));
        }
        end(&lines, &stop);
    });
    if watcher.is_err() {
        // Without a watch a host that is cut off would go on making load.
        end(all, ended);
    }
    last_ns
}
