//! What the runner and its child say to each other, a line each: a number of a test, and JSON after a mark. All other
//! lines are what tests print, because the driver writes that to the child's standard output.

use serde::{Deserialize, Serialize};

/// Begins a message; no text has it. What a test prints may stand before it in the line.
const MARK: &str = "\u{1e}ptx-test ";

/// What the child says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// The code is loaded.
    Ready,
    /// It cannot be run, and the child ends.
    Unusable(String),
    /// A test ended.
    Done(Ended),
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The test returned.
    Returned,
    /// Its thread ended in a panic.
    Panicked {
        /// What it says, as on the CPU.
        message: String,
        /// `src/lib.rs:3:5`; empty where it is not known.
        place: String,
    },
    /// The context is lost, and the child ends.
    Lost(String),
}

impl Message {
    /// A line, without its end.
    pub fn encode(&self) -> String {
        format!("{MARK}{}", serde_json::to_string(self).expect("a message is plain data"))
    }

    /// What a test printed in this line, and the message that ends it.
    pub fn decode(line: &str) -> (&str, Option<Self>) {
        let Some((printed, json)) = line.rsplit_once(MARK) else { return (line, None) };
        match serde_json::from_str(json) {
            Ok(message) => (printed, Some(message)),
            Err(_) => (line, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stand_apart_from_what_tests_print() {
        let message = Message::Done(Ended::Panicked { message: "a\nb".into(), place: "src/lib.rs:3:5".into() });
        let line = message.encode();
        assert!(!line.contains('\n'));
        assert_eq!(Message::decode(&line), ("", Some(message.clone())));
        assert_eq!(Message::decode(&format!("x = 1{line}")), ("x = 1", Some(message)));
        assert_eq!(Message::decode("{\"ready\": 1}"), ("{\"ready\": 1}", None));
    }
}
