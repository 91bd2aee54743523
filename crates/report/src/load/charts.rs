//! The pictures of a load: its latency by percentile and by rate, and its course over time.

use std::cmp::Reverse;
use wirebench_schema::load::{
    Interval, LatencyFigure, LatencySummary, LoadReport, NamedRequests, Phase, RateStep,
};

use crate::{
    chart::{Axis, Chart, ChartKind, Line, Point},
    distribution::Distribution,
    load_words,
    table_units::{latency, thousands},
};

/// Names with a line of their own.
const MOST_NAMES: usize = 48;
const ENDS: &str =
    "Lines end where fewer than ten samples are left, and where no reply took as long.";
const STEPS: &str = "Each step or part of the ramp has a mark. Both axes are logarithmic.";
const BOUNDS: &str = "A hollow mark is a lower bound: no reply took as long.";

/// The latency by percentile; none without a distribution.
pub(super) fn distribution(report: &LoadReport) -> Option<Chart> {
    let whole = load_words::latency(&report.config.model);
    let mut curves = vec![(whole.to_owned(), report.latency.as_ref())];
    curves.extend(report.service.as_ref().map(|it| (load_words::SERVICE.to_owned(), Some(it))));
    let mut named: Vec<&NamedRequests> = report.by_name.iter().collect();
    if named.len() > MOST_NAMES {
        named.sort_by_key(|it| Reverse(it.requests));
        named.truncate(MOST_NAMES);
    }
    let skipped = report.by_name.len() - named.len();
    curves.extend(named.iter().map(|it| (it.name.clone(), it.latency.as_ref())));
    let curve = |(place, (name, summary)): (usize, (String, Option<&LatencySummary>))| {
        let distribution = Distribution::new(summary?);
        Some(Line { name, place, points: distribution.curve().map(Point::new).collect() })
    };
    let lines = (0..).zip(curves).filter_map(curve).collect();
    let legend = match skipped {
        0 => ENDS.to_owned(),
        _ => format!(
            "{ENDS} Only the {MOST_NAMES} names with the most requests have a line; {skipped} have none."
        ),
    };
    Some(Chart::new("latency by percentile", ChartKind::by_percentile(lines)?).explained(legend))
}

/// The latency over the rates of a load whose rate changes; none of fewer than two rates.
pub(super) fn steps(steps: &[RateStep]) -> Option<Chart> {
    let line = |(place, (name, percent)): (usize, (&str, f64))| {
        let point = |step: &RateStep| {
            let found = Distribution::new(step.latency.as_ref()?).at(percent)?;
            let at = (step.offered_per_second, found.nanoseconds as f64);
            Some(Point::new(at))
        };
        let mut points: Vec<Point> = steps.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
        Line { name: name.to_owned(), place, points }
    };
    let lines = [("p50", 50.0), ("p99", 99.0)].into_iter().enumerate().map(line).collect();
    let x = ("offered requests/s", thousands);
    let kind = ChartKind::logarithmic(lines, x, ("latency", latency))?;
    Some(Chart::new("latency over the offered rate", kind).explained(STEPS))
}

/// The intervals of the window, on an axis of time.
struct Course<'a> {
    window: Vec<&'a Interval>,
    start_ns: u64,
    x: Axis,
}

impl<'a> Course<'a> {
    /// None of a single interval.
    fn of(intervals: &'a [Interval]) -> Option<Self> {
        let window: Vec<&Interval> =
            intervals.iter().filter(|it| it.phase == Phase::Window).collect();
        let (first, last) = (window.first()?, window.last()?);
        let start_ns = first.start_ns;
        let end = (last.start_ns + last.length_ns - start_ns) as f64 / 1e9;
        let x = Axis::linear("seconds in the window", end, |it| format!("{it}"));
        (window.len() > 1).then_some(Self { window, start_ns, x })
    }

    fn line(
        &self,
        name: &str,
        place: usize,
        value: impl Fn(&Interval) -> Option<(f64, bool)>,
    ) -> Line {
        let point = |it: &&Interval| {
            let (value, is_hollow) = value(it)?;
            let seconds = (it.start_ns - self.start_ns + it.length_ns / 2) as f64 / 1e9;
            Some(Point { is_hollow, ..Point::new((seconds, value)) })
        };
        let points = self.window.iter().filter_map(point).collect();
        Line { name: name.to_owned(), place, points }
    }

    /// Lines of requests per second.
    fn rates(&self, title: &str, lines: Vec<Line>) -> Chart {
        let most = values(&lines).into_iter().fold(0.0, f64::max);
        let y = Axis::linear("requests/s", most, thousands);
        Chart::new(title, ChartKind::Lines { x: self.x.clone(), y, lines })
    }
}

/// Rate and latency over time; none of a single interval.
pub(super) fn timeline(intervals: &[Interval], steps: &[RateStep]) -> Vec<Chart> {
    let Some(course) = Course::of(intervals) else { return Vec::new() };
    let of = |figure: LatencyFigure, value: fn(&Interval) -> Option<u64>| {
        move |it: &Interval| Some((value(it)? as f64, it.lower_bounds.contains(&figure)))
    };
    let mut rates = vec![course.line("requests/s", 2, |it| Some((it.requests_per_second, false)))];
    if course.window.iter().any(|it| it.errors > 0) {
        rates.push(course.line("errors/s", 1, |it| Some((per_second(it.errors, it), false))));
    }
    rates.extend(offered(steps));
    let latencies = vec![
        course.line("max", 1, of(LatencyFigure::Max, |it| it.latency_ns_max)),
        course.line("p99", 2, of(LatencyFigure::P99, |it| it.latency_ns_p99)),
        course.line("p50", 0, of(LatencyFigure::P50, |it| it.latency_ns_p50)),
    ];
    let rate = course.rates("correct replies per second over time", rates);
    let y = Axis::logarithmic("latency", values(&latencies).into_iter(), latency);
    let has_bounds = course.window.iter().any(|it| !it.lower_bounds.is_empty());
    let latency = y.map(|y| {
        let chart =
            Chart::new("latency over time", ChartKind::Lines { x: course.x, y, lines: latencies });
        chart.explained(if has_bounds { BOUNDS } else { "" })
    });
    [rate].into_iter().chain(latency).collect()
}

/// The rate of a schedule that changes.
fn offered(steps: &[RateStep]) -> Option<Line> {
    let ends = |step: &RateStep| {
        let ends = [step.start_ns, step.start_ns + step.length_ns];
        ends.map(|it| (it as f64 / 1e9, step.offered_per_second))
    };
    let points = steps.iter().flat_map(ends);
    let points = points.map(Point::new).collect();
    (steps.len() > 1).then(|| Line { name: "offered".to_owned(), place: 0, points })
}

/// Replies of each class of statuses over time; none of one class.
pub(super) fn statuses(intervals: &[Interval]) -> Option<Chart> {
    let course = Course::of(intervals)?;
    let of = |class: usize| {
        move |it: &Interval| {
            it.status_classes.get(class).map_or(0.0, |count| per_second(*count, it))
        }
    };
    let is_seen = |class: &usize| course.window.iter().any(|it| of(*class)(it) > 0.0);
    let classes: Vec<usize> = (0..5).filter(is_seen).collect();
    let line = |class: &usize| {
        course.line(&format!("{}xx", class + 1), *class, |it| Some((of(*class)(it), false)))
    };
    let lines = classes.iter().map(line).collect();
    let chart = || course.rates("replies per second of each status class over time", lines);
    (classes.len() > 1).then(chart)
}

fn per_second(count: u64, interval: &Interval) -> f64 {
    count as f64 * 1e9 / interval.length_ns.max(1) as f64
}

fn values(lines: &[Line]) -> Vec<f64> {
    lines.iter().flat_map(|line| &line.points).map(|it| it.at.1).collect()
}
