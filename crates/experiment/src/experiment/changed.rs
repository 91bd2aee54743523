//! What has changed between the beginning of an experiment and now, in sentences. Pure.

use serde::Serialize;
use serde_json::{Map, Value};
use wirebench_schema::{
    environment::{Environment, Weight},
    journal::{Described, Start},
};

use super::Differences;

/// What is different in what was planned. Variants are not looked at.
pub(super) fn plan(was: &Start, is: &Start) -> Vec<String> {
    let pairs = [
        ("the suite", value(&was.suite), value(&is.suite)),
        ("the scale", value(was.scale), value(is.scale)),
        ("the procedure", value(was.procedure), value(is.procedure)),
        ("the baselines", value(&was.baselines), value(&is.baselines)),
        ("the seed", value(was.seed), value(is.seed)),
        ("the number of blocks", value(was.blocks), value(is.blocks)),
        ("the number of warm-up blocks", value(was.warmup_blocks), value(is.warmup_blocks)),
        ("the number of copies", value(was.copies), value(is.copies)),
        ("the baseline's copies", value(was.baseline_copies), value(is.baseline_copies)),
        ("the precision", value(was.goal.precision), value(is.goal.precision)),
        ("the load generator", value(&was.generator), value(&is.generator)),
        ("the idle mode of the CPUs", value(was.idle), value(is.idle)),
        ("the placement", value(&was.placement), value(&is.placement)),
    ];
    let mut sentences = Vec::new();
    for (what, was, is) in &pairs {
        add_changes(&mut sentences, what, was, is);
    }
    for was in &was.workloads {
        let what = format!("the workload {}", was.name);
        match is.workloads.iter().find(|is| is.name == was.name) {
            Some(is) => add_changes(&mut sentences, &what, &value(was), &value(is)),
            None => sentences.push(format!("{what} is no longer part of it")),
        }
    }
    for is in &is.workloads {
        if !was.workloads.iter().any(|was| was.name == is.name) {
            sentences.push(format!("the workload {} was no part of it", is.name));
        }
    }
    let names = |start: &Start| -> Vec<String> {
        start.workloads.iter().map(|it| it.name.clone()).collect()
    };
    let order = |start: &Start| value(names(start));
    if sentences.is_empty() {
        add_changes(&mut sentences, "the order of the workloads", &order(was), &order(is));
    }
    sentences
}

/// What is different between the beginnings of two parts of one experiment, on different hosts.
pub(super) fn between_starts(one: &Start, other: &Start) -> Vec<String> {
    let mut sentences = plan(one, other);
    for was in &one.variants {
        let Some(is) = other.variants.iter().find(|is| is.variant == was.variant) else {
            sentences.push(format!("{} is missing", was.variant));
            continue;
        };
        if was.fingerprint != is.fingerprint {
            sentences.push(another_program(was));
        }
        let (was, versions) = (&was.versions, value(&is.versions));
        add_changes(&mut sentences, &is.variant.to_string(), &value(was), &versions);
    }
    let is_new = |is: &&Described| !one.variants.iter().any(|was| was.variant == is.variant);
    let new = other.variants.iter().filter(is_new);
    sentences.extend(new.map(|is| format!("{} is only in one of them", is.variant)));
    sentences
}

fn another_program(was: &Described) -> String {
    format!("{} is another program: its files have changed", was.variant)
}

/// What is different in a variant, first of all whether it is another program. How it is described
/// in words is left out.
pub(super) fn variant(was: &Described, is: &Described) -> Vec<String> {
    let told = |described: &Described| {
        let mut fields = match value(described) {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        fields.retain(|name, _| {
            !["title", "skips", "variant", "fingerprint", "runs_others"].contains(&name.as_str())
        });
        Value::Object(fields)
    };
    let mut sentences = Vec::new();
    if was.fingerprint != is.fingerprint {
        sentences.push(another_program(was));
    }
    add_changes(&mut sentences, &was.variant.to_string(), &told(was), &told(is));
    sentences
}

/// The field of wirebench's own program.
const OWN_PROGRAM: &str = "program.digest";

/// What is different in the machine and in wirebench itself.
pub(super) fn environment(was: &Environment, is: &Environment, differences: &mut Differences) {
    for difference in was.differences(is) {
        let text = difference.to_string();
        match difference.weight {
            // wirebench is also the load generator.
            _ if difference.field == OWN_PROGRAM => differences.refusing.push(format!(
                "wirebench is another program ({} was {} and is {})",
                difference.field, difference.old, difference.new
            )),
            Weight::Refuses => differences.refusing.push(format!("another machine: {text}")),
            Weight::Warns => differences.noted.push(text),
        }
    }
    if let (Some(was), Some(is)) = (&was.boot, &is.boot)
        && was != is
    {
        differences.noted.push("the machine was restarted meanwhile".to_owned());
    }
}

fn value(of: impl Serialize) -> Value {
    // Everything that is compared can be written as JSON; the journal does so.
    serde_json::to_value(of).unwrap_or(Value::Null)
}

/// A sentence for each field that differs, however deep it lies.
fn add_changes(sentences: &mut Vec<String>, what: &str, was: &Value, is: &Value) {
    if was == is {
        return;
    }
    let (Value::Object(was), Value::Object(is)) = (was, is) else {
        sentences.push(format!("{what} was {} and is {}", show(was), show(is)));
        return;
    };
    let mut names: Vec<&String> = was.keys().chain(is.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let of = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or(Value::Null);
        let deeper = if what.contains(": ") { '.' } else { ':' };
        let gap = if deeper == ':' { " " } else { "" };
        let what = format!("{what}{deeper}{gap}{name}");
        add_changes(sentences, &what, &of(was), &of(is));
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "absent".to_owned(),
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn another_machine_or_wirebench_refuses_and_settings_are_noted() {
        let was = Environment { cpus_online: 2, boot: Some("a".into()), ..Environment::default() };
        let mut is = was.clone();
        let differences = |is: &Environment| {
            let mut differences = Differences::default();
            environment(&was, is, &mut differences);
            differences
        };
        assert_eq!(differences(&is), Differences::default());
        (is.boot, is.load_average_1m) = (Some("b".into()), 9.0);
        let noted = differences(&is);
        assert_eq!((noted.refusing.len(), noted.noted.len()), (0, 1), "{noted:?}");
        expect!["the machine was restarted meanwhile"].assert_eq(&noted.noted[0]);
        is.cpus_online = 4;
        let other = differences(&is);
        assert_eq!(other.refusing, ["another machine: cpus_online was `2` and is `4`"]);
    }

    #[test]
    fn each_field_that_differs_is_a_sentence_with_both_values() {
        let mut sentences = Vec::new();
        let was = json!({"connections": 8, "stop": {"after": "1s"}, "same": 1});
        let is = json!({"connections": 9, "stop": {"requests": 5}, "same": 1});
        add_changes(&mut sentences, "the workload a", &was, &is);
        let expected = [
            "the workload a: connections was `8` and is `9`",
            "the workload a: stop.after was `1s` and is absent",
            "the workload a: stop.requests was absent and is `5`",
        ];
        assert_eq!(sentences, expected);
    }
}
