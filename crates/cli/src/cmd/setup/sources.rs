//! The sources that setup fetches: the list, the question, and the fetch of each entry's.

use anyhow::Context as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, BufRead, IsTerminal, Write as _};
use wirebench_catalogue::{checkouts::Checkouts, fetch_sources::fetch, setup::FetchError};

use super::{Work, source_lines};
use crate::out;

/// How often the wait for an answer looks whether a signal has come.
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

impl Work<'_> {
    /// Lists the sources, asks on a terminal, and fetches them.
    pub(super) fn fetch_sources(&mut self, all: &[&Checkouts]) -> anyhow::Result<()> {
        self.done.extend(all.iter().map(|it| it.key()));
        out::result("sources to fetch:");
        all.iter()
            .flat_map(|it| source_lines(it))
            .for_each(|line| out::result(&format!("  {line}")));
        let asks = !self.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
        if asks && !self.agrees()? {
            out::note("the sources are not fetched");
            return Ok(());
        }
        for (number, it) in (1..).zip(all) {
            out::result(&format!("[{number}/{}] the source of {}", all.len(), it.entry));
            match fetch(it, self.mirror.as_ref(), self.context.interrupt.flag()) {
                Ok(()) => self.record(&it.key(), None)?,
                Err(FetchError::Failed(said)) => {
                    self.failed.push(format!("the source of {}: {said}", it.entry));
                    self.record(&it.key(), Some(&said))?;
                }
                Err(FetchError::Interrupted) => return Ok(()),
                Err(error @ FetchError::Io { .. }) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The answer on the terminal. A signal is a refusal.
    fn agrees(&self) -> anyhow::Result<bool> {
        eprint!("Fetch them? [y/N] ");
        io::stderr().flush().context("cannot write to the terminal")?;
        let stdin = io::stdin();
        while self.context.interrupt.exit().is_none() {
            let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&STEP));
            if matches!(ready, Ok(1..)) {
                return is_yes(&mut stdin.lock()).context("cannot read the answer");
            }
        }
        Ok(false)
    }
}

fn is_yes(input: &mut impl BufRead) -> io::Result<bool> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_a_clear_yes_agrees() {
        for (answer, expected) in
            [("y\n", true), ("Yes\n", true), ("\n", false), ("", false), ("no\n", false)]
        {
            assert_eq!(is_yes(&mut answer.as_bytes()).unwrap(), expected, "{answer:?}");
        }
    }
}
