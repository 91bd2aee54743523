//! The CPU clocks of the server's processes, read at both edges of the window through a given
//! function. The session decides when to read them.

use std::{fmt, sync::Arc};
use wirebench_schema::load::EdgeClocks;

/// CPU time of each process that is known, in nanoseconds and always in the same order; none of a
/// process that has ended.
pub(crate) type Reading = Vec<Option<u64>>;

/// Reads the clocks. The default reads none.
#[derive(Clone)]
pub struct ServerClocks(Arc<dyn Fn() -> Reading + Send + Sync>);

impl ServerClocks {
    /// Reads them with this function, on a thread that loads, at the edges of the window: it must
    /// be quick.
    pub fn new(read: impl Fn() -> Vec<Option<u64>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    fn read(&self) -> Reading {
        (self.0)()
    }
}

impl Default for ServerClocks {
    fn default() -> Self {
        Self::new(Vec::new)
    }
}

impl fmt::Debug for ServerClocks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServerClocks")
    }
}

/// Reads the clocks at the edges of a window.
#[derive(Debug, Default)]
pub(crate) struct AtEdges {
    clocks: ServerClocks,
    readings: EdgeClocks,
}

impl AtEdges {
    pub(crate) fn new(clocks: ServerClocks) -> Self {
        Self { clocks, ..Self::default() }
    }

    pub(crate) fn window_begins(&mut self) {
        self.readings.start_ns = self.clocks.read();
    }

    pub(crate) fn window_ends(&mut self) {
        self.readings.end_ns = self.clocks.read();
    }

    pub(crate) fn take_readings(&mut self) -> EdgeClocks {
        std::mem::take(&mut self.readings)
    }
}
