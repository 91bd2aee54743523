//! The plan in words: what will be measured, how long it takes, and its limits. Progress and
//! `--dry-run` show it.

use jiff::{ToSpan, Zoned};
use std::time::Duration;
use wirebench_experiment::experiment::{Forecast, MOST_BLOCKS_FOR_PRECISION};
use wirebench_report::table_units::percent;
use wirebench_schema::{journal::Goal, units::write_duration};

/// The fewest blocks with intervals and verdicts: two blocks give a single difference to estimate
/// the noise from.
pub(crate) const FEWEST_BLOCKS: u32 = 3;

/// The plan in a few lines, with its end if it begins `now`.
pub(crate) fn outlook_lines(forecast: &Forecast, now: Option<&Zoned>) -> Vec<String> {
    let Forecast { blocks, warmup_blocks, runs, variants, goal, .. } = forecast;
    let noun = noun(forecast);
    let mut what = format!(
        "plan: {}, {}, {}",
        count(*variants, "server"),
        count(forecast.phases.values().sum(), "load"),
        count(*blocks as usize, noun)
    );
    if *warmup_blocks > 0 {
        what += &format!(" after {}", count(*warmup_blocks as usize, &format!("warm-up {noun}")));
    }
    let time = forecast.time();
    let end = now.map_or_else(String::new, |now| format!("; done at {}", end(now, time)));
    let mut lines = vec![format!("{what}: {}, about {}{end}", count(*runs, "run"), show(time))];
    lines.extend(goal_lines(forecast, goal));
    lines
}

/// What the plan consists of, by phase and by time.
pub(crate) fn parts(forecast: &Forecast) -> Vec<String> {
    let phases: Vec<String> =
        forecast.phases.iter().map(|(phase, count)| format!("{count} x {phase}")).collect();
    let mut lines = vec![format!("loads: {}", phases.join(", "))];
    if forecast.repeated > 0 {
        lines.push(format!(
            "A/A runs: {} repeat a server within its {}",
            forecast.repeated,
            noun(forecast)
        ));
    }
    let mut times = Vec::new();
    if forecast.checks > 0 {
        times.push(format!("{} for checks", show(forecast.checks_time)));
    }
    if forecast.pilots > 0 {
        let pilots = count(forecast.pilots, "pilot");
        times.push(format!("{} for {pilots} to find rates", show(forecast.pilots_time)));
    }
    times.push(format!("{} for runs", show(forecast.runs_time)));
    if forecast.whys > 0 {
        let profiles = count(forecast.whys, "profile");
        times.push(format!("{} for {profiles} of --why", show(forecast.whys_time())));
    }
    lines.push(format!("time, without builds: {}", times.join(", ")));
    lines
}

/// When it is over, on the clock of this machine.
fn end(now: &Zoned, time: Duration) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let Ok(end) = now.checked_add(seconds.min(86_400 * 3650).seconds()) else {
        return "an unknown time".to_owned();
    };
    let form = if end.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    end.strftime(form).to_string()
}

/// What the runs of a block are together.
const fn noun(forecast: &Forecast) -> &'static str {
    if forecast.in_cohorts { "cohort" } else { "block" }
}

fn goal_lines(forecast: &Forecast, goal: &Goal) -> Vec<String> {
    let noun = noun(forecast);
    let mut lines = Vec::new();
    if let Some(precision) = goal.precision {
        let (pair, wanted) = (show(forecast.block_time * 2), percent(precision));
        lines.push(if forecast.blocks < MOST_BLOCKS_FOR_PRECISION {
            format!(
                "then pairs of {noun}s, {pair} each, until every interval is within +-{wanted}; at most \
                 {MOST_BLOCKS_FOR_PRECISION} {noun}s"
            )
        } else {
            format!(
                "--precision {wanted} has no effect: it adds {noun}s up to {MOST_BLOCKS_FOR_PRECISION} at most"
            )
        });
    }
    if let Some(budget) = goal.budget {
        let (budget_text, block) = (write_duration(budget), show(forecast.block_time));
        let needed = FEWEST_BLOCKS.min(forecast.blocks).max(1);
        let least = forecast.block_time.saturating_mul(needed);
        lines.push(if least > budget {
            format!(
                "the budget of {budget_text} is less than the {} of {}, which a verdict needs: use --budget {}s",
                show(least),
                count(needed as usize, noun),
                least.as_secs() + 1
            )
        } else {
            format!(
                "budget: no {noun} starts that would end later than {budget_text} after the first run; a \
                 {noun} takes about {block}"
            )
        });
    }
    lines
}

/// `1 server`, `2 servers`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A time to wait, in whole seconds or minutes, or in hours with a tenth.
pub(crate) fn show(duration: Duration) -> String {
    let seconds = duration.as_secs_f64().ceil() as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..10_800 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_the_unit_that_fits() {
        assert_eq!(show(Duration::from_millis(1500)), "2 s");
        assert_eq!(show(Duration::from_secs(121)), "3 min");
        assert_eq!(show(Duration::from_secs(5400 * 3)), "4.5 h");
    }
    use expect_test::expect_file;
    use wirebench_schema::suite::Phase;

    fn forecast() -> Forecast {
        Forecast {
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
            whys: 0,
            goal: Goal::default(),
        }
    }

    fn lines(forecast: &Forecast) -> Vec<String> {
        let now: Zoned = "2026-03-01T23:58:30+00:00[UTC]".parse().unwrap();
        outlook_lines(forecast, Some(&now))
    }

    #[test]
    fn the_plan_is_one_line_and_its_parts_are_in_the_dry_run() {
        let plan = "plan: 2 servers, 2 loads, 3 blocks after 1 warm-up block: 24 runs, about 87 s; \
                    done at 23:59";
        assert_eq!(lines(&forecast()), [plan]);
        let expected = [
            "loads: 1 x saturate, 1 x cost",
            "A/A runs: 8 repeat a server within its block",
            "time, without builds: 4 s for checks, 3 s for 2 pilots to find rates, 80 s for runs",
        ];
        assert_eq!(parts(&forecast()), expected);
        let cohorts = Forecast { in_cohorts: true, ..forecast() };
        assert_eq!(lines(&cohorts), [plan.replace("block", "cohort")]);
        assert_eq!(parts(&cohorts)[1], "A/A runs: 8 repeat a server within its cohort");
        let why = Forecast { whys: 4, ..forecast() };
        assert!(parts(&why)[2].ends_with("80 s for runs, 32 s for 4 profiles of --why"));
        assert!(lines(&why)[0].contains("about 119 s"), "{why:?}");
        let tomorrow = Forecast { runs_time: Duration::from_secs(3600), ..forecast() };
        assert!(lines(&tomorrow)[0].ends_with("done at 2026-03-02 00:58"), "{tomorrow:?}");
    }

    #[test]
    fn goals_are_shown_with_their_effect() {
        let with = |precision, budget_s: Option<u64>| {
            let budget = budget_s.map(Duration::from_secs);
            let goal = Goal { precision, budget, ..Goal::default() };
            lines(&Forecast { blocks: 6, goal, ..forecast() }).split_off(1)
        };
        assert_eq!(with(None, None), <[String; 0]>::default());
        let goal = Goal { precision: Some(0.01), ..Goal::default() };
        let many = lines(&Forecast { blocks: 1000, goal, ..forecast() });
        let pairs = lines(&Forecast { in_cohorts: true, goal, ..forecast() });
        let rows = [with(Some(0.015), Some(1200)), many, pairs, with(None, Some(1))];
        let text = rows.concat().join("\n");
        expect_file!["../tests/golden/unit/goals.txt"].assert_eq(&text);
    }
}
