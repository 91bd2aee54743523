//! Reads a journal, including one whose last line is incomplete.

use super::{
    End, FixedRate, InterimLook, JOURNAL_FORMAT, OLDEST_JOURNAL_FORMAT, Part, Record, Resumed, Run,
    SearchResult, SearchSpec, Start, Unavailable, Verified, Why,
};
use crate::load::LOAD_FORMAT;
use std::collections::HashMap;

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A line, counted from 1, is no record.
    #[error("line {0} of the journal is damaged: {1}")]
    Line(usize, String),
    /// The same run twice, or a second head: journals were put together, and runs would count twice.
    #[error("line {0} of the journal repeats line {1}: remove it, or read each result by itself")]
    Repeated(usize, usize),
    /// The first line is no `start` record.
    #[error("the journal does not begin with a `start` record")]
    NoStart,
    /// Another version of the load generator wrote the report in a line.
    #[error(
        "line {0} of the journal has a load's report of format {1}, this wirebench reads format {LOAD_FORMAT}: use \
         the version that wrote it"
    )]
    Load(usize, u64),
    /// Another version wrote it.
    #[error(
        "the journal has format {0}, this wirebench reads {OLDEST_JOURNAL_FORMAT} to {JOURNAL_FORMAT}: \
         use the version that wrote it"
    )]
    Format(u32),
}

/// A journal that was read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    /// Its head.
    pub start: Start,
    /// Variants that could not be measured.
    pub unavailable: Vec<Unavailable>,
    /// Conformance.
    pub verified: Vec<Verified>,
    /// The rates of cost phases.
    pub rates: Vec<FixedRate>,
    /// The goal of a search for the highest rate.
    pub sought: Option<SearchSpec>,
    /// The result of that search.
    pub found: Option<SearchResult>,
    /// All runs, in the order in which they were made.
    pub runs: Vec<Run>,
    /// The looks at a comparison that ends when it is decided.
    pub looks: Vec<InterimLook>,
    /// The profiles of `--why`, which count in no figure.
    pub whys: Vec<Why>,
    /// The blocks that were measured by themselves; empty if all were measured in one go.
    pub parts: Vec<Part>,
    /// The times at which it was resumed.
    pub resumed: Vec<Resumed>,
    /// Its tail, if it has one.
    pub end: Option<End>,
}

impl Journal {
    /// A journal that has only its head yet.
    #[must_use]
    pub fn new(start: Start) -> Self {
        Self { start, ..Self::default() }
    }

    /// Reads the text of a `runs.jsonl`. A last line without its line end was cut off while it was
    /// written and does not count; any other damaged line is an error.
    pub fn parse(text: &str) -> Result<Self, JournalError> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut journal: Option<Self> = None;
        let mut seen = HashMap::new();
        for (index, line) in whole.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let record: Record =
                serde_json::from_str(line).map_err(|error| why(line, index + 1, &error))?;
            if let Record::Start(_) | Record::Run(_) = record {
                let text = if let Record::Run(_) = record { line } else { "" };
                if let Some(first) = seen.insert(text, index + 1) {
                    return Err(JournalError::Repeated(index + 1, first));
                }
            }
            match (&mut journal, record) {
                (None, Record::Start(start)) if !is_read(start.format) => {
                    return Err(JournalError::Format(start.format));
                }
                (None, Record::Start(start)) => journal = Some(Self::new(start)),
                (None, _) => return Err(JournalError::NoStart),
                (Some(journal), record) => journal.add(record),
            }
        }
        journal.ok_or(JournalError::NoStart)
    }

    /// Takes in one further record. A second head changes nothing.
    pub fn add(&mut self, record: Record) {
        match record {
            Record::Start(_) => {}
            Record::Unavailable(record) => self.unavailable.push(record),
            Record::Verified(record) => self.verified.push(record),
            Record::Rate(record) => self.rates.push(record),
            Record::SearchStarted(record) => self.sought = Some(record),
            Record::SearchResult(record) => self.found = Some(record),
            Record::Run(record) => self.runs.push(*record),
            Record::Look(record) => self.looks.push(record),
            Record::Why(record) => self.whys.push(*record),
            Record::Part(record) => self.parts.push(record),
            // A resumed run has no end any more; only a later end counts.
            Record::Resumed(record) => {
                self.resumed.push(record);
                self.end = None;
            }
            Record::End(record) => self.end = Some(record),
        }
    }
}

/// Whether journals of `format` are read.
fn is_read(format: u32) -> bool {
    (OLDEST_JOURNAL_FORMAT..=JOURNAL_FORMAT).contains(&format)
}

/// Why the text of line number `line` is no record: a head of another format lacks fields of this
/// one, and the report of a load in it has a format of its own.
fn why(text: &str, line: usize, error: &serde_json::Error) -> JournalError {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let is_head = |it: &&serde_json::Value| it["record"] == "start";
    let head = value.as_ref().filter(is_head).and_then(|it| it["format"].as_u64());
    let head = head.and_then(|format| u32::try_from(format).ok());
    if let Some(found) = head.filter(|format| !is_read(*format)) {
        return JournalError::Format(found);
    }
    let format = value.as_ref().and_then(|it| it.pointer("/outcome/measured/load/format"));
    match format.and_then(serde_json::Value::as_u64) {
        Some(found) if found != u64::from(LOAD_FORMAT) => JournalError::Load(line, found),
        _ => JournalError::Line(line, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        journal::{
            Cause, EndReason, Goal, MachinePart, Measurement, Placement, Procedure, ReasonKind,
            Visit, WakeUpPrice,
        },
        load::IdleMode,
    };
    use expect_test::expect;
    use std::time::Duration;

    fn start() -> Start {
        Start {
            format: JOURNAL_FORMAT,
            command: vec!["wirebench".into(), "run".into()],
            suite: "quick".into(),
            baselines: vec!["c/epoll".parse().unwrap()],
            procedure: Procedure::Short,
            goal: Goal {
                precision: Some(0.01),
                budget: Some(Duration::from_secs(60)),
                until_decided: false,
            },
            placement: Placement {
                server_cpus: vec![0],
                within: Some(MachinePart::Cache),
                ..Placement::default()
            },
            idle: IdleMode::Awake,
            wake_up: Some(WakeUpPrice { cpu_ns: 3600.0, latency_ns: 35_000.0 }),
            ..Start::default()
        }
    }

    fn line(record: &Record) -> String {
        format!("{}\n", serde_json::to_string(record).unwrap())
    }

    fn unavailable() -> Record {
        Record::Unavailable(Unavailable {
            variant: "go/net".parse().unwrap(),
            reason: "no go".into(),
            cause: Cause::Missing,
        })
    }

    #[test]
    fn a_journal_reads_back_as_it_was_written() {
        let text = line(&Record::Start(start())) + &line(&unavailable());
        let journal = Journal::parse(&text).unwrap();
        assert_eq!((journal.start, journal.unavailable.len(), journal.end), (start(), 1, None));
    }

    #[test]
    fn visits_are_read_by_the_names_of_format_2() {
        let kind = serde_json::from_str::<ReasonKind>("\"slices-dropped\"").unwrap();
        assert_eq!(kind, ReasonKind::VisitsDropped);
        let visits = vec![Visit { requests: 7, ..Visit::default() }];
        let measured =
            Measurement { natural_visits: visits.clone(), visits, ..Measurement::default() };
        let text = serde_json::to_string(&measured).unwrap();
        let older = text.replace("visits\":", "slices\":");
        assert_ne!(older, text);
        let read: Measurement = serde_json::from_str(&older).unwrap();
        assert_eq!((read.visits, read.natural_visits), (measured.visits, measured.natural_visits));
        let mut head = serde_json::to_value(Record::Start(start())).unwrap();
        for (format, is_read) in
            [(1, false), (2, true), (JOURNAL_FORMAT, true), (JOURNAL_FORMAT + 1, false)]
        {
            head["format"] = format.into();
            assert_eq!(Journal::parse(&format!("{head}\n")).is_ok(), is_read, "{format}");
        }
    }

    #[test]
    fn a_journal_without_an_idle_mode_is_natural() {
        let mut head = serde_json::to_value(Record::Start(start())).unwrap();
        assert_eq!(head["idle"], "awake");
        head.as_object_mut().unwrap().retain(|key, _| key != "idle" && key != "wake_up");
        let older = Journal::parse(&format!("{head}\n")).unwrap().start;
        assert_eq!((older.idle, older.wake_up), (IdleMode::Natural, None));
    }

    #[test]
    fn a_run_that_goes_on_has_no_end_until_the_next_one() {
        let end = Record::End(End { ended: String::new(), reason: EndReason::Interrupted });
        let resumed = Record::Resumed(Resumed {
            at: String::new(),
            command: Vec::new(),
            differences: Vec::new(),
        });
        let cut = line(&Record::Start(start())) + &line(&end) + &line(&resumed);
        let journal = Journal::parse(&cut).unwrap();
        assert_eq!((journal.end, journal.resumed.len()), (None, 1));
        assert!(Journal::parse(&(cut + &line(&end))).unwrap().end.is_some());
    }

    #[test]
    fn a_line_that_was_cut_off_at_the_end_loses_only_itself() {
        let text = line(&Record::Start(start())) + line(&unavailable()).trim_end();
        assert_eq!(Journal::parse(&text).unwrap().unavailable.len(), 0);
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_named() {
        let text = line(&Record::Start(start())) + "{\"record\":\"ru\n" + &line(&unavailable());
        let message = Journal::parse(&text).unwrap_err().to_string();
        expect!["line 2 of the journal is damaged: EOF while parsing a string at line 1 column 13"]
            .assert_eq(&message);
    }

    #[test]
    fn journals_that_were_put_together_are_refused() {
        let run = serde_json::json!({
            "record": "run", "block": 0, "position": 0, "variant": "c/epoll", "workload": "a", "started": "",
            "workers": 1, "server_command": [], "generator_command": [],
            "outcome": {"failed": {"reason": "", "server_stderr": ""}},
        });
        let (head, other) = (line(&Record::Start(start())), run.to_string().replace('0', "1"));
        assert!(Journal::parse(&format!("{head}{run}\n{other}\n")).is_ok());
        for text in
            [format!("{head}{run}\n{other}\n{run}\n"), format!("{head}{run}\n{other}\n{head}")]
        {
            let message = Journal::parse(&text).unwrap_err().to_string();
            let first = if text.ends_with(&head) { 1 } else { 2 };
            let expected = format!(
                "line 4 of the journal repeats line {first}: remove it, or read each result by itself"
            );
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn a_load_report_of_another_format_is_refused_as_such() {
        let text = line(&Record::Start(start()))
            + "{\"record\":\"run\",\"outcome\":{\"measured\":{\"load\":{\"format\":1}}}}\n";
        let message = Journal::parse(&text).unwrap_err().to_string();
        assert_eq!(
            message,
            "line 2 of the journal has a load's report of format 1, this wirebench reads format 4: \
             use the version that wrote it"
        );
    }

    #[test]
    fn another_format_is_refused() {
        let text = line(&Record::Start(Start { format: 99, ..start() }));
        assert!(matches!(Journal::parse(&text), Err(JournalError::Format(99))));
        // A head of another format need not have the fields of this one.
        let older = "{\"record\":\"start\",\"format\":1,\"suite\":\"quick\"}\n";
        assert!(matches!(Journal::parse(older), Err(JournalError::Format(1))));
        assert!(matches!(Journal::parse(""), Err(JournalError::NoStart)));
        assert!(matches!(Journal::parse(&line(&unavailable())), Err(JournalError::NoStart)));
    }
}
