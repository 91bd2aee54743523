//! Checks of how server processes end: not when clients misbehave, at once when asked, completely,
//! and quietly.

use std::time::Duration;
use wirebench_schema::{
    entry::{Ready, Sharing},
    scenario::Protocol,
};

use super::{Described, Verdict, session::GRACE, show, traffic};
use crate::launch::{Server, Stopped};

/// What a server may write to standard error in its life.
const STDERR_BYTES_MOST: u64 = 64 * 1024;
/// How long the end of a server that dies from a client may take.
const DYING: Duration = Duration::from_millis(150);

pub(super) const CHECKS: [Described; 3] = [
    Described { name: "stops-on-sigterm", about: "The server ends within two seconds of SIGTERM." },
    Described {
        name: "leaves-nothing-behind",
        about: "No process of the server outlives its first one.",
    },
    Described {
        name: "quiet",
        about: "Standard output has the ready line and nothing else, standard error at most 64 KiB.",
    },
];

/// Resets connections, then looks whether the server is whole and answers.
pub(super) fn survives(
    server: &mut Server,
    protocol: Protocol,
    sharing: Sharing,
) -> Result<(), String> {
    let before = server.tree();
    let address = server.address();
    let reset = traffic::reset_clients(protocol, address);
    if let Some(exit) = server.wait(DYING) {
        return Err(format!("the server ended with {exit} when clients reset their connections"));
    }
    reset.map_err(|trouble| format!("while clients reset their connections: {trouble}"))?;
    for _ in 0..3 {
        traffic::works(protocol, address)
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

/// Judges the ends of all server processes of a scenario.
pub(super) fn judge(stopped: &[Stopped], ready: Ready) -> [(&'static str, Verdict); 3] {
    let [sigterm, left_behind, quiet] = CHECKS.map(|check| check.name);
    if stopped.is_empty() {
        let skip = || Verdict::Skip { reason: "no server has come to its end".into() };
        return [(sigterm, skip()), (left_behind, skip()), (quiet, skip())];
    }
    [
        (sigterm, judge_sigterm(stopped).into()),
        (left_behind, judge_left_behind(stopped).into()),
        (quiet, judge_quiet(stopped, ready).into()),
    ]
}

fn judge_sigterm(stopped: &[Stopped]) -> Result<(), String> {
    if stopped.iter().any(|stopped| stopped.forced) {
        return Err(format!(
            "the server ignored SIGTERM for {} s and had to be killed",
            GRACE.as_secs()
        ));
    }
    Ok(())
}

fn judge_left_behind(stopped: &[Stopped]) -> Result<(), String> {
    match stopped.iter().find(|stopped| !stopped.left_behind.is_empty()) {
        None => Ok(()),
        Some(Stopped { left_behind, .. }) => Err(format!(
            "after the server had ended, {} of it remained and had to be killed: {}",
            show::count(left_behind.len(), "process", "processes"),
            left_behind.join(", ")
        )),
    }
}

fn judge_quiet(stopped: &[Stopped], ready: Ready) -> Result<(), String> {
    for stopped in stopped {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(stopped: &Stopped, ready: Ready) -> Vec<&'static str> {
        judge(std::slice::from_ref(stopped), ready)
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
        let child = Stopped { left_behind: vec!["7 (sleep)".into()], ..Stopped::default() };
        assert_eq!(failed(&child, Ready::Line), ["leaves-nothing-behind"]);
        let loud = Stopped { stderr_bytes: STDERR_BYTES_MOST + 1, ..Stopped::default() };
        assert_eq!(failed(&loud, Ready::Line), ["quiet"]);
    }

    #[test]
    fn only_a_server_with_a_ready_line_must_be_silent_on_standard_output() {
        let chatty = Stopped { further_lines: vec!["hi".into()], ..Stopped::default() };
        assert_eq!(failed(&chatty, Ready::Line), ["quiet"]);
        assert!(failed(&chatty, Ready::Connect).is_empty());
    }

    #[test]
    fn without_a_server_nothing_passes() {
        let all_skipped = judge(&[], Ready::Line)
            .iter()
            .all(|(_, verdict)| matches!(verdict, Verdict::Skip { .. }));
        assert!(all_skipped);
    }
}
