//! What each pair of hosts has measured of a result, a line for each.

use std::collections::BTreeMap;
use wirebench_schema::journal::{Counts, Journal, Measurement, Part, Run};

use crate::table_units::count;

/// A line for each pair of hosts; none if all cohorts were measured by one side.
pub(crate) fn lines(journal: &Journal) -> Vec<String> {
    let mut pairs: BTreeMap<&str, Vec<&Part>> = BTreeMap::new();
    for part in &journal.parts {
        pairs.entry(&part.pair).or_default().push(part);
    }
    pairs.into_iter().map(|(pair, parts)| line(journal, pair, &parts)).collect()
}

fn line(journal: &Journal, pair: &str, parts: &[&Part]) -> String {
    let measured: Vec<u32> =
        parts.iter().filter(|it| it.failure.is_none()).map(|it| it.block).collect();
    let machine = parts.iter().find_map(|it| it.machine.as_ref());
    let machine = machine.map_or_else(String::new, |it| format!(" ({it})"));
    let cohorts = count(measured.len(), "cohort");
    let mut line = format!("pair of hosts {pair}{machine}: {cohorts}");
    if let Some(share) = difference(journal, &measured) {
        line += &format!(", the two instances of the baseline differ by {:+.1} %", share * 100.0);
    }
    let failures: Vec<&str> = parts.iter().filter_map(|it| it.failure.as_deref()).collect();
    if let Some(last) = failures.last() {
        line += &format!("; failed {} times, last: {last}", failures.len());
    }
    line
}

/// How the second instance of a baseline differs from the first in these blocks: the mean over blocks and
/// workloads of the ratios of cost, or of time per request where the cost is not known.
fn difference(journal: &Journal, blocks: &[u32]) -> Option<f64> {
    let counted = |run: &&Run| run.counts == Counts::Yes && blocks.contains(&run.block);
    let cost = |run: &Run| run.outcome.measured().and_then(per_request);
    let mut logarithms = Vec::new();
    for first in journal.runs.iter().filter(counted).filter(|run| run.copy == 0) {
        let is_other = |run: &&Run| {
            run.copy == 1
                && journal.start.baselines.contains(&run.variant)
                && (run.block, &run.variant, &run.workload)
                    == (first.block, &first.variant, &first.workload)
        };
        let other = journal.runs.iter().find(is_other).and_then(cost);
        logarithms.extend(cost(first).zip(other).map(|(first, other)| (other / first).ln()));
    }
    let count = logarithms.len() as f64;
    (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp_m1())
}

fn per_request(measured: &Measurement) -> Option<f64> {
    let rate = measured.load.requests_per_second;
    measured.cost.cpu_ns_per_request.or_else(|| (rate > 0.0).then(|| 1.0 / rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{assert_golden, changed, journal, measured, run};

    #[test]
    fn each_pair_has_a_line_with_its_own_noise_and_failures() {
        let mut journal = journal();
        journal.runs.clear();
        let baseline = journal.start.baselines[0].to_string();
        for block in 0..3 {
            for (copy, cost) in [(0, 100.0), (1, 101.0)] {
                let outcome = changed(measured(1e5, 0, &[]), |it| {
                    it.cost.cpu_ns_per_request = Some(cost);
                });
                journal.runs.push(Run { copy, ..run(block, &baseline, outcome) });
            }
        }
        let part = |pair: &str, block, failure: Option<&str>| Part {
            pair: pair.to_owned(),
            machine: failure.is_none().then(|| "AMD EPYC".to_owned()),
            block,
            failure: failure.map(str::to_owned),
        };
        journal.parts = vec![
            part("lab1:lab2", 0, None),
            part("lab3:lab4", 1, Some("lab4: no sign of life for 5 s")),
            part("lab1:lab2", 1, None),
            part("lab3:lab4", 2, Some("lab4: no sign of life for 5 s")),
            part("lab5", 2, None),
        ];
        assert_golden("pairs.txt", &lines(&journal).join("\n"));
    }
}
