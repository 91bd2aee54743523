//! The keys of `entry.toml`, the inheritance of variants, and the message for each mistake.

use super::*;

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

fn error_of(text: &str) -> String {
    Entry::parse("cpp/example", text).unwrap_err().to_string()
}

#[test]
fn an_entry_without_variants_has_one_unnamed_variant() {
    let entry = Entry::parse("cpp/example", MINIMAL).unwrap();
    assert_eq!(entry.variants.len(), 1);
    assert_eq!(entry.variants[0].id.to_string(), "cpp/example");
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
    let message = error_of(&format!("{MINIMAL}{silent}"));
    assert!(message.contains("says its `reason`"), "{message}");
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
    let message = error_of(&MINIMAL.replace("skips", "skipz"));
    assert!(message.contains("line 9: unknown key `skipz`: did you mean `skips`?"), "{message}");
    let message = error_of(&MINIMAL.replace("ready", "raedy"));
    assert!(message.contains("raedy"), "{message}");
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

#[test]
fn each_mistake_is_answered_with_what_to_write() {
    let rows = [
        (MINIMAL.replace("\"library\"", "\"fast\""), "unknown variant `fast`"),
        (MINIMAL.replace("[\"hello\", \"echo\"]", "[]"), "has no scenario"),
        (MINIMAL.replace("{port}", "{prot}"), "did you mean `port`?"),
        (MINIMAL.replace("\"echo\"", "\"hello\""), "names a scenario twice"),
        (MINIMAL.replace("\"line\"", "\"connect\"").replace("{port}", "80"), "where {port} goes"),
        (MINIMAL.replace("[\"{build}/server\", \"{port}\"]", "[]"), "write the program first"),
        (format!("{MINIMAL}[[requires]]\ndebian = [\"gcc\"]\n"), "exactly one of"),
        (with_package("-oDPkg::Pre-Invoke::=x"), "`-oDPkg::Pre-Invoke::=x` is not the name"),
        (with_package("./x.deb"), "`./x.deb` is not the name"),
        (with_package("openssl-"), "`openssl-` is not the name"),
        (format!("{MINIMAL}[[requires]]\nprobe = [\"x\"]\n"), "a `probe` needs `what`"),
        (format!("{MINIMAL}[[requires]]\ncommand = \"x\"\nwhat = \"x\"\n"), "leave it out"),
        (
            format!("{MINIMAL}[[requires]]\ncommand = \"x\"\nfetch = [\"get\", \"{{port}}\"]\n"),
            "`{port}` has no value here: it knows build, source, variant",
        ),
        (format!("{MINIMAL}[[build]]\ncommand = [\"cc\", \"{{host}}\"]\n"), "no value here"),
        (
            format!("{MINIMAL}[[build]]\ncommand = [\"cc\"]\nenv = {{ A = \"{{buidl}}\" }}\n"),
            "did you mean `build`?",
        ),
        (format!("{MINIMAL}env = {{ \"A=B\" = \"x\" }}\n"), "not the name of a variable"),
        (format!("{MINIMAL}[[requires]]\nkernel = \"new\"\n"), "such as 5.19"),
        (
            format!("{MINIMAL}[[variant]]\nname = \"a\"\n[[variant]]\nname = \"a\"\n"),
            "two variants",
        ),
        (format!("{MINIMAL}[[variant]]\nname = \"a b\"\n"), "not an entry's name"),
        (MINIMAL.replace("skips = []", ""), "missing field `skips`"),
        (MINIMAL.replace("command = [\"cc\", \"--version\"]", ""), "one of command and file"),
    ];
    for (text, part) in rows {
        let message = error_of(&text);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn the_names_of_wirebenchs_own_servers_are_reserved() {
    let message = Entry::parse("builtin/epoll", MINIMAL).unwrap_err().to_string();
    assert!(message.contains("`builtin/` is wirebench's own"), "{message}");
    let message = Entry::parse("c/shared", MINIMAL).unwrap_err().to_string();
    assert!(message.contains("`shared` is the folder of what entries share"), "{message}");
}

#[test]
fn a_scenario_that_is_not_offered_is_refused_with_those_that_are() {
    let entry = Entry::parse("cpp/example", MINIMAL).unwrap();
    let variant = &entry.variants[0];
    assert_eq!(variant.check_scenario(Scenario::Echo), Ok(()));
    let message = variant.check_scenario(Scenario::HelloTimeout).unwrap_err();
    assert_eq!(message, "cpp/example has no scenario `hello-timeout`: it has hello, echo");
}
