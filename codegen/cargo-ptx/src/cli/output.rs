//! How results and messages are printed: tables and rustc's shape for people, an object a line for programs.

use std::io::IsTerminal;
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use ptx_codegen::diagnostic::{Diagnostic, Level};
use ptx_codegen::report::{Formatting, Kernel, Report, Resources};
use ptx_project::build::Show;

use super::environment::terminal;

/// How messages and results are printed: cargo's names, and what they mean for ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// In rustc's shape.
    #[default]
    Human,
    /// A message a line.
    Short,
    /// One JSON object a line.
    Json,
    /// The same, in which rustc renders a message in one line.
    JsonDiagnosticShort,
    /// The same, in which rustc renders messages in colour.
    JsonDiagnosticRenderedAnsi,
    /// One JSON object a line, and messages in rustc's shape on standard error.
    JsonRenderDiagnostics,
}

impl Format {
    /// Whether results are objects.
    pub fn is_json(self) -> bool {
        !matches!(self, Self::Human | Self::Short)
    }

    /// Whether messages are objects.
    fn has_json_messages(self) -> bool {
        self.is_json() && self != Self::JsonRenderDiagnostics
    }

    /// Where rustc's messages go.
    pub fn show(self) -> Show {
        if self.has_json_messages() { Show::Json } else { Show::Rendered }
    }

    /// Whether rustc renders messages in one line.
    pub fn is_short(self) -> bool {
        matches!(self, Self::Short | Self::JsonDiagnosticShort)
    }

    /// Whether rustc renders messages in colour.
    pub fn is_colored(self) -> bool {
        match self {
            Self::JsonDiagnosticRenderedAnsi => true,
            Self::Json | Self::JsonDiagnosticShort => false,
            Self::Human | Self::Short | Self::JsonRenderDiagnostics => color(),
        }
    }
}

/// Whether standard error takes colour.
pub fn color() -> bool {
    let given = terminal().color.map(|color| color.name().to_string()).filter(|color| color != "auto");
    match given.ok_or(()).or_else(|()| std::env::var("CARGO_TERM_COLOR").map_err(drop)).as_deref() {
        Ok("always") => true,
        Ok("never") => false,
        _ => std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stderr().is_terminal(),
    }
}

/// Prints messages; relative paths in them are below `base`.
pub fn diagnostics(diagnostics: &[Diagnostic], format: Format, base: &Path) {
    for diagnostic in diagnostics {
        match format {
            Format::Short => eprintln!("{}", short(diagnostic)),
            _ if format.has_json_messages() => json("ptx-diagnostic", "diagnostic", diagnostic),
            _ => eprintln!("{}\n", diagnostic.render(base, color())),
        }
    }
}

/// In one line, as rustc does: `src/lib.rs:3:1: error[PTX0006]: undefined symbol`. A note stands in for a place.
fn short(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.spans.first().map_or_else(String::new, |(span, _)| format!("{span}: "));
    let level = match diagnostic.level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let note =
        diagnostic.notes.first().filter(|_| place.is_empty()).map_or_else(String::new, |note| format!("; {note}"));
    format!("{place}{level}[{}]: {}{}", diagnostic.code, diagnostic.message, note.replace('\n', " "))
}

/// Where more is said of these errors, as rustc ends its messages.
pub fn more(diagnostics: &[Diagnostic]) -> String {
    let mut codes: Vec<_> = diagnostics.iter().filter(|d| d.level == Level::Error).map(|d| d.code).collect();
    codes.sort_by_key(|code| code.number());
    codes.dedup();
    match codes[..] {
        [] => String::new(),
        [code] => format!("For more information about this error, try `cargo ptx explain {code}`."),
        [first, ..] => {
            let all: Vec<_> = codes.iter().map(ToString::to_string).collect();
            format!(
                "For more information about an error, try `cargo ptx explain {first}`. The codes: {}.",
                all.join(", ")
            )
        }
    }
}

/// Prints `{"reason": …, key: value}` on a line, as cargo does.
pub fn json(reason: &str, key: &str, value: &impl Serialize) {
    println!("{}", serde_json::json!({ "reason": reason, key: value }));
}

/// As seen from the current folder, if it is below.
pub fn path(path: &Path) -> String {
    path.strip_prefix(super::environment::current_dir()).unwrap_or(path).display().to_string()
}

/// Columns, as wide as their widest cell; numbers stand at the right.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let is_number = |column: usize| {
        // "-" stands for a number that is not known, "8+" for 8 or more.
        let fits = |cell: &String| cell == "-" || cell.trim_end_matches('+').parse::<u64>().is_ok();
        !rows.is_empty() && rows.iter().all(|row| row.get(column).is_some_and(fits))
    };
    let columns: Vec<(usize, bool)> = (0..header.len()).map(|column| (width(column), is_number(column))).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&columns).map(
            |(cell, &(width, number))| {
                if number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            },
        );
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_string() + "\n"
    };
    let mut text = line(&mut header.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// Explains the `+`.
const MINIMUM: &str = "\
+: more with each turn of recursion, which may be through pointers (`dyn`, `core::fmt`), or in code that is linked; launches
   leave room for it, and recursion that is deeper panics with `stack overflow in ...`
";

/// What it costs a kernel that it makes text of values.
fn format_costs(kernel: &str, arch: &str, used: &Resources, formatting: Formatting) -> String {
    match formatting {
        Formatting::Panics { registers, stack, .. } if (registers, stack) == (used.registers, used.stack) => {
            String::new()
        }
        Formatting::Panics { registers, stack, .. } => format!(
            "{kernel}, {arch}: {registers} registers and {stack} bytes of stack without its panics, of which the device makes \
             messages; `--panic=location` leaves these out\n"
        ),
        Formatting::Kernel => format!(
            "{kernel}, {arch}: makes text of values on the device, by `core::fmt`, which takes registers and stack\n"
        ),
    }
}

/// What ptxas says that the kernels use; a sentence where it was not run.
pub fn resources<'a>(report: &Report, kernels: impl Iterator<Item = &'a Kernel>) -> String {
    let header = ["kernel", "arch", "registers", "stack", "spill stores", "spill loads", "shared", "constant"];
    let mut rows = Vec::new();
    let mut is_minimum = false;
    let mut remarks = Vec::new();
    for kernel in kernels {
        for (arch, used) in &kernel.resources {
            remarks.extend(used.formatting.map(|formatting| format_costs(&kernel.name, arch, used, formatting)));
            let stack = format!("{}{}", used.stack, if used.stack_is_minimum { "+" } else { "" });
            let mut row = vec![kernel.name.clone(), arch.clone(), used.registers.to_string(), stack];
            row.extend([used.spill_stores, used.spill_loads, used.shared].map(|figure| figure.to_string()));
            is_minimum |= used.stack_is_minimum;
            row.push(used.constant.map_or("-".into(), |bytes| bytes.to_string()));
            rows.push(row);
        }
    }
    match &report.ptxas {
        Some(version) if !rows.is_empty() => {
            format!(
                "{}registers and bytes a thread, shared and constant in bytes; ptxas {version}\n{}{}",
                table(&header, &rows),
                if is_minimum { MINIMUM } else { "" },
                remarks.concat()
            )
        }
        Some(_) => "ptxas gave no figures\n".into(),
        None => "ptxas was not run, so registers and spills are not known; `cargo ptx setup` installs it\n".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_codegen::codes::Code;

    #[test]
    fn errors_lead_to_their_explanations() {
        let [usage, spill] = [Code::Usage, Code::Spill].map(|code| Diagnostic::error(code, "no"));
        let warning = Diagnostic::warning(Code::PtxasWarning, "hm");
        assert_eq!(more(std::slice::from_ref(&warning)), "");
        let one = more(&[usage.clone(), warning, usage.clone()]);
        assert_eq!(one, "For more information about this error, try `cargo ptx explain PTX0001`.");
        assert!(more(&[spill, usage]).ends_with("The codes: PTX0001, PTX0014."));
    }

    #[test]
    fn formats_are_cargos() {
        for (format, is_json, show, is_short) in [
            (Format::Human, false, Show::Rendered, false),
            (Format::Short, false, Show::Rendered, true),
            (Format::Json, true, Show::Json, false),
            (Format::JsonDiagnosticShort, true, Show::Json, true),
            (Format::JsonDiagnosticRenderedAnsi, true, Show::Json, false),
            (Format::JsonRenderDiagnostics, true, Show::Rendered, false),
        ] {
            assert_eq!((format.is_json(), format.show(), format.is_short()), (is_json, show, is_short), "{format:?}");
        }
        assert_eq!(short(&Diagnostic::error(Code::Usage, "no").note("a").note("b")), "error[PTX0001]: no; a");
    }

    #[test]
    fn columns_fit_and_numbers_stand_right() {
        let rows = [["saxpy", "8"], ["k", "128"]].map(|row| row.map(str::to_string).to_vec());
        assert_eq!(table(&["kernel", "registers"], &rows), "kernel  registers\nsaxpy           8\nk             128\n");
        assert_eq!(table(&["kernel", "arch"], &[]), "kernel  arch\n");
        let rows = [["k", "352"], ["k", "-"], ["k", "8+"]].map(|row| row.map(str::to_string).to_vec());
        assert_eq!(
            table(&["kernel", "constant"], &rows),
            "kernel  constant\nk            352\nk              -\nk             8+\n"
        );
    }
}
