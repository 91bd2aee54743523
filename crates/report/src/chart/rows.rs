//! Charts with a row for each name: bars with their figures at the end, and ratios on one axis.

use maud::{Markup, html};
use wirebench_stats::{Estimate, Interval};

use super::{
    Axis, Bar, Dumbbell, ratio,
    svg::{Drawn, number},
};
use crate::{
    analysis::JudgedRatio,
    wrap::{cut, length},
};

/// The picture, its title and a row, in CSS pixels.
const WIDTH: f64 = 640.0;
const TITLE: f64 = 30.0;
const ROW: f64 = 24.0;
const BAR: f64 = 16.0;
/// Space for names, and between them, the bars and the texts at their end.
const LEFT: f64 = 230.0;
/// A line for a name that is too long for that space, on a narrow screen, where texts are largest.
const NAME: f64 = 26.0;
const GAP: f64 = 8.0;
/// A sign on a narrow screen, where texts are largest.
const SIGN_WIDTH: f64 = 12.0;
const LONGEST_NAME: usize = 22;
const LONGEST_TITLE: usize = 60;
/// A name in front of a ratio.
const LONGEST_RATIO: usize = 40;
/// The space for a pair.
const PAIR: f64 = 12.0;
/// The least space between two labels of the axis of ratios.
const LABEL_WIDTH: f64 = 60.0;

pub(super) fn of_bars(title: &str, bars: &[Bar]) -> Drawn {
    // A name in a line of its own is whole: names that are cut could be the same.
    let is_above = bars.iter().any(|bar| length(&bar.name) > LONGEST_NAME);
    let (left, name) = if is_above { (0.0, NAME) } else { (LEFT, 0.0) };
    let scale = scale(bars, left);
    let content = html! {
        text.name.title x="2" y="18" { (cut(title, LONGEST_TITLE)) }
        @for (row, bar) in bars.iter().enumerate() {
            @let top = TITLE + (ROW + name) * row as f64;
            @let below = top + name;
            @let length = bar.figure * scale;
            @if is_above {
                text.name x="2" y=(number(top + 16.0)) { (cut(&bar.name, LONGEST_TITLE)) }
            } @else {
                text.name x=(LEFT - GAP) y=(number(top + 13.0)) text-anchor="end" { (bar.name) }
            }
            rect class={ "estimate " (bar.shade) } x=(left) y=(number(below)) width=(number(length)) height=(BAR) {}
            text.name x=(number(left + length + GAP)) y=(number(below + 13.0)) { (bar.text) }
        }
    };
    let size = (WIDTH, TITLE + (ROW + name) * bars.len() as f64);
    Drawn::new("bars", title, size, content)
}

/// Pixels of a unit, so that the text at the end of each bar has space.
fn scale(bars: &[Bar], left: f64) -> f64 {
    let space = |bar: &Bar| WIDTH - left - GAP - bar.text.chars().count() as f64 * SIGN_WIDTH;
    bars.iter().map(|bar| space(bar) / bar.figure).fold(f64::INFINITY, f64::min)
}

/// The title, and lines from it down to the labels of an axis of ratios.
fn grid(title: &str, axis: &Axis, bottom: f64) -> Markup {
    html! {
        text.name.title x="2" y="18" { (cut(title, LONGEST_TITLE)) }
        @for (x, label) in axis.labelled(WIDTH, LABEL_WIDTH) {
            line.grid x1=(number(x)) x2=(number(x)) y1=(TITLE) y2=(bottom) {}
            text.tick x=(number(x)) y=(bottom + 16.0) text-anchor="middle" { (label) }
        }
    }
}

/// The name and the ratios above a line for each pair, from a ring to a dot; none without pairs.
pub(super) fn of_dumbbells(title: &str, rows: &[Dumbbell]) -> Option<Drawn> {
    let pairs = || rows.iter().flat_map(|row| &row.pairs);
    let ends = |it: &Estimate| it.interval.into_iter().flat_map(|it| [it.low, it.high]);
    let values =
        pairs().flat_map(|(there, here)| [*there, here.value].into_iter().chain(ends(here)));
    let axis = ratio::axis_of(values)?;
    let x = |ratio: f64| number(axis.share(ratio) * WIDTH);
    let height = |row: &Dumbbell| PAIR.mul_add(row.pairs.len() as f64, 2.0 * NAME);
    let next = |top: &mut f64, row: &Dumbbell| Some(std::mem::replace(top, *top + height(row)));
    let tops = rows.iter().scan(TITLE, next);
    let bottom = rows.iter().map(height).sum::<f64>() + TITLE;
    let content = html! {
        (grid(title, &axis, bottom))
        @for (row, top) in rows.iter().zip(tops) {
            text.name x="2" y=(top + 18.0) { (cut(&row.name, LONGEST_TITLE)) }
            text.name x=(WIDTH - 2.0) y=(top + NAME + 18.0) text-anchor="end" { (row.text) }
            @for (place, (there, here)) in row.pairs.iter().enumerate() {
                @let middle = number(top + 2.0 * NAME + PAIR * (place as f64 + 0.5));
                @if let Some(Interval { low, high }) = here.interval {
                    line.interval x1=(x(low)) x2=(x(high)) y1=(middle) y2=(middle) {}
                }
                line.change x1=(x(*there)) x2=(x(here.value)) y1=(middle) y2=(middle) {}
                circle.cohort cx=(x(*there)) cy=(middle) r="3" {}
                circle.estimate cx=(x(here.value)) cy=(middle) r="3.5" {}
            }
        }
    };
    Some(Drawn::new("bars", title, (WIDTH, bottom + ROW), content))
}

/// A line with the name and the ratio above the marks of each; none without ratios.
pub(super) fn of_ratios(title: &str, ratios: &[(String, JudgedRatio)]) -> Option<Drawn> {
    let axis = ratio::axis(ratios.iter().map(|(_, ratio)| ratio))?;
    let height = ROW + NAME;
    let bottom = TITLE + height * ratios.len() as f64;
    let content = html! {
        (grid(title, &axis, bottom))
        @for (row, (name, ratio)) in ratios.iter().enumerate() {
            @let top = TITLE + height * row as f64;
            text.name x="2" y=(top + 18.0) { (cut(name, LONGEST_RATIO)) }
            text.name x=(WIDTH - 2.0) y=(top + 18.0) text-anchor="end" { (ratio::text(ratio)) }
            (ratio::marks(ratio, top + NAME, |it| axis.share(it) * WIDTH))
        }
    };
    Some(Drawn::new("bars", title, (WIDTH, bottom + ROW), content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_each_bar_has_space() {
        let bar = |figure: f64, text: &str| {
            let (name, text) = (String::new(), text.to_owned());
            Bar { name, figure, shade: "", text }
        };
        let bars = [bar(100.0, "1"), bar(99.0, "a text that is longer")];
        let scale = scale(&bars, LEFT);
        let ends = bars.each_ref().map(|bar| {
            LEFT + bar.figure * scale + GAP + bar.text.chars().count() as f64 * SIGN_WIDTH
        });
        assert!(ends[0] < WIDTH && (ends[1] - WIDTH).abs() < 1e-9, "{ends:?}");
    }
}
