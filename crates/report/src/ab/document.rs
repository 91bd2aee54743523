//! A comparison of two servers as a document: their commands, their figures, the checks, what must be
//! known of the runs, and the verdict. The first screen has the usual figures, at most two findings, a
//! line for each condition that the user asked for, and the verdict.

use wirebench_schema::suite::Phase;

use super::{Ab, METRICS, Side, Verdict, has, view::ratio};
use crate::{
    Report,
    analysis::{Analysis, Claim, Metric, MetricFacts, conditions},
    by_name,
    chart::{
        Chart, ChartKind,
        ratio::{LEGEND, RINGS},
    },
    document::{Block, Column, Document, Paint, Table},
    figure_text::{ABSENT, change, or_absent, title},
    gates::words::{conditions_block, gate_lines},
    idle_words,
    load_words::describe,
    origin::{Origin, describe_versions},
    screen::html::servers,
    services,
    shown::{SIGNS, sign},
    table::{
        headline::headline,
        states::sentences,
        workload::{about_rate, absent, instances_differ},
    },
    table_units::{count, percent},
    view::{Ratio, ResultView},
    why,
    wrap::{WIDTH, shorten, wrap},
};

const FINDINGS: usize = 2;
/// The figures of the first screen besides that of the verdict, where they are valid.
const FIGURES: [Metric; 4] = [Metric::Cpu, Metric::Throughput, Metric::P50, Metric::P99];

const READING_AID: [&str; 5] = [
    "{A}, {B}: medians over the cohorts or blocks, each with fresh instances of both servers",
    "{B}/{A}: estimate of the model over all instances and cohorts; ±b, (a..b): its 95 % interval",
    "higher, lower: the interval excludes 0 and is not inside the margin; same: the 90 % interval is inside \
     the margin; otherwise inconclusive",
    "the verdict uses the first metric, chosen before the run; the intervals of the other metrics hold \
     simultaneously",
    SIGNS,
];

impl Report for Ab<'_> {
    fn document(&self) -> Document {
        let doubtful =
            |side: &Side<'_>| !side.standing.is_compared() || side.failed + side.invalid > 0;
        let mark = |side: &Side<'_>| if doubtful(side) { "! " } else { "" };
        let [a, b] = self.sides.each_ref().map(|side| format!("{}{}", mark(side), side.name));
        let figures = self.metrics().filter(|it| self.figures(*it).iter().any(Option::is_some));
        let [of_a, of_b] = self.names();
        let ratio = Column::right(format!("{of_b}/{of_a}"));
        let more = vec![ratio, Column::right("margin"), Column::left("outcome")];
        let table = self.table(["metric", &a, &b], more, figures);
        let mut blocks = vec![
            Block::Origin(vec![Origin::of(self.journal)]),
            Block::Details(self.setting()),
            Block::Table(table),
            Block::Charts(self.ratios().into_iter().collect()),
            Block::Page(vec![servers(&Analysis::of(self.journal))]),
            Block::Details(by_name::sections(std::slice::from_ref(&self.rows))),
            Block::Details(self.reading_aid()),
            conditions_block(self.gate.as_ref()),
        ];
        blocks.extend(why::sections(self.journal, std::slice::from_ref(&self.rows)));
        blocks.push(Block::Headline(self.sentence(), None));
        Document { title: "wirebench ab".to_owned(), blocks }
    }

    fn view(&self) -> ResultView<'_> {
        super::view::view(self)
    }
}

impl Ab<'_> {
    /// The first screen: figures and findings, where more is, and the verdict last.
    #[must_use]
    pub fn page(&self, place: Option<String>) -> String {
        let [a, b] = self.names();
        let gate = self.gate.as_ref().map(gate_lines).unwrap_or_default();
        let mut findings: Vec<String> = gate.iter().map(|it| shortened(it, WIDTH)).collect();
        findings.extend(self.findings().into_iter().take(FINDINGS));
        let services = services::notes(self.journal);
        findings.extend(services.iter().flat_map(|text| wrap(text, WIDTH, "  ")));
        let conditions = conditions(self.journal).into_iter();
        findings.extend(conditions.map(|text| shortened(&format!("all runs: {text}"), WIDTH)));
        let whys = why::sentences(self.journal, std::slice::from_ref(&self.rows));
        findings.extend(whys.iter().flat_map(|it| wrap(&format!("why: {it}"), WIDTH, "     ")));
        findings.extend(self.detectable());
        findings.extend(self.waking());
        let has_sign = self.metrics_shown().any(|it| self.signs(it) != [""; 2]);
        findings.extend(has_sign.then(|| SIGNS.to_owned()));
        findings.extend(place);
        let ratio = Column::left(format!("{b}/{a}"));
        let start = &self.journal.start;
        let idle = idle_words::mode(start.idle).map(str::to_owned);
        let blocks = vec![
            Block::Lines(start.labels.words().into_iter().chain(idle).collect()),
            Block::Table(self.table(["", a, b], vec![ratio], self.metrics_shown())),
            Block::Lines(findings),
            Block::Headline(self.sentence(), None),
        ];
        Document { blocks, ..Document::default() }.brief(Paint::FILE)
    }

    fn setting(&self) -> Vec<Block> {
        let mut lines = vec![
            headline(self.journal, std::slice::from_ref(&self.rows)),
            describe(&self.rows.workload),
        ];
        lines.extend(about_rate(&self.rows));
        lines.extend(services::notes(self.journal));
        lines.extend(self.unsaturated());
        lines.extend(self.detectable());
        lines.extend(self.checks());
        if let Some(wanted) = self.absent {
            let phase = self.rows.workload.phase;
            let has: Vec<Metric> =
                METRICS.iter().filter_map(|metric| has(phase, *metric)).collect();
            lines.push(absent(phase, wanted, &has, self.metric));
        }
        vec![
            Block::list("compared", self.sides.iter().map(who).collect()),
            Block::Lines(self.same_program().into_iter().collect()),
            Block::Lines(lines),
        ]
    }

    fn same_program(&self) -> Option<String> {
        let [a, b] = self.names();
        let text = || format!("{a} and {b} are the same program: any difference is noise");
        (Side::same_program(&self.sides)?).then(text)
    }

    fn reading_aid(&self) -> Vec<Block> {
        let states = sentences(std::slice::from_ref(&self.rows));
        let [a, b] = self.names();
        let named = READING_AID.map(|line| line.replace("{A}", a).replace("{B}", b));
        vec![
            Block::list("notes on the runs", [states, self.remarks()].concat()),
            Block::list("legend", named.to_vec()),
        ]
    }

    /// Figures of both sides, their ratio, and more columns of it.
    fn table(
        &self,
        [metric, a, b]: [&str; 3],
        more: Vec<Column>,
        metrics: impl Iterator<Item = Metric>,
    ) -> Table {
        let figures = vec![Column::left(metric), Column::right(a), Column::right(b)];
        let length = figures.len() + more.len();
        let row = |metric| self.cells_of(metric).into_iter().take(length).map(Into::into).collect();
        Table::new([figures, more].concat(), metrics.map(row))
    }

    fn ratios(&self) -> Option<Chart> {
        let [a, b] = self.names();
        let row = |it| Some((title(it).to_owned(), ratio(&self.cells, it)?.judged.clone()));
        let ratios: Vec<_> = self.metrics().filter_map(row).collect();
        let chart = |ratios| Chart::new(format!("ratios {b}/{a}"), ChartKind::Forest(ratios));
        (!ratios.is_empty()).then(|| chart(ratios).explained(format!("{LEGEND}{RINGS}")))
    }

    /// Facts that must be known of the runs: the most important first.
    fn findings(&self) -> Vec<String> {
        let states = sentences(std::slice::from_ref(&self.rows));
        let findings = self.unsaturated().into_iter().chain(self.same_program()).chain(states);
        let mut findings: Vec<String> = findings.map(|it| shortened(&it, WIDTH)).collect();
        let remarks = self.remarks().len();
        if remarks > 0 {
            findings.push(format!("{} on the runs: --explain", count(remarks, "note")));
        }
        findings
    }

    /// The figure of the verdict and the usual others.
    fn metrics_shown(&self) -> impl Iterator<Item = Metric> {
        let is_void = self.verdict == Verdict::NotValid;
        self.metrics().filter(move |it| match *it == self.metric {
            true => !is_void && self.figures(*it).iter().all(Option::is_some),
            false => FIGURES.contains(it) && ratio(&self.cells, *it).is_some_and(|it| it.valid),
        })
    }

    /// Behind the value of either side, as in `SIGNS`.
    fn signs(&self, metric: Metric) -> [&'static str; 2] {
        self.sides.each_ref().map(|side| {
            let signs = self.instances(side).map(|row| sign(row, metric));
            signs.filter(|it| !it.is_empty()).min().unwrap_or_default()
        })
    }

    /// The figures of both sides and B over A, with its margin and outcome.
    fn cells_of(&self, metric: Metric) -> Vec<String> {
        let figures = self.figures(metric).into_iter().zip(self.signs(metric));
        let figures =
            figures.map(|(figure, sign)| or_absent(figure.map(|it| metric.show(it.value) + sign)));
        let title = [metric.title().to_owned()].into_iter();
        let ratio = ratio(&self.cells, metric).map(|Ratio { judged: it, .. }| {
            [change(it), percent(it.margin), it.claim.map_or("", Claim::name).to_owned()]
        });
        title
            .chain(figures)
            .chain(ratio.unwrap_or([ABSENT, ABSENT, ""].map(str::to_owned)))
            .collect()
    }

    /// That a server was not saturated. Its CPU time per request then includes wake-ups, as at a rate,
    /// but at a rate of its own.
    fn unsaturated(&self) -> Option<String> {
        let is_about = self.rows.workload.phase == Phase::Saturate && self.metric == Metric::Cpu;
        let busy = |side: &Side<'_>| {
            let waiting = self.instances(side).filter(|row| row.saturated() == Some(false));
            let shares: Vec<f64> =
                waiting.flat_map(|row| row.measurements().map(|it| it.cost.cpu_share)).collect();
            // Rounded down, so that a server below the limit is not shown at it.
            let percent = (wirebench_stats::median(&shares)? * 100.0).floor();
            Some(format!("{} (busy {percent} %)", side.name))
        };
        let names: Vec<String> = self.sides.iter().filter_map(busy).collect();
        let names = names.join(", ");
        let text = || {
            format!("not saturated: {names}; CPU per request includes wake-ups; consider --rate")
        };
        (is_about && !names.is_empty()).then(text)
    }

    /// The difference that such a comparison finds, if it is valid.
    fn detectable(&self) -> Option<String> {
        if self.verdict == Verdict::NotValid {
            return None;
        }
        let share = self.ratio()?.judged.detectable?;
        Some(format!("9 of 10 such runs find a difference of {}", percent(share)))
    }

    /// The checks of both sides by the figure of the verdict (A/A).
    fn checks(&self) -> Vec<String> {
        let ratio = self.ratio().into_iter();
        let checks = ratio.flat_map(|ratio| self.sides.iter().zip(&ratio.judged.checks));
        let differ = |(side, check): (&Side<'_>, _)| instances_differ(side.name, check, "verdict");
        checks.filter_map(differ).collect()
    }

    /// The notes on the runs of both sides.
    fn remarks(&self) -> Vec<String> {
        let sides = self.sides.iter().zip(&self.cells);
        let notes = sides.flat_map(|(side, cells)| cells[0].notes.iter().map(move |it| (side, it)));
        notes.map(|(side, note)| format!("{}: {note}", side.name)).collect()
    }
}

/// A line of at most this width.
fn shortened(text: &str, width: usize) -> String {
    shorten(text, 1, width, "").concat()
}

/// `A: './server {port}', 14 runs`.
fn who(side: &Side<'_>) -> String {
    let Side { name, described, runs, failed, invalid, .. } = side;
    let mut text = format!("{name}: {}, {}", described.title, count(runs, "run"));
    for (number, what) in [(failed, "failed"), (invalid, "not valid")] {
        if *number > 0 {
            text += &format!(", {number} {what}");
        }
    }
    let versions = describe_versions(described);
    if !versions.is_empty() {
        text += &format!(" [{}]", versions.join(", "));
    }
    text
}
