//! The area of a picture in which lines are, and what is drawn in it: the labels of both axes and the parts of a line.

use maud::{Markup, html};
use std::fmt::Write;

use super::{
    super::series::{identifying, outline},
    Axis, Line, Mark, dots, number,
};

/// The least space between two labels of the axis at the left.
const LABEL_HEIGHT: f64 = 18.0;

/// An area in CSS pixels with its two axes.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The least space between two labels of the axis below.
    pub(crate) label_width: f64,
    pub(crate) x: &'a Axis,
    pub(crate) y: &'a Axis,
}

impl Frame<'_> {
    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let x = self.left + self.x.share(x) * self.width;
        (x, self.top + (1.0 - self.y.share(y)) * self.height)
    }

    /// Where a line ends.
    pub(crate) fn end(&self, line: &Line) -> (f64, f64) {
        line.points.last().map_or((self.left, self.top), |point| self.place(point.at))
    }

    /// The values with labels on both axes.
    pub(crate) fn axes(&self) -> Markup {
        let (bottom, right) = (self.bottom(), self.left + self.width);
        html! {
            @for (at, label) in self.x.labelled(self.width, self.label_width) {
                @let x = number(self.left + at);
                line.grid x1=(x) x2=(x) y1=(self.top) y2=(bottom) {}
                text.tick x=(x) y=(bottom + 16.0) text-anchor="middle" { (label) }
            }
            @for (at, label) in self.y.labelled(self.height, LABEL_HEIGHT) {
                @let y = bottom - at;
                line.grid x1=(self.left) x2=(right) y1=(number(y)) y2=(number(y)) {}
                text.tick x=(self.left - 6.0) y=(number(y + 4.0)) text-anchor="end" { (label) }
            }
        }
    }

    /// A line with its marks, and the values of single cohorts.
    pub(crate) fn line(&self, line: &Line) -> Markup {
        let raw = line
            .points
            .iter()
            .flat_map(|point| point.raw.iter().map(|value| self.place((point.at.0, *value))));
        let raw = dots(raw);
        html! {
            @if let Some(path) = self.path(line, false) { path.line d=(path) {} }
            @if let Some(path) = self.path(line, true) { path.line.grey d=(path) {} }
            @if !raw.is_empty() { path.raw d=(raw) {} }
            (self.marks(line))
        }
    }

    /// A line that others are compared with, without its marks.
    pub(crate) fn reference(&self, line: &Line) -> Markup {
        let path = joined(line.points.iter().map(|point| self.place(point.at)));
        html! { path.other d=(path) {} }
    }

    /// The marks of a line. One with many plain points has some that only identify it.
    fn marks(&self, line: &Line) -> Markup {
        let places = |mark: Mark| {
            let points = line.points.iter().filter(move |point| point.mark == mark);
            points.map(|point| self.place(point.at)).collect::<Vec<_>>()
        };
        let hollow = places(Mark::Ring);
        let mut full = places(Mark::Dot);
        if full.is_empty() && hollow.is_empty() && line.points.len() > 2 {
            full = identifying(line.place, &places(Mark::Plain), (self.left, self.width));
        }
        html! {
            @if !full.is_empty() { path.estimate.mark d=(outline(line.place, full.into_iter())) {} }
            @if !hollow.is_empty() { path.estimate.mark.ring d=(outline(line.place, hollow.into_iter())) {} }
        }
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
