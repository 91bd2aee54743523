//! The output of verbs against golden files. `UPDATE_EXPECT=1 cargo test -p wirebench golden` writes
//! them anew; review the difference.

use crate::world::{ENTRY, World, assert_has};
use expect_test::expect_file;
use std::{collections::BTreeSet, fs};
use wirebench_schema::argv;

/// Compares the errors of `verb` for each of `rows`, which it must refuse, with
/// `golden/refused/VERB.txt`.
#[track_caller]
pub(crate) fn assert_refusals(world: &World, verb: &str, rows: &[&[&str]]) {
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| [&[verb], *row].concat()).collect();
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    assert_refused_commands(world, verb, &rows);
}

/// The same with commands of several verbs and `golden/refused/NAME.txt`.
#[track_caller]
pub(crate) fn assert_refused_commands(world: &World, name: &str, commands: &[&[&str]]) {
    let mut text = String::new();
    for arguments in commands {
        let outcome = world.wirebench(arguments);
        let is_usage = outcome.code == Some(2);
        outcome.assert_refused(if is_usage { 2 } else { 1 }, &["error: "]);
        let code = if is_usage { "" } else { "(exit code 1)\n" };
        let shown = argv::display(&arguments.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        // The help has the usage that clap adds to an error.
        let added = ["\n\nUsage:", "\n\nFor more information"];
        let ends = added.iter().filter_map(|it| outcome.stderr.find(it));
        let error = &outcome.stderr[..ends.min().unwrap_or(outcome.stderr.len())];
        text += &format!("$ {shown}\n{code}{}\n\n", error.trim_end());
    }
    let text = world.without_places(&text);
    expect_file![format!("../golden/refused/{name}.txt")].assert_eq(&text);
}

/// The verbs that `--help` lists.
const VERBS: &str = "run ab load tune report compare join site list new build verify serve versions setup doctor \
                     schema completions man";

/// An option of a help text with its lines, or a line of anything else.
fn options_and_lines(help: &str) -> Vec<Vec<&str>> {
    let mut parts: Vec<Vec<&str>> = Vec::new();
    for line in help.lines() {
        let text = line.trim_start();
        match parts.last_mut() {
            Some(option) if is_option(option) && line.len() - text.len() > OPTION_INDENT => {
                option.push(line);
            }
            _ => parts.push(vec![line]),
        }
    }
    parts
}

/// Where the name of an option begins at the latest.
const OPTION_INDENT: usize = 6;

fn is_option(part: &[&str]) -> bool {
    part[0].starts_with("  ") && part[0].trim_start().starts_with('-')
}

/// A help text in which options that `known` has in the same words are only named.
fn with_new_options(help: &str, known: &mut BTreeSet<String>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in options_and_lines(help) {
        let words = part.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        if !is_option(&part) || known.insert(words.clone()) {
            lines.extend(part.into_iter().map(str::to_owned));
            continue;
        }
        let names: String = words.split(' ').take_while(|it| it.starts_with('-')).collect();
        match lines.last_mut().filter(|it| it.starts_with(AS_BEFORE)) {
            Some(line) => *line += &format!(" {names}"),
            None => lines.push(format!("{AS_BEFORE} {names}")),
        }
    }
    lines.join("\n") + "\n"
}

/// Options that an earlier verb of [`VERBS`] explains.
const AS_BEFORE: &str = "  (as before)";

/// The options of `load` are compared with those in the manual, and each other option with its first explanation.
#[test]
fn golden_help() {
    let world = World::new();
    let text = world.stdout(&["--help"]);
    expect_file!["../golden/help/wirebench.txt"].assert_eq(&text);
    let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let is_verb = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names: Vec<&str> =
        listed.filter(is_verb).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.join(" "), format!("{VERBS} help"));
    let mut known = BTreeSet::new();
    for verb in VERBS.split(' ') {
        let mut text = world.stdout(&[verb, "--help"]);
        if verb == "load" {
            text = without_options_of_manual(&text);
        }
        let text = with_new_options(&text, &mut known);
        expect_file![format!("../golden/help/{verb}.txt")].assert_eq(&text);
    }
}

/// The help of `load` without the options, which must be in its manual. `UPDATE_EXPECT=1` writes them there.
fn without_options_of_manual(help: &str) -> String {
    const MARKS: [&str; 2] = ["<!-- options: begin -->\n", "<!-- options: end -->"];
    let manual = include_str!("../../../../docs/load.md");
    let (begin, rest) = help.split_once("\nLoad:\n").unwrap();
    let (options, end) = rest.split_once("\n\nUnits:").unwrap();
    let (before, rest) = manual.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    let [first, last] = MARKS;
    let written = format!("{before}{first}\n```text\nLoad:\n{options}\n```\n\n{last}{after}");
    expect_file!["../../../../docs/load.md"].assert_eq(&written);
    format!("{begin}\n(options: docs/load.md)\n\nUnits:{end}")
}

#[test]
fn a_completion_script_names_every_verb_and_the_manual_has_a_page_for_each() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.stdout(&["completions", shell]);
        let missing: Vec<_> = VERBS.split(' ').filter(|verb| !script.contains(*verb)).collect();
        assert_eq!(missing, [""; 0], "{shell}");
        assert!(!script.contains("null-server"), "{shell} completes an internal verb: {script}");
    }
    assert_eq!(world.stdout(&["man", "pages"]), "manual pages written to pages\n");
    let page = |name: &str| {
        let text = fs::read_to_string(world.path("pages").join(name)).unwrap();
        assert!(text.lines().any(|line| line == ".SH SYNOPSIS"), "{name}: {text}");
        text
    };
    for verb in VERBS.split(' ') {
        let page = page(&format!("wirebench-{verb}.1"));
        assert!(page.contains(&format!(".TH wirebench-{verb} 1")), "{page}");
        let (_, examples) = page.split_once("\n.SH EXAMPLES\n.nf\n").unwrap();
        assert!(examples.starts_with(&format!("wirebench {verb}")), "{examples}");
        assert!(examples.ends_with("\n.fi\n"), "{examples}");
    }
    let main = page("wirebench.1");
    assert!(main.contains("wirebench\\-load(1)") && !main.contains("null\\-server"), "{main}");
    assert!(!world.path("pages/wirebench-guard.1").exists());
}

/// What is typed, and the names that a shell completes it with in a project with `c/mine` and `ours`.
const COMPLETED: [(&str, &str); 11] = [
    ("run ou", "ours"),
    ("run c/", "c/mine"),
    ("verify c/ builtin/e", "builtin/epoll"),
    ("tune c/m", "c/mine"),
    ("serve c/m", "c/mine"),
    ("list --framework m", "mine"),
    ("list --mechanism e", "epoll"),
    ("compare --metric p99", "p99 p999"),
    ("run --phase s", "saturate"),
    ("run --scenario hello-", "hello-timeout"),
    ("schema jo", "journal"),
];

/// A project with an entry and a suite, and the script of a shell in its folder.
fn completing(shell: &str) -> World {
    let suite = "description = \"An example.\"\nblocks = 1\n";
    let world = World::new().with_entry("c/mine", ENTRY).with_suite("ours.toml", suite);
    world.write("script", world.stdout(&["completions", shell]));
    world
}

#[test]
#[ignore = "needs fish"]
fn the_script_for_fish_completes_the_same_names_with_fish() {
    let world = completing("fish");
    for (typed, expected) in COMPLETED {
        let line = format!("source ./script; complete -C 'wirebench {typed}'");
        let mut fish = std::process::Command::new("fish");
        let output = fish.args(["-c", &line]).current_dir(world.folder.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let found: Vec<&str> = text.lines().filter_map(|it| it.split('\t').next()).collect();
        for name in expected.split(' ') {
            assert!(found.contains(&name), "{typed}: {output:?}");
        }
    }
}

#[test]
fn bash_completes_entries_suites_and_the_values_of_options() {
    let world = completing("bash");
    for (typed, expected) in COMPLETED {
        let words: Vec<&str> = typed.split(' ').collect();
        let [.., previous, current] = words[..] else { panic!("{typed}") };
        let line = format!(
            "source ./script; COMP_WORDS=(wirebench {typed}); COMP_CWORD={}; \
             _wirebench wirebench {current} {previous}; echo \"${{COMPREPLY[@]}}\"",
            words.len()
        );
        let mut bash = std::process::Command::new("bash");
        let output = bash.args(["-c", &line]).current_dir(world.folder.path()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected, "{output:?}");
    }
    // Without a folder for the embedded entries, the rest is completed.
    let alone =
        world.wirebench_with(&[("WIREBENCH_PROJECT", "/nowhere")], &["completions", "bash"]);
    let alone = alone.ended(0);
    assert!(
        alone.stderr.starts_with("warning: entries and suites are not completed: "),
        "{alone:?}"
    );
    assert!(alone.stdout.contains("saturate") && !alone.stdout.contains("c/mine"), "{alone:?}");
}

/// A checkout with an entry that is ready to build, one that needs setup and one that is wrong.
fn entries() -> World {
    let step = "[[build]]\ncommand = [\"true\"]\n";
    let needs = "[[requires]]\ncommand = \"no-such-program\"\ndebian = [\"some-package\"]\n";
    let deviation = "[[deviation]]\nchecks = [\"half-close\"]\nreason = \"by design\"\n";
    World::new()
        .with_entry("c/ready", &format!("{ENTRY}{step}{deviation}"))
        .with_entry("c/needy", &format!("{ENTRY}{needs}"))
        .with_entry("c/wrong", &ENTRY.replace("skips", "skipz"))
}

#[test]
fn golden_list() {
    let world = entries();
    expect_file!["../golden/list.txt"].assert_eq(&world.stdout(&["list", "c/"]));
    expect_file!["../golden/list-entry.txt"].assert_eq(&world.stdout(&["list", "c/ready"]));
    let markdown = world.stdout(&["list", "c/", "--format=markdown"]);
    expect_file!["../golden/list.md"].assert_eq(&markdown);
    expect_file!["../golden/list.json"].assert_eq(&world.stdout(&["list", "c/needy", "--json"]));
}

#[test]
fn golden_verify() {
    let world = entries();
    let checks = world.stdout(&["verify", "--checks"]);
    // What a check is about and for is in its crate; all that is shown of one is in the first paragraph.
    let heads = checks.split("\n\n").map(|it| it.lines().next().unwrap());
    let (first, _) = checks.split_once("\n\n").unwrap();
    let shown = format!("{first}\n{}\n", heads.collect::<Vec<_>>().join("\n"));
    expect_file!["../golden/verify-checks.txt"].assert_eq(&shown);
    assert_eq!(checks.matches("\n  for: ").count(), checks.split("\n\n").count());
    let outcome = world.wirebench(&["verify", "c/", "-j1", "--junit", "verify.xml"]).ended(1);
    let is_skip = |line: &&str| line.starts_with("SKIP  c/ready hello ");
    let (skips, others): (Vec<&str>, Vec<&str>) = outcome.stdout.lines().partition(is_skip);
    expect_file!["../golden/verify.txt"].assert_eq(&format!("{}\n", others.join("\n")));
    assert!(skips.iter().all(|it| it.ends_with(": the server was never ready")), "{skips:?}");
    let junit = world.read("verify.xml");
    assert_has(&junit, &["tests=\"22\" failures=\"2\" errors=\"0\" skipped=\"20\">"]);
}

#[test]
fn golden_new() {
    let text = World::new().stdout(&["new", "rust/mine"]);
    expect_file!["../golden/new.txt"].assert_eq(&text);
}
