//! The commands of blocks that are missing, and the command of the whole plan.

use wirebench_schema::{journal::Start, suite::Workload};

use super::blocks::Blocks;

/// Options that are about one block or its files. All take a value.
const OF_ONE_BLOCK: [&str; 5] = ["--block", "--rates", "--output", "-o", "--junit"];

/// The command that measures a block.
pub(super) fn of_block(blocks: &Blocks, block: u32) -> Vec<String> {
    if let Some(failed) = blocks.results.get(&block) {
        return failed.journal.start.command.clone();
    }
    let Some(start) = blocks.start() else { return Vec::new() };
    let mut words = without(&start.command, &OF_ONE_BLOCK);
    words.extend(["--block".to_owned(), format!("{block}/{}", start.blocks)]);
    let needs_rates = block > 1 && start.workloads.iter().any(Workload::needs_rate);
    if let Some((_, result)) = blocks.complete().next().filter(|_| needs_rates) {
        words.extend(["--rates".to_owned(), result.folder.display().to_string()]);
    }
    words
}

/// The command that measures the whole plan in one go.
pub(super) fn of_plan(start: &Start) -> Vec<String> {
    let mut words = without(&start.command, &OF_ONE_BLOCK);
    words.extend(["--cohorts".to_owned(), start.blocks.to_string()]);
    words
}

/// `words` without those options and their values.
fn without(words: &[String], options: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let is_it = |name: &&&str| {
            let value = word.strip_prefix(**name);
            let is_short = !name.starts_with("--");
            value.is_some_and(|it| it.is_empty() || it.starts_with('=') || is_short)
        };
        match options.iter().find(is_it) {
            None => kept.push(word.clone()),
            Some(name) if word == name => _ = words.next(),
            Some(_) => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_one_block_are_taken_out_with_their_values() {
        let start = |words: &str| Start {
            command: words.split(' ').map(str::to_owned).collect(),
            blocks: 8,
            ..Start::default()
        };
        for block in ["--block 1/8", "--block=2/8 --rates=a -ob -o c --output d --junit x"] {
            let whole = of_plan(&start(&format!("run full {block} --seed 7")));
            assert_eq!(whole.join(" "), "run full --seed 7 --cohorts 8");
        }
    }
}
