//! Another view of a run: another baseline and fewer rows. The journal is changed as if the run had been made so, and
//! analysed afterwards, so that every interval, rank and form follows from it.

use std::collections::BTreeSet;
use wirebench_schema::{
    id::VariantId,
    journal::{Described, Journal, LeftOut},
    suggest,
};

use crate::suites::{AB, TUNE};

/// Why a row is missing.
const EXCLUDED: &str = "excluded by --exclude";

#[derive(Clone, Debug, Default)]
pub struct JournalFilter<'a> {
    pub baseline: Option<&'a str>,
    /// Names or patterns of servers.
    pub exclude: &'a [String],
}

/// Whether a person means this server by a name or pattern.
#[must_use]
pub fn is_meant(variant: &VariantId, name: &str) -> bool {
    variant.is_called(name) || variant.is_among(name)
}

/// The error for the baseline among the excluded servers.
#[must_use]
pub fn excludes_baseline(baseline: &VariantId) -> String {
    format!("--exclude matches the baseline {baseline}: choose another one with --baseline")
}

impl JournalFilter<'_> {
    /// The journal as it shows it.
    ///
    /// # Errors
    ///
    /// A name that means no server of the run, or more than one, and a result that has no baseline.
    pub fn of(&self, mut journal: Journal) -> Result<Journal, String> {
        if self.baseline.is_none() && self.exclude.is_empty() {
            return Ok(journal);
        }
        let verb = journal.start.suite.as_str();
        if [AB, TUNE].contains(&verb) {
            return Err(format!(
                "--baseline and --exclude apply to results of `wirebench run`, and this is one of `wirebench {verb}`"
            ));
        }
        if let Some(name) = self.baseline {
            let baseline = meant(&journal, name)?;
            compare_with(&mut journal, baseline);
        }
        for name in self.exclude {
            exclude(&mut journal, name)?;
        }
        Ok(journal)
    }
}

/// The one server that `name` means. The title of a side of `ab` begins with what the user wrote for it.
pub(crate) fn meant(journal: &Journal, name: &str) -> Result<VariantId, String> {
    let known = || journal.start.variants.iter();
    let exact = known().find(|it| it.variant.to_string() == name);
    let is_written = |title: &str| {
        let rest = title.trim_start_matches('`').strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',', '`']))
    };
    let is_ab = journal.start.suite == AB;
    let is_meant = |it: &&Described| it.variant.is_called(name) || is_ab && is_written(&it.title);
    let meant: Vec<&Described> = known().filter(is_meant).collect();
    match (exact, meant.as_slice()) {
        (Some(one), _) => Ok(one.variant.clone()),
        (None, [one]) => Ok(one.variant.clone()),
        (None, []) => Err(unknown(journal, name)),
        (None, several) => {
            let names: Vec<String> = several.iter().map(|it| it.variant.to_string()).collect();
            Err(format!("`{name}` matches several servers: name one of {}", names.join(", ")))
        }
    }
}

fn unknown(journal: &Journal, name: &str) -> String {
    let known: Vec<String> =
        journal.start.variants.iter().map(|it| it.variant.to_string()).collect();
    suggest::unknown("server", name, known.iter().map(String::as_str))
}

/// Makes `baseline` the row that ratios refer to. A second instance of the former one would be a row of its own.
fn compare_with(journal: &mut Journal, baseline: VariantId) {
    let copies = journal.start.copies;
    let own =
        journal.runs.iter().filter(|run| run.variant == baseline && run.outcome.has_figures());
    let workloads: BTreeSet<String> = own.map(|run| run.workload.clone()).collect();
    journal.runs.retain(|run| {
        run.copy < copies || run.variant == baseline || !workloads.contains(&run.workload)
    });
    journal.start.baselines.retain(|it| *it != baseline);
    journal.start.baselines.insert(0, baseline);
}

fn exclude(journal: &mut Journal, name: &str) -> Result<(), String> {
    let start = &mut journal.start;
    let is_out = |variant: &VariantId| is_meant(variant, name);
    let measured = |it: &&VariantId| journal.runs.iter().any(|run| run.variant == **it);
    if let Some(baseline) = start.baselines.iter().find(measured).filter(|it| is_out(it)) {
        return Err(excludes_baseline(baseline));
    }
    let out: Vec<VariantId> =
        start.variants.iter().map(|it| it.variant.clone()).filter(is_out).collect();
    if out.is_empty() {
        return Err(unknown(journal, name));
    }
    start.variants.retain(|it| !is_out(&it.variant));
    start.baselines.retain(|it| !is_out(it));
    journal.runs.retain(|it| !is_out(&it.variant));
    journal.verified.retain(|it| !is_out(&it.variant));
    journal.unavailable.retain(|it| !is_out(&it.variant));
    for rate in &mut journal.rates {
        rate.too_slow.retain(|(variant, _)| !is_out(variant));
    }
    let reason = || EXCLUDED.to_owned();
    let out = out.iter().map(|it| LeftOut { what: it.to_string(), reason: reason() });
    start.left_out.extend(out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        analysis::{Analysis, Metric, Role},
        fixtures::{NOISE, changed, journal, measured, run},
    };

    /// Three servers, the first of which is the baseline and has two instances.
    fn made() -> Journal {
        let mut journal = journal();
        (journal.start.blocks, journal.start.baseline_copies) = (6, 2);
        let rows = [("c/epoll", 0, 100.0), ("c/epoll", 1, 100.0), ("go/net", 0, 200.0)];
        for (row, (name, copy, cost)) in
            rows.into_iter().chain([("own/server", 0, 300.0)]).enumerate()
        {
            for (block, noise) in (0..).zip(NOISE) {
                let noise = if (block as usize + row).is_multiple_of(2) { noise } else { 1.0 };
                let outcome = changed(measured(1e5, 0, &[]), |it| {
                    it.cost.cpu_ns_per_request = Some(cost * noise);
                });
                journal
                    .runs
                    .push(wirebench_schema::journal::Run { copy, ..run(block, name, outcome) });
            }
        }
        journal
    }

    /// The ratio of each row, with its interval.
    fn ratios(journal: &Journal) -> Vec<(String, Option<[f64; 3]>)> {
        let analysis = Analysis::of(journal);
        let rows = &analysis.workloads[0];
        let comparison = rows.compare(Metric::Cpu);
        let of = |ratio: &crate::analysis::JudgedRatio| {
            let interval = ratio.estimate.interval.unwrap();
            [ratio.estimate.value, interval.low, interval.high]
        };
        let ratios = rows.rows.iter().zip(&comparison.ratios);
        ratios.map(|(row, it)| (row.name(), it.as_ref().map(of))).collect()
    }

    #[test]
    fn ratios_to_another_baseline_are_those_of_a_run_that_had_it() {
        let view = JournalFilter { baseline: Some("go/net"), exclude: &[] };
        let shown = view.of(made()).unwrap();
        let mut other = made();
        other.start.baselines = vec!["go/net".parse().unwrap()];
        other.runs.retain(|run| run.copy == 0);
        assert_eq!(ratios(&shown), ratios(&other));
        let found = ratios(&shown);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["c/epoll", "go/net (baseline)", "own/server"]);
        for (index, truth) in [(0, 0.5), (2, 1.5)] {
            let [ratio, low, high] = found[index].1.unwrap();
            assert!(low < truth && truth < high && low < ratio && ratio < high, "{found:?}");
        }
        let back = JournalFilter { baseline: Some("c/epoll"), exclude: &[] }.of(made()).unwrap();
        assert_eq!(ratios(&back), ratios(&made()));
    }

    #[test]
    fn excluded_rows_are_gone_and_said_to_be() {
        let exclude = ["own/*".to_owned()];
        let shown = JournalFilter { baseline: None, exclude: &exclude }.of(made()).unwrap();
        let analysis = Analysis::of(&shown);
        let roles: Vec<Role> = analysis.workloads[0].rows.iter().map(|row| row.role).collect();
        assert_eq!(roles, [Role::Baseline, Role::SecondOfBaseline, Role::Entrant]);
        let left_out = &shown.start.left_out[0];
        assert_eq!((left_out.what.as_str(), left_out.reason.as_str()), ("own/server", EXCLUDED));
        // There is one row less to be wrong about.
        let width = |rows: &[(String, Option<[f64; 3]>)]| rows[2].1.map(|it| it[2] / it[1]);
        assert!(width(&ratios(&shown)) < width(&ratios(&made())));
    }

    #[test]
    fn names_that_cannot_be_meant_are_refused() {
        let refused = |baseline, exclude: &[&str]| {
            let exclude: Vec<String> = exclude.iter().map(|it| (*it).to_owned()).collect();
            JournalFilter { baseline, exclude: &exclude }.of(made()).unwrap_err()
        };
        assert!(refused(Some("go/nett"), &[]).contains("go/net"));
        assert!(refused(None, &["rust/*"]).starts_with("unknown server `rust/*`"));
        assert_eq!(
            refused(None, &["c/"]),
            "--exclude matches the baseline c/epoll: choose another one with --baseline"
        );
        let mut ab = made();
        ab.start.suite = AB.to_owned();
        let view = JournalFilter { baseline: Some("go/net"), exclude: &[] };
        assert!(view.of(ab).unwrap_err().ends_with("this is one of `wirebench ab`"));
    }
}
