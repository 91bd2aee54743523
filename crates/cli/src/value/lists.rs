//! Lists and ranges of workers, connections and rates on the command line. Errors say how to write one.

use wirebench_schema::units::parse_count;

use super::List;

/// The most values of a list; more would take days, and no picture could show them.
const MOST_VALUES: usize = 100;

/// How a range without a step is filled.
#[derive(Clone, Copy)]
enum Steps {
    Ones,
    /// 1, 2 and 5 times the powers of ten, and both ends.
    OneTwoFive,
}

/// Numbers of workers, in their order.
pub(crate) fn workers(text: &str) -> Result<List<u32>, String> {
    list(text, "workers", "1-4 or 1,2,8", Steps::Ones)
}

/// Numbers of connections, in their order.
pub(crate) fn connections(text: &str) -> Result<List<usize>, String> {
    list(text, "connections", "10,50,200 or 10-1000 or 100-1000/100", Steps::OneTwoFive)
}

/// The lowest and the highest rate, in requests per second.
pub(crate) fn rates(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("`{text}` is not a range of rates: write it like 100-10M");
    let (low, high) = text.split_once('-').ok_or_else(wrong)?;
    let (low, high) = (parse_count(low), parse_count(high));
    match (low, high) {
        (Ok(low), Ok(high)) if low > 0 && low <= high => Ok((low, high)),
        (Ok(0), Ok(_)) => Err(format!("`{text}`: the lowest rate is 1 request/s: write 1-10M")),
        _ => Err(wrong()),
    }
}

fn list<T: TryFrom<u64>>(
    text: &str,
    what: &str,
    example: &str,
    steps: Steps,
) -> Result<List<T>, String> {
    let wrong = |reason: &str| format!("`{text}` is not a list of {what}: {reason}write {example}");
    let mut values = Vec::new();
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(parse_count(step).map_err(|_| wrong(""))?)),
            None => (part, None),
        };
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let (low, high) =
            (parse_count(low).map_err(|_| wrong(""))?, parse_count(high).map_err(|_| wrong(""))?);
        match (low, step) {
            (0, _) => return Err(wrong(&format!("0 {what} are too few; "))),
            (_, Some(0)) => return Err(wrong("a step of 0 never ends; ")),
            _ if low > high => return Err(wrong("the first number is larger; ")),
            _ => {}
        }
        values.extend(match (step, steps) {
            (Some(step), _) => arithmetic(low, high, step),
            (None, Steps::Ones) => arithmetic(low, high, 1),
            (None, Steps::OneTwoFive) => one_two_five(low, high),
        });
        if values.len() > MOST_VALUES {
            return Err(format!("`{text}` has more than {MOST_VALUES} values: use a larger step"));
        }
    }
    values.sort_unstable();
    values.dedup();
    let too_many = |_| format!("`{text}`: too many {what}");
    values.into_iter().map(T::try_from).collect::<Result<_, _>>().map_err(too_many)
}

/// From `low` in steps up to `high`, no more than are needed to see that there are too many.
fn arithmetic(low: u64, high: u64, step: u64) -> Vec<u64> {
    let next = |value: &u64| value.checked_add(step).filter(|next| *next <= high);
    std::iter::successors(Some(low), next).take(MOST_VALUES + 1).collect()
}

/// 1, 2 and 5 times the powers of ten between the two, and both.
fn one_two_five(low: u64, high: u64) -> Vec<u64> {
    let powers = (0..=18).map(|power| 10_u64.pow(power));
    let steps = powers.flat_map(|power| [power, power.saturating_mul(2), power.saturating_mul(5)]);
    let between = steps.filter(|value| *value > low && *value < high);
    [low].into_iter().chain(between).chain([high]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::refusals;
    use expect_test::expect_file;

    #[test]
    fn lists_and_ranges_are_sorted_and_have_each_value_once() {
        assert_eq!(workers("1-4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(workers("8,1-2,2"), Ok(vec![1, 2, 8]));
        assert_eq!(workers("2-8/2"), Ok(vec![2, 4, 6, 8]));
        let all = vec![10, 20, 50, 100, 200, 500, 1000];
        assert_eq!(connections("10-1k"), Ok(all));
        let all = vec![10, 50, 100, 200, 300];
        assert_eq!(connections("10,50,100-300/100"), Ok(all));
        assert_eq!(connections("7-7"), Ok(vec![7]));
    }

    #[test]
    fn rates_are_read() {
        assert_eq!(rates("100-10M"), Ok((100, 10_000_000)));
        assert_eq!(rates("500-500"), Ok((500, 500)));
    }

    #[test]
    fn every_mistake_says_how_to_write_it() {
        let text = [
            refusals(workers, &["", "x", "0-4", "4-1", "1-4/0", "1-9G"]),
            refusals(connections, &["10-"]),
            refusals(rates, &["100", "0-5", "5-1", "a-b"]),
        ];
        expect_file!["../../tests/golden/unit/lists.txt"].assert_eq(&text.concat());
    }
}
