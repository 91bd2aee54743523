//! A reason: a statement that limits or explains the figures of a run, with weight, figure and
//! text. The code that detects a fault decides its weight.

mod brief;
mod guide;
mod kind;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use guide::KindGuide;
pub use kind::ReasonKind;

use super::{
    Measurement, Outcome, Run, Slice,
    program::{ProgramShare, listed, next_step},
};

/// One thing that speaks against the figures of a run, or limits what they say.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Reason {
    /// Its kind.
    pub kind: ReasonKind,
    /// Its effect on the figures.
    pub weight: Weight,
    /// The figure that decided, in the unit that the kind says.
    #[serde(default)]
    pub figure: Option<f64>,
    /// A sentence with its figures, for people: what was seen, what that means, and what to do.
    pub text: String,
    /// The programs that ran on the CPUs, if that is what it is about; empty if none was seen. Absent in older
    /// journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<Vec<ProgramShare>>,
}

/// The effect of a reason on the figures of its run.
///
/// What a server does by itself is a result and no fault of the measurement, so it is at most a
/// note: a pause, for example. What keeps the figures from meaning what their names say is invalid,
/// whatever the cause: replies that are missing, a rate that was not kept, a CPU that others had.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Does not change their meaning.
    Note,
    /// Their latencies from the 99th percentile on are not those of the server; all other figures
    /// are valid.
    Tail,
    /// They are a bound: the server may do more.
    Limit,
    /// They are not what they claim to be.
    Invalid,
}

crate::names! { Weight: Note = "note", Tail = "tail", Limit = "limit", Invalid = "invalid" }

impl Weight {
    /// The heaviest weight among `reasons`; none where nothing is to be said.
    #[must_use]
    pub fn heaviest(reasons: &[Reason]) -> Option<Self> {
        reasons.iter().map(|reason| reason.weight).max()
    }
}

impl ReasonKind {
    /// A reason of this kind.
    #[must_use]
    pub fn reason(self, weight: Weight, figure: Option<f64>, text: impl Into<String>) -> Reason {
        Reason { kind: self, weight, figure, text: text.into(), programs: None }
    }

    /// Whether it says that something else used the CPUs of a side.
    #[must_use]
    pub const fn is_disturbance(self) -> bool {
        use ReasonKind::{BusyBefore, GeneratorStall, Neighbour, SlicesDropped};
        matches!(self, Neighbour | GeneratorStall | BusyBefore | SlicesDropped)
    }
}

impl Reason {
    /// The same with the programs that were seen, which it names.
    #[must_use]
    pub fn by(mut self, programs: &[ProgramShare]) -> Self {
        self.text = format!("{} ({})", self.text, listed(programs));
        self.programs = Some(programs.to_vec());
        self
    }

    /// What to do.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self.kind.is_disturbance() {
            true => next_step(self.programs.iter().flatten()),
            false => self.kind.guide().next_step,
        }
    }

    /// The same with its next step behind the sentence, unless it is there already.
    #[must_use]
    pub fn with_next_step(mut self) -> Self {
        let next_step = self.next_step();
        if !self.text.ends_with(next_step) {
            self.text = format!("{}; {next_step}", self.text);
        }
        self
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
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

    /// The slices of a run in a cohort; none of another one.
    #[must_use]
    pub fn slices(&self) -> &[Slice] {
        self.measured().map_or(&[], |measured| &measured.slices)
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

#[cfg(test)]
mod tests;
