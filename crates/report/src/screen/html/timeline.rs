//! Every visit in the order in which it ran, by what disturbed it, so that drift is visible.

use wirebench_schema::journal::{Run, Visit};
use wirebench_stats::median;

use crate::{
    analysis::{Analysis, WorkloadRows},
    chart::{Axis, Chart, ChartKind, Marks, Outline},
    document::Block,
    visits::{of_states, of_uses, uses},
};

const TITLE: &str = "timeline: CPU per request of each visit in the order in which they ran";
const LEGEND: &str = "Each dot is a visit of load in the order in which it ran: its CPU per request, compared with the \
                      median of its instance under this load. Without drift, dots scatter around 1. Coloured ones do \
                      not count.";
const LEGEND_OF_STATES: &str = " The strip below shows the state of the machine, from the time of a round trip of a \
                                cache line.";
/// Labels of the ratio; visits beyond them are at the edge.
const RATIOS: [f64; 3] = [0.5, 1.0, 2.0];

/// A visit: its cohort, what became of it, and its CPU per request over the median of its instance under this load.
type Mark<'a> = (u32, &'a Visit, usize, f64);

/// The chart; nothing of a run without visits.
pub(super) fn section(analysis: &Analysis<'_>) -> Block {
    let mut visits = visits(analysis);
    visits.sort_by_key(|(cohort, visit, ..)| (*cohort, visit.start_ns));
    // All loads have the states of the run; those without visits may know fewer.
    let rows = analysis.workloads.iter().max_by_key(|it| it.states.others.len());
    let chart = rows.filter(|_| !visits.is_empty()).and_then(|it| chart(analysis, it, &visits));
    Block::Section("Timeline".to_owned(), vec![Block::Charts(chart.into_iter().collect())])
}

fn chart(analysis: &Analysis<'_>, rows: &WorkloadRows<'_>, visits: &[Mark<'_>]) -> Option<Chart> {
    let cohort = |place: usize| visits[place].0;
    let is_first = |place: &usize| *place == 0 || cohort(*place) != cohort(*place - 1);
    let begins: Vec<f64> = (0..visits.len()).filter(is_first).map(|place| place as f64).collect();
    let placed = || visits.iter().enumerate().map(|(place, it)| (place as f64, it));
    let uses: Vec<_> = placed().map(|(place, it)| (it.2, (place, it.3))).collect();
    let begun: Vec<_> = placed().map(|(place, it)| (place, it.1)).collect();
    let states = of_states(analysis, rows, &begun);
    let legend = format!("{LEGEND}{}", if states.is_empty() { "" } else { LEGEND_OF_STATES });
    let marks = of_uses(&uses).into_iter().map(dotted).chain(states).collect();
    let labels = begins.iter().zip(1..).map(|(at, number)| (*at, number.to_string())).collect();
    let x = Axis { labels, ..Axis::linear("cohort", visits.len() as f64, |_| String::new()) };
    let name = "CPU per request over the median";
    let y = Axis::logarithmic_at(name, RATIOS.into_iter(), |ratio| format!("{ratio}x"))?;
    let kind = ChartKind::Dots { x, y, marks, level: None, begins };
    Some(Chart::titled(TITLE.to_owned(), kind).explained(legend))
}

/// The marks of one use as dots: there are too many visits for larger ones.
fn dotted(marks: Marks) -> Marks {
    let class = marks.class.replace(" thin", "").replace("counted", "quiet");
    Marks { class, outline: Outline::Dot, ..marks }
}

fn visits<'a>(analysis: &Analysis<'a>) -> Vec<Mark<'a>> {
    let of_run = |run: &'a Run| {
        let values = Visit::counted(run.outcome.visits()).into_iter();
        let values: Vec<f64> = values.filter_map(Visit::cpu_ns_per_request).collect();
        let median = median(&values).filter(|it| *it > 0.0)?;
        let uses = run.outcome.visits().iter().zip(uses(analysis, run));
        let mark = |(visit, at_use): (&'a Visit, usize)| {
            Some((run.cohort(), visit, at_use, visit.cpu_ns_per_request()? / median))
        };
        Some(uses.filter_map(mark).collect::<Vec<_>>())
    };
    analysis.journal.runs.iter().filter_map(of_run).flatten().collect()
}
