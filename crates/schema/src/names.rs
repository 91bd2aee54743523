//! The names of an enumeration, from one table, and types that are text in files.

/// Defines an enumeration of names, or gives one without fields `ALL`, `name`, [`Display`](std::fmt::Display) and,
/// with the noun of its error, [`FromStr`](std::str::FromStr). Values are listed in the order in which they are shown.
/// One that is defined here has the same names in files.
#[macro_export]
macro_rules! names {
    ($(#[$of_type:meta])* $visibility:vis enum $type:ident $($noun:literal)? {
        $($(#[$of_value:meta])* $value:ident = $name:literal),+ $(,)?
    }) => {
        $(#[$of_type])*
        #[derive(
            Clone, Copy, Debug, serde::Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd,
            schemars::JsonSchema, serde::Serialize,
        )]
        $visibility enum $type {
            $($(#[$of_value])* #[serde(rename = $name)] $value,)+
        }

        $crate::names! { $type $($noun)?: $($value = $name),+ }
    };
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

/// Converts types that parse and print to and from `String`, as serde reads and writes them.
macro_rules! as_text {
    ($($type:ident),+) => {$(
        impl TryFrom<String> for $type {
            type Error = <Self as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    )+};
}

/// Shows a type of one text as this text.
macro_rules! shown_as_text {
    ($($type:ident),+) => {$(
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(&self.0)
            }
        }
    )+};
}

pub(crate) use {as_text, shown_as_text};

#[cfg(test)]
mod tests {
    use crate::{journal::Generator, scenario::Scenario, suite::Phase, suite::Scale};
    use std::{fmt::Debug, fmt::Display, str::FromStr};

    /// The message for a name that no value has, if all are read back from theirs.
    fn mistyped<T>(all: &[T], wrong: &str) -> String
    where
        T: Copy + Debug + Display + FromStr<Err = String> + PartialEq,
    {
        assert!(all.iter().all(|it| it.to_string().parse() == Ok(*it)), "{all:?}");
        wrong.parse::<T>().unwrap_err() + "\n"
    }

    #[test]
    fn values_read_back_from_their_names_and_a_mistyped_one_gets_the_nearest() {
        let messages = [
            mistyped(&Scenario::ALL, "helo"),
            mistyped(&Phase::ALL, "costs"),
            mistyped(&Scale::ALL, "papr"),
            mistyped(&Generator::ALL, "wrkk"),
        ];
        expect_test::expect![[r"
            unknown scenario `helo`: did you mean `hello`?
            unknown phase `costs`: did you mean `cost`?
            unknown scale `papr`: did you mean `paper`?
            unknown generator `wrkk`: did you mean `wrk`?
        "]]
        .assert_eq(&messages.concat());
        for it in Generator::ALL {
            assert_eq!(it == Generator::Wirebench, it.debian_package().is_none());
        }
    }
}
