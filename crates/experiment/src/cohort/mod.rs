//! A cohort: fresh instances of several servers live at the same time, and one agent loads them in
//! turn, in short visits over connections that stay open.
//!
//! `group` says which cells are measured with the same instances, `order` in
//! which order those of a round come. `member` is one live server with its connections, `children` are the
//! processes that it starts and ends meanwhile, `prepare`
//! brings all of them to the state that is measured (`warm_up`, `discard`), `visit` runs one visit, of which `judge`
//! decides by clocks whether it counts, `sum` makes the records of the runs.
//! `drift` finds instances that went on changing, `length` those whose costs depend on how long a visit
//! is, and `findings` asks for the two; `supply` is what the
//! machine lacks for a cohort. `course` is the order of all that.

mod children;
mod course;
mod cpu_totals;
mod discard;
mod drift;
mod findings;
mod group;
mod length;
mod member;
mod order;
mod prepare;
mod state;
mod sum;
mod supply;
mod visit;
mod warm_up;

pub(crate) use children::{BETWEEN_LOOKS_IN_ROUNDS, watched};
pub(crate) use course::Cohort;
pub(crate) use drift::note_drift;
pub(crate) use group::{grouped, groups};
pub(crate) use prepare::{KnownServers, WARM_UP_LENGTH};
pub use supply::{FEWEST_INSTANCES, MOST_INSTANCES, instances_that_fit, open_files};
pub(crate) use warm_up::WarmUp;
