//! Sets requests apart whose life overlaps a stall of the machine. Those that stay stand also for those set apart:
//! a slow request overlaps more often than a fast one, and a pause of the server must not be hidden by its length.
//! Pure.

use hdrhistogram::Histogram;

use super::log::SlowLog;

/// More than this share of the requests set apart leaves too little to stand for them.
const APART_MOST: f64 = 0.05;
/// A latency with room in less than this share of the time is not known.
const ROOM_LEAST: f64 = 0.5;

/// A time in which a CPU may have stood still, or its requests waited for that reason.
pub(crate) type Span = (u64, u64);

/// The latencies that remain.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) latency: Histogram<u64>,
    pub(crate) apart_share: f64,
}

/// These spans in order, as one where they overlap.
pub(crate) fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let overlaps = next.0 <= last.1;
        if overlaps {
            last.1 = last.1.max(next.1);
        }
        overlaps
    });
    spans
}

/// The distribution `all` of a window without the requests of `log` whose life overlaps one of `spans`, or why there
/// is none.
pub(crate) fn keep(
    all: &Histogram<u64>,
    log: &SlowLog,
    window: Span,
    spans: &[Span],
) -> Result<Kept, &'static str> {
    let (from_ns, slow) = log.complete();
    let mut slow: Vec<_> = slow.collect();
    slow.sort_unstable_by_key(|it| it.latency_ns);
    let room = Room::of(window, spans);
    let free = room.share(0);
    let (mut gone, mut stays) = (Histogram::new_from(all), Histogram::new_from(all));
    let (mut apart, mut owed) = (0_u64, 0.0);
    for it in slow {
        gone.saturating_record(it.latency_ns);
        let end_ns = it.due_ns.saturating_add(it.latency_ns);
        let first = spans.partition_point(|span| span.1 <= it.due_ns);
        if spans.get(first).is_some_and(|span| span.0 < end_ns) {
            apart += 1;
            continue;
        }
        // There was room for this one at least.
        owed += (free / room.share(it.latency_ns)).max(1.0);
        stays.saturating_record_n(it.latency_ns, owed as u64);
        owed = owed.fract();
    }
    let mut latency = all.clone();
    // All three have the same bounds, and each slow request is one of all.
    let _ = (latency.subtract(&gone), latency.add(&stays));
    let apart_share = apart as f64 / all.len().max(1) as f64;
    let p99_ns = latency.value_at_quantile(0.99);
    if apart_share > APART_MOST || room.share(p99_ns) < ROOM_LEAST {
        return Err("they leave too little of the window");
    }
    if from_ns > p99_ns {
        return Err("the log of slow requests ends above p99");
    }
    Ok(Kept { latency, apart_share })
}

/// For a latency, the share of the moments of a window from which on it ends before the next span begins.
struct Room {
    /// The lengths between the spans, the longest first, and their sums up to each.
    lengths: Vec<(u64, u64)>,
    window_ns: u64,
}

impl Room {
    fn of((start_ns, end_ns): Span, spans: &[Span]) -> Self {
        let ends = [start_ns].into_iter().chain(spans.iter().map(|it| it.1.max(start_ns)));
        let begins = spans.iter().map(|it| it.0.min(end_ns)).chain([end_ns]);
        let mut lengths: Vec<u64> = ends.zip(begins).map(|(a, b)| b.saturating_sub(a)).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let mut sum = 0;
        let with_sum = |it: u64| {
            sum += it;
            (it, sum)
        };
        let lengths = lengths.into_iter().map(with_sum).collect();
        Self { lengths, window_ns: end_ns.saturating_sub(start_ns).max(1) }
    }

    fn share(&self, latency_ns: u64) -> f64 {
        let count = self.lengths.partition_point(|(length, _)| *length > latency_ns);
        let Some((_, sum)) = count.checked_sub(1).map(|last| self.lengths[last]) else {
            return 0.0;
        };
        (sum - count as u64 * latency_ns) as f64 / self.window_ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    const SECONDS: u64 = 400;
    const SECOND: u64 = 1_000_000_000;

    /// A server that answers in 50 us and twice a second pauses for 20 ms, with 5 000 requests a second and these spans
    /// in which the machine stands still.
    fn latencies(spans: &[Span], random: &mut Rng) -> (Histogram<u64>, SlowLog) {
        let mut all = Histogram::new_with_bounds(1, 60 * SECOND, 3).unwrap();
        let (mut sum, mut log) = (SlowLog::new(true), SlowLog::new(true));
        let waits = |moment: u64| {
            let pause = moment % (SECOND / 2);
            let until = if pause < 20_000_000 { moment - pause + 20_000_000 } else { moment };
            let place = spans.partition_point(|it| it.1 <= until);
            spans.get(place).filter(|it| it.0 <= until).map_or(until, |it| it.1)
        };
        for request in 0..SECONDS * 5_000 {
            let due_ns = request * 200_000;
            let own_ns = (-50_000.0 * random.f64().max(1e-9).ln()) as u64;
            // What stands still in the middle of a request delays it too.
            let latency_ns = waits(waits(due_ns) + own_ns) - due_ns;
            all.saturating_record(latency_ns);
            if latency_ns > 150_000 {
                log.reply(due_ns, latency_ns);
            }
            if request % 5_000 == 0 {
                sum.add(&std::mem::replace(&mut log, SlowLog::new(true)));
            }
        }
        sum.add(&log);
        (all, sum)
    }

    #[test]
    fn stalls_of_the_machine_are_set_apart_and_pauses_of_the_server_are_not() {
        let mut random = Rng::with_seed(1);
        let spans: Vec<Span> = (0..SECONDS * 5)
            .map(|it| {
                let start = it * SECOND / 5 + random.u64(..SECOND / 6);
                (start, start + random.u64(500_000..3_000_000))
            })
            .collect();
        let (truth, _) = latencies(&[], &mut random);
        let (all, log) = latencies(&spans, &mut random);
        let kept = keep(&all, &log, (0, SECONDS * SECOND), &union(spans)).unwrap();
        assert!(kept.apart_share > 0.005 && kept.apart_share < 0.05, "{}", kept.apart_share);
        let share = |it: &Histogram<u64>, from: u64| {
            it.count_between(from, u64::MAX) as f64 / it.len() as f64
        };
        for from in [200_000, 300_000, 1_000_000, 5_000_000, 10_000_000, 15_000_000] {
            let [stays, true_share] = [&kept.latency, &truth].map(|it| share(it, from));
            assert!((stays / true_share - 1.0).abs() < 0.02, "{from}: {stays} {true_share}");
        }
        let tail = |it: &Histogram<u64>| it.value_at_quantile(0.955) as f64;
        assert!(tail(&all) / tail(&truth) > 1.05, "the stalls are in all requests");
        assert!((tail(&kept.latency) / tail(&truth) - 1.0).abs() < 0.02);
    }
}
