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
        let code = code.collect::<Vec<_>>().join("\n").replace("pub(in crate::", "pub(in ");
        crates.entry(name).or_default().insert(module, code);
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
    for mut path in paths(code) {
        let is_above =
            |part: &&[&str]| part[0] == "super" && ![&[][..], &[""]].contains(&&part[1..]);
        let from_parent = path.split(|name| *name == "{").rfind(is_above).map(<[_]>::to_vec);
        path.retain(|name| *name != "{");
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
        // A use of what is above the parent counts as one of the parent, and a list behind `super::` as none.
        counted.extend(match from_parent {
            Some(path) => find(&[above(1), &path[1..]].concat()),
            None => find(&whole).filter(|_| path[0] == "crate"),
        });
    }
    (counted, all)
}

/// The paths of code, each path of a list with all names in front of the list and a `{`. The last name is empty if a
/// path ends in another sign, such as that of a use of everything.
fn paths(code: &str) -> Vec<Path<'_>> {
    let is_end = |sign: char| !sign.is_ascii_alphanumeric() && sign != '_';
    let (mut paths, mut path, mut rest) = (Vec::new(), Path::new(), code);
    let (mut prefixes, mut is_joined) = (Vec::new(), false);
    while !rest.is_empty() {
        let (name, after) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
        let is_new = is_joined || !name.is_empty();
        path.extend(is_new.then_some(name));
        is_joined = !name.is_empty() && after.starts_with("::");
        if is_joined {
            rest = &after[2..];
            if let Some(list) = rest.strip_prefix('{') {
                path.push("{");
                prefixes.push(path.clone());
                (rest, is_joined) = (list, false);
            }
            continue;
        }
        if is_new && path.len() > 1 {
            paths.push(path);
        }
        let mut signs = after.chars();
        match signs.next() {
            Some('{') => prefixes.push(Path::new()),
            Some('}') => drop(prefixes.pop()),
            _ => {}
        }
        (rest, path) = (signs.as_str(), prefixes.last().cloned().unwrap_or_default());
    }
    paths
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
