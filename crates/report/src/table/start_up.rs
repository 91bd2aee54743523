//! The section on start-up times: how long fresh instances took until they accepted connections.
//!
//! Loads over the same instances have the same times, which are shown once.

use super::{
    columns::Column,
    workload::{about_check, table_of},
};
use crate::{
    analysis::{Metric, WorkloadRows},
    document::Block,
    table_units::percent,
};

const COLUMNS: [Column; 4] =
    [Column::Entry, Column::Value(Metric::Ready), Column::Ratio, Column::Verdict];

/// A section for each set of instances that wirebench has started.
pub(super) fn sections(workloads: &[WorkloadRows<'_>]) -> Vec<Block> {
    let mut seen: Vec<Vec<_>> = Vec::new();
    let mut sections = Vec::new();
    for rows in workloads {
        let times: Vec<_> =
            rows.rows.iter().map(|row| (row.name(), row.values(Metric::Ready))).collect();
        if times.iter().all(|(_, values)| values.is_empty()) || seen.contains(&times) {
            continue;
        }
        let margin = rows.margins.of(Metric::Ready, rows.workload.phase);
        let about = format!(
            "from the start of an instance until it accepts connections, once per cohort; margin {}",
            percent(margin)
        );
        let check = about_check(rows, rows.compare(Metric::Ready));
        let mut blocks: Vec<Block> = [about].into_iter().chain(check).map(Block::line).collect();
        blocks.push(Block::Table(table_of(rows, Metric::Ready, &COLUMNS, |_| Vec::new())));
        sections.push(Block::Section(format!("{}: start-up", rows.workload.name), blocks));
        seen.push(times);
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Details, Report,
        analysis::{Analysis, Sort},
        document::{Document, Paint},
        fixtures::{NOISE, alter_all, pair},
        screen::Facts,
    };
    use wirebench_schema::journal::{Instance, Journal, Outcome, Run};

    /// Two loads over the same instances, of which `go/net` takes twice as long to start.
    fn journal(cohorts: usize) -> Journal {
        let mut journal = pair(1.0);
        journal.runs.retain(|run| (run.block as usize) < cohorts);
        for run in &mut journal.runs {
            let noise = NOISE[(run.block as usize + run.copy as usize) % NOISE.len()];
            let ns = if run.variant.to_string() == "go/net" { 8e6 } else { 4e6 };
            if let Outcome::Measured(it) = &mut run.outcome {
                let ready_ns = (ns * noise).round() as u64;
                it.instance = Some(Instance { ready_ns, ..Instance::default() });
            }
        }
        let mut second = journal.start.workloads[0].clone();
        second.name = "again".to_owned();
        let again = |run: &Run| Run { workload: "again".to_owned(), ..run.clone() };
        let runs: Vec<_> = journal.runs.iter().map(again).collect();
        journal.runs.extend(runs);
        journal.start.workloads.push(second);
        journal
    }

    fn shown(journal: &Journal, sort: Option<Sort>) -> String {
        let analysis = Analysis::of(journal).sorted(sort);
        let document = Document { blocks: sections(&analysis.workloads), ..Document::default() };
        document.text(Paint::FILE)
    }

    #[test]
    fn instances_are_compared_once_and_with_a_verdict() {
        expect_test::expect![[r#"
            hello: start-up
            from the start of an instance until it accepts connections, once per cohort; margin 10 %
            A/A: two instances of c/epoll differ by +0.0 % ±0.6 with 99 % confidence: passed
            entry               start-up           ready ratio  verdict
            c/epoll (baseline)   4.00 ms                  1.00  -
            c/epoll (A/A)        4.00 ms  1.000 (0.994..1.006)  -
            go/net               8.00 ms  2.000 (1.994..2.006)  longer
        "#]]
        .assert_eq(&shown(&journal(6), None));
        let by_name = shown(&journal(6), Some("name".parse().unwrap()));
        assert_eq!(by_name, shown(&journal(6), Some("ready".parse().unwrap())));
    }

    #[test]
    fn services_and_processes_of_their_own_have_no_start_up_time() {
        let mut service = journal(6);
        alter_all(&mut service, |it| it.instance = Some(Instance::default()));
        for journal in [service, pair(1.0)] {
            assert!(sections(&Analysis::of(&journal).workloads).is_empty());
        }
    }

    #[test]
    fn a_table_by_start_up_time_needs_no_section_of_it() {
        let journal = journal(6);
        let analysis = Analysis::of(&journal);
        let details = |metric| Details { analysis: &analysis, metric, facts: Facts::default() };
        let section = "hello: start-up";
        assert!(details(None).details().contains(section));
        let text = details(Some(Metric::Ready)).details();
        assert!(!text.contains(section) && text.contains("longer"), "{text}");
    }
}
