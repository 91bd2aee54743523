//! `wirebench doctor`: reports problems of this machine, each with a remedy. It changes nothing, and it
//! exits with 0 whatever it finds.

use serde_json::json;
use std::fmt::Write;
use wirebench_catalogue::setup::Setup;
use wirebench_doctor::{Finding, Group, State, examine_here};

use crate::{context::Context, exit::Exit, options::ProjectOption, out};

/// The version of what `--json` prints. It grows whenever a field changes its meaning or goes away.
const FORMAT: u32 = 2;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON: the environment, as in environment.json, and all findings
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let setup = Setup::find(&context.subjects()?, &context.prober());
    let (environment, findings) = examine_here(
        context.project.root.as_deref(),
        &wirebench_nullserver::probe_io_uring(),
        &setup,
        context.interrupt.flag(),
    );
    let text = if arguments.json {
        let all = json!({ "format": FORMAT, "environment": environment, "findings": findings });
        serde_json::to_string_pretty(&all)?
    } else {
        in_groups(&findings)
    };
    out::result(&text);
    Ok(context.interrupt.exit().unwrap_or(Exit::Fine))
}

fn in_groups(findings: &[Finding]) -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let _ = writeln!(text, "{}", group.name());
        for finding in findings.iter().filter(|finding| finding.group == group) {
            let _ =
                writeln!(text, "  {:8} {:16} {}", finding.state.name(), finding.name, finding.text);
            if let Some(remedy) = &finding.remedy {
                let _ = writeln!(text, "{:27} -> {remedy}", "");
            }
        }
        text.push('\n');
    }
    let counts = State::ALL.map(|state| {
        let count = findings.iter().filter(|finding| finding.state == state).count();
        format!("{count} {}", state.name())
    });
    text + &counts.join(", ")
}
