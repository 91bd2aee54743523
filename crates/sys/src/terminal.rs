//! How wide a terminal is.

use std::os::fd::{AsFd, AsRawFd as _};

/// The columns of a terminal; none of anything else, or if it does not know.
#[must_use]
pub fn columns(of: &impl AsFd) -> Option<u16> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the descriptor is open as long as its owner lives, and the request fills a `winsize`.
    let done = unsafe { libc::ioctl(of.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (done == 0 && size.ws_col > 0).then_some(size.ws_col)
}
