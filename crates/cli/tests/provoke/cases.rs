//! The faults, and the kinds of reason that must be reported for each.

use wirebench_schema::journal::ReasonKind as Kind;

use crate::{evidence_file::GOOD, machine::Around};

/// One run of a suite, and the findings that it must report about each server.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// A sentence about the fault.
    pub(crate) name: &'static str,
    /// The lines of the one workload.
    pub(crate) workload: &'static str,
    /// Further arguments of `wirebench run`.
    pub(crate) arguments: &'static [&'static str],
    pub(crate) around: Around,
    /// The reasons that must be reported: the server, the kind, and a part of the sentence. Without any, the good
    /// server must have none.
    pub(crate) provoked: Vec<(&'static str, Kind, &'static str)>,
    /// Whether it is a regular test: it shows that a reader of the kernel works.
    pub(crate) is_regular: bool,
}

impl Case {
    /// A reason of this kind must be reported for a server.
    fn is(self, server: &'static str, kind: Kind) -> Self {
        self.says(server, kind, "")
    }

    /// The same, in a sentence with this part.
    fn says(mut self, server: &'static str, kind: Kind, part: &'static str) -> Self {
        self.provoked.push((server, kind, part));
        self
    }

    fn with(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    fn around(self, around: Around) -> Self {
        Self { around, ..self }
    }

    fn regular(self) -> Self {
        Self { is_regular: true, ..self }
    }
}

const fn case(name: &'static str, workload: &'static str) -> Case {
    let around = Around::Nothing;
    Case { name, workload, arguments: &[], around, provoked: Vec::new(), is_regular: false }
}

/// A closed loop that is long enough for every fault to show, with a timeout that is never reached.
const PATIENT: &str = r#"
connections = 16
warmup = "100ms"
duration = "1200ms"
timeout = "10s"
"#;

/// The server wakes up so often that its waits for a neighbour are a small part of each wake-up.
const OFTEN: &str = r#"
connections = 16
rate = 8000
warmup = "200ms"
duration = "1500ms"
"#;

const A_FEW_REQUESTS: &str = r#"
connections = 4
requests = 60
"#;

/// Each request leaves a port behind that is in use for a minute.
const RECONNECTING: &str = r#"
connections = 4
requests_per_connection = 1
duration = "600ms"
timeout = "500ms"
"#;

/// Hardly any work for a server that does not look at requests.
const DEEP: &str = r#"
connections = 64
pipeline = 64
warmup = "100ms"
duration = "1s"
"#;

const VISITED: &str = r#"
connections = 4
duration = "480ms"
"#;

const VISITED_RATE: &str = r#"
connections = 4
rate = 500
duration = "480ms"
"#;

/// Short visits, in as many rounds as a trend needs. Where nothing is bound to CPUs, a visit is not
/// dropped because the machine of the test has other things to do.
const COHORT: &[&str] =
    &["--no-verify", "--no-pin", "--procedure=cohorts", "--visit=60ms", "--rounds=12"];
/// The same with further instances of a good server.
const COHORT_OF_COPIES: &[&str] = &[
    "--no-verify",
    "--no-pin",
    "--procedure=cohorts",
    "--visit=60ms",
    "--rounds=12",
    "--copies=3",
];

/// For all that is not about the server's replies.
const UNCHECKED: &[&str] = &["--no-verify"];

pub(crate) fn all() -> Vec<Case> {
    [servers(), machines(), arguments(), cohorts()].concat()
}

/// What a server sends is tested over sockets in `loadgen`, and what follows from its figures in `judge`; one run has
/// both.
fn servers() -> Vec<Case> {
    vec![
        case("servers that answer late, unevenly or wrong", PATIENT)
            .with(UNCHECKED)
            .is("stalls", Kind::ServerStall)
            .is("starves", Kind::Unfair)
            .is("answers-wrong", Kind::WrongReplies),
        case("servers whose processes are not as they should be", PATIENT)
            .with(UNCHECKED)
            .is("noisy", Kind::Stderr)
            .is("deaf", Kind::Forced)
            .is("leaves-child", Kind::LeftBehind)
            .is("starts-child", Kind::ProcessesChanged)
            .is("forgets-children", Kind::NoCost)
            .regular(),
    ]
}

/// What happens around the two sides.
fn machines() -> Vec<Case> {
    vec![
        case("a run that nothing disturbs", PATIENT),
        case("a neighbour on the server's CPU", PATIENT)
            .around(Around::BusyServerCpu)
            .says(GOOD, Kind::Neighbour, "the server")
            .regular(),
        case("a real-time loop on the server's CPU", OFTEN).around(Around::PulsingServerCpu).says(
            GOOD,
            Kind::Neighbour,
            "waited",
        ),
        case("a neighbour on the generator's CPU", PATIENT).around(Around::BusyGeneratorCpu).says(
            GOOD,
            Kind::Neighbour,
            "the generator",
        ),
        case("a generator that is stopped", PATIENT)
            .around(Around::StoppedGenerator)
            .is(GOOD, Kind::GeneratorStall)
            .regular(),
        case("a control group with a limit", PATIENT)
            .around(Around::Throttled)
            .is(GOOD, Kind::Throttled),
        // The checks need ports too.
        case("hardly any port", RECONNECTING)
            .with(UNCHECKED)
            .around(Around::FewPorts)
            .is(GOOD, Kind::PortsExhausted),
    ]
}

/// What is asked for.
fn arguments() -> Vec<Case> {
    vec![
        case("a generator that is slower than the server", DEEP)
            .with(UNCHECKED)
            .is("effortless", Kind::GeneratorBound),
        case("everything left out", A_FEW_REQUESTS)
            .with(&["--no-verify", "--no-pin"])
            .is(GOOD, Kind::NotPinned)
            .is(GOOD, Kind::NotVerified)
            .is(GOOD, Kind::FewSamples),
        case("both sides on one CPU", A_FEW_REQUESTS)
            .with(&["--server-cpus", "0", "--generator-cpus", "0"])
            .is(GOOD, Kind::SharedCpu),
    ]
}

/// What servers do that are alive together.
fn cohorts() -> Vec<Case> {
    vec![
        case("servers whose pace changes after a rest and over their life", VISITED)
            .with(COHORT)
            .is("settles-late", Kind::Unsettled)
            .is("warms-up", Kind::Drifting),
        case("a server that works at rest", VISITED_RATE).with(COHORT).says(
            "burns-idle",
            Kind::Restless,
            "without requests",
        ),
        case("a server that puts its work off", VISITED)
            .with(COHORT)
            .says("defers-work", Kind::DeferredWork, "visits of other servers")
            .says(GOOD, Kind::VisitsDropped, Kind::ParkedBusy.name())
            .regular(),
        case("a cohort that nothing disturbs", VISITED).with(COHORT_OF_COPIES),
    ]
}
