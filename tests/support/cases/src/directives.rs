//! The `//@` directives: which there are, and what those of ours say in a revision of a case.
//!
//! The crate ui_test reads the others, reports unknown ones, and tells which stand in which revision; for ours it asks
//! [`Settings::take`] whether a value is one.

/// A directive and its values, as the contributors' guide has them.
#[derive(Debug)]
pub struct Directive {
    /// What stands before the colon.
    pub name: &'static str,
    /// Whether it is read here and not by ui_test.
    pub ours: bool,
}

const fn ours(name: &'static str) -> Directive {
    Directive { name, ours: true }
}

const fn of_ui_test(name: &'static str) -> Directive {
    Directive { name, ours: false }
}

/// Every directive that a case may hold; a test compares the guide's table with it.
pub const DIRECTIVES: [Directive; 24] = [
    ours("arch"),
    ours("build-pass"),
    ours("debug"),
    ours("emit"),
    ours("expect"),
    ours("float"),
    ours("link-arg"),
    ours("needs-gpu"),
    ours("needs-ptxas"),
    ours("opt-level"),
    ours("run"),
    of_ui_test("aux-build"),
    of_ui_test("check-pass"),
    of_ui_test("compile-flags"),
    of_ui_test("edition"),
    of_ui_test("error-in-other-file"),
    of_ui_test("ignore-host"),
    of_ui_test("ignore-target"),
    of_ui_test("normalize-stderr-test"),
    of_ui_test("only-host"),
    of_ui_test("only-target"),
    of_ui_test("require-annotations-for-level"),
    of_ui_test("revisions"),
    of_ui_test("rustc-env"),
];

/// What ui_test reads as well, and what is of no use here: files it would write for other targets, programs it would run.
pub const REFUSED: [&str; 4] = ["stderr-per-bitwidth", "normalize-stdout-test", "needs-asm-support", "no-rustfix"];

/// The GPU that cases are compiled for.
const ARCH: &str = "sm_80";

/// The GPU that cases are compiled for which run.
const RUN_ARCH: &str = "sm_90";

/// What `// CHECK` lines are matched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emit {
    /// The PTX for the case's GPU.
    #[default]
    Ptx,
    /// The optimised LLVM IR.
    LlvmIr,
    /// The C++ header.
    Header,
}

/// The debug level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Debug {
    /// None in the output.
    #[default]
    None,
    /// Lines.
    LineTables,
    /// Lines, types and variables.
    Full,
}

/// A launch of the kernel `case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks.
    pub grid: u32,
    /// Threads a block.
    pub block: u32,
}

/// What the directives of ours say for one revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    arch: Option<String>,
    opt_level: Option<char>,
    /// `//@ debug`
    pub debug: Debug,
    /// `//@ emit`
    pub emit: Emit,
    /// `//@ build-pass`
    pub build_pass: bool,
    link_args: Vec<String>,
    run: Option<Option<Launch>>,
    /// `//@ expect`: what the kernel writes.
    pub expect: Vec<u32>,
}

/// The directive for what rustc is told by `flags`: ours come later on its command line, and would win unseen.
fn instead_of(flags: &str) -> Option<&'static str> {
    const INSTEAD: [(&str, &str); 3] =
        [("-Copt-level", "opt-level"), ("-Cdebuginfo", "debug"), ("-Clinker=", "link-arg")];
    let flags = flags.replace("--codegen", "-C").replace("-C=", "-C").replace("-C ", "-C");
    flags.split_whitespace().find_map(|flag| match flag {
        "-O" => Some("opt-level"),
        "-g" => Some("debug"),
        _ => INSTEAD.iter().find(|(known, _)| flag.starts_with(known)).map(|(_, ours)| *ours),
    })
}

impl Settings {
    /// Reads a case. What ui_test would refuse is an error here, too.
    pub fn parse(source: &str, revision: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        // Those of revisions come after those of all, and so win.
        for of_revision in [false, true] {
            for (index, line) in source.lines().enumerate() {
                let Some(text) = line.strip_prefix("//@") else { continue };
                let (revisions, text) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
                    Some((revisions, text)) => (Some(revisions), text),
                    None => (None, text),
                };
                let wanted = revisions.is_some_and(|list| list.split(',').any(|name| name.trim() == revision));
                if (of_revision && !wanted) || (!of_revision && revisions.is_some()) {
                    continue;
                }
                let (name, value) = text.split_once(':').unwrap_or((text, ""));
                let (name, value) = (name.trim(), value.trim());
                if let Some(ours) = instead_of(value).filter(|_| name == "compile-flags") {
                    return Err(format!("line {}: use `//@ {ours}` for this", index + 1));
                }
                if DIRECTIVES.iter().any(|known| known.ours && known.name == name) {
                    settings.take(name, value).map_err(|what| format!("line {}: {what}", index + 1))?;
                }
            }
        }
        settings.consistent()?;
        Ok(settings)
    }

    /// One directive.
    pub fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        let bad = |what: &str| Err(format!("`{value}` is no value of `{name}`: {what}"));
        let word = !value.is_empty() && !value.contains(char::is_whitespace);
        match name {
            "arch" if word => self.arch = Some(value.into()),
            "arch" => return bad("one GPU, as in `sm_90`"),
            "debug" => match value {
                "none" => self.debug = Debug::None,
                "line-tables" => self.debug = Debug::LineTables,
                "full" => self.debug = Debug::Full,
                _ => return bad("none, line-tables or full"),
            },
            "emit" => match value {
                "ptx" => self.emit = Emit::Ptx,
                "llvm-ir" => self.emit = Emit::LlvmIr,
                "header" => self.emit = Emit::Header,
                _ => return bad("ptx, llvm-ir or header"),
            },
            "opt-level" => match value {
                "0" | "1" | "2" | "3" | "s" | "z" => self.opt_level = value.chars().next(),
                _ => return bad("0, 1, 2, 3, s or z"),
            },
            "float" if value.is_empty() => return bad("modes, as in `ftz=true fmad=false`"),
            "float" => self.link_args.extend(value.split_whitespace().map(|mode| format!("--{mode}"))),
            "link-arg" if value.is_empty() => return bad("an option of the linker"),
            "link-arg" => self.link_args.push(value.into()),
            "run" if value.is_empty() => self.run = Some(None),
            "run" => {
                let numbers: Option<Vec<u32>> = value.split_whitespace().map(number).collect();
                match numbers.as_deref() {
                    Some([grid, block]) if *grid > 0 && (1..=1024).contains(block) => {
                        self.run = Some(Some(Launch { grid: *grid, block: *block }));
                    }
                    _ => return bad("blocks and threads a block, as in `2 32`"),
                }
            }
            "expect" => match value.split_whitespace().map(number).collect::<Option<Vec<u32>>>() {
                Some(numbers) if !numbers.is_empty() => self.expect.extend(numbers),
                _ => return bad("numbers of 32 bits, as in `1 0x2`"),
            },
            "build-pass" if value.is_empty() => self.build_pass = true,
            "needs-ptxas" | "needs-gpu" if value.is_empty() => {}
            "build-pass" | "needs-ptxas" | "needs-gpu" => return bad("it has none"),
            _ => return Err(format!("`{name}` is not a directive of ours")),
        }
        Ok(())
    }

    fn consistent(&self) -> Result<(), String> {
        match (&self.run, self.expect.len()) {
            (Some(_), 0) => Err("a case that runs says what it writes: `//@ expect: 1 2 3`".into()),
            (None, 1..) => Err("`//@ expect` is for cases with `//@ run`".into()),
            (Some(None), 1025..) => {
                Err("more than 1024 values: say how many blocks and threads `//@ run` starts".into())
            }
            _ => Ok(()),
        }
    }

    /// The GPU to compile for: the case's own choice, or a default for cases that run or do not.
    pub fn arch(&self) -> &str {
        self.arch.as_deref().unwrap_or(if self.run.is_some() { RUN_ARCH } else { ARCH })
    }

    /// The launch, where there is one: by default one block with a thread for each value.
    pub fn launch(&self) -> Option<Launch> {
        let alone = Launch { grid: 1, block: u32::try_from(self.expect.len()).unwrap_or(u32::MAX) };
        self.run.map(|launch| launch.unwrap_or(alone))
    }

    /// Options for rustc.
    pub fn rustc_args(&self) -> Vec<String> {
        // ptxas debugs unoptimised code alone.
        let level = self.opt_level.unwrap_or(if self.debug == Debug::Full { '0' } else { '3' });
        let (info, name) = match self.debug {
            // Our own messages name lines, whatever is in the output.
            Debug::None => ("line-tables-only", "none"),
            Debug::LineTables => ("line-tables-only", "line-tables"),
            Debug::Full => ("full", "full"),
        };
        let mut args = vec![format!("-Copt-level={level}"), format!("-Cdebuginfo={info}")];
        let ours = [format!("--arch={}", self.arch()), format!("--debug-level={name}")];
        args.extend(ours.iter().chain(&self.link_args).map(|arg| format!("-Clink-arg={arg}")));
        args
    }

    /// Options for ptxas, as our linker gives them.
    pub fn ptxas_args(&self) -> &'static [&'static str] {
        match (self.debug, self.opt_level) {
            (Debug::None, _) => &[],
            (Debug::Full, None | Some('0')) => &["-g", "--dont-merge-basicblocks", "--return-at-end"],
            _ => &["-lineinfo"],
        }
    }
}

/// The revisions of a case.
pub fn revisions(source: &str) -> Vec<String> {
    let list = source.lines().find_map(|line| line.strip_prefix("//@")?.trim_start().strip_prefix("revisions:"));
    list.unwrap_or_default().split_whitespace().map(str::to_string).collect()
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_win_over_what_holds_for_all() {
        let case = "//! x\n//@ revisions: a b\n//@[a, b] arch: sm_90\n//@ arch: sm_75\n//@[b] debug: full\n\
                    //@ float: ftz=true fmad=false\n//@[b]link-arg: --x\n";
        assert_eq!(revisions(case), ["a", "b"]);
        let (plain, a, b) = (Settings::parse(case, ""), Settings::parse(case, "a"), Settings::parse(case, "b"));
        assert_eq!((plain.unwrap().arch(), a.unwrap().arch()), ("sm_75", "sm_90"));
        let b = b.unwrap();
        assert_eq!(b.debug, Debug::Full);
        assert_eq!(
            b.rustc_args().join(" "),
            "-Copt-level=0 -Cdebuginfo=full -Clink-arg=--arch=sm_90 -Clink-arg=--debug-level=full \
             -Clink-arg=--ftz=true -Clink-arg=--fmad=false -Clink-arg=--x"
        );
        assert_eq!(b.ptxas_args()[0], "-g");
    }

    #[test]
    fn a_run_has_a_launch_and_values() {
        let case = Settings::parse("//@ run\n//@ expect: 1 0xff\n//@ expect: 3", "").unwrap();
        assert_eq!((case.launch(), case.arch()), (Some(Launch { grid: 1, block: 3 }), "sm_90"));
        assert_eq!(case.expect, [1, 255, 3]);
        let case = Settings::parse("//@ run: 2 32\n//@ expect: 1\n//@arch: sm_80", "").unwrap();
        assert_eq!((case.launch(), case.arch()), (Some(Launch { grid: 2, block: 32 }), "sm_80"));
        assert!(Settings::parse("//@ run", "").unwrap_err().contains("expect: 1 2 3"));
        assert!(Settings::parse("//@ expect: 1", "").unwrap_err().contains("with `//@ run`"));
    }

    #[test]
    fn values_that_are_none_are_errors() {
        let bad = [
            "arch:",
            "arch: sm_80 sm_90",
            "debug: yes",
            "debug",
            "emit: sass",
            "opt-level: 4",
            "float:",
            "link-arg:",
            "run: 1",
            "run: 0 32",
            "run: 1 2000",
            "expect:",
            "expect: x",
            "expect: 4294967296",
            "build-pass: yes",
            "needs-ptxas: 13",
            "compile-flags: --cfg a -Copt-level=1",
            "compile-flags: -C opt-level=1",
            "compile-flags: --codegen=debuginfo=1",
            "compile-flags: --codegen linker=ld",
            "compile-flags: -g",
            "compile-flags: --cfg a -O",
        ];
        assert!(Settings::parse("//@ compile-flags: --cfg a -Copt-out --cfg g", "").is_ok());
        for case in bad {
            let error = Settings::parse(&format!("\n//@ {case}"), "").expect_err(case);
            assert!(error.starts_with("line 2: "), "{case}: {error}");
        }
        for known in DIRECTIVES.iter().filter(|known| known.ours) {
            let result = Settings::default().take(known.name, "1");
            assert!(result.is_ok() || !result.unwrap_err().contains("is not a directive"), "{}", known.name);
        }
    }

    #[test]
    fn the_guide_names_every_directive_and_no_other() {
        let guide = include_str!("../../../../docs/src/contributing/ui-tests.md");
        let section = guide.split("\n## ").find(|section| section.starts_with("Directives")).expect("the section");
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `//@ "));
        let found: Vec<&str> = rows.filter_map(|row| row.split([':', '`']).next()).collect();
        let mut known: Vec<&str> = DIRECTIVES.iter().map(|directive| directive.name).collect();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
