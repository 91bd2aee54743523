//! The answers and sizes of conclusions in words.

use wirebench_stats::range;

use super::{Answer, ConclusionReport, PairReport};
use crate::{
    interval::factor,
    table_units::count,
    view::{ClaimedWorkload, ComparedRatio},
};

/// How many conclusions have which answer; none without conclusions.
pub(crate) fn summary(conclusions: &[ConclusionReport]) -> Option<String> {
    let number = |answer| conclusions.iter().filter(|it| it.answer == answer).count();
    let counts = Answer::ALL.map(|answer| (number(answer), answer));
    let (confirmed, others): (Vec<_>, Vec<_>) =
        counts.into_iter().filter(|(number, _)| *number > 0).partition(|it| it.1.confirms());
    let counts = confirmed.iter().rev().chain(&others);
    let counts: Vec<String> = counts
        .map(|(number, answer)| match answer {
            answer if answer.confirms() => {
                let hold = if *number > 1 { "hold" } else { "holds" };
                format!("{number} {hold}{}", effect(*answer))
            }
            Answer::Differs if *number > 1 => format!("{number} differ"),
            answer => format!("{number} {}", answer.name()),
        })
        .collect();
    (!counts.is_empty()).then(|| format!("conclusions of the document: {}", counts.join(", ")))
}

/// How the size of what holds differs.
const fn effect(answer: Answer) -> &'static str {
    match answer {
        Answer::SmallerEffect => " with a smaller effect",
        Answer::LargerEffect => " with a larger effect",
        _ => "",
    }
}

/// The sentence, and what it says of the size.
pub(super) fn sentence(conclusion: &ConclusionReport) -> String {
    let said = conclusion.said.as_ref().map_or_else(String::new, |said| format!(" [{said}]"));
    conclusion.sentence.clone() + &said
}

/// The answer, with the number of pairs of each where there are several.
pub(super) fn answers(conclusion: &ConclusionReport) -> String {
    let (answer, pairs) = (conclusion.answer, &conclusion.pairs);
    let with = |answer| pairs.iter().filter(|pair| pair.mean.answer == answer).count();
    let measured = pairs.len() - with(Answer::NotMeasured);
    if measured == 0 {
        return answer.name().to_owned();
    }
    let main = match (with(answer), pairs.as_slice()) {
        (_, [pair]) => answer.name().to_owned() + &over(pair),
        (number, _) if number == measured => {
            format!("{} in {}", answer.name(), count(number, "pair"))
        }
        (number, _) => format!("{} in {number} of {}", answer.name(), count(measured, "pair")),
    };
    let others = Answer::ALL.into_iter().filter(|it| *it != answer);
    let others = others.map(|it| (with(it), it)).filter(|(number, _)| *number > 0);
    let others = others.map(|(number, it)| match it {
        it if it.confirms() => format!("holds{} in {number}", effect(it)),
        Answer::Differs => format!("differs in {number}"),
        it => format!("{number} {}", it.name()),
    });
    std::iter::once(main).chain(others).collect::<Vec<_>>().join(", ")
}

/// The number of workloads whose mean decides: a single block says nothing of its noise.
fn over(pair: &PairReport) -> String {
    let is_part = |it: &&ClaimedWorkload| it.ratio.measured.is_some_and(|it| it.samples > 1);
    let measured = pair.workloads.iter().filter(is_part).count();
    if measured > 1 { format!(" on average over {measured} loads") } else { String::new() }
}

/// The published size and the measured one: `0.29 became 0.60 (0.55..0.66)`.
pub(super) fn sizes(conclusion: &ConclusionReport) -> String {
    let ratios: Vec<&ComparedRatio> = conclusion.pairs.iter().map(|pair| &pair.mean).collect();
    let is_measured = |it: &&ComparedRatio| it.measured.is_some();
    let measured: Vec<&ComparedRatio> = ratios.iter().copied().filter(is_measured).collect();
    let there = |ratios: &[&ComparedRatio]| {
        range_of(&ratios.iter().map(|it| it.published).collect::<Vec<_>>())
    };
    match measured.as_slice() {
        [] => format!("{} published", there(&ratios)),
        [ratio] => format!("{} became {}", there(&measured), here(ratio)),
        several => {
            let values = several.iter().filter_map(|it| Some(it.measured?.value));
            format!("{} became {}", there(several), range_of(&values.collect::<Vec<_>>()))
        }
    }
}

fn range_of(values: &[f64]) -> String {
    let Some((least, most)) = range(values) else { return "-".to_owned() };
    let [least, most] = [least, most].map(|it| factor(it, None));
    if least == most { least } else { format!("{least}..{most}") }
}

/// The measured ratio.
pub(super) fn here(ratio: &ComparedRatio) -> String {
    let sign = ratio.reads.map_or("", |it| it.sign());
    let measured = ratio.measured.map(|it| factor(it.value, it.interval));
    measured.map_or_else(|| "-".to_owned(), |measured| format!("{sign}{measured}"))
}
