//! One scenario's course of checks: which server process runs, what has been found, what has ended.
//!
//! A server that ends in the middle is named in the check that it ended in, and the next check gets
//! a fresh one. A server that does not start again, or does not speak the protocol at all, makes
//! further checks pointless: they are skipped, so that nothing waits for it again and the one
//! finding is not buried.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_server::launch::{LaunchError, Launcher, Request, Server, Stopped, stop_grace};

use super::{
    Checked, Verdict,
    ends::{self, Cause, Written},
    outcome::Outcome,
};

/// How long the end of a process may take to be known after a check has failed.
const NEWS: Duration = Duration::from_millis(150);

/// Whether a deviation that the entry declares may stand behind a failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DeclaredDeviation {
    /// It may: the check has found what it looks for.
    Possible,
    /// It may not: the server ended in the middle.
    Impossible,
}

pub(super) struct Session<'run, 'observe> {
    pub(super) launcher: &'run Launcher,
    pub(super) request: Request<'run>,
    stop: &'run AtomicBool,
    observe: &'observe mut dyn FnMut(&Checked),
    server: Option<Server>,
    checked: Vec<Checked>,
    ends: Vec<(Cause, Stopped)>,
    /// Bytes that the server had written, and the replies that it has sent since then.
    flooded: Option<(u64, u64)>,
    written: Vec<Written>,
    /// Why no server can be started any more.
    broken: Option<String>,
    /// The check that showed that the server does not speak the protocol at all.
    speechless: Option<&'static str>,
}

impl<'run, 'observe> Session<'run, 'observe> {
    pub(super) fn new(
        launcher: &'run Launcher,
        request: Request<'run>,
        stop: &'run AtomicBool,
        observe: &'observe mut dyn FnMut(&Checked),
    ) -> Self {
        Self {
            launcher,
            request,
            stop,
            observe,
            server: None,
            checked: Vec::new(),
            ends: Vec::new(),
            flooded: None,
            written: Vec::new(),
            broken: None,
            speechless: None,
        }
    }

    pub(super) fn cpus(&self) -> Result<Vec<u32>, String> {
        match &self.launcher.cpus {
            Some(cpus) => Ok(cpus.clone()),
            // Servers inherit the CPUs of this thread.
            None => wirebench_sys::affinity::current().map_err(|error| error.to_string()),
        }
    }

    pub(super) const fn stop(&self) -> &'run AtomicBool {
        self.stop
    }

    fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn report(&mut self, name: &'static str, verdict: Verdict) {
        self.take_down(name, verdict, DeclaredDeviation::Possible);
    }

    /// The check says nothing about this server, for this reason.
    pub(super) fn skip(&mut self, name: &'static str, reason: impl Into<String>) {
        self.report(name, Verdict::Skip { reason: reason.into() });
    }

    fn take_down(&mut self, name: &'static str, verdict: Verdict, excuse: DeclaredDeviation) {
        if self.is_interrupted() {
            return;
        }
        let declared = self.request.variant.deviations.iter().find(|it| it.check == name);
        let verdict = match (verdict, declared) {
            (Verdict::Fail { finding }, Some(deviation))
                if excuse == DeclaredDeviation::Possible =>
            {
                Verdict::Deviates { reason: deviation.reason.clone(), finding }
            }
            (verdict, _) => verdict,
        };
        let checked = Checked { name, scenario: self.request.scenario, verdict };
        (self.observe)(&checked);
        self.checked.push(checked);
    }

    /// Starts a server for the next checks unless one runs.
    pub(super) fn start(&mut self) -> Result<(), LaunchError> {
        if self.server.is_none() {
            self.server = Some(self.launcher.start(&self.request, self.stop)?);
        }
        Ok(())
    }

    /// Whether it is worth trying to start a server.
    pub(super) const fn can_start(&self) -> bool {
        self.broken.is_none()
    }

    /// The first start is a check of its own. When it fails, all other checks are skipped.
    pub(super) fn first_start(&mut self, name: &'static str) -> bool {
        match self.start() {
            Ok(()) => {
                self.report(name, Verdict::Pass);
                true
            }
            Err(error) => {
                self.report(name, Verdict::Fail { finding: error.to_string() });
                for check in super::catalogue(self.request.scenario).iter().skip(1) {
                    self.skip(check.name, "the server was never ready");
                }
                false
            }
        }
    }

    /// Runs one check on the server, or on a fresh one if none runs.
    pub(super) fn check(
        &mut self,
        name: &'static str,
        run: &mut dyn FnMut(&mut Server) -> Outcome,
    ) {
        if self.is_interrupted() {
            return;
        }
        let (verdict, excuse) = match &self.broken {
            Some(reason) => (Verdict::Skip { reason: reason.clone() }, DeclaredDeviation::Possible),
            None => match self.start() {
                Ok(()) => self.run(run),
                Err(error) => {
                    self.broken = Some("the server could not be started again".into());
                    let finding = format!("the server could not be started again: {error}");
                    (Verdict::Fail { finding }, DeclaredDeviation::Impossible)
                }
            },
        };
        self.take_down(name, verdict, excuse);
    }

    /// The check without which no other conversation says anything.
    pub(super) fn check_basics(
        &mut self,
        name: &'static str,
        run: &mut dyn FnMut(&mut Server) -> Outcome,
    ) {
        self.check(name, run);
        if self.checked.last().is_some_and(|checked| checked.verdict != Verdict::Pass) {
            self.speechless = Some(name);
        }
    }

    /// A check that needs a server which speaks the protocol.
    pub(super) fn converse(
        &mut self,
        name: &'static str,
        run: &mut dyn FnMut(&mut Server) -> Outcome,
    ) {
        match self.speechless {
            None => self.check(name, run),
            Some(basics) => self.skip(name, format!("without `{basics}` it would say nothing")),
        }
    }

    fn run(&mut self, run: &mut dyn FnMut(&mut Server) -> Outcome) -> (Verdict, DeclaredDeviation) {
        let Some(server) = &mut self.server else {
            return (
                Verdict::Fail { finding: "no server runs".into() },
                DeclaredDeviation::Impossible,
            );
        };
        let verdict = match run(server) {
            Outcome::Verdict(verdict) => verdict,
            Outcome::ServerEnded { finding } => {
                self.end_server(Cause::Itself);
                return (Verdict::Fail { finding }, DeclaredDeviation::Possible);
            }
        };
        let news = if verdict == Verdict::Pass { Duration::ZERO } else { NEWS };
        let Some(exit) = server.wait(news) else { return (verdict, DeclaredDeviation::Possible) };
        self.end_server(Cause::Itself);
        let finding = match verdict {
            Verdict::Fail { finding } => format!("{finding}; the server ended with {exit}"),
            Verdict::Pass | Verdict::Skip { .. } | Verdict::Deviates { .. } => {
                format!("the server ended with {exit} during this check")
            }
        };
        (Verdict::Fail { finding }, DeclaredDeviation::Impossible)
    }

    /// Ends the server that runs, if one does, and keeps how it ended.
    pub(super) fn stop_server(&mut self) {
        self.end_server(Cause::Asked);
    }

    /// Has many requests answered by the server that runs. What it writes meanwhile counts at its end.
    pub(super) fn flood(&mut self, answered: &dyn Fn(&Server) -> Option<u64>) {
        let Some(server) = &self.server else { return };
        let written = server.stderr().bytes();
        self.flooded = answered(server).map(|replies| (written, replies));
    }

    fn end_server(&mut self, cause: Cause) {
        if let Some(server) = self.server.take() {
            let stopped = server.stop(stop_grace(self.stop));
            if let Some((before, replies)) = self.flooded.take() {
                self.written.push(Written { bytes: stopped.stderr_bytes - before, replies });
            }
            self.ends.push((cause, stopped));
        }
    }

    /// The checks of how all server processes ended.
    pub(super) fn judge_ends(&mut self) {
        let ready = self.request.variant.run.ready;
        for (name, verdict) in ends::judge(&self.ends, ready, &self.written) {
            self.report(name, verdict);
        }
    }

    /// Skips the checks of how server processes end.
    pub(super) fn skip_ends(&mut self, reason: &str) {
        for check in ends::CHECKS {
            self.skip(check.name, reason);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Checked> {
        self.stop_server();
        self.checked
    }
}
