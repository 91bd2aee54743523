//! The settings that all connections of a server share, fixed before the first connection.

use crate::reply::Replies;
use crate::{Options, Scenario};

/// A scenario with everything that it needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Service {
    /// These replies, one for each request head, each after this many steps of extra work.
    Hello { replies: Replies, extra_work: u32 },
    /// Every byte back, in order.
    Echo,
}

impl Service {
    /// To be called once for each server, because replies are never freed.
    pub(crate) fn new(options: &Options) -> Self {
        match options.scenario {
            Scenario::Hello => Self::Hello {
                replies: Replies::with_body_of(options.body_bytes),
                extra_work: options.extra_work,
            },
            Scenario::Echo => Self::Echo,
        }
    }
}
