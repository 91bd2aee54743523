//! The load generator of a run: wirebench itself or a third-party program, and the figures that such
//! a program reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

crate::names! {
    /// A program that generates the load.
    #[derive(Default)]
    pub enum Generator "generator" {
        /// `wirebench load`, which checks every reply.
        #[default]
        Wirebench = "wirebench",
        /// wrk, by Will Glozer.
        Wrk = "wrk",
        /// hey, by Jaana Dogan.
        Hey = "hey",
        /// h2load, of nghttp2.
        H2load = "h2load",
    }
}

impl Generator {
    /// The Debian package that installs it; none for our own.
    #[must_use]
    pub const fn debian_package(self) -> Option<&'static str> {
        match self {
            Self::Wirebench => None,
            Self::Wrk => Some("wrk"),
            Self::Hey => Some("hey"),
            Self::H2load => Some("nghttp2-client"),
        }
    }
}

/// Which generator, in which version. Figures of different ones cannot be compared.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct GeneratorVersion {
    /// The program.
    pub name: Generator,
    /// Its version as printed; empty if it prints none.
    pub version: String,
}

impl fmt::Display for GeneratorVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version.as_str() {
            "" => write!(formatter, "{}", self.name),
            version => write!(formatter, "{} {version}", self.name),
        }
    }
}

/// Latencies reported by a third-party generator, in nanoseconds. Figures that the program does not
/// report are absent; there is never a histogram.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ToolLatency {
    /// Arithmetic mean.
    pub latency_ns_mean: Option<f64>,
    /// Smallest.
    pub latency_ns_min: Option<f64>,
    /// Median.
    pub latency_ns_p50: Option<f64>,
    /// 75th percentile.
    pub latency_ns_p75: Option<f64>,
    /// 90th percentile.
    pub latency_ns_p90: Option<f64>,
    /// 95th percentile.
    pub latency_ns_p95: Option<f64>,
    /// 99th percentile.
    pub latency_ns_p99: Option<f64>,
    /// Largest.
    pub latency_ns_max: Option<f64>,
}

/// The report of a third-party generator.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ToolReport {
    /// The program.
    pub generator: GeneratorVersion,
    /// Its latencies.
    pub latency: ToolLatency,
    /// CPU time of the program from its start to its end.
    pub cpu_ns: u64,
    /// Its complete output.
    pub output: String,
}
