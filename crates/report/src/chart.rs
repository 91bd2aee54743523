//! Charts as data: what each of them shows. `svg` draws all kinds; nothing here knows where a mark is.

mod axis;
mod dots;
mod flame;
mod frame;
mod grid;
mod lines;
pub(crate) mod ratio;
mod rows;
mod series;
pub mod svg;

pub(crate) use self::axis::{Axis, AxisScale};

use wirebench_stats::Estimate;

use crate::{analysis::JudgedRatio, table_units::latency};

/// A picture, or several of equal size, with what it shows in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// For those who cannot see it, and the name of its file.
    pub(crate) title: String,
    /// Above it on a page, unless its section says it.
    pub(crate) heading: String,
    /// How to read it.
    pub(crate) legend: String,
    pub(crate) kind: ChartKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ChartKind {
    /// A line for each server. More lines than can be followed are in several pictures.
    Lines { x: Axis, y: Axis, lines: Vec<Line> },
    /// Marks without lines.
    Dots {
        x: Axis,
        y: Axis,
        marks: Vec<Marks>,
        /// A dashed line at this y, and lines at these x.
        level: Option<f64>,
        begins: Vec<f64>,
    },
    /// A bar for each row.
    Bars(Vec<Bar>),
    /// A ratio for each row, all on one axis.
    Forest(Vec<(String, JudgedRatio)>),
    /// Two ratios of each pair of a row, all on one axis.
    Dumbbells(Vec<Dumbbell>),
    /// A map of figures.
    Grid(Heatmap),
    /// The CPU time of each stack of functions.
    Flame(Flame),
}

/// A point of a line, which has a mark.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) at: (f64, f64),
    /// Set if the mark is a ring: another kind of figure.
    pub(crate) is_hollow: bool,
    /// Set if the line up to it is not valid, and grey.
    pub(crate) is_grey: bool,
    /// The values of single cohorts, as small dots at the same x.
    pub(crate) raw: Vec<f64>,
}

impl Point {
    pub(crate) const fn new(at: (f64, f64)) -> Self {
        Self { at, is_hollow: false, is_grey: false, raw: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Its place among all servers of the run, so that it has one colour in all charts; the baseline has 0.
    pub(crate) place: usize,
    /// Its points, from left to right.
    pub(crate) points: Vec<Point>,
}

/// Marks of one look.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Marks {
    /// Its classes in the style sheet.
    pub(crate) class: String,
    pub(crate) outline: Outline,
    /// Their meaning; nothing if the legend has it.
    pub(crate) words: String,
    pub(crate) points: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Outline {
    Dot,
    Cross,
    Ring,
    /// Dots at the lower edge, whatever their y.
    Strip,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// Its length.
    pub(crate) figure: f64,
    /// Its class in the style sheet.
    pub(crate) shade: &'static str,
    /// At its end.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dumbbell {
    pub(crate) name: String,
    pub(crate) text: String,
    /// A published ratio, and the measured one.
    pub(crate) pairs: Vec<(f64, Estimate)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heatmap {
    /// The dimension that goes down and the one that goes right.
    pub(crate) names: [&'static str; 2],
    pub(crate) columns: Vec<usize>,
    /// A cell for each column.
    pub(crate) rows: Vec<(usize, Vec<HeatCell>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeatCell {
    pub(crate) text: String,
    /// Of the largest figure: how strong its colour is.
    pub(crate) share: f64,
    pub(crate) is_best: bool,
}

/// The CPU time of a request by stack in nanoseconds, with that of another profile if it is a difference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flame {
    pub(crate) stacks: Vec<(String, [f64; 2])>,
    pub(crate) is_difference: bool,
}

impl Chart {
    pub(crate) fn new(title: impl Into<String>, kind: ChartKind) -> Self {
        let (heading, legend) = (String::new(), String::new());
        Self { title: title.into(), heading, legend, kind }
    }

    /// A chart whose heading is its title.
    pub(crate) fn titled(title: String, kind: ChartKind) -> Self {
        Self::new(title.clone(), kind).headed(title)
    }

    pub(crate) fn headed(self, heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..self }
    }

    pub(crate) fn explained(self, legend: impl Into<String>) -> Self {
        Self { legend: legend.into(), ..self }
    }
}

impl ChartKind {
    /// Lines on logarithmic axes of these names and labels; none if no line has two points.
    pub(crate) fn logarithmic(
        lines: Vec<Line>,
        (x_name, show_x): (&str, impl Fn(f64) -> String),
        (y_name, show_y): (&str, impl Fn(f64) -> String),
    ) -> Option<Self> {
        let points = || lines.iter().flat_map(|line| &line.points);
        let values = || points().flat_map(|it| it.raw.iter().copied().chain([it.at.1]));
        let x = Axis::logarithmic_at(x_name, points().map(|it| it.at.0), show_x)?;
        let y = Axis::logarithmic(y_name, values(), show_y)?;
        let is_drawn = lines.iter().any(|line| line.points.len() > 1);
        is_drawn.then_some(Self::Lines { x, y, lines })
    }

    /// Latencies by percentile; none without points.
    pub(crate) fn by_percentile(lines: Vec<Line>) -> Option<Self> {
        let points = || lines.iter().flat_map(|line| &line.points);
        let y = Axis::logarithmic("latency", points().map(|it| it.at.1), latency)?;
        let most = points().map(|it| it.at.0).fold(0.9, f64::max);
        let x = Axis::nines("percentile; each further nine has the same space", most);
        Some(Self::Lines { x, y, lines })
    }
}
