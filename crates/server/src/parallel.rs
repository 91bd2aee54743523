//! Threads for work of bounded size. A limit on processes (`ulimit -u`, `pids.max`) is an ordinary
//! condition here: the work is done by fewer threads, or the error names the limit.

use std::{
    io,
    sync::{Mutex, PoisonError},
    thread::{self, Builder, JoinHandle, Scope, ScopedJoinHandle},
};

pub fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().spawn(work).map_err(at_limit)
}

/// Starts a thread that ends before `scope` does.
pub fn spawn_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).map_err(at_limit)
}

/// The error of starting a thread or a process, which names the limit if one is reached.
pub fn at_limit(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::other(
            "the limit on processes and threads is reached: raise `ulimit -u`, or `pids.max` of the \
             control group",
        ),
        _ => error,
    }
}

/// How many servers are checked at the same time: a check waits more than it works.
pub fn checks() -> usize {
    thread::available_parallelism().map_or(4, |cpus| 4 * usize::from(cpus)).min(8)
}

/// Calls `work` with each of `items`, up to `most` of them at the same time. The results are in the
/// order of the items. The calling thread takes part, so no limit on threads prevents it.
pub fn map<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    most: usize,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let items: Vec<I> = items.into_iter().collect();
    let threads = most.min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let results = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some((index, item)) = next() {
            let result = work(item);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, run).ok()).for_each(drop);
        run();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn results_are_in_the_order_of_the_items_and_made_at_the_same_time() {
        let both = Barrier::new(2);
        let meet = |item: u32| {
            both.wait();
            item * 10
        };
        assert_eq!(map([1, 2, 3, 4], 2, meet), [10, 20, 30, 40]);
        assert!(map([], 8, |item: u32| item).is_empty());
    }

    #[test]
    fn a_refused_thread_names_the_limit() {
        let refused = at_limit(io::Error::from_raw_os_error(11)).to_string();
        assert!(refused.contains("`ulimit -u`"), "{refused}");
        let other = at_limit(io::Error::from_raw_os_error(12)).to_string();
        assert!(other.contains("os error 12"), "{other}");
    }
}
