//! A load on a machine that changes between states over time, as a virtual machine does whose CPUs the
//! hypervisor moves. Each request costs more where the CPUs are far from each other, by an amount
//! that differs by server, so that ratios depend on the state.
//!
//! The tests and the example `coverage` share this file. Not in this file: what is good enough.

use super::normal;
use fastrand::Rng;
use wirebench_stats::{
    Interval, TwoWay, instance_values, judge_against, median,
    states::{States, fewest_visits, least},
};

/// CPU time per request in us with near CPUs, what far ones add, and the deviation between visits.
type Server = (f64, f64, f64);
/// The baseline, twice; c/epoll.
const BASELINE: Server = (4.2, 1.4, 0.02);
/// Eight rows. Those at [`THREADS`] and [`NODE`] are c/threads and node/http as measured.
const ROWS: [Server; 8] = [
    (6.17, 2.9, 0.03),
    (9.7, 1.55, 0.02),
    (7.43, 1.4, 0.02),
    (4.2, 1.4, 0.02),
    (4.0, 1.4, 0.02),
    (4.4, 1.4, 0.02),
    (5.2, 1.4, 0.02),
    (5.5, 2.0, 0.02),
];
pub const THREADS: usize = 0;
pub const NODE: usize = 1;
/// The deviation of an instance between cohorts.
const INSTANCE: f64 = 0.011;
/// What all instances of a cohort have in common.
const COHORT: f64 = 0.03;
/// Visits of each instance in a cohort; each second round mirrors the one before.
const ROUNDS: usize = 6;
/// How long a visit lasts, the time from one to the next one of the same load, of three, and what a
/// cohort takes besides, in seconds.
const VISIT: f64 = 0.12;
const STEP: f64 = 0.6;
const START: f64 = 20.0;
/// Each reading of a distance is off by up to this share.
const JITTER: f64 = 0.1;
/// How long a machine runs before the first cohort, so that it is in any state.
const BEFORE: f64 = 1000.0;
/// An instance's visits in the state that a cohort needs to be complete.
const COMPLETE: usize = 2;

/// How many windows of 0.3 s each state lasted, on a virtual machine with two CPUs.
const SEEN_NEAR: &[f64] = &[2.0, 15.0, 4.0, 2.0, 2.0, 1.0, 1.0, 4.0, 37.0, 86.0, 35.0, 1.0, 130.0];
const SEEN_FAR: &[f64] =
    &[167.0, 1.0, 2.0, 40.0, 3.0, 1.0, 2.0, 14.0, 88.0, 17.0, 2.0, 84.0, 159.0];

#[derive(Clone, Copy, Debug)]
pub enum Dwell {
    /// For ever; the CPUs are near.
    Constant,
    /// This many seconds on average, without a memory.
    Mean(f64),
    /// As on a machine that was watched.
    Seen,
}

/// A load that is measured on a machine of this kind.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub dwell: Dwell,
    /// The distances of the states in ns, each with the share of the far state's cost that it adds.
    pub states: &'static [(f64, f64)],
    pub cohorts: usize,
}

pub const TWO_STATES: &[(f64, f64)] = &[(84.0, 0.0), (397.0, 1.0)];
pub const THREE_STATES: &[(f64, f64)] = &[(84.0, 0.0), (185.0, 0.4), (397.0, 1.0)];

/// What a run says of all rows.
#[derive(Clone, Debug)]
pub struct Verdicts {
    pub rows: Vec<Row>,
    /// The distance of the state that the ratios hold for; None for a mix of all.
    pub state: Option<f64>,
    pub cohorts: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub interval: Interval,
    pub ratio: f64,
    /// The true ratio, of the state or of the mix in the long run.
    pub truth: f64,
}

impl Row {
    pub fn misses(&self) -> bool {
        !self.interval.contains(self.truth)
    }

    /// Half of the interval's width in percent of the ratio.
    pub fn half_width(&self) -> f64 {
        50.0 * self.interval.width() / self.ratio
    }
}

/// The changes of a machine's state, in order.
struct Timeline {
    machine: Machine,
    state: usize,
    until: f64,
}

#[derive(Clone, Debug)]
struct Visit {
    log: f64,
    before: [u32; 1],
    after: [u32; 1],
}

/// `[instance][round]`
type Cohort = Vec<Vec<Visit>>;

impl Timeline {
    fn new(machine: Machine, random: &mut Rng) -> Self {
        let mut timeline = Self { machine, state: 0, until: 0.0 };
        timeline.until = timeline.dwell(random);
        timeline
    }

    fn dwell(&self, random: &mut Rng) -> f64 {
        match self.machine.dwell {
            Dwell::Constant => f64::INFINITY,
            Dwell::Mean(mean) => -mean * (1.0 - random.f64()).ln(),
            Dwell::Seen => {
                let seen = if self.state == 0 { SEEN_NEAR } else { SEEN_FAR };
                // Changes do not wait for the end of a window.
                0.3 * (seen[random.usize(..seen.len())] - random.f64())
            }
        }
    }

    /// Goes on to a time, and returns the mean of the state's share of the far cost on the way.
    fn advance(&mut self, from: f64, to: f64, random: &mut Rng) -> f64 {
        let states = self.machine.states;
        let (mut now, mut sum) = (from, 0.0);
        while self.until < to {
            sum += (self.until.max(now) - now) * states[self.state].1;
            now = self.until.max(now);
            let next = random.usize(1..states.len());
            self.state = (self.state + next) % states.len();
            self.until = now + self.dwell(random);
        }
        (sum + (to - now) * states[self.state].1) / (to - from)
    }

    fn reading(&self, random: &mut Rng) -> [u32; 1] {
        let distance = self.machine.states[self.state].0;
        [(distance * (1.0 + JITTER * (2.0 * random.f64() - 1.0))).round() as u32]
    }
}

fn log_cost((near, far, _): Server, share: f64) -> f64 {
    (near + share * far).ln()
}

impl Machine {
    /// The same run without the filter by state, and with it.
    pub fn run(self, random: &mut Rng) -> [Option<Verdicts>; 2] {
        let mut timeline = Timeline::new(self, random);
        timeline.advance(0.0, BEFORE, random);
        let mut now = BEFORE;
        let mut cohorts: Vec<Cohort> = Vec::new();
        let mut measure = |cohorts: &mut Vec<Cohort>, random: &mut Rng| {
            cohorts.push(cohort(&mut timeline, &mut now, random));
        };
        (0..self.cohorts).for_each(|_| measure(&mut cohorts, random));
        let plain = self.judge(&cohorts, None, None);
        // The planner adds pairs of cohorts by the distances alone.
        let complete = |cohorts: &[Cohort]| {
            let (states, counts) = counted(cohorts);
            let chosen = states.choose(&counts);
            chosen.map(|it| counts.iter().filter(|of| least(of, it) >= COMPLETE).count())
        };
        while complete(&cohorts).is_some_and(|it| it < self.cohorts)
            && cohorts.len() < self.cohorts + self.cohorts / 2
        {
            (0..2).for_each(|_| measure(&mut cohorts, random));
        }
        let (states, counts) = counted(&cohorts);
        let Some(chosen) = states.choose(&counts) else {
            // All visits are in one state.
            return [plain, self.judge(&cohorts, None, Some(states.distance_ns(0)[0]))];
        };
        let fewest = fewest_visits(&counts.iter(), chosen);
        let distance = Some(states.distance_ns(chosen)[0]);
        let filtered = |fewest| self.judge(&cohorts, Some((&states, chosen, fewest)), distance);
        [plain, fewest.and_then(filtered)]
    }

    /// The verdicts from the visits that the filter keeps, next to the truth in the state of this distance.
    fn judge(
        self,
        cohorts: &[Cohort],
        filter: Option<(&States, usize, usize)>,
        distance: Option<f64>,
    ) -> Option<Verdicts> {
        let counts = |visit: &Visit| {
            filter.is_none_or(|(states, chosen, _)| {
                states.during(Some([&visit.before, &visit.after])) == Some(chosen)
            })
        };
        let fewest = filter.map_or(1, |(.., fewest)| fewest);
        let mut cells = vec![Vec::new(); 2 + ROWS.len()];
        for cohort in cohorts {
            let one = |visit: &Visit| counts(visit).then_some(visit.log);
            let kept = |of: &Vec<Visit>| -> Vec<Option<f64>> {
                let kept: Vec<_> = of.iter().map(one).collect();
                let is_enough = kept.iter().flatten().count() >= fewest;
                if is_enough { kept } else { Vec::new() }
            };
            let visits: Vec<Vec<Option<f64>>> = cohort.iter().map(kept).collect();
            for (row, value) in cells.iter_mut().zip(instance_values(&visits)) {
                row.push(value.map_or(f64::NAN, |it| it.value));
            }
        }
        let is_near =
            |state: &(f64, f64)| distance.is_none_or(|it| (it / state.0 - 1.0).abs() < 0.2);
        let of_states: Vec<(f64, f64)> = self.states.iter().copied().filter(is_near).collect();
        let model = TwoWay::fit(&cells, &[0, 1])?;
        let rows: Vec<usize> = (2..cells.len()).collect();
        let judged = judge_against(&model, &rows, &[0, 1], 0.0);
        let rows = judged.into_iter().zip(ROWS).map(|(judged, server)| {
            let judged = judged?;
            let truth = |(_, share): &(f64, f64)| {
                self.share_of_time(*share) * (log_cost(server, *share) - log_cost(BASELINE, *share))
            };
            let all: f64 = of_states.iter().map(|(_, share)| self.share_of_time(*share)).sum();
            let truth = (of_states.iter().map(truth).sum::<f64>() / all).exp();
            Some(Row { interval: judged.interval?, ratio: judged.ratio, truth })
        });
        let rows = rows.collect::<Option<Vec<Row>>>()?;
        Some(Verdicts { rows, state: distance, cohorts: cohorts.len() })
    }

    /// The share of the time for which the machine is in the state that adds this much.
    fn share_of_time(self, share: f64) -> f64 {
        let is_near = share <= 0.0;
        match self.dwell {
            Dwell::Constant => f64::from(u8::from(is_near)),
            Dwell::Mean(_) => 1.0 / self.states.len() as f64,
            Dwell::Seen => {
                // Each is shorter by half a window on average.
                let time = |seen: &[f64]| seen.iter().map(|it| it - 0.5).sum::<f64>();
                let (near, far) = (time(SEEN_NEAR), time(SEEN_FAR));
                (if is_near { near } else { far }) / (near + far)
            }
        }
    }
}

fn cohort(timeline: &mut Timeline, now: &mut f64, random: &mut Rng) -> Cohort {
    timeline.advance(*now, *now + START, random);
    *now += START;
    let servers: Vec<Server> = [[BASELINE; 2].as_slice(), ROWS.as_slice()].concat();
    let common = COHORT * normal(random);
    let instances: Vec<f64> = servers.iter().map(|_| common + INSTANCE * normal(random)).collect();
    let mut cohort = vec![Vec::new(); servers.len()];
    let mut order: Vec<usize> = (0..servers.len()).collect();
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            random.shuffle(&mut order);
        } else {
            order.reverse();
        }
        for instance in &order {
            let before = timeline.reading(random);
            let share = timeline.advance(*now, *now + VISIT, random);
            let after = timeline.reading(random);
            timeline.advance(*now + VISIT, *now + STEP, random);
            *now += STEP;
            let server = servers[*instance];
            let log = log_cost(server, share) + instances[*instance] + server.2 * normal(random);
            cohort[*instance].push(Visit { log, before, after });
        }
    }
    cohort
}

/// The states of a run, and how many visits each instance of each cohort has in each.
fn counted(cohorts: &[Cohort]) -> (States, Vec<Vec<Vec<usize>>>) {
    let visits = || cohorts.iter().flatten().flatten();
    let readings: Vec<&[u32]> =
        visits().flat_map(|it| [it.before.as_slice(), it.after.as_slice()]).collect();
    let states = States::of(&readings);
    let of_instance = |visits: &Vec<Visit>| {
        let mut counts = vec![0; states.count()];
        let found = visits.iter().filter_map(|it| states.during(Some([&it.before, &it.after])));
        found.for_each(|state| counts[state] += 1);
        counts
    };
    let counts = cohorts.iter().map(|it| it.iter().map(of_instance).collect()).collect();
    (states, counts)
}

/// What many runs on such a machine show, in percent.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub usable: f64,
    /// Of those, runs in which any row's interval does not contain the truth.
    pub misses: f64,
    /// Of pairs of them in the same state, those in which any row has intervals without a common value.
    pub disjoint: f64,
    /// The median half widths of c/threads and node/http.
    pub half_widths: [f64; 2],
    /// The mean number of cohorts, not in percent.
    pub cohorts: f64,
}

impl Shown {
    fn of(runs: &[Option<Verdicts>]) -> Self {
        let usable: Vec<&Verdicts> = runs.iter().flatten().collect();
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let missing = usable.iter().filter(|run| run.rows.iter().any(Row::misses)).count();
        let same = |(one, other): &(&Verdicts, &Verdicts)| match (one.state, other.state) {
            (Some(one), Some(other)) => (one / other - 1.0).abs() < 0.3,
            _ => true,
        };
        let pairs = usable.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        let pairs: Vec<(&Verdicts, &Verdicts)> = pairs.filter(same).collect();
        let have_none = |a: Interval, b: Interval| a.high < b.low || b.high < a.low;
        let is_disjoint = |(one, other): &&(&Verdicts, &Verdicts)| {
            one.rows.iter().zip(&other.rows).any(|(a, b)| have_none(a.interval, b.interval))
        };
        let half_width = |row: usize| {
            let widths: Vec<f64> = usable.iter().map(|run| run.rows[row].half_width()).collect();
            median(&widths).unwrap_or(f64::NAN)
        };
        Self {
            usable: share(usable.len(), runs.len()),
            misses: share(missing, usable.len()),
            disjoint: share(pairs.iter().filter(is_disjoint).count(), pairs.len()),
            half_widths: [THREADS, NODE].map(half_width),
            cohorts: usable.iter().map(|run| run.cohorts as f64).sum::<f64>()
                / usable.len().max(1) as f64,
        }
    }
}

impl Machine {
    /// Without the filter, and with it.
    pub fn shown(self, experiments: usize, random: &mut Rng) -> [Shown; 2] {
        let runs: Vec<[Option<Verdicts>; 2]> = (0..experiments).map(|_| self.run(random)).collect();
        [0, 1].map(|side| Shown::of(&runs.iter().map(|run| run[side].clone()).collect::<Vec<_>>()))
    }
}
