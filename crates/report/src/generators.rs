//! What each of several load generators did in a result, a line for each host.

use std::collections::BTreeMap;
use wirebench_schema::{
    journal::{Counts, Journal, Outcome},
    load::GeneratorPart,
};
use wirebench_stats::median;

use crate::table_units::{latency, thousands};

/// A line for each host from which load came; none if it came from the machine of the servers.
pub(crate) fn lines(journal: &Journal) -> Vec<String> {
    let mut hosts: BTreeMap<&str, Vec<&GeneratorPart>> = BTreeMap::new();
    for run in journal.runs.iter().filter(|run| run.counts == Counts::Yes) {
        let Outcome::Measured(measured) = &run.outcome else { continue };
        for part in &measured.load.generators {
            hosts.entry(&part.host).or_default().push(part);
        }
    }
    hosts.into_iter().map(|(host, parts)| line(host, &parts)).collect()
}

fn line(host: &str, parts: &[&GeneratorPart]) -> String {
    let most = |of: fn(&GeneratorPart) -> u64| parts.iter().map(|it| of(it)).max().unwrap_or(0);
    let rates: Vec<f64> = parts.iter().map(|it| it.requests_per_second).collect();
    let busiest = parts.iter().map(|it| it.cpus_used).fold(0.0, f64::max);
    let threads = parts.iter().map(|it| it.threads).max().unwrap_or(0);
    let saturated = parts.iter().filter(|it| it.is_saturated()).count();
    let limit = match saturated {
        0 => String::new(),
        _ => format!(", saturated in {saturated} of {} runs", parts.len()),
    };
    format!(
        "load generator on {host}: {} requests/s in the median run, at most {busiest:.2} CPUs for {threads} \
         threads{limit}; began within {} of the first, ±{} by the clocks",
        thousands(median(&rates).unwrap_or(0.0)),
        latency(most(|it| it.start_delay_ns) as f64),
        latency(most(|it| it.clock_error_ns) as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{assert_golden, changed, journal, measured, run};

    #[test]
    fn each_host_has_a_line_with_its_worst_figures() {
        let part = |host: &str, delay_ns: u64, cpus_used: f64| GeneratorPart {
            host: host.to_owned(),
            requests_per_second: 5e4,
            threads: 2,
            cpus_used,
            start_delay_ns: delay_ns,
            clock_error_ns: 90_000,
            ..GeneratorPart::default()
        };
        let mut journal = journal();
        for (block, cpus) in [(0, 1.2), (1, 1.95)] {
            let outcome = changed(measured(1e5, 0, &[]), |it| {
                it.load.generators = vec![part("lab2", 0, cpus), part("lab3", 400_000, 0.5)];
            });
            journal.runs.push(run(block, "c/epoll", outcome));
        }
        assert_golden("generators.txt", &lines(&journal).join("\n"));
        journal.runs.clear();
        assert_eq!(lines(&journal), Vec::<String>::new());
    }
}
