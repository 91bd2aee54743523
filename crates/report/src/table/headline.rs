//! The text above all tables: what was done, how it ended, and its limits.

use wirebench_schema::{
    journal::{EndReason, Generator, Journal, Placement, Start},
    labels::Labels,
    suite::Scale,
    units::write_duration,
};
use wirebench_stats::MIN_COHORTS;

use crate::{
    analysis::WorkloadRows,
    idle_words,
    table_units::{count, percent},
};

/// Blocks with which an interval is usually narrow enough to be of use.
const USUAL_BLOCKS: u32 = 4;

/// What is said of a run at smoke scale.
pub(crate) const SMOKE: &str =
    "smoke scale: tests that everything works; its figures are meaningless";

/// What was done and how it ended.
pub(crate) fn headline(journal: &Journal, workloads: &[WorkloadRows<'_>]) -> String {
    let start = &journal.start;
    let noun = start.repetition();
    let blocks = blocks(start.blocks, made(workloads), noun);
    let before = match start.warmup_blocks {
        0 => String::new(),
        number => format!(" after {}", count(number, &format!("warm-up {noun}"))),
    };
    let (suite, labels) = (suite(start), labels(&start.labels));
    format!("suite {suite}{labels}, {blocks}{before}, {}", conditions(journal))
}

/// The end of a headline: the seed, the CPUs of both sides, what generated the load, and how it ended.
pub(crate) fn conditions(journal: &Journal) -> String {
    let start = &journal.start;
    let sides = idle_words::after(&sides(&start.placement), start.idle);
    let generator = match start.generator.name {
        Generator::Wirebench => String::new(),
        _ => format!(", load by {}", start.generator),
    };
    format!("seed {}, {sides}{generator}{}{}", start.seed, resumed(journal), end(journal))
}

/// What none of the tables can show.
pub(super) fn cautions(journal: &Journal, workloads: &[WorkloadRows<'_>]) -> Vec<String> {
    let start = &journal.start;
    let mut lines = Vec::new();
    if start.scale == Scale::Smoke {
        lines.push(SMOKE.to_owned());
    }
    let (made, needed) = (made(workloads), u32::try_from(MIN_COHORTS).unwrap_or(u32::MAX));
    if made < needed {
        let end = journal.end.as_ref().map(|end| end.reason);
        let next = match (start.blocks < needed, end) {
            (true, _) => format!("use --{}s {USUAL_BLOCKS}", start.repetition()),
            (false, Some(EndReason::Budget)) => {
                "resume it with `wirebench run --resume FOLDER --budget DURATION`".to_owned()
            }
            (false, _) => "resume it with `wirebench run --resume FOLDER`".to_owned(),
        };
        lines.push(format!(
            "{}: verdicts, ranks and intervals need {needed}, so ranges are shown; {next}",
            count(made, start.repetition())
        ));
    }
    lines
}

/// The most blocks that a workload has.
pub(crate) fn made(workloads: &[WorkloadRows<'_>]) -> u32 {
    workloads.iter().map(|rows| rows.blocks).max().unwrap_or(0)
}

/// How many repetitions were made of those that were planned; with a precision there may be more.
fn blocks(planned: u32, made: u32, noun: &str) -> String {
    if made < planned { format!("{made} of {}", count(planned, noun)) } else { count(made, noun) }
}

/// How it ended, in a word or two.
pub(crate) fn ended(journal: &Journal) -> &'static str {
    match journal.end.as_ref().map(|end| end.reason) {
        Some(EndReason::Complete) => "complete",
        Some(EndReason::Interrupted) => "interrupted",
        Some(EndReason::Precise) => "precise",
        Some(EndReason::Decided) => "decided",
        Some(EndReason::Budget) => "budget used up",
        None => "cut off",
    }
}

/// The end of a run as the end of a headline; nothing if the plan was completed.
fn end(journal: &Journal) -> String {
    let goal = journal.start.goal;
    match journal.end.as_ref().map(|end| end.reason) {
        Some(EndReason::Complete) => String::new(),
        Some(EndReason::Precise) => match goal.precision {
            Some(precision) => {
                format!("; every interval is within +-{}", percent(precision))
            }
            None => "; every interval is within the requested precision".to_owned(),
        },
        Some(EndReason::Decided) => {
            format!("; the answer was known after {}", count(journal.looks.len(), "look"))
        }
        Some(EndReason::Budget) => match goal.budget {
            // `--resume` may have given another one.
            Some(budget) if journal.resumed.is_empty() => {
                format!("; stopped after the budget of {}", write_duration(budget))
            }
            _ => "; stopped after the budget".to_owned(),
        },
        Some(EndReason::Interrupted) | None => format!("; {}", ended(journal)),
    }
}

fn resumed(journal: &Journal) -> String {
    match journal.resumed.len() {
        0 => String::new(),
        1 => "; resumed once".to_owned(),
        times => format!("; resumed {times} times"),
    }
}

/// The measured version behind something else, if it is known.
pub(crate) fn labels(labels: &Labels) -> String {
    labels.words().map_or_else(String::new, |words| format!(", {words}"))
}

/// The suite, and its scale if it is not the usual one.
pub(crate) fn suite(start: &Start) -> String {
    match start.scale {
        Scale::Machine if start.published.is_none() => start.suite.clone(),
        scale => format!("{} at {scale} scale", start.suite),
    }
}

fn sides(placement: &Placement) -> String {
    if !placement.pinned {
        return "not pinned".to_owned();
    }
    let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let (server, generator) = (list(&placement.server_cpus), list(&placement.generator_cpus));
    format!("server on CPU {server}, generator on CPU {generator}")
}
