//! The CPU clocks of the server's processes, read at both edges of the window through a given
//! function. The session decides when to read them.

use std::{fmt, sync::Arc};

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

/// The readings of one thread at the edges of its window.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Readings {
    pub(crate) start: Reading,
    pub(crate) end: Reading,
    /// The sum over all processes when the load began, and after each segment of it.
    pub(crate) series_ns: Vec<u64>,
}

/// Reads the clocks at the edges of a window, and where connections are kept also within it.
#[derive(Debug, Default)]
pub(crate) struct AtEdges {
    clocks: ServerClocks,
    readings: Readings,
    /// The length of a segment, where the sum is read after each.
    segment_ns: Option<u64>,
    next_ns: Option<u64>,
}

impl AtEdges {
    pub(crate) fn new(clocks: ServerClocks, segment_ns: Option<u64>) -> Self {
        Self { clocks, segment_ns, ..Self::default() }
    }

    pub(crate) fn load_begins(&mut self, start_ns: u64) {
        self.next_ns = self.segment_ns.map(|_| start_ns);
    }

    /// Time of the next reading of the sum.
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns.unwrap_or(u64::MAX)
    }

    /// Reads the sum if it is time. Segments that were slept through have no growth of their own.
    pub(crate) fn pass(&mut self, now_ns: u64) {
        let (Some(segment_ns), Some(mut next_ns)) = (self.segment_ns, self.next_ns) else { return };
        if now_ns < next_ns {
            return;
        }
        let sum_ns = self.clocks.read().into_iter().flatten().sum();
        while now_ns >= next_ns {
            self.readings.series_ns.push(sum_ns);
            next_ns += segment_ns;
        }
        self.next_ns = Some(next_ns);
    }

    pub(crate) fn window_begins(&mut self) {
        self.readings.start = self.clocks.read();
    }

    pub(crate) fn window_ends(&mut self) {
        self.readings.end = self.clocks.read();
        self.next_ns = None;
    }

    pub(crate) fn take_readings(&mut self) -> Readings {
        std::mem::take(&mut self.readings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_sum_is_read_once_after_each_segment_until_the_window_ends() {
        let clock = std::sync::atomic::AtomicU64::new(0);
        let read =
            move || vec![Some(clock.fetch_add(10, std::sync::atomic::Ordering::Relaxed)), None];
        let mut clocks = AtEdges::new(ServerClocks::new(read), Some(20));
        assert_eq!(clocks.next_ns(), u64::MAX);
        clocks.load_begins(100);
        for now_ns in [99, 100, 110, 121, 165, 170] {
            clocks.pass(now_ns);
        }
        assert_eq!(clocks.next_ns(), 180);
        clocks.window_ends();
        clocks.pass(200);
        assert_eq!(clocks.take_readings().series_ns, [0, 10, 20, 20]);
    }
}
