//! The area of a picture in which marks are, and what is drawn in it: both axes and the parts of a line.

use maud::{Markup, html};
use std::fmt::Write;

use super::{
    Axis, Line,
    series::outline,
    svg::{dots, number},
};

/// The area in CSS pixels, and the space around it.
pub(super) const LEFT: f64 = 76.0;
pub(super) const TOP: f64 = 30.0;
pub(super) const HEIGHT: f64 = 260.0;
pub(super) const BOTTOM: f64 = TOP + HEIGHT;
/// Space below for the labels and the name of the axis, and at the right for half of the last label.
pub(super) const BELOW: f64 = 44.0;
pub(super) const EDGE: f64 = 16.0;
/// The least space between two labels of the axis below and of that at the left.
const LABEL: (f64, f64) = (52.0, 18.0);
/// More marks hide the line.
const MOST_MARKS: usize = 60;

/// An area of this width with its two axes.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) width: f64,
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
}

impl Frame<'_> {
    pub(super) fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (LEFT + self.x.share(x) * self.width, TOP + (1.0 - self.y.share(y)) * HEIGHT)
    }

    /// Where a line ends.
    pub(super) fn end(&self, line: &Line) -> (f64, f64) {
        line.points.last().map_or((LEFT, TOP), |point| self.place(point.at))
    }

    /// The names of both axes, and their values with labels.
    pub(super) fn axes(&self) -> Markup {
        let right = LEFT + self.width;
        html! {
            text.tick x="2" y="18" { (self.y.name) }
            @for (at, label) in self.x.labelled(self.width, LABEL.0) {
                @let x = number(LEFT + at);
                line.grid x1=(x) x2=(x) y1=(TOP) y2=(BOTTOM) {}
                text.tick x=(x) y=(BOTTOM + 16.0) text-anchor="middle" { (label) }
            }
            @for (at, label) in self.y.labelled(HEIGHT, LABEL.1) {
                @let y = BOTTOM - at;
                line.grid x1=(LEFT) x2=(right) y1=(number(y)) y2=(number(y)) {}
                text.tick x=(LEFT - 6.0) y=(number(y + 4.0)) text-anchor="end" { (label) }
            }
            text.tick x=(LEFT + self.width / 2.0) y=(BOTTOM + 36.0) text-anchor="middle" { (self.x.name) }
        }
    }

    /// A line with its marks, and the values of single cohorts.
    pub(super) fn line(&self, line: &Line) -> Markup {
        let raw = line
            .points
            .iter()
            .flat_map(|point| point.raw.iter().map(|value| self.place((point.at.0, *value))));
        let raw = dots(raw);
        html! {
            @if let Some(path) = self.path(line, false) { path.line d=(path) {} }
            @if let Some(path) = self.path(line, true) { path.line.grey d=(path) {} }
            @if !raw.is_empty() { path.raw d=(raw) {} }
            (self.marks(line, false))
            (self.marks(line, true))
        }
    }

    /// The marks of a line. One with many points has only some, at other places than those of the lines next to it.
    fn marks(&self, line: &Line, is_hollow: bool) -> Markup {
        let step = line.points.len().div_ceil(MOST_MARKS).max(1);
        let points = line.points.iter().skip(line.place % step).step_by(step);
        let points = points.filter(|point| point.is_hollow == is_hollow);
        let marks = outline(line.place, points.map(|point| self.place(point.at)));
        html! { @if !marks.is_empty() { path.estimate.mark.ring[is_hollow] d=(marks) {} } }
    }

    /// The valid part of a line, or the other one, which begins where the valid one ends.
    fn path(&self, line: &Line, is_grey: bool) -> Option<String> {
        let valid = line.points.iter().take_while(|point| !point.is_grey).count();
        let points =
            if is_grey { &line.points[valid.saturating_sub(1)..] } else { &line.points[..valid] };
        (points.len() > 1).then(|| joined(points.iter().map(|point| self.place(point.at))))
    }
}

fn joined(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
    }
    path
}
