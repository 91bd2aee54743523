//! A suite of copies of one server: what is said of each must be that it is no different.

use anyhow::{Context, ensure};
use serde::Deserialize;
use std::{collections::BTreeMap, fs, path::Path, process::Command};

use crate::step::root;

/// How often the server is in each block.
const COPIES: &str = "5";

#[derive(Deserialize)]
struct Report {
    workloads: Vec<Workload>,
}

#[derive(Deserialize)]
struct Workload {
    name: String,
    primary_metric: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    variant: String,
    copy: u32,
    figures: BTreeMap<String, Figure>,
}

#[derive(Deserialize)]
struct Figure {
    ratio: Option<Ratio>,
}

#[derive(Deserialize)]
struct Ratio {
    claim: Option<String>,
}

/// Runs the suite and returns a complaint for each copy that is called different.
pub(crate) fn measure(wirebench: &Path, blocks: u32) -> anyhow::Result<Vec<String>> {
    println!("\n== {COPIES} copies of one server in a suite of {blocks} blocks");
    let mut command = Command::new(wirebench);
    command.args(["run", "c/epoll", "--scenario", "hello", "--phase", "saturate"]);
    command.args(["--phase", "cost", "--copies", COPIES, "--blocks", &blocks.to_string()]);
    let folder = root().join("target/wirebench/copies");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let kept = tempdir_in(&folder)?;
    command.arg("--quiet").arg("--output").arg(&kept).current_dir(root());
    println!("$ {command:?}");
    let status = command.status().with_context(|| format!("{command:?} cannot be run"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    let mut complaints = Vec::new();
    for result in fs::read_dir(&kept)?.flatten() {
        let path = result.path().join("report.json");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        complaints.extend(read(&text)?);
    }
    Ok(complaints)
}

/// A new folder for this run alone.
fn tempdir_in(parent: &Path) -> anyhow::Result<std::path::PathBuf> {
    let folder = parent.join(std::process::id().to_string());
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir(&folder)?;
    Ok(folder)
}

fn read(text: &str) -> anyhow::Result<Vec<String>> {
    let report: Report = serde_json::from_str(text).context("report.json")?;
    let mut complaints = Vec::new();
    let mut judged = 0;
    for workload in &report.workloads {
        for row in &workload.rows {
            let figure = row.figures.get(&workload.primary_metric);
            let ratio = figure.and_then(|figure| figure.ratio.as_ref());
            let Some(claim) = ratio.and_then(|ratio| ratio.claim.as_deref()) else { continue };
            judged += 1;
            if ["higher", "lower"].contains(&claim) {
                let Row { variant, copy, .. } = row;
                let name = &workload.name;
                complaints.push(format!("copy {copy} of {variant} is called {claim} in {name}"));
            }
        }
    }
    ensure!(judged > 0, "no copy was judged: the report has no claims");
    println!("{judged} copies were judged, {} were called different", complaints.len());
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_called_different_is_a_complaint_and_no_copy_at_all_is_an_error() {
        let report = |claim: &str| {
            format!(
                r#"{{"workloads": [{{"name": "hello", "primary_metric": "cpu", "rows": [
                {{"variant": "c/epoll", "copy": 2, "figures": {{"cpu": {{"ratio": {{"claim": {claim}}}}}}}}}]}}]}}"#
            )
        };
        assert_eq!(read(&report("\"same\"")).unwrap(), [""; 0]);
        assert_eq!(read(&report("\"lower\"")).unwrap().len(), 1);
        assert!(read(&report("null")).is_err());
    }
}
