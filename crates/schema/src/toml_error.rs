//! Turns a TOML parser's drawing into one sentence about the mistake in a user's file.

use serde::de::DeserializeOwned;

/// Reads a user's file. An error is one sentence: `line N: …`, with the nearest key for one that is unknown.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| sentence(text, &error))
}

fn sentence(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(String::new(), |span| {
        let before = text.get(..span.start).unwrap_or_default();
        format!("line {}: ", before.matches('\n').count() + 1)
    });
    format!("{at}{}", explain(error.message()))
}

/// Serde names an unknown key and all that are known; a person wants the one that was meant.
fn explain(message: &str) -> String {
    let message = message.trim().replace('\n', " ");
    let Some(rest) = message.strip_prefix("unknown field `") else { return message };
    // The keys are in backquotes: the unknown one first, then all known ones.
    let mut words = rest.split('`').step_by(2);
    let unknown = words.next().unwrap_or_default();
    let known: Vec<&str> = words.collect();
    crate::suggest::unknown("key", unknown, known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(rename = "skips")]
        _skips: Vec<String>,
        #[serde(rename = "title")]
        _title: String,
    }

    fn sentence_for(text: &str) -> String {
        parse::<File>(text).unwrap_err()
    }

    #[test]
    fn an_unknown_key_gets_its_line_and_the_nearest_one() {
        let text = "title = \"a\"\nskipz = []\n";
        assert_eq!(sentence_for(text), "line 2: unknown key `skipz`: did you mean `skips`?");
        let text = "title = \"a\"\nx = []\n";
        assert_eq!(sentence_for(text), "line 2: unknown key `x`: known: skips, title");
    }

    #[test]
    fn other_mistakes_are_one_line_too() {
        let texts = ["", "title = 1\nskips = []", "title = \"a", "title = \"a\"\ntitle = \"b\"\n"];
        let sentences = texts.map(|text| sentence_for(text) + "\n").concat();
        expect![[r#"
            line 1: missing field `skips`
            line 1: invalid type: integer `1`, expected a string
            line 1: invalid basic string, expected `"`
            line 2: duplicate key
        "#]]
        .assert_eq(&sentences);
    }
}
