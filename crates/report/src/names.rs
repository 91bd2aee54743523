//! The names of variants in texts and files, as a table.

/// Gives each type a function `name` with the names of its variants.
macro_rules! names {
    ($($type:ident: $($variant:ident = $text:literal),+;)+) => {$(
        impl $type {
            /// The name in texts and files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    )+};
}

pub(crate) use names;
