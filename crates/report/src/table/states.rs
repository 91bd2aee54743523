//! What the states of the machine mean for a result, in words. They say it once for the page, tables, `ab` and
//! HTML.

use crate::analysis::{MachineStates, StateShare, WorkloadRows};

/// A sentence for the result as a whole, and one for each load that could not be compared within one state; none
/// of a machine that did not change, or was not probed.
pub(crate) fn sentences(workloads: &[WorkloadRows<'_>]) -> Vec<String> {
    let (mixed, compared): (Vec<_>, Vec<_>) = workloads
        .iter()
        .filter(|it| !it.states.others.is_empty() && !it.rows.is_empty())
        .partition(|it| it.states.is_mixed);
    let whole = compared.iter().map(|it| &it.states).cloned().reduce(|one, other| sum(one, &other));
    let names: Vec<&str> = mixed.iter().map(|it| it.workload.name.as_str()).collect();
    let caution = (!names.is_empty()).then(|| {
        format!(
            "{}: the CPUs of server and generator changed their distance, and fewer than three cohorts have visits \
             of all servers at one distance; ratios hold for this mix only: measure with more --cohorts",
            names.join(", ")
        )
    });
    whole.as_ref().and_then(compared_in).into_iter().chain(caution).collect()
}

/// In which state visits were compared, and which are excluded.
fn compared_in(states: &MachineStates) -> Option<String> {
    let compared = states.compared.as_ref()?;
    let with_change = (states.mixed > 0).then(|| format!("{} with a change", states.mixed));
    let others = states.others.iter().filter(|it| it.visits > 0);
    let excluded: Vec<String> =
        others.map(|it| format!("{} at {}", it.visits, distance(it))).chain(with_change).collect();
    if excluded.is_empty() {
        return None;
    }
    let others: usize = states.others.iter().map(|it| it.visits).sum();
    let all = compared.visits + others + states.mixed;
    let are = if others + states.mixed == 1 { "is" } else { "are" };
    Some(format!(
        "ratios hold while a round trip between the CPUs of both sides takes {}, as in {} of {all} visits; {} {are} \
         excluded",
        distance(compared),
        compared.visits,
        excluded.join(", ")
    ))
}

/// The median distance: of several pairs of CPUs the least and the most.
pub(crate) fn distance(state: &StateShare) -> String {
    let (least, most) = wirebench_stats::range(&state.distance_ns).unwrap_or_default();
    let [least, most] = [least, most].map(|ns| format!("{ns:.0}"));
    if least == most { format!("{most} ns") } else { format!("{least}..{most} ns") }
}

/// Both loads together: the states are those of the run.
fn sum(mut one: MachineStates, other: &MachineStates) -> MachineStates {
    one.mixed += other.mixed;
    let own = one.compared.iter_mut().chain(&mut one.others);
    for (own, other) in own.zip(other.compared.iter().chain(&other.others)) {
        own.visits += other.visits;
    }
    one
}
