//! The layout of the first screen: the loads of a scenario next to each other, and servers as rows. All facts are those
//! of the analysis.

use wirebench_schema::{
    load::{Arrivals, LoadModel, RateCurve},
    suite::{Phase, Workload},
};

use super::{
    cells::{Column, Outcome},
    figures::{BOUND, BOUND_MEANING, HIDDEN, VAGUE, VAGUE_MEANING, WAKING_MEANING},
    row::{is_listed, name},
};
use crate::{
    analysis::{Analysis, Comparison, JudgedRatio, Metric, MetricFacts, Role, Row, WorkloadRows},
    load_words::{describe_model, describe_payload, describe_shape},
    order::grouped,
    shown::{Shown, shown},
    table::headline::ended,
};

/// A result, as far as the first screen shows it.
pub(super) struct Model<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    /// The parts of the table, in the order of the suite.
    pub(super) blocks: Vec<Block<'a>>,
    /// Why the plan was not completed.
    pub(super) ended: Option<&'static str>,
}

/// Rows with the figures of one scenario, under one shape of load.
pub(super) struct Block<'a> {
    /// The scenario, and the shape where several blocks have the same scenario.
    pub(super) title: String,
    /// The rows' names, the baseline first, then the best first.
    pub(super) rows: Vec<String>,
    /// Loads of the same scenario and shape: saturated, and at each rate.
    pub(super) groups: Vec<Group<'a>>,
}

pub(super) struct Group<'a> {
    /// The load, such as `saturated` or `at 40k/s`.
    pub(super) title: String,
    pub(super) load: &'a WorkloadRows<'a>,
    /// Its columns, with a figure in at least one row.
    pub(super) columns: Vec<Column>,
    /// Where the load has each row of the block; none where the variant does not take part.
    pub(super) places: Vec<Option<usize>>,
}

impl<'a> Model<'a> {
    pub(super) fn of(analysis: &'a Analysis<'a>) -> Self {
        let ended = match ended(analysis.journal) {
            "complete" | "precise" => None,
            end => Some(end),
        };
        Self { analysis, blocks: blocks(&analysis.workloads), ended }
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = &Group<'a>> {
        self.blocks.iter().flat_map(|block| &block.groups)
    }

    /// The meanings of the marks in its cells; `hidden` is that of what is not shown.
    pub(super) fn marks(&self, hidden: String) -> Vec<(&'static str, String)> {
        let rows = self.groups().flat_map(|it| (0..it.places.len()).map(move |row| (it, row)));
        let texts: Vec<String> =
            rows.flat_map(|(group, row)| group.cells(row)).map(|it| it.text).collect();
        let has = |is_meant: fn(&String) -> bool| texts.iter().any(is_meant);
        let has_waking = self.groups().any(|group| group.columns.contains(&Column::Waking));
        let marks = [
            (has(|it| it.starts_with(['<', '>'])), BOUND, BOUND_MEANING.to_owned()),
            (has(|it| it.starts_with('~')), VAGUE, VAGUE_MEANING.to_owned()),
            (has_waking, "", WAKING_MEANING.to_owned()),
            (has(|it| it == HIDDEN), HIDDEN, hidden),
        ];
        marks.into_iter().filter(|it| it.0).map(|(_, mark, meaning)| (mark, meaning)).collect()
    }
}

fn blocks<'a>(workloads: &'a [WorkloadRows<'a>]) -> Vec<Block<'a>> {
    let measured = workloads.iter().filter(|it| !it.rows.is_empty());
    let shapes = grouped(measured.map(|it| (shape(&it.workload), it)));
    let block = |(shape, loads): &(String, Vec<&'a WorkloadRows<'a>>)| {
        let Workload { scenario, phase, .. } = loads[0].workload;
        let same = shapes.iter().filter(|(_, it)| it[0].workload.scenario == scenario).count();
        let has_shape = same > 1 || phase == Phase::Idle;
        let (rows, titles) = (order(loads), loads.iter().map(|it| title(it)).collect::<Vec<_>>());
        let group = |(load, title): (&&'a WorkloadRows<'a>, &String)| {
            let is_twice = titles.iter().filter(|it| *it == title).count() > 1;
            let name = if is_twice { format!(" ({})", load.workload.name) } else { String::new() };
            Group::of(format!("{title}{name}"), load, &rows)
        };
        Block {
            title: if has_shape { shape.clone() } else { scenario.to_string() },
            groups: loads.iter().zip(&titles).map(group).collect(),
            rows,
        }
    };
    shapes.iter().map(block).collect()
}

/// The scenario and the shape of a load. Loads of one shape are next to each other.
fn shape(workload: &Workload) -> String {
    let Workload { scenario, connections, .. } = workload;
    if workload.phase == Phase::Idle {
        return format!("{scenario}, {connections} idle connections");
    }
    let (shape, payload) = (describe_shape(workload), describe_payload(workload));
    format!("{scenario}, {connections} connections{shape}{payload}")
}

/// The names of all rows: the baseline first, then by the first load's figure, rows without one last.
fn order(loads: &[&WorkloadRows<'_>]) -> Vec<String> {
    let mut found: Vec<(bool, (f64, String), String)> = Vec::new();
    for load in loads {
        let metric = Metric::primary(load.workload.phase);
        for row in load.rows.iter().filter(|row| is_listed(row)) {
            let name = name(row);
            if !found.iter().any(|(.., known)| *known == name) {
                let usual = || (row.median(metric).unwrap_or(f64::INFINITY), String::new());
                let key = load.sort_key(row).unwrap_or_else(usual);
                found.push((row.role != Role::Baseline, key, name));
            }
        }
    }
    found.sort_by(|a, b| {
        a.0.cmp(&b.0).then(a.1.0.total_cmp(&b.1.0)).then_with(|| a.1.1.cmp(&b.1.1))
    });
    found.into_iter().map(|(.., name)| name).collect()
}

/// The load among the others of its scenario.
pub(super) fn title(rows: &WorkloadRows<'_>) -> String {
    let workload = &rows.workload;
    match (workload.phase, &workload.model) {
        (Phase::Idle, _) => "idle".to_owned(),
        (Phase::Saturate, LoadModel::Closed) => "saturated".to_owned(),
        (_, LoadModel::Rate { curve: RateCurve::Constant(requests), arrivals, .. }) => {
            let requests = requests.short();
            let random = if *arrivals == Arrivals::Poisson { ", Poisson" } else { "" };
            format!("at {requests}/s{random}")
        }
        (Phase::Cost, LoadModel::Closed) => "at a rate".to_owned(),
        (_, model) => describe_model(model),
    }
}

impl<'a> Group<'a> {
    fn of(title: String, load: &'a WorkloadRows<'a>, names: &[String]) -> Self {
        let place =
            |of: &String| load.rows.iter().position(|row| is_listed(row) && name(row) == *of);
        let places = names.iter().map(place).collect();
        let mut group = Self { title, load, columns: Vec::new(), places };
        let columns = Column::of(&load.workload).into_iter();
        group.columns = columns.filter(|it| group.has(*it)).collect();
        group
    }

    /// What its rows are compared by.
    pub(super) fn metric(&self) -> Metric {
        Metric::primary(self.load.workload.phase)
    }

    pub(super) fn comparison(&self) -> &'a Comparison {
        self.load.compare(self.metric())
    }

    /// The row that ratios refer to, if it has figures.
    pub(super) fn baseline(&self) -> Option<String> {
        Some(self.load.rows[self.load.baseline?].variant.to_string())
    }

    pub(super) fn row(&self, row: usize) -> Option<&'a Row<'a>> {
        Some(&self.load.rows[self.places[row]?])
    }

    /// A row, if the page has figures of it.
    pub(super) fn with_figures(&self, row: usize) -> Option<&'a Row<'a>> {
        self.row(row).filter(|row| shown(row) != Shown::Nothing)
    }

    /// Its ratio to the baseline, where the two may be compared.
    pub(super) fn ratio(&self, row: usize) -> Option<&'a JudgedRatio> {
        self.outcome(row).filter(|it| *it != Outcome::Withheld)?;
        self.comparison().ratios[self.places[row]?].as_ref()
    }

    /// The head of a column, with the baseline's name if it has at most this many characters.
    pub(super) fn head(&self, column: Column, most: usize) -> String {
        let figure = match column {
            Column::Outcome => {
                let named = self.baseline().map(|name| format!("vs {name}"));
                let named = named.filter(|head| head.chars().count() <= most);
                return named.unwrap_or("vs baseline".to_owned());
            }
            Column::Waking => "waking",
            Column::Figure(Metric::Throughput) => "req/s",
            Column::Figure(Metric::Cpu) => "us",
            Column::Figure(Metric::MemoryPerConnection) => "memory",
            Column::Figure(Metric::MemoryAtRest) => "at rest",
            Column::Figure(metric) => metric.title(),
        };
        figure.to_owned()
    }
}
