//! The function that explains most of the difference of CPU time between two profiles: the most specific one whose
//! time, with all functions that it calls, differs by nearly as much as that of any other.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::figures::{Function, Stacks, added, differ, functions};
use crate::view::CpuCause;

/// A function that explains this share of what the first one does explains nearly as much.
const NEARLY: f64 = 0.8;
/// The least share of the difference of a cause. What explains more than the most is balanced by other functions, and
/// the function that calls them all has the result.
const LEAST: f64 = 0.2;
const MOST: f64 = 2.0;
/// A smaller difference of the CPU time of a request says nothing: visits differ by as much.
const TIME_SHARE: f64 = 0.03;
/// A function with a smaller share of the CPU time may be in one profile alone by chance.
const BY_CHANCE: f64 = 0.01;

/// The cause between two profiles with this CPU time of a request and this many samples.
pub(super) fn cause(mut stacks: Stacks, all: [f64; 2], samples: [u64; 2]) -> Option<CpuCause> {
    let difference = all[0] - all[1];
    if difference.abs() < TIME_SHARE * all[1] {
        return None;
    }
    let mut names = BTreeMap::new();
    // Two names of one function would count its time twice, as added and as removed.
    while let Some((kept, dropped)) = one_function(&stacks, all) {
        let mut merged = Stacks::new();
        for (stack, ns) in &stacks {
            let frames = stack.split(';').map(|it| if it == dropped { &kept } else { it });
            let times = merged.entry(frames.collect::<Vec<_>>().join(";")).or_default();
            *times = added(*times, *ns);
        }
        (stacks, _) = (merged, names.insert(kept, dropped));
    }
    let share = |it: &Function| (it.total_ns[0] - it.total_ns[1]) / difference;
    let mut functions = functions(&stacks);
    functions
        .retain(|_, it| (LEAST..=MOST).contains(&share(it)) && differ(it.total_ns, all, samples));
    let most = functions.values().map(share).fold(0.0, f64::max).min(1.0);
    let specific = |it: &Function| (it.total_ns[0].max(it.total_ns[1]) as u64, Reverse(it.depth));
    let explain = functions.iter().filter(|(_, it)| share(it) >= NEARLY * most);
    let (symbol, found) = explain.min_by_key(|(_, it)| specific(it))?;
    Some(CpuCause {
        symbol: (*symbol).to_owned(),
        instead_of: names.remove(*symbol),
        total_ns: found.total_ns,
        share: share(found),
    })
}

/// Two functions with one caller, each of which is the only one there that is in one profile alone.
fn one_function(stacks: &Stacks, all: [f64; 2]) -> Option<(String, String)> {
    let mut alone: BTreeMap<&str, [BTreeSet<&str>; 2]> = BTreeMap::new();
    let functions = functions(stacks);
    for stack in stacks.keys() {
        for (caller, symbol) in [""].into_iter().chain(stack.split(';')).zip(stack.split(';')) {
            let ns = functions[symbol].total_ns;
            let is_alone = |side: &usize| ns[*side] > BY_CHANCE * all[*side] && ns[1 - side] == 0.0;
            if let Some(side) = [0, 1].into_iter().find(is_alone) {
                alone.entry(caller).or_default()[side].insert(symbol);
            }
        }
    }
    let mut pairs = alone.into_values().filter(|it| it.each_ref().map(BTreeSet::len) == [1, 1]);
    let [own, other] = pairs.next()?.map(|it| it.into_iter().collect::<String>());
    Some((own, other))
}
