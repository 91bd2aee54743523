//! The edges of a window on other hosts: the moments at which the generators are to begin and to end.

use std::time::Duration;
use wirebench_schema::{agent::WindowOrder, load::LoadEvent};

/// The moments of a window that are still to come.
#[derive(Debug)]
pub(super) struct Edges {
    start_ns: Option<u64>,
    end_ns: Option<u64>,
    has_ended: bool,
}

impl Edges {
    /// Of a window that begins when this side's clock shows `start_ns`.
    pub(super) fn new(order: &WindowOrder, start_ns: u64) -> Self {
        let start_ns = start_ns + order.discard_ns;
        let length_ns = |length: Duration| u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        let end_ns = order.stop.length().map(|it| start_ns.saturating_add(length_ns(it)));
        Self { start_ns: Some(start_ns), end_ns, has_ended: false }
    }

    /// When the next one is.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.start_ns.or(self.end_ns)
    }

    /// Says which edges have passed by now.
    pub(super) fn pass(&mut self, now_ns: u64) -> Vec<LoadEvent> {
        let mut events = Vec::new();
        if self.start_ns.take_if(|start_ns| *start_ns <= now_ns).is_some() {
            events.push(LoadEvent::WindowStart);
        }
        if self.start_ns.is_none() && self.end_ns.is_some_and(|end_ns| end_ns <= now_ns) {
            events.extend(self.end());
        }
        events
    }

    /// A generator has reported: the window has ended, by its count or before its time. None if that is known.
    pub(super) fn end(&mut self) -> Option<LoadEvent> {
        (self.start_ns, self.end_ns) = (None, None);
        if std::mem::replace(&mut self.has_ended, true) {
            return None;
        }
        Some(LoadEvent::WindowEnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::{
        agent::Recording,
        load::{LoadModel, Stop},
    };

    const MS: u64 = 1_000_000;

    fn order(stop: Stop) -> WindowOrder {
        WindowOrder {
            load: 0,
            model: LoadModel::Closed,
            discard_ns: 30 * MS,
            stop,
            start_ns: None,
            recording: Recording::Intervals,
            processes: Vec::new(),
            server_cpus: Vec::new(),
        }
    }

    #[test]
    fn a_window_with_a_count_ends_with_the_first_report() {
        let order = order(Stop::Requests(1));
        let mut edges = Edges::new(&order, 5 * MS);
        assert_eq!(edges.pass(34 * MS), []);
        assert_eq!(edges.pass(35 * MS), [LoadEvent::WindowStart]);
        assert_eq!((edges.next_ns(), edges.pass(u64::MAX).len()), (None, 0));
        assert_eq!((edges.end(), edges.end()), (Some(LoadEvent::WindowEnd), None));
    }

    #[test]
    fn a_late_reader_passes_both_edges_before_it_hears_a_report() {
        let order = order(Stop::After(Duration::from_millis(25)));
        let mut edges = Edges::new(&order, 0);
        assert_eq!(edges.pass(54 * MS), [LoadEvent::WindowStart]);
        assert_eq!(edges.pass(55 * MS), [LoadEvent::WindowEnd]);
        let mut edges = Edges::new(&order, 0);
        assert_eq!(edges.pass(60 * MS), [LoadEvent::WindowStart, LoadEvent::WindowEnd]);
        assert_eq!(edges.end(), None);
    }
}
