//! When a build is made, when it is not, and what a failed one says.

use super::*;
use std::collections::BTreeMap;
use wirebench_schema::scenario::Scenario;

struct Fixture {
    folder: tempfile::TempDir,
    subject: Subject,
    stop: AtomicBool,
}

fn fixture(command: &[&str]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let project = crate::project::Project::without_entries(&folder.path().join("state"));
    let mut subject = Subject::own("x {port}", &[Scenario::Hello], &project).unwrap();
    subject.source = folder.path().join("source");
    fs::create_dir(&subject.source).unwrap();
    fs::write(subject.source.join("main"), "1").unwrap();
    let command = command.iter().map(|&word| word.to_owned()).collect();
    subject.variant.build = vec![BuildStep { command, env: BTreeMap::new() }];
    Fixture { folder, subject, stop: AtomicBool::new(false) }
}

fn once(fixture: &Fixture) -> Result<Built, BuildError> {
    build(&fixture.subject, Freshness::Stamped, &fixture.stop, &|| {})
}

#[test]
fn only_a_change_of_sources_or_commands_builds_again() {
    let mut fixture = fixture(&["cp", "main", "{build}/out"]);
    assert_eq!(once(&fixture).unwrap(), Built::Made);
    assert_eq!(once(&fixture).unwrap(), Built::UpToDate);
    fs::write(fixture.folder.path().join("source/main"), "2").unwrap();
    assert_eq!(once(&fixture).unwrap(), Built::Made);
    assert_eq!(fs::read_to_string(fixture.subject.build.join("out")).unwrap(), "2");
    fixture.subject.variant.build[0].command.insert(1, "-v".into());
    assert_eq!(once(&fixture).unwrap(), Built::Made);
    fs::create_dir(fixture.subject.source.join("target")).unwrap();
    fs::write(fixture.subject.source.join("target/x"), "").unwrap();
    assert_eq!(once(&fixture).unwrap(), Built::UpToDate);
    assert_eq!(
        build(&fixture.subject, Freshness::Anew, &fixture.stop, &|| {}).unwrap(),
        Built::Made
    );
}

#[test]
fn a_change_of_what_entries_share_builds_again() {
    let fixture = fixture(&["cp", "../shared/x", "{build}/out"]);
    let shared = fixture.folder.path().join(SHARED);
    fs::create_dir(&shared).unwrap();
    fs::write(shared.join("x"), "1").unwrap();
    assert_eq!(once(&fixture).unwrap(), Built::Made);
    assert_eq!(once(&fixture).unwrap(), Built::UpToDate);
    fs::write(shared.join("x"), "2").unwrap();
    assert_eq!(once(&fixture).unwrap(), Built::Made);
    assert_eq!(fs::read_to_string(fixture.subject.build.join("out")).unwrap(), "2");
    assert_eq!(once(&fixture).unwrap(), Built::UpToDate);
}

#[test]
fn a_build_without_a_program_is_an_error_and_a_lost_program_is_built_again() {
    let mut fixture = fixture(&["cp", "main", "{build}/out"]);
    fixture.subject.variant.run.command[0] = "{build}/server".into();
    let message = once(&fixture).unwrap_err().to_string();
    let message = message.replace(fixture.folder.path().to_str().unwrap(), "FOLDER");
    assert_eq!(
        message,
        "the build made no new `FOLDER/state/build/own/x/default/server`, which the server's command names; the log is \
         FOLDER/state/build/own/x/default/build.log"
    );
    fixture.subject.variant.run.command[0] = "{build}/out".into();
    assert_eq!(once(&fixture).unwrap(), Built::Made);
    fs::remove_file(fixture.subject.build.join("out")).unwrap();
    assert_eq!(once(&fixture).unwrap(), Built::Made);
}

#[test]
fn a_wait_for_another_build_ends_with_a_signal() {
    let fixture = fixture(&["cp", "main", "{build}/out"]);
    fs::create_dir_all(&fixture.subject.build).unwrap();
    let lock = File::create(fixture.subject.build.join("lock")).unwrap();
    lock.lock().unwrap();
    fixture.stop.store(true, Ordering::Relaxed);
    let error = once(&fixture).unwrap_err();
    assert_eq!(error.to_string(), "interrupted");
}

#[test]
fn a_failed_step_shows_its_last_lines_and_is_tried_again() {
    let fixture = fixture(&["ls", "no-such-file"]);
    for _ in 0..2 {
        let message = once(&fixture).unwrap_err().to_string();
        assert!(message.contains("no-such-file") && message.contains("build.log"), "{message}");
        assert!(message.lines().count() > 1, "{message}");
    }
}

#[test]
fn a_command_of_the_user_is_run_each_time_as_it_is_written() {
    let mut fixture = fixture(&["sh", "-c", "echo {x} >> made; cp main server"]);
    fixture.subject.origin = Origin::Own;
    fixture.subject.tree = Some(fixture.subject.source.clone());
    fixture.subject.variant.run.command[0] =
        fixture.subject.source.join("server").display().to_string();
    assert_eq!([once(&fixture).unwrap(), once(&fixture).unwrap()], [Built::Made; 2]);
    let made = fs::read_to_string(fixture.subject.source.join("made")).unwrap();
    assert_eq!(made, "{x}\n{x}\n");
    fixture.subject.variant.build[0].command = vec!["rm".into(), "server".into()];
    let message = once(&fixture).unwrap_err().to_string();
    assert!(message.starts_with("the build made no new `/"), "{message}");
    fixture.subject.variant.build[0].command = vec!["false".into()];
    let message = once(&fixture).unwrap_err().to_string();
    assert!(message.contains("`false` failed with exit status: 1 in /"), "{message}");
}
