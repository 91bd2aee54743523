//! The visits of one server in one cohort as a picture and in words: when each was measured, its CPU time per request,
//! and whether it counts. Nothing is compared.

use std::ptr;
use wirebench_schema::{
    id::VariantId,
    journal::{ReasonKind, Run, Visit, block_of_cohort},
};
use wirebench_stats::{median, range};

use crate::{
    analysis::{Analysis, Metric, StateShare, WorkloadRows},
    chart::{Axis, Chart, ChartKind, Marks, Outline},
    filter::meant,
    table::states::distance,
    table_units::count,
};

/// How to read a drawing of visits.
const READING: &str = "Each large mark is a visit of load on this server, in the order in which they ran; \
     between two of them the other instances of the cohort have their turns. The dashed line is the value of the \
     cohort: that of the visits that count, without what all instances of a round share, so that it may lie beside \
     the marks. Small dots are the visits of the other instances, each scaled to the \
     median of this one, and at the edge if it is beyond: a movement that all share comes from the machine, and is \
     removed by comparing within rounds. Only clocks decide which visits count, never the result.";

/// The least share of the figures by which the axis reaches to both sides: noise must not look large.
const LEAST_REACH: f64 = 0.1;
/// The length of the axis as a factor of what the visits of the server need.
const SPACE: f64 = 1.2;

/// Something for which a visit is dropped: its kind, its class in the style sheet, and its name.
type Disturbance = (ReasonKind, &'static str, &'static str);

const DISTURBANCES: [Disturbance; 6] = [
    (ReasonKind::Stolen, "stolen", "the hypervisor took CPU time"),
    (ReasonKind::Neighbour, "neighbour", "other work used the CPUs"),
    (ReasonKind::GeneratorStall, "stall", "the load generator was descheduled"),
    (ReasonKind::GeneratorsApart, "apart", "the load generators began too far apart"),
    (ReasonKind::ParkedBusy, "parked", "other servers of the cohort used CPU time"),
    (ReasonKind::Throttled, "throttled", "the CPU was throttled"),
];

/// The disturbance of this kind. Kinds that a visit cannot have today count as other programs.
fn disturbance(kind: ReasonKind) -> &'static Disturbance {
    DISTURBANCES.iter().find(|it| it.0 == kind).unwrap_or(&DISTURBANCES[1])
}

/// The classes of states of the machine, the nearest first, and of a change.
const STATES: [&str; 3] = ["near", "far", "farther"];
const CHANGED: &str = "mixed";

/// The visits of one server in words, for each load.
///
/// # Errors
///
/// A name that means no server of the run, or more than one, and a server without visits.
pub fn text(analysis: &Analysis<'_>, name: &str) -> Result<String, String> {
    let server = meant(analysis.journal, name)?;
    let of = |rows| CohortVisits::of(analysis, rows, &server);
    let texts: Vec<String> = analysis.workloads.iter().filter_map(of).map(|it| it.text()).collect();
    if texts.is_empty() {
        return Err(format!(
            "{server} has no visits with a CPU time: only cohorts of `wirebench run` and `ab` measure in visits"
        ));
    }
    Ok(format!("{}\nPicture over time: report.html\n", texts.join("\n")))
}

/// The visits of a server under its first load with some, over time; none without visits.
pub(crate) fn chart(analysis: &Analysis<'_>, variant: &VariantId) -> Option<Chart> {
    let of_load = |rows| CohortVisits::of(analysis, rows, variant);
    analysis.workloads.iter().find_map(of_load).map(CohortVisits::chart)
}

/// The visits of one instance in a cohort and under one load: seconds since the first visit of the cohort, and
/// microseconds of CPU time per request.
struct CohortVisits {
    /// The server, the load and the cohort.
    title: String,
    /// Those of each use.
    own: Vec<Marks>,
    /// Visits of the other instances that count, scaled to the median of this one.
    others: Vec<(f64, f64)>,
    /// The visits of all instances in each state of the machine; empty of a machine with one state.
    states: Vec<Marks>,
    /// The value of the instance in the cohort, in microseconds.
    value: Option<f64>,
}

impl CohortVisits {
    /// The visits of the first instance of a server, in the cohort in which most of them are excluded. None without
    /// visits.
    fn of(analysis: &Analysis<'_>, rows: &WorkloadRows<'_>, variant: &VariantId) -> Option<Self> {
        let row = &rows.rows[rows.first_of(variant)?];
        let excluded = |run: &Run| uses(analysis, run).iter().filter(|it| **it > 0).count();
        // Of several the first.
        let run = row.runs.iter().rev().filter(|run| median_us(run).is_some());
        let run = run.max_by_key(|run| excluded(run))?;
        let all = rows.rows.iter().flat_map(|it| &it.runs).copied();
        let cohort: Vec<&Run> = all.filter(|it| it.cohort() == run.cohort()).collect();
        let all = || cohort.iter().flat_map(|run| run.outcome.visits());
        let begin = all().map(|it| it.start_ns).min()?;
        let at = |visit: &Visit| Some((seconds(visit, begin), microseconds(visit)?));
        let used: Vec<_> = run.outcome.visits().iter().zip(uses(analysis, run)).collect();
        let own = used.iter().filter_map(|(visit, at_use)| Some((*at_use, at(visit)?)));
        let middle = median_us(run)?;
        let others = cohort.iter().filter(|it| !ptr::eq(**it, *run)).flat_map(|other| {
            let scale = median_us(other).map_or(0.0, |it| middle / it);
            let counted = Visit::counted(other.outcome.visits()).into_iter().filter_map(at);
            counted.map(move |(seconds, us)| (seconds, us * scale))
        });
        let begun: Vec<_> = all().map(|it| (seconds(it, begin), it)).collect();
        Some(Self {
            title: title(rows, run),
            own: of_uses(&own.collect::<Vec<_>>()),
            others: others.filter(|(_, us)| *us > 0.0).collect(),
            states: of_states(analysis, rows, &begun),
            value: row.values(Metric::Cpu).get(&run.cohort()).map(|ns| ns / 1000.0),
        })
    }

    /// Time and CPU time per request, as wide as the visits of the server need.
    fn chart(self) -> Chart {
        let own = || self.own.iter().flat_map(|it| &it.points);
        let seconds = own().chain(&self.others).map(|it| it.0);
        let show = |value: f64| format!("{}", (value * 100.0).round() / 100.0);
        let x = Axis::linear("time in the cohort, s", seconds.fold(0.0, f64::max), show);
        let values: Vec<f64> = own().map(|it| it.1).chain(self.value).collect();
        let (low, high) = range(&values).unwrap_or((0.0, 1.0));
        let (middle, reach) = (f64::midpoint(low, high), (high - low) * SPACE / 2.0);
        let reach = reach.max(middle * LEAST_REACH);
        let y = Axis::span("CPU time per request, us", (middle - reach, middle + reach), show);
        let legend = format!("Dashed line: {}. {READING}", self.value_words());
        let others = (!self.others.is_empty()).then(|| Marks {
            class: "others".to_owned(),
            outline: Outline::Dot,
            words: "visits of the other instances, scaled".to_owned(),
            points: self.others,
        });
        let marks = others.into_iter().chain(self.own).chain(self.states).collect();
        let kind = ChartKind::Dots { x, y, marks, level: self.value, begins: Vec::new() };
        Chart::titled(format!("visits of {}", self.title), kind).explained(legend)
    }

    /// The meaning of the dashed line.
    fn value_words(&self) -> String {
        let none = "no dashed line: the server has no value in this cohort".to_owned();
        self.value.map_or(none, |it| format!("value of the cohort: {it:.2} us"))
    }

    fn text(&self) -> String {
        let words = |marks: &Marks| marks.words.clone();
        let value = [self.value_words()];
        let lines = self.own.iter().map(words).chain(value).chain(self.states.iter().map(words));
        lines.fold(self.title.clone() + "\n", |text, line| text + "  " + &line + "\n")
    }
}

/// The marks of visits, each with its use and its place.
pub(crate) fn of_uses(visits: &[(usize, (f64, f64))]) -> Vec<Marks> {
    let marks = looks().enumerate().map(|(at_use, (class, outline, words))| {
        let of_use = visits.iter().filter(|it| it.0 == at_use);
        let points: Vec<_> = of_use.map(|it| it.1).collect();
        let words = format!("{} {words}", count(points.len(), "visit"));
        Marks { class, outline, words, points }
    });
    marks.filter(|it| !it.points.is_empty()).collect()
}

/// A strip of the states of the machine in which visits at these x began; empty of a machine with one state.
pub(crate) fn of_states(
    analysis: &Analysis<'_>,
    rows: &WorkloadRows<'_>,
    visits: &[(f64, &Visit)],
) -> Vec<Marks> {
    let machine = &analysis.machine.states;
    if machine.count() < 2 {
        return Vec::new();
    }
    let states = state_words(rows).into_iter().enumerate().map(|(at, words)| (Some(at), words));
    let changed = (None, "the distance changed during a visit".to_owned());
    let marks = states.chain([changed]).map(|(state, words)| {
        let begun = visits.iter();
        let begun = begun.filter(|it| machine.during(it.1.distances.readings()) == state);
        let points: Vec<_> = begun.map(|it| (it.0, 0.0)).collect();
        let class = state.map_or(CHANGED, |state| STATES[state.min(STATES.len() - 1)]);
        let words = format!("{} of all instances: {words}", count(points.len(), "visit"));
        Marks { class: class.to_owned(), outline: Outline::Strip, words, points }
    });
    marks.filter(|it| !it.points.is_empty()).collect()
}

/// The class, the outline and the words of each use of a visit: that it counts, disturbances for which it is dropped,
/// and that it was measured in a state of the machine that is not compared.
fn looks() -> impl Iterator<Item = (String, Outline, String)> {
    let counted = ("counted".to_owned(), Outline::Dot, "counted".to_owned());
    let dropped = DISTURBANCES.iter().map(|(_, class, words)| {
        (format!("{class} thin"), Outline::Cross, format!("dropped: {words}"))
    });
    let words = "excluded: the machine was in another state".to_owned();
    [counted].into_iter().chain(dropped).chain([("far thin".to_owned(), Outline::Ring, words)])
}

/// The place of the use of each visit of a run among the looks.
pub(crate) fn uses(analysis: &Analysis<'_>, run: &Run) -> Vec<usize> {
    let visits = run.outcome.visits();
    let counted = Visit::counted(visits);
    let keep = analysis.machine.keep(analysis.machine.filter(&run.workload));
    let used = |visit: &Visit| match visit.dropped {
        Some(kind) if !counted.iter().any(|it| ptr::eq(*it, visit)) => {
            let is_it = |it: &Disturbance| it.0 == disturbance(kind).0;
            1 + DISTURBANCES.iter().position(is_it).unwrap_or_default()
        }
        _ if !keep(&visit.distances) => 1 + DISTURBANCES.len(),
        _ => 0,
    };
    visits.iter().map(used).collect()
}

fn title(rows: &WorkloadRows<'_>, run: &Run) -> String {
    let name = &rows.workload.name;
    let number = block_of_cohort(run.cohort()) + 1;
    let instance = match rows.rows.iter().filter(|it| it.variant == &run.variant).count() {
        0 | 1 => "",
        _ => " #1",
    };
    format!("{}{instance} under {name}, cohort {number} of {}", run.variant, rows.blocks)
}

/// The states by their numbers, and which one is compared.
fn state_words(rows: &WorkloadRows<'_>) -> Vec<String> {
    let states = &rows.states;
    let mut all: Vec<_> = states.compared.iter().chain(&states.others).collect();
    all.sort_by_key(|it| it.state);
    let compared = states.compared.as_ref().map(|it| it.state);
    let words = |it: &&StateShare| {
        let end = match (states.is_mixed, compared == Some(it.state)) {
            (true, _) => "",
            (false, true) => ", which is compared",
            (false, false) => ", which is excluded",
        };
        format!("a round trip between the CPUs of both sides takes {}{end}", distance(it))
    };
    all.iter().map(words).collect()
}

fn seconds(visit: &Visit, begin_ns: u64) -> f64 {
    visit.start_ns.saturating_sub(begin_ns) as f64 / 1e9
}

fn microseconds(visit: &Visit) -> Option<f64> {
    visit.cpu_ns_per_request().filter(|ns| *ns > 0.0).map(|ns| ns / 1000.0)
}

/// The median over the visits of a run that count.
fn median_us(run: &Run) -> Option<f64> {
    let counted = Visit::counted(run.outcome.visits());
    median(&counted.into_iter().filter_map(microseconds).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
