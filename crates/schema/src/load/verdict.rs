//! The verdict of a load and the side that set its rate, as types; the measuring crate decides them.

crate::names! {
    /// What set the rate. A load knows its own side alone, a run both.
    #[derive(Default)]
    pub enum Bound {
        /// The server, whose CPUs were busy in a run: the rate is the server's.
        Server = "server",
        /// The generator, for which replies waited: the server may be able to do more.
        Generator = "generator",
        /// Of a run: neither was busy all the time, and waiting, on each other or on a timer, sets the rate.
        Neither = "neither",
        /// Of a load: what was requested, a rate that was kept, or pauses.
        Schedule = "schedule",
        /// Of a load: unknown.
        #[default]
        Unknown = "unknown",
    }
}

/// What a load says of itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verdict {
    /// What set the rate.
    pub limit: Bound,
    /// Why, each as a sentence with figures.
    pub reasons: Vec<String>,
    /// What a reader must know before trusting the figures, each as a sentence with figures.
    pub cautions: Vec<String>,
}
