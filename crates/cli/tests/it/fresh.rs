//! Entries that `wirebench new` makes: they build and do what `hello` asks as they are.

use crate::{golden, world::World};
use expect_test::expect_file;

/// Makes an entry, builds it and verifies it.
fn make_and_verify(language: &str) {
    let world = World::new();
    let name = format!("{language}/mine");
    let made = world.wirebench(&["new", &name]).ended(0);
    assert!(made.stdout.contains(&format!("1. wirebench verify {name}")), "{made:#?}");
    let listed = world.stdout(&["list", &format!("{language}/")]);
    assert!(listed.lines().any(|it| it == "1 entry with 1 variant: 1 ready"), "{listed}");
    let verified = world.wirebench(&["verify", &name, "--quiet"]).ended(0);
    assert!(verified.stdout.contains(", 0 failed, "), "{verified:#?}");
    let taken = format!("entries/{name} exists already: choose another name, or remove it first");
    world.wirebench(&["new", &name]).assert_error(2, &taken);
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
    let text = world.stdout(&["new", "cobol/mine"]) + &world.stdout(&["list", "cobol/mine"]);
    expect_file!["../golden/new-cobol.txt"].assert_eq(&text);
}

#[test]
fn a_name_that_cannot_be_one_is_refused_with_one_that_can() {
    let rows: [&[&str]; 4] = [&["mine"], &["c/"], &["c/a b"], &["own/mine"]];
    golden::assert_refusals(&World::new(), "new", &rows);
}
