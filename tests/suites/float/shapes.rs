//! The sums and products of a PTX function, each with what its operands are: two functions that round the same things have
//! the same ones.
//!
//! A sum of `a * b` and `c * d` becomes `fma(a, b, mul)`, and which product is rounded makes the result another number.
//! Signs are left out, since they round nothing: `a - b` is a sum, and `-c` is `c`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use libtest_mimic::Trial;

use crate::compiled::{nvcc_ptx, ours_ptx, with_nvcc};
use crate::table::rows;

/// A test for every expression whose parts stand in several blocks: there the instructions may be the same and the roundings
/// not.
pub fn trials() -> Vec<Trial> {
    let sets = ["default", "fast_math", "fmad_off", "ftz"];
    let later = rows().filter(|row| row.name.starts_with("later_"));
    later
        .map(|row| {
            with_nvcc(format!("{} rounds what nvcc's does", row.name), move || {
                for set in sets {
                    let read = |path: PathBuf| of_ptx(&fs::read_to_string(path).expect("it was written"));
                    let ours = read(ours_ptx(set).unwrap_or_else(|error| panic!("{error}")));
                    let nvcc = read(nvcc_ptx(set));
                    assert_eq!(ours[row.name], nvcc[row.name], "{set}: `{}`, in CUDA C++ `{}`", row.rust, row.cuda);
                }
            })
        })
        .collect()
}

/// The shapes of every kernel and function.
pub type Shapes = BTreeMap<String, BTreeSet<String>>;

/// A function's instructions, by the register that they write.
#[derive(Default)]
struct Body<'a> {
    name: &'a str,
    instructions: Vec<(&'a str, Vec<&'a str>)>,
    written: BTreeMap<&'a str, Vec<usize>>,
}

/// The shapes in a PTX file.
pub fn of_ptx(ptx: &str) -> Shapes {
    let mut shapes = Shapes::new();
    let mut body = Body::default();
    for line in ptx.lines() {
        if let Some(name) = super::instructions::header(line) {
            body = Body { name, ..Body::default() };
        } else if line.starts_with('}') && !body.instructions.is_empty() {
            shapes.entry(body.name.to_string()).or_default().extend(body.shapes());
            body = Body::default();
        } else {
            body.add(line);
        }
    }
    shapes
}

impl<'a> Body<'a> {
    fn add(&mut self, line: &'a str) {
        let text = line.trim().trim_start_matches(['{', ' ', '\t']).trim_end_matches(['}', ' ']).trim_end_matches(';');
        // A guard, as in `@%p1 add.f32`.
        let text = if text.starts_with('@') { text.split_once(' ').map_or("", |(_, rest)| rest.trim()) } else { text };
        let Some((opcode, operands)) = text.split_once(char::is_whitespace) else { return };
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        if operands[0].starts_with('%') {
            self.written.entry(operands[0]).or_default().push(self.instructions.len());
            self.instructions.push((opcode, operands));
        }
    }

    fn shapes(&self) -> BTreeSet<String> {
        self.instructions.iter().filter_map(|(opcode, operands)| self.shape(opcode, operands)).collect()
    }

    fn shape(&self, opcode: &str, operands: &[&str]) -> Option<String> {
        let name = base(opcode);
        if !matches!(name, "add" | "mul" | "fma") || !(opcode.ends_with("f32") || opcode.ends_with("f64")) {
            return None;
        }
        let bits = if opcode.ends_with("f64") { 64 } else { 32 };
        let mut kinds: Vec<String> = operands[1..].iter().map(|operand| self.kind(operand, bits, 8)).collect();
        kinds[..2].sort();
        let mut opcode = opcode.replacen("sub", "add", 1);
        // A product with 1 is none, and neither is a sum with 0.
        if name == "fma" && matches!(kinds[0].as_str(), "3ff0000000000000" | "3f800000") {
            kinds.remove(0);
            kinds.sort();
            opcode = opcode.replacen("fma", "add", 1);
        } else if name == "fma" && kinds[2] == "0" {
            kinds.pop();
            opcode = opcode.replacen("fma", "mul", 1);
        }
        Some(format!("{opcode}({})", kinds.join(", ")))
    }

    /// What an operand is: a constant, or the operation that it results from.
    fn kind(&self, operand: &str, bits: u32, depth: u32) -> String {
        if let Some(constant) = magnitude(operand, bits) {
            return constant;
        }
        let Some(written) = self.written.get(operand) else { return "value".into() };
        let &[at] = &written[..] else { return "value".into() };
        let (opcode, operands) = &self.instructions[at];
        match base(opcode) {
            "mov" | "neg" | "abs" if depth > 0 && operands.len() == 2 => self.kind(operands[1], bits, depth - 1),
            "selp" | "ld" | "mov" => "value".into(),
            "cvt" => "cvt".into(),
            _ if !(opcode.ends_with(".f32") || opcode.ends_with(".f64")) => "bits".into(),
            other => other.into(),
        }
    }
}

/// The operation alone.
fn base(opcode: &str) -> &str {
    match opcode.split('.').next().unwrap_or("") {
        "sub" => "add",
        other => other,
    }
}

/// A constant without its sign, as in `0d3FF0000000000000` or `0f3F800000`, or the same bits as an integer.
fn magnitude(operand: &str, bits_of_number: u32) -> Option<String> {
    let bits = match operand.strip_prefix("0d").or_else(|| operand.strip_prefix("0f")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => operand.parse::<i64>().ok()? as u64,
    };
    Some(format!("{:x}", bits & ((1 << (bits_of_number - 1)) - 1)))
}
