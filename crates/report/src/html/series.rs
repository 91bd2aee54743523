//! What distinguishes the lines of a chart: a colour, and without colours the dashes of the line together
//! with the shape of its marks.

use maud::{Markup, html};

use super::{
    chart::{LEFT, Line, Mark, Point, WIDTH, number},
    safe,
};

/// Colours and dashes in the style sheet. None of these three numbers divides another one, so lines have
/// the same dashes and marks only after thirty others.
const COLOURS: usize = 7;
const DASHES: usize = 5;
/// Outlines of marks around the point from which they begin.
const SHAPES: [&str; 6] = [
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "m-3.2-3.2h6.4v6.4h-6.4z",
    "m0-4.4l4.2 7.4h-8.4z",
    "m0-4.8l4.2 4.8l-4.2 4.8l-4.2-4.8z",
    "m0 4.4l4.2-7.4h-8.4z",
    "m-1.4-4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z",
];
/// Marks of a line without marks of its own.
const IDENTIFYING: usize = 4;

/// The classes of the line of a server at this place.
pub(super) fn class(place: usize) -> String {
    format!("colour{} dash{}", place % COLOURS, place % DASHES)
}

/// The marks of a line. One with many plain points has some that only identify it, at other places than
/// the marks of other lines.
pub(super) fn marks(line: &Line, place: impl Fn((f64, f64)) -> (f64, f64)) -> Markup {
    let of = |mark: Mark| outline(line.place, places(&line.points, mark).map(&place));
    let mut full = of(Mark::Dot);
    let hollow = of(Mark::Ring);
    if full.is_empty() && hollow.is_empty() && line.points.len() > 2 {
        full = outline(line.place, identifying(line, &place).into_iter());
    }
    html! {
        @if !full.is_empty() { path.estimate.mark d=(full) {} }
        @if !hollow.is_empty() { path.estimate.mark.ring d=(hollow) {} }
    }
}

/// What a narrow screen shows in the place of names next to lines.
pub(super) fn key(lines: &[Line]) -> Markup {
    html! {
        ul.key.narrow {
            @for line in lines {
                li {
                    svg width="36" height="12" viewBox="0 0 36 12" aria-hidden="true" {
                        g class=(class(line.place)) {
                            path.line d="M0 6H36" {}
                            path.mark d=(outline(line.place, [(18.0, 6.0)].into_iter())) {}
                        }
                    }
                    (safe(&line.name))
                }
            }
        }
    }
}

fn places(points: &[Point], mark: Mark) -> impl Iterator<Item = (f64, f64)> {
    points.iter().filter(move |point| point.mark == mark).map(|point| point.at)
}

fn identifying(line: &Line, place: impl Fn((f64, f64)) -> (f64, f64)) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = line.points.iter().map(|point| place(point.at)).collect();
    let offset = (line.place % SHAPES.len()) as f64 / SHAPES.len() as f64;
    let mut found: Vec<(f64, f64)> = (0..IDENTIFYING)
        .filter_map(|number| {
            let wanted = LEFT + WIDTH * (number as f64 + offset + 0.1) / IDENTIFYING as f64;
            let away = |point: &(f64, f64)| (point.0 - wanted).abs();
            points.iter().copied().min_by(|a, b| away(a).total_cmp(&away(b)))
        })
        .collect();
    found.dedup();
    found
}

/// Marks of a place among all servers, as one path.
fn outline(place: usize, points: impl Iterator<Item = (f64, f64)>) -> String {
    let shape = SHAPES[place % SHAPES.len()];
    points.map(|(x, y)| format!("M{} {}{shape}", number(x), number(y))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn thirty_lines_differ_without_colours() {
        let look = |place: usize| (place % DASHES, outline(place, [(0.0, 0.0)].into_iter()));
        assert_eq!((0..30).map(look).collect::<BTreeSet<_>>().len(), 30);
        assert_eq!((0..200).map(|it| (class(it), look(it))).collect::<BTreeSet<_>>().len(), 200);
    }

    #[test]
    fn a_line_of_many_plain_points_has_few_marks_away_from_those_of_another() {
        let point =
            |x: f64| Point { at: (x, 0.0), mark: Mark::Plain, is_grey: false, raw: Vec::new() };
        let line = |place| Line {
            name: String::new(),
            place,
            points: (0..500).map(|it| point(f64::from(it))).collect(),
        };
        let [first, second] = [0, 1].map(|place| identifying(&line(place), |at| at));
        assert_eq!(first.len(), IDENTIFYING);
        assert!(first.iter().all(|it| !second.contains(it)), "{first:?} {second:?}");
    }
}
