//! The names of an enumeration, from one table.

/// Gives an enumeration without fields `ALL`, `name`, [`Display`](std::fmt::Display) and, with the noun of its
/// error, [`FromStr`](std::str::FromStr). Values are listed in the order in which they are shown.
#[macro_export]
macro_rules! names {
    ($type:ident $($noun:literal)?: $($value:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// All of them, in the order in which they are shown.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The name on command lines, in texts and in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }

        $(impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let found = Self::ALL.into_iter().find(|it| it.name() == text);
                found.ok_or_else(|| $crate::suggest::unknown($noun, text, Self::ALL.map(Self::name)))
            }
        })?
    };
}
