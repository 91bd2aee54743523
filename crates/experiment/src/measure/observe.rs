//! What is read of the two sides while our own generator loads the server, and when.
//!
//! Before the first request and after the last one there is time: then processes are listed and the
//! details of their threads are read. In the window there is none: what is read there takes CPU time
//! from the generator, so that at its edges only what is cheap is read.

use rustix::process::Pid;
use std::{thread, time::Duration};
use wirebench_host::neighbours::Machine;
use wirebench_schema::load::{EdgeClocks, LoadReport};
use wirebench_server::{
    cost::{Course, Details, Look},
    launch::Server,
    tree::numbers,
};

use super::{RunObservation, RunSettings};

/// How often the tree is looked at until two looks in a row are alike, and the time between them.
const LOOKS_MOST: usize = 40;
/// How often a tree is looked at until a child is seen that will not be waited for: it may live for a few
/// milliseconds only.
const LOOKS_FOR_CHILDREN: usize = 12;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// What can be read of the two sides.
pub(super) trait Read {
    /// The server's processes and their clocks: a file for each process of the machine.
    fn look(&self) -> Look;
    /// What there is to know of each of its threads: several files for each.
    fn details(&self, look: &Look) -> Details;
    /// The machine's clocks, with those of the generator's threads.
    fn machine(&self) -> Machine;
}

/// The server and the generator of a run, as `/proc` shows them; no generator on another host.
impl Read for (&Server, Option<Pid>) {
    fn look(&self) -> Look {
        self.0.look()
    }

    fn details(&self, look: &Look) -> Details {
        Details::read(look)
    }

    fn machine(&self) -> Machine {
        Machine::read(self.1)
    }
}

pub(super) struct Observer<R> {
    sides: R,
    rest: (Look, Details),
    start: Option<(Look, Machine)>,
    /// In the window, of a server whose processes come and go.
    meanwhile: Vec<Look>,
    /// When the window had ended: at once, and when the server was at rest.
    end: Option<(Look, Machine, Look, Details)>,
}

impl<R: Read> Observer<R> {
    /// Everything is connected and nothing is sent. A server may still be starting processes for its
    /// connections.
    pub(super) fn connected(sides: R) -> Self {
        let look = settled(sides.look(), || sides.look());
        let details = sides.details(&look);
        Self { sides, rest: (look, details), start: None, meanwhile: Vec::new(), end: None }
    }

    /// The processes of the server then.
    pub(super) fn processes(&self) -> Vec<i32> {
        numbers(&self.rest.0.pids())
    }

    pub(super) fn window_starts(&mut self) {
        let machine = self.sides.machine();
        self.start = Some((self.sides.look(), machine));
        let (rest, details) = &self.rest;
        for _ in 0..LOOKS_FOR_CHILDREN {
            let has_changed = |look: &Look| !look.has_the_processes_of(rest);
            if !details.ignores_children() || self.meanwhile.iter().any(has_changed) {
                break;
            }
            thread::sleep(BETWEEN_LOOKS);
            self.meanwhile.push(self.sides.look());
        }
    }

    /// An interval has passed. Children that are not waited for must be seen while they live.
    pub(super) fn interval(&mut self) {
        let ((rest, details), Some((before, _)), None) = (&self.rest, &self.start, &self.end)
        else {
            return;
        };
        if details.ignores_children() || !rest.has_the_processes_of(before) {
            self.meanwhile.push(self.sides.look());
        }
    }

    /// The generator's threads are read first: it may end at once.
    pub(super) fn window_ended(&mut self) {
        let machine = self.sides.machine();
        let after = self.sides.look();
        let at_rest = settled(after.clone(), || self.sides.look());
        let details = self.sides.details(&at_rest);
        self.end = Some((after, machine, at_rest, details));
    }

    /// What was seen of a load with this report, with the `readings` of the server's clocks at the edges.
    pub(super) fn finish(
        self,
        load: LoadReport,
        readings: &EdgeClocks,
    ) -> Result<RunObservation, String> {
        let ((rest, details), Some(start), Some(end)) = (self.rest, self.start, self.end) else {
            return Err("the generator reported without the edges of its window".to_owned());
        };
        let ends = (end.0, end.2);
        Ok(RunObservation {
            load,
            course: Course::with_readings(&rest, readings, start.0, &self.meanwhile, ends),
            details: (details, end.3),
            machine: (start.1, end.1),
            tool: None,
        })
    }
}

impl RunSettings {
    pub(crate) fn cpus(&self) -> Vec<u32> {
        [&self.placement.server_cpus[..], &self.placement.generator_cpus].concat()
    }
}

/// The processes of a server once no further ones begin: it may start some for its connections.
pub(crate) fn settled_look(server: &Server) -> Look {
    settled(server.look(), || server.look())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// This process in the place of both sides, and what was read of it.
    #[derive(Default)]
    struct Own(RefCell<Vec<&'static str>>);

    impl Read for &Own {
        fn look(&self) -> Look {
            self.0.borrow_mut().push("look");
            Look::take(rustix::process::getpid())
        }

        fn details(&self, look: &Look) -> Details {
            self.0.borrow_mut().push("details");
            Details::read(look)
        }

        fn machine(&self) -> Machine {
            self.0.borrow_mut().push("machine");
            Machine::read(None)
        }
    }

    #[test]
    fn details_are_read_before_the_load_and_after_the_window_and_never_in_it() {
        let own = Own::default();
        let mut observer = Observer::connected(&own);
        assert_eq!(own.0.take().last(), Some(&"details"));
        observer.window_starts();
        observer.interval();
        let in_window = own.0.take();
        assert!(!in_window.contains(&"details"), "{in_window:?}");
        observer.window_ended();
        let afterwards = own.0.take();
        // The generator may end at once, and its threads with it.
        assert_eq!(afterwards[..2], ["machine", "look"]);
        assert_eq!(afterwards.last(), Some(&"details"));
    }
}
