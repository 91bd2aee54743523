//! Why servers differ: the profiles of a journal, each with what a request costs in system calls, context switches
//! and CPU time, and what differs from the profile of the baseline. Nothing here is in any figure of a verdict.

mod cause;
mod figures;
mod flame;
mod names;
mod page;
mod sentence;

pub use self::flame::files;
pub(crate) use self::page::{sections, sentences};

use wirebench_schema::journal::{self, Journal, Profile, WhyOutcome};

use crate::{analysis::WorkloadRows, view::Why};

/// The profiles of a journal by workload, each compared with that of the workload's baseline.
pub(crate) fn whys<'a>(journal: &'a Journal, workloads: &[WorkloadRows<'_>]) -> Vec<Why<'a>> {
    let of_workload = |rows: &WorkloadRows<'_>| {
        let name = rows.workload.name.as_str();
        let baseline = rows.baseline.map(|index| rows.rows[index].variant.clone());
        // A journal of runs without figures still has its order.
        let baseline = baseline.or_else(|| journal.start.baselines.first().cloned());
        let mut own: Vec<_> = journal.whys.iter().filter(|it| it.workload == name).collect();
        own.sort_by_key(|it| Some(&it.variant) != baseline.as_ref());
        let reference = own.iter().find(|it| Some(&it.variant) == baseline.as_ref()).copied();
        own.into_iter().map(|it| compared(it, reference)).collect::<Vec<_>>()
    };
    workloads.iter().flat_map(of_workload).collect()
}

/// A profile, compared with that of the baseline unless it is the same.
fn compared<'a>(why: &'a journal::Why, reference: Option<&'a journal::Why>) -> Why<'a> {
    let made = Why::new(why, reference);
    let is_other = |it: &&journal::Why| made.compared_with == Some(it.variant.to_string());
    let other = reference.filter(is_other).map(|it| Why::new(it, None));
    let profiles = [Some(why), reference].into_iter().flatten().filter_map(profile);
    let sentence = sentence::sentence(&made, other.as_ref()) + &sentence::reduced(profiles);
    Why { sentence, ..made }
}

fn profile(why: &journal::Why) -> Option<&Profile> {
    match &why.outcome {
        WhyOutcome::Profiled(profile) => Some(profile),
        WhyOutcome::Failed(_) => None,
    }
}

#[cfg(test)]
mod tests;
