//! What nvlink says, in terms of Rust source lines and of the files that the user named.

use std::collections::BTreeMap;
use std::path::Path;

use object::{Object as _, ObjectSymbol as _};

use super::nvlink::Failed;
use super::{Input, Kind, Step};
use crate::callers::demangled;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Failure};
use crate::ptxas::kernel_of_unknown_stack;
use crate::verify::Imports;

/// Why there is nothing linked.
pub fn failure(failed: &Failed, step: &Step<'_>, imports: &Imports) -> Failure {
    match failed {
        Failed::Said(log) => said(log, step, imports),
        Failed::Ended => endless(step).into(),
    }
}

fn endless(step: &Step<'_>) -> Diagnostic {
    let error = Diagnostic::error(
        Code::LinkFailed,
        format!("nvlink did not come to an end for {}, and was stopped", step.job.arch),
    );
    let linked = step.owners.values().map(|path| path.display().to_string());
    linked
        .fold(error, |error, path| error.note(format!("it was to link with {path}")))
        .help("a damaged file does that: make the file again; leave one out after the other to find which it is")
}

/// What nvlink said, as one error a symbol or file.
fn said(log: &str, step: &Step<'_>, imports: &Imports) -> Failure {
    let mut problems: BTreeMap<String, Diagnostic> = BTreeMap::new();
    for line in log.lines().filter(|line| line.contains("error") || line.contains("fatal")) {
        let Some(complaint) = Complaint::of(line) else { continue };
        let key = complaint.symbol.map_or_else(|| complaint.file.to_string(), str::to_string);
        problems.entry(key).or_insert_with(|| step.explain(&complaint, log, imports));
    }
    if problems.is_empty() {
        let first = log.lines().find(|line| line.contains("fatal") || line.contains("error")).or(log.lines().next());
        let reason = first.map_or("it said nothing", |line| line.split_once(" : ").map_or(line, |(_, rest)| rest));
        let what = if reason.contains("libnvvm") { Code::LinkTool } else { Code::LinkFailed };
        let diagnostic = Diagnostic::error(what, format!("nvlink failed for {}: {}", step.job.arch, reason.trim()))
            .note(log.trim().to_string())
            .help("see that all files come from one CUDA release; `cargo ptx doctor` shows which tools were found");
        return diagnostic.into();
    }
    problems.into_values().collect::<Vec<_>>().into()
}

/// What nvlink warns of.
pub fn warnings(log: &str, step: &Step<'_>) -> Vec<Diagnostic> {
    // Which stacks are not known is in the table of resources.
    let lines = log.lines().filter(|line| kernel_of_unknown_stack(line).is_none());
    let lines = lines.filter_map(|line| line.split_once("nvlink warning : "));
    let warning = |text: &str| {
        let text = step.owners.iter().fold(text.to_string(), |text, (file, owner)| {
            text.replace(&file.display().to_string(), &owner.display().to_string())
        });
        Diagnostic::warning(Code::LinkFailed, format!("nvlink warns: {text}"))
    };
    lines.map(|(_, text)| warning(text)).collect()
}

/// One of nvlink's errors, which are all of one shape: `Undefined reference to 'foo' in 'a.o'`,
/// `Multiple definition of 'foo' in 'b.o', first defined in 'a.o'`.
struct Complaint<'a> {
    what: What,
    symbol: Option<&'a str>,
    file: &'a str,
    other: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Undefined,
    Duplicate,
    Prototype,
    Size,
    Arch,
    Unreadable,
}

impl<'a> Complaint<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let shapes = [
            ("Undefined reference to ", What::Undefined),
            ("Multiple definition of ", What::Duplicate),
            ("Prototype doesn't match for ", What::Prototype),
            ("Size doesn't match for ", What::Size),
            ("Input file ", What::Arch),
            ("Could not open input file ", What::Unreadable),
            ("Could not find fatbin in ", What::Unreadable),
        ];
        let (words, what) = shapes.into_iter().find(|(words, _)| line.contains(words))?;
        let (_, rest) = line.split_once(words)?;
        let mut names = rest.split('\'').skip(1).step_by(2);
        let symbol = if matches!(what, What::Arch | What::Unreadable) { None } else { Some(names.next()?) };
        Some(Self { what, symbol, file: names.next()?, other: names.next().unwrap_or_default() })
    }
}

impl Step<'_> {
    fn explain(&self, complaint: &Complaint<'_>, log: &str, imports: &Imports) -> Diagnostic {
        let symbol = complaint.symbol.unwrap_or_default();
        let name = demangled(symbol);
        let import = imports.get(symbol);
        let (file, other) = (self.owner(complaint.file), self.owner(complaint.other));
        let failed = |message: String| Diagnostic::error(Code::LinkFailed, message);
        match complaint.what {
            What::Undefined => match import {
                Some(import) if self.is_rust(complaint.file) => self.undefined(import.undefined(symbol), symbol, log),
                _ => {
                    let message = format!("undefined symbol: `{name}`");
                    let error = Diagnostic::error(Code::UndefinedSymbol, message).note(format!("it is used in {file}"));
                    self.undefined(error, symbol, log).help(
                        "if it is a Rust function, export it: `#[unsafe(no_mangle)] pub extern \"C\" fn` for `extern \"C\"` in CUDA C++",
                    )
                }
            },
            What::Duplicate => failed(format!("`{name}` is defined twice"))
                .note(format!("in {other} and in {file}"))
                .help("rename one of them, or leave one of the files out; in CUDA C++, `static` keeps a function to its file"),
            What::Prototype => failed(format!("`{name}` is declared with another signature than it is defined with"))
                .at(import.and_then(|import| import.span.clone()), "used here")
                .note(format!("nvlink compared it with {file}"))
                .note(match import {
                    Some(_) => "the Rust declaration in `extern` and the definition in CUDA C++ differ",
                    None => "the declaration in CUDA C++ and the definition differ",
                })
                .help("give both the same parameters and result; `extern \"C\"` names do not tell types apart"),
            What::Size => failed(format!("`{name}` is declared with another size than it is defined with"))
                .at(import.and_then(|import| import.span.clone()), "used here")
                .note(format!("in {other} and in {file}"))
                .help("give both the same type"),
            What::Arch => Diagnostic::error(
                Code::LinkInput,
                format!("cannot link with {file}: it has no code for {}", self.job.arch),
            )
            .help(self.for_this_arch()),
            What::Unreadable => Diagnostic::error(Code::LinkInput, format!("cannot link with {file}: nvlink cannot read it"))
                .note(log.trim().to_string())
                .help("make it again with the nvcc that `cargo ptx doctor` shows"),
        }
    }

    /// Adds what was linked with and why that may not have helped.
    fn undefined(&self, mut error: Diagnostic, symbol: &str, log: &str) -> Diagnostic {
        let linked: Vec<String> = self.owners.values().map(|path| path.display().to_string()).collect();
        error = error.note(format!(
            "none of the files that were linked for {} defines it: {}",
            self.job.arch,
            linked.join(", ")
        ));
        // "SM Arch ('sm_75') not found in 'twin.o'"
        for line in log.lines().filter(|line| line.contains("SM Arch (")) {
            let file = line.rsplit('\'').nth(1).unwrap_or_default();
            error = error
                .note(format!("{} has no code for {}", self.owner(file), self.job.arch))
                .help(self.for_this_arch());
        }
        for Input { path, kind } in &self.left_out {
            if let Kind::Cubin { sm } = kind {
                error = error.note(format!("{} was left out: it is code for sm_{sm}", path.display()));
            }
        }
        match self.nearly(symbol) {
            Some((file, found)) => error.help(format!(
                "{file} defines `{}`, whose symbol is `{found}`: declare it `extern \"C\"` there, or by its C++ name here",
                demangled(&found)
            )),
            None => error.help("name the file that defines it: `link = [\"…\"]` in `[package.metadata.ptx]`, or `--link FILE`")
                .help("in CUDA C++ it must be `__device__`, not `static` and not `inline`"),
        }
    }

    fn for_this_arch(&self) -> String {
        let sm = self.job.arch.name().trim_start_matches("sm_");
        format!(
            "compile it with `nvcc -dc -gencode arch=compute_{sm},code=sm_{sm}`, or give its `.cu` file, which is compiled for every arch"
        )
    }

    /// A function of the same base name that the objects at hand define, and its file.
    fn nearly(&self, symbol: &str) -> Option<(String, String)> {
        let base = |name: &str| {
            let name = demangled(name);
            name.split('(').next().unwrap_or_default().rsplit("::").next().unwrap_or_default().to_string()
        };
        let wanted = base(symbol);
        self.owners.iter().find_map(|(file, owner)| {
            let bytes = std::fs::read(file).ok()?;
            let cubin = object::File::parse(&*bytes).ok()?;
            let names = cubin.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition());
            let found =
                names.filter_map(|symbol| symbol.name().ok().map(str::to_string)).find(|name| base(name) == wanted)?;
            Some((owner.display().to_string(), found))
        })
    }

    fn is_rust(&self, file: &str) -> bool {
        self.files.first().is_some_and(|rust| rust == Path::new(file))
    }

    /// The file that the user named, for one that nvlink names; with the member of an archive.
    fn owner(&self, file: &str) -> String {
        if self.is_rust(file) {
            return "the Rust code".into();
        }
        // "libx.a:x.o"
        let (path, member) = match file.rsplit_once(".a:") {
            Some((archive, member)) => (format!("{archive}.a"), Some(member)),
            None => (file.to_string(), None),
        };
        let path = self.owners.get(Path::new(&path)).map_or(path, |owner| owner.display().to_string());
        member.map_or(path.clone(), |member| format!("{path} ({member})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvlinks_errors_are_taken_apart() {
        for (line, symbol, file, other) in [
            ("nvlink error   : Undefined reference to '_Z3fooii' in 'k.o'", Some("_Z3fooii"), "k.o", ""),
            (
                "nvlink error   : Multiple definition of 'cfoo' in 'a.a:b.o', first defined in 'c.o'",
                Some("cfoo"),
                "a.a:b.o",
                "c.o",
            ),
            (
                "nvlink error   : Prototype doesn't match for 'cfoo' in 'p.o', first defined in 'p.o'",
                Some("cfoo"),
                "p.o",
                "p.o",
            ),
            ("nvlink error   : Size doesn't match for 'tab' in 'g2', first specified in 'g1'", Some("tab"), "g2", "g1"),
            ("nvlink fatal   : Input file 't.cubin' arch does not match target 'sm_75'", None, "t.cubin", "sm_75"),
            ("nvlink fatal   : Could not open input file 'g.o'", None, "g.o", ""),
        ] {
            let found = Complaint::of(line).unwrap();
            assert_eq!((found.symbol, found.file, found.other), (symbol, file, other), "{line}");
        }
        assert!(Complaint::of("nvlink fatal   : merge_elf failed").is_none());
    }
}
