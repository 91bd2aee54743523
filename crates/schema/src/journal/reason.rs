//! A reason: a finding that limits or explains the figures of a run, with weight and figure. The code
//! that detects a fault decides its weight; `words.rs` alone has its sentence.

mod kind;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use kind::ReasonKind;

use super::{
    Measurement, Outcome, Run, Visit,
    program::{Owner, ProgramShare},
};

/// One thing that speaks against the figures of a run, or limits what they say.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(from = "StoredReason", into = "StoredReason")]
#[schemars(with = "StoredReason")]
pub struct Reason {
    /// Its kind.
    pub kind: ReasonKind,
    /// Its effect on the figures.
    pub weight: Weight,
    /// The figure that decided, in the unit that the kind says.
    pub figure: Option<f64>,
    /// The side that it is about, where the kind does not say it.
    pub side: Option<RunSide>,
    /// Further figures, or the first example.
    pub detail: Option<String>,
    /// The programs that ran on the CPUs, if that is what it is about; empty if none was seen.
    pub programs: Option<Vec<ProgramShare>>,
}

/// A side of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunSide {
    /// The server under test.
    Server,
    /// The load generator.
    Generator,
}

crate::names! { RunSide: Server = "the server", Generator = "the generator" }

/// A reason as files have it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[schemars(rename = "Reason")]
struct StoredReason {
    /// Its kind.
    kind: ReasonKind,
    /// Its effect on the figures.
    weight: Weight,
    /// The figure that decided, in the unit that the kind says.
    figure: Option<f64>,
    /// A sentence with its figures, for people: what was seen, what that means, and what to do.
    text: String,
    /// The side that it is about, where the kind does not say it. Absent in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    side: Option<RunSide>,
    /// Further figures, or the first example. Absent in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The programs that ran on the CPUs, if that is what it is about; empty if none was seen. Absent in older
    /// journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    programs: Option<Vec<ProgramShare>>,
}

impl From<Reason> for StoredReason {
    fn from(reason: Reason) -> Self {
        let text = reason.text();
        let Reason { kind, weight, figure, side, detail, programs } = reason;
        Self { kind, weight, figure, text, side, detail, programs }
    }
}

impl From<StoredReason> for Reason {
    fn from(stored: StoredReason) -> Self {
        let StoredReason { kind, weight, figure, text, mut side, mut detail, programs } = stored;
        // Older journals have sides and examples in the text alone.
        let is_older = side.is_none() && detail.is_none();
        if is_older && matches!(kind, ReasonKind::Neighbour | ReasonKind::Stolen) {
            let is_generator = text.contains("the generator");
            side = Some(if is_generator { RunSide::Generator } else { RunSide::Server });
        } else if is_older && programs.is_none() {
            let brackets = text.split_once(" (").and_then(|(_, rest)| rest.rsplit_once(')'));
            detail = brackets.map(|(inside, _)| inside.to_owned());
        }
        Self { kind, weight, figure, side, detail, programs }
    }
}

crate::names! {
    /// The effect of a reason on the figures of its run.
    ///
    /// What a server does by itself is a result and no fault of the measurement, so it is at most a
    /// note: a pause, for example. What keeps the figures from meaning what their names say is invalid,
    /// whatever the cause: replies that are missing, a rate that was not kept, a CPU that others had.
    pub enum Weight {
        /// Does not change their meaning.
        Note = "note",
        /// Their latencies from the 99th percentile on are not those of the server; all other figures
        /// are valid.
        Tail = "tail",
        /// They are a bound: the server may do more.
        Limit = "limit",
        /// They are not what they claim to be.
        Invalid = "invalid",
    }
}

impl Weight {
    /// The heaviest weight among `reasons`; none where nothing is to be said.
    #[must_use]
    pub fn heaviest(reasons: &[Reason]) -> Option<Self> {
        reasons.iter().map(|reason| reason.weight).max()
    }
}

impl ReasonKind {
    /// A reason of this kind, with the first example or further figures; empty without.
    #[must_use]
    pub fn reason(self, weight: Weight, figure: Option<f64>, detail: impl Into<String>) -> Reason {
        let detail = Some(detail.into()).filter(|it| !it.is_empty());
        Reason { kind: self, weight, figure, side: None, detail, programs: None }
    }

    /// Whether it says that something else used the CPUs of a side.
    #[must_use]
    pub const fn is_disturbance(self) -> bool {
        use ReasonKind::{BusyBefore, GeneratorStall, Neighbour, VisitsDropped};
        matches!(self, Neighbour | GeneratorStall | BusyBefore | VisitsDropped)
    }
}

impl Reason {
    /// The same about this side.
    #[must_use]
    pub fn of(self, side: RunSide) -> Self {
        Self { side: Some(side), ..self }
    }

    /// The same with the programs that were seen.
    #[must_use]
    pub fn by(self, programs: &[ProgramShare]) -> Self {
        Self { programs: Some(programs.to_vec()), ..self }
    }

    /// What to do.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self.kind.is_disturbance() {
            true => next_step(self.programs.iter().flatten()),
            false => self.kind.guide().next_step,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl Outcome {
    /// The reasons of the run's figures; none for a run without figures.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Measured(measurement) => &measurement.reasons,
            Self::Idle(measurement) => &measurement.reasons,
            Self::Failed { .. } => &[],
        }
    }

    /// The figures under load.
    #[must_use]
    pub fn measured(&self) -> Option<&Measurement> {
        if let Self::Measured(measurement) = self { Some(measurement) } else { None }
    }

    /// The visits of a run in a cohort; none of another one.
    #[must_use]
    pub fn visits(&self) -> &[Visit] {
        self.measured().map_or(&[], |measured| &measured.visits)
    }

    /// Why there are no figures.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        if let Self::Failed { reason, .. } = self { Some(reason) } else { None }
    }
}

impl Run {
    /// The heaviest weight of the findings about its figures; none where there are no findings. A
    /// run without figures has none either.
    #[must_use]
    pub fn weight(&self) -> Option<Weight> {
        Weight::heaviest(self.outcome.reasons())
    }

    /// Whether a reason of this weight speaks against its figures.
    #[must_use]
    pub fn has(&self, weight: Weight) -> bool {
        self.outcome.reasons().iter().any(|reason| reason.weight == weight)
    }
}

/// What to do where a side had to wait for its CPUs and these programs were seen.
#[must_use]
pub fn next_step<'a>(programs: impl IntoIterator<Item = &'a ProgramShare>) -> &'static str {
    let programs: Vec<&ProgramShare> = programs.into_iter().collect();
    if programs.iter().any(|it| it.is_worth_stopping()) {
        "stop these programs and measure again"
    } else if programs.iter().any(|it| it.owner == Owner::Log) {
        ReasonKind::Stderr.guide().next_step
    } else {
        "measure for longer, or on another machine"
    }
}

#[cfg(test)]
mod tests;
