//! The page that `cargo ptx report` writes: one HTML file with all that a build knows of its kernels.
//!
//! The page's text and its behaviour are in `page.html`, `page.css` and `page.js`; the figures stand in it as JSON.

mod code;
mod mix;
mod occupancy;
mod panics;

use std::path::{Path, PathBuf};

use ptx_codegen::ptx_text;
use ptx_codegen::report::{Kernel, Report, Resources};
use serde::Serialize;

use crate::extract;
use code::{Files, Place};
use mix::Share;
use occupancy::Point;
use panics::{Constants, Panic};

const HTML: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// What was built for one arch.
#[derive(Clone, Debug)]
pub struct Built {
    /// As in options.
    pub arch: String,
    /// The whole file.
    pub ptx: String,
    /// What nvdisasm says of the cubin; none where there is no such tool.
    pub sass: Option<String>,
}

/// All that the page shows.
#[derive(Serialize)]
struct Page<'a> {
    package: &'a str,
    profile: &'a str,
    version: &'a str,
    llvm: &'a str,
    ptxas: Option<&'a str>,
    /// Whether there is machine code.
    sass: bool,
    sources: Vec<Source>,
    functions: Vec<Function<'a>>,
}

/// A source file of the package.
#[derive(Serialize)]
struct Source {
    path: String,
    lines: Vec<String>,
}

/// A kernel, or a function that kernels call, for one arch.
#[derive(Serialize)]
struct Function<'a> {
    name: String,
    arch: &'a str,
    /// Of kernels alone.
    kernel: Option<Head<'a>>,
    resources: Option<&'a Resources>,
    occupancy: Vec<Point>,
    mix: Vec<Share>,
    panics: Vec<Panic>,
    ptx: Vec<Line>,
    sass: Vec<Line>,
}

#[derive(Serialize)]
struct Head<'a> {
    path: &'a str,
    signature: String,
    place: String,
}

/// A line of code, and the number of the source file and the line that it is shown beside.
#[derive(Serialize)]
struct Line(String, Option<Place>);

/// The page. `profile` and `folder` are the package's; files below it are shown, what was inlined into them from elsewhere
/// stands at the line that used it.
pub fn html(report: &Report, builts: &[Built], profile: &str, folder: &Path) -> String {
    let mut files = Files::default();
    let mut parts = Vec::new();
    for built in builts {
        let constants = Constants::of(&built.ptx);
        for definition in ptx_text::definitions(&built.ptx) {
            let name = definition.function.name;
            let ptx = code::ptx(definition.text, &built.ptx, &mut files);
            let section = built.sass.as_deref().and_then(|sass| extract::sass(sass, name));
            let sass = section.map_or_else(Vec::new, |section| code::sass(section, &mut files));
            parts.push((built, definition.function, ptx, sass, constants.panics(definition.text)));
        }
    }
    let mut sources = Sources::of(&files, folder);
    let mut functions = Vec::new();
    for (built, function, ptx, sass, panics) in parts {
        let kernel = report.kernel(function.name).filter(|_| function.is_kernel);
        let mut placed = |lines: Vec<code::Line>| -> Vec<Line> {
            lines.into_iter().map(|line| Line(line.text, sources.place(&line.places))).collect()
        };
        let mix = mix::of(sass.iter().filter_map(|line| code::opcode(&line.text)));
        let (ptx, sass) = (placed(ptx), placed(sass));
        if kernel.is_none() && ptx.iter().all(|Line(_, place)| place.is_none()) {
            // Of `core`, or of a dependency: nothing here to stand beside.
            continue;
        }
        let resources = kernel.and_then(|kernel| kernel.resources.get(&built.arch));
        functions.push(Function {
            name: match kernel {
                Some(kernel) => kernel.name.clone(),
                None => format!("{:#}", rustc_demangle::demangle(function.name)),
            },
            arch: &built.arch,
            kernel: kernel.map(head),
            resources,
            occupancy: resources.map_or_else(Vec::new, |used| occupancy::curve(&built.arch, used)),
            mix,
            panics,
            ptx,
            sass,
        });
    }
    // Kernels first, in their order.
    functions.sort_by_key(|function| function.kernel.is_none());
    let page = Page {
        package: &report.name,
        profile,
        version: &report.version,
        llvm: &report.llvm,
        ptxas: report.ptxas.as_deref(),
        sass: builts.iter().any(|built| built.sass.is_some()),
        sources: sources.used,
        functions,
    };
    // A `<` could end the script that it stands in.
    let data = serde_json::to_string(&page).expect("plain data").replace('<', "\\u003c");
    let title = report.name.replace('&', "&amp;").replace('<', "&lt;");
    // The figures last: whatever stands in them is no place of the page.
    HTML.replace("{title}", &title).replace("{css}", CSS).replace("{js}", JS).replace("{data}", &data)
}

fn head(kernel: &Kernel) -> Head<'_> {
    let params: Vec<String> = kernel.params.iter().map(|p| format!("{}: {}", p.name, p.rust_type)).collect();
    Head {
        path: &kernel.path,
        signature: format!("{}({})", kernel.name, params.join(", ")),
        place: kernel.span.to_string(),
    }
}

/// The files that are shown.
struct Sources {
    /// By number, what is left of the path below the package's folder; none of those elsewhere.
    own: Vec<Option<PathBuf>>,
    folder: PathBuf,
    /// Those that a line of code came from.
    used: Vec<Source>,
}

impl Sources {
    fn of(files: &Files, folder: &Path) -> Self {
        let below = |path: &String| {
            let path = folder.join(path);
            // What is built there is no source of the package's.
            let below = path.strip_prefix(folder).ok().filter(|below| !below.starts_with("target"))?;
            Some(below.to_path_buf())
        };
        Self { own: files.paths.iter().map(below).collect(), folder: folder.into(), used: Vec::new() }
    }

    /// The innermost place in a file that is shown.
    fn place(&mut self, places: &[Place]) -> Option<Place> {
        places.iter().find_map(|(file, line)| {
            let path = self.own.get(*file)?.clone()?;
            let shown = path.display().to_string();
            let known = self.used.iter().position(|source| source.path == shown);
            let number = known.or_else(|| {
                let text = std::fs::read_to_string(self.folder.join(&path)).ok()?;
                self.used.push(Source { path: shown, lines: text.lines().map(str::to_string).collect() });
                Some(self.used.len() - 1)
            })?;
            (*line as usize <= self.used[number].lines.len()).then_some((number, *line))
        })
    }
}

#[cfg(test)]
mod tests;
