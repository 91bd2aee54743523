//! A cohort: fresh instances of several servers live at the same time, and one agent loads them in
//! turn, in short slices over connections that stay open.
//!
//! `group` says which cells are measured with the same instances, `order` in which order the slices
//! of a round come, `member` is one live server with its connections, `rest` what servers use when
//! they are not loaded, `warm_up` brings them to the state that is measured, `settle` finds how much
//! of each slice does not count, `slice` carries one out and judges by clocks whether it counts, and
//! `sum` makes the record of a run of its slices. `drift` finds instances that went on changing,
//! `length` those whose costs depend on how long a slice is, and `supply` what the machine lacks for a
//! cohort. `course` is the order of all that.

mod course;
mod drift;
mod group;
mod length;
mod member;
mod order;
mod settle;
mod slice;
mod sum;
mod supply;
mod warm_up;

pub use course::Cut;
pub(crate) use course::{Cohort, Known};
pub(crate) use drift::note_drift;
pub(crate) use group::groups;
pub use supply::shortage_of_files;
