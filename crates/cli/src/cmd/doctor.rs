//! `wirebench doctor`: reports problems of this machine, those that affect results most first, each with a
//! remedy and what undoes it. It changes nothing, and it exits with 0 whatever it finds unless it is strict. What
//! `--detect` measures instead is in `detect`.

mod detect;

use serde_json::json;
use std::time::Duration;
use wirebench_catalogue::setup::Setup;
use wirebench_doctor::{Effect, Finding, Group, State, examine_here, problems};
use wirebench_report::wrap::wrap;
use wirebench_sys::awake::AwakeCpus;

use crate::{
    args::project::ProjectOption, context::Context, exit::Exit, out, session::Original, value,
};

/// The version of what `--json` prints. It grows whenever a field changes its meaning or goes away.
const FORMAT: u32 = 3;

/// Where the text of a check begins.
const TEXT: usize = 19;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Show all checks, also those that are fine or unknown
    #[arg(short = 'v', long)]
    details: bool,
    /// Exit with 1 unless every check is fine
    #[arg(long)]
    strict: bool,
    /// Print JSON: the environment, as in environment.json, and all findings
    #[arg(long)]
    json: bool,
    /// Measure which differences `wirebench ab` finds on this machine, with the built-in server and copies of it that
    /// need 0.5, 1, 2 and 5 % more CPU time; takes about a minute and keeps the result
    #[arg(long, conflicts_with_all = ["details", "strict"])]
    detect: bool,
    /// Time for the cohorts of --detect [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = value::budget, requires = "detect")]
    budget: Option<Duration>,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments, original: Original) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    if arguments.detect {
        return detect::run(&context, arguments, original);
    }
    let setup = Setup::find(&context.subjects()?, &context.prober());
    let (environment, findings) = examine_here(
        context.project.root.as_deref(),
        &wirebench_nullserver::probe_io_uring(),
        &AwakeCpus::hold().map(drop),
        &setup,
        context.interrupt.flag(),
    );
    let text = if arguments.json {
        let all = json!({ "format": FORMAT, "environment": environment, "findings": findings });
        serde_json::to_string_pretty(&all)?
    } else {
        let width = out::columns().map_or(usize::MAX, usize::from);
        page(&findings, arguments.details, width)
    };
    out::result(&text);
    let is_fine = findings.iter().all(|finding| finding.state == State::Fine);
    let exit = if arguments.strict && !is_fine { Exit::Failed } else { Exit::Fine };
    Ok(context.interrupt.exit().unwrap_or(exit))
}

/// Problems by their effect, then what is unknown and what is fine: a line per group, or per check.
fn page(findings: &[Finding], details: bool, width: usize) -> String {
    let mut parts = vec![by_effect(findings, width)];
    for (state, title) in [(State::Unknown, "not reported by this machine"), (State::Fine, "fine")]
    {
        let of_state: Vec<&Finding> = findings.iter().filter(|it| it.state == state).collect();
        let lines: Vec<String> = match details {
            true => of_state.iter().flat_map(|it| beside(it.name, &it.text, width)).collect(),
            false => by_group(&of_state, width),
        };
        if !lines.is_empty() {
            parts.push(format!("{title}\n{}\n", lines.join("\n")));
        }
    }
    let counts = State::ALL.map(|state| {
        let count = findings.iter().filter(|finding| finding.state == state).count();
        format!("{count} {}", state.name())
    });
    let more = if details { "" } else { "; `wirebench doctor --details` shows all" };
    parts.push(counts.join(", ") + more);
    parts.join("\n")
}

/// Each problem with its remedy, below what it does to results. Commands stay whole, so that they can be copied.
fn by_effect(findings: &[Finding], width: usize) -> String {
    let problems = problems(findings);
    let mut text = String::new();
    for effect in Effect::ALL {
        let of_effect = problems.iter().filter(|it| it.effect == effect);
        let lines: Vec<String> = of_effect
            .flat_map(|it| {
                let step = |sign, step: &Option<String>| {
                    step.as_ref().map(|step| format!("{:TEXT$}{sign} {step}", ""))
                };
                let steps = [step("->", &it.remedy), step("undo:", &it.undo)];
                beside(it.name, &it.text, width).into_iter().chain(steps.into_iter().flatten())
            })
            .collect();
        if !lines.is_empty() {
            text += &format!("{}\n{}\n\n", effect.name(), lines.join("\n"));
        }
    }
    if text.is_empty() { "no problem\n".to_owned() } else { text.trim_end().to_owned() + "\n" }
}

/// A text next to its head, in lines of this width.
fn beside(head: &str, text: &str, width: usize) -> Vec<String> {
    let heads = [head].into_iter().chain(std::iter::repeat(""));
    let lines = wrap(text, width.saturating_sub(TEXT), "");
    heads.zip(lines).map(|(head, line)| format!("  {head:16} {line}")).collect()
}

/// The names of the checks, a line for each group.
fn by_group(findings: &[&Finding], width: usize) -> Vec<String> {
    let line = |group: Group| {
        let of_group = findings.iter().filter(|it| it.group == group);
        let names: Vec<&str> = of_group.map(|it| it.name).collect();
        if names.is_empty() { Vec::new() } else { beside(group.name(), &names.join(", "), width) }
    };
    Group::ALL.into_iter().flat_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    fn finding(group: Group, name: &'static str, state: State, effect: Effect) -> Finding {
        Finding {
            group,
            name,
            state,
            effect,
            text: format!(
                "what was found about {name}, in a sentence that needs more than one line"
            ),
            remedy: None,
            undo: None,
        }
    }

    #[test]
    fn problems_come_first_and_fine_checks_are_a_line_per_group() {
        let mut findings = vec![
            finding(Group::Machine, "cpus", State::Fine, Effect::Prevents),
            finding(Group::Machine, "governor", State::Unknown, Effect::Scatters),
            finding(Group::Machine, "load", State::Warning, Effect::Scatters),
            finding(Group::Machine, "memory", State::Fine, Effect::Scatters),
            finding(Group::Network, "servers", State::Missing, Effect::Prevents),
            finding(Group::Network, "ports", State::Fine, Effect::Limits),
            finding(Group::Tools, "dub", State::Missing, Effect::Skips),
        ];
        findings[2].remedy = Some("stop other programs".to_owned());
        findings[2].undo = Some("start them again".to_owned());
        let pages = [false, true].map(|details| page(&findings, details, 80));
        for line in pages.iter().flat_map(|page| page.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let problems = by_effect(&findings, 80);
        let [brief, details] = pages.each_ref().map(|it| it.strip_prefix(&problems).unwrap());
        let text = format!("{problems}----{brief}\n----{details}");
        expect_file!["../../tests/golden/unit/doctor.txt"].assert_eq(&text);
        assert!(page(&findings[..1], false, 80).starts_with("no problem\n\nfine\n"));
    }
}
