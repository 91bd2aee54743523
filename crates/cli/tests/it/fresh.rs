//! Entries that `wirebench new` makes: they build and do what `hello` asks as they are.

use crate::world::World;

/// Makes an entry, builds it and verifies it.
fn make_and_verify(language: &str) {
    let world = World::new();
    let name = format!("{language}/mine");
    let made = world.wirebench(&["new", &name]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains(&format!("1. wirebench verify {name}")), "{made:#?}");
    let listed = world.wirebench(&["list", &format!("{language}/")]);
    assert!(listed.stdout.contains("1 ready"), "{}", listed.stdout);
    let verified = world.wirebench(&["verify", &name, "--quiet"]);
    assert_eq!(verified.code, Some(0), "{verified:#?}");
    assert!(verified.stdout.contains(", 0 failed, "), "{verified:#?}");
    let again = world.wirebench(&["new", &name]);
    assert_eq!(again.code, Some(2), "{again:#?}");
    assert!(again.stderr.contains("exists already"), "{again:#?}");
}

#[test]
fn a_fresh_entry_in_c_passes_its_checks() {
    make_and_verify("c");
}

#[test]
#[ignore = "needs g++"]
fn a_fresh_entry_passes_its_checks_with_cpp() {
    make_and_verify("cpp");
}

#[test]
fn a_fresh_entry_in_rust_passes_its_checks() {
    make_and_verify("rust");
}

#[test]
#[ignore = "needs go"]
fn a_fresh_entry_passes_its_checks_with_go() {
    make_and_verify("go");
}

#[test]
#[ignore = "needs python3"]
fn a_fresh_entry_passes_its_checks_with_python3() {
    make_and_verify("python");
}

#[test]
#[ignore = "needs node"]
fn a_fresh_entry_passes_its_checks_with_node() {
    make_and_verify("node");
}

#[test]
#[ignore = "needs java"]
fn a_fresh_entry_passes_its_checks_with_java() {
    make_and_verify("java");
}

#[test]
fn a_fresh_entry_in_another_language_explains_itself_and_is_no_broken_one() {
    let world = World::new();
    let made = world.wirebench(&["new", "cobol/mine"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains("1. write the server in entries/cobol/mine/"), "{made:#?}");
    let listed = world.wirebench(&["list", "cobol/mine"]);
    assert_eq!(listed.code, Some(0), "{listed:#?}");
    assert!(listed.stdout.contains("the program `cobol` is missing"), "{listed:#?}");
}

#[test]
fn a_name_that_cannot_be_one_is_refused_with_one_that_can() {
    for name in ["mine", "c/", "c/a b", "own/mine"] {
        let outcome = World::new().wirebench(&["new", name]);
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert!(outcome.stderr.contains("LANGUAGE/NAME") || name == "own/mine", "{outcome:#?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(crate::world::program());
    let output = command.args(["new", "c/mine"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("entries/ and suites/"));
}
