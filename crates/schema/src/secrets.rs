//! Hides the values of names that say that they are secret, such as `Authorization`, `--api-key` and `?token=`, in
//! everything that is written or printed, and the values that this process was given also without their names.
//!
//! Different texts stay different: the second one that would look like another gets `[redacted-2]`. A digest would
//! give short secrets away.

mod names;
mod text;
mod values;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};
use values::SecretValues;

pub(crate) use names::decoded;
pub use names::{SHOW_OPTION, is_secret};

/// The beginning of all that is in the place of a secret.
pub(crate) const MARK: &str = "[redacted";
/// The first text in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Hides the secrets of one document.
#[derive(Debug)]
pub struct Secrets {
    /// By the hidden text, the texts that it stands for, with their numbers.
    numbers: HashMap<String, HashMap<String, usize>>,
    /// What is hidden without a name.
    values: Arc<SecretValues>,
}

impl Default for Secrets {
    fn default() -> Self {
        Self { numbers: HashMap::new(), values: values::given() }
    }
}

/// Hides the values of the secrets in `it` from now on, also where they have no name.
pub fn learn(it: &impl Serialize) {
    serde_json::to_value(it).iter().for_each(values::add);
}

impl Secrets {
    /// A text without secrets.
    pub fn text(&mut self, text: &str) -> String {
        let values = self.values.clone();
        self.numbered(text, |mark| values.hidden(&text::hidden(text, mark, is_secret), mark))
    }

    fn numbered(&mut self, text: &str, hidden: impl Fn(&str) -> String) -> String {
        let first = hidden(REDACTED);
        if first == text {
            return first;
        }
        let known = self.numbers.entry(first.clone()).or_default();
        let next = known.len() + 1;
        match *known.entry(text.to_owned()).or_insert(next) {
            1 => first,
            number => hidden(&format!("{MARK}-{number}]")),
        }
    }

    /// The text in the place of the value of `name`.
    fn value(&mut self, name: &str, value: &str) -> String {
        if value.is_empty() || value.starts_with(MARK) {
            return value.to_owned();
        }
        let hidden = self.numbered(&format!("{name}={value}"), |mark| format!("{name}={mark}"));
        hidden[name.len() + 1..].to_owned()
    }

    /// A word of a command after another one, or one of the two texts of a header line.
    fn word(&mut self, before: &str, word: &str, is_pair: bool) -> String {
        let is_field = is_pair && !before.starts_with('-') && text::is_name(before);
        match word.split_once('=').filter(|(name, _)| text::is_name(name)) {
            _ if is_field || text::takes_value(before, word) => self.value(before, word),
            Some((name, value)) => format!("{name}={}", self.value(name, value)),
            None if text::USERS.contains(&before) && !word.contains(' ') => {
                let option = format!("{before} ");
                self.text(&(option.clone() + word)).trim_start_matches(&option).to_owned()
            }
            None => self.text(word),
        }
    }

    /// A value without the secrets in its texts. Lists of texts may be commands or header lines.
    fn json(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => self.text(&text).into(),
            Value::Array(items) => {
                let (mut before, is_pair) = (String::new(), items.len() == 2);
                let hide = |item| match item {
                    Value::String(word) => {
                        let hidden = self.word(&before, &word, is_pair);
                        before = word;
                        hidden.into()
                    }
                    item => self.json(item),
                };
                items.into_iter().map(hide).collect()
            }
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, it)| (name, self.json(it))).collect())
            }
            other => other,
        }
    }
}

/// A text without secrets.
#[must_use]
pub fn hidden_text(text: &str) -> String {
    values::given().hidden(&text::hidden(text, REDACTED, is_secret), REDACTED)
}

/// A text without the values of variables in capitals that are not known to be settings.
#[must_use]
pub fn hidden_variables(text: &str) -> String {
    text::hidden(text, REDACTED, text::is_variable)
}

/// A record without secrets. An error says that it cannot be written as JSON or read back.
pub fn hidden<T: Serialize + DeserializeOwned>(record: T) -> serde_json::Result<T> {
    let value = serde_json::to_value(&record)?;
    let hidden = Secrets::default().json(value.clone());
    if hidden == value {
        return Ok(record);
    }
    // A value may be the name of a server, too.
    let by_name = || Secrets { values: Arc::default(), ..Secrets::default() }.json(value);
    serde_json::from_value(hidden).or_else(|_| serde_json::from_value(by_name()))
}

/// A text of JSON values without secrets, each in a line; from a damaged one on as it was.
#[must_use]
pub fn hidden_json(text: &str) -> String {
    let (mut secrets, mut hidden) = (None, String::new());
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    while let Some(Ok(value)) = values.next() {
        // The first one has what a server was given.
        let secrets = secrets.get_or_insert_with(|| Secrets {
            values: Arc::new(SecretValues::of(&value)),
            ..Secrets::default()
        });
        hidden += &format!("{}\n", secrets.json(value));
    }
    hidden + text[values.byte_offset()..].trim_start()
}

#[cfg(test)]
mod tests;
