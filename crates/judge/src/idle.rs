//! Findings about a server that was measured with connections that are silent.

use std::time::Duration;
use wirebench_schema::{
    journal::{Reason, ReasonKind, Weight},
    scenario::DEFAULT_TIMEOUT_MS,
    verification::Verification,
};

use crate::validity::not_verified;

/// What was seen of a server with silent connections.
#[derive(Clone, Debug)]
pub struct Idle<'a> {
    pub asked: usize,
    /// Connections that had a request answered.
    pub made: usize,
    /// Why the others had none.
    pub missing: Option<&'a str>,
    /// Files that the server may have open, where it has reached that limit.
    pub files: Option<u64>,
    /// Connections that the server closed, or wrote to.
    pub lost: usize,
    /// Whether the server closes silent connections after a time that its command does not take.
    pub timeout_is_fixed: bool,
    /// Whether memory is the sum of resident set sizes.
    pub memory_is_resident: bool,
    /// How long its memory was waited for, where it still moved after that.
    pub memory_moved: Option<Duration>,
    pub verification: Verification,
}

impl Idle<'_> {
    /// What a reader must know before trusting the figures, each with the next step.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        let reasons = [
            self.connections_missing(),
            self.connections_lost(),
            self.resident(),
            self.moving(),
            not_verified(self.verification),
        ];
        reasons.into_iter().flatten().collect()
    }

    fn connections_missing(&self) -> Option<Reason> {
        let (asked, made) = (self.asked, self.made);
        let missing = self.missing?;
        let limit = self.files.map(|files| format!("; the server may open {files} files"));
        let detail = format!("of {asked}: {missing}{}", limit.unwrap_or_default());
        Some(ReasonKind::ConnectionsMissing.reason(Weight::Invalid, Some(made as f64), detail))
    }

    fn connections_lost(&self) -> Option<Reason> {
        let bound = if self.timeout_is_fixed {
            format!(
                "; its command has no {{timeout_ms}}, so it may close them after {} s",
                DEFAULT_TIMEOUT_MS / 1000
            )
        } else {
            String::new()
        };
        let detail = format!("or wrote to idle ones, {} in all{bound}", self.made);
        let figure = Some(self.lost as f64);
        (self.lost > 0).then(|| ReasonKind::ServerCloses.reason(Weight::Invalid, figure, detail))
    }

    fn resident(&self) -> Option<Reason> {
        let detail = "the sum of resident set sizes, because proportional ones cannot be read";
        let reason = || ReasonKind::ResidentMemory.reason(Weight::Note, None, detail);
        self.memory_is_resident.then(reason)
    }

    fn moving(&self) -> Option<Reason> {
        let patience = self.memory_moved?;
        let figure = Some(patience.as_nanos() as f64);
        Some(ReasonKind::NotSteady.reason(Weight::Note, figure, "its memory, without requests"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Idle<'_> = Idle {
        asked: 100,
        made: 100,
        missing: None,
        files: None,
        lost: 0,
        timeout_is_fixed: false,
        memory_is_resident: false,
        memory_moved: None,
        verification: Verification::Full,
    };

    #[test]
    fn a_good_server_has_no_reasons_and_each_fault_has_its_own() {
        assert_eq!(GOOD.reasons(), []);
        let second = Duration::from_secs(2);
        let rows = [
            (Idle { made: 7, missing: Some("refused"), ..GOOD }, ReasonKind::ConnectionsMissing),
            (Idle { lost: 1, ..GOOD }, ReasonKind::ServerCloses),
            (Idle { memory_is_resident: true, ..GOOD }, ReasonKind::ResidentMemory),
            (Idle { memory_moved: Some(second), ..GOOD }, ReasonKind::NotSteady),
            (Idle { verification: Verification::LeftOut, ..GOOD }, ReasonKind::NotVerified),
        ];
        for (idle, kind) in rows {
            let kinds: Vec<_> = idle.reasons().iter().map(|it| it.kind).collect();
            assert_eq!(kinds, [kind]);
        }
    }

    #[test]
    fn the_limit_of_open_files_and_a_fixed_timeout_are_named() {
        let few = Idle { made: 7, missing: Some("refused"), files: Some(64), ..GOOD };
        assert_eq!(
            few.reasons()[0].text(),
            "only 7 connections were made or kept (of 100: refused; the server may open 64 files); \
             check the open-file limits of both sides"
        );
        let closed = Idle { lost: 1, timeout_is_fixed: true, ..GOOD };
        let text = closed.reasons()[0].text();
        assert!(text.contains("no {timeout_ms}, so it may close them after 5 s"), "{text}");
    }
}
