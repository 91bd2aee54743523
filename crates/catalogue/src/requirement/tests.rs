//! What is there, what setup could bring, what it has tried in vain, and how often it is asked.

use super::{probe::parse_release, *};
use crate::{attempts::Attempts, project::Project};
use std::{fs, path::Path, sync::atomic::AtomicBool};
use wirebench_schema::scenario::Scenario;

static GOING_ON: AtomicBool = AtomicBool::new(false);

fn project(folder: &Path) -> Project {
    Project::without_entries(folder)
}

fn subject(folder: &Path, requires: Vec<Requirement>) -> Subject {
    let mut subject = Subject::own("x {port}", &[Scenario::Hello], &project(folder)).unwrap();
    subject.source = folder.to_owned();
    subject.variant.requires = requires;
    subject
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn requirement(need: Need) -> Requirement {
    Requirement { need, debian: Vec::new(), fetch: None, hint: None }
}

fn command(name: &str) -> Requirement {
    requirement(Need::Command(name.to_owned()))
}

fn probe(line: &str, fetch: Option<&str>) -> Requirement {
    let need = Need::Probe { command: words(line), what: "the package x".into() };
    Requirement { fetch: fetch.map(words), ..requirement(need) }
}

fn look(folder: &Path, requires: Vec<Requirement>) -> Availability {
    let no_ring = || Err("no ring".to_owned());
    Prober::new(&project(folder), no_ring, &GOING_ON).availability(&subject(folder, requires))
}

#[test]
fn what_a_package_brings_needs_setup_and_what_none_brings_is_not_available() {
    let here = tempfile::tempdir().unwrap();
    let look = |requires| look(here.path(), requires);
    assert_eq!(look(vec![command("cat")]), Availability::Ready);
    let answer = look(vec![command("cat"), command("no-such-program")]);
    assert_eq!(answer.reason().unwrap(), "the program `no-such-program` is missing");
    assert_eq!(look(vec![requirement(Need::IoUring)]).reason().unwrap(), "no ring");
    if exists("apt-get") {
        let some = Requirement { debian: words("some-package"), ..command("no-such-program") };
        let behind = Requirement { debian: words("behind"), ..probe("false", None) };
        let answer = look(vec![some.clone(), behind.clone()]);
        assert_eq!(
            answer.reason().unwrap(),
            "the program `no-such-program` is missing; `wirebench setup` installs behind \
             some-package"
        );
        // What setup cannot bring counts more than what it can.
        let answer = look(vec![some, requirement(Need::IoUring)]);
        assert_eq!(answer, Availability::NotAvailable { reason: "no ring".into() });
    }
}

#[test]
fn a_probe_is_asked_with_its_placeholders_and_only_when_all_before_it_is_there() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("there"), "").unwrap();
    let there = probe("test -e {source}/there", None);
    assert_eq!(look(here.path(), vec![there]), Availability::Ready);
    let absent = Requirement {
        hint: Some("`x add` takes a copy of it".into()),
        ..probe("test -e {source}/absent", None)
    };
    let reason = look(here.path(), vec![absent]).reason().unwrap();
    assert_eq!(reason, "the package x is missing; `x add` takes a copy of it");
    let leaves_a_trace = probe("touch {source}/trace", None);
    let reason = look(here.path(), vec![command("no-such-program"), leaves_a_trace]).reason();
    assert_eq!(reason.unwrap(), "the program `no-such-program` is missing");
    assert!(!here.path().join("trace").exists());
}

#[test]
fn what_a_command_fetches_needs_setup_until_the_command_has_failed() {
    let here = tempfile::tempdir().unwrap();
    let requires = vec![Requirement {
        hint: Some("ask around".into()),
        ..probe("false", Some("fetcher get x --into={build}"))
    }];
    let answer = look(here.path(), requires.clone());
    let Availability::NeedsSetup(MissingParts { fetches, .. }) = &answer else {
        panic!("{answer:?}")
    };
    let shown = fetches[0].shown();
    assert_eq!(
        shown.replace(here.path().to_str().unwrap(), "FOLDER"),
        "fetcher get x --into=FOLDER/build/own/x/default"
    );
    assert_eq!(
        answer.reason().unwrap(),
        format!("the package x is missing; `wirebench setup` runs `{shown}`; ask around")
    );
    let mut attempts = Attempts::read(here.path());
    let failure = Attempt { date: "2024-02-29".into(), said: "no route to host".into() };
    attempts.record(&shown, Some(failure)).unwrap();
    assert_eq!(
        look(here.path(), requires.clone()).reason().unwrap(),
        format!(
            "the package x is missing; `{shown}` failed on 2024-02-29: no route to host; ask around"
        )
    );
    attempts.record(&shown, None).unwrap();
    assert_eq!(look(here.path(), requires), answer);
}

#[test]
fn each_distinct_command_is_asked_once_for_all_entries_together() {
    let here = tempfile::tempdir().unwrap();
    let subjects: Vec<Subject> = (0..20)
        .map(|_| {
            let count = ["sh", "-c", "echo asked >> {source}/count"].map(str::to_owned).to_vec();
            let need = Need::Probe { command: count, what: "a file".into() };
            subject(here.path(), vec![requirement(need)])
        })
        .collect();
    let prober = Prober::new(&project(here.path()), || Ok(()), &GOING_ON);
    assert_eq!(prober.survey(&subjects), vec![Availability::Ready; 20]);
    assert_eq!(fs::read_to_string(here.path().join("count")).unwrap(), "asked\n");
}

#[test]
fn a_probe_that_hangs_is_ended_and_counts_as_missing() {
    let here = tempfile::tempdir().unwrap();
    let mut prober = Prober::new(&project(here.path()), || Ok(()), &GOING_ON);
    prober.timeout = std::time::Duration::from_millis(100);
    let reason = prober.availability(&subject(here.path(), vec![probe("sleep 60", None)])).reason();
    assert_eq!(
        reason.unwrap(),
        "the package x is missing (`sleep` did not end within 0 s and was killed)"
    );
}

#[test]
fn answers_come_in_the_order_of_the_questions() {
    let here = tempfile::tempdir().unwrap();
    let subjects: Vec<Subject> =
        (0..30).map(|n| subject(here.path(), vec![command(&format!("no-such-{n}"))])).collect();
    let prober = Prober::new(&project(here.path()), || Ok(()), &GOING_ON);
    for (n, answer) in prober.survey(&subjects).into_iter().enumerate() {
        assert_eq!(answer.reason().unwrap(), format!("the program `no-such-{n}` is missing"));
    }
}

#[test]
fn kernels_are_compared_by_their_numbers() {
    assert_eq!(parse_release("6.18.44-fc"), Some((6, 18)));
    let here = tempfile::tempdir().unwrap();
    let kernel = |major, minor| vec![requirement(Need::Kernel { major, minor })];
    assert_eq!(look(here.path(), kernel(2, 6)), Availability::Ready);
    let reason = look(here.path(), kernel(999, 0)).reason().unwrap();
    assert!(reason.starts_with("Linux 999.0 or later"), "{reason}");
}
