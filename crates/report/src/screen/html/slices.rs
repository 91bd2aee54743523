//! The slices of a server in one cohort and under its first load, over time.

use wirebench_schema::id::VariantId;

use crate::{
    analysis::Analysis,
    chart::{Chart, ChartKind, Marks, Outline},
    slices::{CohortSlices, OTHERS, READING, SliceUse},
};

/// The classes of states, the nearest first, and of a change.
const STATES: [&str; 3] = ["near", "far", "farther"];
const CHANGED: &str = "mixed";

/// The chart; none of a server without slices.
pub(super) fn chart(analysis: &Analysis<'_>, variant: &VariantId) -> Option<Chart> {
    let of_load = |rows| CohortSlices::of(analysis, rows, variant);
    let slices = analysis.workloads.iter().find_map(of_load)?;
    let (x, y) = slices.axes();
    let (class, words) = ("others".to_owned(), OTHERS.to_owned());
    let others = Marks { class, outline: Outline::Dot, words, points: slices.others.clone() };
    let others = (!slices.others.is_empty()).then_some(others);
    let own = slices.uses().map(|(used, points)| {
        let (class, outline) = look(used);
        Marks { class, outline, words: used.words(points.len()), points }
    });
    let states = slices.by_state().map(|(state, words, seconds)| Marks {
        class: state.map_or(CHANGED, |state| STATES[state.min(STATES.len() - 1)]).to_owned(),
        outline: Outline::Strip,
        words: format!("at the bottom: {words}"),
        points: seconds.into_iter().map(|seconds| (seconds, 0.0)).collect(),
    });
    let marks = others.into_iter().chain(own).chain(states).collect();
    let kind = ChartKind::Dots { x, y, marks, level: slices.value, begins: Vec::new() };
    let legend = format!("Dashed line: {}. {READING}", slices.value_words());
    let chart = Chart::new(format!("slices of {}", slices.title), kind);
    Some(Chart { heading: chart.title.clone(), legend, ..chart })
}

/// The class and the outline of a mark.
fn look(used: SliceUse) -> (String, Outline) {
    match used {
        SliceUse::Counted => ("counted".to_owned(), Outline::Dot),
        SliceUse::Dropped(disturbance) => (format!("{} thin", disturbance.1), Outline::Cross),
        SliceUse::OtherState => ("far thin".to_owned(), Outline::Ring),
    }
}
