//! A chart of many lines as small pictures: one for each line, all with the same axes.

use maud::{Markup, html};

use super::{super::series::class, Chart, Frame, Line, plot, svg};
use crate::{html::safe, wrap::cut};

/// A panel, and the area in which its lines are, in CSS pixels. Two panels fit a narrow screen.
const SIZE: (f64, f64) = (172.0, 142.0);
const LEFT: f64 = 56.0;
const TOP: f64 = 24.0;
const WIDTH: f64 = 98.0;
const HEIGHT: f64 = 94.0;
/// The least space between two labels of the axis below.
const LABEL_WIDTH: f64 = 40.0;
const LONGEST_NAME: usize = 21;

/// The panels, each with the line of this name next to its own.
pub(super) fn panels(chart: &Chart, reference: Option<&str>) -> Markup {
    let reference = chart.lines.iter().find(|line| Some(line.name.as_str()) == reference);
    html! {
        p.legend {
            "Each line has a panel. All have the same axes: " (safe(&chart.x.name)) " from left to right, "
            (safe(&chart.y.name)) " from bottom to top."
            @if let Some(line) = reference { " The wide grey line is " (safe(&line.name)) "." }
        }
        div.panels {
            @for line in &chart.lines { (panel(chart, line, reference)) }
        }
    }
}

fn panel(chart: &Chart, line: &Line, reference: Option<&Line>) -> Markup {
    let Chart { x, y, .. } = chart;
    let frame = Frame {
        left: LEFT,
        top: TOP,
        width: WIDTH,
        height: HEIGHT,
        label_width: LABEL_WIDTH,
        x,
        y,
    };
    // It needs nothing that distinguishes it from others.
    let own = Line { place: 0, ..line.clone() };
    let content = html! {
        text.name.title x="2" y="13" { (cut(&safe(&line.name), LONGEST_NAME)) }
        (frame.axes())
        @if let Some(reference) = reference.filter(|it| it.name != line.name) { (frame.reference(reference)) }
        g class=(class(own.place)) {
            title { (safe(&line.name)) }
            (frame.line(&own))
        }
    };
    plot("panel", SIZE, &svg("chart", SIZE, &format!("{}: {}", chart.words, line.name), &content))
}
