//! What every combination of parts must do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod fibers;
mod sockets;

use wirebench_fiber::{
    Epoll, IoUring, Sharing, Stealing,
    queue::{BoundedMpmc, BoundedSpmc, Locking, SimpleMpmc},
};

/// Calls `$test::<Parts>(workers)` for each combination, with one worker and with four.
macro_rules! with_all_parts {
    ($($test:ident)+) => {
        $(
            #[test]
            fn $test() {
                with_all_policies!($test Epoll);
                with_all_policies!($test IoUring);
            }
        )+
    };
}

macro_rules! with_all_policies {
    ($test:ident $poller:ty) => {
        for workers in [1, 4] {
            tests::$test::<(Sharing<Locking>, $poller)>(workers);
            tests::$test::<(Sharing<BoundedMpmc>, $poller)>(workers);
            tests::$test::<(Sharing<SimpleMpmc>, $poller)>(workers);
            tests::$test::<(Stealing<Locking>, $poller)>(workers);
            tests::$test::<(Stealing<BoundedMpmc>, $poller)>(workers);
            tests::$test::<(Stealing<BoundedSpmc>, $poller)>(workers);
        }
    };
}

/// The tests by their names alone.
mod tests {
    pub(crate) use crate::{fibers::*, sockets::*};
}

with_all_parts! {
    many_fibers_are_spawned_and_joined
    a_panic_ends_one_fiber_and_is_reported
    sleepers_wake_in_their_order_and_not_before
    a_mutex_lets_one_fiber_in_at_a_time
    no_wake_up_is_lost_between_two_fibers
    a_semaphore_limits_and_a_channel_has_a_bound
    a_closed_channel_says_so_on_both_sides
    an_echo_answers_many_connections
    an_end_that_comes_with_the_last_bytes_is_seen
    a_read_ends_at_its_timeout_and_not_at_an_earlier_one
    runtimes_beside_each_other_keep_their_fibers
    what_is_left_at_the_end_is_unwound
    fibers_that_always_run_starve_neither_timers_nor_others
    a_reset_ends_one_connection
    a_runtime_ends_under_load
    a_worker_that_sleeps_is_woken_for_what_another_cannot_do
}
