//! All kinds of reasons, each with what it means, its weight, the unit of its figure and what to
//! do: the one list from which the type, its documentation and the table in `docs/formats.md` come.
//!
//! The thresholds stand where they are decided: beside the code that finds the fault.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What there is to know of a kind of reason, for tables and for people.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KindGuide {
    /// The name in files.
    pub name: &'static str,
    /// What was seen.
    pub means: &'static str,
    /// Which weight it has, and on what that depends.
    pub weight: &'static str,
    /// What its figure is; `-` where it has none.
    pub figure: &'static str,
    /// What to do about it.
    pub next_step: &'static str,
}

macro_rules! kinds {
    ($($kind:ident = $name:literal {
        $means:literal, weight: $weight:literal, figure: $figure:literal, do: $next_step:literal
    })+) => {
        /// What can speak against the figures of a run.
        #[derive(
            Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum ReasonKind {
            $(
                #[doc = concat!($means, ". Weight: ", $weight, ". Figure: ", $figure, ".")]
                $kind,
            )+
        }

        impl ReasonKind {
            /// All of them, in the order in which they are listed.
            pub const ALL: [Self; [$(Self::$kind),+].len()] = [$(Self::$kind),+];

            /// What there is to know of it.
            #[must_use]
            pub const fn guide(self) -> KindGuide {
                match self {
                    $(Self::$kind => KindGuide {
                        name: $name,
                        means: $means,
                        weight: $weight,
                        figure: $figure,
                        next_step: $next_step,
                    },)+
                }
            }
        }
    };
}

kinds! {
    NotPinned = "not-pinned" {
        "Nothing was bound to CPUs, so the sides may have taken time from each other",
        weight: "invalid", figure: "-", do: "leave --no-pin out"
    }
    SharedCpu = "shared-cpu" {
        "Server and generator had a CPU in common, so each waited for the other",
        weight: "invalid", figure: "-",
        do: "give each side CPUs of its own with --server-cpus and --generator-cpus"
    }
    SplitCore = "split-core" {
        "Server and generator had CPUs of one core, so the work of each slowed the other down",
        weight: "note, because ratios stand: all variants are measured so; compare the figures with those \
                 of no other machine",
        figure: "how many cores had CPUs of both sides",
        do: "use a machine of at least 2 cores, or give each side whole cores with --server-cpus and \
             --generator-cpus"
    }
    NotVerified = "not-verified" {
        "The conformance checks were left out, so it is not known that the server does its work",
        weight: "invalid", figure: "-", do: "leave --no-verify out"
    }
    GeneratorBound = "generator-bound" {
        "The generator's busiest thread was at its limit, in a phase that shows how much the server \
         can do",
        weight: "limit", figure: "share of the window in which that thread ran, 0 to 1",
        do: "give the generator more CPUs with --generator-cpus, or read the rate as a lower bound"
    }
    NeitherBound = "neither-bound" {
        "Neither side was busy all the time in a phase that shows how much the server can do: \
         waiting, on each other or on a timer, set the rate",
        weight: "note", figure: "share of the server's CPU time that was used, 0 to 1",
        do: "try more connections"
    }
    BelowRate = "below-rate" {
        "Of the requests that were due too few were answered correctly",
        weight: "invalid", figure: "achieved over offered rate, 0 to 1",
        do: "choose a rate that the server can hold"
    }
    ScheduleLag = "schedule-lag" {
        "Requests were sent later than they were due",
        weight: "tail when it is more than 1 ms for one in a hundred and the generator made it, else \
                 note: latencies from when a request was due contain what the server made; invalid in \
                 a cost phase when it is so for one in twenty, because bursts cost less than even \
                 arrivals",
        figure: "the percentile of the lag that the sentence names, in nanoseconds",
        do: "give more connections, or the generator a CPU that nobody else takes"
    }
    Unanswered = "unanswered" {
        "Little's law: fewer requests were on their way than the connections of a closed loop have, \
         so some were never answered",
        weight: "invalid", figure: "requests on their way that were answered, on average",
        do: "look for connections that the server has forgotten"
    }
    LittlesLaw = "littles-law" {
        "Little's law: more requests were on their way than the connections can have, so rate or \
         latency is wrong",
        weight: "invalid", figure: "requests on their way, on average",
        do: "report it as a defect of wirebench, with runs.jsonl"
    }
    GaveUp = "gave-up" {
        "The generator ended a load of a count before its end, because nothing was answered any more",
        weight: "invalid", figure: "-", do: "look why the server fell silent"
    }
    ConnectionErrors = "connection-errors" {
        "Connections could not be made, or their TLS failed",
        weight: "invalid", figure: "how many",
        do: "look at the server's limit of open files and at its backlog"
    }
    PortsExhausted = "ports-exhausted" {
        "No local port was free for a connection",
        weight: "invalid", figure: "how many connections failed so",
        do: "make fewer connections, or wait a minute until closed ones have left TIME_WAIT"
    }
    Timeouts = "timeouts" {
        "Requests had no reply, or connections could not be made, within the timeout; as latencies \
         they are lower bounds",
        weight: "invalid", figure: "how many",
        do: "look whether the server forgets requests or is only slow, with a longer timeout"
    }
    ClosedEarly = "closed-early" {
        "The server closed or reset connections on which a reply was due",
        weight: "invalid", figure: "how many",
        do: "look at the server's log and limits"
    }
    WrongReplies = "wrong-replies" {
        "Replies were not what the protocol or the scenario demands",
        weight: "invalid", figure: "how many", do: "run `wirebench verify` on the entry"
    }
    SurplusReplies = "surplus-replies" {
        "Bytes came that nobody had asked for, so the server's work is not what was counted",
        weight: "invalid", figure: "how often", do: "run `wirebench verify` on the entry"
    }
    LostReplies = "lost-replies" {
        "Further requests were in flight on connections that failed; their replies are lost",
        weight: "invalid", figure: "how many", do: "see why the connections failed"
    }
    Errors = "errors" {
        "Requests failed in another way, or the load was made by a program that does not say how",
        weight: "invalid", figure: "how many", do: "look at the server's log"
    }
    ConnectionsMissing = "connections-missing" {
        "Fewer connections could be made or kept than were asked for, also of silent ones",
        weight: "invalid", figure: "how many were made, or kept",
        do: "look at the limits of open files of both sides"
    }
    Unfair = "unfair" {
        "Connections were served unevenly",
        weight: "invalid when one had less than a tenth of the median's replies, because fewer \
                 connections made the rate than is said; else note",
        figure: "Jain's index, 1 when all have the same share",
        do: "look how the server shares its connections and whom it serves first"
    }
    ServerCloses = "server-closes" {
        "The server closed connections between two requests, and new ones had to be made",
        weight: "invalid when it did so more than once in a hundred requests, or closed silent \
                 connections, because then connecting is a part of the figures; else note",
        figure: "how often", do: "look at its limits of requests and of time for a connection"
    }
    ServerStall = "server-stall" {
        "The server answered nobody for a while, or one reply took very long",
        weight: "note, because the pause is the server's own", figure: "the pause in nanoseconds",
        do: "look for a garbage collector, a lock or a timer"
    }
    GeneratorStall = "generator-stall" {
        "A thread of the generator came too late to look at its connections",
        weight: "invalid when that was more than a twentieth of the window in all; tail when it was more \
                 than a hundredth, because then it is the 99th percentile; else note",
        figure: "the longest delay in nanoseconds", do: "end what else runs on its CPUs"
    }
    Neighbour = "neighbour" {
        "Other programs ran on the CPUs of a side",
        weight: "invalid from a tenth of the window on; tail from a two-hundredth on at a rate, because \
                 with what must be made up for that is one request in a hundred; else note",
        figure: "share of the CPUs' time that others had, or of the window in which a thread of the \
                 side waited for them, 0 to 1",
        do: "end them and measure again"
    }
    Stolen = "stolen" {
        "The hypervisor took the CPUs of a side away",
        weight: "invalid from a twentieth on; tail from a two-hundredth on at a rate; else note",
        figure: "share of the CPUs' time, 0 to 1",
        do: "measure again, or on a machine that is not shared"
    }
    Throttled = "throttled" {
        "A CPU limit of the control group held wirebench and all that it starts back",
        weight: "invalid when that was more than a hundredth of the window; else note",
        figure: "time in nanoseconds", do: "raise the limit of CPU time of the container or service"
    }
    BusyBefore = "busy-before" {
        "Other programs already used the CPUs before the server was started",
        weight: "note", figure: "share of the busiest CPU, 0 to 1",
        do: "end them and measure again"
    }
    Swapped = "swapped" {
        "The machine moved pages between memory and disk while the cohort was measured",
        weight: "invalid", figure: "how many pages",
        do: "end other programs, or keep fewer servers alive together with --instances"
    }
    FewSamples = "few-samples" {
        "Fewer than ten samples lie beyond a percentile that is shown",
        weight: "note, because rate and median stand", figure: "how many samples there are",
        do: "measure for longer"
    }
    NotSteady = "not-steady" {
        "The rate did not become steady before the window, or the server was not at rest",
        weight: "invalid when the figures may be those of a server that is still warming up; else \
                 note",
        figure: "how long it was waited for, in nanoseconds",
        do: "warm up for longer (`steady_within`), or look what the server does by itself"
    }
    NoCost = "no-cost" {
        "Processes of the server ended and no other waited for them, so their CPU time is not known",
        weight: "invalid in a cost phase, else note",
        figure: "how many processes were seen to end so, at least",
        do: "make the server wait for its children"
    }
    ProcessesChanged = "processes-changed" {
        "Processes of the server began or ended in the window",
        weight: "note", figure: "-", do: "look whether it restarts its workers"
    }
    ResidentMemory = "resident-memory" {
        "Memory is the sum of the resident set sizes, because the proportional ones cannot be read: \
         pages that several processes share count in each",
        weight: "note", figure: "-", do: "measure as the user whose processes they are"
    }
    Forced = "forced" {
        "The server did not end on SIGTERM",
        weight: "note", figure: "-", do: "make the server end on SIGTERM"
    }
    LeftBehind = "left-behind" {
        "The server left processes behind; they were ended",
        weight: "note", figure: "how many", do: "make the server wait for its children"
    }
    SlicesDropped = "slices-dropped" {
        "Slices of the run were disturbed by others, as clocks show, and do not count",
        weight: "invalid when it was more than half of them; else note",
        figure: "share of the slices, 0 to 1", do: "end other programs and measure again"
    }
    ParkedBusy = "parked-busy" {
        "The server used CPU time in slices of other servers of the cohort, beyond what it uses at rest",
        weight: "note; a slice in which parked servers used more than 3 % of its time is dropped, and the \
                 one that used most is named",
        figure: "how many slices", do: "look for work that a server puts off until it has no requests"
    }
    Unsettled = "unsettled" {
        "The server needs longer to settle after a rest than is discarded of a slice",
        weight: "note", figure: "-", do: "compare with --procedure process"
    }
    Restless = "restless" {
        "The server uses CPU time although nothing is asked of it",
        weight: "note: up to 25 % of a CPU is subtracted from the cost, and a server that uses more than 5 % \
                 is stopped while others are loaded; invalid when such a server's CPUs were busy all the \
                 time, because the work then competes with requests",
        figure: "share of a CPU, 0 to 1", do: "look what it does at rest"
    }
    Drifting = "drifting" {
        "CPU time per request went up or down over the slices of the instance, against the other \
         servers of the cohort",
        weight: "note", figure: "relative change from the first slice to the last",
        do: "warm up for longer with --steady"
    }
    SliceLength = "slice-length" {
        "CPU time per request in the slices differs from that in a longer one",
        weight: "note; invalid when they differ by more than 10 %",
        figure: "the slices over the long one",
        do: "give longer slices with --slice 1s, or measure with --procedure process"
    }
    UnevenWorkers = "uneven-workers" {
        "The connections of a closed loop were spread unevenly over workers that keep theirs",
        weight: "note", figure: "CPU time of the busiest worker over the mean of all",
        do: "give more connections with -c"
    }
    Stderr = "stderr" {
        "The server wrote much to standard error, which is work of its own",
        weight: "note", figure: "bytes", do: "make the server quiet"
    }
    ForeignGenerator = "foreign-generator" {
        "Another generator than wirebench's own made the load: it compares no reply",
        weight: "note", figure: "-", do: "leave --generator out to have replies checked"
    }
}

impl fmt::Display for ReasonKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.guide().name)
    }
}

impl KindGuide {
    /// The row of the table in `docs/formats.md`.
    #[must_use]
    pub fn markdown_row(&self) -> String {
        let Self { name, means, weight, figure, next_step } = self;
        format!("| `{name}` | {means} | {weight} | {figure} | {next_step} |")
    }
}
