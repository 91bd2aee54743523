//! The answers and sizes of conclusions in words.

use wirebench_stats::range;

use super::{Answer, ConclusionReport, PairReport};
use crate::{interval::factor, table_units::count};

/// How many conclusions have which answer; none without conclusions.
pub(crate) fn summary(conclusions: &[ConclusionReport]) -> Option<String> {
    let number = |answer| conclusions.iter().filter(|it| it.answer == answer).count();
    let counts = Answer::ALL.map(|answer| (number(answer), answer));
    let counts = counts.iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts
        .map(|(number, answer)| match answer {
            Answer::Holds if *number > 1 => format!("{number} hold"),
            answer => format!("{number} {}", answer.name()),
        })
        .collect();
    (!counts.is_empty()).then(|| format!("conclusions of the document: {}", counts.join(", ")))
}

/// The sentence, and what it says of the size.
pub(super) fn sentence(conclusion: &ConclusionReport) -> String {
    let said = conclusion.said.as_ref().map_or_else(String::new, |said| format!(" [{said}]"));
    conclusion.sentence.clone() + &said
}

/// The answer, with the number of pairs of each where there are several.
pub(super) fn answers(conclusion: &ConclusionReport) -> String {
    let (answer, pairs) = (conclusion.answer, &conclusion.pairs);
    let with = |answer| pairs.iter().filter(|pair| pair.answer == answer).count();
    let (all, measured) = (pairs.len(), pairs.len() - with(Answer::NotMeasured));
    if measured == 0 {
        return answer.name().to_owned();
    }
    let main = match (with(answer), all) {
        (_, 1) => answer.name().to_owned(),
        (number, _) if number == measured => {
            format!("{} in {}", answer.name(), count(number, "pair"))
        }
        (number, _) => format!("{} in {number} of {}", answer.name(), count(measured, "pair")),
    };
    let others = Answer::ALL.into_iter().filter(|it| *it != answer);
    let others = others.map(|it| (with(it), it)).filter(|(number, _)| *number > 0);
    let others = others.map(|(number, it)| match it {
        Answer::Holds => format!("holds in {number}"),
        it => format!("{number} {}", it.name()),
    });
    std::iter::once(main).chain(others).collect::<Vec<_>>().join(", ")
}

/// The published size and the measured one: `0.29 became 0.60 (0.55..0.66)`.
pub(super) fn sizes(conclusion: &ConclusionReport) -> String {
    let pairs = &conclusion.pairs;
    let is_measured = |pair: &&PairReport| pair.measured.is_some();
    let measured: Vec<&PairReport> = pairs.iter().filter(is_measured).collect();
    let there = |pairs: &[&PairReport]| {
        range_of(&pairs.iter().map(|pair| pair.published).collect::<Vec<_>>())
    };
    match measured.as_slice() {
        [] => format!("{} published", there(&pairs.iter().collect::<Vec<_>>())),
        [pair] => format!("{} became {}", there(&measured), here(pair)),
        several => {
            let values = several.iter().filter_map(|pair| Some(pair.measured?.value));
            format!("{} became {}", there(several), range_of(&values.collect::<Vec<_>>()))
        }
    }
}

fn range_of(values: &[f64]) -> String {
    let Some((least, most)) = range(values) else { return "-".to_owned() };
    let [least, most] = [least, most].map(|it| factor(it, None));
    if least == most { least } else { format!("{least}..{most}") }
}

/// The measured ratio of a pair.
pub(super) fn here(pair: &PairReport) -> String {
    let sign = pair.reads.map_or("", |it| it.sign());
    let ratio = pair.measured.map(|it| factor(it.value, it.interval));
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{sign}{ratio}"))
}
