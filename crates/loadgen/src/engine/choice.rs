//! Chooses the engine of a load, and explains a choice other than the preferred one. It probes
//! nothing itself.

use wirebench_schema::load::EngineChoice;

use crate::error::LoadError;

/// Replies from this length on cost less CPU time with epoll. Measured over 16 connections on
/// loopback, with buffers of 64 KiB on both sides: no difference at 16 kB and 32 kB, about 7 % at
/// 64 kB and 10 % at 1 MB. Fewer buffers did not help, so it is not the cache alone.
const LONG_REPLY_BYTES: usize = 48 * 1024;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Chosen {
    /// Never [`EngineChoice::Auto`].
    pub(crate) engine: EngineChoice,
    /// Why it is not the preferred one, if it is not.
    pub(crate) fallback: Option<String>,
}

/// Chooses. `probe` reports why io_uring cannot be used and how to enable it; it is called only if
/// the answer matters.
pub(crate) fn choose(
    wanted: EngineChoice,
    probe: impl FnOnce() -> Result<(), String>,
) -> Result<Chosen, LoadError> {
    let chosen = |engine, fallback| Ok(Chosen { engine, fallback });
    match wanted {
        EngineChoice::Epoll => chosen(EngineChoice::Epoll, None),
        EngineChoice::IoUring => match probe() {
            Ok(()) => chosen(EngineChoice::IoUring, None),
            Err(reason) => Err(LoadError::EngineUnavailable { reason }),
        },
        EngineChoice::Auto => match probe() {
            Ok(()) => chosen(EngineChoice::IoUring, None),
            Err(reason) => chosen(EngineChoice::Epoll, Some(reason)),
        },
    }
}

impl Chosen {
    /// The engine for replies of about `reply_bytes`, now that this is known.
    pub(crate) fn suited(self, wanted: EngineChoice, reply_bytes: usize) -> Self {
        if wanted == EngineChoice::Auto && reply_bytes >= LONG_REPLY_BYTES {
            return Self { engine: EngineChoice::Epoll, fallback: None };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works() -> Result<(), String> {
        Ok(())
    }

    fn fails() -> Result<(), String> {
        Err("io_uring is off; switch it on".to_owned())
    }

    #[test]
    fn io_uring_is_preferred_and_a_requested_engine_is_used_or_refused_with_the_reason() {
        let never = || panic!("the probe is not needed");
        let off = Some("io_uring is off; switch it on".to_owned());
        for (wanted, probe, engine, fallback) in [
            (EngineChoice::Auto, works as fn() -> _, EngineChoice::IoUring, None),
            (EngineChoice::Auto, fails, EngineChoice::Epoll, off),
            (EngineChoice::Epoll, never, EngineChoice::Epoll, None),
            (EngineChoice::IoUring, works, EngineChoice::IoUring, None),
        ] {
            assert_eq!(choose(wanted, probe).unwrap(), Chosen { engine, fallback });
        }
        let message = choose(EngineChoice::IoUring, fails).unwrap_err().to_string();
        assert_eq!(message, "io_uring is off; switch it on, or give --engine epoll");
    }

    #[test]
    fn epoll_is_preferred_for_long_replies_alone_and_only_where_the_choice_is_free() {
        for (wanted, probe, engine) in [
            (EngineChoice::Auto, works as fn() -> _, EngineChoice::Epoll),
            (EngineChoice::Auto, fails, EngineChoice::Epoll),
            (EngineChoice::IoUring, works, EngineChoice::IoUring),
        ] {
            let chosen = choose(wanted, probe).unwrap();
            assert_eq!(chosen.clone().suited(wanted, LONG_REPLY_BYTES - 1), chosen);
            let suited = chosen.suited(wanted, LONG_REPLY_BYTES);
            assert_eq!(suited, Chosen { engine, fallback: None });
        }
    }
}
