//! Checks of how server processes end: not when clients misbehave, at once when asked, completely,
//! and quietly.

use rustix::process::{Pid, Signal};
use std::time::Duration;
use wirebench_schema::{
    entry::{Ready, Sharing},
    scenario::Protocol,
};
use wirebench_server::{
    guard::Exit,
    launch::{STOP_GRACE, Server, Stopped},
};

use super::{Described, Verdict, client::ClientError, outcome::Outcome, protocols::support, show};

/// What a server may write to standard error in its life.
const STDERR_BYTES_MOST: u64 = 64 * 1024;
/// Requests that one server process is to answer, so that a line about each of them shows.
pub(super) const REPLIES_PER_LIFE: u64 = 4000;
/// What a server may write while it answers them: a start or an end leaves a few lines.
const WRITTEN_MOST: u64 = 4096;
/// How long the end of a server that dies from a client may take.
const DYING: Duration = Duration::from_millis(150);

pub(super) const CHECKS: [Described; 3] = [
    Described {
        name: "stops-on-sigterm",
        about: "The server exits within two seconds of SIGTERM, without a crash.",
    },
    Described {
        name: "leaves-nothing-behind",
        about: "No process of the server outlives its first one.",
    },
    Described {
        name: "quiet",
        about: "The server prints only its ready line, no access log, and at most 64 KiB on its standard error.",
    },
];

/// Resets connections, then looks whether the server is whole and answers.
pub(super) fn survives(server: &mut Server, protocol: Protocol, sharing: Sharing) -> Outcome {
    let before = server.tree();
    let reset = (support(protocol).reset_clients)(server.address());
    match server.wait(DYING) {
        Some(exit) => Outcome::ServerEnded {
            finding: format!("the server ended with {exit} when clients reset their connections"),
        },
        None => Outcome::Verdict(goes_on(server, protocol, sharing, &before, reset).into()),
    }
}

/// A server that is still there must be whole and answer.
fn goes_on(
    server: &Server,
    protocol: Protocol,
    sharing: Sharing,
    before: &[Pid],
    reset: Result<(), ClientError>,
) -> Result<(), String> {
    let address = server.address();
    reset.map_err(|trouble| format!("while clients reset their connections: {trouble}"))?;
    for _ in 0..3 {
        (support(protocol).works)(address)
            .map_err(|finding| format!("after clients had reset their connections: {finding}"))?;
    }
    // A process per connection ends with its connection; all others must stay.
    if sharing != Sharing::PerConnection {
        let after = server.tree();
        if let Some(lost) = before.iter().find(|pid| !after.contains(pid)) {
            return Err(format!(
                "process {} of the server ended when clients reset their connections",
                lost.as_raw_nonzero()
            ));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Cause {
    Asked,
    /// By itself, during a check, which has said so.
    Itself,
}

/// What a server process wrote to its outputs while it sent replies, and until its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Written {
    pub(super) bytes: u64,
    pub(super) replies: u64,
}

/// Judges the ends of all server processes of a scenario.
pub(super) fn judge(
    ends: &[(Cause, Stopped)],
    ready: Ready,
    written: &[Written],
) -> [(&'static str, Verdict); 3] {
    let [sigterm, left_behind, quiet] = CHECKS.map(|check| check.name);
    if ends.is_empty() {
        let skip = || Verdict::Skip { reason: "no server has come to its end".into() };
        return [(sigterm, skip()), (left_behind, skip()), (quiet, skip())];
    }
    [
        (sigterm, judge_sigterm(ends).into()),
        (left_behind, judge_left_behind(ends).into()),
        (quiet, judge_log(written).and_then(|()| judge_quiet(ends, ready)).into()),
    ]
}

fn judge_sigterm(ends: &[(Cause, Stopped)]) -> Result<(), String> {
    if ends.iter().any(|(_, stopped)| stopped.forced) {
        return Err(format!(
            "the server ignored SIGTERM for {} s and had to be killed",
            STOP_GRACE.as_secs()
        ));
    }
    for (_, stopped) in ends.iter().filter(|(cause, _)| *cause == Cause::Asked) {
        if let Some(Exit::Signal(signal)) = stopped.exit
            && signal != Signal::TERM.as_raw()
        {
            return Err(format!("on SIGTERM the server crashed with signal {signal}"));
        }
    }
    Ok(())
}

fn judge_left_behind(ends: &[(Cause, Stopped)]) -> Result<(), String> {
    match ends.iter().find(|(_, stopped)| !stopped.left_behind.is_empty()) {
        None => Ok(()),
        Some((_, Stopped { left_behind, .. })) => Err(format!(
            "after the server had ended, {} of it remained and had to be killed: {}",
            show::count(left_behind.len(), "process", "processes"),
            left_behind.join(", ")
        )),
    }
}

fn judge_quiet(ends: &[(Cause, Stopped)], ready: Ready) -> Result<(), String> {
    for (_, stopped) in ends {
        if stopped.stderr_bytes > STDERR_BYTES_MOST {
            return Err(format!(
                "the server wrote {} bytes to standard error, at most {STDERR_BYTES_MOST} are \
                 allowed; the last line: {}",
                stopped.stderr_bytes,
                show::bytes(stopped.stderr.lines().last().unwrap_or_default().as_bytes())
            ));
        }
        if let (Ready::Line, Some(line)) = (ready, stopped.further_lines.first()) {
            return Err(format!(
                "behind its ready line the server printed {} on standard output",
                show::bytes(line.as_bytes())
            ));
        }
    }
    Ok(())
}

/// A server that writes about each request spends time on that, and so does wirebench, which reads it.
fn judge_log(written: &[Written]) -> Result<(), String> {
    let is_log = |it: &&Written| it.bytes > WRITTEN_MOST && it.bytes >= it.replies;
    match written.iter().find(is_log) {
        None => Ok(()),
        Some(Written { bytes, replies }) => Err(format!(
            "the server wrote {bytes} bytes of output while it sent {replies} replies: switch its access log off, \
             or send it to a file"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_grows_with_the_replies_is_a_log_and_other_output_is_not() {
        let verdict = |bytes, replies| judge_log(&[Written { bytes, replies }]);
        let finding = verdict(280_000, 4000).unwrap_err();
        assert!(finding.starts_with("the server wrote 280000 bytes of output while"), "{finding}");
        assert!(verdict(WRITTEN_MOST + 1, 60).is_err());
        assert_eq!(verdict(WRITTEN_MOST, 60), Ok(()));
        assert_eq!(verdict(5000, 100_000), Ok(()));
    }

    fn failed(stopped: &Stopped, ready: Ready) -> Vec<&'static str> {
        judge(&[(Cause::Asked, stopped.clone())], ready, &[])
            .into_iter()
            .filter(|(_, verdict)| *verdict != Verdict::Pass)
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn a_server_that_ended_in_order_passes() {
        assert!(failed(&Stopped::default(), Ready::Line).is_empty());
    }

    #[test]
    fn each_way_to_end_badly_is_a_finding() {
        let forced = Stopped { forced: true, ..Stopped::default() };
        assert_eq!(failed(&forced, Ready::Line), ["stops-on-sigterm"]);
        let crashed = Stopped { exit: Some(Exit::Signal(11)), ..Stopped::default() };
        assert_eq!(failed(&crashed, Ready::Line), ["stops-on-sigterm"]);
        let child = Stopped { left_behind: vec!["7 (sleep)".into()], ..Stopped::default() };
        assert_eq!(failed(&child, Ready::Line), ["leaves-nothing-behind"]);
        let loud = Stopped { stderr_bytes: STDERR_BYTES_MOST + 1, ..Stopped::default() };
        assert_eq!(failed(&loud, Ready::Line), ["quiet"]);
    }

    #[test]
    fn only_a_crash_on_sigterm_is_one_on_sigterm() {
        for exit in [Exit::Signal(15), Exit::Code(0), Exit::Code(143), Exit::Unseen] {
            let ended = Stopped { exit: Some(exit), ..Stopped::default() };
            assert!(failed(&ended, Ready::Line).is_empty(), "{exit}");
        }
        let crashed = Stopped { exit: Some(Exit::Signal(6)), ..Stopped::default() };
        let verdicts = judge(&[(Cause::Itself, crashed)], Ready::Line, &[]);
        assert!(verdicts.iter().all(|(_, verdict)| *verdict == Verdict::Pass));
    }

    #[test]
    fn only_a_server_with_a_ready_line_must_be_silent_on_standard_output() {
        let chatty = Stopped { further_lines: vec!["hi".into()], ..Stopped::default() };
        assert_eq!(failed(&chatty, Ready::Line), ["quiet"]);
        assert!(failed(&chatty, Ready::Connect).is_empty());
    }

    #[test]
    fn without_a_server_nothing_passes() {
        let all_skipped = judge(&[], Ready::Line, &[])
            .iter()
            .all(|(_, verdict)| matches!(verdict, Verdict::Skip { .. }));
        assert!(all_skipped);
    }
}
