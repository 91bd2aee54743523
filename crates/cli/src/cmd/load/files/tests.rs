//! What becomes of the files of a load, old ones and such as cannot be written.

use super::*;
use wirebench_schema::{
    labels::Labels,
    load::{EngineChoice, LoadConfig, LoadReport},
};

fn result() -> LoadResult {
    let config = LoadConfig::new("tcp://127.0.0.1:80".parse().unwrap());
    let report = LoadReport::new("0".into(), config, EngineChoice::Epoll);
    let labels = Labels { label: Some("v1.2".to_owned()), revision: None };
    LoadResult {
        started: "2026-01-02T03:04:05Z".to_owned(),
        labels,
        report,
        ..LoadResult::default()
    }
}

fn csv(path: &Path) -> anyhow::Result<Files> {
    let csv = Some(Table::open("--csv", path)?);
    Ok(Files { csv, hgrm: None, openmetrics: None, intervals: None })
}

#[test]
fn a_table_gets_one_header_and_the_lines_of_each_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loads.csv");
    for _ in 0..3 {
        csv(&path).unwrap().report(&result());
    }
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.matches("suite,started,").count(), 1);
    assert_eq!(text.matches(",requests_per_second,").count(), 3);
    assert!(text.lines().skip(1).all(|it| it.starts_with("load,2026-01-02T03:04:05Z,")), "{text}");
}

#[test]
fn a_table_with_other_columns_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loads.csv");
    let longer = csv::header().replace('\n', ",x\n");
    for before in ["a,b\n1,2\n", "\n", &longer] {
        fs::write(&path, before).unwrap();
        let message = csv(&path).unwrap_err().to_string();
        let expected = format!(
            "`{}` is not a table of loads with these columns: give --csv a new file",
            path.display()
        );
        assert_eq!(message, expected);
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
}

#[test]
fn a_last_line_without_its_end_gets_it_when_a_row_follows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loads.csv");
    let header = csv::header();
    for before in [header.trim_end().to_owned(), format!("{header}half a row")] {
        fs::write(&path, &before).unwrap();
        let mut files = csv(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
        files.report(&result());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&format!("{before}\nload,2026-01-02T03:04:05Z,")), "{text}");
        assert!(text.ends_with('\n'));
    }
}

#[test]
fn old_results_are_lost_only_when_new_ones_take_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let [hgrm, openmetrics, intervals] =
        ["x.hgrm", "x.om", "x.jsonl"].map(|name| folder.path().join(name));
    let read = || [&hgrm, &openmetrics, &intervals].map(|path| fs::read_to_string(path).unwrap());
    for path in [&hgrm, &openmetrics, &intervals] {
        fs::write(path, "an old result".repeat(1000)).unwrap();
    }
    let old = read();
    let mut files = Files {
        csv: None,
        hgrm: Some(Sink::anew("--hgrm", &hgrm).unwrap()),
        openmetrics: Some((
            Sink::anew("--openmetrics", &openmetrics).unwrap(),
            LoadMetrics::new(&result().report.config),
        )),
        intervals: Some(Sink::anew("--intervals", &intervals).unwrap()),
    };
    assert_eq!(read(), old);
    files.begin(2);
    assert_eq!(read(), [old[0].as_str(), &old[1], ""]);
    files.interval(&Interval { requests: 7, ..Interval::default() });
    let [_, metrics, line] = read();
    let running = ["wirebench_load_connections{", "wirebench_load_requests_total{", "# EOF\n"];
    assert!(
        running.iter().all(|part| metrics.contains(part)) && line.ends_with("}\n"),
        "{metrics}"
    );
    std::os::unix::fs::symlink(&openmetrics, folder.path().join("link")).unwrap();
    files.openmetrics.as_mut().unwrap().0.path = folder.path().join("link");
    files.report(&result());
    assert!(folder.path().join("link").is_symlink());
    fs::remove_file(folder.path().join("link")).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left beside the files");
    let [table, metrics, _] = read();
    assert!(!metrics.contains("wirebench_load_connections"), "{metrics}");
    assert!(metrics.ends_with("# EOF\n") && !metrics.contains("old"), "{metrics}");
    assert!(table.starts_with(hgrm::HEADING) && !table.contains("old"), "{table}");
    assert!(files.complaints().is_empty());
}

#[test]
fn what_is_neither_a_file_nor_a_device_of_characters_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let [pipe, socket] = ["pipe", "socket"].map(|name| folder.path().join(name));
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let rows = [(pipe.as_path(), "a pipe"), (&socket, "a socket"), (folder.path(), "a folder")];
    for (path, kind) in rows {
        let reason =
            format!("`{}` is {kind}: give a file, or a device such as /dev/null", path.display());
        let table = Table::open("--csv", path).unwrap_err().to_string();
        assert_eq!(table, format!("--csv {reason}"));
        let file = Sink::anew("--hgrm", path).unwrap_err().to_string();
        assert_eq!(file, format!("--hgrm {reason}"));
    }
    assert!(Sink::anew("--hgrm", Path::new("/dev/null")).is_ok());
}

const NO_SPACE: &str = "`/dev/full` could not be written (No space left on device (os error 28)): \
                        make room there, or give";

#[test]
fn a_full_disk_is_known_at_the_first_line() {
    let files = csv(Path::new("/dev/full")).unwrap();
    assert_eq!(files.complaints(), [format!("{NO_SPACE} --csv another file")]);
}

#[test]
fn after_a_failure_nothing_more_is_written_and_the_first_reason_stays() {
    let mut sink = Sink::anew("--hgrm", Path::new("/dev/full")).unwrap();
    sink.write("a");
    let folder = tempfile::tempdir().unwrap();
    sink.file = File::create(folder.path().join("x")).unwrap();
    sink.write("b");
    assert_eq!(sink.complaint(), Some(format!("{NO_SPACE} --hgrm another file")));
    assert_eq!(fs::read_to_string(folder.path().join("x")).unwrap(), "");
}
