//! A program that runs, and what it printed when it has ended.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Output, Stdio},
};

/// What a program printed and how it ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { code: output.status.code(), stdout, stderr }
    }

    /// This outcome, if it ended with this exit code.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Whether a run went through to its reports. On a machine that is busy with other tests a
    /// short window may stay without a reply, which is a run that failed and no fault of the rest.
    #[track_caller]
    pub(crate) fn assert_reported(&self) {
        let is_reported = self.stdout.contains("\nReport: ") && !self.stderr.contains("panicked");
        let is_failed = self.code == Some(1) && self.stdout.contains("failed");
        assert!((self.code == Some(0) || is_failed) && is_reported, "{self:#?}");
    }

    /// Whether it ended with this exit code and printed this error and nothing else on standard error.
    #[track_caller]
    pub(crate) fn assert_error(&self, code: i32, message: &str) {
        assert_eq!(self.stderr, format!("error: {message}\n"));
        assert_eq!(self.code, Some(code), "{self:#?}");
    }

    /// Whether this is a whole line of what it printed.
    #[track_caller]
    pub(crate) fn assert_line(&self, line: &str) {
        let mut lines = self.stdout.lines().chain(self.stderr.lines());
        assert!(lines.any(|it| it == line), "{line:?} is missing in {self:#?}");
    }

    /// Whether it ended with this exit code and printed these parts, without a panic.
    #[track_caller]
    pub(crate) fn assert_prints(&self, code: i32, parts: &[&str]) {
        self.assert_parts(code, &self.stdout, parts);
    }

    /// Whether it ended with this exit code and a clear sentence with these parts, without a panic.
    #[track_caller]
    pub(crate) fn assert_refused(&self, code: i32, parts: &[&str]) {
        self.assert_parts(code, &self.stderr, parts);
    }

    #[track_caller]
    fn assert_parts(&self, code: i32, text: &str, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert_has(text, parts);
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
    }
}

/// Whether `text` has each of these parts.
#[track_caller]
pub(crate) fn assert_has(text: &str, parts: &[impl AsRef<str>]) {
    for part in parts.iter().map(AsRef::as_ref) {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
}

/// A wirebench that runs. It is killed when the test ends, also in a panic.
pub(crate) struct Running {
    pub(crate) child: Child,
}

impl Running {
    pub(crate) fn of(mut command: std::process::Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self { child }
    }

    /// The first line on standard output.
    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// The address in its first line, if it is a server.
    pub(crate) fn address(&mut self) -> String {
        let line = self.first_line();
        line.strip_prefix("listening ").expect("a ready line").to_owned()
    }

    pub(crate) fn end(mut self) -> Outcome {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code();
        Outcome { code, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
