//! The faults, and the kinds of reason that must be reported for each.

use wirebench_schema::journal::ReasonKind;

use crate::machine::Around;

/// One run of a suite, and the findings that it must report about each server.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// A sentence on what is done.
    pub(crate) name: &'static str,
    /// The lines of the one workload.
    pub(crate) workload: &'static str,
    /// Further arguments of `wirebench run`.
    pub(crate) arguments: &'static [&'static str],
    pub(crate) around: Around,
    /// The reasons that must be reported, each in any of the attempts.
    pub(crate) expected: Vec<Expected>,
}

/// A reason that must, or must not, be reported for one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) who: &'static str,
    pub(crate) kinds: &'static [ReasonKind],
    /// In a sentence with this in it.
    pub(crate) says: &'static str,
    /// Whether that must be absent instead.
    pub(crate) absent: bool,
}

/// A reason of one of these kinds is reported for a server.
const fn is(who: &'static str, kind: &'static [ReasonKind]) -> Expected {
    Expected { who, kinds: kind, says: "", absent: false }
}

/// The good server that runs in addition to the faulty ones.
pub(crate) const GOOD: &str = "builtin/epoll";

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

const SLICED: &str = r#"
connections = 4
duration = "480ms"
"#;

const SLICED_RATE: &str = r#"
connections = 4
rate = 500
duration = "480ms"
"#;

/// Short slices, in as many rounds as a trend needs. Where nothing is bound to CPUs, a slice is not
/// dropped because the machine of the test has other things to do.
const COHORT: &[&str] =
    &["--no-verify", "--no-pin", "--procedure=cohorts", "--slice=60ms", "--rounds=12"];
/// The same with further instances of a good server.
const COHORT_OF_COPIES: &[&str] = &[
    "--no-verify",
    "--no-pin",
    "--procedure=cohorts",
    "--slice=60ms",
    "--rounds=12",
    "--copies=3",
];

/// One command line for all that is not about the server's replies.
const UNCHECKED: &[&str] = &["--no-verify"];

const fn case(name: &'static str, workload: &'static str, expected: Vec<Expected>) -> Case {
    Case { name, workload, arguments: UNCHECKED, around: Around::Nothing, expected }
}

pub(crate) fn all() -> Vec<Case> {
    [servers(), machines(), cohorts()].concat()
}

/// What a server sends is tested over sockets in `loadgen`, and what follows from its figures in `judge`; one run has
/// both.
fn servers() -> Vec<Case> {
    use ReasonKind as Kind;
    vec![
        case(
            "servers that answer late, unevenly or wrong",
            PATIENT,
            vec![
                is("stalls", &[Kind::ServerStall]),
                is("starves", &[Kind::Unfair]),
                is("answers-wrong", &[Kind::WrongReplies]),
            ],
        ),
        case(
            "servers whose processes are not as they should be",
            PATIENT,
            vec![
                is("noisy", &[Kind::Stderr]),
                is("deaf", &[Kind::Forced]),
                is("leaves-child", &[Kind::LeftBehind]),
                is("starts-child", &[Kind::ProcessesChanged]),
                is("forgets-children", &[Kind::NoCost]),
            ],
        ),
    ]
}

/// What happens around the two sides, and what is asked for.
fn machines() -> Vec<Case> {
    use ReasonKind as Kind;
    let around = |name, around, kinds, says| Case {
        around,
        arguments: &[],
        ..case(name, PATIENT, vec![Expected { says, ..is(GOOD, kinds) }])
    };
    let (server_cpu, generator_cpu) = (Around::BusyServerCpu, Around::BusyGeneratorCpu);
    vec![
        around("a neighbour on the server's CPU", server_cpu, &[Kind::Neighbour], "the server"),
        Case {
            workload: OFTEN,
            ..around(
                "a real-time loop on the server's CPU",
                Around::PulsingServerCpu,
                &[Kind::Neighbour],
                "waited",
            )
        },
        around(
            "a neighbour on the generator's CPU",
            generator_cpu,
            &[Kind::Neighbour],
            "the generator",
        ),
        around(
            "a generator that is stopped",
            Around::StoppedGenerator,
            &[Kind::GeneratorStall],
            "",
        ),
        around("a control group with a limit", Around::Throttled, &[Kind::Throttled], ""),
        // If other processes take the CPUs, neither side reaches its limit.
        case(
            "a generator that is slower than the server",
            DEEP,
            vec![is("effortless", &[Kind::GeneratorBound, Kind::Neighbour])],
        ),
        Case {
            around: Around::FewPorts,
            // The checks need ports too.
            ..case("hardly any port", RECONNECTING, vec![is(GOOD, &[Kind::PortsExhausted])])
        },
        Case {
            arguments: &["--no-verify", "--no-pin"],
            ..case(
                "everything left out",
                A_FEW_REQUESTS,
                vec![
                    is(GOOD, &[Kind::NotPinned]),
                    is(GOOD, &[Kind::NotVerified]),
                    is(GOOD, &[Kind::FewSamples]),
                ],
            )
        },
        Case {
            arguments: &["--server-cpus", "0", "--generator-cpus", "0"],
            ..case("both sides on one CPU", A_FEW_REQUESTS, vec![is(GOOD, &[Kind::SharedCpu])])
        },
    ]
}

/// What servers do that are alive together.
fn cohorts() -> Vec<Case> {
    use ReasonKind as Kind;
    let cohort =
        |name, workload, expected| Case { arguments: COHORT, ..case(name, workload, expected) };
    vec![
        cohort(
            "servers whose pace changes after a rest and over their life",
            SLICED,
            vec![is("settles-late", &[Kind::Unsettled]), is("warms-up", &[Kind::Drifting])],
        ),
        cohort(
            "a server that works at rest",
            SLICED_RATE,
            vec![Expected { says: "without requests", ..is("burns-idle", &[Kind::Restless]) }],
        ),
        cohort(
            "a server that puts its work off",
            SLICED,
            vec![
                is("defers-work", &[Kind::ParkedBusy]),
                Expected {
                    says: Kind::ParkedBusy.guide().name,
                    ..is(GOOD, &[Kind::SlicesDropped])
                },
            ],
        ),
        Case {
            arguments: COHORT_OF_COPIES,
            ..case(
                "a cohort that nothing disturbs",
                SLICED,
                vec![Expected {
                    absent: true,
                    ..is(
                        GOOD,
                        &[
                            Kind::Unsettled,
                            Kind::NotSteady,
                            Kind::Drifting,
                            Kind::SliceLength,
                            Kind::Restless,
                            Kind::ParkedBusy,
                            Kind::ServerCloses,
                            Kind::ClosedEarly,
                        ],
                    )
                }],
            )
        },
    ]
}
