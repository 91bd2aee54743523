//! Thresholds that more than one judgement uses.

/// A side that was busy for this share of the window was at its limit.
pub const BUSY: f64 = 0.95;
/// Less than this share of the requests that were due answered correctly, and the rate was not
/// kept.
pub const KEPT: f64 = 0.99;
/// A backlog that grows by more than this share of the requests that were due shows a rate above the capacity.
pub(crate) const GROWTH: f64 = 0.002;
/// More than this share of the requests in flight answered, each time that a thread looks: the replies wait for the
/// generator.
pub const MOST_ARE_READY: f64 = 0.5;
/// How many times as long as a pause requests at a rate wait because of it: through the pause, and
/// as long again until what was due in it is made up for, at half of what a side can do.
pub const PAUSE_AND_CATCHING_UP: f64 = 2.0;
/// This share of the connections, or of their time, is all of it.
pub(crate) const NEARLY_ALL: f64 = 0.9;
/// Mean latencies that a window must have: in fewer the connections run in step, and the edges of
/// the window weigh more than what is between.
pub(crate) const ENOUGH_LATENCIES: f64 = 20.0;
