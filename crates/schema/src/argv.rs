//! Formats argument lists as a user could type them.

/// The words of `argv` with blanks between; those with unusual characters are quoted.
#[must_use]
pub fn display(argv: &[String]) -> String {
    let ordinary = |c: char| c.is_ascii_alphanumeric() || "/._-=:,+@%".contains(c);
    let quote = |argument: &String| {
        if !argument.is_empty() && argument.chars().all(ordinary) {
            argument.clone()
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    };
    argv.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn shown_commands_can_be_typed_again() {
        let argv = ["a", "b c", "", "it's", "--x=1"].map(str::to_owned);
        assert_eq!(super::display(&argv), r"a 'b c' '' 'it'\''s' --x=1");
    }
}
