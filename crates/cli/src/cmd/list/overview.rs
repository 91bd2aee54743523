//! The screen of `list`: a line for each entry or variant, each reason once, and totals.

use std::{collections::BTreeSet, fmt::Display};
use wirebench_catalogue::{
    requirement::Availability,
    subject::{Origin, Subject},
};
use wirebench_report::{table::listing_within, wrap::wrap};

use crate::{plan::count, scenarios::folded};

/// A variant and whether it can be built here.
pub(super) type Listed = (Subject, Availability);

/// Columns of a screen whose width is unknown.
pub(super) const WIDTH: usize = 80;

/// A line for each entry; its variants and the details of reasons are folded.
pub(super) fn entries(rows: &[Listed], width: usize) -> String {
    let head = [
        ("entry", None),
        ("variants", None),
        ("state", None),
        ("scenarios", None),
        ("mechanism", Some(1)),
        ("sharing", Some(0)),
    ];
    let groups = rows.chunk_by(|one, other| entry(one) == entry(other));
    let lines = groups.map(|group| {
        let name = entry(&group[0]).to_owned();
        [vec![name, group.len().to_string()], described(group)].concat()
    });
    let reasons = Reasons::of(rows, Availability::brief_reason).folded(rows);
    let reasons = reasons.text("  ", |line| wrap(&line, width, "    ").join("\n"));
    let next = "`wirebench list NAME...` shows the variants, `wirebench list ENTRY` all details.";
    let parts =
        [listing_within(width, &head, &lines.collect::<Vec<_>>()), reasons, totals(rows, width)];
    joined(&parts) + next
}

/// A line for each variant, and reasons with the next step.
pub(super) fn variants(rows: &[Listed], width: usize) -> String {
    let head = [
        ("variant", None),
        ("state", None),
        ("scenarios", None),
        ("mechanism", Some(1)),
        ("sharing", Some(0)),
    ];
    let line = |row: &Listed| {
        let row = std::slice::from_ref(row);
        [vec![row[0].0.variant.id.to_string()], described(row)].concat()
    };
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    // Reasons stay whole, so that their commands can be copied.
    let reasons = Reasons::of(rows, Availability::reason).text("  ", |line| line);
    let parts = [listing_within(width, &head, &lines), reasons, totals(rows, width)];
    joined(&parts) + "`wirebench list ENTRY` shows all details."
}

fn joined(parts: &[String]) -> String {
    let filled = parts.iter().filter(|part| !part.is_empty());
    filled.map(|part| part.trim_end().to_owned() + "\n\n").collect::<String>().trim_end().to_owned()
        + "\n"
}

fn entry(row: &Listed) -> &str {
    row.0.variant.id.entry()
}

/// The cells that follow the name of some variants of one entry.
fn described(rows: &[Listed]) -> Vec<String> {
    let ready = rows.iter().filter(|(_, it)| *it == Availability::Ready).count();
    let states = distinct(rows.iter().map(|(_, availability)| availability.state()));
    let state = match states.len() {
        1 => states.concat(),
        _ => format!("{ready} of {} ready", rows.len()),
    };
    let subjects: Vec<&Subject> = rows.iter().map(|(subject, _)| subject).collect();
    let known: Vec<&Subject> = subjects.iter().filter(|it| it.is_described()).copied().collect();
    if known.is_empty() {
        return vec![state, "-".to_owned(), "-".to_owned(), "-".to_owned()];
    }
    let mechanisms = distinct(known.iter().map(|it| it.variant.mechanism));
    let sharing = distinct(known.iter().map(|it| it.variant.sharing));
    vec![state, scenarios(&known), mechanisms.join(" "), sharing.join(" ")]
}

/// The names of what there is, each once, in their order.
fn distinct<T: Display>(values: impl Iterator<Item = T>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in values.map(|it| it.to_string()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The scenarios that some of these variants have.
pub(super) fn scenarios(subjects: &[&Subject]) -> String {
    folded(|scenario| subjects.iter().any(|it| it.variant.scenarios.contains(&scenario)))
}

/// Why variants are not ready: state, reason and names, each reason once.
struct Reasons(Vec<(&'static str, String, Vec<String>)>);

impl Reasons {
    fn of(rows: &[Listed], reason: fn(&Availability) -> Option<String>) -> Self {
        let mut reasons: Vec<(&'static str, String, Vec<String>)> = Vec::new();
        for (subject, availability) in rows {
            let Some(reason) = reason(availability) else { continue };
            let (state, name) = (availability.state(), subject.variant.id.to_string());
            match reasons.iter_mut().find(|it| it.0 == state && it.1 == reason) {
                Some((_, _, names)) => names.push(name),
                None => reasons.push((state, reason, vec![name])),
            }
        }
        reasons.sort_by_key(|(state, ..)| *state == "not available");
        Self(reasons)
    }

    /// The same with entries instead of their variants, and one reason for each entry.
    fn folded(self, rows: &[Listed]) -> Self {
        let mut seen: BTreeSet<(&str, String)> = BTreeSet::new();
        let of_entry =
            |name: &str| name.split_once(':').map_or(name, |(entry, _)| entry).to_owned();
        let others = |state: &str, entry: &str| {
            let has = |it: &&(&str, String, Vec<String>)| {
                it.0 == state && it.2.iter().any(|name| of_entry(name) == entry)
            };
            self.0.iter().filter(has).count() - 1
        };
        let mut folded = Vec::new();
        for (state, reason, names) in &self.0 {
            let mut entries = Vec::new();
            for entry in distinct(names.iter().map(|name| of_entry(name))) {
                let others = others(state, &entry);
                if !seen.insert((state, entry.clone())) {
                    continue;
                }
                let all = rows.iter().filter(|row| self::entry(row) == entry).count();
                let own = names.iter().filter(|name| of_entry(name) == entry).count();
                entries.push(match (others, own == all) {
                    (0, true) => entry,
                    (0, false) => format!("{entry} ({own} of {all})"),
                    (1, _) => format!("{entry} (and 1 other reason)"),
                    (some, _) => format!("{entry} (and {some} other reasons)"),
                });
            }
            if !entries.is_empty() {
                folded.push((*state, reason.clone(), entries));
            }
        }
        Self(folded)
    }

    /// A heading for each state, and a line for each reason, as `line` gives it.
    fn text(&self, indent: &str, line: impl Fn(String) -> String) -> String {
        let mut text = String::new();
        for group in self.0.chunk_by(|one, other| one.0 == other.0) {
            text += match group[0].0 {
                "needs setup" => "needs setup; `wirebench setup` installs what is missing:\n",
                _ => "not available; setup cannot install what is missing:\n",
            };
            for (_, reason, names) in group {
                text += &line(format!("{indent}{}: {reason}", names.join(", ")));
                text.push('\n');
            }
        }
        text
    }
}

/// Entries and variants apart; the states are those of variants.
fn totals(rows: &[Listed], width: usize) -> String {
    let (builtins, others): (Vec<&Listed>, Vec<&Listed>) =
        rows.iter().partition(|(subject, _)| subject.origin == Origin::Builtin);
    let entries: BTreeSet<&str> = others.iter().map(|row| entry(row)).collect();
    let mut parts = Vec::new();
    if !others.is_empty() || builtins.is_empty() {
        let noun = if entries.len() == 1 { "entry" } else { "entries" };
        parts.push(format!("{} {noun} with {}", entries.len(), count(others.len(), "variant")));
    }
    if !builtins.is_empty() {
        parts.push(count(builtins.len(), "built-in server"));
    }
    let of = |availability: &str| rows.iter().filter(|(_, it)| it.state() == availability).count();
    let mut states = vec![format!("{} ready", of("ready"))];
    match of("needs setup") {
        0 => {}
        1 => states.push("1 needs `wirebench setup`".to_owned()),
        some => states.push(format!("{some} need `wirebench setup`")),
    }
    match of("not available") {
        0 => {}
        some => states.push(format!("{some} not available")),
    }
    wrap(&format!("{}: {}", parts.join(" and "), states.join(", ")), width, "").join("\n")
}
