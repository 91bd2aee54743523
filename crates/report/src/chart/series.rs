//! What distinguishes the lines of a chart: a colour, and without colours the dashes of the line together
//! with the shape of its marks.

use maud::{Markup, html};

use super::{Line, svg::marks};

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

/// The classes of the line of a server at this place.
pub(super) fn class(place: usize) -> String {
    format!("colour{} dash{}", place % COLOURS, place % DASHES)
}

/// What a narrow screen shows in the place of names next to lines.
pub(super) fn key(lines: &[&Line]) -> Markup {
    html! {
        ul.key.narrow {
            @for line in lines {
                @let is_grey = line.points.iter().all(|point| point.is_grey);
                li {
                    svg width="36" height="12" viewBox="0 0 36 12" aria-hidden="true" {
                        g class=(class(line.place)) {
                            path.line.grey[is_grey] d="M0 6H36" {}
                            @if !is_grey { path.mark d=(outline(line.place, [(18.0, 6.0)].into_iter())) {} }
                        }
                    }
                    (line.name)
                }
            }
        }
    }
}

/// Marks of a place among all servers, as one path.
pub(super) fn outline(place: usize, points: impl Iterator<Item = (f64, f64)>) -> String {
    marks(SHAPES[place % SHAPES.len()], points)
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
}
