//! The keys of `entry.toml`, the inheritance of variants, and the message for each mistake.

use super::*;
use crate::{load::RequestOrder, mistakes::messages};
use expect_test::{expect, expect_file};

const MINIMAL: &str = r#"
title = "A"
description = "An example."
class = "library"
model = "callbacks"
mechanism = "epoll"
sharing = "shared"
scenarios = ["hello", "echo"]
skips = []
[[version]]
name = "cc"
command = ["cc", "--version"]
pattern = '(\d+)'
[run]
command = ["{build}/server", "{port}"]
ready = "line"
"#;

fn parse(text: &str) -> Result<Entry, String> {
    Entry::parse("cpp/example", text)
}

#[test]
fn an_entry_without_variants_has_one_unnamed_variant() {
    let entry = Entry::parse("cpp/example", MINIMAL).unwrap();
    assert_eq!(entry.variants.len(), 1);
    assert_eq!(entry.variants[0].id.to_string(), "cpp/example");
}

#[test]
fn a_published_form_is_added_to_the_unnamed_variant() {
    let published = "[[variant]]\nname = \"published\"\n";
    let ids = |text: String| -> Vec<String> {
        parse(&text).unwrap().variants.iter().map(|it| it.id.to_string()).collect()
    };
    let added = ids(format!("{MINIMAL}\n{published}"));
    assert_eq!(added, ["cpp/example", "cpp/example:published"]);
    let other = "[[variant]]\nname = \"shared\"\n";
    let named = ids(format!("{MINIMAL}\n{other}{published}"));
    assert_eq!(named, ["cpp/example:shared", "cpp/example:published"]);
}

#[test]
fn variants_inherit_missing_keys() {
    let text = format!(
        "{MINIMAL}\n[[variant]]\nname = \"shared\"\n[[variant]]\nname = \"one\"\nsharing = \"single\"\n\
         scenarios = [\"hello\"]\n[[variant.requires]]\ncommand = \"ninja\"\ndebian = [\"ninja-build\"]\n"
    );
    let entry = Entry::parse("cpp/example", &text).unwrap();
    let one = &entry.variants[1];
    assert_eq!(one.id.to_string(), "cpp/example:one");
    assert_eq!(
        (one.class, one.sharing, one.max_workers),
        (Class::Library, Sharing::Single, Some(1))
    );
    assert_eq!(one.scenarios, [Scenario::Hello]);
    assert_eq!(one.requires[0].need, Need::Command("ninja".into()));
    assert_eq!(entry.variants[0].max_workers, None);
}

#[test]
fn deviations_add_up_and_are_caveats() {
    let deviation = |table: &str, check: &str| {
        format!("[[{table}]]\nchecks = [\"{check}\"]\nreason = \"by design\"\n")
    };
    let text = format!(
        "{MINIMAL}{}[[variant]]\nname = \"one\"\n{}",
        deviation("deviation", "pipelined"),
        deviation("variant.deviation", "half-close")
    );
    let entry = Entry::parse("cpp/example", &text).unwrap();
    let caveats = entry.variants[0].caveats();
    assert_eq!(
        caveats,
        ["fails the check pipelined: by design", "fails the check half-close: by design"]
    );
    let silent = deviation("deviation", "pipelined").replace("by design", "");
    expect!["each [[deviation]] names its `checks` and says its `reason`"]
        .assert_eq(&parse(&format!("{MINIMAL}{silent}")).unwrap_err());
}

#[test]
fn a_probe_has_a_name_and_may_have_a_command_that_brings_the_thing() {
    let text = format!(
        "{MINIMAL}[[requires]]\nprobe = [\"dub\", \"--root={{source}}\"]\nwhat = \"the package x\"\n\
         fetch = [\"dub\", \"fetch\", \"x\"]\nhint = \"take a copy\"\n\
         [[build]]\ncommand = [\"dub\"]\nenv = {{ HOME = \"{{build}}\" }}\n"
    );
    let entry = Entry::parse("d/example", &text).unwrap();
    let variant = &entry.variants[0];
    let requirement = &variant.requires[0];
    let command = vec!["dub".to_owned(), "--root={source}".to_owned()];
    assert_eq!(requirement.need, Need::Probe { command, what: "the package x".into() });
    assert_eq!(requirement.fetch.as_ref().unwrap()[1], "fetch");
    assert_eq!(requirement.hint.as_deref(), Some("take a copy"));
    assert_eq!(variant.build[0].env["HOME"], "{build}");
}

#[test]
fn an_unknown_key_is_an_error_that_names_it_and_its_line() {
    let text = messages(MINIMAL, &[("skips", "skipz"), ("ready", "raedy")], parse);
    expect![[r#"
        skips => skipz
          line 9: unknown key `skipz`: did you mean `skips`?
        ready => raedy
          line 16: unknown key `raedy`: did you mean `ready`?
    "#]]
    .assert_eq(&text);
}

/// An entry that needs this Debian package.
fn with_package(name: &str) -> String {
    format!("{MINIMAL}[[requires]]\ncommand = \"x\"\ndebian = [\"{name}\"]\n")
}

#[test]
fn names_that_debian_has_are_packages() {
    for name in ["g++", "libc6-dev", "python3.13-venv", "0ad"] {
        let entry = Entry::parse("c/x", &with_package(name)).unwrap();
        assert_eq!(entry.variants[0].requires[0].debian, [name]);
    }
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A source in which these keys have other values.
fn source(changes: &[(&str, &str)]) -> String {
    let value = |key: &str, usual: &str| {
        let changed = changes.iter().find(|(name, _)| *name == key);
        changed.map_or(usual, |(_, value)| value).to_owned()
    };
    format!(
        "[[source]]\nrepository = \"{}\"\ncommit = \"{}\"\nname = \"{}\"\nsubmodules = true\n\
         patches = [{{ file = \"{}\", reason = \"one line fewer\" }}]\n",
        value("repository", "https://example.org/a/b.git"),
        value("commit", COMMIT),
        value("name", "b"),
        value("patches", "x.patch"),
    )
}

#[test]
fn all_variants_have_the_sources_and_say_how_they_are_patched() {
    let build = "[[build]]\ncommand = [\"cc\", \"{checkouts}/b/x.c\"]\n";
    let entry = parse(&format!("{MINIMAL}{}{build}", source(&[]))).unwrap();
    let variant = &entry.variants[0];
    let found = &variant.sources[0];
    assert_eq!((found.name.as_str(), found.submodules), ("b", true));
    assert_eq!(found.shown(), "https://example.org/a/b.git at 0123456789ab");
    assert_eq!(variant.caveats(), ["patched: one line fewer"]);
    let unnamed = source(&[]).replace("name = \"b\"\n", "");
    assert_eq!(parse(&format!("{MINIMAL}{unnamed}")).unwrap().variants[0].sources[0].name, "b");
}

#[test]
fn each_mistake_is_answered_with_what_to_write() {
    let packages = ["-oDPkg::Pre-Invoke::=x", "./x.deb", "openssl-"].map(with_package);
    let packages = packages.each_ref().map(|text| ("", text.strip_prefix(MINIMAL).unwrap()));
    let changes = [
        ("\"library\"", "\"fast\""),
        ("[\"hello\", \"echo\"]", "[]"),
        ("{port}", "{prot}"),
        ("\"echo\"", "\"hello\""),
        ("{port}\"]\nready = \"line\"", "80\"]\nready = \"connect\""),
        ("[\"{build}/server\", \"{port}\"]", "[]"),
        ("", "[[requires]]\ndebian = [\"gcc\"]\n"),
        ("", "[[requires]]\nprobe = [\"x\"]\n"),
        ("", "[[requires]]\ncommand = \"x\"\nwhat = \"x\"\n"),
        ("", "[[requires]]\ncommand = \"x\"\nfetch = [\"get\", \"{port}\"]\n"),
        ("", "[[build]]\ncommand = [\"cc\", \"{host}\"]\n"),
        ("", "[[build]]\ncommand = [\"cc\"]\nenv = { A = \"{buidl}\" }\n"),
        ("", "env = { \"A=B\" = \"x\" }\n"),
        ("", "[[requires]]\nkernel = \"new\"\n"),
        ("", "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"a\"\n"),
        ("", "[[variant]]\nname = \"a b\"\n"),
        ("", &source(&[("commit", "0123abc")])),
        ("", &source(&[("repository", "git@example.org:a/b")])),
        ("", &source(&[("repository", "https://user@example.org/a/b")])),
        ("", &source(&[("name", "../b")])),
        ("", &source(&[("patches", "../x.patch")])),
        ("", &format!("{}{}", source(&[]), source(&[]))),
        ("", &source(&[]).replace("submodules", "submodule")),
        ("", "[[build]]\ncommand = [\"cp\", \"{checkouts}/b\"]\n"),
        ("", "[[requires]]\nprobe = [\"ls\", \"{checkouts}/b\"]\nwhat = \"b\"\n"),
        ("\"{port}\"", "\"{port}\", \"{checkouts}/b\""),
        ("skips = []", ""),
        ("command = [\"cc\", \"--version\"]", ""),
    ];
    let text = messages(MINIMAL, &[&changes[..], &packages].concat(), parse);
    expect_file!["golden/mistakes.txt"].assert_eq(&text);
}

#[test]
fn the_names_of_wirebenchs_own_servers_are_reserved() {
    let message = |id| Entry::parse(id, MINIMAL).unwrap_err().to_string();
    expect!["`builtin/` is reserved: use another folder"].assert_eq(&message("builtin/epoll"));
    expect!["`shared` is the folder of what entries share: use another name"]
        .assert_eq(&message("c/shared"));
}

#[test]
fn a_scenario_that_is_not_offered_is_refused_with_those_that_are() {
    let entry = Entry::parse("cpp/example", MINIMAL).unwrap();
    let variant = &entry.variants[0];
    assert_eq!(variant.check_scenario(Scenario::Echo), Ok(()));
    let message = variant.check_scenario(Scenario::HelloTimeout).unwrap_err();
    assert_eq!(message, "cpp/example has no scenario `hello-timeout`: it has hello, echo");
}

#[test]
fn a_file_of_requests_implies_the_scenario() {
    let files = |name: &str| match name {
        "api.txt" => Ok(("x/api.txt".to_owned(), "/a\n/b\n".to_owned())),
        _ => Err("there is no such file".to_owned()),
    };
    let parse = |key: &str| {
        let text = MINIMAL.replace("skips =", &format!("{key}\nskips ="));
        Entry::parse_with("cpp/example", &text, &files)
    };
    let entry = parse("requests = \"api.txt\"\norder = \"shuffled\"").unwrap();
    let variant = &entry.variants[0];
    assert_eq!(variant.scenarios.last(), Some(&Scenario::Requests));
    let set = variant.requests.as_ref().unwrap();
    assert_eq!((set.file.as_deref(), set.requests.len()), (Some("x/api.txt"), 2));
    assert_eq!(set.order, RequestOrder::Shuffled);
    let message = parse("requests = \"none\"").unwrap_err().to_string();
    assert_eq!(message, "`requests = \"none\"`: there is no such file");
}
