//! The faults, and by which kind of reason each must be told.

use wirebench_schema::journal::ReasonKind;

use crate::machine::Around;

/// One run of a suite, and what must be said of whom in it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// A sentence on what is done.
    pub(crate) name: &'static str,
    /// The lines of the one workload.
    pub(crate) workload: &'static str,
    /// Further arguments of `wirebench run`.
    pub(crate) arguments: &'static [&'static str],
    /// What is around the run.
    pub(crate) around: Around,
    /// What must be told of whom, each in any of the attempts.
    pub(crate) expected: Vec<Expected>,
}

/// What must be told of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Its name.
    pub(crate) who: &'static str,
    /// One of these kinds.
    pub(crate) kinds: &'static [ReasonKind],
    /// In a sentence with this in it.
    pub(crate) says: &'static str,
}

/// That a server is told by this kind.
const fn is(who: &'static str, kind: &'static [ReasonKind]) -> Expected {
    Expected { who, kinds: kind, says: "" }
}

/// The good server that stands beside the faulty ones.
pub(crate) const GOOD: &str = "builtin/epoll";

/// A closed loop that is long enough for every fault to show.
const CLOSED: &str = r#"
connections = 16
warmup = "100ms"
duration = "1200ms"
timeout = "300ms"
"#;

/// The same with a timeout that nobody reaches.
const PATIENT: &str = r#"
connections = 16
warmup = "100ms"
duration = "1200ms"
timeout = "10s"
"#;

const PIPELINED: &str = r#"
connections = 16
pipeline = 8
duration = "600ms"
timeout = "2s"
"#;

const AT_A_RATE: &str = r#"
connections = 4
rate = 2500
duration = "800ms"
"#;

/// The server wakes up so often that its waits for a neighbour are a small part of each wake-up.
const OFTEN: &str = r#"
connections = 16
rate = 8000
warmup = "200ms"
duration = "1500ms"
"#;

const WITH_A_CROWD: &str = r#"
connections = 4
idle_connections = 20
warmup = "100ms"
duration = "1s"
"#;

const A_FEW_REQUESTS: &str = r#"
connections = 4
requests = 60
"#;

const A_COUNT: &str = r#"
connections = 4
requests = 1000000
timeout = "200ms"
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

/// One command line for all that is not about the server's replies.
const UNCHECKED: &[&str] = &["--no-verify"];

const fn case(name: &'static str, workload: &'static str, expected: Vec<Expected>) -> Case {
    Case { name, workload, arguments: UNCHECKED, around: Around::Nothing, expected }
}

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    [servers(), machines()].concat()
}

/// What servers do.
fn servers() -> Vec<Case> {
    use ReasonKind as Kind;
    vec![
        case(
            "servers that answer late or unevenly",
            PATIENT,
            vec![
                is("stalls", &[Kind::ServerStall]),
                is("starves", &[Kind::Unfair]),
                is("forgets-connections", &[Kind::Unanswered]),
            ],
        ),
        case(
            "servers that answer too much or too little",
            CLOSED,
            vec![
                is("closes-early", &[Kind::ClosedEarly]),
                is("closes-between", &[Kind::ServerCloses]),
                is("forgets", &[Kind::Timeouts]),
                is("answers-twice", &[Kind::SurplusReplies]),
                is("answers-wrong", &[Kind::WrongReplies]),
                is("refuses", &[Kind::ConnectionErrors]),
            ],
        ),
        case(
            "servers whose processes are not as they should be",
            CLOSED,
            vec![
                is("noisy", &[Kind::Stderr]),
                is("deaf", &[Kind::Forced]),
                is("leaves-child", &[Kind::LeftBehind]),
                is("starts-child", &[Kind::ProcessesChanged]),
                is("forgets-children", &[Kind::NoCost]),
            ],
        ),
        case(
            "a pipeline on connections that end",
            PIPELINED,
            vec![is("closes-early", &[Kind::LostReplies])],
        ),
        case(
            "fewer connections than asked for",
            PATIENT,
            vec![is("refuses", &[Kind::ConnectionsMissing])],
        ),
        case(
            "a rate that the server cannot hold",
            AT_A_RATE,
            vec![is("slow", &[Kind::BelowRate]), is("slow", &[Kind::ScheduleLag])],
        ),
        case(
            "a crowd that the server does not keep",
            WITH_A_CROWD,
            vec![is("hangs-up", &[Kind::ServerCloses])],
        ),
        case("a server that falls silent", A_COUNT, vec![is("falls-silent", &[Kind::GaveUp])]),
    ]
}

/// What happens around the two sides, and what is asked for.
fn machines() -> Vec<Case> {
    use ReasonKind as Kind;
    let around = |name, around, kinds, says| Case {
        around,
        arguments: &[],
        ..case(name, PATIENT, vec![Expected { who: GOOD, kinds, says }])
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
        around("a program that is there before", server_cpu, &[Kind::BusyBefore], "of CPU "),
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
        // On a machine that has other things to do, nobody gets to their limit.
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
        // Where others had the CPUs, it is they who are told.
        case(
            "a pause that sets the rate",
            PATIENT,
            vec![is("slow", &[Kind::NeitherBound, Kind::Neighbour])],
        ),
    ]
}
