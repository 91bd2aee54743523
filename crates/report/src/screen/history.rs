//! The picture of a server's ratio to the baseline over many runs.

use maud::Markup;

use crate::html::chart::{Axis, Chart, Line, Mark, Point};

#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) runs: Vec<Run>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The place of the run among all of them, from 1.
    pub(crate) number: usize,
    pub(crate) ratio: f64,
    /// Its interval of 95 % confidence.
    pub(crate) interval: Option<(f64, f64)>,
}

/// A line for each machine; none without a ratio.
pub(crate) fn picture(load: &str, machines: &[Series]) -> Option<Markup> {
    let line = |(place, series): (usize, &Series)| {
        let points = series.runs.iter().map(point).collect();
        Line { name: series.name.clone(), place, points }
    };
    let lines: Vec<Line> = machines.iter().enumerate().map(line).collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|it| it.at.0).reduce(f64::max)?;
    let values = points().flat_map(|it| it.raw.iter().copied().chain([it.at.1, 1.0]));
    let y = Axis::logarithmic("ratio", values, |it| format!("{it}x"))?;
    let words = format!("{load}: ratio to the baseline in each run");
    Some(Chart { words, x: Axis::numbered("run", most), y, lines }.draw())
}

/// The ends of the interval are dots.
fn point(run: &Run) -> Point {
    let raw = run.interval.into_iter().flat_map(|(low, high)| [low, high]).collect();
    Point { at: (run.number as f64, run.ratio), mark: Mark::Dot, is_grey: false, raw }
}
