//! Random functions, before and after: an interpreter that reads LLVM's text must see the same stores and the same panic.
//!
//! It knows no more of LLVM than the language reference says of each instruction: a flag that is not so makes a value that means
//! nothing, and to look at one is an error.

use std::collections::HashMap;
use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::*;
use crate::arch::Arch;
use crate::emit;
use crate::llvm::{AnyValue, parse_ir};
use crate::request::OptLevel;

/// Instructions that are run, and stores that are seen, at most.
const MOST_STEPS: usize = 20_000;
const MOST_EVENTS: usize = 300;

/// What a launch gives: lengths around the limits, and small ones, with which all branches are taken.
const LENGTHS: [u64; 14] =
    [0, 1, 2, 5, 64, 1000, (1 << 15) - 1, 1 << 15, (1 << 30) - 1, 1 << 30, (1 << 31) + 3, 1 << 40, 1 << 63, u64::MAX];
const POSITIONS: [u32; 7] = [0, 1, 3, 63, 70_000, i32::MAX as u32, u32::MAX];
const CONSTANTS: [i64; 14] = [1, 2, 3, -1, -2, 7, 32, 100, 255, 1 << 15, 1 << 20, 1 << 31, 1 << 33, -(1 << 31)];
const PREDICATES: [&str; 10] = ["ult", "ult", "ule", "ugt", "uge", "slt", "sge", "eq", "ne", "sgt"];

/// A function under way.
struct Text<'a, 'b> {
    u: &'a mut Unstructured<'b>,
    text: String,
    /// Values of 64 bits that are known here.
    known: Vec<String>,
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
        let instruction = match self.u.int_in_range(0..=14)? {
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
            _ => {
                let cut = self.compute(&format!("trunc i64 {left} to i32"));
                format!("{} i32 {cut} to i64", self.u.choose(&["zext", "sext"])?)
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
    let known = ["%len", "%n", "%m", "%x", "%y"].map(String::from).to_vec();
    let mut text = Text { u, text: String::new(), known, block: "entry".into(), next: 0 };
    text.steps(0)?;
    for _ in 0..8 {
        text.arithmetic()?;
        text.checked_store()?;
    }
    Ok(format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
target triple = \"nvptx64-nvidia-cuda\"
declare void @__rust_ptx_panic_with_1(i64) noreturn
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
define ptx_kernel void @f(ptr %to, i64 %len, i64 %n, i64 %m, i32 %a, i32 %b) {{
entry:
  %x = zext i32 %a to i64
  %y = zext i32 %b to i64
{}  ret void
}}\n",
        text.text
    ))
}

/// A number with its bits, or none that means anything.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Number(u64, u32),
    Address(u64),
    Nothing,
}

#[derive(Debug, PartialEq)]
enum Event {
    Store(u64, u64),
    Panic(u64),
    Return,
    /// There was no more time.
    Open,
    /// Something looked at a value that means nothing, or divided by 0.
    Undefined(String),
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn signed(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)).cast_signed() >> (64 - bits)
}

/// The text of a function, by blocks.
struct Function<'t> {
    first: &'t str,
    blocks: HashMap<&'t str, Vec<&'t str>>,
}

impl<'t> Function<'t> {
    fn parse(text: &'t str) -> Self {
        let body = text.split_once('{').expect("it has a body").1;
        // A first block without a name has the first number, and no label.
        let (mut first, mut current, mut blocks) = (None, "0", HashMap::<&str, Vec<&str>>::new());
        for line in body.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "}") {
            match line.split_once(':') {
                Some((label, rest)) if !label.contains(' ') && (rest.is_empty() || rest.trim().starts_with(';')) => {
                    current = label;
                    blocks.insert(current, Vec::new());
                }
                _ => blocks.entry(current).or_default().push(line),
            }
            first.get_or_insert(current);
        }
        Self { first: first.unwrap_or_default(), blocks }
    }

    /// What anyone sees of a run.
    fn run(&self, given: &HashMap<&str, Value>) -> Vec<Event> {
        let mut state = State { values: given.iter().map(|(name, value)| (name.to_string(), *value)).collect() };
        let mut events = Vec::new();
        let (mut block, mut before) = (self.first, "");
        let mut steps = 0;
        'blocks: loop {
            // All phis at once.
            let phis: Vec<_> = self.blocks[block].iter().filter_map(|line| state.phi(line, before)).collect();
            state.values.extend(phis);
            for line in &self.blocks[block] {
                steps += 1;
                if steps > MOST_STEPS || events.len() >= MOST_EVENTS {
                    events.push(Event::Open);
                    return events;
                }
                let words = words(line);
                match words[..] {
                    ["store", "volatile", _, value, "ptr", address, ..] => {
                        match (state.get(value, 32), state.get(address, 64)) {
                            (Value::Number(value, _), Value::Address(address)) => {
                                events.push(Event::Store(address, value))
                            }
                            _ => {
                                events.push(Event::Undefined(line.to_string()));
                                return events;
                            }
                        }
                    }
                    ["call", "void", "@__rust_ptx_panic_with_1", "i64", value]
                    | ["tail", "call", "void", "@__rust_ptx_panic_with_1", "i64", value] => {
                        events.push(match state.get(value, 64) {
                            Value::Number(value, _) => Event::Panic(value),
                            _ => Event::Undefined(line.to_string()),
                        });
                        return events;
                    }
                    ["ret", "void"] => {
                        events.push(Event::Return);
                        return events;
                    }
                    ["br", "label", to] => {
                        (before, block) = (block, self.find(to));
                        continue 'blocks;
                    }
                    ["br", "i1", condition, "label", then, "label", other] => {
                        let Value::Number(holds, _) = state.get(condition, 1) else {
                            events.push(Event::Undefined(line.to_string()));
                            return events;
                        };
                        (before, block) = (block, self.find(if holds == 1 { then } else { other }));
                        continue 'blocks;
                    }
                    [_, "=", "phi", ..] => {}
                    [name, "=", ref instruction @ ..] => match state.compute(instruction) {
                        Some(value) => _ = state.values.insert(name.into(), value),
                        None => {
                            events.push(Event::Undefined(line.to_string()));
                            return events;
                        }
                    },
                    _ => panic!("the interpreter does not know `{line}`"),
                }
            }
            panic!("block `{block}` has no end");
        }
    }

    fn find(&self, label: &str) -> &'t str {
        self.blocks.get_key_value(&label[1..]).unwrap_or_else(|| panic!("no block {label}")).0
    }
}

/// Words without commas and brackets; metadata is left out.
fn words(line: &str) -> Vec<&str> {
    let line = line.split(", !").next().unwrap_or_default();
    line.split([' ', ',', '(', ')', '[', ']']).filter(|word| !word.is_empty() && !word.starts_with('#')).collect()
}

struct State {
    values: HashMap<String, Value>,
}

impl State {
    fn get(&self, text: &str, bits: u32) -> Value {
        match text {
            "true" => Value::Number(1, 1),
            "false" => Value::Number(0, 1),
            "poison" | "undef" => Value::Nothing,
            _ if text.starts_with('%') => *self.values.get(text).unwrap_or_else(|| panic!("{text} is not known")),
            _ => {
                let number: i128 = text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"));
                Value::Number(number as u64 & mask(bits), bits)
            }
        }
    }

    fn phi(&self, line: &str, before: &str) -> Option<(String, Value)> {
        let words = words(line);
        let [name, "=", "phi", ty, rest @ ..] = &words[..] else { return None };
        let pair = rest.chunks(2).find(|pair| pair[1].strip_prefix('%') == Some(before));
        let value = pair.unwrap_or_else(|| panic!("`{line}` does not say what comes from `{before}`"))[0];
        Some((name.to_string(), self.get(value, bits(ty))))
    }

    /// What an instruction computes; none if it may do anything.
    fn compute(&self, words: &[&str]) -> Option<Value> {
        let is_flag = |word: &str| {
            matches!(
                word,
                "nuw" | "nsw" | "nneg" | "exact" | "disjoint" | "samesign" | "tail" | "inbounds" | "nusw" | "noundef"
            )
        };
        let plain: Vec<&str> = words.iter().filter(|word| !is_flag(word)).copied().collect();
        let has = |flag: &str| words.contains(&flag);
        Some(match plain[..] {
            ["freeze", ty, value] => match self.get(value, bits(ty)) {
                Value::Nothing => Value::Number(0, bits(ty)),
                value => value,
            },
            ["icmp", predicate, ty, left, right] => {
                let bits = bits(ty);
                let (Value::Number(a, _), Value::Number(b, _)) = (self.get(left, bits), self.get(right, bits)) else {
                    return Some(Value::Nothing);
                };
                let (sa, sb) = (signed(a, bits), signed(b, bits));
                if has("samesign") && (sa < 0) != (sb < 0) {
                    return Some(Value::Nothing);
                }
                let holds = match predicate {
                    "eq" => a == b,
                    "ne" => a != b,
                    "ult" => a < b,
                    "ule" => a <= b,
                    "ugt" => a > b,
                    "uge" => a >= b,
                    "slt" => sa < sb,
                    "sle" => sa <= sb,
                    "sgt" => sa > sb,
                    "sge" => sa >= sb,
                    _ => panic!("no predicate {predicate}"),
                };
                Value::Number(u64::from(holds), 1)
            }
            ["select", "i1", condition, ty, then, _, other] => match self.get(condition, 1) {
                Value::Number(holds, _) => self.get(if holds == 1 { then } else { other }, bits(ty)),
                _ => Value::Nothing,
            },
            [op @ ("zext" | "sext" | "trunc"), from, value, "to", to] => {
                let (from, to) = (bits(from), bits(to));
                let Value::Number(value, _) = self.get(value, from) else { return Some(Value::Nothing) };
                let sign = signed(value, from);
                match op {
                    "zext" if has("nneg") && sign < 0 => Value::Nothing,
                    "sext" => Value::Number(sign.cast_unsigned() & mask(to), to),
                    "trunc" if has("nuw") && value & !mask(to) != 0 => Value::Nothing,
                    "trunc" if has("nsw") && signed(value & mask(to), to) != sign => Value::Nothing,
                    _ => Value::Number(value & mask(to), to),
                }
            }
            ["getelementptr", ty, "ptr", base, index_ty, index] => {
                let size = match ty {
                    "i8" => 1,
                    "i32" => 4,
                    _ => panic!("no elements of {ty}"),
                };
                match (self.get(base, 64), self.get(index, bits(index_ty))) {
                    (Value::Address(base), Value::Number(index, bits)) => {
                        Value::Address(base.wrapping_add(signed(index, bits).cast_unsigned().wrapping_mul(size)))
                    }
                    _ => Value::Nothing,
                }
            }
            ["call", ty, name, _, left, _, right] => {
                let bits = bits(ty);
                let (Value::Number(a, _), Value::Number(b, _)) = (self.get(left, bits), self.get(right, bits)) else {
                    return Some(Value::Nothing);
                };
                let (sa, sb) = (signed(a, bits), signed(b, bits));
                let value = match name.strip_prefix("@llvm.").and_then(|name| name.rsplit_once('.')) {
                    Some(("umin", _)) => a.min(b),
                    Some(("umax", _)) => a.max(b),
                    Some(("smin", _)) => sa.min(sb).cast_unsigned(),
                    Some(("smax", _)) => sa.max(sb).cast_unsigned(),
                    Some(("usub.sat", _)) => a.saturating_sub(b),
                    _ => panic!("no function {name}"),
                };
                Value::Number(value & mask(bits), bits)
            }
            [op, ty, left, right] => {
                let bits = bits(ty);
                let divides = matches!(op, "udiv" | "urem" | "sdiv" | "srem");
                let (Value::Number(a, _), Value::Number(b, _)) = (self.get(left, bits), self.get(right, bits)) else {
                    return (!divides).then_some(Value::Nothing);
                };
                let (sa, sb) = (i128::from(signed(a, bits)), i128::from(signed(b, bits)));
                let (ua, ub) = (u128::from(a), u128::from(b));
                let (plain, exact_signed, exact) = match op {
                    "add" => (a.wrapping_add(b), sa + sb, Some(ua + ub)),
                    "sub" => (a.wrapping_sub(b), sa - sb, ua.checked_sub(ub)),
                    "mul" => (a.wrapping_mul(b), sa * sb, Some(ua * ub)),
                    "shl" | "lshr" | "ashr" if b >= u64::from(bits) => return Some(Value::Nothing),
                    "shl" => (a << b, sa << b, Some(ua << b)),
                    "lshr" => (a >> b, sa, Some(ua)),
                    "ashr" => (signed(a, bits).cast_unsigned() >> b, sa, Some(ua)),
                    "and" => (a & b, sa, Some(ua)),
                    "or" | "xor" if has("disjoint") && a & b != 0 => return Some(Value::Nothing),
                    "or" => (a | b, sa, Some(ua)),
                    "xor" => (a ^ b, sa, Some(ua)),
                    _ if divides && b == 0 => return None,
                    "udiv" => (a / b, sa, Some(ua)),
                    "urem" => (a % b, sa, Some(ua)),
                    _ => panic!("no operation {op}"),
                };
                let plain =
                    if op == "ashr" { (signed(a, bits) >> b).cast_unsigned() & mask(bits) } else { plain & mask(bits) };
                let counts = matches!(op, "add" | "sub" | "mul" | "shl");
                let wraps = counts && has("nsw") && exact_signed != i128::from(signed(plain, bits))
                    || counts && has("nuw") && exact != Some(u128::from(plain))
                    || has("exact") && matches!(op, "lshr" | "ashr") && (plain << b) & mask(bits) != a
                    || has("exact") && op == "udiv" && plain * b != a;
                if wraps { Value::Nothing } else { Value::Number(plain, bits) }
            }
            _ => panic!("the interpreter does not know `{}`", words.join(" ")),
        })
    }
}

fn bits(ty: &str) -> u32 {
    ty.strip_prefix('i').and_then(|bits| bits.parse().ok()).unwrap_or_else(|| panic!("`{ty}` is no integer"))
}

/// The function as it is, and after the stage.
fn both(text: &str) -> (String, String) {
    let context = Context::create();
    let module = parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    let printed = || module.get_function("f").unwrap().print_to_string().to_string();
    let before = printed();
    narrow(&context, &module, &machine, arch).unwrap();
    module.verify().unwrap_or_else(|error| panic!("{error}: {text}"));
    (before, printed())
}

#[test]
fn random_functions_do_the_same() {
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
            let mut length = || Ok(Value::Number(*u.choose(&LENGTHS)?, 64));
            let (len, n, m) = (length()?, length()?, length()?);
            let mut position = || Ok(Value::Number(u64::from(*u.choose(&POSITIONS)?), 32));
            let (a, b) = (position()?, position()?);
            let to = Value::Address(1 << 20);
            let given = HashMap::from([("%to", to), ("%len", len), ("%n", n), ("%m", m), ("%a", a), ("%b", b)]);
            let (is, was) = (new.run(&given), old.run(&given));
            if was.iter().any(|event| matches!(event, Event::Undefined(_))) {
                continue;
            }
            runs += 1;
            let open = |events: &[Event]| matches!(events.last(), Some(Event::Open)).then(|| events.len() - 1);
            let common = open(&is).unwrap_or(usize::MAX).min(open(&was).unwrap_or(usize::MAX));
            let same = is.iter().take(common).eq(was.iter().take(common));
            assert!(same, "{given:?}: {is:?}, not {was:?}:\n{before}\n{after}");
        }
        Ok(())
    })
    .size_min(600)
    .size_max(6000)
    .budget_ms(4000);
    assert!(changed > 0 && runs > 0, "{changed} functions were changed, and run {runs} times");
}
