//! A size as a document rounds it: `60 %`, `29.49 %` or `69..83 %`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

const HOW_TO_WRITE: &str = "write a percentage such as `60 %`, or two as `69..83 %`";

/// A percentage, or the smallest and the largest of several.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Size(String);

crate::names::as_text!(Size);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = Self(text.to_owned());
        match size.ends() {
            Some([low, high]) if low.0 <= high.0 => Ok(size),
            _ => Err(format!("`{text}` is not a size: {HOW_TO_WRITE}")),
        }
    }
}

crate::names::shown_as_text!(Size);

impl Size {
    /// Whether these percentages round to it: their mean to one number, their ends to two.
    #[must_use]
    pub fn is_of(&self, percentages: &[f64]) -> bool {
        let Some([low, high]) = self.ends() else { return false };
        if !self.is_range() {
            let mean = percentages.iter().sum::<f64>() / percentages.len() as f64;
            return low.is_of(mean);
        }
        let least = percentages.iter().copied().fold(f64::INFINITY, f64::min);
        let most = percentages.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        low.is_of(least) && high.is_of(most)
    }

    fn is_range(&self) -> bool {
        self.0.contains("..")
    }

    fn ends(&self) -> Option<[Rounded; 2]> {
        let number = self.0.strip_suffix(" %")?;
        let (low, high) = number.split_once("..").unwrap_or((number, number));
        Some([Rounded::of(low, self.is_range())?, Rounded::of(high, self.is_range())?])
    }
}

/// A number, and the unit to which it is rounded.
struct Rounded(f64, f64);

impl Rounded {
    /// Zeros at the end of a whole number are not digits that are known: 60 is 55 to 65. Those of a range are.
    fn of(text: &str, is_exact: bool) -> Option<Self> {
        let is_digit = |sign: char| sign.is_ascii_digit() || sign == '.';
        let number = text.chars().all(is_digit).then(|| text.parse::<f64>().ok())??;
        let unit = match text.split_once('.') {
            Some((_, decimals)) => 0.1_f64.powi(i32::try_from(decimals.len()).ok()?),
            None if is_exact => 1.0,
            None => {
                let zeros = text.len() - text.trim_end_matches('0').len();
                10_f64.powi(i32::try_from(zeros).ok()?)
            }
        };
        Some(Self(number, unit))
    }

    fn is_of(&self, value: f64) -> bool {
        // Half a unit, and what the division of two rounded figures loses.
        (value - self.0).abs() <= self.1 * 0.501
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> Size {
        text.parse().unwrap()
    }

    #[test]
    fn a_size_has_as_many_digits_as_it_is_written_with() {
        assert!(size("60 %").is_of(&[56.1]) && !size("60 %").is_of(&[76.2]));
        assert!(size("29.49 %").is_of(&[29.4904]) && !size("29.49 %").is_of(&[29.5]));
        assert!(size("20 %").is_of(&[9.0, 30.0]), "the mean counts");
        assert!(size("69..83 %").is_of(&[68.9, 75.0, 82.7]));
        assert!(!size("69..83 %").is_of(&[68.9, 75.0]) && !size("60..83 %").is_of(&[57.0, 83.0]));
    }

    #[test]
    fn each_mistake_has_a_message() {
        let texts = ["60", "60%", "much %", "83..69 %", ".. %", "-5 %"];
        let expected = "write a percentage such as `60 %`, or two as `69..83 %`";
        for text in texts {
            let error = text.parse::<Size>().unwrap_err();
            assert_eq!(error, format!("`{text}` is not a size: {expected}"));
        }
    }
}
