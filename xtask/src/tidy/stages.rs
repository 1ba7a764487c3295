//! The architecture page lists the pipeline's phases and their stages as the compiler calls them, in that order.
//!
//! A *stage* is a call `module::function(…)` of a module that the table FLOORS has on the floors of `STAGES`. A
//! *phase* is a function of `driver.rs` or `phases/` that calls stages itself and that is called, straight or by
//! functions that call none, from `link`. What a phase calls of its helpers in these files counts as its own, at the
//! place of that call. A file of `phases/` may call its phase `run`: then it has the file's name.
//!
//! Every stage is called by `time!`, which notes how long it takes: what is not is left out of `--timings`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use syn::visit::{self, Visit};

use super::modules::is_test;
use super::pages::outside_code;
use super::tables::{ARCHITECTURE, COMPILER, FLOORS, MAX_ARCHITECTURE_LINES, STAGES};
use super::tree::{Source, Tree};

/// A phase and its stages, as `module::function`.
type Phase = (String, Vec<String>);

pub fn check(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.sources.iter().find(|source| source.path == Path::new(ARCHITECTURE)) else {
        return vec![format!("{ARCHITECTURE} is not there")];
    };
    let floors = FLOORS.iter().filter(|(name, _)| STAGES.contains(name));
    let modules: BTreeSet<&str> = floors.flat_map(|(_, modules)| modules.iter().copied()).collect();
    let mut findings = match called(Path::new(COMPILER), &modules, &tree.sources) {
        Ok(called) => differences(&listed(&page.text), &called),
        Err(error) => vec![format!("{error:#}")],
    };
    let lines = page.text.lines().count();
    if lines > MAX_ARCHITECTURE_LINES {
        findings.push(format!("{ARCHITECTURE}: {lines} lines, {MAX_ARCHITECTURE_LINES} at most"));
    }
    findings
}

fn differences(listed: &[Phase], called: &[Phase]) -> Vec<String> {
    let names = |phases: &[Phase]| phases.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(", ");
    if names(listed) != names(called) {
        return vec![format!("{ARCHITECTURE} has the phases {}; `link` calls {}", names(listed), names(called))];
    }
    let pairs = listed.iter().zip(called).filter(|(listed, called)| listed != called);
    pairs
        .map(|((name, listed), (_, called))| {
            format!("{ARCHITECTURE}: {name} is {}; its function calls {}", listed.join(", "), called.join(", "))
        })
        .collect()
}

/// The rows of the page's table whose head begins with `| Phase | Stages |`; stages are what has `::` of what is marked
/// as code.
fn listed(page: &str) -> Vec<Phase> {
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
    };
    let is_head = |line: &str| {
        let head = cells(line);
        head.len() >= 2 && head[0].eq_ignore_ascii_case("phase") && head[1].eq_ignore_ascii_case("stages")
    };
    let table = outside_code(page).map(|(_, line)| line).skip_while(|line| !is_head(line)).skip(2);
    let row = |line: &str| {
        let cells = cells(line);
        let stages = cells[1].split('`').skip(1).step_by(2).filter(|code| code.contains("::"));
        (cells[0].trim_matches(['`', '*']).to_string(), stages.map(str::to_string).collect())
    };
    // A row of one cell only divides those that are worked once from those for each arch.
    let rows = table.take_while(|line| line.trim_start().starts_with('|')).filter(|line| cells(line).len() > 1);
    rows.map(row)
        .filter(|(name, stages): &Phase| !(name.is_empty() || name.contains(' ') && stages.is_empty()))
        .collect()
}

/// The phases that `link` comes to, each with the stages that it calls.
fn called(root: &Path, modules: &BTreeSet<&str>, sources: &[Source]) -> Result<Vec<Phase>> {
    let ours = |path: &Path| path == root.join("driver.rs") || path.starts_with(root.join("phases"));
    let mut functions = Functions { modules, found: Vec::new(), untimed: Vec::new(), stem: String::new() };
    for source in sources.iter().filter(|source| source.is("rs") && ours(&source.path)) {
        functions.stem = source.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = syn::parse_file(&source.text).with_context(|| source.path.display().to_string())?;
        functions.visit_file(&file);
    }
    let untimed: Vec<_> = functions.untimed.iter().filter_map(|call| functions.stage(call)).collect();
    ensure!(
        untimed.is_empty(),
        "{} is called without `time!`, so that `--timings` does not know it",
        untimed.join(", ")
    );
    let start = functions.named(&["link"]).context("no function `link` in driver.rs")?;
    let mut phases = Vec::new();
    functions.phases(start, &mut BTreeSet::new(), &mut phases);
    ensure!(!phases.is_empty(), "`link` in driver.rs comes to no phase");
    Ok(phases)
}

/// A function of the pipeline's files, with its calls in order of evaluation.
struct Function {
    stem: String,
    name: String,
    calls: Vec<Vec<String>>,
}

struct Functions<'a> {
    modules: &'a BTreeSet<&'a str>,
    found: Vec<Function>,
    /// Calls that no `time!` holds.
    untimed: Vec<Vec<String>>,
    stem: String,
}

impl Functions<'_> {
    fn stage(&self, call: &[String]) -> Option<String> {
        let call = if call.first().is_some_and(|first| first == "crate") { &call[1..] } else { call };
        (call.len() == 2 && self.modules.contains(&*call[0])).then(|| call.join("::"))
    }

    /// The function that the path names: by its file, or by its name where one has it.
    fn named<S: AsRef<str>>(&self, call: &[S]) -> Option<&Function> {
        let (name, before) = call.split_last()?;
        let named = || self.found.iter().filter(|function| function.name == name.as_ref());
        let of_file = before.last().and_then(|file| named().find(|function| function.stem == file.as_ref()));
        let only = named().next().filter(|_| named().count() == 1);
        of_file.or(only)
    }

    fn phases<'f>(&'f self, function: &'f Function, seen: &mut BTreeSet<&'f str>, phases: &mut Vec<Phase>) {
        if function.calls.iter().any(|call| self.stage(call).is_some()) {
            let mut stages = Vec::new();
            self.stages(function, &mut BTreeSet::new(), &mut stages);
            let name = if function.name == "run" { &function.stem } else { &function.name };
            phases.push((name.clone(), stages));
            return;
        }
        for next in function.calls.iter().filter_map(|call| self.named(call)) {
            if seen.insert(&next.name) || next.name == "run" {
                self.phases(next, seen, phases);
            }
        }
    }

    fn stages<'f>(&'f self, function: &'f Function, seen: &mut BTreeSet<&'f str>, stages: &mut Vec<String>) {
        if !seen.insert(&function.name) {
            return;
        }
        for call in &function.calls {
            if let Some(stage) = self.stage(call) {
                stages.push(stage);
            } else if let Some(helper) = self.named(call) {
                self.stages(helper, seen, stages);
            }
        }
    }

    fn add(&mut self, name: &syn::Ident, block: &syn::Block) {
        let mut calls = Calls::default();
        calls.visit_block(block);
        self.untimed.append(&mut calls.untimed);
        self.found.push(Function { stem: self.stem.clone(), name: name.to_string(), calls: calls.found });
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig.ident, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig.ident, &item.block);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}

#[derive(Default)]
struct Calls {
    found: Vec<Vec<String>>,
    untimed: Vec<Vec<String>>,
    /// Whether the next call is that of `time!`.
    timed: bool,
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let timed = std::mem::take(&mut self.timed);
        // Arguments first, as they are worked out first.
        visit::visit_expr_call(self, call);
        if let syn::Expr::Path(function) = &*call.func {
            let path: Vec<_> = function.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            if !timed {
                self.untimed.push(path.clone());
            }
            self.found.push(path);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // What does not parse is no call, and the compiler says so.
        if call.path.is_ident("time")
            && let Ok(expression) = call.parse_body::<syn::Expr>()
        {
            let mut inner = Self { timed: true, ..Self::default() };
            inner.visit_expr(&expression);
            self.found.append(&mut inner.found);
            self.untimed.append(&mut inner.untimed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::{source, tree};

    const PAGE: &str = "# Architecture\n\n| Phase | Stages | Why |\n|---|---|---|\n| read | `input::read`, `input::link` | x |\n\
                        | *for each arch:* | | |\n| `emit` | `emit::emit`: PTX; `debuginfo::rewrite` | |\n\nText.\n";

    fn phases(files: &[(&str, &str)]) -> Vec<Phase> {
        let modules = BTreeSet::from(["input", "emit", "debuginfo"]);
        let sources: Vec<Source> = files.iter().map(|(path, text)| source(path, text)).collect();
        called(Path::new("c"), &modules, &sources).expect("it has a pipeline")
    }

    const DRIVER: &str =
        "pub fn link(o: &O) -> R { let p = phases::read(o)?; for a in o { each(a)?; } publish::all(p) }
        fn each(a: A) -> R { let x = ForArch::new(a); phases::emit::run(x) }";

    #[test]
    fn the_page_and_the_calls_agree() {
        let files = [
            ("c/driver.rs", DRIVER),
            (
                "c/phases/mod.rs",
                "pub fn read(o: &O) -> P { let f = time!(input::read(o))?; check(&f); time!(input::link(f)) }\nfn check(f: &F) {}",
            ),
            (
                "c/phases/emit.rs",
                "pub fn run(x: X) -> R { helper(time!(crate::emit::emit(x))?) }\nfn helper(t: T) -> R { time!(debuginfo::rewrite(t)) }",
            ),
            ("c/other.rs", "fn link() { emit::never() }"),
        ];
        assert_eq!(listed(PAGE), phases(&files));
        assert!(differences(&listed(PAGE), &phases(&files)).is_empty());
    }

    #[test]
    fn what_differs_is_named() {
        let all = "fn read() { time!(input::link(time!(input::read()))) }\nfn emit() { time!(debuginfo::rewrite()); time!(emit::emit()) }";
        let driver = format!("pub fn link() {{ read(); emit() }}\n{all}");
        let expected = "docs/src/architecture.md: emit is emit::emit, debuginfo::rewrite; its function calls \
                        debuginfo::rewrite, emit::emit";
        assert_eq!(differences(&listed(PAGE), &phases(&[("c/driver.rs", &driver)])), [expected]);
        let driver = format!("pub fn link() {{ emit(); read() }}\n{all}");
        let expected = "docs/src/architecture.md has the phases read, emit; `link` calls emit, read";
        assert_eq!(differences(&listed(PAGE), &phases(&[("c/driver.rs", &driver)])), [expected]);
    }

    #[test]
    fn a_stage_that_is_not_timed_is_named() {
        let modules = BTreeSet::from(["input", "emit"]);
        let untimed = |text: &str| {
            let error = called(Path::new("c"), &modules, &[source("c/driver.rs", text)]).err();
            error.map(|error| error.to_string())
        };
        assert_eq!(
            untimed("fn link() { time!(phases::read()) }\nfn read() { time!(input::read()); other::call() }"),
            None
        );
        let error = untimed("fn link() { time!(emit::emit(input::read())) }").expect("`input::read` is not timed");
        assert!(error.starts_with("input::read is called without `time!`"), "{error}");
    }

    #[test]
    fn the_page_is_there_and_short() {
        assert_eq!(check(&tree(&[])), ["docs/src/architecture.md is not there"]);
        let driver = format!("{COMPILER}/driver.rs");
        let long = format!("{PAGE}{}", "\n".repeat(MAX_ARCHITECTURE_LINES));
        let findings = check(&tree(&[(ARCHITECTURE, &long), (&driver, "fn link() {}")]));
        let expected = ["`link` in driver.rs comes to no phase", "docs/src/architecture.md: 69 lines, 60 at most"];
        assert_eq!(findings, expected);
    }
}
