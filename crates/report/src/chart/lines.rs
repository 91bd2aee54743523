//! A chart of lines: two axes, and for each server a line, its points and its name at the end. On a narrow
//! screen the names are in a key below, and the space for them is cut off.

use maud::{Markup, html};

use super::{
    Axis, Line,
    frame::{BELOW, BOTTOM, EDGE, Frame, LEFT, TOP},
    series::{class, key},
    svg::{Drawn, number},
};
use crate::wrap::cut_apart;

/// The width of the area in which lines are, in CSS pixels.
const WIDTH: f64 = 384.0;
/// Space for names at the right, and for each of them.
const NAMES: f64 = 194.0;
const NAME_HEIGHT: f64 = 16.0;
const LONGEST_NAME: usize = 23;
/// More lines hide each other.
const MOST_LINES: usize = 12;

/// The lines in as many pictures as they need, each with the line at place 0.
pub(super) fn drawing(title: &str, x: &Axis, y: &Axis, lines: &[Line]) -> Vec<Drawn> {
    let all: Vec<&Line> = lines.iter().collect();
    if all.len() <= MOST_LINES {
        return vec![picture(title, x, y, &all)];
    }
    let (first, others): (Vec<&Line>, Vec<&Line>) = all.iter().partition(|line| line.place == 0);
    let parts = others.chunks(MOST_LINES - 1);
    let (count, parts) = (parts.len(), (1..).zip(parts));
    let part = |(number, part): (usize, &[&Line])| {
        picture(&format!("{title}, part {number} of {count}"), x, y, &[&first[..], part].concat())
    };
    parts.map(part).collect()
}

fn picture(title: &str, x: &Axis, y: &Axis, lines: &[&Line]) -> Drawn {
    let frame = Frame { width: WIDTH, x, y };
    let ends: Vec<f64> = lines.iter().map(|line| frame.end(line).1).collect();
    let heights = spread(&ends, TOP + 6.0, BOTTOM);
    let all: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    let names = heights.into_iter().zip(cut_apart(&all, LONGEST_NAME));
    let content = html! {
        (frame.axes())
        @for (line, (y, shown)) in lines.iter().zip(names) {
            g class=(class(line.place)) {
                title { (line.name) }
                (frame.line(line))
                (name(&shown, frame.end(line), y))
            }
        }
    };
    let size = (LEFT + WIDTH + NAMES, BOTTOM + BELOW);
    let (shown, key) = (LEFT + WIDTH + EDGE, key(lines));
    Drawn { shown, key, ..Drawn::new("lines", title, size, content) }
}

/// The name of a line at `y`, and what leads to it from the line's end.
fn name(shown: &str, (from_x, from_y): (f64, f64), y: f64) -> Markup {
    let x = LEFT + WIDTH;
    let leader = format!("M{from_x:.1} {from_y:.1}L{:.1} {y:.1}H{:.1}", x + 6.0, x + 16.0);
    html! {
        path.leader.estimate d=(leader) {}
        text.name x=(x + 20.0) y=(number(y + 4.0)) { (shown) }
    }
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
    use crate::chart::Point;

    #[test]
    fn more_lines_than_can_be_followed_are_in_several_pictures_with_the_first() {
        let points = || [(1.0, 2.0), (2.0, 3.0)].map(Point::new).to_vec();
        let line = |place| Line { name: format!("line-{place}"), place, points: points() };
        let lines: Vec<Line> = (0..=MOST_LINES).map(line).collect();
        let axis = Axis::linear("axis", 4.0, |it| it.to_string());
        let drawn = |lines| drawing("words", &axis, &axis, lines).into_iter();
        assert_eq!(drawn(&lines[1..]).map(|it| it.title).collect::<Vec<_>>(), ["words"]);
        let title = format!("<title>{}<", lines[0].name);
        assert_eq!(drawn(&lines).filter(|it| it.content.0.contains(&title)).count(), 2);
    }

    #[test]
    fn names_are_apart_and_in_the_order_of_their_lines() {
        let places = spread(&[50.0, 48.0, 52.0, 199.0, 200.0], 10.0, 200.0);
        assert_eq!(places, [64.0, 48.0, 80.0, 184.0, 200.0]);
    }
}
