//! The order of a visit, in which its parts are made elsewhere: rest, and each part with a fence behind it.

use std::{
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{Recording, VisitPiece, WindowCpu, WindowOrder, WindowReport},
    load::{LoadReport, Stop},
};

use crate::{
    fence::{Reading, Sitters},
    process_clocks::grown_ns,
};

/// A server is at rest when it uses at most this share of a CPU.
const REST_SHARE: f64 = 0.02;
/// The time between two looks whether all servers are at rest, at first and later, and how long they may take. A server
/// that spins while it waits would take for ever.
const FIRST_LOOK: Duration = Duration::from_micros(100);
const NEXT_LOOK: Duration = Duration::from_millis(1);
const REST_WITHIN: Duration = Duration::from_millis(40);

/// The load of one part.
#[derive(Clone, Debug)]
pub struct Part {
    /// Without figures if it is discarded.
    pub report: LoadReport,
    /// When its first request was due and its last reply had arrived, on the clock of those who load.
    pub start_ns: u64,
    pub end_ns: u64,
    /// For how long a thread that loads was ready and others had its CPU.
    pub generator_waited_ns: u64,
}

/// The report of a load that is one part, whose servers have no clocks here.
#[must_use]
pub fn without_clocks(load: u32, part: Part) -> WindowReport {
    WindowReport {
        load,
        report: part.report,
        start_ns: part.start_ns,
        end_ns: part.end_ns,
        waited_ns: 0,
        generator_waited_ns: part.generator_waited_ns,
        cpu: WindowCpu::default(),
        parked_cpu_ns: Vec::new(),
        series: Vec::new(),
    }
}

/// Makes the parts of a visit with `part`, which hears when each ends and whether it counts, and reads the servers'
/// clocks between them.
pub fn visit(
    order: &WindowOrder,
    sitters: &Sitters,
    mut part: impl FnMut(Stop, bool) -> Result<Part, String>,
) -> Result<WindowReport, String> {
    let began = Instant::now();
    let mut fences = vec![rest(order, sitters)];
    let waited_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let discards = usize::from(order.discard_ns > 0);
    let mut parts = Vec::new();
    for (place, stop) in order.parts().into_iter().enumerate() {
        parts.push(part(stop, place >= discards)?);
        fences.push(sitters.read(&order.processes));
    }
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return Err("a visit has a length".to_owned());
    };
    let (start_ns, end_ns) = (first.start_ns, last.end_ns);
    let is_series = order.recording == Recording::Series;
    let of = |load: u32, from: &Reading, to: &Reading| used(order, load, from, to);
    let own = |from: &Reading, to: &Reading| of(order.load, from, to);
    let (before, after) = (&fences[0], &fences[fences.len() - 1]);
    let counted_ns = own(&fences[discards], after);
    let series = if is_series {
        let pairs = fences[discards..].windows(2).zip(&parts[discards..]);
        let piece = |(fences, part): (&[Reading], &Part)| VisitPiece {
            requests: part.report.requests,
            cpu_ns: own(&fences[0], &fences[1]).unwrap_or(0),
        };
        pairs.map(piece).collect()
    } else {
        Vec::new()
    };
    let others = order.processes.iter().map(|it| it.load).filter(|load| *load != order.load);
    let parked = others.map(|load| (load, of(load, before, after).unwrap_or(0)));
    let parked_cpu_ns = parked.collect();
    let generator_waited_ns = parts[discards..].iter().map(|it| it.generator_waited_ns).sum();
    let mut reports: Vec<LoadReport> = parts.drain(discards..).map(|it| it.report).collect();
    let report = if is_series { LoadReport::merge(&reports) } else { reports.pop() };
    let report = report.ok_or("a visit has a part that counts")?;
    let cpu = WindowCpu { counted_ns, whole_ns: own(before, after).unwrap_or(0) };
    let part = Part { report, start_ns, end_ns, generator_waited_ns };
    let whole = without_clocks(order.load, part);
    Ok(WindowReport { waited_ns, cpu, parked_cpu_ns, series, ..whole })
}

/// CPU time of the server of this load between two fences, where each of its processes could be read at both.
fn used(order: &WindowOrder, load: u32, from: &Reading, to: &Reading) -> Option<u64> {
    let place = order.processes.iter().position(|it| it.load == load)?;
    grown_ns(&from[place], &to[place])
}

/// Waits until no server uses CPU time any more, or for so long that it will not. Returns the clocks then.
fn rest(order: &WindowOrder, sitters: &Sitters) -> Reading {
    let began = Instant::now();
    wait((sitters.read(&order.processes), Duration::ZERO), |pause| {
        thread::sleep(pause);
        (sitters.read(&order.processes), began.elapsed())
    })
}

/// Looks until two looks in a row say that nothing works. Each has the clocks and the time passed.
fn wait(
    first: (Reading, Duration),
    mut look: impl FnMut(Duration) -> (Reading, Duration),
) -> Reading {
    let sum = |reading: &Reading| reading.iter().flatten().flatten().sum::<u64>();
    let ((mut last, mut last_at), mut pause) = (first, FIRST_LOOK);
    while last_at < REST_WITHIN {
        let (now, at) = look(pause);
        let used_ns = sum(&now).saturating_sub(sum(&last));
        let length_ns = at.saturating_sub(last_at).as_nanos();
        (last, last_at, pause) = (now, at, NEXT_LOOK);
        if used_ns as f64 <= REST_SHARE * length_ns as f64 {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at two servers, of which the second works for this long.
    fn waited(works: Duration) -> (usize, Reading) {
        let (mut looks, mut passed) = (0, Duration::ZERO);
        let reading = wait((vec![vec![Some(5)], vec![Some(7)]], passed), |pause| {
            looks += 1;
            passed += pause;
            let worked = u64::try_from(passed.min(works).as_nanos()).unwrap();
            (vec![vec![Some(5)], vec![Some(7 + worked)]], passed)
        });
        (looks, reading)
    }

    #[test]
    fn a_server_that_still_works_is_waited_for_and_one_that_spins_not_for_ever() {
        let seven = |more: u64| vec![vec![Some(5)], vec![Some(7 + more)]];
        assert_eq!(waited(Duration::ZERO), (1, seven(0)));
        assert_eq!(waited(Duration::from_millis(3)), (5, seven(3_000_000)));
        assert_eq!(waited(Duration::MAX), (41, seven(40_100_000)));
    }
}
