//! Takes apart what a case printed: rustc's messages, and those of our linker, which rustc wraps in one of its own.
//!
//! The linker runs with `--message-format=json`, so that its messages keep their lines: `//~ ERROR` works for both.

use std::path::{Path, PathBuf};

use ptx_codegen::{Diagnostic, Level};
use ui_test::diagnostics::rustc::rustc_diagnostics_extractor;
use ui_test::diagnostics::{Diagnostics, Level as UiLevel, Message};

/// For [`ui_test::Config::diagnostic_extractor`].
pub fn extract(case: &Path, stderr: &[u8]) -> Diagnostics {
    let mut from_rustc = Vec::new();
    let mut from_linker = Vec::new();
    for line in stderr.split_inclusive(|byte| *byte == b'\n') {
        match linker_messages(line) {
            Some(found) => from_linker.extend(found),
            None => from_rustc.extend_from_slice(line),
        }
    }
    let mut all = rustc_diagnostics_extractor(case, &from_rustc);
    from_linker.iter().for_each(|diagnostic| add(&mut all, case, diagnostic));
    all
}

/// The linker's messages in a message of rustc that says that linking failed.
fn linker_messages(line: &[u8]) -> Option<Vec<Diagnostic>> {
    let wrapper: serde_json::Value = serde_json::from_slice(line).ok()?;
    if !wrapper["message"].as_str()?.starts_with("linking with ") {
        return None;
    }
    let notes = wrapper["children"].as_array()?.iter().filter_map(|child| child["message"].as_str());
    let found: Vec<_> = notes.flat_map(str::lines).filter_map(|line| serde_json::from_str(line).ok()).collect();
    // A linker that died has no messages: then rustc's own is the one to see.
    (!found.is_empty()).then_some(found)
}

fn add(all: &mut Diagnostics, case: &Path, diagnostic: &Diagnostic) {
    let here = std::env::current_dir().unwrap_or_default();
    let relative = |file: &PathBuf| file.strip_prefix(&here).unwrap_or(file).to_path_buf();
    let mut diagnostic = diagnostic.clone();
    diagnostic.spans.iter_mut().for_each(|(span, _)| span.file = relative(&span.file));
    all.rendered.extend_from_slice(diagnostic.render(&here, false).as_bytes());
    all.rendered.extend_from_slice(b"\n\n");
    let line = diagnostic.spans.iter().find(|(span, _)| span.file == case).map(|(span, _)| span.line as usize);
    let message = Message {
        level: if diagnostic.level == Level::Error { UiLevel::Error } else { UiLevel::Warn },
        message: diagnostic.message,
        line,
        span: None,
        code: Some(diagnostic.code.to_string()),
    };
    match line {
        None => all.messages_from_unknown_file_or_line.push(message),
        Some(line) => {
            if all.messages.len() <= line {
                all.messages.resize_with(line + 1, Vec::new);
            }
            all.messages[line].push(message);
        }
    }
}
