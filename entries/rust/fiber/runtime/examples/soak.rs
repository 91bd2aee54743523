//! Runs a server and clients that misbehave for a time, and fails when memory grows, descriptors leak or a connection
//! stalls: `cargo run --release -p wirebench-fiber --example soak -- PARTS|all WORKERS SECONDS`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a soak that cannot go on has failed")]

#[macro_use]
mod parts;

use std::{
    fs, io,
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_fiber::{
    Parts,
    net::{TcpListener, TcpStream},
    run, sleep, spawn,
    sync::{Mutex, Semaphore},
    yield_now,
};

/// Clients at a time.
const CLIENTS: u64 = 64;
/// The server closes a connection without progress after this.
const LIMIT: Duration = Duration::from_millis(300);
/// A client that waits longer has stalled.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often memory is looked at.
const TICK: Duration = Duration::from_millis(100);
/// What memory may grow by once all buffers have had their size.
const GROWTH_BYTES: u64 = 16 << 20;

#[derive(Default)]
struct Counts {
    is_over: AtomicBool,
    /// Whether the last client has ended; the server ends after it.
    is_served: AtomicBool,
    connections: AtomicU64,
    exchanges: AtomicU64,
    stalled: AtomicU64,
    /// Connections with wrong bytes, too few or too many.
    wrong: AtomicU64,
    /// Connections that the server closed after its limit, though the client went on.
    late: AtomicU64,
}

/// A generator of numbers without order (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn serve<P: Parts>(stream: &TcpStream<P>) {
    let mut buffer = [0; 8 << 10];
    while let Ok(length @ 1..) = stream.read(&mut buffer, Some(LIMIT)) {
        if stream.write_all(&buffer[..length], Some(LIMIT)).is_err() {
            return;
        }
    }
}

fn server<P: Parts>(
    workers: usize,
    counts: &Arc<Counts>,
    address: &mpsc::Sender<SocketAddr>,
) -> io::Result<()> {
    let (counts, address) = (Arc::clone(counts), address.clone());
    run::<P, _>(workers, move || {
        let listener = TcpListener::<P>::bind("127.0.0.1:0".parse().unwrap())?;
        address.send(listener.local_addr()?).unwrap();
        spawn::<P, _>(move || {
            loop {
                let accepted = listener.accept();
                let served = accepted.and_then(|stream| spawn::<P, _>(move || serve(&stream)));
                if served.is_err() {
                    sleep::<P>(Duration::from_millis(10));
                }
            }
        })?;
        while !counts.is_served.load(SeqCst) {
            sleep::<P>(Duration::from_millis(50));
        }
        Ok(())
    })?
}

/// Exchanges messages of many sizes, and checks each byte. The answer is whether the server went on to the end.
///
/// No limit of the server began before the message ahead of this one, `since` for the first.
fn exchange<P: Parts>(
    stream: &TcpStream<P>,
    mut since: Instant,
    random: &mut Random,
    counts: &Counts,
) -> io::Result<bool> {
    for _ in 0..random.below(30) {
        let size = 1 + random.below(20_000);
        let byte = u8::try_from(random.below(256)).unwrap_or(0);
        let sent = vec![byte; usize::try_from(size).unwrap_or(1)];
        let begun = Instant::now();
        stream.write_all(&sent, Some(PATIENCE))?;
        let (mut left, mut buffer) = (sent.len(), [0; 4 << 10]);
        while left > 0 {
            let length = stream.read(&mut buffer, Some(PATIENCE))?;
            if length == 0 && since.elapsed() >= LIMIT {
                counts.late.fetch_add(1, SeqCst);
                return Ok(false);
            }
            assert!(length > 0 && length <= left, "{length} of {left} bytes");
            assert!(buffer[..length].iter().all(|it| *it == byte), "another byte");
            left -= length;
        }
        counts.exchanges.fetch_add(1, SeqCst);
        since = begun;
    }
    Ok(true)
}

/// One connection with one kind of conduct.
fn connect<P: Parts>(address: SocketAddr, random: &mut Random, counts: &Counts) -> io::Result<()> {
    let since = Instant::now();
    let stream = TcpStream::<P>::connect(address, Some(PATIENCE))?;
    counts.connections.fetch_add(1, SeqCst);
    match random.below(10) {
        // Says nothing, until the server closes.
        0 => drop(stream.read(&mut [0], Some(PATIENCE))?),
        // Sends and never reads, until the server closes or the kernel takes no more.
        1 => while stream.write_all(&[1; 32 << 10], Some(2 * LIMIT)).is_ok() {},
        // Goes away with a reply unread, which resets the connection.
        2 => {
            stream.write_all(&[2; 100], Some(PATIENCE))?;
            yield_now::<P>();
        }
        // Has a timeout of its own, which comes first.
        3 => drop(stream.read(&mut [0], Some(Duration::from_millis(1 + random.below(20))))),
        4..=6 if exchange(&stream, since, random, counts)? => {
            stream.shutdown_write()?;
            assert_eq!(stream.read(&mut [0], Some(PATIENCE))?, 0, "bytes behind the end");
        }
        4..=6 => {}
        _ => drop(exchange(&stream, since, random, counts)?),
    }
    Ok(())
}

/// A storm of fibers that take a lock in turn.
fn storm<P: Parts>() {
    let sum = Arc::new(Mutex::<P, u64>::new(0));
    let fibers: Vec<_> = (0..200)
        .map(|_| {
            let sum = Arc::clone(&sum);
            spawn::<P, _>(move || {
                let mut guard = sum.lock();
                yield_now::<P>();
                *guard += 1;
            })
            .unwrap()
        })
        .collect();
    fibers.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(*sum.lock(), 200);
}

fn clients<P: Parts>(workers: usize, address: SocketAddr, counts: &Arc<Counts>) -> io::Result<()> {
    let counts = Arc::clone(counts);
    run::<P, _>(workers, move || {
        let room = Arc::new(Semaphore::<P>::new(usize::try_from(CLIENTS).unwrap_or(1)));
        let mut seed = 0;
        while !counts.is_over.load(SeqCst) {
            room.acquire();
            seed += 1;
            if seed % 500 == 0 {
                storm::<P>();
            }
            let (room, counts) = (Arc::clone(&room), Arc::clone(&counts));
            spawn::<P, _>(move || {
                let exchanges = || connect::<P>(address, &mut Random(seed), &counts);
                match catch_unwind(AssertUnwindSafe(exchanges)) {
                    Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => {
                        counts.stalled.fetch_add(1, SeqCst);
                    }
                    Ok(_) => {}
                    Err(_) => drop(counts.wrong.fetch_add(1, SeqCst)),
                }
                room.release();
            })?;
        }
        (0..CLIENTS).for_each(|_| room.acquire());
        Ok(())
    })?
}

fn resident_bytes() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// One kind for some time. The answer is what was wrong.
fn soak(parts: &str, workers: usize, time: Duration) -> Result<(), String> {
    let counts = Arc::new(Counts::default());
    let (sender, receiver) = mpsc::channel();
    let (mut early_bytes, mut late_bytes) = (0, 0);
    // How late a thread of its own was: what other programs do to all that is timed here.
    let mut held_up = Duration::ZERO;
    thread::scope(|scope| {
        let server = scope.spawn(|| with_parts!(parts, server(workers, &counts, &sender)));
        let address = receiver.recv().unwrap();
        let counts = &counts;
        let clients = scope.spawn(move || with_parts!(parts, clients(workers, address, counts)));
        let begun = Instant::now();
        while begun.elapsed() < time && !clients.is_finished() && !server.is_finished() {
            let slept = Instant::now();
            thread::sleep(TICK);
            held_up = held_up.max(slept.elapsed() - TICK);
            let bytes = resident_bytes();
            if begun.elapsed() < time / 2 {
                early_bytes = early_bytes.max(bytes);
            } else {
                late_bytes = late_bytes.max(bytes);
            }
        }
        counts.is_over.store(true, SeqCst);
        let ended = clients.join().unwrap();
        counts.is_served.store(true, SeqCst);
        let ended = ended.and(server.join().unwrap());
        ended.map_err(|error| format!("{parts}: {error}"))
    })?;
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().count();
    let [stalled, wrong, late] =
        [&counts.stalled, &counts.wrong, &counts.late].map(|it| it.load(SeqCst));
    println!(
        "{parts}: {} connections, {} exchanges, {stalled} stalled, {wrong} wrong, {late} late (the machine \
         up to {} ms), {} MiB in the first half, {} MiB in the second, {descriptors} descriptors at the end",
        counts.connections.load(SeqCst),
        counts.exchanges.load(SeqCst),
        held_up.as_millis(),
        early_bytes >> 20,
        late_bytes >> 20,
    );
    match () {
        () if wrong > 0 => Err(format!("{parts}: {wrong} connections were wrong")),
        () if stalled > 0 => Err(format!("{parts}: {stalled} connections stalled")),
        () if late > 0 && held_up < LIMIT / 2 => Err(format!("{parts}: {late} were late")),
        () if late_bytes > early_bytes + GROWTH_BYTES => Err(format!("{parts}: memory has grown")),
        () if descriptors > 16 => Err(format!("{parts}: descriptors have leaked")),
        () => Ok(()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [parts, workers, seconds] = arguments.as_slice() else {
        println!("usage: soak PARTS|all WORKERS SECONDS");
        return ExitCode::from(2);
    };
    let names = match parts.as_str() {
        "all" => parts::ALL.to_vec(),
        name => vec![name],
    };
    let (workers, seconds) = (workers.parse().unwrap(), seconds.parse().unwrap());
    let mut is_sound = true;
    for name in names {
        if let Err(wrong) = soak(name, workers, Duration::from_secs(seconds)) {
            println!("{wrong}");
            is_sound = false;
        }
    }
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
