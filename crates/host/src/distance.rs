//! How far the CPUs of the two sides are from each other: the time of a round trip of a cache line between them.
//!
//! Where both share a cache it is short, elsewhere several times as long. A hypervisor may move virtual CPUs
//! from one case to the other, which no file shows.

use std::{
    hint,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use wirebench_schema::journal::Placement;
use wirebench_server::parallel::spawn_in;

/// Batches of round trips, of which the median counts.
const BATCHES: usize = 5;
const ROUND_TRIPS: u64 = 100;
/// A reading takes 0.4 ms at most; if a CPU is busy with something else, there is none.
const DEADLINE: Duration = Duration::from_millis(10);
/// A longer round trip was that of threads which waited for their CPUs: between the sockets of a machine it takes less
/// than a microsecond.
const LONGEST_NS: f64 = 2000.0;
/// Looks at the line between two looks at the clock.
const SPINS: u32 = 10_000;
/// More pairs take longer than they tell.
const MOST_PAIRS: usize = 8;
/// Synthetic distances: those of a near and a far state in nanoseconds, and for how many seconds of the clock
/// of the day each lasts in turn, as in `80,400,10,5`. Tests need states on machines that have one.
pub const SYNTHETIC: &str = "WIREBENCH_SYNTHETIC_DISTANCES";

/// Pairs of CPUs whose distance can be read.
#[derive(Clone, Debug)]
pub struct Probe {
    /// They are fixed when it is made.
    pub pairs: Vec<(u32, u32)>,
    synthetic: Option<[f64; 4]>,
}

/// The line, on a page of its own.
#[repr(align(4096))]
struct Page(AtomicU64);

impl Probe {
    /// Of both sides of `placement`, or of the server's CPUs among each other if the load is generated on another
    /// host. There are no pairs where CPUs are shared or nothing is bound.
    #[must_use]
    pub fn new(placement: &Placement, load_is_here: bool) -> Self {
        let Placement { server_cpus, generator_cpus, pinned, disjoint, .. } = placement;
        let longer = server_cpus.len().max(generator_cpus.len());
        let [servers, others] = [server_cpus, generator_cpus].map(|it| it.iter().copied().cycle());
        let mut pairs: Vec<(u32, u32)> = match load_is_here {
            true => servers.zip(others).take(longer).collect(),
            false => server_cpus.windows(2).map(|pair| (pair[0], pair[1])).collect(),
        };
        pairs.truncate(if *pinned && (*disjoint || !load_is_here) { MOST_PAIRS } else { 0 });
        let synthetic = std::env::var(SYNTHETIC).ok().and_then(|text| synthetic(&text));
        Self { pairs, synthetic }
    }

    /// The distance of each pair in nanoseconds; empty if one could not be read.
    #[must_use]
    pub fn read(&self) -> Vec<u32> {
        let read = |(one, other): &(u32, u32)| match self.synthetic {
            Some(synthetic) => Some(synthetic_ns(synthetic)),
            None => round_trip_ns(*one, *other),
        };
        let distances = self.pairs.iter().map(|pair| read(pair).map(|ns| ns.round() as u32));
        distances.collect::<Option<Vec<u32>>>().unwrap_or_default()
    }
}

fn synthetic(text: &str) -> Option<[f64; 4]> {
    let numbers = text.split(',').map(|word| word.trim().parse().ok());
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    numbers.try_into().ok().filter(|[_, _, near_s, far_s]: &[f64; 4]| near_s + far_s > 0.0)
}

fn synthetic_ns([near_ns, far_ns, near_s, far_s]: [f64; 4]) -> f64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    if time % (near_s + far_s) < near_s { near_ns } else { far_ns }
}

/// The median time of a round trip between two CPUs.
fn round_trip_ns(one: u32, other: u32) -> Option<f64> {
    let until = Instant::now() + DEADLINE;
    let page = OnceLock::new();
    std::thread::scope(|scope| {
        // A thread starts on the CPU of the one that starts it. Started by the answering one, which works there, it
        // would get a turn at the next tick.
        let asking = spawn_in(scope, || {
            wirebench_sys::affinity::bind(&[one]).ok()?;
            ask(line(&page, until)?, until)
        });
        let answering = spawn_in(scope, || {
            wirebench_sys::affinity::bind(&[other]).ok()?;
            // The page lies where this thread touches it first.
            answer(&page.get_or_init(|| Page(AtomicU64::new(0))).0, until);
            Some(())
        });
        answering.ok()?.join().ok()??;
        asking.ok()?.join().ok()?
    })
}

/// The line, as soon as the other thread has it.
fn line(page: &OnceLock<Page>, until: Instant) -> Option<&AtomicU64> {
    loop {
        match page.get() {
            Some(page) => return Some(&page.0),
            None if Instant::now() > until => return None,
            None => hint::spin_loop(),
        }
    }
}

/// Waits until the line has this value.
fn wait(line: &AtomicU64, value: u64, until: Instant) -> Option<()> {
    loop {
        for _ in 0..SPINS {
            if line.load(Ordering::Acquire) == value {
                return Some(());
            }
            hint::spin_loop();
        }
        if Instant::now() > until {
            return None;
        }
    }
}

fn ask(line: &AtomicU64, until: Instant) -> Option<f64> {
    let mut values = Vec::with_capacity(BATCHES);
    let mut turn = 0;
    // The first round trip waits for the other thread.
    for (count, is_kept) in [(1, false)].into_iter().chain([(ROUND_TRIPS, true); BATCHES]) {
        let began = Instant::now();
        for _ in 0..count {
            line.store(turn + 1, Ordering::Release);
            wait(line, turn + 2, until)?;
            turn += 2;
        }
        if is_kept {
            values.push(began.elapsed().as_nanos() as f64 / count as f64);
        }
    }
    plausible(values)
}

/// The median, if no other program took part.
fn plausible(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(BATCHES / 2).copied().filter(|it| *it <= LONGEST_NS)
}

fn answer(line: &AtomicU64, until: Instant) {
    for trip in 0..1 + ROUND_TRIPS * BATCHES as u64 {
        if wait(line, 2 * trip + 1, until).is_none() {
            return;
        }
        line.store(2 * trip + 2, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placement(server: &[u32], generator: &[u32], pinned: bool) -> Placement {
        Placement {
            server_cpus: server.to_vec(),
            generator_cpus: generator.to_vec(),
            pinned,
            disjoint: server.iter().all(|cpu| !generator.contains(cpu)),
            ..Placement::default()
        }
    }

    fn pairs(server: &[u32], generator: &[u32], load_is_here: bool) -> Vec<(u32, u32)> {
        Probe::new(&placement(server, generator, true), load_is_here).pairs
    }

    #[test]
    fn each_cpu_has_a_pair_up_to_eight_and_without_two_sides_there_is_none() {
        assert_eq!(pairs(&[0], &[1], true), [(0, 1)]);
        assert_eq!(pairs(&[0, 1], &[2, 3, 4], true), [(0, 2), (1, 3), (0, 4)]);
        let (low, high): (Vec<u32>, Vec<u32>) = ((0..32).collect(), (32..64).collect());
        assert_eq!(pairs(&low, &high, true).len(), 8);
        assert_eq!(pairs(&[0], &[0], true), []);
        assert_eq!(pairs(&[0, 1, 2], &[0, 1, 2], false), [(0, 1), (1, 2)]);
        assert_eq!(pairs(&[0], &[1], false), []);
        assert_eq!(Probe::new(&placement(&[0], &[1], false), true).read(), [0; 0]);
    }

    #[test]
    fn a_cpu_that_does_not_exist_has_no_distance() {
        assert_eq!(round_trip_ns(0, u32::MAX), None);
        assert_eq!(round_trip_ns(u32::MAX, 0), None);
    }

    #[test]
    fn threads_that_waited_for_their_cpus_have_no_distance() {
        assert_eq!(plausible(vec![80.0, 80.0, 90.0, 90.0, 10_018.0]), Some(90.0));
        assert_eq!(plausible(vec![80.0, 80.0, 10_018.0, 10_018.0, 10_018.0]), None);
    }

    #[test]
    fn synthetic_distances_are_two_numbers_and_two_times() {
        let now = |text: &str| synthetic(text).map(|it| synthetic_ns(it).round());
        assert_eq!((now("80,400,10,0"), now("80, 400, 0, 10")), (Some(80.0), Some(400.0)));
        assert_eq!((now("80,400"), now("80,400,0,0"), now("80,400,far,1")), (None, None, None));
    }
}
