//! All kinds of reasons, each with its meaning, weight, figure and next step. The type, its
//! documentation, the sentences on the terminal and the table in `docs/formats.md` come from this list.
//!
//! The thresholds are in the code that finds the fault.

/// Next step of the kinds that name programs. `Reason::next_step` has the one that follows from those.
const OTHER_WORK: &str = "stop the programs that it names and measure again; without any, more cohorts, or another \
                          machine";

/// The description of a kind of reason.
#[derive(Clone, Copy, Debug)]
pub struct KindGuide {
    /// What was seen and what that means, with placeholders for the side and for the figure: `{count}`,
    /// `{number}`, `{percent}`, `{change}` or `{time}`.
    pub says: &'static str,
    /// Its weight, and what that depends on.
    pub weight: &'static str,
    /// What its figure is; empty where it has none.
    pub figure: &'static str,
    /// The next step.
    pub next_step: &'static str,
}

/// The weight of a kind, which is a note unless it says another one.
macro_rules! weight {
    () => {
        "note"
    };
    ($weight:literal) => {
        $weight
    };
}

macro_rules! kinds {
    ($($kind:ident = $name:literal $(formerly $former:literal)?:
        says: $says:literal, $(weight: $weight:literal,)? $(figure: $figure:literal,)? do: $next_step:expr;
    )+) => {
        crate::names! {
            /// What can speak against the figures of a run.
            pub enum ReasonKind {$(
                #[doc = concat!($says, ". Weight: ", weight!($($weight)?), $(". Figure: ", $figure,)? ".")]
                $(#[serde(alias = $former)])?
                $kind = $name,
            )+}
        }

        impl ReasonKind {
            /// What there is to know of it.
            #[must_use]
            pub const fn guide(self) -> KindGuide {
                match self {
                    $(Self::$kind => KindGuide {
                        says: $says,
                        weight: weight!($($weight)?),
                        figure: concat!($($figure)?),
                        next_step: $next_step,
                    },)+
                }
            }
        }
    };
}

kinds! {
    NotPinned = "not-pinned":
        says: "not pinned: server and load generator may share CPUs",
        weight: "invalid",
        do: "omit --no-pin";
    SharedCpu = "shared-cpu":
        says: "server and load generator shared a CPU: figures include waiting",
        weight: "invalid",
        do: "separate them with --server-cpus and --generator-cpus";
    SplitCore = "split-core":
        says: "server and load generator shared a physical core: compare ratios on this machine only",
        weight: "note: ratios are valid, absolute figures are not comparable with other machines",
        figure: "number of shared cores",
        do: "use a machine with 2 or more cores";
    NotVerified = "not-verified":
        says: "conformance checks skipped: the server may be incorrect",
        weight: "invalid",
        do: "omit --no-verify";
    GeneratorBound = "generator-bound":
        says: "the load generator was saturated ({percent}): throughput is a lower bound",
        weight: "limit",
        figure: "busy share of that thread, 0 to 1",
        do: "add CPUs with --generator-cpus";
    NeitherBound = "neither-bound":
        says: "not saturated (server at {percent}): neither side was the bottleneck",
        figure: "used share of the server's CPU time, 0 to 1",
        do: "add connections with -c";
    BelowRate = "below-rate":
        says: "only {percent} of the requested rate was reached",
        weight: "invalid",
        figure: "achieved over offered rate, 0 to 1",
        do: "choose a lower rate, or add CPUs to the side that is the limit";
    ScheduleLag = "schedule-lag":
        says: "requests were sent {time} or more late",
        weight: "tail if more than 1 ms for 1 % of the requests, invalid in a cost phase if so for 5 %; else note",
        figure: "percentile of the lag that the text names, in nanoseconds",
        do: "add CPUs for the load generator";
    ConnectionsBusy = "connections-busy":
        says: "requests were sent {time} or more late: the server kept all connections busy",
        weight: "invalid in a cost phase if more than 1 ms for 5 % of the requests; note if so for 1 %",
        figure: "percentile of the lag that the text names, in nanoseconds",
        do: "find out why it stalls, or add connections";
    Unanswered = "unanswered":
        says: "{count} connections got no more replies: figures are those of the others",
        weight: "invalid",
        figure: "number of these connections",
        do: "look for connections that the server does not serve";
    LittlesLaw = "littles-law":
        says: "{number} requests in flight exceed the limit of the connections: rate or latency is wrong",
        weight: "invalid",
        figure: "mean number of requests in flight",
        do: "report the defect with runs.jsonl";
    GaveUp = "gave-up":
        says: "replies ceased: the load stopped early",
        weight: "invalid",
        do: "find out why the server stopped replying";
    ConnectionErrors = "connection-errors":
        says: "{count} connections failed",
        weight: "invalid",
        figure: "count",
        do: "check the server's open-file limit and backlog";
    PortsExhausted = "ports-exhausted":
        says: "{count} connections found no free local port",
        weight: "invalid",
        figure: "failed connections",
        do: "use fewer connections, or wait a minute for TIME_WAIT to end";
    Timeouts = "timeouts":
        says: "{count} requests timed out: their latencies are lower bounds",
        weight: "invalid",
        figure: "count",
        do: "check with a longer timeout if replies are lost or slow";
    ClosedEarly = "closed-early":
        says: "{count} requests lost their connection before the reply",
        weight: "invalid",
        figure: "count",
        do: "check the server's log and limits";
    WrongReplies = "wrong-replies":
        says: "{count} replies were wrong",
        weight: "invalid",
        figure: "count",
        do: "run `wirebench verify` on the entry";
    SurplusReplies = "surplus-replies":
        says: "unrequested bytes arrived {count} times",
        weight: "invalid",
        figure: "count",
        do: "run `wirebench verify` on the entry";
    LostReplies = "lost-replies":
        says: "{count} more replies were lost with their connections",
        weight: "invalid",
        figure: "count",
        do: "find out why the connections failed";
    Errors = "errors":
        says: "{count} requests failed",
        weight: "invalid",
        figure: "count",
        do: "check the server's log";
    ConnectionsMissing = "connections-missing":
        says: "only {count} connections were made or kept",
        weight: "invalid",
        figure: "connections made or kept",
        do: "check the open-file limits of both sides";
    Unfair = "unfair":
        says: "connections were served unevenly (Jain's index {number})",
        weight: "invalid if a connection had less than a tenth of the median's replies, because fewer connections \
                 than stated made the rate; else note",
        figure: "Jain's index, 1 if all shares are equal",
        do: "check how the server distributes connections";
    ClosesAfterReply = "closes-after-reply":
        says: "the server closed the connection after every reply: figures include connecting",
        weight: "note, after at least 9 of 10 replies: such a server is compared with the cost of its connections",
        figure: "closed connections",
        do: "enable keep-alive if clients reuse connections";
    ServerCloses = "server-closes":
        says: "the server closed connections between requests {count} times",
        weight: "invalid if more than once in 100 requests and less than after 9 of 10, or if it closed idle \
                 connections, because figures then include connecting; note if less often, or if the load repeats \
                 such requests (`retry_closed`)",
        figure: "count",
        do: "check its limits on requests and time per connection";
    ServerStall = "server-stall":
        says: "the server stalled for {time}",
        weight: "note: the pause is the server's own",
        figure: "pause in nanoseconds",
        do: "look for garbage collection, locks or timers";
    GeneratorStall = "generator-stall":
        says: "a load generator thread was delayed by up to {time}: latencies include it",
        weight: "invalid if the delays total more than 5 % of the window; tail if more than 1 %, the share that \
                 p99 depends on; else note",
        figure: "longest delay in nanoseconds",
        do: OTHER_WORK;
    GeneratorsApart = "generators-apart":
        says: "the load generators began up to {time} apart",
        weight: "invalid above 10 ms and above 1 % of the window, with what the clocks may be off",
        figure: "time between the first and the last start in nanoseconds",
        do: "use a longer -d, or hosts that are closer";
    Neighbour = "neighbour":
        says: "other work took {percent} of the CPU time of {side}",
        weight: "invalid from 10 % of the window; tail from 0.5 % at a rate, because with the backlog that delays \
                 1 % of the requests; else note",
        figure: "share of the CPU time used by others, or of the window in which a thread waited for them, 0 to 1",
        do: OTHER_WORK;
    Stolen = "stolen":
        says: "the hypervisor took {percent} of the CPU time of {side}",
        weight: "invalid from 5 %; tail from 0.5 % at a rate; else note",
        figure: "share of the CPU time, 0 to 1",
        do: "measure again, or on a dedicated machine";
    Throttled = "throttled":
        says: "the CPU limit of the control group paused server or generator for {time}",
        weight: "invalid if more than 1 % of the window, or more than half of the visits; else note",
        figure: "time in nanoseconds",
        do: "raise the CPU limit of the container or service";
    BusyBefore = "busy-before":
        says: "other programs used {percent} of a CPU just before the server started",
        figure: "share of the busiest CPU, 0 to 1",
        do: OTHER_WORK;
    Swapped = "swapped":
        says: "the machine swapped {count} pages during the cohort",
        weight: "invalid",
        figure: "pages",
        do: "run fewer servers at once with --instances, or free memory";
    FewSamples = "few-samples":
        says: "{count} samples are too few for the highest percentiles",
        weight: "note: rate and median are valid",
        figure: "samples",
        do: "measure for longer";
    LowerBound = "lower-bound":
        says: "{count} requests outlasted every reply: high percentiles are lower bounds",
        weight: "invalid if the median is one, tail if the 99th percentile is, else note",
        figure: "requests above the slowest reply",
        do: "look for requests without a reply";
    NotSteady = "not-steady":
        says: "the server was still changing after {time}",
        weight: "invalid if the server may still be warming up; else note",
        figure: "time waited, in nanoseconds",
        do: "warm up for longer (`steady_within`), or check its background work";
    NoCost = "no-cost":
        says: "CPU time unknown: server processes started or ended unseen",
        weight: "invalid in a cost phase; else note",
        figure: "minimum number of processes that no other waited for",
        do: "make the server wait for its children, or use --procedure process";
    ProcessesChanged = "processes-changed":
        says: "server processes started or ended in the window",
        do: "check whether the server restarts its workers";
    NoProcesses = "no-processes":
        says: "CPU time and memory unknown: no process of the service was found on this host",
        do: "give --pid, on the host of the service";
    NotRestarted = "not-restarted":
        says: "not restarted: the result holds for this instance of the service",
        do: "restart it and measure again to see how instances differ";
    ResidentMemory = "resident-memory":
        says: "memory counts shared pages once per process",
        do: "run as the user that owns the processes";
    Forced = "forced":
        says: "the server ignored SIGTERM and was killed",
        do: "make the server exit on SIGTERM";
    LeftBehind = "left-behind":
        says: "the server left processes behind",
        figure: "count",
        do: "make the server wait for its children";
    VisitsDropped = "visits-dropped" formerly "slices-dropped":
        says: "{percent} of the visits were disturbed",
        weight: "note; invalid if less than half of them are left without those of `neighbour`, and all are kept",
        figure: "share of the visits, 0 to 1",
        do: OTHER_WORK;
    ParkedBusy = "parked-busy":
        says: "the server used CPU during {count} visits of other servers",
        weight: "note; a visit in which idle servers used more than 3 % of the time is excluded",
        figure: "visits",
        do: "look for work that the server defers until it is idle";
    DeferredWork = "deferred-work":
        says: "work between visits adds {percent} to the server's CPU per request",
        weight: "note above 5 %, invalid above 10 %",
        figure: "CPU time between the server's visits over that in them, 0 to 1",
        do: "check its background work, or measure with more --rounds";
    LateWork = "late-work":
        says: "the server used {time} of CPU after its last visit, which is in no figure",
        figure: "CPU time in nanoseconds",
        do: "look for work that the server defers until it ends";
    Unsettled = "unsettled":
        says: "the server is still settling when visits start to count",
        do: "compare with --procedure process";
    Restless = "restless":
        says: "the server uses {percent} of a CPU without requests",
        weight: "note: nothing is subtracted; a server above 5 % is stopped while others are loaded",
        figure: "share of a CPU, 0 to 1",
        do: "check what the server does when idle";
    Drifting = "drifting":
        says: "CPU per request drifted by {change} over the run",
        figure: "relative change from the first visit to the last",
        do: "warm up for longer with --steady";
    VisitLength = "visit-length" formerly "slice-length":
        says: "CPU per request in visits is {number} times that of a longer load",
        weight: "note; invalid if the difference exceeds 10 %",
        figure: "ratio of visits to the longer load",
        do: "use --visit 1s or --procedure process";
    UnevenWorkers = "uneven-workers":
        says: "connections are spread unevenly: the busiest worker has {number} times the mean load",
        figure: "CPU time of the busiest worker over the mean",
        do: "add connections with -c";
    Stderr = "stderr":
        says: "the server wrote {count} bytes of output, as an access log does",
        weight: "note; that of `neighbour` if reading it took CPUs of a side",
        figure: "bytes",
        do: "switch its access log off";
    ForeignGenerator = "foreign-generator":
        says: "a third-party load generator does not compare replies",
        do: "omit --generator to check replies";
}
