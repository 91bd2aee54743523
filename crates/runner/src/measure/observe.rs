//! What is read of the two sides while our own generator loads the server, and when.
//!
//! Before the first request and after the last one there is time: then processes are listed and the
//! details of their threads are read. In the window there is none: what is read there takes CPU time
//! from the generator, so that at its edges only what is cheap is read.

use rustix::process::Pid;
use std::{thread, time::Duration};
use wirebench_schema::load::{EdgeClocks, LoadReport, LoadStart};

use super::Seen;
use crate::{
    cost::{Course, Details, Look},
    launch::Server,
    neighbours::Machine,
};

/// How often the tree is looked at until two looks in a row are alike, and the time between them.
const LOOKS_MOST: usize = 40;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// What was read so far.
pub(super) struct Observer<'a> {
    server: &'a Server,
    generator: Pid,
    /// Before the first request.
    rest: Option<(Look, Details)>,
    /// When the window began.
    start: Option<(Look, Machine)>,
    /// In the window, of a server whose processes come and go.
    meanwhile: Vec<Look>,
    /// When the window had ended: at once, and when the server was at rest.
    end: Option<(Look, Machine, Look, Details)>,
    /// What the generator read.
    readings: Option<EdgeClocks>,
}

impl<'a> Observer<'a> {
    pub(super) const fn new(server: &'a Server, generator: Pid) -> Self {
        let (rest, start, end, readings) = (None, None, None, None);
        Self { server, generator, rest, start, meanwhile: Vec::new(), end, readings }
    }

    /// Everything is connected and nothing is sent. A server may still be starting processes for its
    /// connections.
    pub(super) fn connected(&mut self) -> LoadStart {
        let look = settled(self.look(), || self.look());
        let processes = look.pids().iter().map(|pid| pid.as_raw_nonzero().get()).collect();
        let details = Details::read(&look);
        self.rest = Some((look, details));
        LoadStart { processes }
    }

    pub(super) fn window_starts(&mut self) {
        let machine = Machine::read(Some(self.generator));
        self.start = Some((self.look(), machine));
    }

    /// An interval has passed. Children that are not waited for must be seen while they live.
    pub(super) fn interval(&mut self) {
        let (Some((rest, details)), Some((before, _)), None) = (&self.rest, &self.start, &self.end)
        else {
            return;
        };
        if details.ignores_children() || !rest.has_the_processes_of(before) {
            self.meanwhile.push(self.look());
        }
    }

    /// The generator's threads are read first: it may end at once.
    pub(super) fn window_ended(&mut self) {
        let machine = Machine::read(Some(self.generator));
        let after = self.look();
        let at_rest = settled(after.clone(), || self.look());
        let details = Details::read(&at_rest);
        self.end = Some((after, machine, at_rest, details));
    }

    pub(super) fn read(&mut self, readings: EdgeClocks) {
        self.readings = Some(readings);
    }

    pub(super) fn finish(self, load: LoadReport) -> Result<Seen, String> {
        let (Some((rest, details)), Some(start), Some(end), Some(readings)) =
            (self.rest, self.start, self.end, self.readings)
        else {
            return Err("the generator reported without the edges of its window".to_owned());
        };
        let ends = (end.0, end.2);
        Ok(Seen {
            load,
            course: Course::with_readings(&rest, &readings, start.0, &self.meanwhile, ends),
            details: (details, end.3),
            machine: (start.1, end.1),
            tool: None,
            busy_before: None,
        })
    }

    fn look(&self) -> Look {
        Look::take(self.server.guard())
    }
}

/// Looks until nothing begins, ends or is waited for any more, or until that takes too long.
fn settled(mut last: Look, look: impl Fn() -> Look) -> Look {
    for _ in 0..LOOKS_MOST {
        thread::sleep(BETWEEN_LOOKS);
        let now = look();
        let is_settled = now.is_like(&last);
        last = now;
        if is_settled {
            break;
        }
    }
    last
}
