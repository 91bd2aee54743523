//! Lists the messages for mistakes in a document, for comparison with a golden file.

use std::{
    fmt::{Debug, Display},
    str::FromStr,
};

/// Each change with its message. A change replaces its first text by its second, or appends the second.
pub(crate) fn messages<T: Debug, E: Display>(
    document: &str,
    changes: &[(&str, &str)],
    parse: impl Fn(&str) -> Result<T, E>,
) -> String {
    let message = |(from, to): &(&str, &str)| {
        let changed = match *from {
            "" => format!("{document}{to}"),
            from => document.replace(from, to),
        };
        assert_ne!(changed, document, "{from}");
        let error = parse(&changed).err().unwrap_or_else(|| panic!("{to} is not a mistake"));
        let change = format!("{from} => {to}").trim().replace('\n', "; ");
        format!("{change}\n  {error}\n")
    };
    changes.iter().map(message).collect()
}

/// Each text that is not a `T`, with its message.
pub(crate) fn of_texts<T: FromStr<Err: Display> + Debug>(texts: &[&str]) -> String {
    let message = |text: &&str| match text.parse::<T>() {
        Ok(value) => panic!("`{text}` is read as {value:?}"),
        Err(error) => format!("{text}\n  {error}\n"),
    };
    texts.iter().map(message).collect()
}
