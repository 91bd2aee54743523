//! The plan in words: what will be done, how long it takes and what it cannot show; and for
//! `--dry-run` every run in its order.

use jiff::{ToSpan, Zoned};
use std::{collections::BTreeSet, time::Duration};
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    experiment::{Experiment, MOST_BLOCKS_FOR_PRECISION, Outlook, Unit},
    plan::{self, Step},
};
use wirebench_schema::{
    journal::{Counts, Goal},
    suite::{Phase, Suite},
    units::write_duration,
};

use super::Setting;
use crate::{context::Context, out, progress::show};

/// The plan in a few lines.
pub(crate) fn outlook_lines(outlook: &Outlook, now: &Zoned) -> Vec<String> {
    let Outlook { blocks, warmup_blocks, runs, variants, goal, .. } = outlook;
    let noun = noun(outlook);
    let mut what = format!(
        "plan: {}, {}, {}",
        count(*variants, "server"),
        count(outlook.phases.values().sum(), "load"),
        count(*blocks as usize, noun)
    );
    if *warmup_blocks > 0 {
        what += &format!(" after {}", count(*warmup_blocks as usize, &format!("warm-up {noun}")));
    }
    let time = outlook.time();
    let mut lines = vec![format!(
        "{what}: {}, about {}; done at {}",
        count(*runs, "run"),
        show(time),
        end(now, time)
    )];
    lines.extend(goal_lines(outlook, goal));
    lines
}

/// What the plan consists of, for those who want to know before it is carried out.
fn parts(outlook: &Outlook) -> Vec<String> {
    let phases: Vec<String> =
        outlook.phases.iter().map(|(phase, count)| format!("{count} x {phase}")).collect();
    let mut lines = vec![format!("loads: {}", phases.join(", "))];
    if outlook.repeated > 0 {
        lines.push(format!(
            "A/A: {} repeat a server within its {}",
            outlook.repeated,
            noun(outlook)
        ));
    }
    let mut times = Vec::new();
    if outlook.checks > 0 {
        times.push(format!("{} of checks", show(outlook.checks_time)));
    }
    if outlook.pilots > 0 {
        let pilots = count(outlook.pilots, "pilot");
        times.push(format!("{} of {pilots} that find rates", show(outlook.pilots_time)));
    }
    times.push(format!("{} of runs", show(outlook.runs_time)));
    lines.push(format!("time without builds: {}", times.join(", ")));
    lines
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

/// What the runs of a block are together.
const fn noun(outlook: &Outlook) -> &'static str {
    if outlook.in_cohorts { "cohort" } else { "block" }
}

fn goal_lines(outlook: &Outlook, goal: &Goal) -> Vec<String> {
    let noun = noun(outlook);
    let mut lines = Vec::new();
    if let Some(precision) = goal.precision {
        let (pair, wanted) = (show(outlook.block_time * 2), percent(precision));
        lines.push(if outlook.blocks < MOST_BLOCKS_FOR_PRECISION {
            format!(
                "then pairs of {noun}s, {pair} each, until every interval is within +-{wanted} %, or \
                 {MOST_BLOCKS_FOR_PRECISION} {noun}s are made"
            )
        } else {
            format!(
                "the precision of {wanted} % adds nothing: no more than {MOST_BLOCKS_FOR_PRECISION} \
                 {noun}s are made for it"
            )
        });
    }
    if let Some(budget) = goal.budget {
        let (budget_text, block) = (write_duration(budget), show(outlook.block_time));
        lines.push(if outlook.block_time > budget {
            format!(
                "the budget of {budget_text} is less than the {block} of one {noun}, and one {noun} is \
                 always made"
            )
        } else {
            format!(
                "no {noun} begins that would end later than {budget_text} after the first run; a {noun} \
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
    for number in 0..suite.warmup_blocks.saturating_add(suite.blocks) {
        for unit in experiment.units(&subjects, number) {
            out::result(&unit_line(&experiment, &subjects, &unit));
        }
    }
    let outlook = experiment.outlook(&subjects);
    for line in [outlook_lines(&outlook, &Zoned::now()), parts(&outlook)].concat() {
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

/// One run, or the servers that are alive together with the slices of each load on them.
fn unit_line(experiment: &Experiment, subjects: &[Subject], unit: &Unit) -> String {
    let (suite, steps) = (&experiment.suite, unit.steps());
    let first = steps[0];
    let before = if first.counts == Counts::Yes { "" } else { "warm-up " };
    let number = first.block + 1;
    let name = |step: &Step| plan::label(subjects, suite, step);
    if let Unit::Run(step) = unit {
        let workload = &suite.workloads[step.workload].name;
        return format!("{before}block {number}  {workload}  {}", name(step));
    }
    let workloads: BTreeSet<usize> = steps.iter().map(|step| step.workload).collect();
    let slices = workloads.into_iter().map(|index| {
        let workload = &suite.workloads[index];
        let (length, rounds) = experiment.bench.cut.of(workload);
        format!("{} {rounds} x {}", workload.name, write_duration(length))
    });
    let mut servers: Vec<String> = Vec::new();
    for name in steps.iter().map(name) {
        if !servers.contains(&name) {
            servers.push(name);
        }
    }
    format!(
        "{before}cohort {number}  {}  {}: {}",
        slices.collect::<Vec<_>>().join(", "),
        count(servers.len(), "server"),
        servers.join(", ")
    )
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
            in_cohorts: false,
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
    fn the_plan_is_one_line_and_its_parts_are_in_the_dry_run() {
        let plan = "plan: 2 servers, 2 loads, 3 blocks after 1 warm-up block: 24 runs, about 87 s; \
                    done at 23:59";
        assert_eq!(lines(&outlook()), [plan]);
        let expected = [
            "loads: 1 x saturate, 1 x cost",
            "A/A: 8 repeat a server within its block",
            "time without builds: 4 s of checks, 3 s of 2 pilots that find rates, 80 s of runs",
        ];
        assert_eq!(parts(&outlook()), expected);
        let cohorts = Outlook { in_cohorts: true, ..outlook() };
        assert_eq!(lines(&cohorts), [plan.replace("block", "cohort")]);
        assert_eq!(parts(&cohorts)[1], "A/A: 8 repeat a server within its cohort");
        let tomorrow = Outlook { runs_time: Duration::from_secs(3600), ..outlook() };
        assert!(lines(&tomorrow)[0].ends_with("done at 2026-03-02 00:58"), "{tomorrow:?}");
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
            lines(&Outlook { blocks: 6, goal, ..outlook() }).split_off(1)
        };
        assert_eq!(with(None, None), <[String; 0]>::default());
        let both = with(Some(0.015), Some(1200));
        assert!(both[0].contains("40 s each, until every interval is within +-1.5 %"), "{both:?}");
        assert!(both[1].contains("later than 20m after the first run"), "{both:?}");
        let goal = Goal { precision: Some(0.01), budget: None };
        let many = lines(&Outlook { blocks: 1000, goal, ..outlook() });
        assert!(many[1].starts_with("the precision of 1 % adds nothing"), "{many:?}");
        let pairs = lines(&Outlook { in_cohorts: true, goal, ..outlook() });
        assert!(pairs[1].starts_with("then pairs of cohorts, 40 s each"), "{pairs:?}");
        let little = with(None, Some(1));
        assert!(little[0].contains("is less than the 20 s of one block"), "{little:?}");
    }
}
