//! Cases for a debugger and a sanitizer: what stands in `//@` lines, and whether what a tool said is what it says.
//!
//! A case is a Rust file of kernels, run under cuda-gdb or compute-sanitizer. Its directives, each on a line of its own:
//!
//! - `//@ launch: kernel<<<2, 32>>>(u32 5, slice f32 64)`: what is launched, once; see [`Launch`].
//! - `//@ cuda-gdb-command: …` is given to cuda-gdb, one after the other.
//! - `//@ cuda-gdb-check: …` is a line of what the command before it said, see [`matches`]; several are lines in this order.
//! - `//@ cuda-gdb-not: …` is no line of that.
//! - `//@ cuda-gdb-names: a b` are the variables that it listed, as `a = …`, all of them and no other, in any order.
//! - `//@ cuda-gdb-unordered: …`, as `cuda-gdb-check`, in any order.
//! - `//@ cuda-gdb-printers: on` loads the pretty printers, the file [`PRINTERS`] beside the case.
//! - `//@ compute-sanitizer: --tool racecheck` runs the case under compute-sanitizer with these options.
//! - `//@ compute-sanitizer-check: …` is a line of what it said; several are lines in this order.
//! - `//@ profile: release` and `//@ debug-level: line-tables` say how it is compiled; `dev` and `full` by default.
//! - `//@ aux-build: file.rs` compiles `auxiliary/file.rs` first, as a crate that the case uses.
//!
//! A line of the case that ends in `// #break` gets a breakpoint before the first command. A line that ends in `// #name`
//! has a name: `{#name}` stands for its number in commands and checks, `{#break}` for that of the first breakpoint.

use std::fmt;

/// The pretty printers' file.
pub const PRINTERS: &str = "ptx.py";

/// The directives of a case.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// What is launched.
    pub launch: Launch,
    /// The lines with a breakpoint, from 1.
    pub breakpoints: Vec<usize>,
    /// What cuda-gdb is told, and what it must say.
    pub commands: Vec<Command>,
    /// Whether cuda-gdb has the pretty printers.
    pub printers: bool,
    /// What compute-sanitizer is told, and what it must say.
    pub sanitizer: Option<Sanitizer>,
    /// Crates to compile first.
    pub auxiliary: Vec<String>,
    /// A cargo profile.
    pub profile: String,
    /// Whether the case is compiled with line tables and nothing else.
    pub line_tables: bool,
}

/// A command to cuda-gdb, and what is checked of what it says.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// As typed at cuda-gdb's prompt: `info locals`.
    pub text: String,
    /// What it must say.
    pub checks: Vec<Check>,
}

/// What must be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// A line, after those of the checks before.
    Line(String),
    /// A line, anywhere.
    Somewhere(String),
    /// No such line.
    Not(String),
    /// Just these variables.
    Names(Vec<String>),
}

/// A run of compute-sanitizer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sanitizer {
    /// Its options, one word each: `--tool`, `racecheck`.
    pub options: Vec<String>,
    /// What it must say.
    pub checks: Vec<Check>,
}

/// A launch: `kernel<<<grid, block>>>(arguments)`, where grid and block are one number or `(x, y, z)`, and an argument is a
/// type and a value:
///
/// - `u8`, `u16`, `u32`, `u64`, `i8`, `i16`, `i32`, `i64`, `f32`, `f64`, `bool`, `char`, as in `i32 -5`;
/// - `slice T n`: n elements of a number type in the device's memory, with the values 0, 1, 2, …, as pointer and length;
/// - `buffer T n`: their address alone;
/// - `leaked T n`: the same, and they are never freed;
/// - `bytes 07 00 00 00`: a value of another type, by its bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// The kernel's symbol.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// What it is given.
    pub args: Vec<Arg>,
}

impl Eq for Launch {}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A value, by its bytes.
    Value(Vec<u8>),
    /// Bytes in the device's memory; its address, and the number of elements if it is a slice.
    Memory {
        /// What is there at first.
        bytes: Vec<u8>,
        /// The number of elements, where it is an argument too.
        len: Option<u64>,
        /// Whether nobody frees it.
        leaked: bool,
    },
}

/// What is wrong with a case.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Case {
    /// Reads a case.
    pub fn parse(source: &str) -> Result<Self, Fault> {
        let mut case = Self { profile: "dev".into(), ..Self::default() };
        let names: Vec<(&str, usize)> =
            (1..).zip(source.lines()).filter_map(|(n, line)| name(line).map(|name| (name, n))).collect();
        case.breakpoints = names.iter().filter(|(name, _)| *name == "break").map(|(_, line)| *line).collect();
        for (number, line) in (1..).zip(source.lines()) {
            let fault = |text: String| Fault(format!("line {number}: {text}"));
            let Some(directive) = line.trim_start().strip_prefix("//@") else { continue };
            let (key, value) =
                directive.split_once(':').ok_or_else(|| fault("a directive is `//@ name: value`".into()))?;
            let value = with_lines(value.trim(), &names).map_err(fault)?;
            case.add(key.trim(), value).map_err(|text| Fault(format!("line {number}: {text}")))?;
        }
        if case.launch.kernel.is_empty() {
            return Err(Fault("no `//@ launch: kernel<<<grid, block>>>(…)`".into()));
        }
        if case.checks() == 0 {
            return Err(Fault("nothing is checked".into()));
        }
        Ok(case)
    }

    /// How many things are checked.
    pub fn checks(&self) -> usize {
        self.commands.iter().map(|command| command.checks.len()).sum::<usize>()
            + self.sanitizer.as_ref().map_or(0, |sanitizer| sanitizer.checks.len())
    }

    fn add(&mut self, key: &str, value: String) -> Result<(), String> {
        match key {
            "launch" => self.launch = Launch::parse(&value)?,
            "cuda-gdb-command" => self.commands.push(Command { text: value, checks: Vec::new() }),
            "cuda-gdb-check" | "cuda-gdb-not" | "cuda-gdb-names" | "cuda-gdb-unordered" => {
                let command = self.commands.last_mut().ok_or("no `cuda-gdb-command` stands before this check")?;
                command.checks.push(match key {
                    "cuda-gdb-not" => Check::Not(value),
                    "cuda-gdb-names" => Check::Names(value.split_whitespace().map(Into::into).collect()),
                    "cuda-gdb-unordered" => Check::Somewhere(value),
                    _ => Check::Line(value),
                });
            }
            "cuda-gdb-printers" => match value.as_str() {
                "on" => self.printers = true,
                other => return Err(format!("`{other}` is not `on`")),
            },
            "compute-sanitizer" => {
                let options = value.split_whitespace().map(Into::into).collect();
                self.sanitizer = Some(Sanitizer { options, checks: Vec::new() });
            }
            "compute-sanitizer-check" => {
                let run = self.sanitizer.as_mut().ok_or("no `compute-sanitizer` stands before this check")?;
                run.checks.push(Check::Line(value));
            }
            "aux-build" => self.auxiliary.push(value),
            "profile" => self.profile = value,
            "debug-level" => match value.as_str() {
                "full" => self.line_tables = false,
                "line-tables" => self.line_tables = true,
                other => return Err(format!("`{other}` is no debug level for a case: full, line-tables")),
            },
            other => return Err(format!("there is no directive `{other}`")),
        }
        Ok(())
    }
}

/// The name that a line ends in, as `// #name`.
fn name(line: &str) -> Option<&str> {
    let (_, name) = line.rsplit_once("// #")?;
    let name = name.trim_end();
    (!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
}

/// The text with numbers for `{#name}`.
fn with_lines(text: &str, names: &[(&str, usize)]) -> Result<String, String> {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{#") {
        let (name, after) = after.split_once('}').ok_or("`{#` without `}`")?;
        let (_, line) =
            names.iter().find(|(other, _)| *other == name).ok_or(format!("no line ends in `// #{name}`"))?;
        done += &format!("{before}{line}");
        rest = after;
    }
    Ok(done + rest)
}

impl Launch {
    /// Reads a launch.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}` is not `kernel<<<grid, block>>>(arguments)`");
        let (kernel, rest) = text.split_once("<<<").ok_or_else(form)?;
        let (shape, args) = rest.split_once(">>>").ok_or_else(form)?;
        let args = args.trim().strip_prefix('(').and_then(|args| args.strip_suffix(')')).ok_or_else(form)?;
        let shape = split(shape);
        let [grid, block] = shape.as_slice() else { return Err(form()) };
        let args = split(args).into_iter().filter(|arg| !arg.is_empty()).map(Arg::parse).collect::<Result<_, _>>()?;
        Ok(Self { kernel: kernel.trim().into(), grid: dimensions(grid)?, block: dimensions(block)?, args })
    }
}

/// Splits at commas outside parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let parts = text.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

fn dimensions(text: &str) -> Result<[u32; 3], String> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let mut dimensions = [1; 3];
    let parts: Vec<_> = inner.split(',').map(str::trim).collect();
    if parts.len() > dimensions.len() {
        return Err(format!("`{text}` has more than three dimensions"));
    }
    for (dimension, part) in dimensions.iter_mut().zip(parts) {
        *dimension = part.parse().map_err(|_| format!("`{part}` is no number of blocks or threads"))?;
    }
    Ok(dimensions)
}

impl Arg {
    fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<_> = text.split_whitespace().collect();
        let count = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number of elements"));
        let elements = |ty: &str, n: u64| (0..n).map(|i| bytes(ty, &i.to_string())).collect::<Result<Vec<_>, _>>();
        match words.as_slice() {
            [kind @ ("slice" | "buffer" | "leaked"), ty, n] => Ok(Self::Memory {
                bytes: elements(ty, count(n)?)?.concat(),
                len: if *kind == "slice" { Some(count(n)?) } else { None },
                leaked: *kind == "leaked",
            }),
            ["bytes", bytes @ ..] => {
                let byte = |text: &&str| u8::from_str_radix(text, 16).map_err(|_| format!("`{text}` is no byte"));
                Ok(Self::Value(bytes.iter().map(byte).collect::<Result<_, _>>()?))
            }
            [ty, value] => Ok(Self::Value(bytes(ty, value)?)),
            _ => Err(format!("`{text}` is no argument: `u32 5`, `slice f32 64`, `buffer u8 16`, `bytes 07 00`")),
        }
    }
}

/// The bytes of a value.
fn bytes(ty: &str, value: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("`{value}` is no {ty}");
    macro_rules! number {
        ($($name:ident)*) => {
            match ty {
                $(stringify!($name) => value.parse::<$name>().map_err(|_| wrong())?.to_le_bytes().to_vec(),)*
                "bool" => vec![u8::from(value.parse::<bool>().map_err(|_| wrong())?)],
                "char" => u32::from(value.parse::<char>().map_err(|_| wrong())?).to_le_bytes().to_vec(),
                _ => return Err(format!("`{ty}` is no type of an argument")),
            }
        };
    }
    Ok(number!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64))
}

/// Whether a line is what the pattern says: the same text, where `[...]` stands for any text. Space at both ends does not
/// count.
pub fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.trim().split("[...]");
    let Some(mut rest) = line.trim().strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// What of the checks is not so.
pub fn failures(checks: &[Check], said: &str) -> Vec<String> {
    let lines: Vec<_> = said.lines().collect();
    let mut from = 0;
    let mut failures = Vec::new();
    for check in checks {
        match check {
            Check::Line(pattern) => match lines[from..].iter().position(|line| matches(pattern, line)) {
                Some(at) => from += at + 1,
                None => failures.push(format!("no line, or none after those before, is `{pattern}`")),
            },
            Check::Somewhere(pattern) => {
                if !lines.iter().any(|line| matches(pattern, line)) {
                    failures.push(format!("no line is `{pattern}`"));
                }
            }
            Check::Not(pattern) => {
                failures.extend(
                    lines.iter().filter(|line| matches(pattern, line)).map(|line| format!("`{line}` is there")),
                );
            }
            Check::Names(names) => {
                let (mut listed, mut names) = (listed(&lines), names.clone());
                listed.sort();
                names.sort();
                if listed != names {
                    failures.push(format!("the variables are {}, not {}", listed.join(" "), names.join(" ")));
                }
            }
        }
    }
    failures
}

/// The variables in `name = value` lines.
fn listed(lines: &[&str]) -> Vec<String> {
    let name = |line: &&str| {
        let (name, _) = line.split_once(" = ")?;
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then(|| name.to_string())
    };
    lines.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "\
//@ launch: k<<<2, (8, 4)>>>(u32 5, slice f32 2, buffer u8 3, bytes 07 ff)
//@ aux-build: other.rs
//@ cuda-gdb-command: run
//@ cuda-gdb-check: [...]k[...] at case.rs:{#break}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: a b
pub fn k() { // #break
}
";

    #[test]
    fn directives_are_read() {
        let case = Case::parse(CASE).expect("a case");
        assert_eq!(case.breakpoints, [7]);
        assert_eq!(case.commands[0].checks, [Check::Line("[...]k[...] at case.rs:7".into())]);
        assert_eq!(case.commands[1].checks, [Check::Names(vec!["a".into(), "b".into()])]);
        assert_eq!((case.launch.grid, case.launch.block), ([2, 1, 1], [8, 4, 1]));
        assert_eq!(case.launch.args[0], Arg::Value(vec![5, 0, 0, 0]));
        assert_eq!(
            case.launch.args[1],
            Arg::Memory { bytes: vec![0, 0, 0, 0, 0, 0, 128, 63], len: Some(2), leaked: false }
        );
        assert_eq!(case.launch.args[2], Arg::Memory { bytes: vec![0, 1, 2], len: None, leaked: false });
        assert_eq!(case.launch.args[3], Arg::Value(vec![7, 255]));
        assert_eq!((case.checks(), case.auxiliary.as_slice()), (2, ["other.rs".to_string()].as_slice()));
    }

    #[test]
    fn mistakes_are_told() {
        let fault = |text: &str| Case::parse(text).expect_err("no case").to_string();
        assert_eq!(fault("//@ cuda-gdb-check: a"), "line 1: no `cuda-gdb-command` stands before this check");
        assert_eq!(fault("//@ launched: a"), "line 1: there is no directive `launched`");
        assert_eq!(fault("//@ launch: k<<<1, 1>>>(u9 5)"), "line 1: `u9` is no type of an argument");
        assert_eq!(fault("//@ cuda-gdb-command: tbreak {#here}"), "line 1: no line ends in `// #here`");
        assert_eq!(fault("//@ launch: k<<<1, 1>>>()"), "nothing is checked");
    }

    #[test]
    fn patterns_match_whole_lines() {
        assert!(matches("a = 5", " a = 5 "));
        assert!(!matches("a = 5", "a = 55"));
        assert!(matches("[...] = 5", "$1 = 5"));
        assert!(matches("#0 [...] (n=1) at [...]x.rs:7", "#0  f (n=1) at /y/x.rs:7"));
        assert!(!matches("[...]x.rs:7", "x.rs:77"));
        assert!(matches("a[...]", "a") && !matches("a[...]a", "a"));
    }

    #[test]
    fn checks_are_in_order_and_names_are_all() {
        let line = |text: &str| Check::Line(text.into());
        assert!(failures(&[line("a"), line("b")], "a\nc\nb").is_empty());
        assert_eq!(failures(&[line("b"), line("a")], "a\nc\nb").len(), 1);
        assert!(failures(&[Check::Somewhere("b".into()), Check::Somewhere("a".into())], "a\nb").is_empty());
        assert_eq!(failures(&[Check::Not("[...]c".into())], "a\nc").len(), 1);
        let names = |names: &[&str]| Check::Names(names.iter().map(ToString::to_string).collect());
        let said = "x = 5\ny = Point {x: 1, y: 2}\n";
        assert!(failures(&[names(&["y", "x"])], said).is_empty());
        assert_eq!(failures(&[names(&["x"])], said), ["the variables are x y, not x"]);
    }
}
