//! The metrics of a load that runs: counters of the load so far, and the figures of its last interval.

use wirebench_schema::load::{
    Interval, LATENCY_BINS, LatencyFigure, LoadConfig, Phase, latency_bin_us,
};

use super::view::cell_of;
use crate::{
    analysis::Metric,
    exposition::{Exposition, Kind},
    format::openmetrics,
    view::{Cell, Figure, ResultView},
};

/// What has been seen of a load.
#[derive(Debug)]
pub struct LoadMetrics {
    /// Its names, and the figures of the last interval.
    cell: Cell,
    connections: usize,
    /// The sums of the warm-up, if there is one, and of the window.
    parts: Vec<Interval>,
}

impl LoadMetrics {
    #[must_use]
    pub fn new(config: &LoadConfig) -> Self {
        let phases = [Phase::Warmup, Phase::Window];
        let phases = phases.into_iter().skip(usize::from(config.warmup.is_zero()));
        let (status_classes, latency_counts) = (vec![0; 5], vec![0; LATENCY_BINS]);
        let nothing = Interval { status_classes, latency_counts, ..Interval::default() };
        let parts = phases.map(|phase| Interval { phase, ..nothing.clone() }).collect();
        Self { cell: Cell { valid: true, ..cell_of(config) }, connections: 0, parts }
    }

    pub const fn connected(&mut self, connections: usize) {
        self.connections = connections;
    }

    pub fn add(&mut self, interval: &Interval) {
        let is_known = |figure| !interval.lower_bounds.contains(&figure);
        let latencies = [
            (LatencyFigure::P50, interval.latency_ns_p50),
            (LatencyFigure::P99, interval.latency_ns_p99),
        ];
        let latencies = latencies.into_iter().filter(|(figure, _)| is_known(*figure));
        let latencies = latencies.filter_map(|(it, ns)| Some((Metric::Latency(it), ns? as f64)));
        let throughput = (Metric::Throughput, interval.requests_per_second);
        let figure = |(metric, value)| Figure::of(metric, value, true);
        self.cell.figures = [throughput].into_iter().chain(latencies).map(figure).collect();
        if let Some(part) = self.parts.iter_mut().find(|part| part.phase == interval.phase) {
            add(part, interval);
        }
    }

    /// OpenMetrics text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut to = Exposition::new();
        self.connections(&mut to);
        self.counters(&mut to);
        self.latencies(&mut to);
        let view = ResultView { cells: vec![self.cell.clone()], ..ResultView::default() };
        openmetrics::add(&mut to, &view);
        to.end()
    }

    fn connections(&self, to: &mut Exposition) {
        let help = "Connections at the start of the load";
        to.family(Kind::Gauge, "wirebench_load_connections", "", help);
        to.sample(&[self.server()], self.connections);
    }

    fn counters(&self, to: &mut Exposition) {
        to.family(Kind::Counter, "wirebench_load_requests", "", "Correct replies");
        for part in &self.parts {
            to.sample(&self.labels(part), part.requests);
        }
        let help = "Requests and connections that failed, by kind";
        to.family(Kind::Counter, "wirebench_load_errors", "", help);
        for part in &self.parts {
            for (kind, count) in part.errors_by_kind.kinds() {
                let kind = ("kind", kind.to_string());
                to.sample(&[&self.labels(part)[..], &[kind]].concat(), count);
            }
        }
        let help = "HTTP replies by class of status";
        to.family(Kind::Counter, "wirebench_load_replies", "", help);
        for part in &self.parts {
            for (class, count) in (1..).zip(&part.status_classes) {
                let status: (&str, String) = ("status", format!("{class}xx"));
                to.sample(&[&self.labels(part)[..], &[status]].concat(), count);
            }
        }
        let help = "Bytes received";
        to.family(Kind::Counter, "wirebench_load_received_bytes", "bytes", help);
        for part in &self.parts {
            to.sample(&self.labels(part), part.bytes_received);
        }
    }

    fn latencies(&self, to: &mut Exposition) {
        let help = "Latencies, as wirebench load defines them for its model";
        to.family(Kind::Histogram, "wirebench_load_latency_seconds", "seconds", help);
        for part in &self.parts {
            let mut below = 0;
            for (bin, count) in part.latency_counts.iter().enumerate() {
                below += count;
                let le = latency_bin_us(bin).map_or_else(|| "+Inf".to_owned(), seconds);
                to.sample(&[&self.labels(part)[..], &[("le", le)]].concat(), below);
            }
        }
    }

    fn server(&self) -> (&'static str, String) {
        ("server", self.cell.id.server.clone())
    }

    fn labels(&self, part: &Interval) -> [(&'static str, String); 2] {
        let name = match part.phase {
            Phase::Warmup => "warmup",
            Phase::Window => "window",
        };
        [self.server(), ("part", name.to_owned())]
    }
}

/// Adds an interval to the sums of its part.
fn add(sums: &mut Interval, interval: &Interval) {
    sums.requests += interval.requests;
    sums.errors_by_kind.add(&interval.errors_by_kind);
    sums.bytes_received += interval.bytes_received;
    let classes = sums.status_classes.iter_mut().zip(&interval.status_classes);
    let bins = sums.latency_counts.iter_mut().zip(&interval.latency_counts);
    classes.chain(bins).for_each(|(sum, count)| *sum += *count);
}

/// The end of a range in the form that the specification asks of `le`: that of C's `%g`, with a point.
fn seconds(us: u64) -> String {
    const SMALLEST_WITHOUT_EXPONENT_US: u64 = 100;
    let seconds = us as f64 / 1e6;
    if us >= SMALLEST_WITHOUT_EXPONENT_US {
        return format!("{seconds:?}");
    }
    let text = format!("{seconds:e}");
    text.replace("e-", "e-0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exposition::tests::{Samples, families};
    use wirebench_schema::load::ErrorKind;

    fn interval(requests: u64) -> Interval {
        let mut latency_counts = vec![0; LATENCY_BINS];
        (latency_counts[5], latency_counts[24]) = (requests - 1, 1);
        let mut interval = Interval {
            requests,
            requests_per_second: requests as f64 * 2.0,
            status_classes: vec![0, requests, 0, 1, 0],
            bytes_received: requests * 100,
            latency_ns_p50: Some(50_000),
            latency_ns_p99: Some(2_000_000),
            lower_bounds: vec![LatencyFigure::P99],
            latency_counts,
            ..Interval::default()
        };
        *interval.errors_by_kind.of_mut(ErrorKind::Timeout) = 2;
        interval
    }

    fn of(samples: &Samples, part: &str) -> impl Iterator<Item = f64> {
        let label = format!("part=\"{part}\"");
        let of_part = samples.iter().filter(move |(labels, _)| labels.contains(&label));
        of_part.map(|(_, value)| *value)
    }

    #[test]
    fn counters_rise_and_figures_are_those_of_the_last_interval() {
        let mut config = LoadConfig::new("http://127.0.0.1:8080/".parse().unwrap());
        config.warmup = std::time::Duration::from_secs(1);
        let mut metrics = LoadMetrics::new(&config);
        let before = families(&metrics.text());
        assert!(before["wirebench_load_requests"].values().all(|it| *it == 0.0), "{before:?}");
        assert!(!before.contains_key("wirebench_throughput_requests_per_second"), "{before:?}");
        metrics.connected(10);
        metrics.add(&Interval { phase: Phase::Warmup, ..interval(7) });
        metrics.add(&interval(30));
        metrics.add(&interval(20));
        let text = metrics.text();
        let after = families(&text);
        let sum = |family: &str, part| {
            of(&after[family], part).map(|it| it.to_string().parse::<u64>().unwrap()).sum::<u64>()
        };
        assert_eq!(sum("wirebench_load_requests", "window"), 50);
        assert_eq!(sum("wirebench_load_requests", "warmup"), 7);
        assert_eq!(sum("wirebench_load_errors", "window"), 4);
        assert_eq!(sum("wirebench_load_replies", "window"), 52);
        assert_eq!(sum("wirebench_load_received_bytes", "window"), 5_000);
        assert!(after["wirebench_load_connections"].values().eq(&[10.0]), "{text}");
        let rate = &after["wirebench_throughput_requests_per_second"];
        assert!(rate.values().eq(&[40.0]), "{text}");
        assert!(after["wirebench_latency_p50_seconds"].values().eq(&[50_000.0 * 1e-9]), "{text}");
        assert!(!after.contains_key("wirebench_latency_p99_seconds"), "a bound is no figure");
    }

    #[test]
    fn a_histogram_has_cumulative_counts_below_canonical_ends() {
        let mut metrics =
            LoadMetrics::new(&LoadConfig::new("tcp://127.0.0.1:7000".parse().unwrap()));
        metrics.add(&interval(30));
        let text = metrics.text();
        assert!(!text.contains("warmup"), "{text}");
        let buckets: Vec<(&str, &str)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("wirebench_load_latency_seconds_bucket{"))
            .map(|line| line.split_once("le=\"").unwrap().1.split_once("\"} ").unwrap())
            .collect();
        let ends: Vec<&str> = buckets.iter().map(|(end, _)| *end).collect();
        assert_eq!(ends[..7], ["1e-06", "2e-06", "5e-06", "1e-05", "2e-05", "5e-05", "0.0001"]);
        assert_eq!(ends[17..], ["0.5", "1.0", "2.0", "5.0", "10.0", "20.0", "50.0", "+Inf"]);
        assert!(buckets[..5].iter().all(|(_, count)| *count == "0"), "{buckets:?}");
        assert!(buckets[5..24].iter().all(|(_, count)| *count == "29"), "{buckets:?}");
        assert_eq!(buckets[24].1, "30");
    }
}
