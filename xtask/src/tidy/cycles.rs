//! Modules of a crate that use each other, parents included, and verbs of the program that use another verb.
//!
//! A use is a path of the code that begins with `crate` or `super`; a parent uses a child whose name it writes in a
//! path. Uses of a module's own submodules otherwise do not count, nor does a list behind `super::` in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::Source;

/// The crate and the folder with one module per verb of the program.
const VERBS: (&str, &str) = ("cli", "cmd");

/// The names of a module, from the root of its crate.
type Module = Vec<&'static str>;

/// For each crate the modules of each cycle.
pub(super) type Cycles = BTreeMap<String, Vec<String>>;

/// The cycles of all crates, and a complaint for each verb that uses another one.
pub(super) fn find(sources: &[Source]) -> (Cycles, Vec<String>) {
    let mut crates: BTreeMap<&str, BTreeMap<Module, &str>> = BTreeMap::new();
    for source in sources.iter().filter(|it| !it.code().is_empty()) {
        let below = source.path.split_once("/src/").map(|it| it.1.trim_end_matches(".rs"));
        let (Some(name), Some(below)) = (source.crate_name(), below) else { continue };
        let mut module: Module = below.to_owned().leak().split('/').collect();
        module.pop_if(|name| ["mod", "lib", "main"].contains(name));
        let lines = source.code().iter().copied().filter(|line| !line.starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n").leak();
        crates.entry(name).or_default().insert(module, code);
    }
    let (mut cycles, mut complaints) = (Cycles::new(), Vec::new());
    let is_verb = |module: &[&str]| module.len() > 1 && module[0] == VERBS.1;
    if !crates.get(VERBS.0).is_some_and(|modules| modules.keys().any(|it| is_verb(it))) {
        complaints.push(format!("crates/{}/src/{}: no verbs, adapt VERBS", VERBS.0, VERBS.1));
    }
    for (name, modules) in &crates {
        let mut graph = BTreeMap::new();
        for (module, code) in modules {
            let uses = uses(code, module, modules);
            let verbs = uses.iter().map(|it| it.0).filter(|it| is_verb(it) && is_verb(module));
            for other in verbs.filter(|it| *name == VERBS.0 && it[1] != module[1]) {
                complaints.push(format!(
                    "the verb `{}` uses `{}`: move what both need into a shared module",
                    module[1], other[1]
                ));
            }
            let counted: BTreeSet<&Module> = uses.iter().filter(|it| it.1).map(|it| it.0).collect();
            graph.insert(module, counted);
        }
        cycles.insert((*name).to_owned(), groups(&graph));
    }
    (cycles, complaints)
}

/// Modules that a module uses, and whether a cycle may contain the use.
fn uses<'m>(
    code: &'static str,
    module: &Module,
    modules: &'m BTreeMap<Module, &str>,
) -> Vec<(&'m Module, bool)> {
    let is_child = |it: &&Module| it.len() == module.len() + 1 && it.starts_with(module);
    let children: Vec<_> = modules.keys().filter(is_child).filter(|it| it.len() > 1).collect();
    let up = |levels: usize| &module[..module.len().saturating_sub(levels)];
    let mut uses = Vec::new();
    for (at, _) in code.match_indices(':').filter(|it| code[it.0..].starts_with("::")) {
        let before = code[..at].trim_end_matches(is_of_name);
        let (name, mut rest) = (&code[before.len()..at], &code[at + 2..]);
        let child = children.iter().find(|it| it[module.len()] == name);
        // Otherwise a part of a longer path, or a visibility.
        let is_start = !before.ends_with(':') && !before.ends_with("in ");
        let is_path = is_start && ["crate", "super"].contains(&name);
        let is_comment = || before.rsplit('\n').next().is_some_and(|line| line.contains("//"));
        if child.is_none() && !is_path || is_comment() {
            continue;
        }
        uses.extend(child.map(|it| (*it, true)));
        if !is_path {
            continue;
        }
        let (mut paths, mut levels) = (Vec::new(), usize::from(name == "super"));
        while let Some(above) = rest.strip_prefix("super::").filter(|_| levels > 0) {
            (rest, levels) = (above, levels + 1);
        }
        // Otherwise a use of everything, or the end of a text in quotation marks.
        if rest.starts_with(|sign| sign == '{' || is_of_name(sign)) {
            expand(rest, if levels == 0 { &[] } else { up(levels) }, &mut paths);
        }
        let is_counted = levels == 0 || levels == 1 && !rest.starts_with('{');
        // A use of what is above the parent counts as one of the parent.
        let parent = (levels > 1).then(|| (up(1).to_vec(), true));
        for (path, is_counted) in paths.into_iter().map(|it| (it, is_counted)).chain(parent) {
            let found = (1..=path.len()).rev().find_map(|n| modules.get_key_value(&path[..n]));
            let other = found.map(|it| it.0).filter(|it| !it.starts_with(module));
            uses.extend(other.map(|it| (it, is_counted)));
        }
    }
    uses
}

fn is_of_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// Adds the paths of a tree such as `a::{b, c::d}`, behind `prefix`. Returns the text that follows the tree.
fn expand<'s>(text: &'s str, prefix: &[&'s str], paths: &mut Vec<Vec<&'s str>>) -> &'s str {
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
    if let Some(rest) = rest.strip_prefix("::") {
        return expand(rest, &path, paths);
    }
    paths.push(path);
    rest
}

/// Groups of modules each of which reaches all others of its group.
fn groups(graph: &BTreeMap<&Module, BTreeSet<&Module>>) -> Vec<String> {
    let reached = graph.keys().map(|from| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![*from]);
        while let Some(module) = next.pop() {
            next.extend(graph[module].iter().filter(|it| reached.insert(**it)));
        }
        (*from, reached)
    });
    let all: BTreeMap<&Module, BTreeSet<&Module>> = reached.collect();
    let group = |(module, others): (&&Module, &BTreeSet<&Module>)| {
        let group: Vec<_> = others.iter().filter(|it| all[**it].contains(*module)).collect();
        let is_first = group.len() > 1 && group[0] == module;
        is_first.then(|| group.iter().map(|it| it.join("::")).collect::<Vec<_>>().join(" "))
    };
    all.iter().filter_map(group).collect()
}
