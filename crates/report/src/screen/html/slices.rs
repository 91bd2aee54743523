//! The slices of a server in one cohort and under its first load, over time.

use maud::{Markup, html};
use wirebench_schema::id::VariantId;

use super::timeline::key;
use crate::{
    analysis::Analysis,
    html::{
        chart::{Frame, marks, number, plot, svg},
        safe,
    },
    slices::{CohortSlices, OTHERS, READING, SliceUse},
    wrap::cut,
};

/// The area of the slices in CSS pixels, and the space around it.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 44.0;
const EDGE: f64 = 16.0;
/// The least space between two labels of the axis below.
const LABEL_WIDTH: f64 = 52.0;
const LONGEST_TITLE: usize = 60;
/// Outlines of marks: a dot, a cross, a ring and a line.
const DOT: &str = "h0";
const CROSS: &str = "m-3.5-3.5l7 7m0-7l-7 7";
const RING: &str = "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0";
const DASH: &str = "m-6 0h4m4 0h4";
/// The classes of states, the nearest first, and of a change.
const STATES: [&str; 3] = ["near", "far", "farther"];
const CHANGED: &str = "mixed";

/// The picture with its legend; none of a server without slices.
pub(super) fn picture(analysis: &Analysis<'_>, variant: &VariantId) -> Option<Markup> {
    let of_load = |rows| CohortSlices::of(analysis, rows, variant);
    let slices = analysis.workloads.iter().find_map(of_load)?;
    let (x, y) = slices.axes();
    let (left, top, width, height) = (LEFT, TOP, WIDTH, HEIGHT);
    let frame = Frame { left, top, width, height, label_width: LABEL_WIDTH, x: &x, y: &y };
    let size = (LEFT + WIDTH + EDGE, TOP + HEIGHT + BOTTOM);
    let words = format!("slices of {}", slices.title);
    let content = html! {
        text.name.title x="2" y="18" { (cut(&safe(&words), LONGEST_TITLE)) }
        text.tick x="2" y="40" { (y.name) }
        (frame.axes())
        text.tick x=(LEFT + WIDTH / 2.0) y=(frame.bottom() + 36.0) text-anchor="middle" { (x.name) }
        (drawn(&slices, &frame))
    };
    Some(html! {
        (plot("slices", size, &svg("chart", size, &words, &content)))
        (legend(&slices))
        p.legend { (READING) }
    })
}

fn drawn(slices: &CohortSlices, frame: &Frame<'_>) -> Markup {
    let path = |class: &str, outline: &str, places: &[(f64, f64)]| {
        let path = marks(outline, places.iter().map(|at| frame.place(*at)));
        html! { @if !places.is_empty() { path class=(format!("estimate slice {class}")) d=(path) {} } }
    };
    let begun = |seconds: &[f64]| {
        let places = seconds.iter().map(|seconds| (frame.place((*seconds, 1.0)).0, frame.bottom()));
        marks(DOT, places)
    };
    html! {
        @if let Some(value) = slices.value {
            @let y = number(frame.place((0.0, value)).1);
            line.one x1=(LEFT) x2=(LEFT + WIDTH) y1=(y) y2=(y) {}
        }
        (path("others", DOT, &slices.others))
        @for (used, places) in slices.uses() {
            @let (class, outline) = look(used);
            (path(&class, outline, &places))
        }
        @for (state, _, seconds) in slices.by_state() {
            path class=(format!("slice {}", class(state))) d=(begun(&seconds)) {}
        }
    }
}

/// The class and the outline of a mark.
fn look(used: SliceUse) -> (String, &'static str) {
    match used {
        SliceUse::Counted => ("counted".to_owned(), DOT),
        SliceUse::Dropped(disturbance) => (format!("{} thin", disturbance.1), CROSS),
        SliceUse::OtherState => ("far thin".to_owned(), RING),
    }
}

fn class(state: Option<usize>) -> &'static str {
    state.map_or(CHANGED, |state| STATES[state.min(STATES.len() - 1)])
}

fn legend(slices: &CohortSlices) -> Markup {
    html! {
        ul.key {
            @for (used, places) in slices.uses() {
                @let (class, outline) = look(used);
                (key(&class, outline, &used.words(places.len())))
            }
            @if !slices.others.is_empty() {
                (key("others", DOT, OTHERS))
            }
            (key("quiet", DASH, &slices.value_words()))
            @for (state, words, _) in slices.by_state() {
                (key(class(state), DOT, &format!("at the bottom: {words}")))
            }
        }
    }
}
