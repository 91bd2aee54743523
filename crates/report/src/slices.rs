//! The slices of one server in one cohort: when each was measured, its CPU time per request, and whether it counts. A
//! picture is drawn from it. Nothing is compared here.

use std::ptr;
use wirebench_schema::{
    id::VariantId,
    journal::{ReasonKind, Run, Slice, block_of_cohort},
};
use wirebench_stats::{median, range};

use crate::{
    analysis::{Analysis, Metric, StateShare, WorkloadRows},
    chart::Axis,
    filter::meant,
    table::states::distance,
    table_units::count,
};

/// How to read a drawing of slices.
pub(crate) const READING: &str = "Each large mark is a slice of load on this server, in the order in which they ran; \
     between two of them the other instances of the cohort have their turns. The dashed line is the value of the \
     cohort: that of the slices that count, without what all instances of a round share, so that it may lie beside \
     the marks. Small dots are the slices of the other instances, each scaled to the \
     median of this one, and at the edge if it is beyond: a movement that all share comes from the machine, and is \
     removed by comparing within rounds. Only clocks decide which slices count, never the result.";

/// The least share of the figures by which the axis reaches to both sides: noise must not look large.
const LEAST_REACH: f64 = 0.1;
/// The length of the axis as a factor of what the slices of the server need.
const SPACE: f64 = 1.2;

/// Something for which a slice is dropped: its kind, its class in the style sheet, and its name.
pub(crate) type Disturbance = (ReasonKind, &'static str, &'static str);

pub(crate) const DISTURBANCES: [Disturbance; 6] = [
    (ReasonKind::Stolen, "stolen", "the hypervisor took CPU time"),
    (ReasonKind::Neighbour, "neighbour", "other work used the CPUs"),
    (ReasonKind::GeneratorStall, "stall", "the load generator was descheduled"),
    (ReasonKind::GeneratorsApart, "apart", "the load generators began too far apart"),
    (ReasonKind::ParkedBusy, "parked", "other servers of the cohort used CPU time"),
    (ReasonKind::Throttled, "throttled", "the CPU was throttled"),
];

/// The disturbance of this kind. Kinds that a slice cannot have today count as other programs.
pub(crate) fn disturbance(kind: ReasonKind) -> &'static Disturbance {
    DISTURBANCES.iter().find(|it| it.0 == kind).unwrap_or(&DISTURBANCES[1])
}

/// The meaning of small dots.
pub(crate) const OTHERS: &str = "slices of the other instances, scaled";

/// The use of a slice for the value of its cohort.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SliceUse {
    Counted,
    Dropped(&'static Disturbance),
    /// Excluded, because it was measured in a state of the machine that is not compared.
    OtherState,
}

impl SliceUse {
    /// The meaning of the mark, with a number of slices.
    pub(crate) fn words(self, number: usize) -> String {
        let slices = count(number, "slice");
        match self {
            Self::Counted => format!("{slices} counted"),
            Self::Dropped(disturbance) => format!("{slices} dropped: {}", disturbance.2),
            Self::OtherState => format!("{slices} excluded: the machine was in another state"),
        }
    }
}

/// The slices of one server in words, for each load.
///
/// # Errors
///
/// A name that means no server of the run, or more than one, and a server without slices.
pub fn text(analysis: &Analysis<'_>, name: &str) -> Result<String, String> {
    let server = meant(analysis.journal, name)?;
    let of = |rows| CohortSlices::of(analysis, rows, &server);
    let told: Vec<String> = analysis.workloads.iter().filter_map(of).map(|it| it.text()).collect();
    if told.is_empty() {
        return Err(format!(
            "{server} has no slices with a CPU time: only cohorts of `wirebench run` and `ab` measure in slices"
        ));
    }
    Ok(format!("{}\nPicture over time: report.html\n", told.join("\n")))
}

/// The slices of one instance in a cohort and under one load.
#[derive(Clone, Debug)]
pub(crate) struct CohortSlices {
    /// The server, the load and the cohort.
    pub(crate) title: String,
    /// Seconds since the first slice of the cohort, microseconds of CPU time per request, and the use of each.
    pub(crate) slices: Vec<((f64, f64), SliceUse)>,
    /// Slices of the other instances that count, scaled to the median of this one.
    pub(crate) others: Vec<(f64, f64)>,
    /// The value of the instance in the cohort, in microseconds.
    pub(crate) value: Option<f64>,
    /// The state of the machine during each slice of all instances, and none where it changed; empty of a machine
    /// with one state.
    pub(crate) states: Vec<(f64, Option<usize>)>,
    /// Each state in words.
    pub(crate) state_words: Vec<String>,
}

impl CohortSlices {
    /// The slices of the first instance of a server, in the cohort in which most of them are excluded. None without
    /// slices.
    pub(crate) fn of(
        analysis: &Analysis<'_>,
        rows: &WorkloadRows<'_>,
        variant: &VariantId,
    ) -> Option<Self> {
        let row = &rows.rows[rows.first_of(variant)?];
        let excluded = |run: &Run| {
            uses(analysis, run).iter().filter(|it| !matches!(it, SliceUse::Counted)).count()
        };
        // Of several the first.
        let run = row.runs.iter().rev().filter(|run| median_us(run).is_some());
        let run = run.max_by_key(|run| excluded(run))?;
        let all = rows.rows.iter().flat_map(|it| &it.runs).copied();
        let cohort: Vec<&Run> = all.filter(|it| it.cohort() == run.cohort()).collect();
        let all = || cohort.iter().flat_map(|run| run.outcome.slices());
        let begin = all().map(|it| it.start_ns).min()?;
        let at = |slice: &Slice| Some((seconds(slice, begin), microseconds(slice)?));
        let own = run.outcome.slices().iter().zip(uses(analysis, run));
        let slices = own.filter_map(|(slice, used)| Some((at(slice)?, used)));
        let middle = median_us(run)?;
        let others = cohort.iter().filter(|it| !ptr::eq(**it, *run)).flat_map(|other| {
            let scale = median_us(other).map_or(0.0, |it| middle / it);
            let counted = Slice::counted(other.outcome.slices()).into_iter().filter_map(at);
            counted.map(move |(seconds, us)| (seconds, us * scale))
        });
        let machine = &analysis.machine.states;
        let state = |it: &Slice| (seconds(it, begin), machine.during(it.distances.readings()));
        let states = if machine.count() > 1 { all().map(state).collect() } else { Vec::new() };
        Some(Self {
            title: title(rows, run),
            slices: slices.collect(),
            others: others.filter(|(_, us)| *us > 0.0).collect(),
            value: row.values(Metric::Cpu).get(&run.cohort()).map(|ns| ns / 1000.0),
            states,
            state_words: state_words(rows),
        })
    }

    /// Time and CPU time per request, as wide as the slices of the server need.
    pub(crate) fn axes(&self) -> (Axis, Axis) {
        let seconds = self.slices.iter().map(|it| it.0.0).chain(self.others.iter().map(|it| it.0));
        let show = |value: f64| format!("{}", (value * 100.0).round() / 100.0);
        let x = Axis::linear("time in the cohort, s", seconds.fold(0.0, f64::max), show);
        let values: Vec<f64> = self.slices.iter().map(|it| it.0.1).chain(self.value).collect();
        let (low, high) = range(&values).unwrap_or((0.0, 1.0));
        let (middle, reach) = (f64::midpoint(low, high), (high - low) * SPACE / 2.0);
        let reach = reach.max(middle * LEAST_REACH);
        (x, Axis::span("CPU time per request, us", (middle - reach, middle + reach), show))
    }

    /// The meaning of the dashed line.
    pub(crate) fn value_words(&self) -> String {
        let none = "no dashed line: the server has no value in this cohort".to_owned();
        self.value.map_or(none, |it| format!("value of the cohort: {it:.2} us"))
    }

    fn text(&self) -> String {
        let uses = self.uses().map(|(used, slices)| used.words(slices.len()));
        let states = self.by_state().map(|(_, words, begun)| {
            format!("{} of all instances: {words}", count(begun.len(), "slice"))
        });
        let lines = uses.chain([self.value_words()]).chain(states);
        lines.fold(self.title.clone() + "\n", |text, line| text + "  " + &line + "\n")
    }

    /// Each use that occurs, with its slices.
    pub(crate) fn uses(&self) -> impl Iterator<Item = (SliceUse, Vec<(f64, f64)>)> {
        let dropped = DISTURBANCES.iter().map(SliceUse::Dropped);
        let all = [SliceUse::Counted].into_iter().chain(dropped).chain([SliceUse::OtherState]);
        let of = |used: SliceUse| {
            let is_it = |it: &&((f64, f64), SliceUse)| it.1 == used;
            (used, self.slices.iter().filter(is_it).map(|it| it.0).collect::<Vec<_>>())
        };
        all.map(of).filter(|(_, slices)| !slices.is_empty())
    }

    /// Each state of the machine that occurs, or none for a change of it, in words, and when slices began in it.
    pub(crate) fn by_state(&self) -> impl Iterator<Item = (Option<usize>, &str, Vec<f64>)> {
        let states = self.state_words.iter().enumerate();
        let states = states.map(|(state, words)| (Some(state), words.as_str()));
        let begun = |(state, words)| {
            let is_it = |it: &&(f64, Option<usize>)| it.1 == state;
            (state, words, self.states.iter().filter(is_it).map(|it| it.0).collect::<Vec<_>>())
        };
        let all = states.chain([(None, "the distance changed during a slice")]);
        all.map(begun).filter(|(.., begun)| !begun.is_empty())
    }
}

/// The use of each slice of a run.
fn uses(analysis: &Analysis<'_>, run: &Run) -> Vec<SliceUse> {
    let slices = run.outcome.slices();
    let counted = Slice::counted(slices);
    let keep = analysis.machine.keep(analysis.machine.filter(&run.workload));
    let used = |slice: &Slice| match slice.dropped {
        Some(kind) if !counted.iter().any(|it| ptr::eq(*it, slice)) => {
            SliceUse::Dropped(disturbance(kind))
        }
        _ if !keep(&slice.distances) => SliceUse::OtherState,
        _ => SliceUse::Counted,
    };
    slices.iter().map(used).collect()
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

fn seconds(slice: &Slice, begin_ns: u64) -> f64 {
    slice.start_ns.saturating_sub(begin_ns) as f64 / 1e9
}

fn microseconds(slice: &Slice) -> Option<f64> {
    slice.cpu_ns_per_request().filter(|ns| *ns > 0.0).map(|ns| ns / 1000.0)
}

/// The median over the slices of a run that count.
fn median_us(run: &Run) -> Option<f64> {
    let counted = Slice::counted(run.outcome.slices());
    median(&counted.into_iter().filter_map(microseconds).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
