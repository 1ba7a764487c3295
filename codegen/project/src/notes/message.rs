//! rustc's messages as JSON, and what of them the notes go by.

use serde::Deserialize;

use super::table::{Subject, add, of, of_host};

/// One of rustc's messages, or a part of one.
#[derive(Debug, Deserialize)]
pub struct Message {
    /// Without its places.
    pub message: String,
    /// `error`, `warning`, `note`, …
    pub level: String,
    /// As rustc shows it.
    pub rendered: Option<String>,
    /// Of an error or a lint.
    pub code: Option<MessageCode>,
    /// The source lines that it points at.
    #[serde(default)]
    pub spans: Vec<MessageSpan>,
    /// What is said below it.
    #[serde(default)]
    pub children: Vec<Message>,
}

/// Its code, as the compiler explains it: `E0308`, `dead_code`.
#[derive(Debug, Deserialize)]
pub struct MessageCode {
    pub code: String,
}

/// A place in the source.
#[derive(Debug, Deserialize)]
pub struct MessageSpan {
    pub file_name: String,
    pub line_start: u32,
    pub column_start: u32,
    pub is_primary: bool,
    #[serde(default)]
    pub text: Vec<SpanLine>,
}

/// A line of such a place.
#[derive(Debug, Deserialize)]
pub struct SpanLine {
    pub text: String,
    /// In characters, from 1.
    pub highlight_start: usize,
}

/// A message that rustc gives the cargo of a host build, as JSON, with a note of ours, if there is one.
pub fn with_host_note(json: &str) -> Option<String> {
    let message: Message = serde_json::from_str(json).ok()?;
    let note = of_host(message.subject())?;
    let rendered = add(message.rendered.as_deref()?, note);
    let mut json: serde_json::Value = serde_json::from_str(json).ok()?;
    add_note(&mut json, note, &rendered)?;
    Some(json.to_string())
}

impl Message {
    /// What we have to say of it.
    pub fn note(&self) -> Option<&'static str> {
        of(self.subject())
    }

    fn subject(&self) -> Subject<'_> {
        let line = self.spans.iter().find(|span| span.is_primary).and_then(|span| span.text.first());
        let (line, start) = line.map_or(("", 1), |line| (line.text.as_str(), line.highlight_start));
        let column = line.char_indices().nth(start.saturating_sub(1)).map_or(0, |(at, _)| at);
        let code = self.code.as_ref().map(|code| code.code.as_str());
        Subject { message: &self.message, code, line, column }
    }
}

/// A note of ours among rustc's.
pub fn add_note(message: &mut serde_json::Value, note: &str, rendered: &str) -> Option<()> {
    message["rendered"] = rendered.into();
    message.get_mut("children")?.as_array_mut()?.push(serde_json::json!({
        "message": note, "level": "help", "code": null, "spans": [], "children": [], "rendered": null,
    }));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustcs_messages_of_host_code_get_notes() {
        let line = |message: &str, code: &str| {
            serde_json::json!({
                "$message_type": "diagnostic", "message": message, "level": "error", "code": {"code": code},
                "spans": [], "children": [], "rendered": "error: no\n --> a.rs:3:1\n  |\n3 | y[0]\n  | ^^^^\n\n",
            })
            .to_string()
        };
        let noted = with_host_note(&line("cannot index into a value of type `CudaSlice<f32>`", "E0608")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&noted).unwrap();
        assert!(json["rendered"].as_str().unwrap().ends_with("kernels get it as an argument\n\n"), "{noted}");
        assert_eq!((&json["children"][0]["level"], &json["$message_type"]), (&"help".into(), &"diagnostic".into()));
        assert_eq!(with_host_note(&line("cannot index into a value of type `u8`", "E0608")), None);
        assert_eq!(with_host_note(r#"{"$message_type":"artifact","artifact":"a.rmeta","emit":"metadata"}"#), None);
        assert_eq!(with_host_note("not json"), None);
    }
}
