//! What options and verbs of other load generators are called here. `docs/load.md` has the same by tool.

use clap::{
    Command, CommandFactory as _, Error,
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
const OPTIONS: [(&[&str], &str); 34] = [
    (&["--http2", "-h2", "--h2", "-2"], "HTTP/2 is not supported"),
    (&["--http3", "--http1", "--http1.1", "--h1", "--fasthttp"], "the load is HTTP/1.1: omit it"),
    (
        &["-k", "-insecure"],
        "use --insecure to accept any certificate; ab's keep-alive is the default",
    ),
    (&["-m", "-X", "--request"], "use --method NAME"),
    (&["-D", "-f", "--body-file-path"], "use --body-file FILE"),
    (&["-b", "--data", "--data-raw", "--data-binary"], "use --body TEXT"),
    (&["-T"], "use -H 'Content-Type: TYPE', or for wrk's timeout --timeout DURATION"),
    (&["-A"], "use -H 'Accept: TYPE'"),
    (&["-a"], "use -H 'Authorization: Basic BASE64'"),
    (&["-C"], "use -H 'Cookie: NAME=VALUE'"),
    (&["-host", "--host"], "use -H 'Host: NAME'"),
    (
        &["-s", "--script"],
        "there are no scripts: use --method, -H and --body, or --requests FILE for several requests; \
         ab's timeout is --timeout DURATION",
    ),
    (
        &["--disable-keepalive", "--disable-keep-alive", "-disable-keepalive"],
        "use --requests-per-connection 1",
    ),
    (&["--rps", "-r", "-rate"], "use --rate N, in requests per second"),
    (&["--vus", "-u", "--clients", "--concurrency"], "use --connections N"),
    (&["--iterations", "--num-requests"], "use --count N"),
    (&["--workers", "-workers", "--cpus", "-cpus"], "use --threads N"),
    (&["--max-concurrent-streams"], "use --pipeline DEPTH for requests in flight on a connection"),
    (&["--stages", "--ramp-up"], "use --ramp A:B or --steps A,B,C"),
    (&["--targets", "-targets", "--urls-from-file", "--input-file", "-Z"], "use --requests FILE"),
    (&["--rand-regex-url"], "use --requests FILE, whose paths may have placeholders"),
    (&["--latency-correction"], "at a rate, latency counts from the due time: omit it"),
    (
        &["-l", "--latencies", "--print"],
        "the distribution is always printed; for ab's bodies of any length use --any-body",
    ),
    (&["--u_latency"], "at a rate, the row `Service from sent` has it: omit it"),
    (&["-v", "--verbose"], "use --latency (-L) to print all details"),
    (&["--no-tui", "--no-progress"], "use --quiet"),
    (&["--output-format", "--format"], "use --json, or --csv FILE"),
    (
        &["-e", "--summary-export", "--out"],
        "use --csv FILE, or --output FOLDER for JSON and a page",
    ),
    (&["-g"], "use --hgrm FILE for plotters"),
    (&["-x", "--proxy"], "proxies are not supported; --connect-to HOST:PORT names another address"),
    (
        &["--redirect", "-disable-redirects", "--max-redirects"],
        "redirects are not followed: omit it",
    ),
    (&["-disable-compression", "--disable-compression"], "no compression is requested: omit it"),
    (&["--ipv4", "--ipv6"], "use --connect-to HOST:PORT to choose the address"),
    (&["-duration"], "use --duration DURATION"),
];

/// Options that earlier versions had, and what to do instead.
const REMOVED: [(&[&str], &str); 8] = [
    (&["--markdown"], "use --format markdown"),
    (&["--html"], "use --format html"),
    (&["--csv"], "use --format csv"),
    (&["--bencher"], "use --format bencher"),
    (&["--github-action-benchmark"], "use --format github-action-benchmark"),
    (&["--openmetrics"], "use --format openmetrics"),
    (
        &["--server-on", "--slurm"],
        "start wirebench itself there, with ssh or in a job of Slurm, and copy the result: see docs/hosts.md",
    ),
    (
        &["--pairs"],
        "measure each cohort by itself with --block K/N, and join them with `wirebench join`: see docs/hosts.md",
    ),
];

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
        // A number with a wrong unit is meant as one.
        _ if value.starts_with(|it: char| it.is_ascii_digit()) => return None,
        "--duration" => "--body TEXT for a request body".to_owned(),
        "--pipeline" => "--body-file FILE for a request body".to_owned(),
        _ => return None,
    };
    let first = error.to_string();
    let first = first.lines().next()?.trim_start_matches("error: ");
    Some(format!("{first}; use {hint}"))
}

/// An option that the verb does not have, and that has another name here.
fn of_option(verb: &Command, given: &str) -> Option<String> {
    let mut all = OPTIONS.iter().chain(&REMOVED);
    let known = all.find(|(names, _)| names.contains(&given));
    let name = verb.get_name();
    // The letters of ApacheBench, whose program has the name of this verb.
    if name == "ab" && given.len() == 2 && !has(verb, given) {
        return Some(format!(
            "`ab` compares two servers and has no {given}; for load as ApacheBench makes it, use `wirebench load`"
        ));
    }
    let (_, answer) = known?;
    let has_all = options(answer).all(|it| has(verb, it));
    (has_all && !has(verb, given)).then(|| format!("`{name}` has no {given}: {answer}"))
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
