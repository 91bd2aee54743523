//! Which crate uses which, and that the modules of each crate form no circle.
//!
//! At every level the modules of one folder are compared, each with all that is below it: neither two files nor two
//! folders next to each other may use each other. A module and its parent may, and tests may use what they like.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    iter::Peekable,
    path::Path,
    str::Chars,
};

use super::{ARROWS, dependencies, sources};

/// Uses that close a circle and are allowed: the crate, the module and what it uses, which is next to it.
const ALLOWED: [(&str, &str, &str); 7] = [
    // A context is made of options, and options choose one.
    ("cli", "context", "options"),
    // Known, and to be resolved.
    ("cli", "cmd::ab::side", "revision"),
    ("experiment", "cohort::course", "prepare"),
    ("judge", "load::faults", "limit"),
    ("report", "analysis::comparison", "levels"),
    ("schema", "suite::raw_workload", "raw"),
    ("schema", "suite::workload", "raw_workload"),
];
/// The folder with one module per verb of the program. No verb may use another one.
const VERBS: &str = "crates/cli/cmd";
/// What the tests of a file begin with.
const TESTS: &str = "#[cfg(test)]\nmod ";

/// The names of a module, from the root of its crate.
type Module = Vec<String>;
/// The modules that each module uses, of those with the same parent.
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
    let mut crates: BTreeMap<String, BTreeMap<Module, String>> = BTreeMap::new();
    for path in sources(root) {
        let Ok(relative) = path.strip_prefix(root.join("crates")) else { continue };
        let mut parts = relative.iter().map(|part| part.to_string_lossy().into_owned());
        let (Some(name), Some("src")) = (parts.next(), parts.next().as_deref()) else { continue };
        let module = module(&parts.collect::<Vec<_>>());
        if module.iter().any(|part| part == "tests") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let code = text.split(TESTS).next().unwrap_or_default().to_owned();
        crates.entry(name).or_default().insert(module, code);
    }
    let mut graphs: BTreeMap<(&str, Module), Graph> = BTreeMap::new();
    for (name, modules) in &crates {
        for (parent, graph) in siblings(modules) {
            graphs.insert((name, parent), graph);
        }
    }
    let unused = ALLOWED.iter().filter_map(|(name, module, used)| {
        let (parent, last) = module.rsplit_once("::").unwrap_or(("", module));
        let parent = parent.split("::").filter(|it| !it.is_empty()).map(str::to_owned).collect();
        let graph = graphs.get_mut(&(*name, parent));
        let was_used = graph.is_some_and(|it| it.get_mut(last).is_some_and(|it| it.remove(*used)));
        let text =
            format!("crates/{name}: `{module}` does not use `{used}`: remove it from ALLOWED");
        (!was_used).then_some(text)
    });
    let mut complaints: Vec<String> = unused.collect();
    for ((name, parent), graph) in &graphs {
        let shown = [&["crates".to_owned(), (*name).to_owned()], &parent[..]].concat().join("/");
        complaints.extend(circles(graph).iter().map(|modules| {
            format!("{shown}: modules use each other in a circle: {}", modules.join(", "))
        }));
        if shown == VERBS {
            complaints.extend(graph.iter().filter(|it| !it.1.is_empty()).map(|(verb, used)| {
                format!("{shown}: the verb `{verb}` uses {used:?}: move what both need into a shared module")
            }));
        }
    }
    complaints
}

/// The module of the file with this path below `src`.
fn module(parts: &[String]) -> Module {
    let names = parts.iter().map(|part| part.trim_end_matches(".rs").to_owned());
    let mut names: Module = names.collect();
    let is_folder = |name: &mut String| ["mod", "lib", "main"].contains(&name.as_str());
    names.pop_if(is_folder);
    names
}

/// For each module that has others below it: which of these use which. A use of something deep below one of them is a
/// use of that one.
fn siblings(modules: &BTreeMap<Module, String>) -> BTreeMap<Module, Graph> {
    let mut graphs: BTreeMap<Module, Graph> = BTreeMap::new();
    for (module, code) in modules {
        for depth in 0..module.len() {
            let graph = graphs.entry(module[..depth].to_vec()).or_default();
            graph.entry(module[depth].clone()).or_default();
        }
        for used in used_paths(code, module) {
            let common = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
            let is_module = used.len() > common && modules.contains_key(&used[..=common]);
            if common < module.len() && is_module {
                let graph = graphs.entry(module[..common].to_vec()).or_default();
                graph.entry(module[common].clone()).or_default().insert(used[common].clone());
            }
        }
    }
    graphs
}

/// The paths within the crate that `text`, the code of `module`, names, from the root of the crate.
fn used_paths(text: &str, module: &[String]) -> Vec<Module> {
    let code: Vec<&str> =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut paths = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            // A part of a longer path or name, or a visibility.
            let before = &code[..at];
            let is_part = before.ends_with(|sign: char| sign == ':' || is_of_name(sign));
            if !is_part && !before.ends_with("in ") {
                expand(&mut code[at..].chars().peekable(), &[], &mut paths);
            }
        }
    }
    let absolute = paths.into_iter().map(|path| {
        let mut absolute = module.to_vec();
        for name in path {
            match name.as_str() {
                "crate" => absolute.clear(),
                "self" => {}
                "super" => drop(absolute.pop()),
                _ => absolute.push(name),
            }
        }
        absolute
    });
    absolute.filter(|path| !path.is_empty()).collect()
}

fn is_of_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// All paths of a tree such as `a::{b, c::d}`, behind `prefix`.
fn expand(signs: &mut Peekable<Chars<'_>>, prefix: &[String], paths: &mut Vec<Module>) {
    while signs.next_if(|sign| sign.is_whitespace()).is_some() {}
    if signs.next_if_eq(&'{').is_some() {
        loop {
            expand(signs, prefix, paths);
            match signs.find(|sign| [',', '}'].contains(sign)) {
                Some(',') => {}
                _ => return,
            }
        }
    }
    let mut name = String::new();
    while let Some(sign) = signs.next_if(|sign| is_of_name(*sign)) {
        name.push(sign);
    }
    let path = if name.is_empty() { prefix.to_vec() } else { [prefix, &[name]].concat() };
    if signs.next_if_eq(&':').is_some() && signs.next_if_eq(&':').is_some() {
        expand(signs, &path, paths);
    } else {
        paths.push(path);
    }
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

    fn path(text: &str) -> Module {
        text.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn every_way_to_name_a_module_is_found() {
        let text = "use crate::{\n    a::{b, c as x, *},\n    d,\n};\n// crate::no\nuse super::e::F;\n\
                    fn g() { self::h::i(); super::super::j::k() }\npub(in crate::no) use crate::l;\n";
        let mut used = used_paths(text, &path("m::n"));
        used.sort();
        let expected = ["a", "a::b", "a::c", "d", "j::k", "l", "m::e::F", "m::n::h::i"].map(path);
        assert_eq!(used, expected);
    }

    #[test]
    fn files_of_one_folder_that_use_each_other_are_found_and_their_parent_is_none() {
        let modules = [
            ("a", "use self::b::X;"),
            ("a::b", "use super::{c::Y, Z};"),
            ("a::c", "use crate::{a::b::deep::W, d};"),
            ("a::b::deep", "use super::V;"),
            ("d", ""),
        ];
        let modules = modules.map(|(module, code)| (path(module), code.to_owned()));
        let graphs = siblings(&modules.into());
        assert_eq!(circles(&graphs[&path("a")]), [["b", "c"]]);
        assert_eq!(circles(&graphs[&Vec::new()]), Vec::<Vec<&str>>::new());
        assert_eq!(graphs[&Vec::new()]["a"], ["d".to_owned()].into());
    }

    #[test]
    fn a_circle_is_found_and_a_chain_is_none() {
        let chain = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &[])]);
        assert_eq!(circles(&chain), Vec::<Vec<&str>>::new());
        let circle = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"]), ("d", &["a"])]);
        assert_eq!(circles(&circle), [["b", "c"]]);
    }
}
