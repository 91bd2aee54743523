//! Each keyword with values that satisfy it and values that do not, and schemas that the check does not read.

use super::*;

/// A schema, a value that satisfies it, and one that does not in one place.
const CASES: [(&str, &str, &str, &str); 30] = [
    (r#"{"type": "null"}"#, "null", "0", ""),
    (r#"{"type": "boolean"}"#, "true", "0", ""),
    (r#"{"type": "string"}"#, r#""a""#, "0", ""),
    (r#"{"type": "number"}"#, "0.5", r#""a""#, ""),
    (r#"{"type": "integer"}"#, "-1", "0.5", ""),
    (r#"{"type": "array"}"#, "[]", "{}", ""),
    (r#"{"type": "object"}"#, "{}", "[]", ""),
    (r#"{"type": ["string", "null"]}"#, "null", "0", ""),
    (r#"{"const": "a"}"#, r#""a""#, r#""b""#, ""),
    (r#"{"enum": ["a", 1]}"#, "1", "2", ""),
    (r#"{"minimum": 0}"#, "0", "-1", ""),
    (r#"{"required": ["a"]}"#, r#"{"a": null}"#, r#"{"b": 0}"#, ""),
    (r#"{"properties": {"a": false}}"#, r#"{"b": 0}"#, r#"{"a": 0}"#, "/a"),
    (r#"{"properties": {"a": {"type": "null"}}}"#, r#"{"a": null}"#, r#"{"a": 0}"#, "/a"),
    (r#"{"additionalProperties": {"minimum": 1}}"#, r#"{"a": 1}"#, r#"{"a": 0}"#, "/a"),
    (
        r#"{"properties": {"a": true}, "additionalProperties": false}"#,
        r#"{"a": 0}"#,
        r#"{"a": 0, "b": 0}"#,
        "/b",
    ),
    (r#"{"items": {"minimum": 1}}"#, "[1, 2]", "[1, 0]", "/1"),
    (
        r##"{"$defs": {"T": {"items": {"$ref": "#/$defs/T"}, "type": "array"}}, "$ref": "#/$defs/T"}"##,
        "[[], [[]]]",
        "[[], [1]]",
        "/1/0",
    ),
    (r#"{"prefixItems": [true, {"const": 1}]}"#, "[0, 1, 2]", "[1, 2]", "/1"),
    (r#"{"prefixItems": [true], "items": {"const": 1}}"#, "[0, 1]", "[0, 2]", "/1"),
    (r#"{"maximum": 1}"#, "1", "2", ""),
    (r#"{"minItems": 2}"#, "[0, 0]", "[0]", ""),
    (r#"{"maxItems": 1}"#, "[0]", "[0, 0]", ""),
    (r#"{"uniqueItems": true}"#, "[0, 1]", "[0, 1, 0]", ""),
    (r#"{"patternProperties": {"^\\d+$": {"const": 1}}}"#, r#"{"a": 0}"#, r#"{"10": 0}"#, "/10"),
    (
        r#"{"patternProperties": {"^\\d+$": true}, "additionalProperties": false}"#,
        r#"{"0": 0}"#,
        r#"{"0a": 0}"#,
        "/0a",
    ),
    (r#"{"anyOf": [{"type": "null"}, {"minimum": 2}]}"#, "2", "1", ""),
    (r#"{"oneOf": [{"type": "number"}, {"const": 1}]}"#, "2", "1", ""),
    (r#"{"oneOf": [{"type": "null"}, {"const": 1}]}"#, "1", "2", ""),
    (r#"{"title": "T", "description": "D", "format": "F", "const": 1}"#, "1", "2", ""),
];

fn differences(schema: &str, value: &str) -> Vec<String> {
    let [schema, value] = [schema, value].map(|it| serde_json::from_str(it).unwrap());
    check(&schema, &schema, ("", &value))
}

#[test]
fn each_keyword_accepts_some_values_and_names_the_place_of_others() {
    for (schema, right, wrong, place) in CASES {
        assert_eq!(differences(schema, right), [""; 0], "{schema}");
        let found = differences(schema, wrong);
        assert_eq!(found.len(), 1, "{schema}: {found:?}");
        assert!(found[0].starts_with(&format!("{place}: ")), "{schema}: {found:?}");
    }
}

#[test]
fn the_difference_has_the_value_and_what_the_schema_demands() {
    let found = differences(r#"{"items": {"type": "string"}}"#, "[3]");
    assert_eq!(found, [r#"/0: 3 does not satisfy type "string""#]);
    let found = differences(r#"{"required": ["a", "b"]}"#, r#"{"b": 0}"#);
    assert_eq!(found, [r#": "a" is missing"#]);
}

#[test]
fn an_unknown_keyword_is_found_where_no_document_leads() {
    let unread = r#"{"pattern": "a"}"#;
    for schema in [
        unread.to_owned(),
        format!(r#"{{"$defs": {{"T": {unread}}}}}"#),
        format!(r#"{{"properties": {{"a": {unread}}}}}"#),
        format!(r#"{{"items": {unread}}}"#),
        format!(r#"{{"additionalProperties": {unread}}}"#),
        format!(r#"{{"anyOf": [true, {unread}]}}"#),
        format!(r#"{{"oneOf": [{unread}]}}"#),
    ] {
        let parsed: Value = serde_json::from_str(&schema).unwrap();
        let result = std::panic::catch_unwind(|| assert_known(&parsed));
        assert!(result.is_err(), "{schema}");
    }
    for (schema, ..) in CASES {
        assert_known(&serde_json::from_str(schema).unwrap());
    }
}

#[test]
fn a_schema_that_cannot_be_read_in_full_passes_nothing() {
    let cases = [
        (r#"{"pattern": "a"}"#, "1"),
        (r#"{"anyOf": [true, {"pattern": "a"}]}"#, "1"),
        (r#"{"patternProperties": {"^a": true}}"#, r#"{"1": 1}"#),
        (r#"{"uniqueItems": false}"#, "[]"),
        (r#"{"type": "text"}"#, "1"),
        (r##"{"$ref": "#/$defs/absent"}"##, "1"),
        (r#"{"$ref": "other.json"}"#, "1"),
        (r#"{"enum": "a"}"#, "1"),
        (r#"{"minimum": "1"}"#, "1"),
        (r#"{"required": [1]}"#, "{}"),
        ("1", "1"),
    ];
    for (schema, value) in cases {
        let result = std::panic::catch_unwind(|| differences(schema, value));
        assert!(result.is_err(), "{schema}: {result:?}");
    }
}
