//! Flame graphs of profiles in nanoseconds per request, and of the difference of two profiles.

use wirebench_schema::journal::{Journal, Why};

use super::{
    figures::{both, stacks},
    profile,
    sentence::name,
};
use crate::chart::{Chart, ChartKind, Flame, svg::file};

const OF_DIFFERENCE: &str =
    "Red frames use more CPU time than in the other server, blue ones less.";

/// The files of the profiles of a journal: a picture and its stacks of each, by their names.
#[must_use]
pub fn files(journal: &Journal) -> Vec<(String, String)> {
    let of_one = |why: &Why| {
        let folded: String =
            profile(why)?.stacks.iter().map(|(stack, ns)| format!("{stack} {ns}\n")).collect();
        let name = format!("{}.{}", why.variant, why.workload).replace(['/', ':'], "-");
        let picture = (format!("{name}.svg"), file(&chart(why)?)?);
        Some([(format!("{name}.folded"), folded), picture])
    };
    journal.whys.iter().filter_map(of_one).flatten().collect()
}

/// The flame graph of a profile.
pub(super) fn chart(why: &Why) -> Option<Chart> {
    let stacks = stacks(profile(why)?).into_iter().map(|(stack, ns)| (stack, [ns, 0.0]));
    let flame = Flame { stacks: stacks.collect(), is_difference: false };
    let title = format!("flame graph of {} under {}", name(&why.variant.to_string()), why.workload);
    Some(Chart::new(title, ChartKind::Flame(flame)))
}

/// The flame graph of `why`, where frames that take more time than in `other` are red, and blue those that take
/// less.
pub(super) fn difference(why: &Why, other: &Why) -> Option<Chart> {
    let stacks = both([profile(why)?, profile(other)?]);
    let flame = Flame { stacks: stacks.into_iter().collect(), is_difference: true };
    let [own, others] = [why, other].map(|it| it.variant.to_string());
    let title = format!(
        "flame graph of {} compared with {} under {}",
        name(&own),
        name(&others),
        why.workload
    );
    Some(Chart::new(title, ChartKind::Flame(flame)).explained(OF_DIFFERENCE))
}
