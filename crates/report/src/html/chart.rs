//! A chart of lines: two axes, and for each server a line, its points and its name at the end. On a narrow
//! screen the names are in a key below, and the space for them is cut off. More lines than can be followed have a
//! panel each. What the figures mean is not known here.

mod axis;
mod frame;
mod panels;

pub(crate) use self::{axis::Axis, frame::Frame};

use maud::{Markup, html};
use std::fmt::Write;

use self::panels::panels;
use super::series::{class, key};
use crate::{html::safe, table_units::latency, wrap::cut_apart};

/// The area in which lines are, in CSS pixels, and the space around it.
const WIDTH: f64 = 384.0;
const LEAST_HEIGHT: f64 = 260.0;
const LEFT: f64 = 76.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;
/// Half of the last label of the axis, which is what a narrow screen shows of the space at the right.
const EDGE: f64 = 16.0;
/// Space for names at the right, and for each of them.
const NAMES: f64 = 194.0;
const NAME_HEIGHT: f64 = 16.0;
const LONGEST_NAME: usize = 23;
/// The least space between two labels of the axis below.
const LABEL_WIDTH: f64 = 52.0;
/// More lines hide each other.
pub(crate) const MOST_LINES: usize = 12;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mark {
    /// A point of the line, with a dot.
    Dot,
    /// A point of the line without a mark.
    Plain,
    /// A point of another kind at the end of the line: a ring.
    Ring,
}

#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) at: (f64, f64),
    pub(crate) mark: Mark,
    /// Whether the line up to it is not valid, and grey.
    pub(crate) is_grey: bool,
    /// The values of single cohorts, as small dots at the same x.
    pub(crate) raw: Vec<f64>,
}

impl Point {
    pub(crate) const fn plain(at: (f64, f64)) -> Self {
        Self { at, mark: Mark::Plain, is_grey: false, raw: Vec::new() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Its place among all servers of the run, so that it has one colour in all charts.
    pub(crate) place: usize,
    /// Its points, from left to right.
    pub(crate) points: Vec<Point>,
}

impl Line {
    /// Whether all of it is grey.
    fn is_grey(&self) -> bool {
        self.points.iter().all(|point| point.is_grey)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// What it shows, for those who cannot see it.
    pub(crate) words: String,
    /// From left to right.
    pub(crate) x: Axis,
    /// From the bottom to the top.
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
}

impl Chart {
    pub(crate) fn draw(&self) -> Markup {
        self.draw_against(None)
    }

    /// The same with the name of the line that others are compared with.
    pub(crate) fn draw_against(&self, reference: Option<&str>) -> Markup {
        if self.lines.len() > MOST_LINES { panels(self, reference) } else { self.together() }
    }

    /// All lines in one picture.
    fn together(&self) -> Markup {
        let height = LEAST_HEIGHT.max(self.lines.len() as f64 * NAME_HEIGHT);
        let (x, y) = (&self.x, &self.y);
        let frame =
            Frame { left: LEFT, top: TOP, width: WIDTH, height, label_width: LABEL_WIDTH, x, y };
        let (width, whole) = (LEFT + WIDTH + NAMES, TOP + height + BOTTOM);
        let ends: Vec<f64> = self.lines.iter().map(|line| frame.end(line).1).collect();
        let heights = spread(&ends, TOP + 6.0, TOP + height);
        let all: Vec<&str> = self.lines.iter().map(|line| line.name.as_str()).collect();
        let names = heights.into_iter().zip(cut_apart(&all, LONGEST_NAME));
        let content = html! {
            text.tick x="2" y="14" { (safe(&y.name)) }
            (frame.axes())
            text.tick x=(LEFT + WIDTH / 2.0) y=(frame.bottom() + 36.0) text-anchor="middle" { (safe(&x.name)) }
            @for (line, (y, shown)) in self.lines.iter().zip(names) {
                g class=(class(line.place)) {
                    title { (safe(&line.name)) }
                    (frame.line(line))
                    (name(&shown, frame.end(line), y))
                }
            }
        };
        html! {
            (plot("lines", (LEFT + WIDTH + EDGE, whole), &svg("chart", (width, whole), &self.words, &content)))
            (key(self.lines.iter().map(|line| (line.place, line.name.as_str(), line.is_grey()))))
        }
    }
}

/// The name of a line at `y`, and what leads to it from the line's end.
fn name(shown: &str, (from_x, from_y): (f64, f64), y: f64) -> Markup {
    let x = LEFT + WIDTH;
    let leader = format!("M{from_x:.1} {from_y:.1}L{:.1} {y:.1}H{:.1}", x + 6.0, x + 16.0);
    html! {
        path.leader.estimate d=(leader) {}
        text.name x=(x + 20.0) y=(number(y + 4.0)) { (safe(shown)) }
    }
}

/// A chart with logarithmic axes of these names and labels; none if no server has two points.
pub(crate) fn logarithmic(
    words: String,
    lines: Vec<Line>,
    (x_name, show_x): (&str, impl Fn(f64) -> String),
    (y_name, show_y): (&str, impl Fn(f64) -> String),
) -> Option<Chart> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let values = || points().flat_map(|it| it.raw.iter().copied().chain([it.at.1]));
    let x = Axis::logarithmic_at(x_name, points().map(|it| it.at.0), show_x)?;
    let y = Axis::logarithmic(y_name, values(), show_y)?;
    let is_drawn = lines.iter().any(|line| line.points.len() > 1);
    is_drawn.then_some(Chart { words, x, y, lines })
}

/// A picture below its heading and what its marks mean.
pub(crate) fn titled(heading: &str, legend: &str, picture: &Markup) -> Markup {
    html! {
        h3 { (safe(heading)) }
        p.legend { (legend) }
        (picture)
    }
}

/// Latencies by percentile; none without points.
pub(crate) fn by_percentile(words: String, lines: Vec<Line>) -> Option<Chart> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let y = Axis::logarithmic("latency", points().map(|it| it.at.1), latency)?;
    let most = points().map(|it| it.at.0).fold(0.9, f64::max);
    let x = Axis::nines("percentile; each further nine has the same space", most);
    Some(Chart { words, x, y, lines })
}

/// A picture that is as wide as the page has space. A narrow screen shows this part of it, in which the
/// style sheet keeps texts readable.
pub(crate) fn plot(class: &str, (width, height): (f64, f64), picture: &Markup) -> Markup {
    html! {
        div class=(format!("plot {class}")) style=(format!("--width: {width}; --height: {height}")) { (picture) }
    }
}

/// How a picture keeps its left end where it is cut off.
pub(crate) const CUT: &str = "xMinYMin slice";

/// A picture of this size in CSS pixels, which `words` describe.
pub(crate) fn svg(class: &str, size: (f64, f64), words: &str, content: &Markup) -> Markup {
    let (width, height) = size;
    let view = format!("0 0 {width} {height}");
    let cut = (class == "chart").then_some(CUT);
    html! {
        svg class=(class) width=(width) height=(height) viewBox=(view) preserveAspectRatio=[cut] role="img"
            aria-label=(safe(words)) {
            title { (safe(words)) }
            (content)
        }
    }
}

/// Dots as one path, because a mark for each would make large files.
pub(crate) fn dots(places: impl Iterator<Item = (f64, f64)>) -> String {
    marks("h0", places)
}

/// Marks of this outline in the same way.
pub(crate) fn marks(outline: &str, places: impl Iterator<Item = (f64, f64)>) -> String {
    places.fold(String::new(), |mut path, (x, y)| {
        let _ = write!(path, "M{x:.1} {y:.1}{outline}");
        path
    })
}

/// A coordinate, with as many digits as can be seen.
pub(crate) fn number(value: f64) -> String {
    format!("{value:.1}")
}

/// Places of labels next to these places, far enough apart and between `low` and `high`.
fn spread(places: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    let mut spread = places.to_vec();
    let mut least = low;
    for index in &order {
        spread[*index] = spread[*index].max(least);
        least = spread[*index] + NAME_HEIGHT;
    }
    let mut most = high;
    for index in order.iter().rev() {
        spread[*index] = spread[*index].min(most);
        most = spread[*index] - NAME_HEIGHT;
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_lines_than_can_be_followed_have_a_panel_each_with_the_reference() {
        let points = || [(1.0, 2.0), (2.0, 3.0)].map(Point::plain).to_vec();
        let line = |place: usize| Line { name: format!("line-{place}"), place, points: points() };
        let drawn = |count: usize| {
            let axis = || Axis::linear("axis", 4.0, |it| it.to_string());
            let lines = (0..count).map(line).collect();
            let chart = Chart { words: "words".to_owned(), x: axis(), y: axis(), lines };
            chart.draw_against(Some("line-1")).into_string()
        };
        let together = drawn(MOST_LINES);
        assert_eq!(
            (together.matches("<svg").count(), together.contains("class=\"other\"")),
            (1 + MOST_LINES, false)
        );
        let panels = drawn(MOST_LINES + 1);
        assert_eq!(panels.matches("<svg").count(), MOST_LINES + 1);
        assert_eq!(panels.matches("class=\"other\"").count(), MOST_LINES, "its own has one line");
        assert!(panels.contains("The wide grey line is line-1."), "{panels}");
    }

    #[test]
    fn names_are_apart_and_in_the_order_of_their_lines() {
        let places = spread(&[50.0, 48.0, 52.0, 199.0, 200.0], 10.0, 200.0);
        assert_eq!(places, [64.0, 48.0, 80.0, 184.0, 200.0]);
    }
}
