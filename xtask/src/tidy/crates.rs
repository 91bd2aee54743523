//! Which crate may use which.

use super::sources::{Source, text};

const FILE: &str = "xtask/src/tidy/arrows.txt";
const ARROWS: &str = include_str!("arrows.txt");

/// Each crate, and those that it may depend on.
pub(super) fn arrows() -> impl Iterator<Item = (&'static str, &'static str)> {
    ARROWS.lines().filter_map(|line| line.split_once(" ->"))
}

/// The crates, one a line, each with those that it uses.
pub(super) fn graph(sources: &[Source]) -> String {
    let line = |name| {
        let used = dependencies(sources, name).join(", ");
        let used = if used.is_empty() { "no other crate" } else { &used };
        format!("   {name:<11} -> {used}\n")
    };
    arrows().map(|it| line(it.0)).collect()
}

/// A complaint for each dependency that is not allowed, and for each crate that the list lacks or has in vain.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, allowed) in arrows() {
        if text(sources, &manifest(name)).is_none() {
            complaints.push(format!("{name} is missing: remove it from {FILE}"));
        }
        let used = dependencies(sources, name);
        for other in used.iter().filter(|used| !allowed.split(' ').any(|it| it == **used)) {
            complaints.push(format!("{name} may not depend on {other}: see ARCHITECTURE.md"));
        }
    }
    let names = sources.iter().filter_map(|it| it.path.strip_prefix("crates/"));
    for name in names.filter_map(|it| it.strip_suffix("/Cargo.toml")) {
        if !name.contains('/') && arrows().all(|it| it.0 != name) {
            complaints.push(format!("crates/{name} has no line in {FILE}"));
        }
    }
    complaints
}

pub(super) fn manifest(name: &str) -> String {
    let folder = if ["lab", "xtask"].contains(&name) { "" } else { "crates/" };
    format!("{folder}{name}/Cargo.toml")
}

/// The crates of the workspace that a crate uses, in its tests only if it is `xtask`: a chore starts before others are
/// compiled.
fn dependencies(sources: &[Source], name: &str) -> Vec<&'static str> {
    let text = text(sources, &manifest(name)).unwrap_or_default();
    let of_tests = (name == "xtask").then_some("[dev-dependencies]");
    let lists =
        ["[dependencies]"].into_iter().chain(of_tests).filter_map(|it| text.split(it).nth(1));
    let lines = lists.flat_map(|it| it.lines().take_while(|line| !line.starts_with('[')));
    lines.filter_map(|it| it.strip_prefix("wirebench-")?.split(['.', ' ', '=']).next()).collect()
}
