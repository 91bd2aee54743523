//! Answers to options and verbs of other load generators, and to options that earlier versions had. `docs/load.md` has
//! the options of load generators by tool.

use clap::{
    Arg, Command, CommandFactory as _, Error,
    builder::PossibleValue,
    error::{ContextKind, ErrorKind},
};
use std::process::ExitCode;
use wirebench_schema::suggest;

use crate::{
    Arguments,
    exit::{self, Exit, usage},
    out, value,
};

/// Options of other tools, and what to use instead.
const OPTIONS: &str = include_str!("foreign/options.txt");
/// Options that earlier versions had, and what to use instead.
const REMOVED: &str = include_str!("foreign/removed.txt");

/// Verbs that other programs have, and those of this one.
const VERBS: [(&str, &str); 10] = [
    ("attack", "load"),
    ("bench", "run"),
    ("benchmark", "run"),
    ("check", "doctor"),
    ("diff", "compare"),
    ("init", "new"),
    ("install", "setup"),
    ("ls", "list"),
    ("start", "serve"),
    ("test", "verify"),
];

/// Prints an error of the arguments, or the help that was asked for.
pub(crate) fn report(error: &Error) -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    match answer(error, &words) {
        Some(answer) => exit::report(Err(usage(answer))),
        None if !error.use_stderr() => error.exit(),
        None => {
            let text = error.render();
            out::note(&if out::colours() { text.ansi().to_string() } else { text.to_string() });
            Exit::Usage.into()
        }
    }
}

/// What to write instead, if that is known.
fn answer(error: &Error, words: &[String]) -> Option<String> {
    let command = Arguments::command();
    let first = words.first()?;
    let Some(verb) = command.find_subcommand(first) else {
        let is_unknown =
            matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
        return of_no_verb(&command, words).filter(|_| is_unknown);
    };
    let invalid = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    if error.kind() == ErrorKind::UnknownArgument {
        return of_option(verb, &invalid);
    }
    // Several letters after one dash are letters with a value here.
    let mut single = words.iter().filter(|it| !it.starts_with("--") && it.len() > 2);
    let long = single.find_map(|it| of_option(verb, it.split('=').next()?));
    let value = error.get(ContextKind::InvalidValue).map(ToString::to_string).unwrap_or_default();
    let hint = match invalid.split(' ').next()? {
        _ if long.is_some() => return long,
        "--threads" if value::duration(&value).is_ok() => format!("--timeout {value}"),
        // A number with a wrong unit is meant as one, and a conflict has no value.
        _ if value.is_empty() || value.starts_with(|it: char| it.is_ascii_digit()) => return None,
        "--duration" => "--body TEXT for a request body".to_owned(),
        "--pipeline" => "--body-file FILE for a request body".to_owned(),
        _ => return None,
    };
    let first = error.to_string();
    let first = first.lines().next()?.trim_start_matches("error: ");
    Some(format!("{first}; use {hint}"))
}

/// The rows of a table: names, and the answer to each.
fn rows(table: &'static str) -> impl Iterator<Item = (Vec<&'static str>, &'static str)> {
    let rows = table.lines().filter_map(|line| line.split_once(": "));
    rows.map(|(names, answer)| (names.split(' ').collect(), answer))
}

/// An option that the verb does not have, and that has another name here.
fn of_option(verb: &Command, given: &str) -> Option<String> {
    let name = verb.get_name();
    if has(verb, given) {
        return None;
    }
    // The letters of ApacheBench, whose program has the name of this verb.
    if name == "ab" && given.len() == 2 {
        let count = if given == "-n" { "--count N is the number of requests; " } else { "" };
        return Some(format!(
            "`ab` compares two servers and has no {given}: {count}for load as ApacheBench makes it, use `wirebench \
             load`"
        ));
    }
    let forms = verb.get_arguments().find(|it| it.get_id() == "format");
    let forms = forms.map(Arg::get_possible_values).unwrap_or_default();
    let is_form = |form: &str| forms.iter().any(|it| it.get_name() == form);
    let mut known = rows(REMOVED).chain(rows(OPTIONS)).filter(|(names, _)| names.contains(&given));
    let (_, answer) = known.find(|(_, answer)| options(answer).all(|it| has(verb, it)))?;
    let answer = match answer.split_once("--format ") {
        Some((_, form)) if !is_form(form) => {
            let forms: Vec<&str> = forms.iter().map(PossibleValue::get_name).collect();
            format!("use --format {}", forms.join(" or "))
        }
        _ => answer.to_owned(),
    };
    Some(format!("`{name}` has no {given}: {answer}"))
}

/// Arguments without a verb of this program.
fn of_no_verb(command: &Command, words: &[String]) -> Option<String> {
    let is_url = |it: &String| it.contains("://") || it.starts_with("unix:");
    let first = words.first()?;
    if let Some(url) =
        words.iter().find(|it| is_url(it)).filter(|_| is_url(first) || first.starts_with('-'))
    {
        return Some(format!(
            "the verb is missing: `wirebench load {url}` generates load, `wirebench run {url}` measures the \
             server"
        ));
    }
    let verbs: Vec<&str> =
        command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name).collect();
    let known = VERBS.iter().find(|(given, _)| given == first).map(|(_, verb)| *verb);
    let near =
        known.or_else(|| suggest::nearest(first, &verbs)).filter(|_| !first.starts_with('-'))?;
    Some(format!("unknown verb `{first}`: did you mean `wirebench {near}`?"))
}

/// The options that a text names.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let ends = |it: char| !it.is_ascii_alphanumeric() && !matches!(it, '-' | '_');
    text.split(ends).filter(|it| it.starts_with('-') && it.len() > 1)
}

/// Whether the verb has this option.
fn has(verb: &Command, option: &str) -> bool {
    verb.get_arguments().any(|it| match option.strip_prefix("--") {
        Some(long) => it.get_long_and_visible_aliases().is_some_and(|all| all.contains(&long)),
        None => {
            let letters = it.get_short_and_visible_aliases().unwrap_or_default();
            option.len() == 2 && letters.iter().any(|letter| option.ends_with(*letter))
        }
    })
}

#[cfg(test)]
mod tests;
