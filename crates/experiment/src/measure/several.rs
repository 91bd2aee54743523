//! Several loads on one server, one after the other, each with its own record. A start and a warm-up
//! take longer than a short window, and what is varied may not need a fresh process.
//!
//! Not here: which cells are measured together, and in which order.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};
use wirebench_schema::journal::Run;
use wirebench_server::launch::Stopped;

use super::{Bench, Cell, Failure, end};

impl Bench {
    /// Makes a run of each cell, and passes it to `each`. All cells have the subject, the scenario and
    /// the workers of the first. A server that ends before the last of them is started again. Nothing
    /// more is made once `stop` is set.
    pub(crate) fn run_together(
        &self,
        cells: &[Cell<'_>],
        stop: &AtomicBool,
        each: &mut dyn FnMut(Run) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut left = cells;
        while !left.is_empty() && !stop.load(Ordering::Relaxed) {
            let made = self.run_on_one(left, stop, each)?;
            left = &left[made..];
        }
        Ok(())
    }

    /// Makes runs until the cells or the server end. The answer is their number.
    fn run_on_one(
        &self,
        cells: &[Cell<'_>],
        stop: &AtomicBool,
        each: &mut dyn FnMut(Run) -> io::Result<()>,
    ) -> io::Result<usize> {
        let request = self.request(&cells[0], self.begin(&cells[0]).workers);
        let mut server = match self.launcher.start(&request, stop) {
            Ok(server) => server,
            Err(_) if stop.load(Ordering::Relaxed) => return Ok(0),
            Err(error) => {
                let outcome = Failure::of_start(&error).into_outcome();
                let failed = |cell| Run { outcome: outcome.clone(), ..self.begin(cell) };
                cells.iter().map(failed).try_for_each(each)?;
                return Ok(cells.len());
            }
        };
        for (number, cell) in (1..).zip(cells) {
            let mut run = self.begin(cell);
            server.command().clone_into(&mut run.server_command);
            let loaded = self.load(cell, &mut run, &mut server, stop);
            if stop.load(Ordering::Relaxed) {
                return Ok(number - 1);
            }
            // What a server does at its end is known to its last run alone.
            if number < cells.len() && server.ended().is_none() {
                let stderr = server.stderr().text();
                let failed = |reason| Failure { reason, stderr };
                let outcome = loaded.map_err(failed);
                let outcome = outcome.and_then(|it| self.outcome(cell, it, &Stopped::default()));
                run.outcome = outcome.unwrap_or_else(Failure::into_outcome);
                each(run)?;
                continue;
            }
            let ended = end(server, loaded, stop);
            let outcome = ended.and_then(|(it, stopped)| self.outcome(cell, it, &stopped));
            run.outcome = outcome.unwrap_or_else(Failure::into_outcome);
            each(run)?;
            return Ok(number);
        }
        Ok(cells.len())
    }
}
