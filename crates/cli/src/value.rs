//! Values on the command line: durations, counts, sizes, lists of CPUs, headers. Errors say how to
//! write one.

use std::time::Duration;
use wirebench_schema::units;

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}

pub(crate) fn count(text: &str) -> Result<u64, String> {
    units::parse_count(text).map_err(|error| error.to_string())
}

pub(crate) fn small_count(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?).map_err(|_| format!("`{text}` is too large"))
}

pub(crate) fn connections(text: &str) -> Result<usize, String> {
    usize::try_from(count(text)?).map_err(|_| format!("`{text}` is too large"))
}

pub(crate) fn size(text: &str) -> Result<usize, String> {
    let size = units::parse_size(text).map_err(|error| error.to_string())?;
    usize::try_from(size).map_err(|_| format!("`{text}` is too large"))
}

/// A list in the kernel's form. It is a type of its own, because clap takes a `Vec` for a repeated
/// option.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CpuList(pub(crate) Vec<u32>);

pub(crate) fn cpu_list(text: &str) -> Result<CpuList, String> {
    let cpus = wirebench_runner::topology::parse_list(text);
    cpus.map(CpuList)
        .ok_or_else(|| format!("`{text}` is not a list of CPUs: write it like 0-3 or 0,2"))
}

pub(crate) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| format!("`{text}` is not a header: write it like 'Name: value'"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_says_how_to_write_it() {
        assert!(duration("10x").unwrap_err().contains("10s"));
        assert!(cpu_list("3-1").unwrap_err().contains("0-3"));
        assert!(header("a").unwrap_err().contains("Name: value"));
        assert!(small_count("9G").is_err());
    }

    #[test]
    fn headers_and_lists_are_read() {
        assert_eq!(header("A: b: c"), Ok(("A".into(), "b: c".into())));
        assert_eq!(cpu_list("0,2-3"), Ok(CpuList(vec![0, 2, 3])));
    }
}
