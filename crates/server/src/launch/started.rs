//! A server that wirebench has started: its guard, its readiness, its end.

use rustix::process::Pid;
use std::{
    net::SocketAddr,
    process::Command,
    sync::mpsc::RecvTimeoutError,
    time::{Duration, Instant},
};
use wirebench_schema::{entry::Ready, placeholder, secrets};

use super::{
    LaunchError, Launcher, Request, STDERR_PATIENCE, StderrTail, Stopped, listeners, socket::Socket,
};
use crate::{
    guard::{Exit, GuardEvent, LINGER_AT_WORK, ONE_OUTPUT},
    pipe::PipedChild,
    tree,
};

/// The variable by which the processes of one server are found when its guard was killed.
const MARK: &str = "WIREBENCH_SERVER";
/// How long the guard may take for its own work beyond grace and linger.
const GUARD_PATIENCE: Duration = Duration::from_secs(7);

/// A server that runs behind its guard. Dropping it ends the server's whole tree.
#[derive(Debug)]
pub(super) struct Started {
    /// Closing its input tells it to kill the tree.
    guard: PipedChild,
    pub(super) command: Vec<String>,
    mark: String,
    /// Whether the guard has said that nothing is left.
    done: bool,
    pub(super) address: SocketAddr,
    exit: Option<Exit>,
    further_lines: Vec<String>,
    /// Its Unix socket, if it listens on one instead of the address.
    pub(super) socket: Option<Socket>,
}

impl Started {
    /// Starts the guard, and the server behind it, without waiting for anything.
    pub(super) fn spawn(
        launcher: &Launcher,
        request: &Request<'_>,
        port: u16,
    ) -> Result<Self, LaunchError> {
        let socket = request.listens_on_socket().then(Socket::new).transpose()?;
        let values = request.values(launcher.host, port, socket.as_ref().map(Socket::path));
        let run = &request.variant.run;
        let command = placeholder::fill_all(&run.command, &values)?;
        let mut guard = Command::new(&launcher.guard_command[0]);
        guard.args(&launcher.guard_command[1..]);
        if let Some(cpus) = &launcher.cpus {
            let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
            guard.args(["--cpus", &list.join(",")]);
        }
        if run.ready == Ready::Connect {
            guard.arg(ONE_OUTPUT);
        }
        let mark = tree::new_mark();
        guard.arg("--").args(&command).current_dir(&request.source);
        let variables = placeholder::fill_values(&run.env, &values)?;
        secrets::learn(&command);
        secrets::learn(&variables);
        guard.envs(variables).env(MARK, &mark);
        Ok(Self {
            guard: PipedChild::outliving(guard)?,
            command,
            mark,
            done: false,
            address: SocketAddr::new(launcher.host, port),
            exit: None,
            further_lines: Vec::new(),
            socket,
        })
    }

    /// What it has written to standard error.
    pub(super) const fn stderr(&self) -> &StderrTail {
        &self.guard.stderr
    }

    /// Its guard, which adopts what its processes leave behind.
    pub(super) fn guard(&self) -> Pid {
        self.guard.pid()
    }

    pub(super) fn tree(&self) -> Vec<Pid> {
        tree::descendants(self.guard())
    }

    /// Why its figures are not its own, if another process has joined it on its address since it was ready. A
    /// socket without a holder belonged to a process that has just ended: only processes of the same user
    /// can listen on one port, and those hide none.
    pub(super) fn joined(&self) -> Option<LaunchError> {
        if self.socket.is_some() {
            return None;
        }
        let sockets = listeners::taking(self.address);
        let mut strangers = listeners::foreign(sockets, &self.tree()).into_iter();
        let pid = strangers.find_map(listeners::holder).filter(|pid| !self.tree().contains(pid))?;
        let (address, holder) = (self.address, listeners::named(Some(pid)));
        Some(LaunchError::Foreign { address, holder })
    }

    /// How its first process ended, if it has or does so within `timeout`.
    pub(super) fn wait(&mut self, timeout: Duration) -> Option<Exit> {
        let until = Instant::now() + timeout;
        while self.exit.is_none() {
            match self.next_event(until.saturating_duration_since(Instant::now())) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                // Without its guard the server lives no longer.
                Err(_) => self.exit = Some(Exit::Unseen),
            }
        }
        self.exit
    }

    /// Asks the server to end with SIGTERM, kills what does not end within `grace`, and waits until
    /// nothing is left.
    pub(super) fn stop(&mut self, grace: Duration) -> Stopped {
        let mut stopped = Stopped::default();
        if let Some(input) = &self.guard.input {
            // The guard may have gone already, because the server ended by itself.
            let _ = input.line(&format!("stop {}", grace.as_millis()));
        }
        let until = Instant::now() + grace + LINGER_AT_WORK + GUARD_PATIENCE;
        while Instant::now() < until {
            match self.next_event(until.saturating_duration_since(Instant::now())) {
                Ok(Some(GuardEvent::Forced)) => stopped.forced = true,
                Ok(Some(GuardEvent::LeftBehind { processes })) => stopped.left_behind = processes,
                Ok(Some(GuardEvent::Done { cpu_ns })) => {
                    stopped.cpu_ns = Some(cpu_ns);
                    break;
                }
                Err(_) => break,
                Ok(_) => {}
            }
        }
        self.stderr().wait_for_end(STDERR_PATIENCE);
        stopped.exit = self.exit;
        stopped.further_lines = std::mem::take(&mut self.further_lines);
        stopped.stderr_bytes = self.stderr().bytes();
        stopped.stderr = self.stderr().text();
        self.end_guard();
        stopped
    }

    /// The server accepts connections at `address`; what it prints from now on is beyond the
    /// contract.
    pub(super) fn is_ready(&mut self, address: SocketAddr) {
        self.address = address;
        self.further_lines.clear();
    }

    /// The next event of the guard, or none within `timeout`. An error means that the guard has
    /// gone.
    pub(super) fn next_event(&mut self, timeout: Duration) -> std::io::Result<Option<GuardEvent>> {
        let event: GuardEvent = match self.guard.lines.recv_timeout(timeout) {
            Ok((_, line)) => serde_json::from_str(&line)?,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(std::io::Error::other("it has ended"));
            }
        };
        match &event {
            GuardEvent::Exited { exit } => self.exit = Some(*exit),
            GuardEvent::Done { .. } => self.done = true,
            GuardEvent::Stdout { line } => self.further_lines.push(line.clone()),
            _ => {}
        }
        Ok(Some(event))
    }

    /// Processes of a server whose first one has just ended, if they stay.
    pub(super) fn outlived_by(&mut self) -> Vec<String> {
        let until = Instant::now() + LINGER_AT_WORK + GUARD_PATIENCE;
        while !self.tree().is_empty() {
            match self.next_event(until.saturating_duration_since(Instant::now())) {
                Ok(Some(GuardEvent::LeftBehind { processes })) => return processes,
                Ok(Some(GuardEvent::Done { .. }) | None) | Err(_) => break,
                Ok(Some(_)) => {}
            }
        }
        Vec::new()
    }

    /// Standard error of a server that has ended: waits until the guard, and with it the pipe, is
    /// done.
    pub(super) fn final_stderr(&mut self) -> String {
        self.end_guard();
        self.stderr().wait_for_end(STDERR_PATIENCE);
        self.stderr().text()
    }

    /// Closes the guard's pipe and waits until it has ended the tree and itself.
    ///
    /// The guard bounds its own work. If it still does not end, because another process has stopped
    /// it, its work is done here.
    fn end_guard(&mut self) {
        self.guard.input = None;
        let until = Instant::now() + GUARD_PATIENCE;
        while let Ok(event) = self.next_event(until.saturating_duration_since(Instant::now())) {
            if event.is_none() {
                let _ = self.guard.child.kill();
                break;
            }
        }
        let _ = self.guard.child.wait();
        if !self.done {
            // The kernel has ended the server's first process with its guard, but not what that one
            // had started.
            tree::kill_marked(MARK, &|it| it == self.mark);
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.end_guard();
    }
}
