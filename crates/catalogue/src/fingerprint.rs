//! Tells whether a subject is still the same program: a digest of what its command runs.
//!
//! It looks at contents and at places within a folder, and never at times of files, so that a copy is the same program
//! and a rebuilt one is not. Libraries that the system loads and the interpreter that a script names are read from the
//! running processes instead (`wirebench_server::mapped`).

use sha2::{Digest, Sha256};
use std::{
    collections::BTreeSet,
    env,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};
use walkdir::DirEntry;
use wirebench_server::{
    digest::{add_content, hexadecimal},
    executable::is_shared,
};

use crate::{
    build::{self, files_below},
    named::{CommandFiles, search_path},
    subject::{Origin, Subject},
    tracked,
};

/// The most files that are read below folders. More are unknown, rather than a start that takes minutes.
const FILES_MOST: usize = 10_000;
/// The most bytes of these files.
const BYTES_MOST: u64 = 256 << 20;
/// Files of results, in whose folders nothing else is.
const RESULTS: [&str; 4] = ["runs.jsonl", "runs.jsonl.gz", "load.json", "load.json.gz"];

/// A digest of what `subject` runs: the content of every file that its run command or its
/// environment names, all other words of them, and, unless the program itself is what was built,
/// what its build was made of, or what it shares with other entries if there is no build.
///
/// Absent when its program cannot be found or read, or when its folders have too many files. The words
/// count as they are written, before host and port are filled in, but with the name of the variant. So
/// the same entry in two checkouts is one program where its compiler writes no path into it; what its
/// build was made of includes the paths in its commands.
#[must_use]
pub fn fingerprint(subject: &Subject) -> Option<String> {
    if subject.broken().is_some() {
        return None;
    }
    let named = CommandFiles::of(subject);
    let programs = named.programs.as_ref()?;
    let mut hash = Sha256::new();
    named.words.iter().for_each(|word| add_word(&mut hash, word));
    let files: Vec<&PathBuf> = named.all().filter(|path| !path.is_dir()).collect();
    add_files(&mut hash, &files)?;
    // What was built is known by its bytes. What is merely run, as by an interpreter, is known by
    // what was brought for it, and by what it shares with other entries.
    let is_built = |path: &PathBuf| path.starts_with(&subject.build) && !path.is_symlink();
    if subject.origin != Origin::Builtin && !programs.iter().all(is_built) {
        add_word(&mut hash, &build::stamp(subject).unwrap_or_default());
        let files = folder_files(subject, &named)?;
        files.iter().for_each(|(name, _)| add_word(&mut hash, &name.to_string_lossy()));
        add_files(&mut hash, &files.iter().map(|(_, path)| path).collect::<Vec<_>>())?;
    }
    Some(hexadecimal(hash))
}

/// True if `subject` may run files that its fingerprint lacks.
#[must_use]
pub fn runs_others(subject: &Subject) -> bool {
    let is_compiled = |path: &PathBuf| {
        is_machine_code(path) && path.canonicalize().is_ok_and(|it| !is_shared(&it))
    };
    CommandFiles::of(subject).programs.is_none_or(|programs| !programs.iter().all(is_compiled))
}

/// The files that the program may read besides, by their paths in their folders: those that git tracks in its working
/// folder, or all of them if git tracks none, and those below the folders that the command names, or in which a file is
/// that it names. Files of machine code do not read others next to them. None if there are too many.
fn folder_files(subject: &Subject, named: &CommandFiles) -> Option<BTreeSet<(PathBuf, PathBuf)>> {
    let source = &subject.source;
    let is_script = |path: &&PathBuf| !path.starts_with(&subject.build) && !is_machine_code(path);
    let folder =
        |path: &PathBuf| if path.is_dir() { path.clone() } else { path.parent()?.into() }.into();
    let mut folders: BTreeSet<PathBuf> = named.all().filter(is_script).filter_map(folder).collect();
    // Programs next to an interpreter are not its.
    env::split_paths(&search_path(subject)).for_each(|it| _ = folders.remove(&source.join(it)));
    let mut files = BTreeSet::new();
    if matches!(subject.origin, Origin::Own) {
        let tracked = tracked::files(source);
        if tracked.is_empty() {
            folders.insert(source.clone());
        }
        let tracked = tracked.into_iter().filter(|path| path.is_file());
        files.extend(
            tracked.map(|path| (path.strip_prefix(source).unwrap_or(&path).to_owned(), path)),
        );
    }
    for folder in folders {
        for path in files_below(&folder, is_skipped).take(FILES_MOST + 1) {
            let path = path.ok()?;
            files.insert((path.strip_prefix(&folder).ok()?.to_owned(), path));
        }
    }
    let bytes: u64 = files.iter().flat_map(|(_, path)| path.metadata()).map(|it| it.len()).sum();
    (files.len() <= FILES_MOST && bytes <= BYTES_MOST).then_some(files)
}

/// Folders that git, builds, interpreters and wirebench write are skipped.
fn is_skipped(folder: &DirEntry) -> bool {
    let name = folder.file_name().to_string_lossy();
    let is_output = name.starts_with('.') || ["target", "__pycache__"].contains(&name.as_ref());
    folder.file_type().is_dir()
        && (is_output || RESULTS.iter().any(|it| folder.path().join(it).exists()))
}

fn is_machine_code(path: &Path) -> bool {
    let mut begin = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == *b"\x7fELF"
}

/// Each part says its kind and its length, so that no two lists of parts look alike.
fn add_word(hash: &mut Sha256, word: &str) {
    hash.update(b"word");
    hash.update((word.len() as u64).to_le_bytes());
    hash.update(word);
}

fn add_files(hash: &mut Sha256, files: &[&PathBuf]) -> Option<()> {
    hash.update(b"files");
    hash.update((files.len() as u64).to_le_bytes());
    files.iter().try_for_each(|path| add_content(hash, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{project::Project, subject::Origin};
    use std::{
        collections::BTreeMap,
        env,
        fs::{self, File},
        os::unix::fs::PermissionsExt,
        path::Path,
        time::{Duration, SystemTime},
    };
    use wirebench_schema::scenario::Scenario;

    /// A folder in which `server` is a program, and a subject that runs `line` there.
    fn world(line: &str) -> (tempfile::TempDir, Subject) {
        let folder = tempfile::tempdir().unwrap();
        program(&folder.path().join("server"), "#!/bin/sh\necho one\n");
        let subject = subject(folder.path(), line);
        (folder, subject)
    }

    fn subject(folder: &Path, line: &str) -> Subject {
        let project = Project::without_entries(&folder.join("state"));
        let mut subject = Subject::own(line, &[Scenario::Hello], &project).unwrap();
        subject.source = folder.to_owned();
        subject
    }

    fn program(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn print(subject: &Subject) -> String {
        fingerprint(subject).unwrap()
    }

    /// True if a change makes it another program.
    fn differs(subject: &Subject, change: impl FnOnce()) -> bool {
        let before = print(subject);
        change();
        before != print(subject)
    }

    #[test]
    fn one_byte_changed_in_a_server_changes_it_and_another_time_does_not() {
        let (folder, subject) = world("./server {port}");
        assert!(!differs(&subject, || {}));
        let server = folder.path().join("server");
        let earlier = SystemTime::now() - Duration::from_secs(3600);
        let touch = || File::options().write(true).open(&server)?.set_modified(earlier);
        assert!(!differs(&subject, || touch().unwrap()));
        assert!(differs(&subject, || program(&server, "#!/bin/sh\necho two\n")));
    }

    #[test]
    fn a_copy_in_another_folder_is_the_same_program() {
        let (_one, first) = world("./server {port} --fast");
        let (two, second) = world("./server {port} --fast");
        assert_eq!(print(&first), print(&second));
        let line = format!("{}/server {{port}} --fast", two.path().display());
        assert_eq!(print(&first), print(&subject(two.path(), &line)));
        assert_ne!(print(&first), print(&subject(two.path(), "./server {port} --slow")));
    }

    #[test]
    fn the_name_of_the_variant_in_a_command_counts() {
        let (_folder, mut subject) = world("./server {port} --form={variant}");
        let before = print(&subject);
        subject.variant.form = "another".into();
        assert_ne!(print(&subject), before);
    }

    #[test]
    fn files_that_arguments_and_variables_name_count() {
        for argument in ["settings", "--config=settings", "{source}/settings"] {
            let (folder, subject) = world(&format!("./server {{port}} {argument} ."));
            let write = |text| fs::write(folder.path().join("settings"), text).unwrap();
            write("a");
            assert!(differs(&subject, || write("b")), "{argument}");
        }
        let (folder, mut subject) = world("./server {port}");
        let write = |text| fs::write(folder.path().join("settings"), text).unwrap();
        write("a");
        let without = print(&subject);
        subject.variant.run.env.insert("SETTINGS".into(), "{source}/settings".into());
        assert!(without != print(&subject) && differs(&subject, || write("b")));
    }

    #[test]
    fn the_files_next_to_a_script_count_and_what_runs_write_does_not() {
        let (folder, subject) = world("sh app.sh {port}");
        let write = |name: &str, text: &str| program(&folder.path().join(name), text);
        write("app.sh", "#!/bin/sh\n. ./lib/part.sh\n");
        write("lib/part.sh", "one");
        for written in
            ["__pycache__/a.pyc", "target/out", ".git/index", "out/runs.jsonl", "a/load.json.gz"]
        {
            assert!(!differs(&subject, || write(written, "")), "{written}");
        }
        assert!(differs(&subject, || write("lib/part.sh", "two")));
        for number in 0..=FILES_MOST {
            File::create(folder.path().join(number.to_string())).unwrap();
        }
        assert_eq!(fingerprint(&subject), None, "too many files");
    }

    #[test]
    fn files_next_to_machine_code_count_only_if_they_are_in_its_working_folder() {
        let other = tempfile::tempdir().unwrap();
        fs::copy("/bin/cat", other.path().join("server")).unwrap();
        let (folder, subject) = world(&format!("{}/server {{port}}", other.path().display()));
        let write = |folder: &Path, name| fs::write(folder.join(name), "").unwrap();
        assert!(!differs(&subject, || write(other.path(), "log")));
        assert!(differs(&subject, || write(folder.path(), "settings")));
    }

    #[test]
    fn a_class_path_and_a_script_for_a_shell_name_files() {
        for words in
            ["java -cp lib/a:b {port}", "sh -c 'exec lib/a {port}'", "node --x=lib/a,b {port}"]
        {
            let (folder, mut subject) = world(words);
            subject.variant.run.command[0] = "./server".into();
            program(&folder.path().join("lib/a"), "one");
            let named = CommandFiles::of(&subject);
            assert!(named.paths.iter().any(|path| path.ends_with("lib/a")), "{named:?}");
        }
    }

    #[test]
    fn a_program_without_a_slash_is_looked_for_on_the_path_that_the_server_gets() {
        let (folder, mut subject) = world("server {port}");
        assert_eq!(fingerprint(&subject), None, "it is on nobody's path");
        program(&folder.path().join("bin/server"), "#!/bin/sh\n");
        subject.variant.run.env.insert("PATH".into(), "nowhere:{source}/bin".into());
        let server = folder.path().join("bin/server");
        assert!(differs(&subject, || program(&server, "#!/bin/sh\necho\n")));
    }

    #[test]
    fn only_a_compiled_program_of_the_users_runs_no_others() {
        let (folder, script) = world("./server {port}");
        fs::copy("/bin/cat", folder.path().join("compiled")).unwrap();
        let own = |line: &str| runs_others(&subject(folder.path(), line));
        assert!(!own("./compiled {port}"));
        assert!(runs_others(&script) && own("cat {port}") && own("./nothing {port}"));
        std::os::unix::fs::symlink("/bin/sh", folder.path().join("link")).unwrap();
        assert!(own("./link server {port}"));
    }

    #[test]
    fn each_scenario_may_have_a_program_of_its_own() {
        let (folder, mut subject) = world("{source}/{scenario} {port}");
        subject.variant.scenarios = vec![Scenario::Hello, Scenario::Echo];
        program(&folder.path().join("hello"), "1");
        assert_eq!(fingerprint(&subject), None, "the program for echo is missing");
        let write = |text| program(&folder.path().join("echo"), text);
        write("2");
        assert!(differs(&subject, || write("3")));
    }

    #[test]
    fn another_build_is_another_program_even_when_no_file_is_named() {
        let (folder, mut subject) = world("./server {port}");
        subject.build = folder.path().join("build");
        fs::create_dir(&subject.build).unwrap();
        fs::write(subject.build.join("stamp"), "a").unwrap();
        let never_built = print(&subject);
        subject.variant.build.push(wirebench_schema::entry::BuildStep {
            command: vec!["make".into()],
            env: BTreeMap::new(),
        });
        let built = print(&subject);
        fs::write(subject.build.join("stamp"), "b").unwrap();
        assert!(never_built != built && built != print(&subject));
    }

    #[test]
    fn what_entries_share_belongs_to_an_entry_that_is_not_built_and_to_no_command_line() {
        let folder = tempfile::tempdir().unwrap();
        program(&folder.path().join("mine/server"), "#!/bin/sh\n");
        let mut subject = subject(&folder.path().join("mine"), "./server {port}");
        let share = |text: &str| program(&folder.path().join("shared/part"), text);
        share("1");
        assert!(!differs(&subject, || share("2")));
        subject.origin = Origin::Entry { versions: Vec::new() };
        assert!(differs(&subject, || share("1")));
    }

    #[test]
    fn what_cannot_be_started_has_none() {
        let (folder, _) = world("./server {port}");
        assert_eq!(fingerprint(&subject(folder.path(), "./nothing {port}")), None);
        let project = Project::without_entries(folder.path());
        let broken = Subject::with_wrong_description(
            ("c", "x"),
            folder.path(),
            "wrong".to_owned(),
            &project,
        );
        assert_eq!(fingerprint(&broken.unwrap()), None);
    }

    #[test]
    fn the_builtin_servers_share_a_file_and_are_not_the_same() {
        let project = Project::without_entries(Path::new("/nowhere"));
        let program = env::current_exe().unwrap();
        let builtins = Subject::builtins(&program, &project).unwrap();
        assert_ne!(print(&builtins[0]), print(&builtins[1]));
    }
}
