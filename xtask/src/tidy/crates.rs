//! Which crate may use which.

use super::sources::{Source, text};

/// The crates of the workspace that each crate may depend on. An arrow that is not in the list is not allowed.
const ARROWS: [(&str, &str); 17] = [
    ("schema", ""),
    ("stats", ""),
    ("judge", "schema"),
    ("sys", ""),
    ("uring", ""),
    ("nullserver", "uring"),
    ("bundle", ""),
    ("report", "judge schema stats"),
    ("loadgen", "schema sys uring"),
    ("server", "schema sys"),
    ("host", "judge schema server sys"),
    ("verify", "host loadgen schema server stats sys"),
    ("catalogue", "schema server verify"),
    ("doctor", "catalogue host schema server stats"),
    ("experiment", "catalogue host judge schema server stats sys verify"),
    ("agent", "loadgen schema server"),
    (
        "cli",
        "agent bundle catalogue doctor experiment host judge loadgen nullserver report schema server sys verify",
    ),
];

/// The crates, one a line, each with those that it uses.
pub(super) fn graph(sources: &[Source]) -> String {
    let line = |name: &str| {
        let manifest = text(sources, &format!("crates/{name}/Cargo.toml")).unwrap_or_default();
        let used = dependencies(manifest, "[dependencies]").join(", ");
        let used = if used.is_empty() { "no other crate" } else { &used };
        format!("   {name:<11} -> {used}\n")
    };
    ARROWS.iter().map(|(name, _)| line(name)).collect()
}

/// A complaint for each dependency that is not allowed, and for each crate that the list lacks or has in vain.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, allowed) in ARROWS {
        let Some(manifest) = text(sources, &format!("crates/{name}/Cargo.toml")) else {
            complaints.push(format!("crates/{name} is missing: remove it from ARROWS"));
            continue;
        };
        let used = dependencies(manifest, "[dependencies]");
        let other = used.iter().filter(|used| !allowed.split(' ').any(|it| it == **used));
        complaints
            .extend(other.map(|used| {
                format!("crates/{name} may not depend on {used}: see ARCHITECTURE.md")
            }));
    }
    for source in sources.iter().filter(|it| it.path.starts_with("crates/")) {
        let name = source.crate_name().unwrap_or_default();
        let is_known = ARROWS.iter().any(|(known, _)| *known == name);
        if !is_known && source.path == format!("crates/{name}/Cargo.toml") {
            complaints
                .push(format!("crates/{name} has no line in ARROWS of xtask/src/tidy/crates.rs"));
        }
    }
    complaints
}

/// The crates of the workspace that a section of a manifest names.
pub(super) fn dependencies<'m>(manifest: &'m str, section: &str) -> Vec<&'m str> {
    let list = manifest.split(section).nth(1).unwrap_or_default();
    let lines = list.split("\n[").next().unwrap_or_default().lines();
    let name = |line: &'m str| line.strip_prefix("wirebench-")?.split(['.', ' ', '=']).next();
    lines.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::sources::source, *};

    #[test]
    fn an_arrow_that_is_not_allowed_is_named_and_a_crate_without_or_with_too_much() {
        let manifest = "[dependencies]\nwirebench-schema.workspace = true\nclap.workspace = true\n\
                        [dev-dependencies]\nwirebench-experiment.workspace = true\n";
        let manifest_of = |name: &str| {
            let text = if ["report", "stats"].contains(&name) { manifest } else { "" };
            source(&format!("crates/{name}/Cargo.toml"), text)
        };
        let names = ARROWS.iter().map(|it| it.0).filter(|name| *name != "uring").chain(["new"]);
        let expected = [
            "crates/stats may not depend on schema: see ARCHITECTURE.md",
            "crates/uring is missing: remove it from ARROWS",
            "crates/new has no line in ARROWS of xtask/src/tidy/crates.rs",
        ];
        assert_eq!(complaints(&names.map(manifest_of).collect::<Vec<_>>()), expected);
    }
}
