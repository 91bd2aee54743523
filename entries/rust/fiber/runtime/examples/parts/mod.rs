//! The kinds of runtime by their names.

/// Calls `$function::<Parts>(arguments)` for the parts with this name, such as `epoll-stealing-bounded-spmc`.
#[macro_export]
macro_rules! with_parts {
    ($name:expr, $function:ident($($argument:expr),*)) => {
        match $name.split_once('-') {
            Some(("epoll", rest)) => with_parts!(@ Epoll, rest, $function($($argument),*)),
            Some(("io_uring", rest)) => with_parts!(@ IoUring, rest, $function($($argument),*)),
            _ => Err(std::io::Error::other(format!("no parts `{}`", $name))),
        }
    };
    (@ $poller:ident, $rest:expr, $function:ident($($argument:expr),*)) => {{
        use wirebench_fiber::{$poller, Sharing, Stealing, queue::*};
        match $rest {
            "sharing-locking" => $function::<(Sharing<Locking>, $poller)>($($argument),*),
            "sharing-bounded-mpmc" => $function::<(Sharing<BoundedMpmc>, $poller)>($($argument),*),
            "sharing-simple-mpmc" => $function::<(Sharing<SimpleMpmc>, $poller)>($($argument),*),
            "stealing-locking" => $function::<(Stealing<Locking>, $poller)>($($argument),*),
            "stealing-bounded-mpmc" => $function::<(Stealing<BoundedMpmc>, $poller)>($($argument),*),
            "stealing-bounded-spmc" => $function::<(Stealing<BoundedSpmc>, $poller)>($($argument),*),
            rest => Err(std::io::Error::other(format!("no parts `{rest}`"))),
        }
    }};
}

/// The names of all kinds.
pub(crate) const ALL: [&str; 12] = [
    "epoll-sharing-locking",
    "epoll-sharing-bounded-mpmc",
    "epoll-sharing-simple-mpmc",
    "epoll-stealing-locking",
    "epoll-stealing-bounded-mpmc",
    "epoll-stealing-bounded-spmc",
    "io_uring-sharing-locking",
    "io_uring-sharing-bounded-mpmc",
    "io_uring-sharing-simple-mpmc",
    "io_uring-stealing-locking",
    "io_uring-stealing-bounded-mpmc",
    "io_uring-stealing-bounded-spmc",
];
