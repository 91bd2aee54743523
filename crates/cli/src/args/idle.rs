//! `--idle`: whether CPUs are kept awake while load is measured, and whether that is possible.

use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{experiment::Experiment, measure::RunSettings, plan::FALLBACK_BASELINE};
use wirebench_report::wake_up;
use wirebench_schema::load::IdleMode;
use wirebench_sys::awake::{AwakeCpus, DEVICE};

use crate::{context::Context, exit::usage};

/// The help where the usual mode is natural.
pub(crate) const NATURAL: &str = "CPUs without work during the load: awake (no request pays for waking one) or natural \
                                  [default: natural]";

/// Reads the mode of a verb that has no visits in another one.
pub(crate) fn one_mode(text: &str) -> Result<IdleMode, String> {
    match text.parse()? {
        IdleMode::Both => {
            Err("`wirebench run` and `wirebench ab` measure both: use awake or natural".to_owned())
        }
        one @ (IdleMode::Awake | IdleMode::Natural) => Ok(one),
    }
}

/// The option of the mode of idle CPUs.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct IdleOption {
    /// CPUs without work during the load: awake (no request pays for waking one), natural, or both
    /// (awake, and what waking adds at a rate) [default: awake if this user may write to
    /// /dev/cpu_dma_latency; natural for services]
    #[arg(long, value_name = "MODE")]
    pub(crate) idle: Option<IdleMode>,
}

impl IdleOption {
    /// The mode that was asked for, or else this one.
    pub(crate) fn or(self, usual: IdleMode) -> IdleMode {
        self.idle.unwrap_or(usual)
    }

    /// The mode, awake unless it was asked for; natural for services, which are measured as they are.
    pub(crate) fn or_awake(self, services: &[Subject]) -> IdleMode {
        self.or(if services.is_empty() { IdleMode::Awake } else { IdleMode::Natural })
    }

    /// Refuses a mode that was asked for and cannot be had on this host.
    pub(crate) fn check(self) -> anyhow::Result<()> {
        match self.idle {
            Some(IdleMode::Awake | IdleMode::Both) => {
                self.settle(AwakeCpus::hold(), &|_| {}).map(drop)
            }
            Some(IdleMode::Natural) | None => Ok(()),
        }
    }

    /// Keeps the CPUs awake if `settings` want that, after the price of waking one was measured where `is_priced`.
    /// Where it cannot be had, the mode becomes natural. With both modes nothing is held: each load and visit sets its
    /// own.
    pub(crate) fn hold(
        self,
        context: &Context,
        settings: &mut RunSettings,
        is_priced: bool,
        note: &dyn Fn(&str),
    ) -> anyhow::Result<Option<AwakeCpus>> {
        if settings.idle == IdleMode::Natural {
            return Ok(None);
        }
        let stop = context.interrupt.flag();
        let far = settings.fleet.as_ref().and_then(|fleet| fleet.without_awake(stop));
        let mut held = match far {
            Some(host) if context.interrupt.exit().is_none() => {
                Err(format!("cannot write to {DEVICE} on {host}"))
            }
            _ => AwakeCpus::hold(),
        };
        let is_known = settings.wake_up.is_some() || settings.fleet.is_some();
        // It is that of the CPUs of both sides, if each has its own.
        let has_own = settings.placement.pinned && settings.placement.disjoint;
        if held.is_ok() && is_priced && has_own && !is_known {
            // The first of its two loads needs CPUs that sleep.
            drop(held);
            measure_price(context, settings, note)?;
            held = AwakeCpus::hold();
        }
        let held = self.settle(held, note)?;
        if held.is_none() {
            settings.idle = IdleMode::Natural;
        }
        Ok(held.filter(|_| settings.idle == IdleMode::Awake))
    }

    /// Judges an attempt: if it failed, a mode that was asked for is an error, and the usual one becomes a note.
    fn settle<T>(self, held: Result<T, String>, note: &dyn Fn(&str)) -> anyhow::Result<Option<T>> {
        match (held, self.idle) {
            (Ok(held), _) => Ok(Some(held)),
            (Err(reason), Some(mode)) => Err(usage(format!(
                "--idle {mode}: {reason}: see `wirebench doctor`, or use --idle natural"
            ))),
            (Err(reason), None) => {
                note(&format!(
                    "idle CPUs sleep, and requests at a rate pay for waking them: {reason}; see `wirebench doctor`"
                ));
                Ok(None)
            }
        }
    }
}

/// Refuses both modes where no load is measured in them.
pub(crate) fn check_both(experiment: &Experiment) -> anyhow::Result<()> {
    let Experiment { settings, suite, .. } = experiment;
    let has_both =
        experiment.in_cohorts() && suite.workloads.iter().any(|it| settings.has_both(it));
    if settings.idle == IdleMode::Both && !has_both {
        return Err(usage(
            "--idle both needs a load at a rate, in cohorts: add --phase cost, and omit --procedure and \
             --generator; or use --idle awake",
        ));
    }
    Ok(())
}

/// Measures what waking a CPU costs here, and says it. Without it the run goes on.
fn measure_price(
    context: &Context,
    settings: &mut RunSettings,
    note: &dyn Fn(&str),
) -> anyhow::Result<()> {
    let server = context.select_one(FALLBACK_BASELINE)?;
    match settings.wake_up_price(&server, context.interrupt.flag()) {
        Ok(price) => {
            note(&wake_up(&price));
            settings.wake_up = Some(price);
        }
        Err(reason) => note(&format!("the price of waking an idle CPU was not measured: {reason}")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::cell::RefCell;

    /// The result of an attempt, and its note.
    fn settled(
        idle: Option<IdleMode>,
        held: Result<u8, &str>,
    ) -> (Result<Option<u8>, String>, String) {
        let notes = RefCell::new(String::new());
        let note = |text: &str| notes.borrow_mut().push_str(text);
        let held = IdleOption { idle }.settle(held.map_err(str::to_owned), &note);
        (held.map_err(|error| error.to_string()), notes.into_inner())
    }

    #[test]
    fn without_the_right_the_usual_mode_is_natural_with_a_note_and_awake_an_error() {
        let (held, note) = settled(None, Err("cannot write to /dev/x (denied)"));
        assert_eq!(held, Ok(None));
        assert!(
            note.ends_with("waking them: cannot write to /dev/x (denied); see `wirebench doctor`")
        );
        let (held, note) = settled(Some(IdleMode::Awake), Err("cannot write to /dev/x (denied)"));
        assert_eq!(note, "");
        expect!["--idle awake: cannot write to /dev/x (denied): see `wirebench doctor`, or use --idle natural"]
            .assert_eq(&held.unwrap_err());
        let (held, _) = settled(Some(IdleMode::Both), Err("no"));
        assert!(held.unwrap_err().starts_with("--idle both: no: "));
        for idle in [None, Some(IdleMode::Awake)] {
            assert_eq!(settled(idle, Ok(7)), (Ok(Some(7)), String::new()));
        }
    }

    #[test]
    fn verbs_without_visits_of_both_modes_refuse_both() {
        assert_eq!(one_mode("natural"), Ok(IdleMode::Natural));
        assert!(one_mode("both").unwrap_err().contains("use awake or natural"));
        assert!(one_mode("asleep").unwrap_err().contains("asleep"));
    }

    #[test]
    fn natural_is_usual_where_it_is_not_asked_for_and_for_services() {
        let option = |idle| IdleOption { idle };
        assert_eq!(option(None).or_awake(&[]), IdleMode::Awake);
        assert_eq!(option(None).or(IdleMode::Natural), IdleMode::Natural);
        for mode in IdleMode::ALL {
            assert_eq!(option(Some(mode)).or_awake(&[]), mode);
            assert_eq!(option(Some(mode)).or(IdleMode::Natural), mode);
        }
    }
}
