//! What distinguishes the lines of a chart: a colour, and without colours the dashes of the line together
//! with the shape of its marks.

use maud::{Markup, html};

use super::safe;

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

/// What a narrow screen shows in the place of names next to lines, of which some are grey.
pub(super) fn key<'a>(lines: impl Iterator<Item = (usize, &'a str, bool)>) -> Markup {
    html! {
        ul.key.narrow {
            @for (place, name, is_grey) in lines {
                li {
                    svg width="36" height="12" viewBox="0 0 36 12" aria-hidden="true" {
                        g class=(class(place)) {
                            path.line.grey[is_grey] d="M0 6H36" {}
                            @if !is_grey { path.mark d=(outline(place, [(18.0, 6.0)].into_iter())) {} }
                        }
                    }
                    (safe(name))
                }
            }
        }
    }
}

/// Points of a line in a space from `left` that only identify it: at other places than those of the lines
/// next to it.
pub(super) fn identifying(
    place: usize,
    points: &[(f64, f64)],
    (left, width): (f64, f64),
) -> Vec<(f64, f64)> {
    let offset = (place % SHAPES.len()) as f64 / SHAPES.len() as f64;
    let nearest = |number: usize| {
        let wanted = left + width * (number as f64 + offset + 0.1) / IDENTIFYING as f64;
        let away = |point: &(f64, f64)| (point.0 - wanted).abs();
        points.iter().copied().min_by(|a, b| away(a).total_cmp(&away(b)))
    };
    let mut found: Vec<(f64, f64)> = (0..IDENTIFYING).filter_map(nearest).collect();
    found.dedup();
    found
}

/// Marks of a place among all servers, as one path.
pub(super) fn outline(place: usize, points: impl Iterator<Item = (f64, f64)>) -> String {
    let shape = SHAPES[place % SHAPES.len()];
    points.map(|(x, y)| format!("M{x:.1} {y:.1}{shape}")).collect()
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
        let points: Vec<_> = (0..500).map(|it| (f64::from(it), 0.0)).collect();
        let [first, second] = [0, 1].map(|place| identifying(place, &points, (0.0, 500.0)));
        assert_eq!(first.len(), IDENTIFYING);
        assert!(first.iter().all(|it| !second.contains(it)), "{first:?} {second:?}");
    }
}
