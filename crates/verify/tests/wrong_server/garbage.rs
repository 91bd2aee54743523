//! Helpers of a runtime that collects garbage: threads without a name of their own that work while
//! many requests of a connection wait at once, as those of V8 do.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

const HELPERS: usize = 4;
/// Bytes of requests in one read above which there is garbage: some 50 requests.
const MANY_BYTES: usize = 4096;
/// How long the helpers then work.
const WORK: Duration = Duration::from_millis(3);

static UNTIL: Mutex<Option<Instant>> = Mutex::new(None);
static CHANGED: Condvar = Condvar::new();

pub(crate) fn start_helpers() {
    for _ in 0..HELPERS {
        thread::spawn(help);
    }
}

/// A read has brought this many bytes.
pub(crate) fn has_read(bytes: usize) {
    if bytes > MANY_BYTES {
        *UNTIL.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + WORK);
        CHANGED.notify_all();
    }
}

fn help() {
    loop {
        let until = wait_for_work();
        while Instant::now() < until {}
    }
}

fn wait_for_work() -> Instant {
    let mut until = UNTIL.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match *until {
            Some(until) if Instant::now() < until => return until,
            _ => until = CHANGED.wait(until).unwrap_or_else(PoisonError::into_inner),
        }
    }
}
