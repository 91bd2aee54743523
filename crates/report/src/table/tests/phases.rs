//! The tables of the phases beside the saturated one.

use super::*;
use crate::fixtures::{COST, assert_golden, cost, journal_of, silence};
use wirebench_schema::journal::{FixedRate, Journal};

fn cost_journal() -> Journal {
    let mut journal = journal_of(COST);
    journal.start.workloads.truncate(1);
    add(&mut journal, "hello", ("c/epoll", 0), noisy(4000.0, 1), cost);
    add(&mut journal, "hello", ("c/epoll", 1), noisy(4000.0, 5), cost);
    add(&mut journal, "hello", ("go/net", 0), noisy(4400.0, 5), cost);
    journal
}

/// Whether the head of a table has `upper` above `lower`, both with the same end.
fn has_head(text: &str, upper: &str, lower: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.trim_start().starts_with("rank ")).unwrap();
    let ends = |line: &str, word: &str| -> Vec<usize> {
        line.match_indices(word).map(|(start, _)| start + word.len()).collect()
    };
    ends(lines[at - 1], upper).iter().any(|end| ends(lines[at], lower).contains(end))
}

#[test]
fn a_table_of_the_cost_tells_its_rate_who_chose_it_and_who_cannot_hold_it() {
    let mut journal = cost_journal();
    let slow = ("own/server".parse().unwrap(), "it reached 900 requests/s".to_owned());
    journal.rates.push(FixedRate {
        workload: "hello".into(),
        requests_per_second: 40_000,
        reason: "half of what go/net reached".into(),
        reached: Vec::new(),
        too_slow: vec![slow],
    });
    let text = report(&journal, Style::Text);
    assert_golden("details/a-table-of-the-cost-tells-its-rate-who.txt", &text);
    assert!(has_head(&text, "CPU us/", "request"), "{text}");
    assert!(has_head(&text, "switches", "/request"), "{text}");
    let markdown = report(&journal, Style::Markdown);
    assert!(markdown.contains("| CPU us/request |"), "{markdown}");
    let is_narrow = |line: &str| !line.starts_with('|') || line.chars().count() <= 100;
    assert!(markdown.lines().all(is_narrow), "{markdown}");
    assert!(!markdown.contains("switches/request"), "not enough room: {markdown}");
}

#[test]
fn a_rate_that_was_not_found_is_reported() {
    let mut journal = cost_journal();
    journal.runs.clear();
    let text = report(&journal, Style::Text);
    assert_golden("details/a-rate-that-was-not-found-is-reported.txt", &text);
}

#[test]
fn a_table_of_silence_has_memory_and_cpu_time() {
    let mut journal = journal_of(COST);
    journal.start.workloads.remove(0);
    let name = journal.start.workloads[0].name.clone();
    add(&mut journal, &name, ("c/epoll", 0), noisy(100.0, 1), silence);
    add(&mut journal, &name, ("go/net", 0), noisy(4096.0, 5), silence);
    let text = report(&journal, Style::Text);
    assert_golden("details/a-table-of-silence-has-memory-and-cpu-time.txt", &text);
    assert!(has_head(&text, "memory", "/connection"), "{text}");
    assert!(has_head(&text, "memory", "at rest"), "{text}");
    assert!(report(&journal, Style::Markdown).contains("| memory at rest |"));
    let text = report_by(&journal, Style::Text, Some(Metric::LatencyP99));
    assert_golden("details/a-table-of-silence-has-memory-and-cpu-time-2.txt", &text);
    let text = report_by(&journal, Style::Text, Some(Metric::Cpu));
    assert_golden("details/a-table-of-silence-has-memory-and-cpu-time-3.txt", &text);
}

#[test]
fn no_figure_of_a_load_stands_below_a_name_of_silence() {
    let cost = cost_journal();
    let saturate = crate::fixtures::pair(0.9);
    for metric in Metric::of_phase(wirebench_schema::suite::Phase::Idle) {
        for (journal, phase) in [(&cost, "cost"), (&saturate, "saturate")] {
            let text = report_by(journal, Style::Text, Some(*metric));
            let absent = format!(
                "the phase {phase} has no {metric}, but throughput, cpu, p50, p99, p999, switches, \
                 memory: compared by server CPU us/request\n"
            );
            assert!(text.contains(&absent), "{text}");
            assert_eq!(text.matches(metric.name()).count(), 1, "{text}");
            let usual = report(journal, Style::Text);
            assert_eq!(text.replace(&absent, ""), usual);
        }
    }
}
