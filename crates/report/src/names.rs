//! The names of variants as tables.

/// Gives types functions with a name for each variant.
macro_rules! names {
    ($($(#[$doc:meta])* $visible:vis $function:ident of $type:ident: $($variant:ident = $text:literal),+;)+) => {$(
        impl $type {
            $(#[$doc])*
            #[must_use]
            $visible const fn $function(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    )+};
}

pub(crate) use names;
