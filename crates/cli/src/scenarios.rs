//! Scenarios in as few words as possible.

use wirebench_schema::scenario::Scenario;

/// The scenarios that `has` names: `all` means those with a contract of wirebench's own.
pub(crate) fn folded(has: impl Fn(Scenario) -> bool) -> String {
    let contracts = Scenario::ALL.into_iter().filter(|it| *it != Scenario::Requests);
    let (there, absent): (Vec<Scenario>, Vec<Scenario>) = contracts.partition(|it| has(*it));
    let mut text = match absent.as_slice() {
        [] => "all".to_owned(),
        [one] => format!("all but {one}"),
        _ => there.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    };
    if has(Scenario::Requests) {
        text += if text.is_empty() { "" } else { " + " };
        text += Scenario::Requests.name();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_scenarios_are_few_words() {
        let of = |absent: &[Scenario]| folded(|it| !absent.contains(&it));
        assert_eq!(of(&[]), "all + requests");
        assert_eq!(of(&[Scenario::Requests]), "all");
        assert_eq!(of(&[Scenario::Requests, Scenario::Echo]), "all but echo");
        assert_eq!(folded(|it| it == Scenario::Requests), "requests");
        assert_eq!(folded(|it| [Scenario::Hello, Scenario::Echo].contains(&it)), "hello echo");
    }
}
