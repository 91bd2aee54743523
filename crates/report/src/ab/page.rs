//! What `ab` prints: the usual figures, at most two findings, a line for each condition that the
//! user asked for, and its sentence. The details have everything else.

use super::{Ab, Figure, Side, flat::is_valid, text::cells};
use crate::{
    analysis::{Metric, conditions},
    compare::text::gate_lines,
    table::{count, states::sentences},
    wrap::{WIDTH, wrap},
};

const FINDINGS: usize = 2;
/// The figures besides that of the verdict, where they are valid.
const FIGURES: [Metric; 4] =
    [Metric::Cpu, Metric::Throughput, Metric::LatencyP50, Metric::LatencyP99];

impl Ab<'_> {
    /// The figures and findings, and the sentence last.
    #[must_use]
    pub fn page(&self) -> String {
        format!("{}{}\n", self.lines(), self.sentence())
    }

    /// The figures and findings, and the conditions that the user asked for.
    #[must_use]
    pub fn lines(&self) -> String {
        let mut findings = self.findings();
        findings.truncate(FINDINGS);
        let conditions = conditions(self.journal).into_iter();
        let conditions = conditions.map(|text| shortened(&format!("all runs: {text}"), WIDTH));
        let lines = [self.figures_shown(), findings, conditions.collect()].concat();
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The result of the conditions, and what must be known of the runs: the most important first.
    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let gate = self.gate.as_ref().map(gate_lines).unwrap_or_default();
        if let Some((first, others)) = gate.split_first() {
            let more = match others.len() {
                0 => String::new(),
                more => format!(" (and {more} more: --explain)"),
            };
            findings.push(format!("{}{more}", shortened(first, WIDTH - more.len())));
        }
        findings.extend(self.unsaturated().map(|text| shortened(&text, WIDTH)));
        if Side::same_program(&self.sides) == Some(true) {
            findings.push(self.same_program());
        }
        findings.extend(
            sentences(std::slice::from_ref(&self.rows)).iter().map(|it| shortened(it, WIDTH)),
        );
        let remarks = self.remarks().len();
        if remarks > 0 {
            findings.push(format!("{} on the runs: --explain", count(remarks, "note")));
        }
        findings
    }

    /// A head, the figure of the verdict and the usual others.
    fn figures_shown(&self) -> Vec<String> {
        let has_figures = |figure: &&Figure| figure.values.iter().all(Option::is_some);
        let main = self.figures.first().into_iter().filter(has_figures);
        let is_shown = |figure: &&Figure| {
            let valid = [0, 1].map(|index| is_valid(self, index, figure.metric));
            FIGURES.contains(&figure.metric) && figure.ratio.is_some() && valid == [true; 2]
        };
        let others = self.figures.iter().skip(1).filter(is_shown);
        let [a, b] = [self.sides[0].name, self.sides[1].name];
        let head = ["", a, b, &format!("{b}/{a}")].map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(main.chain(others).map(cells)).collect();
        if rows.len() == 1 { Vec::new() } else { aligned(&rows) }
    }
}

/// The first column to the left, the next two to the right, the last as it is.
fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let [title, a, b] = [0, 1, 2].map(|column| width(column).unwrap_or(0));
    let line = |row: &Vec<String>| {
        let (name, of_a, of_b, change) = (&row[0], &row[1], &row[2], &row[3]);
        format!("{name:<title$}  {of_a:>a$}  {of_b:>b$}  {change}").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A line of at most this width.
fn shortened(text: &str, width: usize) -> String {
    let mut lines = wrap(text, width - " ...".len(), "").into_iter();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} ...") } else { first }
}
