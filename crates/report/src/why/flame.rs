//! Flame graphs of profiles in nanoseconds per request, and of the difference of two profiles.

use wirebench_schema::journal::{Journal, Why};

use super::{
    figures::{both, stacks},
    profile,
    sentence::name,
};
use crate::chart::{Chart, ChartKind, Flame, svg::file};

const COLOURS: &str = "Red frames use more CPU time than in the other server, blue ones less.";

/// The files of the profiles of a journal: a picture and its stacks of each, by their names.
#[must_use]
pub fn files(journal: &Journal) -> Vec<(String, String)> {
    let of_one = |why: &Why| {
        let folded: String =
            profile(why)?.stacks.iter().map(|(stack, ns)| format!("{stack} {ns}\n")).collect();
        let name = format!("{}.{}", why.variant, why.workload).replace(['/', ':'], "-");
        let picture = (format!("{name}.svg"), file(&chart(why, None)?)?);
        Some([(format!("{name}.folded"), folded), picture])
    };
    journal.whys.iter().filter_map(of_one).flatten().collect()
}

/// The flame graph of a profile. With another one, frames that take more time than in that are red, and blue those that
/// take less.
pub(super) fn chart(why: &Why, other: Option<&Why>) -> Option<Chart> {
    let own = profile(why)?;
    let stacks = match other {
        Some(other) => both([own, profile(other)?]).into_iter().collect(),
        None => stacks(own).into_iter().map(|(stack, ns)| (stack, [ns, 0.0])).collect(),
    };
    let flame = Flame { stacks, is_difference: other.is_some() };
    let shown = |why: &Why| name(&why.variant.to_string()).to_owned();
    let (what, legend) = if other.is_some() { ("the difference: ", COLOURS) } else { ("", "") };
    let other = other.map(|it| format!(" compared with {}", shown(it))).unwrap_or_default();
    let title = format!("Flame graph of {what}{}{other} under {}", shown(why), why.workload);
    Some(Chart::new(title, ChartKind::Flame(flame)).explained(legend))
}
