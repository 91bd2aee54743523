//! The line before a comparison that says which difference it finds, by the scatter of the last comparison of the same
//! programs under the same load on this machine.

use std::path::{Path, PathBuf};
use wirebench_experiment::{
    experiment::{Experiment, Prepared},
    journal,
};
use wirebench_report::{
    ab::{SUITE, outlook},
    analysis::{Metric, MetricFacts},
    table_units::percent,
};
use wirebench_schema::{environment::Weight, journal::Journal};

use crate::results::{latest, stored};

/// Earlier results that are looked at, the newest first.
const MOST_RESULTS: usize = 20;

/// The line; none where the end is fixed before the run, and without such a comparison.
pub(super) fn line(experiment: &Experiment, prepared: &Prepared) -> Option<String> {
    let Experiment { goal, suite, metric, margin, project, .. } = experiment;
    let budget = goal.budget.filter(|_| goal.until_decided)?;
    let phase = suite.workloads.first()?.phase;
    let metric = metric.as_deref().and_then(|name| Metric::read(name).ok());
    let metric = metric.unwrap_or(Metric::primary(phase));
    let block_time = experiment.forecast(&prepared.subjects()).block_time;
    let cohorts = (budget.as_secs_f64() / block_time.as_secs_f64()) as u32;
    let of_ab = |folder: &PathBuf| folder.to_string_lossy().ends_with(&format!("-{SUITE}"));
    let folders = latest::sorted(&project.results).into_iter().filter(of_ab).take(MOST_RESULTS);
    let mut found = folders.filter_map(|folder| {
        let journal = stored::journal(&folder).ok()?;
        let alike = Some(&journal).filter(|it| is_alike(&folder, it, experiment, prepared))?;
        Some((outlook(alike, metric, cohorts, *margin)?, folder))
    });
    let (share, folder) = found.next()?;
    let (share, folder) = (percent(share), folder.display());
    Some(format!(
        "finds differences from about {share} on within the budget, by the scatter of {folder}"
    ))
}

/// True if an earlier result is of the same programs, load and machine.
fn is_alike(
    folder: &Path,
    journal: &Journal,
    experiment: &Experiment,
    prepared: &Prepared,
) -> bool {
    let start = &journal.start;
    let titles = start.variants.iter().map(|it| &it.title);
    let subjects = prepared.subjects();
    let machine = journal::environment(folder).ok().flatten();
    let is_here = machine.is_some_and(|it| {
        it.differences(&prepared.environment).iter().all(|it| it.weight != Weight::Refuses)
    });
    is_here
        && titles.eq(subjects.iter().map(|it| &it.title))
        && start.workloads == experiment.suite.workloads
        && start.procedure == experiment.procedure
        && start.placement == experiment.settings.placement
}
