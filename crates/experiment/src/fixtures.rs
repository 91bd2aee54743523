//! Suites and subjects of tests.

use std::path::Path;
use wirebench_catalogue::{project::Project, subject::Subject};
use wirebench_schema::{
    scenario::Scenario,
    suite::{Suite, Workload},
};

/// A suite with these lines at its beginning and a workload with each of these, named `a`, `b` and so on.
pub(crate) fn suite(head: &str, workloads: &[&str]) -> Suite {
    let workload = |(name, lines): (char, &&str)| {
        format!("[[workload]]\nname = \"{name}\"\nscenario = \"hello\"\nconnections = 8\n{lines}\n")
    };
    let workloads = ('a'..).zip(workloads).map(workload).collect::<String>();
    Suite::parse("example", &format!("description = \"\"\n{head}\n{workloads}")).unwrap()
}

pub(crate) fn workload(lines: &str) -> Workload {
    suite("blocks = 1", &[lines]).workloads.remove(0)
}

/// The built-in servers and servers of the user's own with these scenarios.
pub(crate) fn subjects(own: &[&[Scenario]]) -> Vec<Subject> {
    let project = Project::without_entries(Path::new("/nowhere"));
    let mut subjects = Subject::builtins(Path::new("wirebench"), &project).unwrap();
    for (number, scenarios) in own.iter().enumerate() {
        let command = format!("x{number} {{port}}");
        subjects.push(Subject::own(&command, scenarios, &project).unwrap());
    }
    subjects
}
