//! A comparison of two servers as text and as Markdown: their commands, their figures, the checks, what
//! must be known of the runs, and the verdict.

use maud::Markup;
use wirebench_schema::suite::Phase;

use super::{Ab, Figure, METRICS, Side, State, has};
use crate::{
    Report,
    analysis::{Metric, SideRatio, absent},
    compare::{text::gate_lines, words},
    flat::Flat,
    html::ratio::{self, Ratio},
    table::{
        Style, count,
        describe::describe,
        describe_versions, filled_table,
        headline::headline,
        page::Page,
        states::sentences,
        workload::{about_rate, instances_differ},
    },
    table_units::percent,
};

const READING_AID: [&str; 4] = [
    "{A}, {B}: medians over the cohorts or blocks, each with fresh instances of both servers",
    "{B}/{A}: estimate of the model over all instances and cohorts; ±b, (a..b): its 95 % interval",
    "higher, lower: the interval excludes 0 and is not inside the margin; same: the 90 % interval is inside \
     the margin; otherwise inconclusive",
    "the verdict uses the first metric, chosen before the run; the intervals of the other metrics hold \
     simultaneously",
];

impl Report for Ab<'_> {
    fn title(&self) -> String {
        "wirebench ab".to_owned()
    }

    fn details(&self) -> String {
        self.text(Style::Text)
    }

    fn markdown(&self) -> String {
        self.text(Style::Markdown)
    }

    fn pictures(&self) -> Markup {
        let [a, b] = self.sides.each_ref().map(|side| side.name);
        let ratio = |figure: &Figure| {
            let ratio = figure.ratio.as_ref()?;
            let cohorts = ratio.by_block.values().copied().collect();
            let name = words::title(figure.metric).to_owned();
            Some((name, Ratio::of(&ratio.estimate, cohorts), ratio.margin))
        };
        let rows: Vec<_> = self.figures.iter().filter_map(ratio).collect();
        ratio::table(&format!("{b}/{a}"), &rows)
    }

    fn json(&self) -> String {
        Ab::json(self)
    }

    fn flat(&self) -> Flat {
        super::flat::flat(self)
    }
}

impl Ab<'_> {
    /// Everything. The verdict is last in text, and first in Markdown.
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        match style {
            Style::Text => format!("{}\n{}\n", self.details(), self.sentence()),
            Style::Markdown => self.markdown(),
        }
    }

    /// Everything but the verdict, as text.
    #[must_use]
    pub fn details(&self) -> String {
        let mut page = Page::new(Style::Text);
        self.add_setting(&mut page);
        page.line("");
        page.table(&self.table(Style::Text), std::iter::empty());
        self.add_reading_aid(&mut page);
        if let Some(gate) = &self.gate {
            page.list("conditions", &gate_lines(gate));
        }
        format!("{}\n", page.text().trim_end())
    }

    fn markdown(&self) -> String {
        let mut page = Page::new(Style::Markdown);
        page.paragraph(&format!("**{}**", Style::Markdown.plain(&self.sentence())));
        if let Some(gate) = &self.gate {
            page.list("Conditions", &gate_lines(gate));
        }
        page.table(&self.table(Style::Markdown), std::iter::empty());
        page.raw("<details><summary>How it was measured</summary>");
        self.add_setting(&mut page);
        self.add_reading_aid(&mut page);
        page.raw("</details>");
        page.text()
    }

    fn add_setting(&self, page: &mut Page) {
        page.list("compared", &self.sides.iter().map(who).collect::<Vec<_>>());
        if Side::same_program(&self.sides) == Some(true) {
            page.paragraph(&self.same_program());
        }
        page.line(&headline(self.journal, std::slice::from_ref(&self.rows)));
        page.line(&describe(&self.rows.workload));
        for line in
            about_rate(&self.rows).into_iter().chain(self.unsaturated()).chain(self.checks())
        {
            page.line(&line);
        }
        if let Some(wanted) = self.absent {
            let phase = self.rows.workload.phase;
            let has = METRICS.map(|metric| has(phase, metric));
            let has: Vec<Metric> = has.into_iter().flatten().collect();
            page.line(&absent(phase, wanted, &has, self.metric));
        }
    }

    /// What follows from that.
    pub(super) fn same_program(&self) -> String {
        let [a, b] = self.sides.each_ref().map(|side| side.name);
        format!("{a} and {b} are the same program: any difference is noise")
    }

    fn add_reading_aid(&self, page: &mut Page) {
        let states = sentences(std::slice::from_ref(&self.rows));
        page.list("notes on the runs", &[states, self.remarks()].concat());
        let [a, b] = self.sides.each_ref().map(|side| side.name);
        let named = READING_AID.map(|line| line.replace("{A}", a).replace("{B}", b));
        page.list("legend", &named);
    }

    fn table(&self, style: Style) -> comfy_table::Table {
        let [a, b] = self.sides.each_ref().map(|side| {
            let doubtful = side.state != State::Valid || side.failed + side.invalid > 0;
            format!("{}{}", if doubtful { "! " } else { "" }, side.name)
        });
        let change = format!("{}/{}", self.sides[1].name, self.sides[0].name);
        let head = ["metric", &a, &b, &change, "margin", "outcome"];
        let figures = self.figures.iter().filter(|it| it.values.iter().any(Option::is_some));
        filled_table(style, &head, &figures.map(cells).collect::<Vec<_>>(), 1..5)
    }

    /// That a server was not saturated. Its CPU time per request then includes wake-ups, as at a rate,
    /// but at a rate of its own.
    pub(super) fn unsaturated(&self) -> Option<String> {
        let is_about = self.rows.workload.phase == Phase::Saturate && self.metric == Metric::Cpu;
        let busy = |side: &Side<'_>| {
            let rows = side.instances.iter().map(|row| &self.rows.rows[*row]);
            let waiting = rows.filter(|row| row.saturated() == Some(false));
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

    /// The checks of both sides by the figure of the verdict (A/A).
    fn checks(&self) -> Vec<String> {
        let ratio = self.main().and_then(|figure| figure.ratio.as_ref());
        let checks = ratio.into_iter().flat_map(|ratio| self.sides.iter().zip(ratio.checks));
        let differ = |(side, check): (&Side<'_>, _)| instances_differ(side.name, &check, "verdict");
        checks.filter_map(differ).collect()
    }

    /// What must be known of the runs of both sides.
    pub(super) fn remarks(&self) -> Vec<String> {
        let comparison = self.rows.compare(self.metric);
        let of_side = |side: &Side<'_>| {
            let remarks = super::side::remarks_of(self.journal, &self.rows, side, comparison);
            let name = side.name.to_owned();
            remarks.into_iter().map(move |remark| format!("{name}: {remark}"))
        };
        self.sides.iter().flat_map(of_side).collect()
    }
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

/// The figures of both sides and B over A, with its margin and outcome.
pub(super) fn cells(figure: &Figure) -> Vec<String> {
    let metric = figure.metric;
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| metric.show(it));
    let [a, b] = figure.medians().map(shown);
    let mut cells = vec![metric.title().to_owned(), a, b];
    cells.extend(figure.ratio.as_ref().map_or(["-", "-", ""].map(str::to_owned), of_ratio));
    cells
}

fn of_ratio(ratio: &SideRatio) -> [String; 3] {
    let estimate = words::estimate(ratio.reads, &ratio.estimate);
    [estimate, percent(ratio.margin), ratio.claim.name().to_owned()]
}
