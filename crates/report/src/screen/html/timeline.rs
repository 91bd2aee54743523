//! Every visit in the order in which it ran, by what disturbed it, so that drift is visible.

use wirebench_schema::journal::{Outcome, Visit};

use crate::{
    analysis::Analysis,
    chart::{Axis, Chart, ChartKind, Marks, Outline},
    document::Block,
    visits::{DISTURBANCES, disturbance},
};

const TITLE: &str = "timeline: CPU per request of each visit in the order in which they ran";
const LEGEND: &str = "Each dot is a visit of load in the order in which it ran: its CPU per request, compared with the \
                      median of its instance under this load. Without drift, dots scatter around 1. Disturbed visits \
                      are coloured and do not count.";
const LEGEND_OF_STATES: &str = " The strip below shows the state of the machine, from the time of a round trip of a \
                                cache line.";
/// Labels of the ratio; visits beyond them are at the edge.
const RATIOS: [f64; 3] = [0.5, 1.0, 2.0];

/// A visit that nothing disturbed: its class in the style sheet, and what it is called.
const QUIET: (&str, &str) = ("quiet", "undisturbed");

/// The states of the machine in the strip below the dots: the nearest one, another and neither.
const STATES: [(&str, &str); 3] = [
    ("near", "the CPUs of server and generator were as near to each other as ever"),
    ("far", "they were farther from each other"),
    ("mixed", "their distance changed"),
];

/// A visit: its cohort and its start, its CPU per request over the median of its instance under this load, and its
/// classes: of what disturbed it, and of the state of the machine, if it has several.
type Mark = ((u32, u64), f64, [Option<&'static str>; 2]);

/// The chart; nothing of a run without visits.
pub(super) fn section(analysis: &Analysis<'_>) -> Block {
    let mut visits = visits(analysis);
    visits.sort_by_key(|visit| visit.0);
    let chart = if visits.is_empty() { None } else { chart(&visits) };
    Block::Section("Timeline".to_owned(), vec![Block::Charts(chart.into_iter().collect())])
}

fn chart(visits: &[Mark]) -> Option<Chart> {
    let cohort = |place: usize| visits[place].0.0;
    let is_first = |place: &usize| *place == 0 || cohort(*place) != cohort(*place - 1);
    let begins: Vec<f64> = (0..visits.len()).filter(is_first).map(|place| place as f64).collect();
    let disturbed = DISTURBANCES.iter().map(|it| (it.1, it.2));
    let classes = [QUIET].into_iter().chain(disturbed).chain(STATES);
    let marks = classes.map(|(class, words)| {
        let of_class = visits.iter().enumerate().filter(|(_, it)| it.2.contains(&Some(class)));
        let points: Vec<_> = of_class.map(|(place, it)| (place as f64, it.1)).collect();
        let is_state = STATES.iter().any(|it| it.0 == class);
        let outline = if is_state { Outline::Strip } else { Outline::Dot };
        Marks {
            class: class.to_owned(),
            outline,
            words: format!("{} {words}", points.len()),
            points,
        }
    });
    let marks: Vec<Marks> = marks.filter(|it| !it.points.is_empty()).collect();
    let has_states = marks.iter().any(|it| it.outline == Outline::Strip);
    let legend = format!("{LEGEND}{}", if has_states { LEGEND_OF_STATES } else { "" });
    let labels = begins.iter().zip(1..).map(|(at, number)| (*at, number.to_string())).collect();
    let x = Axis { labels, ..Axis::linear("cohort", visits.len() as f64, |_| String::new()) };
    let name = "CPU per request over the median";
    let y = Axis::logarithmic_at(name, RATIOS.into_iter(), |ratio| format!("{ratio}x"))?;
    let kind = ChartKind::Dots { x, y, marks, level: None, begins };
    Some(Chart::titled(TITLE.to_owned(), kind).explained(legend))
}

fn visits(analysis: &Analysis<'_>) -> Vec<Mark> {
    let states = &analysis.machine.states;
    let state = |visit: &Visit| {
        let class = match states.during(visit.distances.readings()) {
            Some(0) => "near",
            Some(_) => "far",
            None => "mixed",
        };
        (states.count() > 1).then_some(class)
    };
    let mut all = Vec::new();
    for run in &analysis.journal.runs {
        let Outcome::Measured(measured) = &run.outcome else { continue };
        let values: Vec<f64> = Visit::counted(&measured.visits)
            .iter()
            .filter_map(|it| it.cpu_ns_per_request())
            .collect();
        let Some(median) = wirebench_stats::median(&values).filter(|it| *it > 0.0) else {
            continue;
        };
        let marks = measured.visits.iter().filter_map(|visit| {
            let ratio = visit.cpu_ns_per_request()? / median;
            let class = visit.dropped.map_or(QUIET.0, |kind| disturbance(kind).1);
            Some(((run.cohort(), visit.start_ns), ratio, [Some(class), state(visit)]))
        });
        all.extend(marks);
    }
    all
}
