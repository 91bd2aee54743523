//! Modules of a crate that use each other, parents included, and verbs of the program that use another verb.
//!
//! A use is a path of the code that begins with `crate` or `super`; a parent uses a child whose name it writes in a
//! path. Uses of a module's own submodules otherwise do not count, nor does a list behind `super::` in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::Source;

/// The crate and the folder with one module per verb of the program.
const VERBS: (&str, &str) = ("cli", "cmd");

/// The names of a module, from the root of its crate, or those of another path.
type Path<'a> = Vec<&'a str>;

/// For each crate the modules of each cycle, and a complaint for each verb that uses another one.
pub(super) fn find(sources: &[Source]) -> (BTreeMap<&str, Vec<String>>, Vec<String>) {
    let mut crates: BTreeMap<&str, BTreeMap<Path<'_>, String>> = BTreeMap::new();
    for source in sources.iter().filter(|it| !it.code().is_empty()) {
        let below = source.path.split_once("/src/").map(|it| it.1.trim_end_matches(".rs"));
        let (Some(name), Some(below)) = (source.crate_name(), below) else { continue };
        let mut module: Path<'_> = below.split('/').collect();
        module.pop_if(|name| ["mod", "lib", "main"].contains(name));
        let code = source.code().iter().map(|line| line.split("//").next().unwrap_or_default());
        crates.entry(name).or_default().insert(module, code.collect::<Vec<_>>().join("\n"));
    }
    let (mut cycles, mut complaints) = (BTreeMap::new(), Vec::new());
    for (name, modules) in &crates {
        let mut graph = BTreeMap::new();
        for (module, code) in modules {
            let (counted, all) = uses(code, module, modules);
            let is_verb = |it: &[&str]| (*name, it[0]) == VERBS && it.len() > 1;
            let verbs =
                all.iter().filter(|it| !module.is_empty() && is_verb(module) && is_verb(it));
            complaints.extend(verbs.filter(|it| it[1] != module[1]).map(|other| {
                let (verb, other) = (module[1], other[1]);
                format!(
                    "the verb `{verb}` uses `{other}`: move what both need into a shared module"
                )
            }));
            graph.insert(module, counted);
        }
        cycles.insert(*name, groups(&graph));
    }
    (cycles, complaints)
}

/// Modules that a module uses: those that count in a cycle, and all that it names from the root or from a parent.
fn uses<'m>(
    code: &'m str,
    module: &[&'m str],
    modules: &'m BTreeMap<Path<'m>, String>,
) -> (BTreeSet<&'m Path<'m>>, BTreeSet<&'m Path<'m>>) {
    let (mut counted, mut all) = (BTreeSet::new(), BTreeSet::new());
    let find = |path: &[&'m str]| {
        let found = (1..=path.len()).rev().find_map(|n| modules.get_key_value(&path[..n]));
        found.map(|it| it.0).filter(move |it| !it.starts_with(module))
    };
    let is_child = |it: &&Path<'_>| it.len() == module.len() + 1 && it.starts_with(module);
    let children: Vec<_> = modules.keys().filter(is_child).filter(|it| it.len() > 1).collect();
    for (path, is_list) in paths(code) {
        let (_, names) = path.split_last().unwrap_or((&"", &[]));
        counted.extend(children.iter().filter(|it| names.contains(&it[module.len()])));
        let levels = path.iter().take_while(|it| **it == "super").count();
        let above = |levels| &module[..module.len().saturating_sub(levels)];
        let whole = match path[0] {
            "crate" | "super" if path[1..] == [""] => continue,
            "crate" => path[1..].to_vec(),
            "super" => [above(levels), &path[levels..]].concat(),
            _ => continue,
        };
        all.extend(find(&whole));
        // A use of what is above the parent counts as one of the parent.
        let whole = if levels > 1 { above(1) } else { &whole };
        counted.extend(find(whole).filter(|_| levels == 0 || !is_list));
    }
    (counted, all)
}

/// The paths of at least two names in code, each with whether a list follows its first name. The last name is empty if
/// the path ends in another sign, such as that of a use of everything.
fn paths(code: &str) -> Vec<(Path<'_>, bool)> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("::") {
        let before = code[..at].trim_end_matches(is_of_name);
        let (name, rest) = (&code[before.len()..at], &code[at + 2..]);
        // Otherwise a part of a longer path, a visibility or a type in angle brackets.
        if !before.ends_with("::") && !before.ends_with("(in ") && !name.is_empty() {
            let mut expanded = Vec::new();
            expand(rest, &[name], &mut expanded);
            paths.extend(expanded.into_iter().map(|path| (path, rest.starts_with('{'))));
        }
    }
    paths
}

fn is_of_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// Adds the paths of a tree such as `a::{b, c::d}`, behind `prefix`. Returns the text that follows the tree.
fn expand<'s>(text: &'s str, prefix: &[&'s str], paths: &mut Vec<Path<'s>>) -> &'s str {
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
    let path = [prefix, &[name]].concat();
    if let Some(rest) = rest.strip_prefix("::") {
        return expand(rest, &path, paths);
    }
    paths.push(path);
    rest
}

/// Groups of modules each of which reaches all others of its group.
fn groups(graph: &BTreeMap<&Path<'_>, BTreeSet<&Path<'_>>>) -> Vec<String> {
    let reached = graph.keys().map(|from| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![*from]);
        while let Some(module) = next.pop() {
            next.extend(graph[module].iter().filter(|it| reached.insert(**it)));
        }
        (*from, reached)
    });
    let all: BTreeMap<_, BTreeSet<_>> = reached.collect();
    let group = |(module, others): (&&Path<'_>, &BTreeSet<&Path<'_>>)| {
        let group: Vec<_> = others.iter().filter(|it| all[**it].contains(*module)).collect();
        let is_first = group.len() > 1 && group[0] == module;
        is_first.then(|| group.iter().map(|it| it.join("::")).collect::<Vec<_>>().join(" "))
    };
    all.iter().filter_map(group).collect()
}
