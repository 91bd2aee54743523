//! The faults by name. One program can have only one of them.

macro_rules! faults {
    ($($(#[$about:meta])* $variant:ident = $name:literal,)+) => {
        /// What is wrong with the server.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub(crate) enum Fault { $($(#[$about])* $variant,)+ }

        impl Fault {
            pub(crate) fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

faults! {
    /// Nothing; a thread per connection.
    None = "correct",
    /// Nothing; an epoll loop per worker.
    NoneByEpoll = "correct-epoll",
    /// Nothing; each request takes some time.
    NoneSlowly = "correct-slow",
    /// Nothing; threads of the runtime collect garbage while many requests wait.
    NoneCollecting = "correct-collecting",
    /// Nothing; a child of it works for a while before it follows.
    NoneEndingLate = "correct-ending-late",
    /// Nothing; a header field counts down.
    NoneCounting = "correct-counting",
    RepliesTwice = "replies-twice",
    HalfReply = "half-reply",
    /// The tenth reply of a connection comes too late.
    LateReply = "late-reply",
    WrongLength = "wrong-length",
    BareLf = "bare-lf",
    WrongBody = "wrong-body",
    DropsConnection = "drops-connection",
    NeverReady = "never-ready",
    WrongReadyLine = "wrong-ready-line",
    ExitsAtStart = "exits-at-start",
    RefusesTwoWorkers = "refuses-two-workers",
    IgnoresSigterm = "ignores-sigterm",
    CrashesOnSigterm = "crashes-on-sigterm",
    LeavesChild = "leaves-child",
    FloodsStderr = "floods-stderr",
    PrintsOnStdout = "prints-on-stdout",
    /// A line on standard output for each reply.
    LogsRequests = "logs-requests",
    /// Nothing but its declaration: it uses epoll.
    EpollForIoUring = "epoll-for-io-uring",
    /// One epoll loop, whatever WORKERS says.
    OneWorker = "one-worker",
    /// Two epoll loops for each worker that was asked for.
    TooManyWorkers = "too-many-workers",
    /// Replies to the first bytes of a head, not to its end.
    AnswersEarly = "answers-early",
    /// One reply per read, however many heads were in it.
    MergesPipelined = "merges-pipelined",
    /// A head longer than 2 KiB ends the connection.
    ShortHeads = "short-heads",
    /// After the client's end of stream the connection is closed without the reply.
    ForgetsAtHalfClose = "forgets-at-half-close",
    /// What one write does not take is lost.
    LosesPartialWrites = "loses-partial-writes",
    /// All but 50 connections are closed at once.
    FewConnections = "few-connections",
    NeverTimesOut = "never-times-out",
    /// Only a connection without any byte is closed.
    TimesOutIdleOnly = "times-out-idle-only",
    /// Reads have a timeout, writes have none.
    NeverTimesOutWrites = "never-times-out-writes",
    /// The connection ends when the timeout has passed, whatever happens on it.
    TimesOutActive = "times-out-active",
    /// The connection ends after half of the timeout.
    TimesOutEarly = "times-out-early",
    /// A connection that has had a request ends after a part of the timeout.
    TimesOutKeepAliveEarly = "times-out-keep-alive-early",
    /// A head that has begun may take as long as it likes.
    NeverTimesOutInHead = "never-times-out-in-head",
    /// TCP_NODELAY is not set.
    DelaysSmallWrites = "delays-small-writes",
    EchoFlipsBit = "echo-flips-a-bit",
    /// A connection ends after 4 MiB.
    EchoEndsEarly = "echo-ends-early",
    /// The fourth of short pieces in a row has a wrong last byte.
    EchoGarblesFourthPiece = "echo-garbles-fourth-piece",
    EchoReorders = "echo-reorders",
    /// What has not been sent back when the client ends its side is lost.
    EchoDropsTail = "echo-drops-tail",
    /// Sends back its whole buffer, however much of it was read.
    EchoFixedBuffer = "echo-fixed-buffer",
    /// Reads on while the client does not, without a bound.
    EchoHoards = "echo-hoards",
    /// Answers without the work that was asked for.
    SkipsWork = "skips-work",
    /// Sleeps for as long as it should work.
    SleepsForWork = "sleeps-for-work",
    /// Works on as many requests at a time as it has connections.
    WorksAtOnce = "works-at-once",
    DiesOnReset = "dies-on-reset",
    /// The process crashes at its thirtieth request.
    Crashes = "crashes",
    EscapesAffinity = "escapes-affinity",
}

impl Fault {
    /// Whether the server is an event loop instead of a thread per connection.
    pub(crate) const fn serves_by_epoll(self) -> bool {
        matches!(
            self,
            Self::NoneByEpoll
                | Self::NoneCollecting
                | Self::EpollForIoUring
                | Self::OneWorker
                | Self::TooManyWorkers
                | Self::RefusesTwoWorkers
                | Self::LosesPartialWrites
                | Self::EchoHoards
        )
    }
}
