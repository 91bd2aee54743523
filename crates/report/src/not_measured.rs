//! Why a server has no figures, in one wording for all verbs.

use wirebench_schema::{
    id::VariantId,
    journal::{EndReason, Journal},
};

/// True if the command of a run names `variant`, so that its absence is a failure.
#[must_use]
pub fn is_named(journal: &Journal, variant: &VariantId) -> bool {
    journal.start.command.iter().any(|word| variant.matches(word))
}

/// Why `variant`, which should have figures in this workload, has none.
pub(crate) fn lost(journal: &Journal, variant: &VariantId, workload: &str) -> String {
    let is_interrupted = journal.end.as_ref().map(|it| it.reason) == Some(EndReason::Interrupted);
    let other = if is_interrupted { "was not run: interrupted" } else { "was not run" };
    not_measured(journal, variant, Some(workload)).unwrap_or_else(|| other.to_owned())
}

/// Why `variant` has no figures, in this workload or in any. None if no cause is recorded.
pub(crate) fn not_measured(
    journal: &Journal,
    variant: &VariantId,
    workload: Option<&str>,
) -> Option<String> {
    let is_meant = |name: &str| workload.is_none_or(|it| it == name);
    let runs = || journal.runs.iter().filter(|it| it.variant == *variant && is_meant(&it.workload));
    let mut workloads = journal.start.workloads.iter();
    let scenario = workloads.find(|it| workload == Some(it.name.as_str())).map(|it| it.scenario);
    let failed = || runs().find_map(|run| Some(format!("failed: {}", run.outcome.failure()?)));
    let refused = || {
        let checks = journal.verified.iter().filter(|it| it.variant == *variant);
        let mut checks =
            checks.filter(|it| scenario.is_none_or(|scenario| scenario == it.scenario));
        checks.find_map(|it| {
            let (check, why) = it.failed.first()?;
            Some(format!("fails `{check}` in {}: {why}", it.scenario))
        })
    };
    let too_slow = || {
        let rates = journal.rates.iter().filter(|it| is_meant(&it.workload));
        let mut slow = rates.flat_map(|it| &it.too_slow).filter(|(slow, _)| slow == variant);
        slow.next().map(|(_, why)| format!("cannot hold the rate: {why}"))
    };
    let unavailable = || journal.unavailable.iter().find(|it| it.variant == *variant);
    let left_out = || {
        let is_its = |name: &str| variant.to_string() == name || variant.is_among(name);
        let mut all = journal.start.left_out.iter().filter(|_| workload.is_none());
        all.find(|it| is_its(&it.what)).map(|it| it.reason.clone())
    };
    let reason = failed().or_else(refused).or_else(too_slow);
    reason.or_else(|| unavailable().map(|it| it.reason.clone())).or_else(left_out)
}
