//! OpenMetrics text: families, each with its samples, and the end. It knows no metric.

use std::fmt::{Display, Write as _};

use crate::escape::openmetrics;

/// What a family is, and what its samples' names have after its name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Gauge,
    Counter,
    Histogram,
}

#[derive(Debug)]
pub(crate) struct Exposition {
    text: String,
    /// The name of the samples of the present family.
    sample: String,
}

pub(crate) type Labels<'a> = [(&'a str, String)];

impl Exposition {
    pub(crate) const fn new() -> Self {
        Self { text: String::new(), sample: String::new() }
    }

    /// Begins a family. Its name ends with its unit, if it has one.
    pub(crate) fn family(&mut self, kind: Kind, name: &str, unit: &str, help: &str) {
        let (kind, suffix) = match kind {
            Kind::Gauge => ("gauge", ""),
            Kind::Counter => ("counter", "_total"),
            Kind::Histogram => ("histogram", "_bucket"),
        };
        // A string takes all that is written to it.
        let _ = writeln!(self.text, "# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {}.", openmetrics(help));
        self.sample = format!("{name}{suffix}");
    }

    pub(crate) fn sample(&mut self, labels: &Labels<'_>, value: impl Display) {
        let label = |(name, value): &(&str, String)| format!("{name}=\"{}\"", openmetrics(value));
        let labels: Vec<String> = labels.iter().map(label).collect();
        let _ = writeln!(self.text, "{}{{{}}} {value}", self.sample, labels.join(","));
    }

    pub(crate) fn end(self) -> String {
        self.text + "# EOF\n"
    }
}

#[cfg(test)]
pub(crate) mod tests;
