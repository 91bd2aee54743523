//! The checks of what users write: each ends with a sentence that names the next step.

/// Ends a check with this sentence if the condition holds.
macro_rules! refuse_if {
    ($is_wrong:expr, $($sentence:tt)+) => {
        if $is_wrong {
            return Err(format!($($sentence)+));
        }
    };
}

pub(crate) use refuse_if;
