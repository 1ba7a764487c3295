//! What cargo prints as JSON: rustc's messages, our linker's inside one of them, and what was built.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use ptx_codegen::diagnostic::{Diagnostic, Level};

use crate::notes::{self, Message, add_note};

/// Everything of interest that one run of cargo printed.
#[derive(Debug, Default)]
pub struct Messages {
    /// rustc's, in order.
    pub rustc: Vec<RustcMessage>,
    /// Our linker's errors.
    pub linker: Vec<Diagnostic>,
    /// What else the linker printed before it failed.
    pub linker_text: Option<String>,
    /// Crates for which rustc found no `std`.
    pub without_std: Vec<CrateId>,
    /// What was built or found fresh.
    pub artifacts: Vec<Artifact>,
}

/// One of rustc's messages.
#[derive(Clone, Debug)]
pub struct RustcMessage {
    /// The crate that it is about.
    pub of: CrateId,
    /// Error or warning; none for a closing remark.
    pub level: Option<Level>,
    /// As rustc shows it, with a [note](notes) of ours where there is one.
    pub rendered: String,
    /// Place and message in one line.
    pub short: String,
    /// Cargo's whole line, with the same note.
    pub json: String,
}

/// A crate in cargo's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrateId {
    /// Manifest of its package.
    pub manifest: PathBuf,
    /// Name of the package.
    pub package: String,
    /// The package's version: `1.2.0`.
    pub version: String,
}

/// A crate that was built or found fresh.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Manifest of its package.
    pub manifest: PathBuf,
    /// Whether it is on this machine's disk, not of a registry or repository.
    pub is_local: bool,
    /// What rustc wrote of it: an rlib, PTX.
    pub files: Vec<PathBuf>,
    /// Whether nothing was done.
    pub fresh: bool,
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerMessage {
        package_id: String,
        manifest_path: PathBuf,
        message: Message,
    },
    CompilerArtifact {
        package_id: String,
        manifest_path: PathBuf,
        filenames: Vec<PathBuf>,
        fresh: bool,
    },
    #[serde(other)]
    Other,
}

impl Messages {
    /// Takes one line of cargo's standard output; what is not JSON of cargo's is passed over.
    pub fn add(&mut self, json: &str) {
        match serde_json::from_str(json) {
            Ok(Line::CompilerMessage { package_id, manifest_path, message }) => {
                self.add_message(CrateId::parse(&package_id, manifest_path), message, json);
            }
            Ok(Line::CompilerArtifact { package_id, manifest_path, filenames, fresh }) => {
                self.artifacts.push(Artifact {
                    manifest: manifest_path,
                    is_local: package_id.starts_with("path+"),
                    files: filenames,
                    fresh,
                })
            }
            Ok(Line::Other) | Err(_) => {}
        }
    }

    fn add_message(&mut self, of: CrateId, message: Message, json: &str) {
        let code = message.code.as_ref().map(|code| code.code.as_str());
        if code == Some("linker_messages") {
            // rustc repeats what the linker printed; its warnings stand in the report.
            return;
        }
        if message.level == "error" && message.message.starts_with("linking with `") {
            self.add_linker_output(&message);
            return;
        }
        if code == Some("E0463") && message.message.contains("`std`") && !self.without_std.contains(&of) {
            self.without_std.push(of.clone());
        }
        let place =
            message.spans.iter().find(|span| span.is_primary).map_or_else(String::new, |span| {
                format!("{}:{}:{}: ", span.file_name, span.line_start, span.column_start)
            });
        let short = format!("{place}{}", message.message);
        let note = message.note();
        let rendered = message.rendered.unwrap_or(message.message);
        let rendered = note.map_or_else(|| rendered.clone(), |note| notes::add(&rendered, note));
        // rustc says some things several times, where a macro repeats a type; cargo shows them once.
        if self.rustc.iter().any(|known| known.of == of && known.rendered == rendered) {
            return;
        }
        let level = match message.level.as_str() {
            level if level.starts_with("error") => Some(Level::Error),
            "warning" => Some(Level::Warning),
            _ => None,
        };
        let json = note.and_then(|note| with_note(json, note, &rendered)).unwrap_or_else(|| json.to_string());
        self.rustc.push(RustcMessage { of, level, short, rendered, json });
    }

    /// rustc's message holds the linker's command line and, as a note, its output: our diagnostics, one a line.
    fn add_linker_output(&mut self, message: &Message) {
        for note in &message.children {
            let mut text = Vec::new();
            let before = self.linker.len();
            for line in note.message.lines().filter(|line| !line.trim().is_empty()) {
                match serde_json::from_str::<Diagnostic>(line.trim()) {
                    Ok(diagnostic) => self.linker.push(diagnostic),
                    Err(_) => text.push(line),
                }
            }
            // The note with the command line comes first and begins with a quoted program.
            let is_command = note.message.trim_start().starts_with('"') || note.message.contains("--verbose");
            if !text.is_empty() && (self.linker.len() > before || !is_command) {
                self.linker_text = Some(text.join("\n"));
            }
        }
        if self.linker.is_empty() && self.linker_text.is_none() {
            self.linker_text = Some(message.message.clone());
        }
    }

    /// The artifact of one manifest.
    pub fn artifact(&self, manifest: &Path) -> Option<&Artifact> {
        self.artifacts.iter().find(|artifact| artifact.manifest == manifest)
    }
}

/// Cargo's line with a note of ours among the message's.
fn with_note(json: &str, note: &str, rendered: &str) -> Option<String> {
    let mut line: serde_json::Value = serde_json::from_str(json).ok()?;
    add_note(line.get_mut("message")?, note, rendered)?;
    Some(line.to_string())
}

impl CrateId {
    /// From a package id: `registry+https://…#name@1.0.0` or `path+file:///…/name#1.0.0`.
    fn parse(id: &str, manifest: PathBuf) -> Self {
        let (url, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
        let (name, version) = match fragment.split_once('@') {
            Some((name, version)) => (name, version),
            None => (url.trim_end_matches('/').rsplit('/').next().unwrap_or(url), fragment),
        };
        Self { manifest, package: name.to_string(), version: version.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_codegen::codes::Code;

    fn message(level: &str, code: &str, text: &str, notes: &[&str]) -> String {
        let children: Vec<_> = notes
            .iter()
            .map(|note| serde_json::json!({"message": note, "level": "note", "rendered": null, "code": null, "spans": []}))
            .collect();
        serde_json::json!({
            "reason": "compiler-message",
            "package_id": "registry+https://github.com/rust-lang/crates.io-index#rand@0.9.1",
            "manifest_path": "/registry/rand/Cargo.toml",
            "message": {
                "message": text, "level": level, "rendered": format!("{level}: {text}\n --> src/lib.rs:3:7\n"),
                "code": {"code": code},
                "spans": [{"file_name": "src/lib.rs", "line_start": 3, "column_start": 7, "is_primary": true}],
                "children": children,
            },
        })
        .to_string()
    }

    #[test]
    fn rustcs_messages_are_kept() {
        let mut messages = Messages::default();
        messages.add(&message("error", "E0308", "mismatched types", &[]));
        messages.add(&message("warning", "unused_variables", "unused variable: `x`", &[]));
        messages.add(&message("warning", "linker_messages", "linker stderr: {}", &[]));
        messages.add("not json");
        messages.add(r#"{"reason":"build-finished","success":false}"#);
        messages.add(&message("error", "E0308", "mismatched types", &[]));
        let levels: Vec<_> = messages.rustc.iter().map(|message| message.level).collect();
        assert_eq!(levels, [Some(Level::Error), Some(Level::Warning)]);
        assert_eq!(messages.rustc[1].short, "src/lib.rs:3:7: unused variable: `x`");
        assert_eq!(messages.rustc[0].rendered, "error: mismatched types\n --> src/lib.rs:3:7\n");
    }

    #[test]
    fn a_note_of_ours_stands_in_text_and_json() {
        let mut messages = Messages::default();
        messages.add(&message("error", "E0425", "cannot find value `threadIdx` in this scope", &["rustc's"]));
        let [shown] = &messages.rustc[..] else { panic!("one message") };
        assert!(shown.rendered.contains("= help: `thread::index_1d()`"), "{}", shown.rendered);
        let json: serde_json::Value = serde_json::from_str(&shown.json).unwrap();
        let notes: Vec<_> = json["message"]["children"].as_array().unwrap().iter().map(|note| &note["level"]).collect();
        assert_eq!(notes, ["note", "help"]);
        assert_eq!(json["message"]["rendered"], *shown.rendered);
    }

    #[test]
    fn the_linkers_diagnostics_are_found_in_rustcs_message() {
        let ours = Diagnostic::error(Code::UndefinedSymbol, "undefined symbol `foo`").help("define it");
        let output = format!("{}\nstray text\n", serde_json::to_string(&ours).unwrap());
        let notes = [" \"/bin/linker\" \"-o\" \"k.ptx\"", "use `--verbose` to show all linker arguments", &output];
        let mut messages = Messages::default();
        messages.add(&message("error", "", "linking with `/bin/linker` failed: exit status: 1", &notes));
        assert_eq!(messages.linker, [ours]);
        assert_eq!(messages.linker_text.as_deref(), Some("stray text"));
        assert!(messages.rustc.is_empty());
    }

    #[test]
    fn a_linker_that_crashed_is_reported_as_it_is() {
        let mut messages = Messages::default();
        let notes = [" \"/bin/linker\" \"-o\"", "LLVM ERROR: out of memory\n"];
        messages.add(&message("error", "", "linking with `/bin/linker` failed: signal: 6 (SIGABRT)", &notes));
        assert_eq!(messages.linker_text.as_deref(), Some("LLVM ERROR: out of memory"));

        let mut messages = Messages::default();
        messages.add(&message("error", "", "linking with `/bin/linker` failed: signal: 9", &notes[..1]));
        assert!(messages.linker_text.unwrap().contains("signal: 9"));
    }

    #[test]
    fn crates_without_std_are_named() {
        let mut messages = Messages::default();
        messages.add(&message("error", "E0463", "can't find crate for `std`", &[]));
        messages.add(&message("error", "E0463", "can't find crate for `other`", &[]));
        assert_eq!(messages.without_std.len(), 1);
        assert_eq!(
            (messages.without_std[0].package.as_str(), messages.without_std[0].version.as_str()),
            ("rand", "0.9.1")
        );
        let local = CrateId::parse("path+file:///ws/util#0.2.0", PathBuf::new());
        assert_eq!((local.package.as_str(), local.version.as_str()), ("util", "0.2.0"));
    }

    #[test]
    fn artifacts_say_where_and_whether_they_are_new() {
        let mut messages = Messages::default();
        messages.add(
            r#"{"reason":"compiler-artifact","package_id":"path+file:///gen#app@0.1.0","manifest_path":"/gen/Cargo.toml",
                "filenames":["/t/app.ptx"],"fresh":true,"target":{}}"#,
        );
        let artifact = messages.artifact(Path::new("/gen/Cargo.toml")).unwrap();
        assert!(artifact.fresh && artifact.is_local);
        assert_eq!(artifact.files, [PathBuf::from("/t/app.ptx")]);
    }
}
