//! What fibers do with each other.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_fiber::{
    Parts, run, sleep, spawn,
    sync::{Closed, Condvar, Mutex, Semaphore, channel},
    yield_now,
};

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

pub(crate) fn a_worker_that_sleeps_is_woken_for_what_another_cannot_do<P: Parts>(workers: usize) {
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

/// Fibers that can always go on, more than one worker can run at a time.
pub(crate) fn fibers_that_always_run_starve_neither_timers_nor_others<P: Parts>(workers: usize) {
    run::<P, _>(workers, move || {
        let is_over = Arc::new(AtomicU64::new(0));
        let until = Instant::now() + Duration::from_secs(20);
        let busy: Vec<_> = (0..workers * 2)
            .map(|_| {
                let is_over = Arc::clone(&is_over);
                spawn::<P, _>(move || {
                    while is_over.load(SeqCst) == 0 {
                        assert!(Instant::now() < until, "the others never ran");
                        yield_now::<P>();
                    }
                })
                .unwrap()
            })
            .collect();
        for _ in 0..5 {
            sleep::<P>(Duration::from_millis(1));
            spawn::<P, _>(yield_now::<P>).unwrap().join().unwrap();
        }
        is_over.store(1, SeqCst);
        busy.into_iter().for_each(|it| it.join().unwrap());
    })
    .unwrap();
}
