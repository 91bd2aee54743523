//! Flame graphs of profiles in nanoseconds per request, and of the difference of two profiles.

use inferno::flamegraph::{self, Options, Palette, color::MultiPalette};
use wirebench_schema::journal::{Journal, Why};

use super::{
    figures::{both, stacks},
    profile,
    sentence::name,
};

/// Whether a picture has its own script, to zoom and search. A page refuses other scripts than its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Script {
    Own,
    None,
}

pub(super) const WIDTH: usize = 1200;

/// The files of the profiles of a journal: a picture and its stacks of each, by their names.
#[must_use]
pub fn files(journal: &Journal) -> Vec<(String, String)> {
    let of_one = |why: &Why| {
        let folded: String =
            profile(why)?.stacks.iter().map(|(stack, ns)| format!("{stack} {ns}\n")).collect();
        let file = format!("{}.{}", why.variant, why.workload).replace(['/', ':'], "-");
        let picture = picture(why, Script::Own)?;
        Some([(format!("{file}.folded"), folded), (format!("{file}.svg"), picture)])
    };
    journal.whys.iter().filter_map(of_one).flatten().collect()
}

/// The flame graph of a profile.
pub(super) fn picture(why: &Why, script: Script) -> Option<String> {
    let stacks = stacks(profile(why)?);
    let lines = stacks.iter().map(|(stack, ns)| format!("{stack} {ns:.0}"));
    let title = format!("{} under {}", name(&why.variant.to_string()), why.workload);
    draw(&title, &lines.collect::<Vec<_>>(), script)
}

/// The flame graph of `why`, where frames that take more time than in `other` are red, and blue those that take
/// less.
pub(super) fn difference(why: &Why, other: &Why, script: Script) -> Option<String> {
    let times = both([profile(other)?, profile(why)?]);
    let lines =
        times.iter().map(|(stack, [before, after])| format!("{stack} {before:.0} {after:.0}"));
    let [own, others] = [why, other].map(|it| it.variant.to_string());
    let title = format!("{} compared with {} under {}", name(&own), name(&others), why.workload);
    draw(&title, &lines.collect::<Vec<_>>(), script)
}

fn draw(title: &str, lines: &[String], script: Script) -> Option<String> {
    let mut options = Options::default();
    title.clone_into(&mut options.title);
    "ns per request".clone_into(&mut options.count_name);
    options.image_width = Some(WIDTH);
    // Frames of the kernel are orange.
    options.colors = Palette::Multi(MultiPalette::Java);
    (options.deterministic, options.hash) = (true, true);
    options.no_javascript = script == Script::None;
    let mut picture = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut picture).ok()?;
    String::from_utf8(picture).ok()
}
