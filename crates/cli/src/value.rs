//! Values on the command line: durations, counts, sizes, rates, percentiles, lists of CPUs and of
//! addresses, headers. Errors say how to write one.

pub(crate) mod lists;

use std::{net::IpAddr, path::PathBuf, time::Duration};
use wirebench_experiment::cohort::FEWEST_INSTANCES;
use wirebench_schema::{
    id::VariantId,
    load::{RateCurve, SourceRange, Stop},
    target::Target,
    units::parse_size,
};

use crate::exit::usage;

/// A time in which something can be measured.
pub(crate) fn budget(text: &str) -> Result<Duration, String> {
    let budget = duration(text)?;
    let none = || format!("`{text}` leaves no time: use a longer one, such as 20m");
    (!budget.is_zero()).then_some(budget).ok_or_else(none)
}

/// A method. Methods are case-sensitive (RFC 9110, 9.1), so a standard one is sent as it is registered.
#[expect(clippy::unnecessary_wraps, reason = "the type of a parser of clap")]
pub(crate) fn method(text: &str) -> Result<String, String> {
    let upper = text.to_ascii_uppercase();
    let standard = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    Ok(if standard.contains(&upper.as_str()) { upper } else { text.to_owned() })
}

pub(crate) fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    T::try_from(count(text)?).map_err(|_| format!("`{text}` is too large"))
}

/// The least that is counted of a load.
const SHORTEST_WINDOW: Duration = Duration::from_millis(10);

pub(crate) fn window(text: &str) -> Result<Duration, String> {
    let least = SHORTEST_WINDOW.as_millis();
    Some(duration(text)?)
        .filter(|window| *window >= SHORTEST_WINDOW)
        .ok_or_else(|| format!("`{text}` is too short to measure anything: use at least {least}ms"))
}

pub(crate) fn positive_count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    if count(text)? == 0 { Err("`0` is too few: use at least 1".to_owned()) } else { number(text) }
}

pub(crate) fn instances(text: &str) -> Result<usize, String> {
    match number(text)? {
        ..FEWEST_INSTANCES => Err(format!(
            "`{text}` is too few, because the baseline runs twice: use at least {FEWEST_INSTANCES}"
        )),
        instances => Ok(instances),
    }
}

/// A number where another verb has a list.
pub(crate) fn one_number(text: &str) -> Result<List<usize>, String> {
    Ok(vec![number(text)?])
}

pub(crate) fn size(text: &str) -> Result<usize, String> {
    let size = parse_size(text)?;
    usize::try_from(size).map_err(|_| format!("`{text}` is too large"))
}

/// A share such as `1%` or `0.01`.
pub(crate) fn precision(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 0.01),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().map(|number| number * unit).ok();
    share
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| format!("`{text}` is not a share between 0 and 100 %: write 1% or 0.01"))
}

/// The name that a user gives to a server. Branches have a slash in their names.
pub(crate) fn name(group: &str, name: &str) -> anyhow::Result<VariantId> {
    VariantId::new(&format!("{group}/{}", name.replace('/', "-")), None).map_err(|_| {
        usage(format!(
            "`{name}` is not a valid name: use at most 100 letters, digits, `.`, `_`, `-` and `/`"
        ))
    })
}

/// The values of one option. It has a name of its own, because clap takes a `Vec` for a repeated option.
pub(crate) type List<T> = Vec<T>;

/// The parts of a list, each read by `one`.
fn list<T>(text: &str, one: impl Fn(&str) -> Result<T, String>) -> Result<List<T>, String> {
    text.split(',').map(one).collect()
}

pub(crate) fn cpu_list(text: &str) -> Result<List<u32>, String> {
    wirebench_host::topology::parse_list(text)
        .ok_or_else(|| format!("`{text}` is not a list of CPUs: write it like 0-3 or 0,2"))
}

/// The rate over the window: `20k`, from one to another as `1k:20k`, or steps as `1k/5k/20k`.
pub(crate) fn rate_curve(text: &str) -> Result<RateCurve, String> {
    if text.split([':', '/']).any(str::is_empty) {
        return Err(format!(
            "`{text}` lacks a rate: write --rate 1k, a ramp as --rate A:B, or steps as --rate A/B/C"
        ));
    }
    let curve = match text.split_once(':') {
        Some((from, to)) => from.parse().and_then(|from| Ok(RateCurve::Ramp(from, to.parse()?))),
        None if text.contains('/') => {
            text.split('/').map(str::parse).collect::<Result<_, _>>().map(RateCurve::Steps)
        }
        None => text.parse().map(RateCurve::Constant),
    };
    curve.map_err(|reason: String| format!("{reason}, a ramp as 1k:20k, steps as 1k/5k/20k"))
}

/// The requests of the window: `100`, or `100/connection`.
pub(crate) fn count_of_window(text: &str) -> Result<Stop, String> {
    match text.strip_suffix("/connection") {
        Some(each) => count(each).map(Stop::RequestsPerConnection),
        None => count(text).map(Stop::Requests),
    }
    .map_err(|reason| format!("{reason}, or 200/connection for 200 on each"))
}

pub(crate) fn statuses(text: &str) -> Result<List<u16>, String> {
    list(text, |part| {
        let wrong = |_| format!("`{part}` is not a status: write it like 401,404");
        part.trim().parse().map_err(wrong)
    })
}

/// Percentiles, each above 0 and at most 100, in the order in which they were given.
pub(crate) fn percentiles(text: &str) -> Result<List<f64>, String> {
    list(text, |part| {
        let part = part.trim();
        let number = part.strip_suffix('%').unwrap_or(part).parse::<f64>().ok();
        number.filter(|percent| *percent > 0.0 && *percent <= 100.0).ok_or_else(|| {
            format!("`{part}` is not a percentile above 0 and up to 100: write 50,90,99.9")
        })
    })
}

pub(crate) fn sources(text: &str) -> Result<List<SourceRange>, String> {
    let address = |text: &str| -> Result<IpAddr, String> {
        text.trim().parse().map_err(|_| {
            format!("`{text}` is not an address: write 127.0.0.2,127.0.0.3 or 127.0.0.2-127.0.0.9")
        })
    };
    list(text, |part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Ok(SourceRange { first: address(first)?, last: address(last)? })
    })
}

/// The folder for a result. Other tools take a file or a format here.
pub(crate) fn result_folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let word = path.extension().map_or(text, |it| it.to_str().unwrap_or_default());
    match ["csv", "hgrm", "html", "json", "md", "txt"].contains(&word) && !path.is_dir() {
        true => Err(format!(
            "`{text}` is a file or a format, and a result is a folder: name one, or use --csv FILE or --json"
        )),
        false => Ok(path),
    }
}

pub(crate) fn address(text: &str) -> Result<Target, String> {
    let target = format!("tcp://{text}").parse();
    target.map_err(|_| format!("`{text}` is not HOST:PORT: write it like 127.0.0.1:8443"))
}

pub(crate) use wirebench_schema::{
    load::parse_header as header,
    units::{parse_count as count, parse_duration as duration},
};

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use std::fmt::Debug;

    /// The messages of `parse` for the wrong `values`, each wording once.
    pub(super) fn refusals<T: Debug>(
        parse: impl Fn(&str) -> Result<T, String>,
        values: &[&str],
    ) -> String {
        let wording = |value: &str| {
            let message = parse(value).unwrap_err();
            message.replace(&format!("`{value}`"), "`VALUE`")
        };
        let groups = values.chunk_by(|one, other| wording(one) == wording(other));
        groups.map(|group| format!("{group:?}\n  {}\n", wording(group[0]))).collect()
    }

    #[test]
    fn a_standard_method_is_sent_as_it_is_registered_and_another_one_as_it_is_given() {
        let methods = ["post", "Get", "PURGE", "purge"].map(|text| method(text).unwrap());
        assert_eq!(methods, ["POST", "GET", "PURGE", "purge"]);
    }

    #[test]
    fn every_mistake_says_how_to_write_it() {
        let numbers = ["0", "0%", "-1%", "1", "100%", "x", "%", "NaN", "inf", ""];
        let text = [
            refusals(duration, &["10x"]),
            refusals(cpu_list, &["3-1"]),
            refusals(header, &["a"]),
            refusals(number::<u32>, &["9G"]),
            refusals(positive_count::<u32>, &["0"]),
            refusals(budget, &["0s", "soon"]),
            refusals(instances, &["2"]),
            refusals(precision, &numbers),
            refusals(rate_curve, &["0.0005", "0x", "5k:x", "1//2", "1,2"]),
            refusals(count_of_window, &["5/thread"]),
            refusals(result_folder, &["csv", "a/out.json"]),
            refusals(address, &["h", "http://h:1", "h:0", ""]),
            refusals(statuses, &["4xx", "200,,404", ""]),
            refusals(percentiles, &["0", "101", "-5", "NaN", "50,x", ""]),
            refusals(sources, &["127.0.0", "a-b", "127.0.0.1-", ""]),
        ];
        expect_file!["../tests/golden/unit/values.txt"].assert_eq(&text.concat());
    }

    #[test]
    fn headers_numbers_and_lists_are_read() {
        assert_eq!(instances("3"), Ok(3));
        assert_eq!(["1%", "0.01", " 1.0 % "].map(precision), [Ok(0.01), Ok(0.01), Ok(0.01)]);
        assert_eq!(rate_curve("1.5k"), Ok(RateCurve::per_second(1500)));
        assert_eq!(rate_curve("1.125").unwrap().rates(), [1.125]);
        assert_eq!(header("A: b: c"), Ok(("A".into(), "b: c".into())));
        assert_eq!(cpu_list("0,2-3"), Ok(vec![0, 2, 3]));
        assert_eq!(rate_curve("1:2k"), Ok(RateCurve::Ramp(1.into(), 2000.into())));
        assert_eq!(rate_curve("1/2k"), Ok(RateCurve::Steps(vec![1.into(), 2000.into()])));
        assert_eq!(statuses("401, 404"), Ok(vec![401, 404]));
        assert_eq!(percentiles("50, 99.9%,100"), Ok(vec![50.0, 99.9, 100.0]));
        let range =
            |first: [u8; 4], last: [u8; 4]| SourceRange { first: first.into(), last: last.into() };
        let two =
            vec![range([127, 0, 0, 1], [127, 0, 0, 1]), range([127, 0, 0, 3], [127, 0, 0, 9])];
        assert_eq!(sources("127.0.0.1,127.0.0.3-127.0.0.9"), Ok(two));
    }
}
