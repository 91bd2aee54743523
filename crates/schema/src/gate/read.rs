//! Reads conditions as users write them.

use std::str::FromStr;

use super::{ChangeLimit, Condition, Limit};
use crate::{
    load::LatencyFigure,
    metric::{LimitSide, Metric},
    suggest::unknown,
    units::{parse_count, parse_duration, parse_size},
};

/// How a condition is written, for messages.
pub const GRAMMAR: &str = "write FIGURE [of NAME] > LIMIT, such as 'p99 > 5ms', 'errors > 0.1%', 'throughput < 10k' \
                           or, for a change, 'cpu > +3%'";

/// More than 1000 times as much is a mistake in writing.
const PERCENT_LIMIT: f64 = 100_000.0;

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read(text).map_err(|reason| format!("`{text}` is not a condition: {reason}; {GRAMMAR}"))
    }
}

fn read(text: &str) -> Result<Condition, String> {
    // A name may contain these signs, a limit may not.
    let at = text.rfind(['<', '>']).ok_or("it has neither `<` nor `>`")?;
    let (subject, rest) = text.split_at(at);
    let (sign, limit) = rest.split_at(1);
    let limit = limit.trim();
    if limit.starts_with('=') {
        return Err(format!("write `{sign}` instead of `{sign}=`"));
    }
    let (name, of) = split(subject.trim())?;
    let figure = named(name)
        .ok_or_else(|| unknown("figure", name, Metric::limitable().map(Metric::name)))?;
    let side = if sign == "<" { LimitSide::Below } else { LimitSide::Above };
    let limit = limit_of(figure, side, limit)?;
    if !matches!(limit, Limit::Change(_)) && side != figure.worse() {
        let (name, worse) = (figure.name(), figure.worse());
        return Err(format!(
            "it would fail for a good {name}: write `{worse}` instead of `{sign}`"
        ));
    }
    Ok(Condition { figure, of: of.map(str::to_owned), limit })
}

fn named(name: &str) -> Option<Metric> {
    if name == "req/s" {
        return Some(Metric::Throughput);
    }
    let latency = LatencyFigure::named(name).map(Metric::Latency);
    latency.or_else(|| Metric::limitable().find(|it| it.name() == name))
}

/// The figure's name and that of the server or the requests.
fn split(subject: &str) -> Result<(&str, Option<&str>), String> {
    let Some((figure, rest)) = subject.split_once(char::is_whitespace) else {
        return Ok((subject, None));
    };
    match rest.trim_start().split_once(char::is_whitespace) {
        Some(("of", name)) => Ok((figure, Some(name.trim()))),
        _ if rest.trim() == "of" => Err("a name is missing after `of`".to_owned()),
        _ => Err(format!("`{}` after the figure is not `of NAME`", rest.trim())),
    }
}

fn limit_of(figure: Metric, side: LimitSide, text: &str) -> Result<Limit, String> {
    let Some(number) = text.strip_suffix('%') else {
        return value(figure, text).map(Limit::Value);
    };
    let percent: f64 =
        number.trim().parse().map_err(|_| format!("`{text}` is not a percentage"))?;
    if !percent.is_finite() || percent.abs() > PERCENT_LIMIT {
        return Err(format!("`{text}` is not a percentage"));
    }
    if let Metric::Errors | Metric::Achieved = figure {
        let is_signed = number.trim_start().starts_with(['+', '-']);
        return match percent {
            _ if is_signed => Err("this figure has no change: omit the sign".to_owned()),
            100.0.. if figure == Metric::Errors => {
                Err("at most all requests fail: write less than 100 %".to_owned())
            }
            _ if percent > 100.0 => Err("at most all is achieved: write 100 % or less".to_owned()),
            _ => Ok(Limit::Share(percent / 100.0)),
        };
    }
    check_change(side, number.trim(), percent)?;
    Ok(Limit::Change(ChangeLimit { beyond: side, share: percent / 100.0 }))
}

/// Refuses limits that no change could keep, or that none could violate.
fn check_change(side: LimitSide, number: &str, percent: f64) -> Result<(), String> {
    let (away, own, other) = match side {
        LimitSide::Below => (-percent, '-', '+'),
        LimitSide::Above => (percent, '+', '-'),
    };
    match away {
        _ if away < 0.0 => Err("an unchanged result would violate it".to_owned()),
        _ if away == 0.0 && number.starts_with(other) => {
            Err(format!("the limit of `{side}` has the sign `{own}`"))
        }
        _ if away >= 100.0 && side == LimitSide::Below => {
            Err("no figure falls by more than 100 %".to_owned())
        }
        _ => Ok(()),
    }
}

fn value(figure: Metric, text: &str) -> Result<u64, String> {
    let example = match figure {
        Metric::Achieved => return Err("the limit is a share: write it like `99%`".to_owned()),
        Metric::Memory => "64MiB",
        Metric::Cpu => "8us",
        Metric::Latency(_) => "5ms",
        _ => return parse_count(text),
    };
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(format!("the limit has no unit: write it like `{example}`"));
    }
    if figure == Metric::Memory {
        return parse_size(text);
    }
    let limit = parse_duration(text)?;
    u64::try_from(limit.as_nanos()).map_err(|_| format!("`{text}` is too large"))
}
