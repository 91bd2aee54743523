//! The plan in words: what will be done, how long it takes and what it cannot show; and for
//! `--dry-run` every run in its order.

use jiff::{ToSpan, Zoned};
use std::time::Duration;
use wirebench_runner::{
    experiment::{MOST_BLOCKS_FOR_PRECISION, Outlook},
    plan,
    subject::Subject,
};
use wirebench_schema::{
    journal::{Counts, Goal},
    suite::{Phase, Suite},
    units::write_duration,
};

use super::{FEWEST_BLOCKS, Setting};
use crate::{context::Context, out, progress::show};

/// The plan in a few lines.
pub(crate) fn outlook_lines(outlook: &Outlook, now: &Zoned) -> Vec<String> {
    let Outlook { blocks, warmup_blocks, runs, repeated, variants, goal, .. } = outlook;
    let phases: Vec<String> =
        outlook.phases.iter().map(|(phase, count)| format!("{count} x {phase}")).collect();
    let mut first = format!("plan: {}", count(*runs, "run"));
    if *repeated > 0 {
        first += &format!(" ({repeated} of them run the same again: A/A)");
    }
    first += &format!(" in {}", count(*blocks as usize, "block"));
    if *warmup_blocks > 0 {
        first += &format!(" after {}", count(*warmup_blocks as usize, "warm-up block"));
    }
    first += &format!(
        ", {}, {} ({})",
        count(*variants, "variant"),
        count(outlook.phases.values().sum(), "workload"),
        phases.join(", ")
    );
    let mut lines = vec![first, time_line(outlook, now)];
    lines.extend(goal_lines(outlook, goal));
    if *blocks < FEWEST_BLOCKS && goal.precision.is_none() {
        let more = outlook.block_time.saturating_mul(FEWEST_BLOCKS - blocks);
        lines.push(format!(
            "{} cannot show that a difference is real: --blocks {FEWEST_BLOCKS} can, and takes about \
             {} more",
            count(*blocks as usize, "block"),
            show(more)
        ));
    }
    lines
}

fn time_line(outlook: &Outlook, now: &Zoned) -> String {
    let mut parts = Vec::new();
    if outlook.checks > 0 {
        parts.push(format!("{} of checks", show(outlook.checks_time)));
    }
    if outlook.pilots > 0 {
        let pilots = count(outlook.pilots, "pilot");
        parts.push(format!("{} of {pilots} that find rates", show(outlook.pilots_time)));
    }
    parts.push(format!("{} of runs", show(outlook.runs_time)));
    let time = show(outlook.time());
    format!(
        "about {time} beyond builds: {}; done at {}",
        parts.join(", "),
        end(now, outlook.time())
    )
}

/// When it is over, on the clock of this machine.
fn end(now: &Zoned, time: Duration) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let Ok(end) = now.checked_add(seconds.min(86_400 * 3650).seconds()) else {
        return "a time that no clock shows".to_owned();
    };
    let form = if end.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    end.strftime(form).to_string()
}

fn goal_lines(outlook: &Outlook, goal: &Goal) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(precision) = goal.precision {
        let (pair, wanted) = (show(outlook.block_time * 2), percent(precision));
        lines.push(if outlook.blocks < MOST_BLOCKS_FOR_PRECISION {
            format!(
                "then pairs of blocks, {pair} each, until every interval is within +-{wanted} %, or \
                 {MOST_BLOCKS_FOR_PRECISION} blocks are made"
            )
        } else {
            format!(
                "the precision of {wanted} % adds nothing: no more than {MOST_BLOCKS_FOR_PRECISION} \
                 blocks are made for it"
            )
        });
    }
    if let Some(budget) = goal.budget {
        let (budget_text, block) = (write_duration(budget), show(outlook.block_time));
        lines.push(if outlook.block_time > budget {
            format!(
                "the budget of {budget_text} is less than the {block} of one block, and one block is \
                 always made"
            )
        } else {
            format!(
                "no block begins that would end later than {budget_text} after the first run; a block \
                 takes about {block}"
            )
        });
    }
    lines
}

/// A share in percent, with the digits that say something.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = match percent {
        0.0..1.0 => 2,
        1.0..10.0 => 1,
        _ => 0,
    };
    let text = format!("{percent:.digits$}");
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Prints the plan: what will be left out, a summary, every run, and the time.
pub(super) fn print(context: &Context, setting: Setting) {
    let Setting { experiment, subjects, missing } = setting;
    for it in &missing {
        out::result(&format!("left out {}: {}", it.variant, it.reason));
    }
    for it in &experiment.left_out {
        out::result(&format!("left out {}: {}", it.what, it.reason));
    }
    let subjects = those_that_are_there(context, subjects);
    let (suite, bench) = (&experiment.suite, &experiment.bench);
    for line in summary(suite, &subjects) {
        out::result(&line);
    }
    for step in &plan::steps(&subjects, suite, bench.seed) {
        let name = plan::label(&subjects, suite, step);
        let workload = &suite.workloads[step.workload].name;
        let kind = match step.counts {
            Counts::Yes => "block",
            Counts::WarmUp | Counts::Pilot => "warm-up block",
        };
        out::result(&format!("{kind} {}  {workload}  {name}", step.block + 1));
    }
    let outlook = experiment.outlook(&subjects);
    for line in outlook_lines(&outlook, &Zoned::now()) {
        out::result(&line);
    }
    let placement = &bench.placement;
    let sides = if placement.pinned {
        format!(
            "server on CPUs {:?}, generator on CPUs {:?}",
            placement.server_cpus, placement.generator_cpus
        )
    } else {
        "nothing is bound to CPUs".to_owned()
    };
    out::result(&format!("seed {}; {sides}", bench.seed));
}

/// What is measured with what, before the order of the runs.
fn summary(suite: &Suite, subjects: &[Subject]) -> Vec<String> {
    let names: Vec<String> = subjects.iter().map(|it| it.variant.id.to_string()).collect();
    let mut lines = vec![format!("suite {}: {}", suite.name, suite.description), names.join(", ")];
    for workload in &suite.workloads {
        let baseline = plan::baseline(subjects, suite, workload);
        let baseline = baseline.map_or("no baseline".to_owned(), |index| {
            format!("baseline {}", subjects[index].variant.id)
        });
        let how = match workload.phase {
            Phase::Idle => "silent connections".to_owned(),
            Phase::Cost if workload.needs_rate() => "connections, at a rate to be found".to_owned(),
            Phase::Saturate | Phase::Cost => "connections".to_owned(),
        };
        let (name, phase, connections) = (&workload.name, workload.phase, workload.connections);
        lines.push(format!(
            "workload {name}: {}, {phase}, {connections} {how}; {baseline}",
            workload.scenario
        ));
    }
    lines
}

/// The subjects that can be measured here; of the others the reason is told, as in a run.
fn those_that_are_there(context: &Context, subjects: Vec<Subject>) -> Vec<Subject> {
    let survey = context.prober().survey(&subjects);
    let mut there = Vec::new();
    for (subject, availability) in subjects.into_iter().zip(survey) {
        match availability.reason() {
            None => there.push(subject),
            Some(reason) => {
                out::result(&format!("left out {}: {reason}", subject.variant.id));
            }
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook() -> Outlook {
        Outlook {
            blocks: 3,
            warmup_blocks: 1,
            variants: 2,
            phases: [(Phase::Saturate, 1), (Phase::Cost, 1)].into(),
            runs: 24,
            repeated: 8,
            pilots: 2,
            checks: 2,
            block_time: Duration::from_secs(20),
            checks_time: Duration::from_secs(4),
            pilots_time: Duration::from_secs(3),
            runs_time: Duration::from_secs(80),
            goal: Goal::default(),
        }
    }

    fn lines(outlook: &Outlook) -> Vec<String> {
        let now: Zoned = "2026-03-01T23:58:30+00:00[UTC]".parse().unwrap();
        outlook_lines(outlook, &now)
    }

    #[test]
    fn the_plan_says_what_is_run_how_long_it_takes_and_what_it_cannot_show() {
        let expected = [
            "plan: 24 runs (8 of them run the same again: A/A) in 3 blocks after 1 warm-up block, 2 \
             variants, 2 workloads (1 x saturate, 1 x cost)",
            "about 87 s beyond builds: 4 s of checks, 3 s of 2 pilots that find rates, 80 s of runs; \
             done at 23:59",
        ];
        assert_eq!(lines(&outlook()), expected);
        let few = lines(&Outlook { blocks: 2, ..outlook() });
        let caution = "2 blocks cannot show that a difference is real: --blocks 3 can, and takes about 20 s more";
        assert_eq!(few.last().map(String::as_str), Some(caution));
        let tomorrow = Outlook { runs_time: Duration::from_secs(3600), ..outlook() };
        assert!(lines(&tomorrow)[1].ends_with("done at 2026-03-02 00:58"), "{tomorrow:?}");
    }

    #[test]
    fn percentages_have_the_digits_that_say_something() {
        let shown = [0.01, 0.018, 0.0025, 0.07, 0.5, 0.0].map(percent);
        assert_eq!(shown, ["1", "1.8", "0.25", "7", "50", "0"]);
    }

    #[test]
    fn goals_are_told_with_what_they_come_to() {
        let with = |precision, budget_s: Option<u64>| {
            let goal = Goal { precision, budget: budget_s.map(Duration::from_secs) };
            lines(&Outlook { blocks: 6, goal, ..outlook() }).split_off(2)
        };
        assert_eq!(with(None, None), <[String; 0]>::default());
        let both = with(Some(0.015), Some(1200));
        assert!(both[0].contains("40 s each, until every interval is within +-1.5 %"), "{both:?}");
        assert!(both[1].contains("later than 20m after the first run"), "{both:?}");
        let goal = Goal { precision: Some(0.01), budget: None };
        let many = lines(&Outlook { blocks: 1000, goal, ..outlook() });
        assert!(many[2].starts_with("the precision of 1 % adds nothing"), "{many:?}");
        let little = with(None, Some(1));
        assert!(little[0].contains("is less than the 20 s of one block"), "{little:?}");
    }
}
