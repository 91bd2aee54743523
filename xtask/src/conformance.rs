//! The conformance step: every check of every entry. What fails while others are checked is checked
//! again alone by `verify` itself, so that a rare fault does not block an unrelated change.

use crate::step::step;

/// Servers that are checked in parallel. Most checks wait, so that more than the default of four are quicker.
const JOBS: &str = "8";

/// Checks all that is ready; with `strict` also that nothing is missing which setup brings.
pub(crate) fn run(program: &str, strict: &[&str]) -> anyhow::Result<()> {
    step("conformance", &[&[program, "verify", "--quiet", "-j", JOBS], strict].concat(), &[])
}
