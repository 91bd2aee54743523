//! Writers and readers of journals in temporary folders.

use super::*;
use wirebench_schema::journal::{End, EndReason, JOURNAL_FORMAT};

fn head() -> Start {
    Start { format: JOURNAL_FORMAT, ..Start::default() }
}

fn end() -> Record {
    Record::End(End { ended: now(), reason: EndReason::Complete })
}

#[test]
fn an_archive_reads_like_the_journal_and_a_damaged_one_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{\"a\":1}\n{\"b\":2}\n";
    assert!(!is_in(folder.path()));
    let path = folder.path().join(ARCHIVE_FILE);
    archive(&path, text).unwrap();
    assert!(is_in(folder.path()));
    assert_eq!(super::text(folder.path()).unwrap().1, text);
    assert_eq!(archive(&path, text).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 6]).unwrap();
    let error = super::text(folder.path()).unwrap_err();
    let shown = error.replace(&folder.path().display().to_string(), "FOLDER");
    expect_test::expect!["FOLDER/runs.jsonl.gz: the journal is damaged: unexpected end of file"]
        .assert_eq(&shown);
}

#[test]
fn a_record_is_in_the_file_as_soon_as_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut begun = OpenJournal::begin(folder.path(), head(), Vec::new()).unwrap();
    begun.write(end()).unwrap();
    assert_eq!(read(folder.path()).unwrap(), *begun.journal());
    assert!(begun.journal().end.is_some());
    let again = OpenJournal::begin(folder.path(), head(), Vec::new());
    assert!(again.is_err(), "an existing journal is never touched");
}

#[test]
fn a_full_disk_is_an_error_that_says_what_is_safe() {
    let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
    let (folder, journal) = (PathBuf::from("/my results/x"), Journal::default());
    let mut open = OpenJournal { file, folder, journal };
    let message = open.write(end()).unwrap_err().to_string();
    assert_eq!(
        message,
        "/my results/x/runs.jsonl: No space left on device (os error 28); everything before \
         this one is kept there; when it can be written again, continue with: wirebench run \
         --resume '/my results/x'"
    );
}

#[test]
fn a_line_that_was_cut_off_is_put_aside_and_the_journal_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    drop(OpenJournal::begin(folder.path(), head(), Vec::new()).unwrap());
    let path = folder.path().join(JOURNAL_FILE);
    let whole = fs::read(&path).unwrap();
    // The first byte of a character that has two.
    fs::write(&path, [&whole, &b"{\"record\":\"\xc3"[..]].concat()).unwrap();
    let mut open = OpenJournal::reopen(folder.path()).unwrap();
    assert_eq!((open.cut_torn_line().unwrap(), fs::read(&path).unwrap()), (12, whole));
    assert_eq!(open.cut_torn_line().unwrap(), 0);
    open.write(end()).unwrap();
    assert_eq!(read(folder.path()).unwrap(), *open.journal());
    let torn = fs::read(folder.path().join(TORN_FILE)).unwrap();
    assert_eq!(torn, b"{\"record\":\"\xc3\n");
}

#[test]
fn a_line_that_cannot_be_put_aside_stays_and_the_next_step_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    drop(OpenJournal::begin(folder.path(), head(), Vec::new()).unwrap());
    let path = folder.path().join(JOURNAL_FILE);
    let torn = fs::read_to_string(&path).unwrap() + "{\"record\":";
    fs::write(&path, &torn).unwrap();
    let target = folder.path().join("target");
    std::os::unix::fs::symlink(&target, folder.path().join(TORN_FILE)).unwrap();
    let mut open = OpenJournal::reopen(folder.path()).unwrap();
    let message = open.cut_torn_line().unwrap_err().to_string();
    let message = message.replace(folder.path().to_str().unwrap(), "FOLDER");
    assert_eq!(
        message,
        "FOLDER/runs.jsonl.torn: Too many levels of symbolic links (os error 40); when it can be \
         written again, continue with: wirebench run --resume FOLDER"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), torn);
    assert!(!target.exists(), "a planted link is not followed");
}

#[test]
fn a_journal_has_one_writer_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let open = OpenJournal::begin(folder.path(), head(), Vec::new()).unwrap();
    let message = OpenJournal::reopen(folder.path()).unwrap_err().to_string();
    let message = message.replace(folder.path().to_str().unwrap(), "FOLDER");
    assert_eq!(
        message,
        "FOLDER/runs.jsonl: another wirebench is writing to it: wait for its end, or end it \
         with Ctrl-C"
    );
    drop(open);
    assert!(OpenJournal::reopen(folder.path()).is_ok());
}

#[test]
fn two_runs_in_one_second_get_two_folders() {
    let parent = tempfile::tempdir().unwrap();
    let first = new_run_folder(parent.path(), "quick").unwrap();
    let second = new_run_folder(parent.path(), "quick").unwrap();
    assert_ne!(first, second);
}

#[test]
fn a_folder_without_a_journal_is_answered_with_what_to_give() {
    let folder = tempfile::tempdir().unwrap();
    let message = read(folder.path()).unwrap_err();
    let message = message.replace(folder.path().to_str().unwrap(), "FOLDER");
    assert_eq!(
        message,
        "FOLDER/runs.jsonl: No such file or directory (os error 2); give the folder that \
         `wirebench run` named"
    );
}
