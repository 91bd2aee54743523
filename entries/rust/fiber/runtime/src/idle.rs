//! Which side wakes whom: workers that wait, and whoever has work for them.
//!
//! A worker says that it is idle and then looks for work once more. The other side puts work there and then looks for
//! idle workers. Fences put both in one order, so that one of the two sees what the other did.

use std::sync::atomic::Ordering::SeqCst;

use crate::atomic::{AtomicBool, AtomicUsize, fence};

/// The workers that wait, and whether one of them is being woken.
#[derive(Debug)]
pub(crate) struct Idle {
    /// Workers that wait for events, or are about to.
    count: AtomicUsize,
    /// Whether a worker is being woken.
    is_waking: AtomicBool,
}

impl Idle {
    pub(crate) fn new() -> Self {
        Self { count: AtomicUsize::new(0), is_waking: AtomicBool::new(false) }
    }

    /// A worker is about to wait: it looks for work after this.
    pub(crate) fn begin(&self) {
        self.count.fetch_add(1, SeqCst);
        fence(SeqCst);
    }

    /// A worker waits no more.
    pub(crate) fn end(&self) {
        self.count.fetch_sub(1, SeqCst);
    }

    /// There is work. The answer is whether the caller is to wake a worker: one waits, and none is being woken.
    pub(crate) fn must_wake(&self) -> bool {
        fence(SeqCst);
        self.count.load(SeqCst) > 0 && !self.is_waking.swap(true, SeqCst)
    }

    /// A wake-up has come, and the next one may be sent. The caller takes work after this, and wakes another worker if
    /// it then sees more.
    ///
    /// Who has put work there and saw that a worker is being woken has sent nothing. That was before the swap, so that
    /// the work is seen behind the fence.
    pub(crate) fn has_woken(&self) {
        self.is_waking.swap(false, SeqCst);
        fence(SeqCst);
    }
}

#[cfg(all(test, feature = "loom"))]
mod loom_tests {
    use super::*;
    use loom::{
        sync::{Arc, Condvar, Mutex},
        thread,
    };

    /// Work, and an event that a worker waits for.
    struct Model {
        idle: Idle,
        work: AtomicUsize,
        event: Mutex<bool>,
        changed: Condvar,
    }

    impl Model {
        fn put(&self) {
            self.work.fetch_add(1, SeqCst);
            self.wake_one();
        }

        fn wake_one(&self) {
            if self.idle.must_wake() {
                *self.event.lock().unwrap() = true;
                self.changed.notify_one();
            }
        }

        fn take(&self) -> bool {
            let left = self.work.load(SeqCst);
            left > 0 && self.work.compare_exchange(left, left - 1, SeqCst, SeqCst).is_ok()
        }

        /// As a worker does, until it has found something.
        fn work(&self) {
            let mut has_waited = false;
            while !self.take() {
                self.idle.begin();
                if self.work.load(SeqCst) == 0 {
                    let mut event = self.event.lock().unwrap();
                    while !*event {
                        event = self.changed.wait(event).unwrap();
                    }
                    *event = false;
                    drop(event);
                    self.idle.end();
                    self.idle.has_woken();
                    has_waited = true;
                } else {
                    self.idle.end();
                }
            }
            if has_waited && self.work.load(SeqCst) > 0 {
                self.wake_one();
            }
        }
    }

    fn check(workers: usize) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let model = Arc::new(Model {
                idle: Idle::new(),
                work: AtomicUsize::new(0),
                event: Mutex::new(false),
                changed: Condvar::new(),
            });
            let threads: Vec<_> = (0..workers)
                .map(|_| {
                    let model = Arc::clone(&model);
                    thread::spawn(move || model.work())
                })
                .collect();
            (0..workers).for_each(|_| model.put());
            // A wake-up that is lost is a deadlock here, which loom reports.
            threads.into_iter().for_each(|it| it.join().unwrap());
        });
    }

    #[test]
    fn no_wake_up_is_lost_while_a_worker_goes_to_sleep() {
        check(1);
    }

    #[test]
    fn two_workers_get_what_two_pushes_brought() {
        check(2);
    }
}
