//! From a journal to the rows of each workload: which runs belong together, and what role a row
//! has. Only runs that count are in a row. It compares nothing.

use schemars::JsonSchema;
use serde::Serialize;
use std::{
    array,
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};
use wirebench_judge::{
    standing::{Standing, standing, void_cohorts, voids},
    thresholds::BUSY,
};
use wirebench_schema::{
    entry::Class,
    id::VariantId,
    journal::{
        Bound, Counts, Described, FixedRate, Journal, Measurement, Reason, ReasonKind, Run, Start,
        WakeUpPrice, Weight,
    },
    suite::Workload,
};
use wirebench_stats::PlannedLook;

use super::{
    Comparison, Machine, MachineStates, Margins, Metric, MetricFacts, Sort,
    looks::looks,
    visits::{self, FromVisits, OF_ONE_STATE},
};
use crate::table_units::numbered;

#[derive(Clone, Debug)]
pub struct WorkloadRows<'a> {
    /// The workload, at its fixed rate if one was found for it.
    pub workload: Workload,
    /// The rate of a cost phase, and who cannot hold it.
    pub rate: Option<&'a FixedRate>,
    /// One for each variant, and for each copy of it, that was run, refused or too slow; in the
    /// order of the journal's head.
    pub rows: Vec<Row<'a>>,
    /// The row that the others are compared with; none without figures.
    pub baseline: Option<usize>,
    /// Blocks that count in which at least one run was made.
    pub blocks: u32,
    /// The looks at an experiment that may end when its answer is known.
    pub(super) looks: Vec<PlannedLook>,
    /// Below which differences rows count as the same.
    pub margins: Margins,
    /// The states of the machine in which it was measured.
    pub states: MachineStates,
    /// The order of the rows in reports, if it is not the usual one.
    pub(crate) sort: Option<Sort>,
    /// By metric, each made when it is first asked for.
    pub(super) comparisons: [OnceCell<Comparison>; Metric::ALL.len()],
}

/// The part of a row among the others of its load.
#[derive(Clone, Copy, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Baseline,
    /// The baseline's second instance, with which it is checked (A/A).
    SecondOfBaseline,
    /// A second instance of a baseline whose first has no figures in any block, because it failed each time or the
    /// suite was cut off. It is compared as an entrant, which files call it.
    #[schemars(skip)]
    #[serde(rename = "entrant")]
    SecondWithoutFirst,
    /// A variant, or a further copy of one.
    #[default]
    Entrant,
}

wirebench_schema::names! {
    Role: Baseline = "baseline", SecondOfBaseline = "second-of-baseline", SecondWithoutFirst = "entrant",
    Entrant = "entrant",
}

/// The runs of one variant, or of one copy of it, in one workload.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    pub variant: &'a VariantId,
    /// Which of several copies, from 0.
    pub copy: u32,
    pub role: Role,
    /// Absent for a command line of the user's.
    pub class: Option<Class>,
    /// The runs that count, in the order in which they were made.
    pub runs: Vec<&'a Run>,
    /// Runs of warm-up blocks. They are in no figure.
    pub warm_up: Vec<&'a Run>,
    /// The kinds of reasons that the user asked for: they hold for all rows alike and hide nothing.
    pub(crate) asked_for: Vec<ReasonKind>,
    /// Cost of waking for a request, if it was measured in both idle modes.
    pub(crate) waking: Option<WakeUpPrice>,
    /// What the visits of its runs say together, where they have some.
    pub(super) from_visits: FromVisits,
    /// Whether only visits of one state of the machine count.
    pub(super) in_one_state: bool,
}

/// The kinds of reasons that are conditions which the user asked for with an option. Only options skip checks or
/// leave CPUs unbound; one CPU for both sides may be all that there is.
pub(crate) fn asked_for(journal: &Journal) -> Vec<ReasonKind> {
    let words = &journal.start.command;
    let is_given = |option| words.iter().any(|word| word.split('=').next() == Some(option));
    let shares = is_given("--server-cpus") && is_given("--generator-cpus");
    let mut kinds = vec![ReasonKind::NotVerified, ReasonKind::NotPinned];
    kinds.extend(shares.then_some(ReasonKind::SharedCpu));
    kinds
}

/// True if two servers are builds of one program, so that other work on the machine meets both alike.
pub(crate) fn are_builds(start: &Start, sides: [&VariantId; 2]) -> bool {
    let is_given = |word: &String| word.split('=').next() == Some("--old");
    let of = |variant: &VariantId| start.variants.iter().find(|it| it.variant == *variant);
    let [one, other] = sides.map(|it| of(it)?.fingerprint.as_deref());
    let is_one_entry = sides[0].entry() == sides[1].entry();
    is_one_entry || (one.is_some() && one == other) || start.command.iter().any(is_given)
}

/// A sentence for each condition that the user asked for.
pub(crate) fn conditions(journal: &Journal) -> BTreeSet<String> {
    let asked_for = asked_for(journal);
    let reasons = journal.runs.iter().flat_map(|run| run.outcome.reasons());
    reasons.filter(|it| asked_for.contains(&it.kind)).map(Reason::brief).collect()
}

/// The rows of one workload, with visits of the state that is chosen.
pub(super) fn of_workload<'a>(machine: &Machine<'a>, workload: &Workload) -> WorkloadRows<'a> {
    let journal = machine.journal;
    let rate = journal.rates.iter().find(|rate| rate.workload == workload.name);
    let here = journal.runs.iter().filter(|run| run.workload == workload.name);
    let mut cells: BTreeMap<(&VariantId, u32), Vec<&Run>> = BTreeMap::new();
    for run in here.filter(|run| run.counts != Counts::Pilot) {
        cells.entry((&run.variant, run.copy)).or_default().push(run);
    }
    let counting = cells.values().flatten().filter(|run| run.counts == Counts::Yes);
    let blocks: BTreeSet<u32> = counting.map(|run| run.block).collect();
    let mut rows = Vec::new();
    for described in &journal.start.variants {
        let first = (&described.variant, 0);
        if !cells.contains_key(&first) && has_remarks(journal, described, workload, rate) {
            cells.insert(first, Vec::new());
        }
        let copies = cells.range(first..=(&described.variant, u32::MAX));
        rows.extend(copies.map(|((variant, copy), runs)| {
            let (runs, warm_up) = runs.iter().partition(|run| run.counts == Counts::Yes);
            Row {
                variant,
                copy: *copy,
                role: Role::Entrant,
                class: described.class,
                runs,
                warm_up,
                asked_for: asked_for(journal),
                waking: None,
                from_visits: FromVisits::new(),
                in_one_state: false,
            }
        }));
    }
    let baseline = journal.start.baselines.iter().find_map(|variant| {
        rows.iter().position(|row| row.copy == 0 && row.variant == variant && row.measured() > 0)
    });
    if let Some(index) = baseline {
        let variant = rows[index].variant;
        rows[index].role = Role::Baseline;
        for row in rows.iter_mut().filter(|row| row.variant == variant && row.copy == 1) {
            row.role = Role::SecondOfBaseline;
        }
    }
    let is_alone = |row: &Row<'_>| {
        let is_second = row.copy >= journal.start.copies && row.role == Role::Entrant;
        let is_first = |it: &Row<'_>| it.variant == row.variant && it.copy == 0;
        is_second && !rows.iter().any(|it| is_first(it) && it.measured() > 0)
    };
    let alone: Vec<usize> = (0..rows.len()).filter(|index| is_alone(&rows[*index])).collect();
    alone.into_iter().for_each(|index| rows[index].role = Role::SecondWithoutFirst);
    visits::fill(&mut rows, machine, machine.filter(&workload.name));
    let at_rate = rate.map(|rate| workload.at_rate(rate.requests_per_second));
    let blocks = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
    WorkloadRows {
        workload: match at_rate {
            // The workload has a rate that the suite gives, with its arrivals.
            Some(at_rate) if workload.needs_rate() => at_rate,
            _ => workload.clone(),
        },
        rate,
        rows,
        baseline,
        blocks,
        looks: looks(journal, blocks),
        margins: Margins::of_run(&journal.start),
        states: machine.of_workload(&workload.name),
        sort: None,
        comparisons: array::from_fn(|_| OnceCell::new()),
    }
}

/// Whether the report mentions a variant that has no runs.
fn has_remarks(
    journal: &Journal,
    described: &Described,
    workload: &Workload,
    rate: Option<&FixedRate>,
) -> bool {
    let variant = &described.variant;
    let is_too_slow =
        rate.is_some_and(|rate| rate.too_slow.iter().any(|(slow, _)| slow == variant));
    let was_checked = journal.verified.iter().any(|verified| {
        verified.variant == *variant
            && verified.scenario == workload.scenario
            && !(verified.failed.is_empty() && verified.deviates.is_empty())
    });
    is_too_slow || was_checked
}

impl WorkloadRows<'_> {
    /// The baseline's second instance.
    pub(crate) fn second(&self) -> Option<usize> {
        self.rows.iter().position(|row| row.role == Role::SecondOfBaseline)
    }

    /// All rows but the baseline's second instance.
    pub(super) fn firsts(&self) -> Vec<usize> {
        let second = self.second();
        (0..self.rows.len()).filter(|row| Some(*row) != second).collect()
    }

    /// The value of each row in each cohort.
    pub(super) fn values(&self, metric: Metric) -> Vec<BTreeMap<u32, f64>> {
        self.rows.iter().map(|row| row.values(metric)).collect()
    }

    /// The row of the first copy of a variant.
    pub(crate) fn first_of(&self, variant: &VariantId) -> Option<usize> {
        self.rows.iter().position(|row| row.variant == variant && row.copy == 0)
    }
}

impl Role {
    /// Whether something is claimed of its ratio to the baseline.
    #[must_use]
    pub const fn is_compared(self) -> bool {
        matches!(self, Self::Entrant | Self::SecondWithoutFirst)
    }
}

impl Row<'_> {
    /// Its name in tables: the variant, and which run of it.
    #[must_use]
    pub fn name(&self) -> String {
        match (self.role, self.copy) {
            (Role::Baseline, _) => format!("{} (baseline)", self.variant),
            (Role::SecondOfBaseline, _) => format!("{} (A/A)", self.variant),
            (Role::SecondWithoutFirst, _) => format!("{} (second run)", self.variant),
            (Role::Entrant, copy) => numbered(self.variant, copy),
        }
    }

    /// The value of `metric` in each cohort that has one. Void runs have none if the others suffice.
    #[must_use]
    pub fn values(&self, metric: Metric) -> BTreeMap<u32, f64> {
        let of_run = |run: &&Run| Some((run.cohort(), metric.of(&run.outcome)?));
        let mut values: BTreeMap<u32, f64> = BTreeMap::new();
        if !(self.in_one_state && OF_ONE_STATE.contains(&metric)) {
            values.extend(self.runs.iter().filter_map(of_run));
        }
        values.extend(self.from_visits.get(&metric).into_iter().flatten());
        let void = void_cohorts(&self.runs, metric.is_tail(), &self.asked_for);
        values.retain(|cohort, _| !void.contains(cohort));
        values
    }

    /// The median of `metric` over the blocks.
    #[must_use]
    pub fn median(&self, metric: Metric) -> Option<f64> {
        wirebench_stats::median(&self.values(metric).into_values().collect::<Vec<_>>())
    }

    /// Blocks in which it has figures. A baseline has a run in each group of a block.
    pub(super) fn blocks_measured(&self) -> usize {
        let measured = self.runs.iter().filter(|run| run.outcome.has_figures());
        measured.map(|run| run.block).collect::<BTreeSet<u32>>().len()
    }

    #[must_use]
    pub fn measured(&self) -> usize {
        self.runs.len() - self.failed()
    }

    #[must_use]
    pub fn failed(&self) -> usize {
        self.runs.iter().filter(|run| !run.outcome.has_figures()).count()
    }

    /// The use that its figures of a metric allow.
    #[must_use]
    pub fn standing(&self, metric: Metric) -> Standing {
        Self::standing_of(&[self], metric)
    }

    /// The standing of several instances together.
    pub(crate) fn standing_of(rows: &[&Self], metric: Metric) -> Standing {
        let runs: Vec<&Run> = rows.iter().flat_map(|row| &row.runs).copied().collect();
        let asked = rows.first().map_or(&[][..], |row| &row.asked_for);
        standing(&runs, metric.is_tail(), asked)
    }

    /// Runs with figures that are void.
    #[must_use]
    pub fn invalid(&self) -> usize {
        self.runs.iter().filter(|run| self.is_void(run, false)).count()
    }

    /// Runs of which only the tail of the latencies is void.
    #[must_use]
    pub fn tail_invalid(&self) -> usize {
        self.runs.iter().filter(|run| self.is_void(run, true)).count() - self.invalid()
    }

    fn is_void(&self, run: &Run, in_tail: bool) -> bool {
        run.outcome.reasons().iter().any(|it| voids(it, in_tail, &self.asked_for))
    }

    /// Requests and connections that failed, over all runs.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.measurements().map(|measurement| measurement.load.errors.total()).sum()
    }

    /// Each side that bounded a run.
    #[must_use]
    pub fn bound(&self) -> BTreeSet<Bound> {
        self.measurements().map(|measurement| measurement.bound).collect()
    }

    /// Whether the load generator was at its limit in at least half of the runs with figures. One
    /// run of several is an exception and leaves the ratio as it is.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        let is_limited = |measurement: &&Measurement| {
            measurement.bound == Bound::Generator
                || measurement.reasons.iter().any(|reason| reason.weight == Weight::Limit)
        };
        let limited = self.measurements().filter(is_limited).count();
        limited > 0 && 2 * limited >= self.measurements().count()
    }

    /// Whether the server was busy for at least 95 % of the time in most runs. Otherwise something
    /// else bounded its throughput, and it was not saturated. None without runs under load in which it
    /// could have had its CPU all the time.
    #[must_use]
    pub fn saturated(&self) -> Option<bool> {
        let withheld = |reason: &Reason| {
            reason.weight == Weight::Invalid
                && matches!(reason.kind, ReasonKind::Throttled | ReasonKind::SharedCpu)
        };
        let had_cpu = |it: &&Measurement| !it.reasons.iter().any(withheld);
        let busy = |it: &&Measurement| it.cost.cpu_share >= BUSY;
        let all = self.measurements().filter(had_cpu).count();
        let busy = self.measurements().filter(had_cpu).filter(busy).count();
        (all > 0).then_some(2 * busy > all)
    }

    /// The figures of the runs that put a load on the server.
    pub fn measurements(&self) -> impl Iterator<Item = &Measurement> {
        self.runs.iter().filter_map(|run| run.outcome.measured())
    }

    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.runs.iter().flat_map(|run| run.outcome.reasons())
    }
}
