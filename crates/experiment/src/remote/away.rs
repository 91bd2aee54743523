//! A verb that is carried out on the host of the servers, seen from here: what it prints comes back, and scripts
//! for further hosts are carried from here, because only this side may know the way to them.

use std::{
    collections::BTreeMap,
    io::Write,
    process::{Child, ChildStdin, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::HEARTBEAT_WITHIN_NS,
    hosting::{HOSTING_PROTOCOL, HostCommand, HostEvent},
};
use wirebench_server::{
    launch::{STDERR_PATIENCE, StderrTail},
    parallel,
    pipe::{PipedChild, Writer, lines},
};

use super::{
    Carrier,
    fleet::{HEARTBEAT_EVERY, PATIENCE},
};

/// How often it is looked whether heartbeats are due.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub struct Away {
    pub host: String,
    pub carrier: Carrier,
    /// The script that becomes wirebench there.
    pub script: String,
    /// The words after `wirebench`.
    pub arguments: Vec<String>,
    /// Whether the load comes from further hosts, and the words do not say how they are reached.
    pub lacks_carrier: bool,
}

impl Away {
    /// Carries it out. `print` takes each line, and whether it is a result. The answer is the exit code; an error
    /// is that the way there, or the other side, has failed.
    pub fn carry_out(
        &self,
        stop: &AtomicBool,
        print: &mut dyn FnMut(&str, bool),
    ) -> Result<i32, String> {
        let named = |reason: String| format!("{}: {reason}", self.host);
        let mut command = self.carrier.command(&self.host, &self.script);
        command.stdin(Stdio::piped());
        let process = PipedChild::spawn(command, None)
            .map_err(|error| named(format!("the carrier cannot be started: {error}")))?;
        let writer = process.writer().ok_or_else(|| named("it takes no input".to_owned()))?;
        let mut session = Session {
            away: self,
            process,
            writer,
            streams: BTreeMap::new(),
            heard: Instant::now(),
        };
        session.start(stop).and_then(|()| session.follow(stop, print)).map_err(named)
    }
}

struct Session<'a> {
    away: &'a Away,
    process: PipedChild<HostEvent>,
    writer: Writer,
    streams: BTreeMap<u32, Carried>,
    heard: Instant,
}

impl Session<'_> {
    fn next(&mut self, wait: Duration) -> Result<Option<HostEvent>, String> {
        let event = self.process.next("host", wait)?;
        if event.is_some() {
            self.heard = Instant::now();
        }
        Ok(event)
    }

    fn start(&mut self, stop: &AtomicBool) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        let mut first = None;
        while first.is_none() && Instant::now() < until {
            if stop.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            first = self.next(LOOK)?;
        }
        match first {
            Some(HostEvent::Ready { protocol: HOSTING_PROTOCOL, .. }) => {}
            Some(HostEvent::Ready { protocol, wirebench }) => {
                return Err(format!(
                    "its wirebench {wirebench} has protocol {protocol}, and this one has {HOSTING_PROTOCOL}: \
                     install the same version, or omit --no-copy"
                ));
            }
            Some(other) => return Err(format!("it began with {other:?}")),
            None => return Err(format!("no answer within {} s", PATIENCE.as_secs())),
        }
        let Away { arguments, lacks_carrier, .. } = self.away;
        let (arguments, lacks_carrier) = (arguments.clone(), *lacks_carrier);
        self.writer.say(&HostCommand::Start { arguments, lacks_carrier })
    }

    fn follow(
        &mut self,
        stop: &AtomicBool,
        print: &mut dyn FnMut(&str, bool),
    ) -> Result<i32, String> {
        let mut heartbeat = Instant::now();
        let mut has_stopped = false;
        loop {
            if stop.load(Ordering::Relaxed) && !has_stopped {
                has_stopped = true;
                self.writer.say(&HostCommand::Interrupt)?;
            }
            if heartbeat.elapsed() >= HEARTBEAT_EVERY {
                heartbeat = Instant::now();
                self.writer.say(&HostCommand::Heartbeat)?;
            }
            match self.next(LOOK)? {
                Some(HostEvent::Printed { line, is_result }) => print(&line, is_result),
                Some(HostEvent::Open { stream, host, script }) => self.open(stream, &host, &script),
                Some(HostEvent::Line { stream, line }) => {
                    if let Some(carried) = self.streams.get_mut(&stream) {
                        carried.say(&line);
                    }
                }
                // Without its input it ends.
                Some(HostEvent::Close { stream }) => drop(self.streams.remove(&stream)),
                Some(HostEvent::Ended { code }) => return Ok(code),
                Some(HostEvent::Failed { reason }) => return Err(reason),
                Some(HostEvent::Ready { .. } | HostEvent::Alive) | None => {}
            }
            let silence = self.heard.elapsed();
            if silence > Duration::from_nanos(HEARTBEAT_WITHIN_NS) {
                return Err(format!(
                    "no sign of life for {:.0} s: the host, or the way there, has stalled",
                    silence.as_secs_f64()
                ));
            }
        }
    }

    /// Carries a script to a host. The other side hears how that ends.
    fn open(&mut self, stream: u32, host: &str, script: &str) {
        let writer = self.writer.clone();
        let closed = move |code, stderr| HostCommand::Closed { stream, code, stderr };
        let mut command = self.away.carrier.command(host, script);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C at a terminal is for wirebench, which ends all in order.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        wirebench_sys::child::die_with_parent(&mut command);
        let started = command.spawn().map_err(|it| format!("the carrier cannot be started: {it}"));
        let mut child = match started {
            Ok(child) => child,
            Err(reason) => return drop(writer.say(&closed(None, reason))),
        };
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return;
        };
        let input = child.stdin.take();
        let stderr = match StderrTail::follow(stderr) {
            Ok(stderr) => stderr,
            Err(error) => return drop(writer.say(&closed(None, error.to_string()))),
        };
        let child = Arc::new(Mutex::new(child));
        self.streams.insert(stream, Carried { input, child: Arc::clone(&child) });
        let reader = parallel::spawn(move || {
            for line in lines(stdout) {
                if writer.say(&HostCommand::Line { stream, line }).is_err() {
                    break;
                }
            }
            stderr.wait_for_end(STDERR_PATIENCE);
            let status = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
            let code = status.ok().and_then(|it| it.code());
            let _ = writer.say(&closed(code, stderr.text()));
        });
        if let Err(error) = reader {
            let _ = self.writer.say(&closed(None, error.to_string()));
        }
    }
}

/// A script that is carried to a host. Dropping it ends it.
struct Carried {
    input: Option<ChildStdin>,
    child: Arc<Mutex<Child>>,
}

impl Carried {
    fn say(&mut self, line: &str) {
        // One that has ended says so itself.
        let _ = self.input.as_mut().map(|input| writeln!(input, "{line}"));
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        // An agent ends when its input does, so that the carrier has time to end in order.
        self.input = None;
        let child = Arc::clone(&self.child);
        let killer = parallel::spawn(move || {
            thread::sleep(PATIENCE);
            if let Ok(mut child) = child.try_lock() {
                let _ = child.kill();
            }
        });
        if killer.is_err()
            && let Ok(mut child) = self.child.try_lock()
        {
            let _ = child.kill();
        }
    }
}
