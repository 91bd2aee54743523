//! The search for the highest rate that holds: climb, bisect, confirm. It decides which rate is
//! tried next, and knows no clock, no server and no objective.
//!
//! - *Climb*: twice the rate as long as it holds, a quarter of it as long as none has held.
//! - *Bisect*: the geometric middle between the highest rate that held and the lowest that missed,
//!   until they are as close as asked for.
//! - *Confirm*: several runs at the highest rate that held. Where it does not hold in more than
//!   half of them, a lower rate is confirmed in its place, in steps that grow.
//!
//! One run that misses may be an accident of the machine, so it is repeated once before it decides.
//! A run that holds by accident is what the confirmation is for: the highest of many noisy values
//! is too high on average.

use wirebench_schema::journal::{Found, SearchLimit, Side};

/// Between what a search goes on. All rates are requests per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The first rate that is tried.
    pub start: u64,
    /// No lower one is tried.
    pub lowest: u64,
    /// No higher one is tried.
    pub highest: u64,
    /// The bisection ends when the lowest rate that missed is at most this share above the highest
    /// one that held.
    pub precision: f64,
    /// Runs that confirm; at least one.
    pub confirmations: u32,
}

/// One run to be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Probe {
    /// The rate.
    pub requests_per_second: u64,
    /// What it is made for.
    pub kind: Kind,
    /// Whether it repeats a run that missed.
    pub attempt: Attempt,
}

/// What a run is made for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// To find a rate that holds and one that misses.
    Climb,
    /// To bring the two together.
    Bisect,
    /// To see whether what was found holds again.
    Confirm {
        /// Which of the confirming runs at this rate, from 1.
        number: u32,
        /// How many there are.
        of: u32,
    },
}

/// Whether a run repeats another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Attempt {
    /// It does not.
    First,
    /// It repeats one that missed, and decides.
    Again,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Saw {
    /// The objectives held.
    Holds,
    /// They did not, and this side is to blame.
    Misses(Side),
}

/// A search that goes on.
#[derive(Clone, Debug)]
pub struct Search {
    plan: Plan,
    stage: Stage,
    /// The highest rate that held.
    held: Option<u64>,
    /// The lowest rate that missed, and who was to blame.
    missed: Option<(u64, Side)>,
    /// Whether the confirmation began before the bisection was over, for want of time.
    hurried: bool,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Between the rates that held and missed.
    Narrow { rate: u64, attempt: Attempt },
    /// At one rate, again and again.
    Confirm { rate: u64, made: u32, held: u32, step: f64 },
    /// Nothing is left to be tried.
    Over(Option<Confirmed>),
}

#[derive(Clone, Copy, Debug)]
struct Confirmed {
    rate: u64,
    made: u32,
    held: u32,
}

impl Search {
    /// Begins at the plan's first rate, moved into its bounds.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let rate = round(plan.start, plan.precision).clamp(plan.lowest, plan.highest);
        let stage = Stage::Narrow { rate, attempt: Attempt::First };
        Self { plan, stage, held: None, missed: None, hurried: false }
    }

    /// The next run to be made; none when the search is over.
    #[must_use]
    pub fn next_probe(&self) -> Option<Probe> {
        match self.stage {
            Stage::Narrow { rate, attempt } => {
                let is_between = self.held.is_some() && self.missed.is_some();
                let kind = if is_between { Kind::Bisect } else { Kind::Climb };
                Some(Probe { requests_per_second: rate, kind, attempt })
            }
            Stage::Confirm { rate, made, .. } => {
                let kind = Kind::Confirm { number: made + 1, of: self.plan.confirmations };
                Some(Probe { requests_per_second: rate, kind, attempt: Attempt::First })
            }
            Stage::Over(_) => None,
        }
    }

    /// Takes in what came of the run that [`Self::next_probe`] asked for.
    pub fn saw(&mut self, saw: Saw) {
        match (self.stage, saw) {
            (Stage::Narrow { rate, .. }, Saw::Holds) => {
                self.held = Some(rate);
                self.narrow();
            }
            (Stage::Narrow { rate, attempt: Attempt::First }, Saw::Misses(_)) => {
                self.stage = Stage::Narrow { rate, attempt: Attempt::Again };
            }
            (Stage::Narrow { rate, attempt: Attempt::Again }, Saw::Misses(side)) => {
                self.missed = Some((rate, side));
                self.narrow();
            }
            (Stage::Confirm { rate, made, held, step }, saw) => {
                let held = held + u32::from(saw == Saw::Holds);
                self.confirm(Confirmed { rate, made: made + 1, held }, step, saw);
            }
            (Stage::Over(_), _) => {}
        }
    }

    /// There is no time for anything but the confirmation of what has held so far.
    pub fn hurry(&mut self) {
        if let Stage::Narrow { .. } = self.stage {
            self.hurried = true;
            self.stage = self.held.map_or(Stage::Over(None), |rate| self.confirmation_of(rate));
        }
    }

    /// What is known: at the end of the search, or, with the reason, when it is cut off before.
    #[must_use]
    pub fn found(&self, cut: Option<SearchLimit>) -> Found {
        let (rate, held, made, limit) = match self.stage {
            Stage::Over(Some(it)) => (Some(it.rate), it.held, it.made, self.limit()),
            Stage::Over(None) => (None, 0, 0, self.limit()),
            Stage::Narrow { .. } => (self.held, 0, 0, cut.unwrap_or_else(|| self.limit())),
            Stage::Confirm { rate, made, held, .. } => {
                (Some(rate), held, made, cut.unwrap_or_else(|| self.limit()))
            }
        };
        Found {
            requests_per_second: rate,
            held,
            confirmations: made,
            missed: self.missed.map(|(rate, _)| rate),
            limit,
        }
    }

    fn limit(&self) -> SearchLimit {
        match self.missed {
            _ if self.hurried => SearchLimit::Budget,
            None => SearchLimit::HighestRate,
            Some((_, Side::Server)) => SearchLimit::Server,
            Some((_, Side::Generator)) => SearchLimit::Generator,
            Some((_, Side::Others)) => SearchLimit::Others,
        }
    }

    /// The next rate between what held and what missed, or what follows when there is none.
    fn narrow(&mut self) {
        let Plan { lowest, highest, precision, .. } = self.plan;
        let next = match (self.held, self.missed) {
            (None, None) => return,
            (Some(held), None) if held >= highest => None,
            (Some(held), None) => Some(held.saturating_mul(2).min(highest)),
            (None, Some((missed, _))) if missed <= lowest => None,
            (None, Some((missed, _))) => Some(round(missed / 4, precision).max(lowest)),
            (Some(held), Some((missed, _))) => between(held, missed, precision),
        };
        self.stage = match (next, self.held) {
            (Some(rate), _) => Stage::Narrow { rate, attempt: Attempt::First },
            (None, Some(held)) => self.confirmation_of(held),
            (None, None) => Stage::Over(None),
        };
    }

    const fn confirmation_of(&self, rate: u64) -> Stage {
        Stage::Confirm { rate, made: 0, held: 0, step: self.plan.precision }
    }

    /// Goes on with the confirmation, or with that of a lower rate as soon as this one cannot hold
    /// in more than half of its runs any more.
    fn confirm(&mut self, seen: Confirmed, step: f64, saw: Saw) {
        let of = self.plan.confirmations;
        let Confirmed { rate, made, held } = seen;
        let lost = made - held;
        if lost * 2 >= of {
            if let Saw::Misses(side) = saw {
                self.missed = Some((rate, side));
            }
            self.held = None;
            self.stage = if rate <= self.plan.lowest {
                Stage::Over(None)
            } else {
                let step = (step * 2.0).min(0.5);
                let lower = round(scaled(rate, 1.0 - step), self.plan.precision);
                let rate = lower.min(rate - 1).max(self.plan.lowest);
                Stage::Confirm { rate, made: 0, held: 0, step }
            };
        } else if made >= of {
            self.held = Some(rate);
            self.stage = Stage::Over(Some(seen));
        } else {
            self.stage = Stage::Confirm { rate, made, held, step };
        }
    }
}

/// A rate strictly between the two, unless they are as close as `precision`.
fn between(held: u64, missed: u64, precision: f64) -> Option<u64> {
    if missed as f64 <= held as f64 * (1.0 + precision) {
        return None;
    }
    let middle = scaled(held, (missed as f64 / held as f64).sqrt());
    [round(middle, precision), middle].into_iter().find(|rate| *rate > held && *rate < missed)
}

/// A rate times a factor; rates are far below 2^53.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both factors are positive, and rates are far below 2^53"
)]
fn scaled(rate: u64, factor: f64) -> u64 {
    (rate as f64 * factor).round() as u64
}

/// The nearest rate with as many digits as the precision needs, because it is read aloud: `61 200`
/// says what `61 237` does.
fn round(rate: u64, precision: f64) -> u64 {
    let digits = if precision < 0.01 { 4 } else { 3 };
    let all = rate.checked_ilog10().map_or(1, |log| log + 1);
    let step = 10_u64.pow(all.saturating_sub(digits));
    (rate + step / 2) / step * step
}

#[cfg(test)]
mod tests;
