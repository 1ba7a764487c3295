//! Random functions of branches and loops, and whether they do the same before and after a stage.

use std::collections::HashMap;
use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use crate::arch::Arch;
use crate::emit;
use crate::llvm::{self, AnyValue, Context, Module, TargetMachine, parse_ir};
use crate::loops::interpreter::{Event, Function, Value, agree};
use crate::request::OptLevel;

/// What a function is made of.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// Checks of indices, some behind branches that ask for a coordinate.
    Checks,
    /// Arithmetic, and branches of all kinds.
    Branches,
    /// A loop in which values are chosen.
    Choices,
    /// Branches and choices by a few conditions.
    Repeated,
}

/// Variables of 32 bits, which become phis.
const VARIABLES: [&str; 5] = ["%v0", "%v1", "%v2", "%v3", "%v4"];

/// What is given, and is the same for all threads.
const EXTENTS: [&str; 5] = ["%W", "%H", "%D", "%W", "%H"];

const CONSTANTS: [&str; 15] =
    ["0", "1", "2", "3", "4", "5", "7", "8", "-1", "-2", "-3", "15", "100", "2147483647", "-2147483648"];

const PREDICATES: [&str; 13] =
    ["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge", "ult", "slt", "sgt"];

/// Passes that may have been run before a stage.
const BEFORE: [&str; 7] = [
    "function(sroa<modify-cfg>,simplifycfg)",
    "function(sroa<modify-cfg>,simplifycfg)",
    "function(sroa<modify-cfg>,simplifycfg<no-keep-loops>)",
    "function(sroa<modify-cfg>,early-cse,simplifycfg<no-keep-loops>)",
    "function(sroa<modify-cfg>,instcombine<no-verify-fixpoint>,simplifycfg<no-keep-loops>)",
    "function(sroa<modify-cfg>,early-cse,simplifycfg,loop-simplify,lcssa)",
    "function(sroa<modify-cfg>,instcombine<no-verify-fixpoint>,simplifycfg,loop(loop-rotate),gvn,\
     simplifycfg<no-keep-loops;hoist-common-insts;sink-common-insts>)",
];

/// Where a thread stands, and what the interpreter is given for it.
const POSITION: [&str; 2] = ["call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "add i32 %tid, 0"];

/// A function under way.
pub struct Text<'a, 'b> {
    pub u: &'a mut Unstructured<'b>,
    kind: Kind,
    /// Of how many operations in a hundred it is said that they do not wrap around.
    flags: u8,
    text: String,
    panics: String,
    next: u32,
}

impl Text<'_, '_> {
    fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    pub fn label(&mut self) -> String {
        self.name("c")
    }

    pub fn line(&mut self, line: &str) {
        _ = writeln!(self.text, "  {line}");
    }

    pub fn begin(&mut self, label: &str) {
        _ = writeln!(self.text, "{label}:");
    }

    pub fn compute(&mut self, instruction: &str) -> String {
        let name = self.name("%t");
        self.line(&format!("{name} = {instruction}"));
        name
    }

    /// So many times in a hundred.
    pub fn is(&mut self, percent: u8) -> Result<bool> {
        self.u.ratio(percent, 100)
    }

    pub fn pick(&mut self, all: &[&'static str]) -> Result<&'static str> {
        self.u.choose(all).copied()
    }

    pub fn variable(&mut self) -> Result<&'static str> {
        self.pick(&VARIABLES)
    }

    pub fn extent(&mut self) -> Result<&'static str> {
        self.pick(&EXTENTS)
    }

    pub fn load(&mut self) -> Result<String> {
        let variable = self.variable()?;
        Ok(self.compute(&format!("load i32, ptr {variable}")))
    }

    fn number(&mut self) -> Result<String> {
        Ok(match self.u.int_in_range(0..=9)? {
            0..=5 => self.load()?,
            6 | 7 => self.pick(&CONSTANTS)?.into(),
            8 => self.pick(&["%p", "%q", "%tid"])?.into(),
            _ => self.extent()?.into(),
        })
    }

    fn flag(&mut self) -> Result<&'static str> {
        if self.flags > 0 && self.is(self.flags)? { self.pick(&["nuw", "nsw", "nuw nsw"]) } else { Ok("") }
    }

    /// One of the first elements; floats are behind these.
    fn element(&mut self, ty: &str) -> Result<String> {
        let value = self.load()?;
        let index = self.compute(&format!("and i32 {value}, 31"));
        let mut wide = self.compute(&format!("zext i32 {index} to i64"));
        if ty == "float" {
            wide = self.compute(&format!("add i64 {wide}, 64"));
        }
        let address = self.compute(&format!("getelementptr i32, ptr %from, i64 {wide}"));
        Ok(self.compute(&format!("load {ty}, ptr {address}")))
    }

    /// Gives a variable another value.
    fn operation(&mut self) -> Result<()> {
        let form = match self.kind {
            Kind::Repeated => *self.u.choose(&[0, 8, 8, 9, 11, 11, 11])?,
            Kind::Choices => self.u.int_in_range(0..=9)?,
            _ => self.u.int_in_range(0..=11)?,
        };
        let value = match form {
            0..=6 => {
                let (left, right) = (self.number()?, self.number()?);
                let operation = self.pick(&["add", "add", "add", "sub", "mul", "xor", "and", "or"])?;
                let flag = if matches!(operation, "add" | "sub" | "mul") { self.flag()? } else { "" };
                self.compute(&format!("{operation} {flag} i32 {left}, {right}"))
            }
            7 => {
                let (value, by) = (self.load()?, self.u.int_in_range(1..=31)?);
                let shift = self.pick(&["lshr", "shl", "ashr"])?;
                self.compute(&format!("{shift} i32 {value}, {by}"))
            }
            8 => {
                let (condition, one, other) = (self.condition()?, self.number()?, self.number()?);
                self.compute(&format!("select i1 {condition}, i32 {one}, i32 {other}"))
            }
            9 => {
                let (condition, extend) = (self.condition()?, self.pick(&["zext", "sext"])?);
                self.compute(&format!("{extend} i1 {condition} to i32"))
            }
            10 => {
                let (left, right) = (self.number()?, self.number()?);
                let odd = self.compute(&format!("or i32 {right}, 1"));
                let right = if self.u.arbitrary()? { odd } else { self.load()? };
                if self.is(30)? {
                    let operation = self.pick(&["udiv", "urem"])?;
                    self.compute(&format!("{operation} i32 {left}, {right}"))
                } else {
                    let function = self.pick(&["umin", "umax", "smin", "smax", "usub.sat"])?;
                    self.compute(&format!("call i32 @llvm.{function}.i32(i32 {left}, i32 {right})"))
                }
            }
            _ => {
                let (loaded, mask) = (self.element("i32")?, self.pick(&["7", "15", "3", "-1"])?);
                self.compute(&format!("and i32 {loaded}, {mask}"))
            }
        };
        let variable = self.variable()?;
        self.line(&format!("store i32 {value}, ptr {variable}"));
        Ok(())
    }

    /// A number and what it is compared with, as where it is asked whether a coordinate is inside.
    fn of_extent(&mut self) -> Result<(String, String)> {
        let mut value = self.load()?;
        if self.is(30)? {
            value = self.moved(&value, &["1", "-1", "2", "-2", "3"])?;
        }
        let limit = match self.u.int_in_range(0..=9)? {
            0..=5 => self.extent()?.into(),
            6 => {
                let extent = self.extent()?;
                self.moved(extent, &["-1", "-2", "1"])?
            }
            _ => self.pick(&["0", "-1", "1", "2"])?.into(),
        };
        Ok(if self.is(15)? { (limit, value) } else { (value, limit) })
    }

    /// A number and one of these constants.
    pub fn moved(&mut self, value: &str, by: &[&'static str]) -> Result<String> {
        let by = self.pick(by)?;
        Ok(self.compute(&format!("add i32 {value}, {by}")))
    }

    fn comparison(&mut self) -> Result<String> {
        let is_of_extent = self.kind == Kind::Checks && self.is(70)?;
        let (left, right) = if is_of_extent { self.of_extent()? } else { (self.load()?, self.number()?) };
        let predicate = self.pick(&PREDICATES)?;
        Ok(self.compute(&format!("icmp {predicate} i32 {left}, {right}")))
    }

    fn condition(&mut self) -> Result<String> {
        if self.kind == Kind::Repeated && self.is(85)? {
            return self.pick(&["%k0", "%k1", "%k2", "%k3"]).map(String::from);
        }
        let is_of_floats = self.kind == Kind::Choices && self.u.arbitrary()?;
        let form = if is_of_floats { 11 } else { self.u.int_in_range(0..=11)? };
        Ok(match form {
            0..=5 => self.comparison()?,
            6 | 7 => {
                let (one, other) = (self.comparison()?, self.comparison()?);
                self.joined(&one, &other)?
            }
            8 => self.compute("load i1, ptr %flag"),
            _ if self.kind == Kind::Checks => {
                let (one, other) = (self.comparison()?, self.comparison()?);
                self.compute(&format!("and i1 {one}, {other}"))
            }
            _ => {
                let floats = ["%f0", "%f1"].map(|of| self.compute(&format!("load float, ptr {of}")));
                let predicate = self.pick(&["olt", "ogt", "ole", "ult"])?;
                self.compute(&format!("fcmp {predicate} float {}, {}", floats[0], floats[1]))
            }
        })
    }

    fn joined(&mut self, one: &str, other: &str) -> Result<String> {
        let instruction = match self.u.int_in_range(0..=3)? {
            0 => format!("and i1 {one}, {other}"),
            1 => format!("or i1 {one}, {other}"),
            2 => format!("select i1 {one}, i1 {other}, i1 false"),
            _ => format!("select i1 {one}, i1 true, i1 {other}"),
        };
        Ok(self.compute(&instruction))
    }

    /// A condition or a float is kept, or something is stored that anyone sees.
    fn other(&mut self) -> Result<()> {
        match self.u.int_in_range(0..=3)? {
            0 => {
                let condition = self.comparison()?;
                self.line(&format!("store i1 {condition}, ptr %flag"));
            }
            1 => {
                let (float, to) = (self.element("float")?, self.pick(&["%f0", "%f1"])?);
                self.line(&format!("store float {float}, ptr {to}"));
            }
            _ => {
                let (value, at) = (self.load()?, self.u.int_in_range(0..=3)?);
                let address = self.compute(&format!("getelementptr i32, ptr %to, i64 {at}"));
                self.line(&format!("store volatile i32 {value}, ptr {address}"));
            }
        }
        Ok(())
    }

    /// Where a panic tells a number: a block of its own, or one that is shared.
    pub fn panic(&mut self, told: &str) -> Result<String> {
        if self.u.arbitrary()? {
            self.line(&format!("store i64 {told}, ptr %told"));
            return Ok("shared".into());
        }
        let label = self.name("panic");
        _ = writeln!(self.panics, "{label}: call void @__rust_ptx_panic_with_1(i64 {told})\n  unreachable");
        Ok(label)
    }

    /// Asks at its head whether a loop goes on, which it does a few times.
    fn count(&mut self, at: usize, out: &str) -> Result<()> {
        let limit = self.pick(&["3", "5", "9", "2"])?;
        let round = self.compute(&format!("load i32, ptr %n{at}"));
        let next = self.compute(&format!("add i32 {round}, 1"));
        self.line(&format!("store i32 {next}, ptr %n{at}"));
        let goes = self.compute(&format!("icmp ult i32 {round}, {limit}"));
        let body = self.label();
        self.line(&format!("br i1 {goes}, label %{body}, label %{out}"));
        self.begin(&body);
        if self.kind == Kind::Checks && self.is(60)? {
            let (variable, value) = (self.variable()?, self.moved(&round, &["-1", "0", "-2", "3"])?);
            self.line(&format!("store i32 {value}, ptr {variable}"));
        }
        Ok(())
    }

    fn steps(&mut self, is_first: bool) -> Result<()> {
        for _ in 0..self.u.int_in_range(0..=if self.kind == Kind::Choices { 2 } else { 3 })? {
            let has_others = matches!(self.kind, Kind::Checks | Kind::Branches) || is_first;
            match self.u.int_in_range(0..=9)? {
                0 | 1 if has_others => self.other()?,
                0 if self.kind == Kind::Choices => self.copy()?,
                2..=5 if self.kind == Kind::Checks => self.check()?,
                _ => self.operation()?,
            }
        }
        Ok(())
    }

    /// Gives a variable the value of another one.
    fn copy(&mut self) -> Result<()> {
        let (value, variable) = (self.load()?, self.variable()?);
        self.line(&format!("store i32 {value}, ptr {variable}"));
        Ok(())
    }

    /// A `match` or an `if` of arms that all go on at one place.
    fn arms(&mut self, targets: &[String]) -> Result<()> {
        let end = self.u.choose(targets)?;
        let arms: Vec<_> = (0..self.u.int_in_range(1..=4)?).map(|_| self.label()).collect();
        let rest = if self.u.arbitrary()? { end } else { arms.last().unwrap_or(end) };
        if arms.len() < 3 {
            let condition = self.condition()?;
            self.line(&format!("br i1 {condition}, label %{}, label %{rest}", arms[0]));
        } else if self.u.arbitrary()? {
            let (left, right) = (self.load()?, self.number()?);
            // Of three arms, the order of two numbers; of four, two bits of one.
            let (value, first) = if arms.len() == 3 {
                let compare = self.pick(&["ucmp", "scmp"])?;
                (self.compute(&format!("call i32 @llvm.{compare}.i32.i32(i32 {left}, i32 {right})")), -1)
            } else {
                (self.compute(&format!("and i32 {left}, 3")), 0)
            };
            let skipped = if self.is(30)? { self.u.int_in_range(0..=3)? } else { arms.len() };
            let rest = arms.get(skipped).map_or("never", |arm| arm);
            let cases = (first..).zip(&arms).enumerate().filter(|(at, _)| *at != skipped);
            let cases: String = cases.map(|(_, (number, arm))| format!(" i32 {number}, label %{arm}")).collect();
            self.line(&format!("switch i32 {value}, label %{rest} [{cases} ]"));
        } else {
            let value = self.load()?;
            let cases = arms.iter().enumerate().map(|(at, arm)| format!(" i32 {at}, label %{arm}"));
            let cases: String = cases.collect();
            self.line(&format!("switch i32 {value}, label %{rest} [{cases} ]"));
        }
        for arm in &arms {
            self.begin(arm);
            for _ in 0..self.u.int_in_range(0..=2)? {
                if self.u.arbitrary()? { self.copy()? } else { self.operation()? }
            }
            self.line(&format!("br label %{end}"));
        }
        Ok(())
    }

    fn branch(&mut self, targets: &[String]) -> Result<()> {
        if self.kind == Kind::Choices && self.u.arbitrary()? {
            return self.arms(targets);
        }
        match self.u.int_in_range(0..=9)? {
            0 | 1 => {
                let to = self.u.choose(targets)?;
                self.line(&format!("br label %{to}"));
            }
            7 | 8 if self.kind != Kind::Checks => self.switch(targets)?,
            form => {
                let condition = self.condition()?;
                let (then, other) = (self.u.choose(targets)?, self.u.choose(targets)?);
                let may_panic = form > 6 && self.is(if self.kind == Kind::Choices { 5 } else { 25 })?;
                let other = if may_panic { "shared" } else { other };
                if may_panic {
                    self.line("store i64 7, ptr %told");
                }
                let jump = format!("br i1 {condition}, label %{then}, label %{other}");
                self.line(&if then == other { format!("br label %{then}") } else { jump });
            }
        }
        Ok(())
    }

    fn switch(&mut self, targets: &[String]) -> Result<()> {
        let (value, most) = (self.load()?, *self.u.choose(&[7, 3, -1])?);
        let value = self.compute(&format!("and i32 {value}, {most}"));
        // There may be no other number.
        let is_whole = most > 0 && self.is(15)?;
        let rest = if is_whole { "never" } else { self.u.choose(targets)? };
        let last = if is_whole { most } else { self.u.int_in_range(0..=4)? };
        let mut text = format!("switch i32 {value}, label %{rest} [");
        for case in 0..=last {
            _ = write!(text, " i32 {case}, label %{}", self.u.choose(targets)?);
        }
        self.line(&(text + " ]"));
        Ok(())
    }

    /// The first and the last blocks of loops, which are beside or within each other.
    fn loops(&mut self, blocks: usize) -> Result<Vec<(usize, usize)>> {
        if self.kind == Kind::Choices {
            return Ok(vec![(1, blocks - 1)]);
        }
        let mut loops: Vec<(usize, usize)> = Vec::new();
        for _ in 0..self.u.int_in_range(0..=2)? {
            let (one, other) = (self.u.int_in_range(0..=blocks - 1)?, self.u.int_in_range(0..=blocks - 1)?);
            let new = (one.min(other), one.max(other));
            let is_within = |inner: (usize, usize), outer: (usize, usize)| inner.0 > outer.0 && inner.1 <= outer.1;
            let is_beside = |known: (usize, usize)| new.1 < known.0 || known.1 < new.0;
            if loops.iter().all(|known| is_beside(*known) || is_within(new, *known) || is_within(*known, new)) {
                loops.push(new);
            }
        }
        Ok(loops)
    }

    /// Where a block may jump to: into a loop by its head alone, and to the next block and heads around it more often.
    fn targets(&self, block: usize, blocks: usize, loops: &[(usize, usize)]) -> Vec<usize> {
        let is_in = |block, (head, last): (usize, usize)| block >= head && block <= last;
        if let (Kind::Choices, [(head, last)]) = (self.kind, loops) {
            return match block {
                _ if block < *head || block == *last => vec![*head],
                _ => (block + 1..=*last).take(4).collect(),
            };
        }
        let mut targets = Vec::new();
        for to in 0..=blocks {
            let enters = |around: (usize, usize)| to > around.0 && to <= around.1 && !is_in(block, around);
            let is_later = to > block && !loops.iter().any(|around| enters(*around));
            let is_back = to <= block && loops.iter().any(|around| around.0 == to && is_in(block, *around));
            let is_near = is_later && (to <= block + 4 || to == blocks);
            let times = usize::from(is_near || is_back) * if to == block + 1 || is_back { 2 } else { 1 };
            targets.extend(std::iter::repeat_n(to, times));
        }
        targets
    }

    /// All of it between its entry and its end.
    fn body(&mut self) -> Result<()> {
        let most = match self.kind {
            Kind::Checks => 10,
            Kind::Choices => 7,
            Kind::Branches | Kind::Repeated => 14,
        };
        let blocks = self.u.int_in_range(3..=most)?;
        let loops = self.loops(blocks)?;
        let name = |block| if block == blocks { "exit".to_string() } else { format!("b{block}") };
        for block in 0..blocks {
            self.begin(&name(block));
            if let Some(at) = loops.iter().position(|(head, _)| *head == block) {
                self.count(at, &name(loops[at].1 + 1))?;
            }
            self.steps(block == 0)?;
            let targets: Vec<_> = self.targets(block, blocks, &loops).into_iter().map(name).collect();
            self.branch(&targets)?;
        }
        Ok(())
    }
}

/// A random function.
pub fn function(u: &mut Unstructured<'_>, kind: Kind) -> Result<String> {
    let flags = *u.choose(&[0, 10, 30])?;
    let mut body = Text { u, kind, flags, text: String::new(), panics: String::new(), next: 0 };
    body.body()?;
    let (mut entry, mut exit) = (String::new(), String::new());
    for (variable, first) in VARIABLES.into_iter().zip(["%p", "%q", "1", "%tid", "%p"]) {
        _ = writeln!(entry, "{variable} = alloca i32\n  store i32 {first}, ptr {variable}");
        _ = writeln!(exit, "{variable}.last = load i32, ptr {variable}\n  store volatile i32 {variable}.last, ptr %to");
    }
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        declare void @llvm.assume(i1)
        declare i64 @llvm.umax.i64(i64, i64)
        declare i32 @llvm.umin.i32(i32, i32)
        declare i32 @llvm.umax.i32(i32, i32)
        declare i32 @llvm.smin.i32(i32, i32)
        declare i32 @llvm.smax.i32(i32, i32)
        declare i32 @llvm.usub.sat.i32(i32, i32)
        declare i32 @llvm.ucmp.i32.i32(i32, i32)
        declare i32 @llvm.scmp.i32.i32(i32, i32)
        declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        define void @f(ptr noalias %from, ptr noalias %to, i32 %W, i32 %H, i32 %D, i32 %p, i32 %q, i32 %tid,
          i64 %L, i64 %M) {{
        entry: %small.L = icmp sgt i64 %L, -1
          call void @llvm.assume(i1 %small.L)
          %small.M = icmp sgt i64 %M, -1
          call void @llvm.assume(i1 %small.M)
          %W.64 = zext i32 %W to i64
          %H.64 = zext i32 %H to i64
          %P = mul nuw i64 %W.64, %H.64
          %W.least = call i64 @llvm.umax.i64(i64 %W.64, i64 1)
          %Q = udiv i64 %L, %W.least
          %k0 = icmp ult i32 %p, %W
          %k1 = icmp slt i32 %q, %H
          %k2 = icmp eq i32 %tid, 3
          %k3 = icmp ugt i32 %p, %q
          %x = {}
          %n0 = alloca i32
          store i32 0, ptr %n0
          %n1 = alloca i32
          store i32 0, ptr %n1
          %sum = alloca i32
          store i32 0, ptr %sum
          %flag = alloca i1
          store i1 %small.L, ptr %flag
          %f0 = alloca float
          store float 1.0, ptr %f0
          %f1 = alloca float
          store float 2.0, ptr %f1
          %told = alloca i64
          store i64 0, ptr %told
          {entry} br label %b0
        {}
        exit: {exit} %sum.last = load i32, ptr %sum
          store volatile i32 %sum.last, ptr %to
          ret void
        never: unreachable
        shared: %told.last = load i64, ptr %told
          call void @__rust_ptx_panic_with_1(i64 %told.last)
          unreachable
        {}
        }}",
        POSITION[0], body.text, body.panics
    ))
}

/// What a launch gives: small extents, mostly, coordinates around them, and lengths around their products.
fn given(u: &mut Unstructured<'_>) -> Result<HashMap<&'static str, Value>> {
    const SMALL: [u64; 10] = [0, 1, 2, 3, 4, 5, 7, 8, 12, 17];
    const WIDE: [u64; 8] =
        [0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fffe, 0x3fff_ffff, 0x4000_0000, 0x7fff_fffe, 0x1_0000];
    let mut extent = || if u.ratio(92, 100)? { u.choose(&SMALL[..9]) } else { u.choose(&WIDE) }.copied();
    let (width, height, depth) = (extent()?, extent()?, extent()?);
    let mut coordinate = || {
        Ok(match u.int_in_range(0..=9)? {
            0..=4 => *u.choose(&SMALL)?,
            5 => width.wrapping_sub(1) & u64::from(u32::MAX),
            6 => width,
            7 => height.wrapping_sub(1) & u64::from(u32::MAX),
            _ => *u.choose(&WIDE)?,
        })
    };
    let (p, q) = (coordinate()?, coordinate()?);
    let tid = u.int_in_range(0..=8)?;
    let mut len = || {
        Ok(match u.int_in_range(0..=9)? {
            0 | 1 => *u.choose(&SMALL)?,
            2 | 3 => width * height,
            4 => (width * height).saturating_sub(1),
            5 => (width * height).saturating_mul(depth).min(1 << 62),
            6 => 1000,
            7 => height * depth,
            8 => 1 << 31,
            _ => *u.choose(&[(1 << 63) - 1, 1 << 32, (1 << 31) - 1])?,
        })
    };
    let lengths = [("%L", len()?), ("%M", len()?)].map(|(name, len)| (name, Value::Number(len, 64)));
    let numbers = [("%W", width), ("%H", height), ("%D", depth), ("%p", p), ("%q", q), ("%tid", tid)];
    let numbers = numbers.map(|(name, value)| (name, Value::Number(value, 32)));
    let places = [("%from", Value::Address(1 << 24)), ("%to", Value::Address(1 << 20))];
    Ok(lengths.into_iter().chain(numbers).chain(places).collect())
}

/// What a run stores and how it ends, and what it loads, if it returns.
fn seen(events: Vec<Event>) -> (Vec<Event>, Option<Vec<u64>>) {
    let mut loads = None;
    let mut others = Vec::new();
    for event in events {
        match event {
            Event::Loads(addresses) => loads = Some(addresses),
            event => others.push(event),
        }
    }
    (others, loads)
}

/// Has a stage rewrite random functions; a run must have the same stores and the same panic, and no loads that are new.
pub fn do_the_same(kind: Kind, stage: impl Fn(&'static Context, &Module<'static>, &TargetMachine)) {
    let (mut changed, mut runs) = (0, 0);
    let context: &'static Context = Box::leak(Box::new(Context::create()));
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    let parse =
        |text: &str| parse_ir(context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
    // As the interpreter knows it.
    let printed = |module: &str| {
        let module = parse(module);
        llvm::run_passes(&module, &machine, "function(lower-switch)").unwrap();
        module.get_function("f").unwrap().print_to_string().to_string().replace(POSITION[0], POSITION[1])
    };
    arbtest::arbtest(|u| {
        let module = parse(&function(u, kind)?);
        llvm::run_passes(&module, &machine, u.choose(&BEFORE)?).unwrap();
        let before = module.print_to_string().to_string();
        stage(context, &module, &machine);
        let after = module.print_to_string().to_string();
        if before == after {
            return Ok(());
        }
        changed += 1;
        module.verify().unwrap_or_else(|error| panic!("{error}: {before}\n{after}"));
        if u.arbitrary()? {
            llvm::run_passes(&module, &machine, "function(simplifycfg,early-cse)").unwrap();
        }
        let (before, after) = (printed(&before), printed(&module.print_to_string().to_string()));
        let (old, new) = (Function::parse(&before), Function::parse(&after));
        for _ in 0..if kind == Kind::Checks { 24 } else { 8 } {
            let given = given(u)?;
            let (was, loaded) = seen(old.run_original(&given));
            if was.iter().any(|event| matches!(event, Event::Undefined(_))) {
                continue;
            }
            runs += 1;
            let (is, loads) = seen(new.run(&given));
            let none_is_new = loaded.zip(loads).is_none_or(|(was, is)| is.iter().all(|address| was.contains(address)));
            assert!(agree(&is, &was) && none_is_new, "{given:?}: {is:?}, not {was:?}:\n{before}\n{after}");
        }
        Ok(())
    })
    .size_min(4000)
    .size_max(8000)
    .budget(crate::random::budget(3000));
    assert!(changed > 0 && runs > 0, "{changed} functions were changed, and run {runs} times");
}
