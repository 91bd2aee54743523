//! Checks a document against a schema, for the keywords that our schemas use. Any other keyword is a panic, so that no
//! demand of a schema passes unread.
//!
//! `validate/` checks the same documents with a complete validator. As a dependency of this workspace it would enable
//! features of other dependencies, and most crates would be compiled twice.

mod tests;

use serde_json::{Map, Value};

/// Keywords that say something about a value and demand nothing of it.
const NOTES: [&str; 5] = ["$schema", "title", "description", "default", "format"];
/// The only pattern for names of fields: they are numbers.
const NUMBERS: &str = r"^\d+$";

/// Panics if any part of the schema has a keyword that `check` does not read, also where no document leads to it.
pub(crate) fn assert_known(schema: &Value) {
    for (keyword, argument) in schema.as_object().into_iter().flatten() {
        match keyword.as_str() {
            "$defs" | "properties" => object(argument).values().for_each(assert_known),
            "items" | "additionalProperties" => assert_known(argument),
            "patternProperties" => assert_known(of_numbers(argument)),
            "anyOf" | "oneOf" | "prefixItems" => list(argument).iter().for_each(assert_known),
            "$ref" | "type" | "const" | "enum" | "required" | "uniqueItems" | "minimum"
            | "maximum" | "minItems" | "maxItems" => {}
            other => assert!(NOTES.contains(&other), "the keyword {other} is unknown"),
        }
    }
}

/// The differences between `value` and `schema`, each with its place in `value`. `root` has the definitions.
pub(crate) fn check(root: &Value, schema: &Value, (place, value): (&str, &Value)) -> Vec<String> {
    match schema {
        Value::Bool(true) => Vec::new(),
        Value::Bool(false) => vec![format!("{place}: nothing is allowed here")],
        Value::Object(keywords) => {
            let by_keyword = keywords.iter().map(|it| keyword(root, keywords, it, (place, value)));
            by_keyword.flatten().collect()
        }
        _ => panic!("{schema} is not a schema"),
    }
}

fn keyword(
    root: &Value,
    siblings: &Map<String, Value>,
    (keyword, argument): (&String, &Value),
    (place, value): (&str, &Value),
) -> Vec<String> {
    let unless = |holds: bool| {
        let found = || format!("{place}: {value} does not satisfy {keyword} {argument}");
        if holds { Vec::new() } else { vec![found()] }
    };
    let here = |schema: &Value| check(root, schema, (place, value));
    let satisfied = || list(argument).iter().filter(|schema| here(schema).is_empty()).count();
    let items = || value.as_array().map_or(&[][..], Vec::as_slice);
    match keyword.as_str() {
        "$defs" => Vec::new(),
        "$ref" => here(definition(root, argument)),
        "type" if argument.is_array() => {
            unless(list(argument).iter().any(|name| has_type(value, name)))
        }
        "type" => unless(has_type(value, argument)),
        "const" => unless(value == argument),
        "enum" => unless(list(argument).contains(value)),
        "minimum" => unless(value.as_f64().is_none_or(|it| it >= number(argument))),
        "maximum" => unless(value.as_f64().is_none_or(|it| it <= number(argument))),
        "minItems" => unless(!value.is_array() || items().len() as f64 >= number(argument)),
        "maxItems" => unless(items().len() as f64 <= number(argument)),
        "uniqueItems" => {
            assert_eq!(argument, true, "uniqueItems");
            let is_repeated = |index: usize| items()[..index].contains(&items()[index]);
            unless(!(0..items().len()).any(is_repeated))
        }
        "required" => {
            let is_missing = |name: &Value| value.is_object() && value.get(text(name)).is_none();
            let missing = list(argument).iter().filter(|name| is_missing(name));
            missing.map(|name| format!("{place}: {name} is missing")).collect()
        }
        "anyOf" => unless(satisfied() >= 1),
        "oneOf" => unless(satisfied() == 1),
        other if NOTES.contains(&other) => Vec::new(),
        other => {
            let below = |(name, schema, part): (String, &Value, &Value)| {
                check(root, schema, (&format!("{place}/{name}"), part))
            };
            parts(siblings, (other, argument), value).into_iter().flat_map(below).collect()
        }
    }
}

/// The parts of a value that a keyword is about: the name of each, its schema, and the part.
fn parts<'a>(
    siblings: &'a Map<String, Value>,
    (keyword, argument): (&str, &'a Value),
    value: &'a Value,
) -> Vec<(String, &'a Value, &'a Value)> {
    let fields = value.as_object().into_iter().flatten();
    let items = value.as_array().into_iter().flatten().enumerate();
    let field = |(name, part): (&String, &'a Value)| (name.clone(), argument, part);
    match keyword {
        "properties" => {
            let schema = |name: &str| object(argument).get(name);
            fields.filter_map(|(name, part)| Some((name.clone(), schema(name)?, part))).collect()
        }
        "patternProperties" => {
            let numbers = fields.filter(|(name, _)| is_number(name)).map(field);
            numbers.map(|(name, patterns, part)| (name, of_numbers(patterns), part)).collect()
        }
        "additionalProperties" => {
            fields.filter(|(name, _)| !is_named(siblings, name)).map(field).collect()
        }
        "prefixItems" => {
            let pairs = list(argument).iter().zip(items);
            pairs.map(|(schema, (index, part))| (index.to_string(), schema, part)).collect()
        }
        "items" => {
            let first = siblings.get("prefixItems").map_or(0, |it| list(it).len());
            items.skip(first).map(|(index, part)| (index.to_string(), argument, part)).collect()
        }
        other => panic!("the keyword {other} is unknown"),
    }
}

/// True for a field that `properties` or `patternProperties` already checks.
fn is_named(siblings: &Map<String, Value>, name: &str) -> bool {
    siblings.get("properties").is_some_and(|it| object(it).contains_key(name))
        || siblings.contains_key("patternProperties") && is_number(name)
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// The schema of the fields whose names are numbers, which must be the only pattern.
fn of_numbers(argument: &Value) -> &Value {
    let patterns = object(argument);
    assert!(patterns.keys().eq([NUMBERS]), "{argument} has an unknown pattern");
    &patterns[NUMBERS]
}

fn definition<'a>(root: &'a Value, reference: &Value) -> &'a Value {
    let pointer = text(reference).strip_prefix('#').and_then(|pointer| root.pointer(pointer));
    pointer.unwrap_or_else(|| panic!("{reference} refers to nothing"))
}

fn has_type(value: &Value, name: &Value) -> bool {
    match text(name) {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is unknown"),
    }
}

fn object(argument: &Value) -> &Map<String, Value> {
    argument.as_object().unwrap_or_else(|| panic!("{argument} is not an object"))
}

fn list(argument: &Value) -> &Vec<Value> {
    argument.as_array().unwrap_or_else(|| panic!("{argument} is not a list"))
}

fn text(argument: &Value) -> &str {
    argument.as_str().unwrap_or_else(|| panic!("{argument} is not a text"))
}

fn number(argument: &Value) -> f64 {
    argument.as_f64().unwrap_or_else(|| panic!("{argument} is not a number"))
}
