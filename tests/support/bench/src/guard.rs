//! The record of the kernels' code: what ptxas made of each kernel for each arch, and what counts as worse.
//!
//! A line of the record is a kernel, an arch, four figures, and the reason for those that were once accepted as worse:
//!
//! ```text
//! ptxas 13.0.88
//!
//! # kernel   arch    registers   stack   loops    code   # accepted
//! saxpy      sm_90          13       0       0     396
//! softmax    sm_90          32       0     151     781   # registers 30 -> 32: exact sums
//! ```

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// The archs that are guarded.
pub const ARCHS: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_120"];

/// What ptxas made of a kernel for an arch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread's stack.
    pub stack: u32,
    /// Instructions in innermost loops ([`crate::sass::loops`]).
    pub loops: u32,
    /// All instructions.
    pub code: u32,
}

/// The names of the figures.
const NAMES: [&str; 4] = ["registers", "stack", "loops", "code"];

/// A kernel and an arch, in the order of the record.
pub type Key = (String, Arch);

/// An arch, in the order of [`ARCHS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arch(usize);

/// All kernels for all archs, as they were when it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The version of ptxas that made the code.
    pub ptxas: String,
    lines: BTreeMap<Key, Line>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    figures: Figures,
    reason: String,
}

/// A figure that is not what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    what: &'static str,
    old: u32,
    new: u32,
}

/// Of what was compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No figure is more than 2 % worse; these are more than 2 % better.
    Good(Vec<Change>),
    /// These are more than 2 % worse.
    Worse(Vec<Change>),
    /// The record has no such line.
    New,
}

impl Arch {
    /// The guarded arch of that name.
    pub fn new(name: &str) -> Option<Self> {
        ARCHS.iter().position(|arch| *arch == name).map(Self)
    }

    /// `sm_90`.
    pub fn name(self) -> &'static str {
        ARCHS[self.0]
    }
}

impl Figures {
    fn all(self) -> [u32; 4] {
        [self.registers, self.stack, self.loops, self.code]
    }

    /// What is more than 2 % larger in `new`.
    ///
    /// Two per cent of a whole number are rounded down: from 49 registers or instructions on, none may be added; from 50 on,
    /// one; from 100 on, two. No byte may be added to the stack.
    pub fn worse(self, new: Self) -> Vec<Change> {
        let figures = NAMES.into_iter().zip(self.all()).zip(new.all());
        let changes = figures.map(|((what, old), new)| Change { what, old, new });
        changes.filter(|change| change.new > change.most()).collect()
    }

    /// Each figure at its best, but for these changes, which are accepted.
    fn tightened(self, new: Self, accepted: &[Change]) -> Self {
        let figure = |what: &str, old: u32, new: u32| {
            if accepted.iter().any(|change| change.what == what) { new } else { old.min(new) }
        };
        Self {
            registers: figure(NAMES[0], self.registers, new.registers),
            stack: figure(NAMES[1], self.stack, new.stack),
            loops: figure(NAMES[2], self.loops, new.loops),
            code: figure(NAMES[3], self.code, new.code),
        }
    }
}

impl Change {
    /// The most that is no worse than the old figure.
    fn most(&self) -> u32 {
        if self.what == "stack" { self.old } else { self.old + self.old / 50 }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.what, self.old, self.new)
    }
}

/// Changes as in `registers 30 -> 32, stack 0 -> 8`.
pub fn list(changes: &[Change]) -> String {
    changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Record {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut record = Self::default();
        for (number, line) in text.lines().enumerate() {
            let (content, reason) = line.split_once('#').unwrap_or((line, ""));
            let fault = |what: &str| format!("line {}: {what}: {line}", number + 1);
            match content.split_whitespace().collect::<Vec<_>>()[..] {
                [] => (),
                ["ptxas", version] => record.ptxas = version.into(),
                [kernel, arch, ref figures @ ..] => {
                    let arch = Arch::new(arch).ok_or_else(|| fault("no guarded arch"))?;
                    let numbers: Vec<u32> = figures.iter().filter_map(|figure| figure.parse().ok()).collect();
                    let &[registers, stack, loops, code] = &numbers[..] else {
                        return Err(fault("there are not four figures"));
                    };
                    let figures = Figures { registers, stack, loops, code };
                    let line = Line { figures, reason: reason.trim().into() };
                    if record.lines.insert((kernel.into(), arch), line).is_some() {
                        return Err(fault("this is there twice"));
                    }
                }
                _ => return Err(fault("neither a kernel nor the version of ptxas")),
            }
        }
        if record.ptxas.is_empty() { Err("the version of ptxas is missing".into()) } else { Ok(record) }
    }

    /// The kernels and archs that it has.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.lines.keys()
    }

    /// What it has of a kernel.
    pub fn figures(&self, key: &Key) -> Option<Figures> {
        self.lines.get(key).map(|line| line.figures)
    }

    /// Compares what a kernel has become.
    pub fn verdict(&self, key: &Key, new: Figures) -> Verdict {
        let Some(old) = self.figures(key) else { return Verdict::New };
        match old.worse(new) {
            worse if !worse.is_empty() => Verdict::Worse(worse),
            _ => Verdict::Good(new.worse(old).into_iter().map(Change::turned).collect()),
        }
    }

    /// The record of these figures. A figure that is worse needs a reason, and is noted with it; of others the better one
    /// stays, so that many small steps do not add up. Lines of what is not among the figures go.
    pub fn accept(&self, ptxas: &str, new: &BTreeMap<Key, Figures>, reason: &str) -> Result<Self, String> {
        let mut record = Self { ptxas: ptxas.into(), lines: BTreeMap::new() };
        let mut unexplained = String::new();
        for (key, new) in new {
            let line = match self.lines.get(key) {
                None => Line { figures: *new, reason: String::new() },
                Some(old) => {
                    let worse = old.figures.worse(*new);
                    if !worse.is_empty() && reason.trim().is_empty() {
                        _ = writeln!(unexplained, "{} for {}: {}", key.0, key.1.name(), list(&worse));
                    }
                    let figures = old.figures.tightened(*new, &worse);
                    let reason = match worse.is_empty() {
                        false => format!("{}: {}", list(&worse), reason.trim()),
                        true if figures == old.figures => old.reason.clone(),
                        true => String::new(),
                    };
                    Line { figures, reason }
                }
            };
            record.lines.insert(key.clone(), line);
        }
        if unexplained.is_empty() {
            Ok(record)
        } else {
            Err(format!("this is worse and needs a reason:\n{unexplained}"))
        }
    }

    /// What is worse here than in `before`, and whose line does not say so with a reason.
    pub fn unexplained(&self, before: &Self) -> Vec<String> {
        let worse = self.lines.iter().filter_map(|(key, line)| Some((key, line, before.lines.get(key)?)));
        let worse = worse.flat_map(|(key, line, old)| {
            let missing = old.figures.worse(line.figures).into_iter().filter(|change| !line.explains(change));
            missing.map(|change| format!("{} for {}: {change}", key.0, key.1.name()))
        });
        worse.collect()
    }
}

impl Change {
    /// The same backwards.
    fn turned(self) -> Self {
        Self { old: self.new, new: self.old, ..self }
    }
}

impl Line {
    /// Whether the reason names the change, and there is something after the colon.
    fn explains(&self, change: &Change) -> bool {
        let (changes, reason) = self.reason.split_once(':').unwrap_or_default();
        !reason.trim().is_empty() && changes.split(", ").any(|named| named.trim() == change.to_string())
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# What ptxas makes of the kernels in tests/kernels/bench. Written by `cargo xtask bench guard --accept`;"
        )?;
        writeln!(f, "# the page Testing of the book says what the figures are, and what counts as worse.")?;
        writeln!(f, "ptxas {}\n", self.ptxas)?;
        let line = |name: &str, arch: &str, figures: [&str; 4]| {
            let [registers, stack, loops, code] = figures;
            format!("{name:20} {arch:7} {registers:>9} {stack:>7} {loops:>7} {code:>7}")
        };
        writeln!(f, "{}   # accepted", line("# kernel", "arch", NAMES))?;
        for ((kernel, arch), Line { figures, reason }) in &self.lines {
            let figures = figures.all().map(|figure| figure.to_string());
            let text = line(kernel, arch.name(), figures.each_ref().map(String::as_str));
            match reason.as_str() {
                "" => writeln!(f, "{text}")?,
                reason => writeln!(f, "{text}   # {reason}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures([registers, stack, loops, code]: [u32; 4]) -> Figures {
        Figures { registers, stack, loops, code }
    }

    fn key(kernel: &str) -> Key {
        (kernel.into(), Arch::new("sm_90").unwrap())
    }

    fn record(kernels: &[(&str, [u32; 4])]) -> Record {
        Record::default().accept("1.2.3", &table(kernels), "").unwrap()
    }

    fn table(kernels: &[(&str, [u32; 4])]) -> BTreeMap<Key, Figures> {
        kernels.iter().map(|(kernel, numbers)| (key(kernel), figures(*numbers))).collect()
    }

    fn worse(old: [u32; 4], new: [u32; 4]) -> String {
        list(&figures(old).worse(figures(new)))
    }

    #[test]
    fn two_per_cent_are_rounded_down() {
        assert_eq!(worse([49, 0, 20, 1000], [49, 0, 20, 1020]), "");
        assert_eq!(
            worse([49, 0, 20, 1000], [50, 0, 21, 1021]),
            "registers 49 -> 50, loops 20 -> 21, code 1000 -> 1021"
        );
        assert_eq!(worse([50, 0, 100, 10], [51, 0, 102, 10]), "");
        assert_eq!(worse([50, 0, 100, 10], [52, 0, 103, 10]), "registers 50 -> 52, loops 100 -> 103");
        // A byte of stack, and a loop where there was none.
        assert_eq!(worse([10, 1000, 0, 10], [10, 1001, 1, 10]), "stack 1000 -> 1001, loops 0 -> 1");
        assert_eq!(worse([10, 8, 20, 100], [9, 0, 0, 1]), "");
    }

    #[test]
    fn a_kernel_is_good_worse_or_new() {
        let record = record(&[("k", [32, 0, 20, 1000])]);
        let verdict = |numbers| record.verdict(&key("k"), figures(numbers));
        assert_eq!(verdict([32, 0, 20, 1000]), Verdict::Good(vec![]));
        let Verdict::Worse(worse) = verdict([33, 0, 10, 1000]) else { panic!("a register more") };
        assert_eq!(list(&worse), "registers 32 -> 33");
        let Verdict::Good(better) = verdict([30, 0, 20, 990]) else { panic!("two registers less") };
        assert_eq!(list(&better), "registers 32 -> 30");
        assert_eq!(record.verdict(&key("l"), figures([1; 4])), Verdict::New);
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let first = record(&[("b", [32, 0, 20, 1000]), ("a", [10, 8, 0, 5])]);
        let record =
            first.accept("1.2.3", &table(&[("b", [34, 0, 20, 990]), ("a", [10, 8, 0, 5])]), "it must").unwrap();
        let text = record.to_string();
        assert!(text.contains("# registers 32 -> 34: it must\n"), "{text}");
        assert!(text.find("\na ") < text.find("\nb "), "{text}");
        assert_eq!(Record::parse(&text), Ok(record));
    }

    #[test]
    fn a_damaged_record_is_an_error() {
        for (text, fault) in [
            ("k sm_90 1 2 3 4", "version of ptxas"),
            ("ptxas 1\nk sm_90 1 2 3", "not four figures"),
            ("ptxas 1\nk sm_90 1 2 3 x", "not four figures"),
            ("ptxas 1\nk sm_10 1 2 3 4", "no guarded arch"),
            ("ptxas 1\nk sm_90 1 2 3 4\nk sm_90 1 2 3 4", "line 3: this is there twice"),
            ("ptxas 1\nk", "neither"),
        ] {
            assert!(Record::parse(text).unwrap_err().contains(fault), "{text}");
        }
    }

    #[test]
    fn what_is_worse_needs_a_reason() {
        let record = record(&[("k", [32, 0, 20, 1000])]);
        let accept = |numbers, reason| record.accept("1.2.3", &table(&[("k", numbers)]), reason);
        assert!(accept([33, 0, 20, 1000], " ").unwrap_err().contains("k for sm_90: registers 32 -> 33"));
        let accepted = accept([33, 0, 20, 1000], "why").unwrap();
        assert_eq!(accepted.verdict(&key("k"), figures([33, 0, 20, 1000])), Verdict::Good(vec![]));
        assert_eq!(accepted.unexplained(&record), [""; 0]);
        // Small steps do not add up, and better figures stay.
        let small = accept([31, 0, 20, 1010], "").unwrap();
        assert_eq!(small.lines[&key("k")].figures, figures([31, 0, 20, 1000]));
    }

    #[test]
    fn a_record_that_was_changed_by_hand_is_found() {
        let before = record(&[("k", [32, 0, 20, 1000])]);
        let by_hand = |line: &str| Record::parse(&format!("ptxas 1.2.3\n{line}")).unwrap().unexplained(&before);
        assert_eq!(by_hand("k sm_90 33 0 20 1000"), ["k for sm_90: registers 32 -> 33"]);
        assert_eq!(by_hand("k sm_90 33 0 20 1000 # registers 32 -> 33:"), ["k for sm_90: registers 32 -> 33"]);
        assert_eq!(by_hand("k sm_90 33 0 20 1000 # registers 31 -> 32: old"), ["k for sm_90: registers 32 -> 33"]);
        assert_eq!(by_hand("k sm_90 33 4 20 1000 # registers 32 -> 33: x"), ["k for sm_90: stack 0 -> 4"]);
        assert_eq!(by_hand("k sm_90 33 4 20 1000 # registers 32 -> 33, stack 0 -> 4: x"), [""; 0]);
        assert_eq!(by_hand("k sm_90 32 0 20 1020"), [""; 0]);
    }
}
