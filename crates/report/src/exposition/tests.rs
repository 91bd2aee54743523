//! A reader of OpenMetrics text that is as strict as the specification, for the tests of everything that is exposed.

use std::collections::BTreeMap;

pub(crate) type Samples = BTreeMap<String, f64>;

/// The families, each with its samples by their labels.
pub(crate) fn families(text: &str) -> BTreeMap<String, Samples> {
    let body = text.strip_suffix("# EOF\n").expect("the end");
    let mut families: BTreeMap<String, Samples> = BTreeMap::new();
    let (mut family, mut kind) = ("", "");
    for line in body.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let [what, name, value] = comment.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            match what {
                "TYPE" => {
                    (family, kind) = (name, value);
                    assert!(["gauge", "counter", "histogram"].contains(&value), "{line}");
                    assert!(families.insert(name.to_owned(), Samples::new()).is_none(), "{line}");
                }
                "UNIT" => assert!(name.ends_with(&format!("_{value}")), "{line}"),
                "HELP" => assert!(value.ends_with('.'), "{line}"),
                _ => panic!("{line}"),
            }
            assert_eq!(name, family, "families are not mixed");
            assert!(families[family].is_empty(), "samples follow their description: {line}");
            continue;
        }
        let (name, rest) = line.split_once('{').expect(line);
        let (labels, value) = rest.rsplit_once("} ").expect(line);
        let known =
            name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_');
        let suffix = match kind {
            "counter" => "_total",
            "histogram" => "_bucket",
            _ => "",
        };
        assert!(known && name == format!("{family}{suffix}"), "{line}");
        let value: f64 = value.parse().expect(line);
        assert!(kind == "gauge" || value >= 0.0, "{line}");
        let samples = families.get_mut(family).expect(line);
        assert!(samples.insert(labels.to_owned(), value).is_none(), "twice: {line}");
    }
    families
}
