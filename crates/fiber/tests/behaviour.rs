//! What every combination of parts must do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_fiber::{
    Epoll, IoUring, Parts, Sharing, Stealing,
    net::{TcpListener, TcpStream},
    queue::{BoundedMpmc, BoundedSpmc, Locking, SimpleMpmc},
    run, sleep, spawn,
    sync::{Closed, Condvar, Mutex, Semaphore, channel},
    yield_now,
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
            of::$test::<(Sharing<Locking>, $poller)>(workers);
            of::$test::<(Sharing<BoundedMpmc>, $poller)>(workers);
            of::$test::<(Sharing<SimpleMpmc>, $poller)>(workers);
            of::$test::<(Stealing<Locking>, $poller)>(workers);
            of::$test::<(Stealing<BoundedMpmc>, $poller)>(workers);
            of::$test::<(Stealing<BoundedSpmc>, $poller)>(workers);
        }
    };
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
    a_worker_that_sleeps_is_woken_for_what_another_cannot_do
}

mod of {
    use super::*;

    pub(crate) fn many_fibers_are_spawned_and_joined<P: Parts>(workers: usize) {
        let sum = run::<P, u64>(workers, || {
            // More than the bound of any queue.
            let fibers = (0..5000).map(|number| {
                spawn::<P, _>(move || {
                    yield_now::<P>();
                    number
                })
            });
            let fibers: Vec<_> = fibers.map(Result::unwrap).collect();
            fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum()
        });
        assert_eq!(sum.unwrap(), 4999 * 5000 / 2);
    }

    pub(crate) fn a_panic_ends_one_fiber_and_is_reported<P: Parts>(workers: usize) {
        let said = run::<P, _>(workers, || {
            let other = spawn::<P, _>(|| 7).unwrap();
            let bad = spawn::<P, ()>(|| std::panic::panic_any("no".to_owned())).unwrap();
            let payload = bad.join().unwrap_err();
            (other.join().unwrap(), payload.downcast_ref::<String>().cloned())
        });
        assert_eq!(said.unwrap(), (7, Some("no".to_owned())));
    }

    pub(crate) fn sleepers_wake_in_their_order_and_not_before<P: Parts>(workers: usize) {
        run::<P, _>(workers, || {
            let begun = Instant::now();
            let fibers = [30, 10, 20, 0].map(|ms| {
                spawn::<P, _>(move || {
                    sleep::<P>(Duration::from_millis(ms));
                    (begun.elapsed(), ms)
                })
                .unwrap()
            });
            for (took, ms) in fibers.map(|it| it.join().unwrap()) {
                assert!(took >= Duration::from_millis(ms), "{took:?} {ms}");
            }
            // Ten thousand of them need no thread each.
            let many = (0..10_000).map(|number| {
                let time = Duration::from_micros(number % 100);
                spawn::<P, _>(move || sleep::<P>(time)).unwrap()
            });
            many.collect::<Vec<_>>().into_iter().for_each(|it| it.join().unwrap());
        })
        .unwrap();
    }

    pub(crate) fn a_mutex_lets_one_fiber_in_at_a_time<P: Parts>(workers: usize) {
        let count = run::<P, _>(workers, || {
            let mutex = Arc::new(Mutex::<P, u64>::new(0));
            let inside = Arc::new(AtomicUsize::new(0));
            let fibers: Vec<_> = (0..50)
                .map(|_| {
                    let (mutex, inside) = (Arc::clone(&mutex), Arc::clone(&inside));
                    spawn::<P, _>(move || {
                        for _ in 0..100 {
                            let mut guard = mutex.lock();
                            assert_eq!(inside.fetch_add(1, SeqCst), 0);
                            let before = *guard;
                            // It may go on, and unlock, on another worker.
                            yield_now::<P>();
                            *guard = before + 1;
                            inside.fetch_sub(1, SeqCst);
                        }
                    })
                    .unwrap()
                })
                .collect();
            fibers.into_iter().for_each(|it| it.join().unwrap());
            let count = *mutex.lock();
            assert!(mutex.try_lock().is_some());
            count
        });
        assert_eq!(count.unwrap(), 5000);
    }

    pub(crate) fn no_wake_up_is_lost_between_two_fibers<P: Parts>(workers: usize) {
        run::<P, _>(workers, || {
            // Each waits for its turn, so that every wake-up is needed.
            let turn = Arc::new((Mutex::<P, u64>::new(0), Condvar::<P>::new()));
            let fibers = [0, 1].map(|own| {
                let turn = Arc::clone(&turn);
                spawn::<P, _>(move || {
                    for _ in 0..3000 {
                        let mut guard = turn.0.lock();
                        while *guard % 2 != own {
                            turn.1.wait(&mut guard);
                        }
                        *guard += 1;
                        turn.1.notify_all();
                    }
                })
                .unwrap()
            });
            fibers.into_iter().for_each(|it| it.join().unwrap());
            assert_eq!(*turn.0.lock(), 6000);
        })
        .unwrap();
    }

    pub(crate) fn a_semaphore_limits_and_a_channel_has_a_bound<P: Parts>(workers: usize) {
        run::<P, _>(workers, || {
            let semaphore = Arc::new(Semaphore::<P>::new(3));
            let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (sender, receiver) = channel::<P, u64>(2);
            let fibers: Vec<_> = (0..200)
                .map(|number| {
                    let (semaphore, inside, most, sender) = (
                        Arc::clone(&semaphore),
                        Arc::clone(&inside),
                        Arc::clone(&most),
                        sender.clone(),
                    );
                    spawn::<P, _>(move || {
                        semaphore.acquire();
                        most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                        yield_now::<P>();
                        inside.fetch_sub(1, SeqCst);
                        semaphore.release();
                        sender.send(number).unwrap();
                    })
                    .unwrap()
                })
                .collect();
            drop(sender);
            let mut sum = 0;
            while let Ok(number) = receiver.receive() {
                sum += number;
            }
            fibers.into_iter().for_each(|it| it.join().unwrap());
            assert_eq!(sum, 199 * 200 / 2);
            assert!(most.load(SeqCst) <= 3, "{most:?}");
        })
        .unwrap();
    }

    pub(crate) fn a_closed_channel_says_so_on_both_sides<P: Parts>(workers: usize) {
        run::<P, _>(workers, || {
            let (sender, receiver) = channel::<P, u8>(1);
            sender.send(1).unwrap();
            let full = spawn::<P, _>(move || sender.send(2)).unwrap();
            yield_now::<P>();
            drop(receiver);
            assert_eq!(full.join().unwrap(), Err(Closed));
            let (sender, receiver) = channel::<P, u8>(1);
            let empty = spawn::<P, _>(move || receiver.receive()).unwrap();
            yield_now::<P>();
            drop(sender);
            assert_eq!(empty.join().unwrap(), Err(Closed));
        })
        .unwrap();
    }

    /// A listener whose connections are echoed, and its address.
    fn echo<P: Parts>() -> SocketAddr {
        let listener = TcpListener::<P>::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        spawn::<P, _>(move || {
            while let Ok(stream) = listener.accept() {
                spawn::<P, _>(move || {
                    let mut buffer = [0; 512];
                    while let Ok(length @ 1..) = stream.read(&mut buffer, None) {
                        if stream.write_all(&buffer[..length], None).is_err() {
                            return;
                        }
                    }
                })
                .unwrap();
            }
        })
        .unwrap();
        address
    }

    pub(crate) fn an_echo_answers_many_connections<P: Parts>(workers: usize) {
        run::<P, _>(workers, || {
            let address = echo::<P>();
            let clients: Vec<_> = (0..40_u8)
                .map(|number| {
                    spawn::<P, _>(move || {
                        let stream = TcpStream::<P>::connect(address, None).unwrap();
                        for round in 0..30_usize {
                            // Larger than the server's buffer, and of another size each time.
                            let sent = vec![number; 1 + round * 97];
                            stream.write_all(&sent, None).unwrap();
                            let mut received = Vec::new();
                            let mut buffer = [0; 300];
                            while received.len() < sent.len() {
                                let length = stream.read(&mut buffer, None).unwrap();
                                assert!(length > 0, "closed after {} bytes", received.len());
                                received.extend_from_slice(&buffer[..length]);
                            }
                            assert_eq!(received, sent);
                        }
                        stream.shutdown_write().unwrap();
                        assert_eq!(stream.read(&mut [0; 1], None).unwrap(), 0);
                    })
                    .unwrap()
                })
                .collect();
            clients.into_iter().for_each(|it| it.join().unwrap());
        })
        .unwrap();
    }

    pub(crate) fn an_end_that_comes_with_the_last_bytes_is_seen<P: Parts>(workers: usize) {
        run::<P, _>(workers, || {
            let address = echo::<P>();
            for number in 0..100_u8 {
                let stream = TcpStream::<P>::connect(address, None).unwrap();
                stream.write_all(&[number; 3], None).unwrap();
                stream.shutdown_write().unwrap();
                let (mut received, mut buffer) = (Vec::new(), [0; 8]);
                let timeout = Some(Duration::from_secs(20));
                while let length @ 1.. = stream.read(&mut buffer, timeout).unwrap() {
                    received.extend_from_slice(&buffer[..length]);
                }
                assert_eq!(received, [number; 3]);
            }
        })
        .unwrap();
    }

    pub(crate) fn a_read_ends_at_its_timeout_and_not_at_an_earlier_one<P: Parts>(workers: usize) {
        run::<P, _>(workers, || {
            let address = echo::<P>();
            let stream = TcpStream::<P>::connect(address, Some(Duration::from_secs(20))).unwrap();
            // Many timeouts are armed, and none of them comes.
            for _ in 0..100 {
                stream.write_all(b"x", Some(Duration::from_secs(20))).unwrap();
                let timeout = Some(Duration::from_millis(10_000));
                assert_eq!(stream.read(&mut [0; 8], timeout).unwrap(), 1);
            }
            let begun = Instant::now();
            let timeout = Duration::from_millis(30);
            let error = stream.read(&mut [0; 8], Some(timeout)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(begun.elapsed() >= timeout && begun.elapsed() < Duration::from_secs(8));
            // The connection is as good as before.
            stream.write_all(b"y", None).unwrap();
            assert_eq!(stream.read(&mut [0; 8], None).unwrap(), 1);
        })
        .unwrap();
    }

    /// Sockets of one are closed, and their memory is used again, while timers of the other run.
    pub(crate) fn runtimes_beside_each_other_keep_their_fibers<P: Parts>(workers: usize) {
        let one = move || {
            run::<P, _>(workers, move || {
                let address = echo::<P>();
                let own = thread::current().id();
                let fibers: Vec<_> = (0..100)
                    .map(|number| {
                        spawn::<P, _>(move || {
                            for _ in 0..2 {
                                // Its timer is still set when another socket takes its place.
                                let stream = TcpStream::<P>::connect(address, None).unwrap();
                                stream.write_all(b"x", None).unwrap();
                                let time = Some(Duration::from_millis(10 + number % 20));
                                let _ = stream.read(&mut [0], time);
                                drop(stream);
                                let stream = TcpStream::<P>::connect(address, None).unwrap();
                                let time = Some(Duration::from_millis(30 + number % 20));
                                let error = stream.read(&mut [0], time).unwrap_err();
                                assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                                assert!(workers > 1 || thread::current().id() == own);
                            }
                        })
                        .unwrap()
                    })
                    .collect();
                fibers.into_iter().for_each(|it| it.join().unwrap());
            })
        };
        thread::scope(|scope| {
            let both = [(); 2].map(|()| scope.spawn(one));
            both.into_iter().for_each(|it| it.join().unwrap().unwrap());
        });
    }

    pub(crate) fn what_is_left_at_the_end_is_unwound<P: Parts>(workers: usize) {
        struct Counts(Arc<AtomicU64>);
        impl Drop for Counts {
            fn drop(&mut self) {
                self.0.fetch_add(1, SeqCst);
            }
        }
        let count = Arc::new(AtomicU64::new(0));
        let own = Arc::clone(&count);
        run::<P, _>(workers, move || {
            let address = echo::<P>();
            let keep = move || Counts(Arc::clone(&own));
            let (one, two, three) = (keep(), keep(), keep());
            spawn::<P, _>(move || {
                let _one = one;
                sleep::<P>(Duration::from_secs(600));
            })
            .unwrap();
            spawn::<P, _>(move || {
                let _two = two;
                let stream = TcpStream::<P>::connect(address, None).unwrap();
                let _ = stream.read(&mut [0; 1], None);
            })
            .unwrap();
            spawn::<P, _>(move || {
                let _three = three;
                loop {
                    yield_now::<P>();
                }
            })
            .unwrap();
            sleep::<P>(Duration::from_millis(5));
        })
        .unwrap();
        assert_eq!(count.load(SeqCst), 3);
    }

    pub(crate) fn a_worker_that_sleeps_is_woken_for_what_another_cannot_do<P: Parts>(
        workers: usize,
    ) {
        if workers == 1 {
            return;
        }
        run::<P, _>(workers, || {
            for _ in 0..20 {
                // All other workers have gone to sleep by then.
                sleep::<P>(Duration::from_millis(2));
                let ran = Arc::new(AtomicU64::new(0));
                let own = Arc::clone(&ran);
                let other = spawn::<P, _>(move || own.store(1, SeqCst)).unwrap();
                // This worker gives nothing away until the other fiber has run elsewhere.
                let until = Instant::now() + Duration::from_secs(20);
                while ran.load(SeqCst) == 0 {
                    assert!(Instant::now() < until, "no other worker was woken");
                    thread::yield_now();
                }
                other.join().unwrap();
            }
        })
        .unwrap();
    }
}
