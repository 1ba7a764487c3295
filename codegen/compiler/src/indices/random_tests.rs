//! Random functions, before and after: an interpreter that reads LLVM's text must see the same stores and the same panic.

use std::collections::HashMap;
use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::*;
use crate::arch::Arch;
use crate::emit;
use crate::llvm::{AnyValue, parse_ir};
use crate::loops::interpreter::{Event, Function, Value, agree};
use crate::request::OptLevel;

/// What a launch gives: lengths around the limits, and small ones, with which all branches are taken.
const LENGTHS: [u64; 14] =
    [0, 1, 2, 5, 64, 1000, (1 << 15) - 1, 1 << 15, (1 << 30) - 1, 1 << 30, (1 << 31) + 3, 1 << 40, 1 << 63, u64::MAX];
const EXTENTS: [u64; 11] = [0, 1, 3, 6, 64, (1 << 15) - 1, 1 << 15, 65_537, (1 << 28) - 1, 1 << 29, (1 << 32) - 1];
const POSITIONS: [u32; 10] = [0, 1, 3, 5, 63, 32_000, 65_536, (1 << 29) - 1, i32::MAX as u32, u32::MAX];
const CONSTANTS: [i64; 14] = [1, 2, 3, -1, -2, 7, 32, 100, 255, 1 << 15, 1 << 20, 1 << 31, 1 << 33, -(1 << 31)];
const FLOATS: [&str; 7] = ["0.0", "1.0", "0.5", "-1.0", "255.0", "16777216.0", "0x7FF8000000000000"];
const FLOAT_PREDICATES: [&str; 8] = ["olt", "ole", "ogt", "oge", "ult", "ule", "ugt", "uge"];
const PREDICATES: [&str; 10] = ["ult", "ult", "ule", "ugt", "uge", "slt", "sge", "eq", "ne", "sgt"];

/// A function under way.
struct Text<'a, 'b> {
    u: &'a mut Unstructured<'b>,
    text: String,
    /// Values of 64 bits that are known here.
    known: Vec<String>,
    /// Values of single precision that are known everywhere.
    floats: Vec<String>,
    block: String,
    next: u32,
}

impl Text<'_, '_> {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, line: &str) {
        _ = writeln!(self.text, "  {line}");
    }

    fn begin(&mut self, label: String) {
        _ = writeln!(self.text, "{label}:");
        self.block = label;
    }

    fn label(&mut self) -> String {
        self.next += 1;
        format!("b{}", self.next)
    }

    fn value(&mut self) -> Result<String> {
        // Mostly what is known last.
        if self.u.ratio(1, 6)? {
            return Ok(self.u.choose(&CONSTANTS)?.to_string());
        }
        let from = if self.u.ratio(1, 2)? { self.known.len().saturating_sub(6) } else { 0 };
        Ok(self.u.choose(&self.known[from..])?.clone())
    }

    fn compute(&mut self, instruction: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {instruction}"));
        name
    }

    fn add(&mut self, instruction: &str) {
        let name = self.compute(instruction);
        self.known.push(name);
    }

    fn float(&mut self) -> Result<String> {
        let from = self.floats.len().saturating_sub(4);
        Ok(if self.u.ratio(1, 3)? { *self.u.choose(&FLOATS)? } else { self.u.choose(&self.floats[from..])? }.into())
    }

    fn float_comparison(&mut self, left: &str, right: &str) -> Result<String> {
        let predicate = *self.u.choose(&FLOAT_PREDICATES)?;
        Ok(self.compute(&format!("fcmp {predicate} float {left}, {right}")))
    }

    /// What may become an index as a float: parts of what is given, often kept within it.
    fn float_step(&mut self) -> Result<()> {
        let (left, right) = (self.float()?, self.float()?);
        let instruction = match self.u.int_in_range(0..=8)? {
            0 => {
                let value = *self.u.choose(&["%len", "%n", "%x", "%w", "%h"])?;
                let value =
                    if self.u.ratio(1, 2)? { self.compute(&format!("add i64 {value}, -1")) } else { value.into() };
                format!("{} i64 {value} to float", self.u.choose(&["uitofp", "sitofp"])?)
            }
            1 => format!("{} float {left}, {right}", self.u.choose(&["fadd", "fsub", "fmul"])?),
            2 => format!("call float @llvm.floor.f32(float {left})"),
            3 => format!("call float @llvm.{}.f32(float {left}, float {right})", self.u.choose(&["minnum", "maxnum"])?),
            // `left.clamp(-1.0, 255.0)`, or of an interval without 0.
            4 | 5 => {
                let low = *self.u.choose(&["0.0", "1.0", "-1.0", "16777216.0"])?;
                let below = self.float_comparison(&left, low)?;
                let above_low = self.compute(&format!("select i1 {below}, float {low}, float {left}"));
                let high = *self.u.choose(&["255.0", "16777216.0", "0x4220000000000000"])?;
                let above = self.float_comparison(&above_low, high)?;
                format!("select i1 {above}, float {high}, float {above_low}")
            }
            _ => {
                let (compared, other) = if self.u.ratio(1, 2)? { (&left, &right) } else { (&right, &left) };
                let holds = self.float_comparison(compared, other)?;
                format!("select i1 {holds}, float {left}, float {right}")
            }
        };
        let name = self.compute(&instruction);
        self.floats.push(name);
        Ok(())
    }

    /// An index that was a float, and what is done with such.
    fn cast(&mut self) -> Result<()> {
        for _ in 0..self.u.int_in_range(1..=5)? {
            self.float_step()?;
        }
        let float = self.float()?;
        if self.u.ratio(1, 3)? {
            let other = self.float()?;
            let holds = self.float_comparison(&float, &other)?;
            self.guard(&holds, "2");
        }
        let kind = *self.u.choose(&["ui", "ui", "si"])?;
        let index = self.compute(&format!("call i64 @llvm.fpto{kind}.sat.i64.f32(float {float})"));
        // Few users, so that all of them may not tell.
        match self.u.int_in_range(0..=4)? {
            0 => self.known.push(index),
            1 => {
                let condition = self.compute(&format!("icmp ult i64 {index}, %len"));
                self.guard(&condition, &index);
                let address = self.compute(&format!("getelementptr i32, ptr %to, i64 {index}"));
                self.line(&format!("store volatile i32 5, ptr {address}, align 4"));
            }
            _ => {
                let mut value = index;
                for _ in 0..self.u.int_in_range(1..=3)? {
                    let small = *self.u.choose(&["255", "7", "-1", "%x", "4294967295", "4294967294", "2147483647"])?;
                    let other = if self.u.ratio(3, 4)? { small.into() } else { self.value()? };
                    value = match self.u.int_in_range(0..=4)? {
                        0 => {
                            let asked = self.comparison()?;
                            self.compute(&format!("select i1 {asked}, i64 {value}, i64 {other}"))
                        }
                        1 => self.compute(&format!("add i64 {value}, {other}")),
                        _ => {
                            let chosen = *self.u.choose(&["umin", "umin", "umax", "smin", "smax"])?;
                            self.compute(&format!("call i64 @llvm.{chosen}.i64(i64 {value}, i64 {other})"))
                        }
                    };
                }
                self.known.push(value);
                self.checked_store()?;
            }
        }
        Ok(())
    }

    fn comparison(&mut self) -> Result<String> {
        let (predicate, left) = (*self.u.choose(&PREDICATES)?, self.value()?);
        let right = if self.u.ratio(1, 2)? { "%len".into() } else { self.value()? };
        Ok(self.compute(&format!("icmp {predicate} i64 {left}, {right}")))
    }

    fn condition(&mut self) -> Result<String> {
        let first = self.comparison()?;
        if self.u.ratio(2, 3)? {
            return Ok(first);
        }
        let second = self.comparison()?;
        let joined = match self.u.int_in_range(0..=3)? {
            0 => format!("and i1 {first}, {second}"),
            1 => format!("or i1 {first}, {second}"),
            2 => format!("select i1 {first}, i1 {second}, i1 false"),
            _ => format!("select i1 {first}, i1 true, i1 {second}"),
        };
        Ok(self.compute(&joined))
    }

    fn arithmetic(&mut self) -> Result<()> {
        let (left, right) = (self.value()?, self.value()?);
        let by = self.u.int_in_range(0..=5)?;
        let instruction = match self.u.int_in_range(0..=16)? {
            0..=3 => format!("add i64 {left}, {right}"),
            4 | 5 => format!("sub i64 {left}, {right}"),
            6 | 7 => format!("mul i64 {left}, {right}"),
            8 => format!("shl i64 {left}, {by}"),
            9 => format!("lshr i64 {left}, {by}"),
            10 => format!("{} i64 {left}, {right}", self.u.choose(&["and", "or", "xor"])?),
            11 => format!("{} i64 {left}, {}", self.u.choose(&["udiv", "urem"])?, by + 2),
            12 => format!(
                "call i64 @llvm.{}.i64(i64 {left}, i64 {right})",
                self.u.choose(&["umin", "umax", "smin", "smax", "usub.sat"])?
            ),
            13 => {
                let condition = self.condition()?;
                format!("select i1 {condition}, i64 {left}, i64 {right}")
            }
            14 => {
                let cut = self.compute(&format!("trunc i64 {left} to i32"));
                format!("{} i32 {cut} to i64", self.u.choose(&["zext", "sext"])?)
            }
            15 => {
                let operation = *self.u.choose(&["add", "sub", "mul"])?;
                let number = self.compute(&format!("{operation} i64 {left}, {right}"));
                format!("freeze i64 {number}")
            }
            _ => {
                let operation = *self.u.choose(&["uadd", "umul"])?;
                let call = format!("call {{ i64, i1 }} @llvm.{operation}.with.overflow.i64(i64 {left}, i64 {right})");
                let both = self.compute(&call);
                let overflows = self.compute(&format!("extractvalue {{ i64, i1 }} {both}, 1"));
                let number = self.compute(&format!("extractvalue {{ i64, i1 }} {both}, 0"));
                if self.u.arbitrary()? {
                    let fits = self.compute(&format!("xor i1 {overflows}, true"));
                    self.guard(&fits, &number);
                    format!("add i64 {number}, 0")
                } else {
                    format!("select i1 {overflows}, i64 {left}, i64 {number}")
                }
            }
        };
        self.add(&instruction);
        Ok(())
    }

    fn store(&mut self) -> Result<()> {
        let (index, value) = (self.value()?, self.value()?);
        let value = self.compute(&format!("trunc i64 {value} to i32"));
        let address = self.compute(&format!("getelementptr i32, ptr %to, i64 {index}"));
        self.line(&format!("store volatile i32 {value}, ptr {address}, align 4"));
        Ok(())
    }

    /// An element of a slice, as safe code stores it.
    fn checked_store(&mut self) -> Result<()> {
        let index = self.value()?;
        let condition = self.compute(&format!("icmp ult i64 {index}, %len"));
        self.guard(&condition, &index);
        let address = self.compute(&format!("getelementptr i32, ptr %to, i64 {index}"));
        self.line(&format!("store volatile i32 7, ptr {address}, align 4"));
        Ok(())
    }

    /// Neighbours of an element of a matrix, of which all are checked at once; at times the thread is known to be inside.
    fn neighbours(&mut self) -> Result<()> {
        let extents = ["%n", "%m", "%w", "%h"];
        let (width, height) = (*self.u.choose(&extents)?, *self.u.choose(&extents)?);
        let mut conditions = Vec::new();
        for (position, extent) in [("%x", width), ("%y", height)] {
            if self.u.ratio(3, 4)? {
                conditions.push(self.compute(&format!("icmp ult i64 {position}, {extent}")));
            }
            let next = self.compute(&format!("add i64 {position}, 1"));
            match self.u.int_in_range(0..=4)? {
                0 => conditions.push(self.compute(&format!("icmp ne i64 {position}, 0"))),
                1 => conditions.push(self.compute(&format!("icmp ne i64 {next}, {extent}"))),
                2 => conditions.push(self.compute(&format!("icmp ult i64 {next}, {extent}"))),
                _ => {}
            }
        }
        if self.u.ratio(1, 2)? {
            for condition in std::mem::take(&mut conditions) {
                self.guard(&condition, "0");
            }
        }
        let column = self.wrapped("%x", width)?;
        let lines = [self.wrapped("%y", height)?, self.wrapped("%y", height)?];
        let mut indices = Vec::new();
        for _ in 0..self.u.int_in_range(2..=6)? {
            let line = self.u.choose(&lines)?.clone();
            let row = self.compute(&format!("mul i64 {line}, {width}"));
            let index = self.compute(&format!("add i64 {row}, {column}"));
            let offset = *self.u.choose(&["0", "1", "-1", width, height])?;
            let operation = self.u.choose(&["add", "add", "sub"])?;
            let index = self.compute(&format!("{operation} i64 {index}, {offset}"));
            let limit = if self.u.ratio(1, 8)? { "%m" } else { "%len" };
            conditions.push(self.compute(&format!("icmp ult i64 {index}, {limit}")));
            indices.push(index);
        }
        let mut all = conditions[0].clone();
        for condition in &conditions[1..] {
            all = self.compute(&format!("select i1 {all}, i1 {condition}, i1 false"));
        }
        self.guard(&all, "1");
        for index in &indices {
            let address = self.compute(&format!("getelementptr i32, ptr %to, i64 {index}"));
            self.line(&format!("store volatile i32 9, ptr {address}, align 4"));
        }
        self.known.extend(indices);
        Ok(())
    }

    /// A position, or a neighbour of it; at the edge, often one at the other edge.
    fn wrapped(&mut self, position: &str, extent: &str) -> Result<String> {
        Ok(match self.u.int_in_range(0..=4)? {
            0 => {
                let (at_edge, last) = (self.compute(&format!("icmp eq i64 {position}, 0")), self.name());
                self.line(&format!("{last} = select i1 {at_edge}, i64 {extent}, i64 {position}"));
                self.compute(&format!("add i64 {last}, -1"))
            }
            1 => {
                let next = self.compute(&format!("add i64 {position}, 1"));
                let at_edge = self.compute(&format!("icmp eq i64 {next}, {extent}"));
                self.compute(&format!("select i1 {at_edge}, i64 0, i64 {next}"))
            }
            2 => self.compute(&format!("add i64 {position}, -1")),
            _ => position.into(),
        })
    }

    fn guard(&mut self, condition: &str, told: &str) {
        let (inside, panic) = (self.label(), self.label());
        self.line(&format!("br i1 {condition}, label %{inside}, label %{panic}"));
        self.begin(panic);
        self.line(&format!("call void @__rust_ptx_panic_with_1(i64 {told})"));
        self.line("unreachable");
        self.begin(inside);
    }

    fn fork(&mut self, depth: u32) -> Result<()> {
        let condition = self.condition()?;
        let (then, other, end) = (self.label(), self.label(), self.label());
        self.line(&format!("br i1 {condition}, label %{then}, label %{other}"));
        let known = self.known.len();
        let mut came = Vec::new();
        for label in [then, other] {
            self.begin(label);
            self.steps(depth + 1)?;
            let value = self.value()?;
            self.line(&format!("br label %{end}"));
            came.push(format!("[ {value}, %{} ]", self.block));
            self.known.truncate(known);
        }
        self.begin(end);
        self.add(&format!("phi i64 {}", came.join(", ")));
        Ok(())
    }

    fn repeat(&mut self, depth: u32) -> Result<()> {
        let (before, head, end) = (self.block.clone(), self.label(), self.label());
        let (first, sum) = (if self.u.ratio(1, 2)? { "0".into() } else { self.value()? }, self.value()?);
        let (k, total, k_next, next_total) = (self.name(), self.name(), self.name(), self.name());
        self.line(&format!("br label %{head}"));
        self.begin(head.clone());
        // Where the loop jumps back is known at its end.
        let place = self.text.len();
        let known = self.known.len();
        self.known.extend([k.clone(), total.clone()]);
        self.steps(depth + 1)?;
        let (more, step) = (self.value()?, self.u.int_in_range(1..=3)?);
        self.line(&format!("{next_total} = add i64 {total}, {more}"));
        self.line(&format!("{k_next} = add i64 {k}, {step}"));
        let bound = self.u.choose(&["%len", "%n", "%x", "9"])?;
        let tested = if self.u.ratio(1, 2)? { &k } else { &k_next };
        let predicate = *self.u.choose(&["ult", "ne", "slt"])?;
        let again = self.compute(&format!("icmp {predicate} i64 {tested}, {bound}"));
        self.line(&format!("br i1 {again}, label %{head}, label %{end}"));
        let latch = self.block.clone();
        let phis = format!(
            "  {k} = phi i64 [ {first}, %{before} ], [ {k_next}, %{latch} ]\n  \
             {total} = phi i64 [ {sum}, %{before} ], [ {next_total}, %{latch} ]\n"
        );
        self.text.insert_str(place, &phis);
        self.known.truncate(known + 2);
        self.known.push(k_next);
        self.begin(end);
        Ok(())
    }

    fn steps(&mut self, depth: u32) -> Result<()> {
        for _ in 0..self.u.int_in_range(2..=if depth == 0 { 14 } else { 5 })? {
            match self.u.int_in_range(0..=11)? {
                0..=5 => self.arithmetic()?,
                6 => self.store()?,
                7 | 8 => self.checked_store()?,
                9 => {
                    let (condition, told) = (self.condition()?, self.value()?);
                    self.guard(&condition, &told);
                }
                10 if depth < 2 => self.fork(depth)?,
                11 if depth < 2 => self.repeat(depth)?,
                _ => self.arithmetic()?,
            }
        }
        Ok(())
    }
}

/// A kernel that computes indices.
fn kernel(u: &mut Unstructured<'_>) -> Result<String> {
    let known = ["%len", "%n", "%m", "%x", "%y", "%w", "%h"].map(String::from).to_vec();
    let mut text = Text { u, text: String::new(), known, floats: Vec::new(), block: "entry".into(), next: 0 };
    text.steps(0)?;
    for _ in 0..8 {
        text.arithmetic()?;
        text.checked_store()?;
    }
    Ok(with_entry(["%n", "%m"], "", &text.text))
}

/// A kernel that computes indices as floats.
fn kernel_of_floats(u: &mut Unstructured<'_>) -> Result<String> {
    let known = ["%len", "%n", "%x", "%w", "%h"].map(String::from).to_vec();
    let floats = ["%f", "%g"].map(String::from).to_vec();
    let mut text = Text { u, text: String::new(), known, floats, block: "entry".into(), next: 0 };
    for _ in 0..text.u.int_in_range(1..=6)? {
        text.cast()?;
        if text.u.ratio(1, 3)? {
            text.arithmetic()?;
        }
    }
    Ok(with_entry(["%n", "%m"], "", &text.text))
}

/// A kernel that reads and writes neighbours alone, of matrices that are not large.
fn kernel_of_neighbours(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text =
        Text { u, text: String::new(), known: Vec::new(), floats: Vec::new(), block: "entry".into(), next: 0 };
    text.neighbours()?;
    let small = "  %n = and i64 %any_n, 32767\n  %m = and i64 %any_m, 32767\n";
    Ok(with_entry(["%any_n", "%any_m"], small, &text.text))
}

/// A kernel that is given these two numbers beside others, and begins with what makes others of them.
fn with_entry([n, m]: [&str; 2], begin: &str, text: &str) -> String {
    format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
target triple = \"nvptx64-nvidia-cuda\"
declare void @__rust_ptx_panic_with_1(i64) noreturn
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare {{ i64, i1 }} @llvm.uadd.with.overflow.i64(i64, i64)
declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)
declare void @llvm.assume(i1)
declare float @llvm.floor.f32(float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maxnum.f32(float, float)
declare i64 @llvm.fptoui.sat.i64.f32(float)
declare i64 @llvm.fptosi.sat.i64.f32(float)
define ptx_kernel void @f(ptr %to, i64 %len, i64 {n}, i64 {m}, i64 %view, i32 noundef %a, i32 noundef %b, float %f, float %g) {{
entry:
  %is_length = icmp sgt i64 %len, -1
  call void @llvm.assume(i1 %is_length)
  %w = and i64 %view, 4294967295
  %h = lshr i64 %view, 32
  %x = zext i32 %a to i64
  %y = zext i32 %b to i64
{begin}{text}  ret void
}}\n"
    )
}

/// The function as it is, and after the stage.
fn both(text: &str) -> (String, String) {
    let context = Context::create();
    let module = parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    let printed = || module.get_function("f").unwrap().print_to_string().to_string();
    let before = printed();
    narrow_casts(&context, &module).unwrap();
    narrow(&context, &module, &machine, arch).unwrap();
    module.verify().unwrap_or_else(|error| panic!("{error}: {text}"));
    (before, printed())
}

/// Whether enough functions do the same before and after, if they are run with such numbers.
fn do_the_same(
    kernel: impl Fn(&mut Unstructured<'_>) -> Result<String>,
    lengths: &[u64],
    positions: &[u32],
    extents: &[u64],
) -> bool {
    let (mut changed, mut runs) = (0, 0);
    arbtest::arbtest(|u| {
        let text = kernel(u)?;
        let (before, after) = both(&text);
        if before == after {
            return Ok(());
        }
        changed += 1;
        let (old, new) = (Function::parse(&before), Function::parse(&after));
        for _ in 0..100 {
            let mut length = || Ok(Value::Number(*u.choose(lengths)?, 64));
            let (len, n, m) = (length()?, length()?, length()?);
            let mut position = || Ok(Value::Number(u64::from(*u.choose(positions)?), 32));
            let (a, b) = (position()?, position()?);
            let view = Value::Number(*u.choose(extents)? << 32 | *u.choose(extents)?, 64);
            let to = Value::Address(1 << 20);
            let mut float = || {
                let float =
                    *u.choose(&[0.0, -0.5, 1.0, 3.7, 40_000.0, 5e8, 2.5e9, -3e9, 5e9, 1e19, -1e30, f32::NAN])?;
                Ok(Value::Number(u64::from(float.to_bits()), 32))
            };
            let floats = [("%f", float()?), ("%g", float()?)];
            let numbers = [("%n", n), ("%m", m), ("%any_n", n), ("%any_m", m), ("%view", view), ("%a", a), ("%b", b)]
                .into_iter()
                .chain(floats);
            let given = HashMap::from_iter([("%to", to), ("%len", len)].into_iter().chain(numbers));
            let (is, was) = (new.run(&given), old.run_original(&given));
            if was.iter().any(|event| matches!(event, Event::Undefined(_))) {
                continue;
            }
            runs += 1;
            let same = agree(&is, &was);
            assert!(same, "{given:?}: {is:?}, not {was:?}:\n{before}\n{after}");
        }
        Ok(())
    })
    .size_min(600)
    .size_max(6000)
    .budget(crate::random::budget(4000));
    changed > 0 && runs > 0
}

#[test]
fn random_functions_do_the_same() {
    assert!(do_the_same(kernel, &LENGTHS, &POSITIONS, &EXTENTS));
}

#[test]
fn random_floats_do_the_same() {
    assert!(do_the_same(kernel_of_floats, &LENGTHS, &POSITIONS, &EXTENTS));
}

#[test]
fn random_neighbours_do_the_same() {
    let lengths: Vec<u64> = (0..30).chain([32_767, 32_768, 65_536, 1 << 30, 1 << 40]).collect();
    assert!(do_the_same(
        kernel_of_neighbours,
        &lengths,
        &[0, 1, 2, 3, 4, 5, u32::MAX],
        &[0, 1, 2, 3, 4, 5, 32_768, 65_537, 1 << 29]
    ));
}
