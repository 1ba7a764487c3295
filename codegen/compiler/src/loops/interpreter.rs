//! An interpreter of LLVM's text, for tests that run a function before and after a stage.
//!
//! It knows no more of LLVM than the language reference says of each instruction: a flag that is not so makes a value that means
//! nothing, and to look at one is an error.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Instructions that are run, and stores that are seen, at most.
const MOST_STEPS: usize = 20_000;
const MOST_EVENTS: usize = 300;

/// A number with its bits, or none that means anything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Number(u64, u32),
    Address(u64),
    Nothing,
}

/// What anyone sees.
#[derive(Debug, PartialEq)]
pub enum Event {
    Store(u64, u64),
    /// From where something was loaded until the end, in no order.
    Loads(Vec<u64>),
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
pub struct Function<'t> {
    first: &'t str,
    blocks: HashMap<&'t str, Vec<&'t str>>,
}

impl<'t> Function<'t> {
    pub fn parse(text: &'t str) -> Self {
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
    pub fn run(&self, given: &HashMap<&str, Value>) -> Vec<Event> {
        self.run_with(given, false)
    }

    /// The same of a function that another one stands for: where it freezes what means nothing, that may be any number, which
    /// the other one may choose anew, and the run ends as undefined.
    pub fn run_original(&self, given: &HashMap<&str, Value>) -> Vec<Event> {
        self.run_with(given, true)
    }

    fn run_with(&self, given: &HashMap<&str, Value>, is_original: bool) -> Vec<Event> {
        let values = given.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let mut state = State { values, is_original };
        let (mut events, mut loads) = (Vec::new(), Vec::new());
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
                    ["store", "volatile", ty, value, "ptr", address, ..] | ["store", ty, value, "ptr", address, ..] => {
                        match (state.get(value, bits(ty)), state.get(address, 64)) {
                            // Any other is as good as four of a byte each.
                            (Value::Number(value, 32), Value::Address(address)) if words[1] != "volatile" => {
                                let bytes = (address..).zip((value as u32).to_le_bytes());
                                events.extend(bytes.map(|(address, byte)| Event::Store(address, byte.into())));
                            }
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
                    ["call", "void", "@llvm.assume", "i1", condition]
                    | ["tail", "call", "void", "@llvm.assume", "i1", condition] => {
                        if state.get(condition, 1) != Value::Number(1, 1) {
                            events.push(Event::Undefined(line.to_string()));
                            return events;
                        }
                    }
                    ["ret", "void"] => {
                        loads.sort_unstable();
                        events.push(Event::Loads(loads));
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
                    // Where LLVM has seen that every way here means nothing; a panic has ended the run before.
                    ["unreachable"] => {
                        events.push(Event::Undefined(line.to_string()));
                        return events;
                    }
                    [name, "=", "load", ty, "ptr", address, ..] => match state.get(address, 64) {
                        Value::Address(address) => {
                            loads.push(address);
                            let value = Value::Number(mixed(&address) & mask(bits(ty)), bits(ty));
                            state.values.insert(name.into(), value);
                        }
                        _ => {
                            events.push(Event::Undefined(line.to_string()));
                            return events;
                        }
                    },
                    [name, "=", "call", "{", ty, "i1", "}", function, _, left, _, right] => {
                        let (value, wraps) = state.overflowing(function, bits(ty), left, right);
                        state.values.extend([(format!("{name}.0"), value), (format!("{name}.1"), wraps)]);
                    }
                    [name, "=", "extractvalue", "{", _, _, "}", pair, index] => {
                        let part = state.get(&format!("{pair}.{index}"), 64);
                        state.values.insert(name.into(), part);
                    }
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
    /// Whether nothing may be chosen.
    is_original: bool,
}

impl State {
    fn get(&self, text: &str, bits: u32) -> Value {
        match text {
            "true" => Value::Number(1, 1),
            "false" => Value::Number(0, 1),
            "poison" | "undef" => Value::Nothing,
            _ if text.starts_with('%') => *self.values.get(text).unwrap_or_else(|| panic!("{text} is not known")),
            _ => {
                // What is no number of single precision is any number for each text.
                let float = || single(text).map(|float| i128::from(float.to_bits()));
                let number = text.parse().ok().or_else(float).unwrap_or_else(|| i128::from(mixed(text)));
                Value::Number(number as u64 & mask(bits), bits)
            }
        }
    }

    /// A float of single precision, where it means something.
    fn float(&self, text: &str) -> Option<f32> {
        match self.get(text, 32) {
            Value::Number(bits, _) => Some(f32::from_bits(bits as u32)),
            _ => None,
        }
    }

    /// What an instruction computes of floats; none, if it is of something else.
    fn compute_float(&self, words: &[&str]) -> Option<Value> {
        let number = |float: f32| Value::Number(float.to_bits().into(), 32);
        Some(match *words {
            ["fcmp", predicate, "float", left, right] => {
                let (Some(a), Some(b)) = (self.float(left), self.float(right)) else { return Some(Value::Nothing) };
                let order = a.partial_cmp(&b);
                let (kind, is) = predicate.split_at(1);
                let holds = match is {
                    "lt" => order.map(|order| order.is_lt()),
                    "le" => order.map(|order| order.is_le()),
                    "gt" => order.map(|order| order.is_gt()),
                    "ge" => order.map(|order| order.is_ge()),
                    "eq" => order.map(|order| order.is_eq()),
                    "ne" => order.map(|order| order.is_ne()),
                    // Of `ord` and `uno`: whether both are numbers, and whether not.
                    "rd" => Some(order.is_some()),
                    "no" => Some(order.is_none()),
                    _ => panic!("no predicate {predicate}"),
                };
                Value::Number(u64::from(holds.unwrap_or(kind == "u")), 1)
            }
            [op @ ("uitofp" | "sitofp"), from, value, "to", "float"] => match (op, self.get(value, bits(from))) {
                ("uitofp", Value::Number(value, _)) => number(value as f32),
                (_, Value::Number(value, bits)) => number(signed(value, bits) as f32),
                _ => Value::Nothing,
            },
            [op @ ("fadd" | "fsub" | "fmul"), "float", left, right] => match (self.float(left), self.float(right)) {
                (Some(a), Some(b)) if op == "fadd" => number(a + b),
                (Some(a), Some(b)) if op == "fsub" => number(a - b),
                (Some(a), Some(b)) => number(a * b),
                _ => Value::Nothing,
            },
            ["call", "float", function, "float", value] => match (function, self.float(value)) {
                ("@llvm.floor.f32", Some(value)) => number(value.floor()),
                (_, None) => Value::Nothing,
                _ => panic!("no function {function}"),
            },
            ["call", "float", function, "float", left, "float", right] => {
                match (function, self.float(left), self.float(right)) {
                    ("@llvm.minnum.f32", Some(a), Some(b)) => number(a.min(b)),
                    ("@llvm.maxnum.f32", Some(a), Some(b)) => number(a.max(b)),
                    (_, Some(_), Some(_)) => panic!("no function {function}"),
                    _ => Value::Nothing,
                }
            }
            ["call", ty, function, "float", value] => {
                let Some(value) = self.float(value) else { return Some(Value::Nothing) };
                let number = match function.strip_prefix("@llvm.fpto")?.split_once(".sat.")? {
                    ("ui", "i64.f32") => value as u64,
                    ("ui", "i32.f32") => (value as u32).into(),
                    ("si", "i64.f32") => (value as i64).cast_unsigned(),
                    ("si", "i32.f32") => u64::from((value as i32).cast_unsigned()),
                    _ => panic!("no function {function}"),
                };
                Value::Number(number, bits(ty))
            }
            _ => return None,
        })
    }

    fn phi(&self, line: &str, before: &str) -> Option<(String, Value)> {
        let words = words(line);
        let [name, "=", "phi", ty, rest @ ..] = &words[..] else { return None };
        let pair = rest.chunks(2).find(|pair| pair[1].strip_prefix('%') == Some(before));
        let value = pair.unwrap_or_else(|| panic!("`{line}` does not say what comes from `{before}`"))[0];
        Some((name.to_string(), self.get(value, bits(ty))))
    }

    /// A sum or a product, and whether it has more bits.
    fn overflowing(&self, function: &str, bits: u32, left: &str, right: &str) -> (Value, Value) {
        let (Value::Number(a, _), Value::Number(b, _)) = (self.get(left, bits), self.get(right, bits)) else {
            return (Value::Nothing, Value::Nothing);
        };
        let (a, b) = (u128::from(a), u128::from(b));
        let exact = match function {
            _ if function.contains("umul.with.overflow") => a * b,
            _ if function.contains("uadd.with.overflow") => a + b,
            _ => panic!("no function {function}"),
        };
        let value = exact as u64 & mask(bits);
        (Value::Number(value, bits), Value::Number(u64::from(exact != u128::from(value)), 1))
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
        if let Some(value) = self.compute_float(&plain) {
            return Some(value);
        }
        Some(match plain[..] {
            ["freeze", ty, value] => match self.get(value, bits(ty)) {
                Value::Nothing if self.is_original => return None,
                Value::Nothing => Value::Number(0, bits(ty)),
                value => value,
            },
            ["icmp", predicate, ty, left, right] => {
                let bits = bits(ty);
                let (a, b) = match (self.get(left, bits), self.get(right, bits)) {
                    (Value::Number(a, _), Value::Number(b, _)) | (Value::Address(a), Value::Address(b)) => (a, b),
                    _ => return Some(Value::Nothing),
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
            ["ptrtoint", "ptr", value, "to", "i64"] => match self.get(value, 64) {
                Value::Address(address) => Value::Number(address, 64),
                value => value,
            },
            ["getelementptr", ref ty @ .., "ptr", base, index_ty, index] => {
                let size = match ty {
                    ["i8"] => 1,
                    ["i32" | "float"] => 4,
                    ["i64"] | ["2", "x", "i32"] => 8,
                    _ => panic!("no elements of {}", ty.join(" ")),
                };
                match (self.get(base, 64), self.get(index, bits(index_ty))) {
                    (Value::Address(base), Value::Number(index, bits)) => {
                        Value::Address(base.wrapping_add(signed(index, bits).cast_unsigned().wrapping_mul(size)))
                    }
                    _ => Value::Nothing,
                }
            }
            ["call", "i32", "asm", "\"mov.b32", .., "i32", value] => self.get(value, 32),
            ["call", "i64", "asm", "\"mov.b64", .., "i64", value] => self.get(value, 64),
            ["bitcast", "i64", value, "to", "double"] => self.get(value, 64),
            ["bitcast", "float", value, "to", "i32"] => self.get(value, 32),
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
                    Some(("ucmp.i32", _)) => (a.cmp(&b) as i64).cast_unsigned(),
                    Some(("scmp.i32", _)) => (sa.cmp(&sb) as i64).cast_unsigned(),
                    Some(("usub.sat", _)) => a.saturating_sub(b),
                    Some(("uadd.sat", _)) => a.saturating_add(b).min(mask(bits)),
                    // The second operand says whether the least number has none.
                    Some(("abs", _)) if b == 1 && a == 1 << (bits - 1) => return Some(Value::Nothing),
                    Some(("abs", _)) => sa.unsigned_abs(),
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
                    "srem" if sb == -1 && signed(a, bits) == signed(1 << (bits - 1), bits) => return None,
                    "srem" => (signed(a, bits).wrapping_rem(signed(b, bits)).cast_unsigned(), sa, Some(ua)),
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
    match ty {
        "ptr" => return 64,
        "float" => return 32,
        _ => {}
    }
    ty.strip_prefix('i').and_then(|bits| bits.parse().ok()).unwrap_or_else(|| panic!("`{ty}` is no integer"))
}

/// A constant of single precision, as LLVM writes it.
fn single(text: &str) -> Option<f32> {
    match text.strip_prefix("0x") {
        Some(bits) => u64::from_str_radix(bits, 16).ok().map(|bits| f64::from_bits(bits) as f32),
        None => text.parse().ok(),
    }
}

/// A number that is another for whatever else there is.
fn mixed(of: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Whether two runs did the same, as far as both had time.
pub fn agree(one: &[Event], other: &[Event]) -> bool {
    let open = |events: &[Event]| matches!(events.last(), Some(Event::Open)).then(|| events.len() - 1);
    let common = open(one).unwrap_or(usize::MAX).min(open(other).unwrap_or(usize::MAX));
    one.iter().take(common).eq(other.iter().take(common))
}

#[test]
fn a_choice_of_the_original_is_none_to_compare() {
    let text = "define void @f(ptr %to) {
          %any = freeze i32 poison
          store i32 %any, ptr %to
          ret void
        }";
    let (function, given) = (Function::parse(text), HashMap::from([("%to", Value::Address(64))]));
    assert_eq!(function.run(&given).last(), Some(&Event::Return));
    assert!(matches!(function.run_original(&given)[..], [Event::Undefined(_)]));
}
