//! Every slice in the order in which it ran, by what disturbed it, so that drift is visible.

use maud::{Markup, html};
use std::collections::BTreeMap;
use wirebench_schema::journal::{Outcome, Slice};

use crate::{
    analysis::Analysis,
    html::{
        chart::{dots, number, plot, svg},
        safe,
    },
    slices::{DISTURBANCES, disturbance},
};

/// The picture in CSS pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 170.0;
/// Space above the highest slices, for half a label.
const EDGE: f64 = 18.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 24.0;
const GAP: f64 = 8.0;
/// Slices are between half and twice the median of their instance and load, or at the edge.
const REACH: f64 = 2.0;
/// A cohort has its number below it if it is so wide.
const NUMBER_WIDTH: f64 = 20.0;

/// A slice that nothing disturbed: its class in the style sheet, and what it is called.
const QUIET: (&str, &str) = ("quiet", "undisturbed");

/// The states of the machine in the strip below the dots: the nearest one, another and neither.
const STATES: [(&str, &str); 3] = [
    ("near", "the CPUs of server and generator were as near to each other as ever"),
    ("far", "they were farther from each other"),
    ("mixed", "their distance changed"),
];

#[derive(Clone, Copy, Debug)]
struct Mark {
    start_ns: u64,
    /// Its CPU per request over the median of its instance under this load.
    ratio: f64,
    class: &'static str,
    /// The state of the machine; none of a machine that has one.
    state: Option<&'static str>,
}

#[derive(Debug, Default)]
struct Placed {
    by_class: BTreeMap<&'static str, Vec<(f64, f64)>>,
    /// Where each cohort begins, and its width.
    cohorts: Vec<(f64, f64)>,
}

/// The picture; none of a run without slices.
pub(super) fn section(analysis: &Analysis<'_>) -> Option<Markup> {
    let cohorts = cohorts(analysis);
    if cohorts.is_empty() {
        return None;
    }
    let words = "timeline: CPU per request of each slice in the order in which they ran";
    Some(html! {
        section {
            h2 { "Timeline" }
            p.legend {
                "Each dot is a slice of load in the order in which it ran: its CPU per request, compared with the "
                "median of its instance under this load. Without drift, dots scatter around 1. Disturbed slices are "
                "coloured and do not count."
                @if cohorts.iter().flatten().any(|it| it.state.is_some()) {
                    " The strip below shows the state of the machine, from the time of a round trip of a cache line."
                }
            }
            @let size = (WIDTH, HEIGHT + BOTTOM);
            (plot("time", size, &svg("chart", size, words, &marks(&placed(&cohorts)))))
            (table(&cohorts))
        }
    })
}

fn placed(cohorts: &[Vec<Mark>]) -> Placed {
    let begin = |marks: &[Mark]| marks.iter().map(|it| it.start_ns).min().unwrap_or(0);
    let end = |marks: &[Mark]| marks.iter().map(|it| it.start_ns).max().unwrap_or(0);
    let length = |marks: &[Mark]| (end(marks) - begin(marks)).max(1) as f64;
    let whole: f64 = cohorts.iter().map(|marks| length(marks)).sum();
    let space = WIDTH - LEFT - GAP * cohorts.len() as f64;
    let mut placed = Placed::default();
    let mut left = LEFT;
    for marks in cohorts {
        let width = length(marks) / whole * space;
        for mark in marks {
            let since = (mark.start_ns - begin(marks)) as f64;
            let at = (left + since / length(marks) * width, y(mark.ratio));
            placed.by_class.entry(mark.class).or_default().push(at);
            if let Some(state) = mark.state {
                placed.by_class.entry(state).or_default().push((at.0, HEIGHT));
            }
        }
        placed.cohorts.push((left, width));
        left += width + GAP;
    }
    placed
}

fn marks(placed: &Placed) -> Markup {
    html! {
        @for ratio in [0.5, 1.0, 2.0] {
            @let y = y(ratio);
            line.grid x1=(LEFT) x2=(WIDTH) y1=(number(y)) y2=(number(y)) {}
            text.tick x=(LEFT - 6.0) y=(number(y + 4.0)) text-anchor="end" { (ratio) "x" }
        }
        @for (index, (left, width)) in placed.cohorts.iter().enumerate() {
            line.one x1=(number(*left)) x2=(number(*left)) y1="0" y2=(HEIGHT) {}
            @if *width >= NUMBER_WIDTH {
                text.tick x=(number(left + 3.0)) y=(HEIGHT + 18.0) { (index + 1) }
            }
        }
        @for (class, _) in classes() {
            @if let Some(places) = placed.by_class.get(class) {
                path class=(format!("estimate slice {class}")) d=(dots(places.iter().copied())) {}
            }
        }
    }
}

/// How many slices were disturbed by what, which is also the key of the colours.
fn table(cohorts: &[Vec<Mark>]) -> Markup {
    let count = |class: &str| {
        let is_it = |it: &&Mark| it.class == class || it.state == Some(class);
        cohorts.iter().flatten().filter(is_it).count()
    };
    html! {
        ul.key {
            @for (class, words) in classes() {
                @let count = count(class);
                @if count > 0 { (key(class, "h0", &format!("{count} {words}"))) }
            }
        }
    }
}

/// The meaning of a mark of this class and outline.
pub(super) fn key(class: &str, outline: &str, words: &str) -> Markup {
    html! {
        li {
            svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" {
                path class=(format!("slice {class}")) d=(format!("M7 7{outline}")) {}
            }
            (safe(words))
        }
    }
}

/// All classes of slices and states with their meaning.
fn classes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let disturbed = DISTURBANCES.iter().map(|it| (it.1, it.2));
    [QUIET].into_iter().chain(disturbed).chain(STATES)
}

fn y(ratio: f64) -> f64 {
    let share = (ratio.ln() / REACH.ln()).clamp(-1.0, 1.0);
    ((1.0 - share) / 2.0).mul_add(HEIGHT - 2.0 * EDGE, EDGE)
}

/// The slices of each cohort, in the order of the journal.
fn cohorts(analysis: &Analysis<'_>) -> Vec<Vec<Mark>> {
    let states = &analysis.machine.states;
    let state = |slice: &Slice| {
        let class = match states.during(slice.distances.readings()) {
            Some(0) => "near",
            Some(_) => "far",
            None => "mixed",
        };
        (states.count() > 1).then_some(class)
    };
    let mut cohorts: BTreeMap<u32, Vec<Mark>> = BTreeMap::new();
    for run in &analysis.journal.runs {
        let Outcome::Measured(measured) = &run.outcome else { continue };
        let values: Vec<f64> = Slice::counted(&measured.slices)
            .iter()
            .filter_map(|it| it.cpu_ns_per_request())
            .collect();
        let Some(median) = wirebench_stats::median(&values).filter(|it| *it > 0.0) else {
            continue;
        };
        let marks = measured.slices.iter().filter_map(|slice| {
            let ratio = slice.cpu_ns_per_request()? / median;
            Some(Mark {
                start_ns: slice.start_ns,
                ratio,
                class: slice.dropped.map_or(QUIET.0, |kind| disturbance(kind).1),
                state: state(slice),
            })
        });
        cohorts.entry(run.cohort()).or_default().extend(marks);
    }
    cohorts.into_values().filter(|marks| !marks.is_empty()).collect()
}
