//! What fibers do with sockets.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_fiber::{
    Parts,
    net::{TcpListener, TcpStream},
    run, sleep, spawn, yield_now,
};

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

pub(crate) fn a_reset_ends_one_connection<P: Parts>(workers: usize) {
    run::<P, _>(workers, || {
        let address = echo::<P>();
        let listener = TcpListener::<P>::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let victim = listener.local_addr().unwrap();
        let server = spawn::<P, _>(move || {
            for _ in 0..50 {
                let stream = listener.accept().unwrap();
                let error = loop {
                    // The kernel may drop the byte before the reset.
                    match stream.read(&mut [0; 8], Some(Duration::from_secs(20))) {
                        Ok(length) => assert_eq!(length, 1),
                        Err(error) => break error,
                    }
                };
                assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
            }
        })
        .unwrap();
        let stream = TcpStream::<P>::connect(address, None).unwrap();
        for _ in 0..50 {
            let mut client = std::net::TcpStream::connect(victim).unwrap();
            io::Write::write_all(&mut client, b"x").unwrap();
            rustix::net::sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
            drop(client);
            stream.write_all(b"y", None).unwrap();
            assert_eq!(stream.read(&mut [0; 8], None).unwrap(), 1);
        }
        server.join().unwrap();
    })
    .unwrap();
}

pub(crate) fn a_runtime_ends_under_load<P: Parts>(workers: usize) {
    for _ in 0..5 {
        run::<P, _>(workers, || {
            let address = echo::<P>();
            let count = Arc::new(AtomicU64::new(0));
            for _ in 0..30 {
                let count = Arc::clone(&count);
                let exchange = move || {
                    let stream = TcpStream::<P>::connect(address, None)?;
                    loop {
                        stream.write_all(b"x", Some(Duration::from_secs(20)))?;
                        if stream.read(&mut [0; 8], Some(Duration::from_secs(20)))? == 0 {
                            return io::Result::Ok(());
                        }
                        count.fetch_add(1, SeqCst);
                    }
                };
                spawn::<P, _>(exchange).unwrap();
            }
            let until = Instant::now() + Duration::from_secs(20);
            while count.load(SeqCst) < 300 {
                assert!(Instant::now() < until, "{count:?} exchanges");
                sleep::<P>(Duration::from_millis(1));
            }
        })
        .unwrap();
    }
}
