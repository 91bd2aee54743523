//! A chart of lines: two axes, and for each server a line, its points and its name at the end. On a narrow
//! screen the names are in a key below, and the space for them is cut off. What the figures mean is not
//! known here.

use maud::{Markup, html};
use std::fmt::Write;

use super::series::{class, identifying, key, outline};
use crate::{html::safe, wrap::cut};

/// The area in which lines are, in CSS pixels, and the space around it.
const WIDTH: f64 = 384.0;
const LEAST_HEIGHT: f64 = 260.0;
const LEFT: f64 = 76.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Half of the last label of the axis, which is what a narrow screen shows of the space at the right.
const EDGE: f64 = 16.0;
/// Space for names at the right, and for each of them.
const NAMES: f64 = 194.0;
const NAME_HEIGHT: f64 = 16.0;
const LONGEST_NAME: usize = 23;
/// The least space between two labels of an axis.
const LABEL_WIDTH: f64 = 52.0;
const LABEL_HEIGHT: f64 = 18.0;
/// The most steps of a linear axis with labels.
const LINEAR_LABELS: f64 = 6.0;
/// Space at both ends of an axis, as a share of it.
const MARGIN: f64 = 0.04;

#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// What is on it, with the unit.
    pub(crate) name: String,
    /// Where a value is, before it is stretched to the range.
    place: fn(f64) -> f64,
    low: f64,
    high: f64,
    /// Values with labels, the most important ones first.
    labels: Vec<(f64, String)>,
}

impl Axis {
    /// An axis with equal space for equal ratios; none without a positive value.
    pub(crate) fn logarithmic(
        name: &str,
        values: impl Iterator<Item = f64>,
        show: impl Fn(f64) -> String,
    ) -> Option<Self> {
        let logarithms = values.filter(|it| *it > 0.0 && it.is_finite()).map(f64::ln);
        let (low, high) = logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| {
            (ends.0.min(value), ends.1.max(value))
        });
        if low > high {
            return None;
        }
        // A range of less than a factor of two would show noise as slopes.
        let missing = (2_f64.ln() - (high - low)).max(0.0) / 2.0;
        let (low, high) = (low - missing, high + missing);
        let decades = (low / 10_f64.ln()).floor() as i32..=(high / 10_f64.ln()).ceil() as i32;
        let labels = [1.0, 2.0, 5.0, 3.0, 7.0]
            .into_iter()
            .flat_map(|digit| decades.clone().map(move |decade| digit * 10_f64.powi(decade)));
        let labels = labels.map(|value| (value, show(value))).collect();
        Some(Self { name: name.to_owned(), place: f64::ln, low, high, labels })
    }

    /// An axis of shares of samples, on which each further nine has the same space.
    pub(crate) fn nines(name: &str, most: f64) -> Self {
        let labels = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_99];
        let show = |share: f64| format!("{}", (share * 1e8).round() / 1e6);
        let labels = labels.into_iter().map(|share| (share, show(share))).collect();
        let place = |share: f64| -(1.0 - share).ln();
        Self { name: name.to_owned(), place, low: 0.0, high: place(most).max(1.0), labels }
    }

    /// An axis from 0 with equal space for equal differences.
    pub(crate) fn linear(name: &str, most: f64, show: impl Fn(f64) -> String) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let magnitude = 10_f64.powf((most / LINEAR_LABELS).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * magnitude);
        let step = steps.into_iter().find(|it| most / it <= LINEAR_LABELS).unwrap_or(most);
        let values = (0_u8..).map(|number| f64::from(number) * step);
        let labels = values.take_while(|it| *it <= most).map(|it| (it, show(it))).collect();
        Self { name: name.to_owned(), place: |it| it, low: 0.0, high: most, labels }
    }

    /// An axis of numbers from 1, of which those with a round number have labels.
    pub(crate) fn numbered(name: &str, most: f64) -> Self {
        let steps = [1000, 500, 200, 100, 50, 20, 10, 5, 2, 1];
        let labels = steps.into_iter().flat_map(|step| {
            let numbers = (1..=most as usize).filter(move |it| it % step == 0);
            numbers.map(|it| (it as f64, it.to_string()))
        });
        let (place, labels): (fn(f64) -> f64, _) = (|it| it, labels.collect());
        Self { name: name.to_owned(), place, low: 1.0, high: most.max(2.0), labels }
    }

    /// Where a value is, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let share = ((self.place)(value) - self.low) / (self.high - self.low);
        share.clamp(0.0, 1.0).mul_add(1.0 - 2.0 * MARGIN, MARGIN)
    }

    /// The labels that have space, with their places, on an axis of this length.
    fn labelled(&self, length: f64, space: f64) -> Vec<(f64, &str)> {
        let mut found: Vec<(f64, &str)> = Vec::new();
        for (value, label) in &self.labels {
            let place = (self.place)(*value);
            let at = self.share(*value) * length;
            let is_on_axis = (self.low - 1e-9..=self.high + 1e-9).contains(&place);
            if is_on_axis && found.iter().all(|(other, _)| (at - other).abs() >= space) {
                found.push((at, label));
            }
        }
        found
    }
}

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

#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Its place among all servers of the run, so that it has one colour in all charts.
    pub(crate) place: usize,
    /// Its points, from left to right.
    pub(crate) points: Vec<Point>,
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
        let height = LEAST_HEIGHT.max(self.lines.len() as f64 * NAME_HEIGHT);
        let (width, whole) = (LEFT + WIDTH + NAMES, TOP + height + BOTTOM);
        let ends: Vec<f64> = self.lines.iter().map(|line| self.end(line, height).1).collect();
        let names = spread(&ends, TOP + 6.0, TOP + height);
        let content = html! {
            (self.axes(height))
            @for (line, name) in self.lines.iter().zip(names) {
                g class=(class(line.place)) {
                    title { (safe(&line.name)) }
                    (self.line(line, height))
                    (self.name(line, name, height))
                }
            }
        };
        html! {
            (plot("lines", (LEFT + WIDTH + EDGE, whole), &svg("chart", (width, whole), &self.words, &content)))
            (key(self.lines.iter().map(|line| (line.place, line.name.as_str()))))
        }
    }

    fn place(&self, (x, y): (f64, f64), height: f64) -> (f64, f64) {
        (LEFT + self.x.share(x) * WIDTH, TOP + (1.0 - self.y.share(y)) * height)
    }

    fn end(&self, line: &Line, height: f64) -> (f64, f64) {
        line.points.last().map_or((LEFT, TOP), |point| self.place(point.at, height))
    }

    fn axes(&self, height: f64) -> Markup {
        let bottom = TOP + height;
        html! {
            @for (at, label) in self.x.labelled(WIDTH, LABEL_WIDTH) {
                @let x = number(LEFT + at);
                line.grid x1=(x) x2=(x) y1=(TOP) y2=(bottom) {}
                text.tick x=(x) y=(bottom + 16.0) text-anchor="middle" { (label) }
            }
            @for (at, label) in self.y.labelled(height, LABEL_HEIGHT) {
                @let y = bottom - at;
                line.grid x1=(LEFT) x2=(LEFT + WIDTH) y1=(number(y)) y2=(number(y)) {}
                text.tick x=(LEFT - 6.0) y=(number(y + 4.0)) text-anchor="end" { (label) }
            }
            text.tick x=(LEFT + WIDTH / 2.0) y=(bottom + 36.0) text-anchor="middle" { (self.x.name) }
        }
    }

    fn line(&self, line: &Line, height: f64) -> Markup {
        let of = |is_grey: bool| self.path(line, is_grey, height);
        let raw = line.points.iter().flat_map(|point| {
            point.raw.iter().map(|value| self.place((point.at.0, *value), height))
        });
        let raw = dots(raw);
        html! {
            @if let Some(path) = of(false) { path.line d=(path) {} }
            @if let Some(path) = of(true) { path.line.grey d=(path) {} }
            @if !raw.is_empty() { path.raw d=(raw) {} }
            (self.marks(line, height))
        }
    }

    /// The marks of a line. One with many plain points has some that only identify it.
    fn marks(&self, line: &Line, height: f64) -> Markup {
        let places = |mark: Mark| {
            let points = line.points.iter().filter(move |point| point.mark == mark);
            points.map(|point| self.place(point.at, height)).collect::<Vec<_>>()
        };
        let hollow = places(Mark::Ring);
        let mut full = places(Mark::Dot);
        if full.is_empty() && hollow.is_empty() && line.points.len() > 2 {
            full = identifying(line.place, &places(Mark::Plain), (LEFT, WIDTH));
        }
        html! {
            @if !full.is_empty() { path.estimate.mark d=(outline(line.place, full.into_iter())) {} }
            @if !hollow.is_empty() { path.estimate.mark.ring d=(outline(line.place, hollow.into_iter())) {} }
        }
    }

    /// The valid part of a line, or the other one, which begins where the valid one ends.
    fn path(&self, line: &Line, is_grey: bool, height: f64) -> Option<String> {
        let valid = line.points.iter().take_while(|point| !point.is_grey).count();
        let points =
            if is_grey { &line.points[valid.saturating_sub(1)..] } else { &line.points[..valid] };
        if points.len() < 2 {
            return None;
        }
        let mut path = String::new();
        for (index, point) in points.iter().enumerate() {
            let (x, y) = self.place(point.at, height);
            let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
        }
        Some(path)
    }

    fn name(&self, line: &Line, y: f64, height: f64) -> Markup {
        let (from_x, from_y) = self.end(line, height);
        let x = LEFT + WIDTH;
        let leader = format!("M{from_x:.1} {from_y:.1}L{:.1} {y:.1}H{:.1}", x + 6.0, x + 16.0);
        html! {
            path.leader.estimate d=(leader) {}
            text.name x=(x + 20.0) y=(number(y + 4.0)) { (cut(&safe(&line.name), LONGEST_NAME)) }
        }
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
    let x = Axis::logarithmic(x_name, points().map(|it| it.at.0), show_x)?;
    let y = Axis::logarithmic(y_name, values(), show_y)?;
    let is_drawn = lines.iter().any(|line| line.points.len() > 1);
    is_drawn.then_some(Chart { words, x, y, lines })
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
    places.fold(String::new(), |mut path, (x, y)| {
        let _ = write!(path, "M{x:.1} {y:.1}h0");
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
    fn names_are_apart_and_in_the_order_of_their_lines() {
        let places = spread(&[50.0, 48.0, 52.0, 199.0, 200.0], 10.0, 200.0);
        assert_eq!(places, [64.0, 48.0, 80.0, 184.0, 200.0]);
    }

    #[test]
    fn a_logarithmic_axis_has_labels_apart_and_at_least_a_factor_of_two() {
        let axis = Axis::logarithmic("us", [3.0, 3.1].into_iter(), |it| it.to_string()).unwrap();
        assert!((axis.high - axis.low - 2_f64.ln()).abs() < 1e-9, "{axis:?}");
        let labels = axis.labelled(260.0, LABEL_HEIGHT);
        assert_eq!(labels.iter().map(|(_, label)| *label).collect::<Vec<_>>(), ["3"]);
        assert!(Axis::logarithmic("us", [0.0].into_iter(), |it| it.to_string()).is_none());
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_labels() {
        let shown = |most: f64| {
            let axis = Axis::linear("s", most, |it| format!("{it:.1}"));
            axis.labelled(WIDTH, LABEL_WIDTH).iter().map(|it| it.1.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(shown(9.5), ["0.0", "2.0", "4.0", "6.0", "8.0"]);
        assert_eq!(shown(30.0), ["0.0", "5.0", "10.0", "15.0", "20.0", "25.0", "30.0"]);
        assert_eq!(shown(0.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn each_nine_has_the_same_space() {
        let axis = Axis::nines("%", 0.9999);
        let at = [0.0, 0.9, 0.99, 0.999].map(|share| axis.share(share));
        let steps = [at[1] - at[0], at[2] - at[1], at[3] - at[2]];
        assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-9), "{steps:?}");
        let labels: Vec<&str> = axis.labelled(WIDTH, LABEL_WIDTH).iter().map(|it| it.1).collect();
        assert_eq!(labels, ["0", "90", "99", "99.9", "99.99"]);
    }
}
