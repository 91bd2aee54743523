//! The load generator's configuration, events and report.

mod bins;
mod check;
mod config;
mod errors;
mod failures;
mod figure;
mod figures;
mod idle_mode;
mod latency;
mod merge;
mod message;
mod model;
mod rate;
mod report;
mod request;
mod requests;
mod result;
mod sample_reply;
mod samples;
mod series;
mod stalls;
mod steps;
mod tls;
mod verdict;

pub use bins::{LATENCY_BINS, latency_bin_us};
pub use check::{SHORTEST_WINDOW, THREADS_LIMIT};
pub use config::{
    BodyCheck, ClientCertificate, EngineChoice, GeneratorShare, LoadConfig, SourceRange, Stop,
    Trust, Waiting,
};
pub use failures::{ErrorCounts, ErrorExample, ErrorKind};
pub use figure::LatencyFigure;
pub use idle_mode::IdleMode;
pub use latency::LatencySummary;
pub use message::{Body, parse_header};
pub use model::{Arrivals, LatencyOrigin, LoadModel};
pub use rate::{Rate, RateCurve};
pub use report::{
    Fairness, GeneratorPart, IdleCounts, Interval, LoadEvent, LoadReport, NamedRequests, Offered,
    Phase, ReplyChecks, ThreadRate,
};
pub use request::{ClosedPolicy, is_safe};
pub use requests::{
    Expect, NAMES_LIMIT, NamedFiles, RequestFile, RequestFileError, RequestOrder, RequestSet,
    RequestSpec, SeqStart,
};
pub use result::{LoadResult, Timeline, add_classes};
pub use sample_reply::SampleReply;
pub use samples::{Estimate, Samples};
pub use series::{PIECE_NS, ReplySeries};
pub use stalls::Stalls;
pub use steps::RateStep;
pub use tls::TlsSummary;
pub use verdict::{Bound, Verdict};

/// The version of [`LoadReport`] and [`LoadEvent`]. It grows whenever a field changes its meaning
/// or goes away.
pub const LOAD_FORMAT: u32 = 4;
