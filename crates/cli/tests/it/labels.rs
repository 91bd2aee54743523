//! `--label` and the git revision: recorded by every verb that measures, and shown again.

use std::{fs, os::unix::fs::MetadataExt};

use crate::{
    revisions::git,
    world::{World, assert_has, read, write_program},
};

/// A world whose folder is a repository with one commit.
fn repository() -> World {
    let world = World::new();
    world.write("server.c", "int x;\n");
    for arguments in
        [&["init", "-q"][..], &["add", "server.c"], &["commit", "-qm", "x"], &["tag", "v1"]]
    {
        git(world.folder.path(), arguments);
    }
    git(world.folder.path(), &["tag", "-am", "x", "v1.0"]);
    world
}

#[test]
fn a_load_records_the_label_and_the_revision_of_its_folder() {
    let world = repository();
    let (_server, url) = world.serve("hello");
    let load = |options: &[&str]| {
        let all = [&["load", "-c1", "-n10", "--json", &url], options].concat();
        let json = world.stdout(&all);
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["results"][0]["load"].take()
    };
    let clean = load(&["--label", "v1.2 beta", "--csv", "loads.csv", "-o", "out"]);
    assert_eq!((&clean["label"], &clean["revision"]), (&"v1.2 beta".into(), &"v1.0".into()));
    let table = world.read("loads.csv");
    assert_has(&table, &["suite,started,label,revision,load,", ",v1.2 beta,v1.0,load,"]);
    world.write("server.c", "int y;\n");
    let dirty = load(&[]);
    assert_eq!(
        (&dirty["label"], &dirty["revision"]),
        (&serde_json::Value::Null, &"v1.0-dirty".into())
    );
    world.write("server.c", "int x;\n");
    let index = || fs::metadata(world.path(".git/index")).unwrap().ino();
    let before = index();
    assert_eq!((load(&[])["revision"].clone(), index()), ("v1.0".into(), before));
    fs::remove_dir_all(world.path(".git")).unwrap();
    assert_eq!(load(&["--label=x"])["revision"], serde_json::Value::Null);
    let refused = ["load", "--label", "a\nb", &url];
    world.wirebench(&refused).assert_refused(2, &["the label has a control character"]);
}

#[test]
fn run_records_both_and_report_and_site_show_them() {
    let world = repository();
    let run = [
        "run",
        "builtin/epoll",
        "builtin/io_uring",
        "--scenario=hello",
        "--phase=saturate",
        "--label=v1.2",
    ];
    let quick =
        ["-d100ms", "--cohorts=1", "--steady=0s", "-c2", "--quiet", "--no-verify", "--no-pin"];
    let shown = "label v1.2, revision v1.0";
    world.wirebench(&[&run[..], &quick, &["--output=out"]].concat()).assert_prints(0, &[shown]);
    let folder = crate::world::result_in(&world.path("out"));
    assert_eq!(read(&folder).start.labels.words().as_deref(), Some(shown));
    let folder = folder.display().to_string();
    world.wirebench(&["report", &folder, "--explain"]).assert_prints(0, &[shown]);
    let json = world.stdout(&["report", &folder, "--json"]);
    assert_has(&json, &["\"label\": \"v1.2\"", "\"revision\": \"v1.0\""]);
    world.wirebench(&["site", "out", "-o", "site"]).ended(0);
    let index = world.read("site/index.html");
    assert!(index.contains("v1.2, v1.0") && !index.contains("A/A"), "{index}");
    let ab = ["ab", "--a=builtin/epoll", "--b=builtin/epoll", "--label=v3", "--output=pair"];
    let outcome = world.wirebench(&[&ab[..], &quick].concat()).ended(0);
    assert!(outcome.stdout.starts_with("label v3, revision v1.0\n"), "{}", outcome.stdout);
    let tune = ["tune", "builtin/epoll", "-c2", "--workers=1", "--blocks=1", "-d100ms", "--quiet"];
    let asked = ["--no-verify", "--no-pin", "--label=v2", "--json"];
    let json = world.stdout(&[&tune[..], &asked].concat());
    assert_has(&json, &["\"label\": \"v2\""]);
    world.wait_for_silence();
}

#[test]
fn git_is_asked_once_where_a_result_records_the_revision_and_cannot_hang_a_verb() {
    let world = repository();
    let programs = tempfile::tempdir().unwrap();
    let (git, log) = (programs.path().join("git"), programs.path().join("log"));
    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let asked = |answer: &str, arguments: &[&str]| {
        let script = format!("#!/bin/sh\necho \"$2\" >>{}\n{answer}\n", log.display());
        write_program(&git, script);
        fs::write(&log, "").unwrap();
        let outcome = world.wirebench_with(&[("PATH", &path)], arguments).ended(0);
        (outcome.stdout, fs::read_to_string(&log).unwrap())
    };
    let (_server, url) = world.serve("hello");
    let load = ["load", "-c1", "-n10", &url];
    assert_eq!(asked("echo v7", &load).1, "");
    let json = [&load[..], &["--json"]].concat();
    let (stdout, words) = asked("echo v7", &json);
    assert_has(&stdout, &["\"revision\": \"v7\""]);
    assert_eq!(words, "describe\nstatus\n");
    let (stdout, words) = asked("exec sleep 60", &json);
    assert!(!stdout.contains("\"revision\"") && words == "describe\n", "{stdout}");
    let tune = ["tune", "builtin/epoll", "-c2", "--workers=1", "--blocks=1", "-d100ms", "--quiet"];
    let tune = [&tune[..], &["--no-verify", "--no-pin", "--json"]].concat();
    assert_eq!(asked("echo v7", &tune).1.matches("describe").count(), 1);
}
