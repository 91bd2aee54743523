//! Modules of a crate that use each other, parents included, and verbs of the program that use another verb.
//!
//! A use is a path of the code that begins with `crate` or `super`; a parent uses a child whose name it writes in a
//! path. Uses of a module's own submodules otherwise do not count, nor does a list behind `super::` in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::Source;

/// The crate and the folder with one module per verb of the program.
const VERBS: (&str, &str) = ("cli", "cmd");

/// The names of a module, from the root of its crate.
type Module<'s> = Vec<&'s str>;

/// Findings in all crates.
#[derive(Debug, Default)]
pub(super) struct Found<'s> {
    /// For each crate with cycles, their modules.
    pub(super) cycles: BTreeMap<&'s str, Vec<String>>,
    /// A complaint for each verb that uses another one.
    pub(super) complaints: Vec<String>,
}

/// Compares the modules of each crate.
pub(super) fn find(sources: &[Source]) -> Found<'_> {
    let mut crates: BTreeMap<&str, BTreeMap<Module<'_>, String>> = BTreeMap::new();
    for source in sources {
        let code = source.code();
        let below = source.path.split_once("/src/").filter(|_| !code.is_empty());
        let (Some(name), Some((_, below))) = (source.crate_name(), below) else { continue };
        let mut module: Module<'_> = below.trim_end_matches(".rs").split('/').collect();
        module.pop_if(|name| ["mod", "lib", "main"].contains(name));
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        let code = lines.collect::<Vec<_>>().join("\n");
        crates.entry(name).or_default().insert(module, code);
    }
    let mut found = Found::default();
    let is_verb = |module: &[&str]| module.len() > 1 && module[0] == VERBS.1;
    if !crates.get(VERBS.0).is_some_and(|modules| modules.keys().any(|it| is_verb(it))) {
        found.complaints.push(format!("crates/{}/src/{}: no verbs, adapt VERBS", VERBS.0, VERBS.1));
    }
    for (name, modules) in &crates {
        let names: Vec<&[&str]> = modules.keys().map(Vec::as_slice).collect();
        let mut graph = vec![BTreeSet::new(); names.len()];
        for (index, (module, code)) in modules.iter().enumerate() {
            for (path, is_list) in used(code, module) {
                let target =
                    (1..=path.len()).rev().find_map(|n| names.binary_search(&&path[..n]).ok());
                let Some(target) = target.filter(|it| !names[*it].starts_with(module)) else {
                    continue;
                };
                let other = names[target];
                let is_other = is_verb(module) && is_verb(other) && module[1] != other[1];
                if *name == VERBS.0 && is_other {
                    let text = "move what both need into a shared module";
                    let (verb, other) = (module[1], other[1]);
                    found.complaints.push(format!("the verb `{verb}` uses `{other}`: {text}"));
                }
                if !is_list {
                    graph[index].insert(target);
                }
            }
            let is_child = |it: &&[&str]| it.len() == module.len() + 1 && it.starts_with(module);
            for (child, path) in names.iter().enumerate().filter(|(_, it)| is_child(it)) {
                if !module.is_empty() && names_child(code, path[module.len()]) {
                    graph[index].insert(child);
                }
            }
        }
        let groups = groups(&graph);
        let shown = groups.iter().map(|group| {
            group.iter().map(|it| names[*it].join("::")).collect::<Vec<_>>().join(" ")
        });
        found.cycles.insert(name, shown.collect());
    }
    found
}

fn is_of_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// Whether a parent's code has a path through its submodule, or imports it.
fn names_child(code: &str, child: &str) -> bool {
    code.match_indices(child).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + child.len()..]);
        let is_import = before.ends_with("use ") && !after.starts_with(is_of_name);
        !before.ends_with(is_of_name) && after.starts_with("::") || is_import
    })
}

/// Paths within the crate that the code of `module` has, from the root of the crate, and whether they are from a list
/// behind `super::`.
fn used<'s>(code: &'s str, module: &[&'s str]) -> Vec<(Module<'s>, bool)> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            // Part of a longer path or name, or a visibility.
            let (before, rest) = (&code[..at], &code[at + start.len()..]);
            if before.ends_with(|sign| sign == ':' || is_of_name(sign)) || before.ends_with("in ") {
                continue;
            }
            let (is_super, mut parent) = (start == "super::", module);
            let mut first = rest;
            if is_super {
                parent = &module[..module.len().saturating_sub(1)];
                // A use of what is above the parent counts as one of the parent.
                paths.extend(rest.starts_with("super::").then(|| (parent.to_vec(), false)));
                while let Some(next) = first.strip_prefix("super::") {
                    (first, parent) = (next, &parent[..parent.len().saturating_sub(1)]);
                }
            }
            // A use of everything, or the end of a text in quotation marks.
            if !first.starts_with(|sign| sign == '{' || is_of_name(sign)) {
                continue;
            }
            let mut found = Vec::new();
            expand(first, if is_super { parent } else { &[] }, &mut found);
            let is_list = is_super && (rest.starts_with("super::") || rest.starts_with('{'));
            paths.extend(found.into_iter().map(|path| (path, is_list)));
        }
    }
    paths
}

/// Adds the paths of a tree such as `a::{b, c::d}`, behind `prefix`. Returns the text that follows the tree.
fn expand<'s>(text: &'s str, prefix: &[&'s str], paths: &mut Vec<Module<'s>>) -> &'s str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = expand(rest, prefix, paths);
            let Some(end) = rest.find([',', '}']) else { return "" };
            let sign;
            (sign, rest) = rest[end..].split_at(1);
            if sign == "}" {
                return rest;
            }
        }
    }
    let (name, rest) = text.split_at(text.find(|sign| !is_of_name(sign)).unwrap_or(text.len()));
    let path = if name.is_empty() { prefix.to_vec() } else { [prefix, &[name]].concat() };
    match rest.strip_prefix("::") {
        Some(rest) => expand(rest, &path, paths),
        None => {
            paths.push(path);
            rest
        }
    }
}

/// Groups of nodes each of which reaches all others of its group.
fn groups(graph: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<Vec<bool>> = (0..graph.len()).map(|node| reached(graph, node)).collect();
    let group = |node: usize| -> Vec<usize> {
        (0..graph.len()).filter(|it| reached[node][*it] && reached[*it][node]).collect()
    };
    (0..graph.len())
        .map(|node| (node, group(node)))
        .filter(|(node, it)| it.len() > 1 && it[0] == *node)
        .map(|it| it.1)
        .collect()
}

fn reached(graph: &[BTreeSet<usize>], node: usize) -> Vec<bool> {
    let mut reached = vec![false; graph.len()];
    let mut next: Vec<usize> = graph[node].iter().copied().collect();
    while let Some(node) = next.pop() {
        if !reached[node] {
            reached[node] = true;
            next.extend(&graph[node]);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::{super::sources::source, *};

    /// Paths below `src` without their end, and the code.
    type Modules<'s> = &'s [(&'s str, &'s str)];

    /// Findings in a crate `cli` with these modules and a verb.
    fn found(modules: Modules<'_>) -> (Vec<String>, Vec<String>) {
        let verb = source("crates/cli/src/cmd/v.rs", "use crate::x;\n");
        let of = |(path, code): &(&str, &str)| source(&format!("crates/cli/src/{path}.rs"), code);
        let sources: Vec<Source> = modules.iter().map(of).chain([verb]).collect();
        let mut found = find(&sources);
        (found.cycles.remove("cli").unwrap_or_default(), found.complaints)
    }

    #[test]
    fn cycles_are_found_with_parents_and_through_every_form_of_a_path() {
        let cases: [(Modules<'_>, &[&str]); 9] = [
            (&[("a", "use crate::b;"), ("b", "fn c() { crate::a::d() }")], &["a b"]),
            (&[("a", "use crate::b;"), ("b", "// crate::a\nuse crate::c;"), ("c", "")], &[]),
            (
                &[
                    ("a", "use crate::{\n    c::{D, E},\n    b,\n};"),
                    ("b", "use super::a::X;"),
                    ("c", ""),
                ],
                &["a b"],
            ),
            (&[("a", "mod b;\nfn c() { b::d() }"), ("a/b", "use super::X;")], &["a a::b"]),
            (&[("a", "mod b;\npub use b::C;"), ("a/b", "pub(in crate::a) fn c() {}")], &[]),
            (&[("a", "mod b;"), ("a/b", "use super::X;")], &[]),
            (
                &[("a/b", "use super::c::d;"), ("a/c", "use super::e;"), ("a/e", "use super::b;")],
                &["a::b a::c a::e"],
            ),
            (
                &[("a", "use crate::b;"), ("b", "#[cfg(test)]\nmod tests {\n    use crate::a;\n}")],
                &[],
            ),
            (&[("a", "use crate::b;"), ("b/tests", "use crate::a;"), ("b", "")], &[]),
        ];
        for (modules, cycles) in cases {
            assert_eq!(
                found(modules),
                (cycles.iter().map(|&it| it.to_owned()).collect(), vec![]),
                "{modules:?}"
            );
        }
    }

    #[test]
    fn a_verb_that_uses_another_is_named() {
        let expected = "the verb `w` uses `v`: move what both need into a shared module";
        for code in ["use crate::cmd::v::X;", "use super::{v, y};", "use crate::{a, cmd::{v}};"] {
            assert_eq!(found(&[("cmd/w", code)]).1, [expected], "{code}");
        }
        assert_eq!(found(&[("cmd/w/x", "use super::super::v::Y;")]).1, [expected]);
        assert_eq!(found(&[("cmd/w/x", "use super::{y, z};"), ("cmd/w/y", "")]).1, [""; 0]);
        assert_eq!(found(&[("cmd", ""), ("cmd/w", "use super::Shared;")]).1, [""; 0]);
        assert_eq!(find(&[]).complaints, ["crates/cli/src/cmd: no verbs, adapt VERBS"]);
    }
}
