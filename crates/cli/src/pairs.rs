//! `--pairs`: whole cohorts of one result, measured by several pairs of hosts at the same time. Ratios live inside a
//! cohort, so that pairs may differ.
//!
//! A pair takes the next block from a queue. One that fails gives its block back, and is left out after its second
//! failure. The first block is measured alone: rates that it finds hold for all.

use anyhow::Context as _;
use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::Duration,
};
use wirebench_experiment::{
    experiment::{ENVIRONMENT_FILE, ExperimentPart, Finished, between_parts},
    journal::{self, Writer, new_run_folder},
};
use wirebench_schema::journal::{
    End, EndReason, FixedRate, Journal, Part, Record, Start, Verified,
};

use crate::{
    away::{self, Elsewhere},
    context::{Context, command_line},
    exit::Exit,
    fleet::{self, Pair, ServerHost},
    interrupt::Interrupt,
    options::{Conditions, ProjectOption, ResultOptions},
    out, results,
};

/// Failures after which a pair is left out.
const FAILURES_MOST: usize = 2;
/// How often a pair without work looks for some.
const LOOK: Duration = Duration::from_millis(100);

/// What the pairs share.
#[derive(Debug, Default)]
struct Work {
    /// Blocks that no pair has yet; unknown before the first one is measured.
    queue: VecDeque<u32>,
    taken: usize,
    /// Whether the number of blocks and the rates are known.
    is_open: bool,
    rates: Vec<FixedRate>,
    /// What all parts must have in common; unknown before the first one is measured.
    start: Option<Start>,
}

/// A block that a pair has measured, or why not.
struct Measured {
    pair: String,
    block: u32,
    result: Result<(PathBuf, Journal), String>,
}

struct Whole {
    folder: PathBuf,
    writer: Writer,
    journal: Journal,
}

/// The options of a verb whose cohorts pairs of hosts can measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PairsOptions {
    /// Pairs of hosts, each as SERVER:LOAD, that measure whole cohorts of one result at the same time, such as
    /// lab1:lab2,lab3:lab4
    #[arg(long, value_name = "PAIRS", value_delimiter = ',', value_parser = fleet::pair,
          conflicts_with_all = ["server_on", "slurm", "from", "precision", "budget"],
          help_heading = fleet::HEADING)]
    pairs: Vec<Pair>,
    /// Measure only this block, from 0 (internal)
    #[arg(long, hide = true, value_name = "N", requires = "known")]
    block: Option<u32>,
    /// File with records that hold, for --block (internal)
    #[arg(long, hide = true, value_name = "FILE", requires = "block")]
    known: Option<PathBuf>,
}

impl PairsOptions {
    /// The pairs, if any are given. `conclude` reports the result, as it does where one side measures.
    pub(crate) fn of<'a>(
        &'a self,
        (conditions, telling): (&'a Conditions, &'a ResultOptions),
        project: &'a ProjectOption,
        conclude: impl Fn(&Interrupt, &Finished) -> anyhow::Result<Exit> + 'a,
    ) -> Option<Pairs<'a>> {
        let conclude: Conclude<'a> = Box::new(conclude);
        let pairs = &self.pairs;
        (!pairs.is_empty()).then_some(Pairs { conditions, telling, project, conclude, pairs })
    }

    /// The block that is measured here, if it is only one.
    pub(crate) fn part(&self) -> anyhow::Result<Option<ExperimentPart>> {
        let (Some(block), Some(path)) = (self.block, &self.known) else { return Ok(None) };
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let known = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Some(ExperimentPart { block, known }))
    }
}

/// Reports a result and decides the exit code.
type Conclude<'a> = Box<dyn Fn(&Interrupt, &Finished) -> anyhow::Result<Exit> + 'a>;

/// Pairs of hosts and what they measure.
pub(crate) struct Pairs<'a> {
    project: &'a ProjectOption,
    conclude: Conclude<'a>,
    conditions: &'a Conditions,
    telling: &'a ResultOptions,
    pairs: &'a [Pair],
}

impl Pairs<'_> {
    pub(crate) fn begin(&self, context: &Context) -> anyhow::Result<Exit> {
        let seed = self.conditions.seed.unwrap_or_else(|| u64::from(std::process::id()));
        self.measure(context, away::given(), seed, None)
    }

    /// Measures the blocks that the result in `folder` lacks.
    pub(crate) fn go_on(&self, folder: &Path) -> anyhow::Result<Exit> {
        let context = Context::new(self.project)?;
        let mut writer = Writer::reopen(folder)?;
        writer.cut_torn_line()?;
        let journal = journal::read(folder).map_err(anyhow::Error::msg)?;
        writer.go_on_like(&journal);
        let (words, seed) = (away::words_for_others(&journal.start.command), journal.start.seed);
        let whole = Whole { folder: folder.to_owned(), writer, journal };
        self.measure(&context, words, seed, Some(whole))
    }

    fn measure(
        &self,
        context: &Context,
        mut words: Vec<String>,
        seed: u64,
        mut whole: Option<Whole>,
    ) -> anyhow::Result<Exit> {
        if self.conditions.seed.is_none() {
            words.extend(["--seed".to_owned(), seed.to_string()]);
        }
        let results = self.telling.project(context)?.results;
        let parts = folder_of_parts(&results)?;
        let work = Mutex::new(match &whole {
            Some(whole) => open(&whole.journal),
            None => Work { queue: [0].into(), ..Work::default() },
        });
        let hosts = self.pairs.iter().map(|pair| Ok((pair, self.conditions.hosts_of(pair)?)));
        let hosts: Vec<(&Pair, ServerHost)> = hosts.collect::<anyhow::Result<_>>()?;
        let (sender, measured) = mpsc::channel();
        let done = thread::scope(|scope| {
            for (pair, server) in &hosts {
                let (sender, words, work, parts) = (sender.clone(), &words, &work, &parts);
                let pair = Measurer { context, pair: pair.to_string(), server, words, work, parts };
                thread::Builder::new()
                    .spawn_scoped(scope, move || pair.measure(&sender))
                    .map_err(wirebench_server::parallel::at_limit)?;
            }
            drop(sender);
            for measured in measured {
                take_in(measured, &mut whole, &work, &results, self.telling.quiet)?;
            }
            anyhow::Ok(())
        });
        let _ = fs::remove_dir_all(&parts);
        done?;
        let left = locked(&work).queue.len();
        self.conclude(context, whole.context("no pair of hosts has measured anything")?, left)
    }

    /// Ends the journal, and reports what there is. `left` blocks are missing.
    fn conclude(&self, context: &Context, mut whole: Whole, left: usize) -> anyhow::Result<Exit> {
        let is_interrupted = context.interrupt.exit().is_some();
        let is_complete = left == 0 && !is_interrupted;
        let reason = if is_complete { EndReason::Complete } else { EndReason::Interrupted };
        whole.write(vec![Record::End(End { ended: journal::now(), reason })])?;
        let Whole { folder, journal, .. } = whole;
        let finished = Finished { folder, journal };
        let exit = (self.conclude)(&context.interrupt, &finished)?;
        if is_complete || is_interrupted {
            return Ok(exit);
        }
        let next = finished.next_step();
        out::error(&format!(
            "{left} cohorts are not measured, because no pair of hosts is left. {next}"
        ));
        Ok(Exit::Failed)
    }
}

/// A folder for the results of pairs, next to where the whole one will be.
fn folder_of_parts(results: &Path) -> anyhow::Result<PathBuf> {
    let folder = results.join(format!(".parts-{}", std::process::id()));
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

fn locked<'a>(work: &'a Mutex<Work>) -> MutexGuard<'a, Work> {
    work.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is left of a result.
fn open(journal: &Journal) -> Work {
    let is_measured = |block: &u32| {
        journal.parts.iter().any(|part| part.block == *block && part.failure.is_none())
    };
    let blocks = 0..journal.start.warmup_blocks + journal.start.blocks;
    let queue = blocks.filter(|block| !is_measured(block)).collect();
    let (rates, start) = (journal.rates.clone(), Some(journal.start.clone()));
    Work { queue, is_open: true, rates, start, taken: 0 }
}

/// Writes down what a pair has measured.
fn take_in(
    measured: Measured,
    whole: &mut Option<Whole>,
    work: &Mutex<Work>,
    results: &Path,
    is_quiet: bool,
) -> anyhow::Result<()> {
    let Measured { pair, block, result } = measured;
    if let Ok((folder, journal)) = &result {
        if whole.is_none() {
            *whole = Some(Whole::begin(results, folder, &journal.start)?);
        }
        if let Some(whole) = whole.as_mut() {
            whole.add(&pair, block, folder, journal)?;
            let mut work = locked(work);
            if !work.is_open {
                *work = Work { taken: work.taken, ..open(&whole.journal) };
            }
        }
    } else if let (Some(whole), Err(reason)) = (whole.as_mut(), &result) {
        let failure = reason.lines().next().map(str::to_owned);
        whole.write(vec![Record::Part(Part {
            pair: pair.clone(),
            machine: None,
            block,
            failure,
        })])?;
    }
    let mut work = locked(work);
    work.taken -= 1;
    match result {
        Ok(_) => {
            let left = work.queue.len() + work.taken;
            if !is_quiet {
                out::note(&format!("{pair}: cohort {} measured, {left} left", block + 1));
            }
        }
        Err(reason) => {
            work.queue.push_front(block);
            out::note(&format!("{pair}: cohort {} not measured: {reason}", block + 1));
        }
    }
    Ok(())
}

impl Whole {
    /// Begins the result as the first part of it began.
    fn begin(results: &Path, part: &Path, start: &Start) -> anyhow::Result<Self> {
        let folder = new_run_folder(results, &start.suite)?;
        let environment = folder.join(ENVIRONMENT_FILE);
        fs::copy(part.join(ENVIRONMENT_FILE), &environment)
            .with_context(|| environment.display().to_string())?;
        let here = std::env::current_dir()?.display().to_string();
        let start = Start { command: command_line(), folder: here, ..start.clone() };
        let (writer, journal) = Writer::begin(&folder, start, Vec::new())?;
        Ok(Self { folder, writer, journal })
    }

    fn write(&mut self, records: Vec<Record>) -> anyhow::Result<()> {
        for record in self.writer.write(records)? {
            self.journal.add(record);
        }
        Ok(())
    }

    /// Adds the runs of a part, and what is known from then on.
    fn add(&mut self, pair: &str, block: u32, folder: &Path, part: &Journal) -> anyhow::Result<()> {
        let mut records = Vec::new();
        let known = &self.journal;
        let is_new = |it: &&_| !known.unavailable.contains(it);
        records.extend(part.unavailable.iter().filter(is_new).cloned().map(Record::Unavailable));
        let is_new = |it: &&Verified| {
            !known
                .verified
                .iter()
                .any(|of| (&of.variant, of.scenario) == (&it.variant, it.scenario))
        };
        records.extend(part.verified.iter().filter(is_new).cloned().map(Record::Verified));
        if known.rates.is_empty() {
            records.extend(part.rates.iter().cloned().map(Record::Rate));
        }
        records.extend(part.runs.iter().cloned().map(|run| Record::Run(Box::new(run))));
        let machine = results::machine(folder)?;
        records.push(Record::Part(Part { pair: pair.to_owned(), machine, block, failure: None }));
        self.write(records)
    }
}

struct Measurer<'a> {
    context: &'a Context,
    pair: String,
    server: &'a ServerHost,
    words: &'a [String],
    work: &'a Mutex<Work>,
    parts: &'a Path,
}

impl Measurer<'_> {
    /// Measures block after block until none is left, or it has failed too often.
    fn measure(&self, sender: &mpsc::Sender<Measured>) {
        let elsewhere = Elsewhere::new(self.context, self.server);
        let (mut failures, mut known, mut is_prepared) = (0, Vec::new(), false);
        while failures < FAILURES_MOST && self.context.interrupt.exit().is_none() {
            let mut work = locked(self.work);
            let Some(block) = work.queue.pop_front() else {
                if work.taken == 0 {
                    return;
                }
                drop(work);
                thread::sleep(LOOK);
                continue;
            };
            work.taken += 1;
            let rates = work.rates.clone().into_iter().map(Record::Rate);
            let given: Vec<Record> = rates.chain(known.iter().cloned()).collect();
            drop(work);
            let stop = self.context.interrupt.flag();
            let prepared = if is_prepared { Ok(()) } else { elsewhere.prepare(stop) };
            is_prepared = prepared.is_ok();
            let mut result = prepared.and_then(|()| self.block(&elsewhere, block, &given));
            let difference = result.as_ref().ok().and_then(|(_, journal)| self.difference(journal));
            match (&result, difference) {
                (Err(_), _) => failures += 1,
                // It would be so again.
                (Ok(_), Some(difference)) => {
                    failures = FAILURES_MOST;
                    result = Err(format!("not comparable with the other pairs: {difference}"));
                }
                (Ok((_, journal)), None) => {
                    known = journal.verified.iter().cloned().map(Record::Verified).collect();
                }
            }
            if sender.send(Measured { pair: self.pair.clone(), block, result }).is_err() {
                return;
            }
        }
    }

    /// Why a part does not belong to the others, if so.
    fn difference(&self, part: &Journal) -> Option<String> {
        let work = locked(self.work);
        work.start.as_ref().and_then(|start| between_parts(start, &part.start).into_iter().next())
    }

    /// Has one block measured. The answer is where its result is.
    fn block(
        &self,
        elsewhere: &Elsewhere<'_>,
        block: u32,
        known: &[Record],
    ) -> Result<(PathBuf, Journal), String> {
        let there = away::new_folder();
        let file = format!("{there}/known.jsonl");
        let lines = known.iter().map(|it| serde_json::to_string(it).map(|line| line + "\n"));
        let text: String = lines.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let stop = self.context.interrupt.flag();
        elsewhere.write(&file, &text, stop)?;
        let mut words = [self.words, &elsewhere.words(&there)].concat();
        let block_words = ["--quiet", "--block", &block.to_string(), "--known", &file];
        words.extend(block_words.map(str::to_owned));
        let generators = &self.server.generators;
        if !generators.is_empty() {
            words.extend(["--from".to_owned(), generators.join(",")]);
        }
        let mut last = String::new();
        let mut print = |line: &str, is_result| match is_result {
            true => {}
            false => line.clone_into(&mut last),
        };
        let here = self.parts.join(there.replace('/', "-"));
        let carried = elsewhere.carry_out(words, !generators.is_empty(), stop, &mut print);
        let fetched = carried.and_then(|code| elsewhere.fetch(&there, &here).map(|()| code));
        let code = fetched.map_err(|reason| elsewhere.kept(&reason, &there, &here))?;
        elsewhere.clear(&there)?;
        let folders = fs::read_dir(&here).map_err(|error| error.to_string())?;
        let mut folders = folders.flatten().map(|it| it.path());
        let failed = || format!("it ended with exit code {code}: {last}");
        let folder = folders.find(|it| journal::is_in(it)).ok_or_else(failed)?;
        let journal = journal::read(&folder)?;
        let is_complete = journal.end.as_ref().is_some_and(|it| it.reason == EndReason::Complete);
        let has_block = journal.runs.iter().any(|run| run.block == block);
        if is_complete && has_block { Ok((folder, journal)) } else { Err(failed()) }
    }
}
