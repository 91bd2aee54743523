//! A comparison of two servers as text and as Markdown: who they are, their figures, what must be
//! known of the runs, and the verdict.

use comfy_table::CellAlignment;
use wirebench_stats::Floor;

use super::{Ab, Figure, METRICS, Ratio, Side, State, has};
use crate::{
    analysis::{Claim, Metric, absent},
    compare::{markdown::escape, text::gate_lines, words},
    table::{
        Style, describe::describe, headline::headline, new_table, page::Page, workload::about_rate,
    },
};

const READING_AID: [&str; 4] = [
    "each pair of blocks is run in the order A B B A or B A A B; B/A is made within each block",
    "(a..b) is the 95 % interval of B/A, [a..b] the range of too few blocks",
    "noise: how far apart two runs of the same server appear, at least 1 %; nothing below it is \
     called a difference",
    "the verdict is about the first figure, which was chosen before; for the others it is harder, \
     because they are many",
];

impl Ab<'_> {
    /// Everything. The verdict stands last in text, and first in Markdown.
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
        page.paragraph(&format!("**{}**", escape(&self.sentence())));
        if let Some(gate) = &self.gate {
            let lines: Vec<String> = gate_lines(gate).iter().map(|line| escape(line)).collect();
            page.list("Conditions", &lines);
        }
        page.table(&self.table(Style::Markdown), std::iter::empty());
        page.paragraph("<details><summary>How it was measured</summary>");
        self.add_setting(&mut page);
        self.add_reading_aid(&mut page);
        page.line("</details>");
        page.text()
    }

    /// Who was compared, and how.
    fn add_setting(&self, page: &mut Page) {
        page.list("compared", &self.sides.iter().map(who).collect::<Vec<_>>());
        if Side::same_program(&self.sides) == Some(true) {
            page.paragraph("both are the same program: what differs is noise");
        }
        page.line(&headline(self.journal, std::slice::from_ref(&self.rows)));
        page.line(&describe(&self.rows.workload));
        for line in about_rate(&self.rows) {
            page.line(&line);
        }
        if let Some(wanted) = self.absent {
            let phase = self.rows.workload.phase;
            let has = METRICS.map(|metric| has(phase, metric));
            let has: Vec<Metric> = has.into_iter().flatten().collect();
            page.line(&absent(phase, wanted, &has, self.metric));
        }
    }

    fn add_reading_aid(&self, page: &mut Page) {
        page.list("what must be known of the runs", &self.remarks());
        page.list("how to read this", &READING_AID.map(str::to_owned));
    }

    fn table(&self, style: Style) -> comfy_table::Table {
        let [a, b] = self.sides.each_ref().map(|side| {
            let doubtful = side.state != State::Valid || side.failed + side.invalid > 0;
            format!("{}{}", if doubtful { "! " } else { "" }, side.name)
        });
        let change = format!("{}/{}", self.sides[1].name, self.sides[0].name);
        let head = ["figure", &a, &b, &change, "noise", "verdict"];
        let mut table = new_table(style, &head);
        for column in table.column_iter_mut().skip(1).take(4) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        for figure in self.figures.iter().filter(|it| it.medians.iter().any(Option::is_some)) {
            table.add_row(cells(figure));
        }
        table
    }

    /// What must be known of the runs of both sides.
    pub(super) fn remarks(&self) -> Vec<String> {
        let comparison = self.rows.compare_to_baseline(self.metric);
        let of_side = |index: usize| {
            let remarks = super::side::remarks_of(self.journal, &self.rows, index, &comparison);
            let name = self.sides[index].name;
            remarks.into_iter().map(move |remark| format!("{name}: {remark}"))
        };
        [0, 1].into_iter().flat_map(of_side).collect()
    }
}

/// `A: './server {port}', 14 runs`.
fn who(side: &Side<'_>) -> String {
    let Side { name, described, runs, failed, invalid, .. } = side;
    let plural = if *runs == 1 { "" } else { "s" };
    let mut text = format!("{name}: {}, {runs} run{plural}", described.title);
    for (number, what) in [(failed, "failed"), (invalid, "not valid")] {
        if *number > 0 {
            text += &format!(", {number} {what}");
        }
    }
    let versions: Vec<String> =
        described.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    if !versions.is_empty() {
        text += &format!(" [{}]", versions.join(", "));
    }
    text
}

fn cells(figure: &Figure) -> Vec<String> {
    let metric = figure.metric;
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| metric.show(it));
    let [a, b] = figure.medians.map(shown);
    let mut cells = vec![metric.title().to_owned(), a, b];
    cells.extend(match &figure.ratio {
        Some(ratio) => of_ratio(ratio, metric),
        None => ["-", "-", ""].map(str::to_owned),
    });
    cells
}

fn of_ratio(ratio: &Ratio, metric: Metric) -> [String; 3] {
    let sign = ratio.reads.sign();
    let estimate = match ratio.estimate.interval {
        Some(_) => words::estimate(&ratio.estimate),
        None => {
            let [low, high] = [ratio.least, ratio.most].map(words::percent);
            let low = low.trim_end_matches(" %");
            format!(
                "{} [{low}..{}]",
                words::percent(ratio.estimate.value),
                high.trim_end_matches(" %")
            )
        }
    };
    let verdict = match ratio.claim {
        Claim::CannotTell if ratio.estimate.interval.is_none() => "too few blocks".to_owned(),
        claim => claim.words(metric),
    };
    [format!("{sign}{estimate}"), noise(&ratio.floor), verdict]
}

/// A floor; beyond a certain size nobody needs its digits.
fn noise(floor: &Floor) -> String {
    if floor.relative < 10.0 { words::floor(floor) } else { "> 1000 %".to_owned() }
}
