//! The first picture of a scenario: a bar for each server, in the order of the table, with its figure and the
//! comparison at the end.

use maud::{Markup, html};

use super::super::{
    figures::{cell, factor, subject},
    model::{Block, Column, Group, Outcome, Value},
};
use crate::{
    analysis::{Metric, MetricFacts},
    html::{
        chart::{number, plot, svg},
        safe,
    },
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

struct Bar<'a> {
    name: &'a str,
    figure: f64,
    /// Its class in the style sheet.
    shade: &'static str,
    text: String,
}

/// Pictures of the first load, which is the saturated one if there is one: what its rows are compared by, and
/// requests/s. None with fewer than two servers.
pub(super) fn section(block: &Block) -> Markup {
    let pictures = block.groups.first().map(|group| {
        let more = (group.metric != Metric::Throughput).then_some(Metric::Throughput);
        let metrics = [group.metric].into_iter().chain(more);
        metrics.filter_map(|metric| picture(block, group, metric)).collect::<Vec<_>>()
    });
    html! {
        @if let Some(pictures) = pictures.filter(|it| !it.is_empty()) {
            div.pictures { @for picture in pictures { div { (picture) } } }
        }
    }
}

fn picture(block: &Block, group: &Group, metric: Metric) -> Option<Markup> {
    let bars = bars(block, group, metric);
    if bars.len() < 2 {
        return None;
    }
    let better = match metric.more_is_better() {
        true => "more is better",
        false => "less is better",
    };
    let words = format!("{}, {}: {}, {better}", block.title, group.title, subject(metric));
    // A name in a line of its own is whole: names that are cut could be the same.
    let is_above = bars.iter().any(|bar| length(bar.name) > LONGEST_NAME);
    let (left, name) = if is_above { (0.0, NAME) } else { (LEFT, 0.0) };
    let size = (WIDTH, TITLE + (ROW + name) * bars.len() as f64);
    let scale = scale(&bars, left);
    let content = html! {
        text.name.title x="2" y="18" { (cut(&safe(&words), LONGEST_TITLE)) }
        @for (row, bar) in bars.iter().enumerate() {
            @let top = TITLE + (ROW + name) * row as f64;
            @let below = top + name;
            @let length = bar.figure * scale;
            @if is_above {
                text.name x="2" y=(number(top + 16.0)) { (cut(&safe(bar.name), LONGEST_TITLE)) }
            } @else {
                text.name x=(LEFT - GAP) y=(number(top + 13.0)) text-anchor="end" { (safe(bar.name)) }
            }
            @let class = format!("estimate {}", bar.shade);
            rect class=(class) x=(left) y=(number(below)) width=(number(length)) height=(BAR) {}
            text.name x=(number(left + length + GAP)) y=(number(below + 13.0)) { (bar.text) }
        }
    };
    Some(plot("bars", size, &svg("chart", size, &words, &content)))
}

/// Pixels of a unit, so that the text at the end of each bar has space.
fn scale(bars: &[Bar<'_>], left: f64) -> f64 {
    let space = |bar: &Bar<'_>| WIDTH - left - GAP - bar.text.chars().count() as f64 * SIGN_WIDTH;
    bars.iter().map(|bar| space(bar) / bar.figure).fold(f64::INFINITY, f64::min)
}

fn bars<'a>(block: &'a Block, group: &Group, metric: Metric) -> Vec<Bar<'a>> {
    let column = Column::Figure(metric);
    let Some(place) = group.columns.iter().position(|it| *it == column) else { return Vec::new() };
    let outcomes: Vec<(usize, Outcome)> = group.outcomes().collect();
    let bar = |(row, name): (usize, &'a String)| {
        let value = group.cells[row].as_ref()?[place];
        let (Value::Exact(figure) | Value::Bound(figure)) = value else { return None };
        let outcome = outcomes.iter().find(|(of, _)| *of == row && metric == group.metric);
        let (shade, compared) = outcome.map_or(("even", String::new()), |(_, it)| compared(*it));
        let unit = match metric {
            Metric::Cpu => " us",
            Metric::Throughput => "/s",
            _ => "",
        };
        let text = format!("{}{unit}{compared}", cell(column, value));
        (figure > 0.0).then_some(Bar { name, figure, shade, text })
    };
    block.rows.iter().enumerate().filter_map(bar).collect()
}

fn compared(outcome: Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Different { ratio, .. } if ratio > 1.0 => {
            ("more", format!(" ({})", factor(ratio)))
        }
        Outcome::Different { ratio, .. } => ("less", format!(" ({ratio:.2}x)")),
        Outcome::Reference => ("reference", " (reference)".to_owned()),
        Outcome::Same => ("even", " (same)".to_owned()),
        Outcome::Inconclusive => ("even", " (inconclusive)".to_owned()),
        Outcome::Withheld => ("even", String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_each_bar_has_space() {
        let bar =
            |figure: f64, text: &str| Bar { name: "", figure, shade: "", text: text.to_owned() };
        let bars = [bar(100.0, "1"), bar(99.0, "a text that is longer")];
        let scale = scale(&bars, LEFT);
        let ends = bars.each_ref().map(|bar| {
            LEFT + bar.figure * scale + GAP + bar.text.chars().count() as f64 * SIGN_WIDTH
        });
        assert!(ends[0] < WIDTH && (ends[1] - WIDTH).abs() < 1e-9, "{ends:?}");
    }
}
