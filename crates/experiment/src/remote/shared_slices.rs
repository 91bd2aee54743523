//! The slices of a cohort whose load several hosts make together. The clocks of the servers are read here, where
//! they run, at the moments at which the generators are to begin and to end.

use std::{
    sync::atomic::AtomicBool,
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{
        AgentCommand, AgentEvent, SERIES_NS, SliceCourse, SliceCpu, SliceOrder, SlicePiece,
        SliceReport,
    },
    load::{EdgeClocks, LoadConfig, LoadReport, Stop},
};
use wirebench_server::process_clocks::{counted_ns, read, used, wait_for_rest};

use super::{
    Fleet,
    clock::Offset,
    crew::{Crew, PATIENCE},
    parts::{self, Share},
};

/// The time between an order and its slice, beside the way of the order.
const AHEAD_NS: u64 = 5_000_000;
/// An order may take this many times the error of a clock, which is half of the way there and back.
const AHEAD_ERRORS: u64 = 4;
/// Two clocks differ by up to 100 millionths of the time. They are read again when that is as much as half of the
/// error, within these limits.
const DRIFT_SHARE: f64 = 1e-4;
const FRESH_LEAST: Duration = Duration::from_secs(1);
const FRESH_MOST: Duration = Duration::from_secs(30);
/// CPU time at an edge is unknown when the clocks are off by more than this share of a slice.
const ERROR_SHARE: f64 = 0.01;

/// Agents on other hosts that keep connections to all servers of a cohort.
#[derive(Debug)]
pub(crate) struct SharedSlices {
    crew: Crew,
    loads: Vec<(u32, LoadConfig)>,
    clocks: Option<(Instant, Vec<Offset>)>,
}

impl SharedSlices {
    pub(crate) fn start(fleet: &Fleet, stop: &AtomicBool) -> Result<Self, String> {
        Ok(Self { crew: Crew::start(fleet, stop)?, loads: Vec::new(), clocks: None })
    }

    /// Makes the connections of a load. The answer is how many could be made.
    pub(crate) fn connect(
        &mut self,
        load: u32,
        config: &LoadConfig,
        stop: &AtomicBool,
    ) -> Result<usize, String> {
        let shares = config.shares(self.crew.hosts().count())?;
        let connect = |config| AgentCommand::Connect { load, config: Box::new(config) };
        self.crew.tell_each(shares.into_iter().map(connect))?;
        let made = self.crew.answers(PATIENCE + config.timeout * 3, stop, |event| match event {
            AgentEvent::Connected { connections, .. } => Some(connections),
            _ => None,
        })?;
        self.loads.retain(|(known, _)| *known != load);
        self.loads.push((load, config.clone()));
        Ok(made.into_iter().sum())
    }

    pub(crate) fn slice(
        &mut self,
        order: &SliceOrder,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Result<SliceReport, String> {
        let SliceOrder { load, processes, .. } = order;
        let (load, processes) = (*load, processes.clone());
        let offsets = self.offsets()?;
        let error_ns = offsets.iter().map(|it| it.error_ns).max().unwrap_or(0);
        let began = Instant::now();
        let before = wait_for_rest(&processes);
        let waited_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let start_ns = self.crew.now_ns() + AHEAD_NS + AHEAD_ERRORS * error_ns;
        let order_at = |offset: &Offset| {
            let start_ns = Some(offset.there(start_ns));
            let order = SliceOrder { start_ns, processes: Vec::new(), ..order.clone() };
            AgentCommand::Slice(Box::new(order))
        };
        self.crew.tell_each(offsets.iter().map(order_at))?;
        let own = processes.iter().find(|server| server.load == load);
        let pids = own.map_or(&[][..], |server| &server.pids);
        let clocks = self.watch(start_ns, order, pids);
        let planned = Duration::from_nanos(order.discard_ns + order.length_ns);
        let reports =
            self.crew.answers(PATIENCE + planned + timeout * 3, stop, |event| match event {
                AgentEvent::Slice(report) => Some(*report),
                _ => None,
            })?;
        let end_ns = self.crew.now_ns();
        let after = wait_for_rest(&processes);
        let used = used(&processes, &before, &after);
        let whole_ns = used.iter().find(|(of, _)| *of == load).map_or(0, |(_, used)| *used);
        let is_exact = error_ns as f64 <= ERROR_SHARE * order.length_ns as f64;
        let counted_ns = counted_ns(&clocks).filter(|_| is_exact);
        let series = series(&reports, &clocks.series_ns);
        Ok(SliceReport {
            load,
            start_ns,
            end_ns,
            waited_ns,
            generator_waited_ns: reports.iter().map(|it| it.generator_waited_ns).max().unwrap_or(0),
            cpu: SliceCpu { counted_ns, whole_ns },
            parked_cpu_ns: used.into_iter().filter(|(of, _)| *of != load).collect(),
            series,
            report: self.merged(order, reports, &offsets)?,
        })
    }

    fn merged(
        &self,
        order: &SliceOrder,
        reports: Vec<SliceReport>,
        offsets: &[Offset],
    ) -> Result<LoadReport, String> {
        let known = self.loads.iter().find(|(load, _)| *load == order.load);
        let (_, config) = known.ok_or("the load has no connections")?;
        let config = LoadConfig {
            model: order.model.clone(),
            warmup: Duration::from_nanos(order.discard_ns),
            stop: Stop::After(Duration::from_nanos(order.length_ns)),
            ..config.clone()
        };
        let shares = self.crew.hosts().zip(offsets).zip(reports);
        let shares = shares.map(|((host, offset), report)| Share {
            host: host.to_owned(),
            start_ns: offset.here(report.start_ns),
            clock_error_ns: offset.error_ns,
            report: report.report,
        });
        parts::whole(config, shares.collect()).ok_or_else(|| "there is no generator".to_owned())
    }

    /// The clocks, read again when the last reading is old. What they may have drifted since is in their errors.
    fn offsets(&mut self) -> Result<Vec<Offset>, String> {
        let (read_at, offsets) = match self.clocks.take() {
            Some(clocks) if clocks.0.elapsed() < fresh(&clocks.1) => clocks,
            _ => (Instant::now(), self.crew.offsets()?),
        };
        let drift_ns = (read_at.elapsed().as_nanos() as f64 * DRIFT_SHARE) as u64;
        let now = offsets.iter().map(|it| it.with_drift(drift_ns)).collect();
        self.clocks = Some((read_at, offsets));
        Ok(now)
    }

    /// Reads the clocks of a server at the edges of the part that counts, and in its series.
    fn watch(&self, start_ns: u64, order: &SliceOrder, pids: &[i32]) -> EdgeClocks {
        let mut clocks = EdgeClocks::default();
        for (moment, edge) in moments(order) {
            thread::sleep(self.crew.until(start_ns + moment));
            let now = read(pids);
            match edge {
                Edge::Series => clocks.series_ns.push(now.iter().flatten().sum()),
                Edge::Start => clocks.start_ns = now,
                Edge::End => clocks.end_ns = now,
            }
        }
        clocks
    }
}

/// How old the reading of clocks may be.
fn fresh(offsets: &[Offset]) -> Duration {
    let error_ns = offsets.iter().map(|it| it.error_ns).min().unwrap_or(0) as f64;
    let fresh = Duration::from_nanos((error_ns / 2.0 / DRIFT_SHARE) as u64);
    fresh.clamp(FRESH_LEAST, FRESH_MOST)
}

/// What a moment of a slice is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Edge {
    Series,
    Start,
    End,
}

/// When clocks are read, in nanoseconds since the start of a slice, in order.
fn moments(order: &SliceOrder) -> Vec<(u64, Edge)> {
    let (discard_ns, end_ns) = (order.discard_ns, order.discard_ns + order.length_ns);
    let values = match order.course {
        SliceCourse::Series => end_ns / SERIES_NS + 1,
        SliceCourse::Silent => 0,
    };
    let series = (0..values).map(|number| (number * SERIES_NS, Edge::Series));
    let mut moments: Vec<_> =
        series.chain([(discard_ns, Edge::Start), (end_ns, Edge::End)]).collect();
    moments.sort_by_key(|(moment, _)| *moment);
    moments
}

/// The requests of all generators, and the growth of the CPU time in the same time.
fn series(reports: &[SliceReport], sums_ns: &[u64]) -> Vec<SlicePiece> {
    let grown = sums_ns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let piece = |(number, cpu_ns): (usize, u64)| {
        let requests = reports.iter().map(|it| it.series.get(number).map(|it| it.requests));
        Some(SlicePiece { requests: requests.sum::<Option<u64>>()?, cpu_ns })
    };
    grown.enumerate().map_while(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::LoadModel;

    #[test]
    fn clocks_are_read_at_the_edges_and_where_a_series_is_wanted_every_20_ms() {
        let ms = 1_000_000;
        let moments = |course| {
            let order = SliceOrder {
                load: 0,
                model: LoadModel::Closed,
                discard_ns: 30 * ms,
                length_ns: 25 * ms,
                start_ns: None,
                course,
                processes: Vec::new(),
            };
            let moments = moments(&order).into_iter();
            moments.map(|(moment, edge)| (moment / ms, edge)).collect::<Vec<_>>()
        };
        let series = |at| (at, Edge::Series);
        assert_eq!(
            moments(SliceCourse::Series),
            [series(0), series(20), (30, Edge::Start), series(40), (55, Edge::End)]
        );
        assert_eq!(moments(SliceCourse::Silent), [(30, Edge::Start), (55, Edge::End)]);
    }
}
