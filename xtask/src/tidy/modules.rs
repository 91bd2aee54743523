//! Which crate uses which, and that the modules of each crate form no circle.
//!
//! A module is a file or a folder directly below `src`; tests may use what they like.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::{ARROWS, dependencies, sources};

/// Uses that close a circle and are allowed: the crate, the module, what it uses, and why.
const ALLOWED: [(&str, &str, &str, &str); 1] =
    [("cli", "context", "options", "a context is made of options, and options choose one")];
/// What the tests of a file begin with.
const TESTS: &str = "#[cfg(test)]\nmod ";

/// The modules that each module uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The crates, one a line, each with those that it uses.
pub(super) fn graph(root: &Path) -> String {
    let line = |name: &str| {
        let path = root.join(format!("crates/{name}/Cargo.toml"));
        let manifest = fs::read_to_string(path).unwrap_or_default();
        let used: Vec<&str> = dependencies(&manifest).collect();
        let used = if used.is_empty() { "no other crate".to_owned() } else { used.join(", ") };
        format!("   {name:<11} -> {used}\n")
    };
    ARROWS.iter().map(|(name, _)| line(name)).collect()
}

/// A complaint for each circle of modules that is not allowed, and for each use that is allowed and is
/// not there.
pub(super) fn complaints(root: &Path) -> Vec<String> {
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for path in sources(root) {
        let Ok(relative) = path.strip_prefix(root.join("crates")) else { continue };
        let mut parts = relative.iter().map(|part| part.to_string_lossy().into_owned());
        let (Some(name), Some("src")) = (parts.next(), parts.next().as_deref()) else { continue };
        let parts: Vec<String> = parts.collect();
        let is_test = |part: &String| part == "tests" || part == "tests.rs";
        let Some(module) = parts.first().filter(|_| !parts.iter().any(is_test)) else { continue };
        let module = module.trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut code = text.split(TESTS).next().unwrap_or_default().to_owned();
        if parts.len() == 1 {
            code = code.replace("super::", "crate::");
        }
        let mut used = used_modules(&code);
        used.remove(&module);
        graphs.entry(name).or_default().entry(module).or_default().append(&mut used);
    }
    let unused = ALLOWED.iter().filter_map(|(name, module, used, _)| {
        let was_used = graphs.get_mut(*name)?.get_mut(*module)?.remove(*used);
        let text =
            format!("crates/{name}: `{module}` does not use `{used}`: remove it from ALLOWED");
        (!was_used).then_some(text)
    });
    let mut complaints: Vec<String> = unused.collect();
    for (name, graph) in &graphs {
        complaints.extend(circles(graph).iter().map(|modules| {
            format!("crates/{name}: modules use each other in a circle: {}", modules.join(", "))
        }));
    }
    complaints
}

/// The modules that `text` names behind `crate::`.
fn used_modules(text: &str) -> BTreeSet<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    code.split("crate::").skip(1).flat_map(names).collect()
}

/// The first names of a path, or of each path in braces.
fn names(path: &str) -> Vec<String> {
    let Some(list) = path.strip_prefix('{') else { return vec![first_name(path)] };
    let (mut depth, mut names, mut item) = (0, Vec::new(), String::new());
    for sign in list.chars() {
        match sign {
            '}' if depth == 0 => break,
            ',' if depth == 0 => names.push(first_name(&std::mem::take(&mut item))),
            _ => {
                depth += i32::from(sign == '{') - i32::from(sign == '}');
                item.push(sign);
            }
        }
    }
    names.push(first_name(&item));
    names.retain(|name| !name.is_empty());
    names
}

fn first_name(path: &str) -> String {
    let name = |sign: &char| sign.is_ascii_alphanumeric() || *sign == '_';
    path.trim_start().chars().take_while(name).collect()
}

/// The groups of modules each of which reaches all others of its group.
fn circles(graph: &Graph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|name| (name.as_str(), reached_from(graph, name))).collect();
    let group = |name: &str| -> Vec<&str> {
        let both =
            |other: &&&str| reached[name].contains(**other) && reached[**other].contains(name);
        reached.keys().filter(both).copied().collect()
    };
    let groups: BTreeSet<Vec<&str>> = reached.keys().map(|name| group(name)).collect();
    groups.into_iter().filter(|group| group.len() > 1).collect()
}

fn reached_from<'a>(graph: &'a Graph, name: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = graph[name].iter().map(String::as_str).collect();
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(graph.get(name).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(arrows: &[(&str, &[&str])]) -> Graph {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        arrows.iter().map(|(name, used)| ((*name).to_owned(), names(used))).collect()
    }

    #[test]
    fn every_way_to_name_a_module_is_found() {
        let text = "use crate::{\n    a::{b, c},\n    d,\n};\n// crate::no\nuse crate::e::F;\n\
                    fn g() { crate::h::i(); }\n";
        let used: Vec<String> = used_modules(text).into_iter().collect();
        assert_eq!(used, ["a", "d", "e", "h"]);
    }

    #[test]
    fn a_circle_is_found_and_a_chain_is_none() {
        let chain = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &[])]);
        assert_eq!(circles(&chain), Vec::<Vec<&str>>::new());
        let circle = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"]), ("d", &["a"])]);
        assert_eq!(circles(&circle), [["b", "c"]]);
    }
}
