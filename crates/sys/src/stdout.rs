//! Whether this process was started without a standard output. Rust's runtime opens `/dev/null` in its place, so the
//! question has to be asked before `main`.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// The loader calls this before the runtime of Rust begins.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: this request reads a flag of a descriptor and touches no memory of this process.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    IS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Whether standard output was closed when this process started, so that all it prints is lost.
#[must_use]
pub fn was_closed() -> bool {
    std::hint::black_box(&LOOK);
    IS_CLOSED.load(Ordering::Relaxed)
}
