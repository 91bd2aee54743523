//! What wrk, hey and h2load print, as figures. Strict: what is not understood as a whole is an error
//! that shows it, and nothing is guessed.

use std::{collections::BTreeMap, str::FromStr};
use wirebench_schema::{
    journal::{Generator, ToolLatency},
    load::ErrorCounts,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolFigures {
    /// Good replies in time: status 2xx, for wrk and h2load also 3xx.
    pub requests: u64,
    pub window_ns: u64,
    pub errors: ErrorCounts,
    /// Latencies, as far as it tells them.
    pub latency: ToolLatency,
}

type Parsed<T> = Result<T, String>;

/// Understands the report of `generator`.
pub fn parse(generator: Generator, output: &str) -> Parsed<ToolFigures> {
    let told = match generator {
        Generator::Wirebench => Err("it has events of its own".to_owned()),
        Generator::Wrk => wrk(output),
        Generator::Hey => hey(output),
        Generator::H2load => h2load(output),
    };
    told.map_err(|reason| {
        format!("the report of {generator} was not understood: {reason}\n{}", output.trim())
    })
}

/// What follows `label` in the first line that begins with it.
fn field<'a>(output: &'a str, label: &str) -> Parsed<&'a str> {
    let mut lines = output.lines().filter_map(|line| line.trim_start().strip_prefix(label));
    lines.next().map(str::trim).ok_or_else(|| format!("no line begins with `{label}`"))
}

fn number<T: FromStr>(text: &str) -> Parsed<T> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

/// The time of `count` at `rate` in a second, in nanoseconds. It has more digits than the time that
/// is `printed`, which stands in for it where there was nothing to count.
fn window_ns(count: u64, rate: f64, printed: &str) -> Parsed<u64> {
    if count == 0 {
        return Ok(time_ns(printed)? as u64);
    }
    let ns = count as f64 / rate * 1e9;
    if rate > 0.0 && ns.is_finite() { Ok(ns as u64) } else { Err(format!("its rate is {rate}")) }
}

/// A time such as `317.80us`, `4.60ms` or `1.00s`, in nanoseconds.
fn time_ns(text: &str) -> Parsed<f64> {
    let text = text.trim();
    let units = [("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];
    let found = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns)));
    let (digits, ns) = found.ok_or_else(|| format!("`{text}` is not a time"))?;
    Ok(number::<f64>(digits)? * ns)
}

/// `67816 requests in 1.00s, 4.98MB read`, `Requests/sec:  67798.44`, a line `Latency` with mean,
/// deviation and maximum, and a distribution. Lines on failures are there only if there are some.
/// Replies that failed or came too late are among the requests.
fn wrk(output: &str) -> Parsed<ToolFigures> {
    let total = output.lines().find_map(|line| line.trim().split_once(" requests in "));
    let (total, rest) = total.ok_or("no line says how many requests there were")?;
    let total: u64 = number(total)?;
    let printed = rest.split_once(',').map_or(rest, |(time, _)| time);
    let mut errors = ErrorCounts::default();
    if let Ok(text) = field(output, "Socket errors:") {
        for part in text.split(',') {
            let (name, count) = part.trim().split_once(' ').ok_or("an error has no count")?;
            let kind = match name {
                "connect" => &mut errors.connect,
                "timeout" => &mut errors.timeout,
                "read" | "write" => &mut errors.socket,
                other => return Err(format!("`{other}` is an unknown kind of error")),
            };
            *kind += number::<u64>(count)?;
        }
    }
    if let Ok(text) = field(output, "Non-2xx or 3xx responses:") {
        errors.status = number(text)?;
    }
    // The first such line heads the statistics: mean, deviation, maximum, share.
    let latency = field(output, "Latency  ")?;
    let words: Vec<&str> = latency.split_whitespace().collect();
    let [mean, _, most, _] = words[..] else { return Err(format!("`{latency}` is not a latency")) };
    let share = |label| field(output, label).and_then(time_ns).ok();
    let latency = ToolLatency {
        latency_ns_mean: Some(time_ns(mean)?),
        latency_ns_max: Some(time_ns(most)?),
        latency_ns_p50: share("50%"),
        latency_ns_p75: share("75%"),
        latency_ns_p90: share("90%"),
        latency_ns_p99: share("99%"),
        ..ToolLatency::default()
    };
    let window_ns = window_ns(total, number(field(output, "Requests/sec:")?)?, printed)?;
    let requests = total.saturating_sub(errors.status + errors.timeout);
    Ok(ToolFigures { requests, window_ns, errors, latency })
}

/// hey keeps the latencies, and up to version 0.1.4 also the statuses, of this many replies and forgets
/// all later ones. Errors and the rate have no such limit.
const HEY_LISTED_MOST: u64 = 1_000_000;

/// `Total:  0.1000 secs`, `[200]  2000 responses`, `[11]  Get "…": EOF`, and `50% in 0.0002 secs`.
fn hey(output: &str) -> Parsed<ToolFigures> {
    let seconds = |text: &str| -> Parsed<f64> {
        let digits = text.strip_suffix("secs").ok_or_else(|| format!("`{text}` is not a time"))?;
        Ok(number::<f64>(digits)? * 1e9)
    };
    let after = |label| field(output, label).and_then(seconds);
    let (statuses, failures) = match output.split_once("Error distribution:") {
        Some((before, failures)) => (before, failures),
        None => (output, ""),
    };
    let bracketed = |line: &str| -> Option<(u64, String)> {
        let (number, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
        Some((number.parse().ok()?, rest.trim().to_owned()))
    };
    let mut told = ToolFigures { window_ns: after("Total:")? as u64, ..ToolFigures::default() };
    let statuses = statuses.split_once("Status code distribution:").map_or("", |(_, rest)| rest);
    for (status, rest) in statuses.lines().filter_map(bracketed) {
        let count = rest.strip_suffix("responses").ok_or_else(|| format!("`{rest}`?"))?;
        match status {
            200..=299 => told.requests += number::<u64>(count)?,
            _ => told.errors.status += number::<u64>(count)?,
        }
    }
    for (count, reason) in failures.lines().filter_map(bracketed) {
        match reason.contains("Timeout") || reason.contains("deadline") {
            true => told.errors.timeout += count,
            false => told.errors.socket += count,
        }
    }
    if told.requests + told.errors.total() == 0 {
        return Err("it counts neither replies nor errors".to_owned());
    }
    if told.requests + told.errors.status >= HEY_LISTED_MOST {
        let rate: f64 = number(field(output, "Requests/sec:")?)?;
        complete_hey(&mut told, rate, after("Average:").ok());
        return Ok(told);
    }
    let share = |label| field(output, label).and_then(seconds).ok();
    told.latency = ToolLatency {
        latency_ns_mean: after("Average:").ok(),
        latency_ns_min: after("Fastest:").ok(),
        latency_ns_p50: share("50% in"),
        latency_ns_p75: share("75% in"),
        latency_ns_p90: share("90% in"),
        latency_ns_p95: share("95% in"),
        latency_ns_p99: share("99% in"),
        latency_ns_max: after("Slowest:").ok(),
    };
    Ok(told)
}

/// What follows from the rate where hey's lists have ended: the replies, and their mean latency, which
/// hey computes as the sum over all replies divided by the length of its list. The statuses of the
/// replies that are not listed are taken to be like those of the others. The other latencies are
/// only those of the beginning, so they stay absent.
fn complete_hey(told: &mut ToolFigures, rate: f64, printed_mean: Option<f64>) {
    let listed = told.requests + told.errors.status;
    let all = (rate * told.window_ns as f64 / 1e9).round() as u64;
    let replies = all.saturating_sub(told.errors.timeout + told.errors.socket).max(listed);
    let share_good = told.requests as f64 / listed as f64;
    told.requests = (replies as f64 * share_good).round() as u64;
    told.errors.status = replies - told.requests;
    let share_listed = HEY_LISTED_MOST as f64 / replies as f64;
    told.latency.latency_ns_mean = printed_mean.map(|mean| mean * share_listed);
}

/// The numbers of `1 total, 2 started`, by their names.
fn named_counts(text: &str) -> Parsed<BTreeMap<&str, u64>> {
    text.split(',')
        .map(|part| {
            let pair = part.trim().split_once(' ');
            let (count, name) = pair.ok_or_else(|| format!("`{part}` has no name"))?;
            Ok((name, number(count)?))
        })
        .collect()
}

/// `finished in 41.76ms, 47898.46 req/s, 3.52MB/s`, `requests: 2000 total, …` and a line with the
/// smallest, the largest and the mean time for a request.
fn h2load(output: &str) -> Parsed<ToolFigures> {
    let finished = field(output, "finished in")?;
    let (printed, rest) = finished.split_once(',').ok_or("its first line has no `req/s`")?;
    let rate = rest.split(',').next().and_then(|part| part.trim().strip_suffix(" req/s"));
    let rate: f64 = number(rate.ok_or("its first line has no `req/s`")?)?;
    let counts = named_counts(field(output, "requests:")?)?;
    let of =
        |name: &str| counts.get(name).copied().ok_or_else(|| format!("it does not count `{name}`"));
    // What failed on the way and what came too late are counted among all that failed.
    let (failed, timeout) = (of("failed")?, of("timeout")?);
    let socket = of("errored")?.saturating_sub(timeout);
    let status = failed.saturating_sub(timeout + socket);
    let times = field(output, "time for request:")?;
    let words: Vec<&str> = times.split_whitespace().collect();
    let [least, most, mean, ..] = words[..] else { return Err(format!("`{times}`?")) };
    Ok(ToolFigures {
        requests: of("succeeded")?,
        window_ns: window_ns(of("done")?, rate, printed)?,
        errors: ErrorCounts { status, timeout, socket, ..ErrorCounts::default() },
        latency: ToolLatency {
            latency_ns_mean: Some(time_ns(mean)?),
            latency_ns_min: Some(time_ns(least)?),
            latency_ns_max: Some(time_ns(most)?),
            ..ToolLatency::default()
        },
    })
}
