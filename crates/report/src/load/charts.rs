//! The pictures of a load: its latency by percentile, and its course over time.

use maud::{Markup, html};
use wirebench_schema::load::{Interval, LatencyFigure, LatencySummary, LoadReport, Phase};

use crate::{
    distribution::Distribution,
    html::chart::{Axis, Chart, Line, Mark, Point},
    load_words,
    table_units::{latency, thousands},
};

/// Names with a line of their own; more would hide each other.
const MOST_NAMES: usize = 6;
/// Intervals that have a dot each.
const DOTS: usize = 60;

/// The latency by percentile; none without a distribution.
pub(super) fn distribution(report: &LoadReport) -> Option<Markup> {
    let whole = load_words::latency(&report.config.model);
    let mut curves = vec![(whole.to_owned(), report.latency.as_ref())];
    curves.extend(report.service.as_ref().map(|it| (load_words::SERVICE.to_owned(), Some(it))));
    if report.by_name.len() <= MOST_NAMES {
        curves.extend(report.by_name.iter().map(|it| (it.name.clone(), it.latency.as_ref())));
    }
    let curve = |(place, (name, summary)): (usize, (String, Option<&LatencySummary>))| {
        let distribution = Distribution::new(summary?);
        Some(Line { name, place, points: distribution.curve().map(plain).collect() })
    };
    let lines: Vec<Line> = (0..).zip(curves).filter_map(curve).collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let y = Axis::logarithmic("latency", points().map(|it| it.at.1), latency)?;
    let most = points().map(|it| it.at.0).fold(0.9, f64::max);
    let x = Axis::nines("percentile; each further nine has the same space", most);
    Some(html! {
        p.legend {
            "Lines end where fewer than ten samples are left, and where no reply took as long."
        }
        (Chart { words: "latency by percentile".to_owned(), x, y, lines }.draw())
    })
}

const fn plain(at: (f64, f64)) -> Point {
    Point { at, mark: Mark::Plain, is_grey: false, raw: Vec::new() }
}

/// Rate and latency over time; none of a single interval.
pub(super) fn timeline(intervals: &[Interval]) -> Option<Markup> {
    let window: Vec<&Interval> = intervals.iter().filter(|it| it.phase == Phase::Window).collect();
    let start_ns = window.first()?.start_ns;
    if window.len() < 2 {
        return None;
    }
    let seconds = |it: &Interval| (it.start_ns - start_ns + it.length_ns / 2) as f64 / 1e9;
    let end = window.iter().map(|it| seconds(it)).fold(0.0, f64::max);
    let x = Axis::linear("seconds in the window", end, |it| format!("{it}"));
    let mark = if window.len() <= DOTS { Mark::Dot } else { Mark::Plain };
    let line = |name: &str, place, value: &dyn Fn(&Interval) -> Option<(f64, Mark)>| {
        let point = |it: &&Interval| {
            let (value, mark) = value(it)?;
            Some(Point { mark, ..plain((seconds(it), value)) })
        };
        Line { name: name.to_owned(), place, points: window.iter().filter_map(point).collect() }
    };
    let of = |figure: LatencyFigure, value: fn(&Interval) -> Option<u64>| {
        move |it: &Interval| {
            let is_bound = it.lower_bounds.contains(&figure);
            Some((value(it)? as f64, if is_bound { Mark::Ring } else { mark }))
        }
    };
    let mut rates = vec![line("requests/s", 2, &|it| Some((it.requests_per_second, mark)))];
    let errors = |it: &Interval| it.errors as f64 * 1e9 / it.length_ns.max(1) as f64;
    if window.iter().any(|it| it.errors > 0) {
        rates.push(line("errors/s", 1, &|it| Some((errors(it), mark))));
    }
    let latencies = vec![
        line("max", 1, &of(LatencyFigure::Max, |it| it.latency_ns_max)),
        line("p99", 2, &of(LatencyFigure::P99, |it| it.latency_ns_p99)),
        line("p50", 0, &of(LatencyFigure::P50, |it| it.latency_ns_p50)),
    ];
    let values = |lines: &[Line]| -> Vec<f64> {
        lines.iter().flat_map(|line| &line.points).map(|it| it.at.1).collect()
    };
    let most = values(&rates).into_iter().fold(0.0, f64::max);
    let rate = Chart {
        words: "correct replies per second over time".to_owned(),
        x: x.clone(),
        y: Axis::linear("requests/s", most, thousands),
        lines: rates,
    };
    let y = Axis::logarithmic("latency", values(&latencies).into_iter(), latency);
    let has_bounds = window.iter().any(|it| !it.lower_bounds.is_empty());
    Some(html! {
        div.pictures {
            div { (rate.draw()) }
            @if let Some(y) = y {
                div {
                    (Chart { words: "latency over time".to_owned(), x, y, lines: latencies }.draw())
                    @if has_bounds { p.legend { "A hollow mark is a lower bound: no reply took as long." } }
                }
            }
        }
    })
}
