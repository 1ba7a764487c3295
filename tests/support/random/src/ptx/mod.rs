//! Random kernels in PTX, and an interpreter that says what they compute: for bugs of the assembler.
//!
//! A kernel has a few registers of each width, all written many times, in straight lines, branches and small loops. In the
//! end a digest takes in every register.

pub mod model;
pub mod table;

use std::fmt::Write as _;

use crate::choices::Choices;
use crate::inputs::WORDS;
use table::{LONGS, NARROW, PACKED, Row};

/// Threads that run each kernel.
pub const THREADS: usize = 512;

/// Threads of a block.
pub const BLOCK: usize = 128;

/// Registers of each kind, by the letters of the table.
const REGISTERS: [(char, u32, usize); 4] = [('h', 16, 8), ('w', 32, 6), ('d', 64, 4), ('p', 1, 4)];

/// An operand: a register of the kind, or a constant.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Register(usize),
    Constant(u64),
}

/// What a kernel does.
#[derive(Clone, Debug)]
enum Step {
    /// A row of the table, with a register for the result; only if the predicate has that value.
    Row { row: &'static Row, result: usize, operands: Vec<Operand>, guard: Option<(usize, bool)> },
    /// Either of two lists, by a predicate.
    If(usize, Vec<Step>, Vec<Step>),
    /// A list as often as the low bits of a word say, and once more.
    Loop { count: usize, mask: u64, body: Vec<Step> },
}

/// A kernel: what it does between reading its inputs and writing its digest.
#[derive(Clone, Debug)]
pub struct Kernel(Vec<Step>);

fn place(kind: char) -> usize {
    REGISTERS.iter().position(|(letter, ..)| *letter == kind.to_ascii_lowercase()).expect("a kind of the table")
}

fn bits(kind: char) -> u32 {
    REGISTERS[place(kind)].1
}

impl Kernel {
    /// The kernel of these choices.
    pub fn new(choices: &mut Choices) -> Self {
        let count = 12 + choices.below(28);
        Self(steps(choices, count, 2))
    }

    /// Smaller kernels that say where a difference comes from: of the steps the first so many, then all but one of them, also
    /// of those within branches and loops.
    pub fn parts(&self) -> Vec<Self> {
        let first = (0..=self.0.len()).map(|len| self.0[..len].to_vec());
        first.chain(without_one(&self.0)).chain(without_one_within(&self.0)).map(Self).collect()
    }

    /// What a thread with these inputs computes.
    pub fn compute(&self, inputs: &[u64; WORDS]) -> u32 {
        let mut registers = first(inputs);
        run(&self.0, &mut registers);
        let all =
            registers.iter().zip(REGISTERS).flat_map(|(of, (kind, ..))| of.iter().map(move |value| (kind, *value)));
        let digest = all.enumerate().fold(0u64, |digest, (number, (kind, value))| {
            let value = if kind == 'h' && number % 2 == 1 { model::signed(value, 16) as u64 } else { value };
            (digest.rotate_left(5) ^ value).wrapping_mul(FACTOR)
        });
        (digest ^ digest >> 32) as u32
    }

    /// Its PTX, by this name.
    pub fn text(&self, name: &str) -> String {
        let mut text = format!(
            ".visible .entry {name}(.param .u64 inputs, .param .u64 threads, .param .u64 out, .param .u64 len)\n{{\n{HEAD}"
        );
        let mut writer = Writer { text: &mut text, labels: 0 };
        writer.steps(&self.0);
        text += "\tmov.b64 %digest, 0;\n";
        let mut number = 0;
        for (kind, _, count) in REGISTERS {
            for register in 0..count {
                let value = match kind {
                    'h' if number % 2 == 1 => "cvt.s64.s16 %value, ",
                    'h' => "cvt.u64.u16 %value, ",
                    'w' => "cvt.u64.u32 %value, ",
                    'd' => "mov.b64 %value, ",
                    _ => "selp.b64 %value, 1, 0, ",
                };
                number += 1;
                _ = write!(
                    text,
                    "\t{value}%{kind}{register};\n\tshl.b64 %left, %digest, 5;\n\tshr.u64 %right, %digest, 59;\n\
                     \tor.b64 %digest, %left, %right;\n\txor.b64 %digest, %digest, %value;\n\
                     \tmul.lo.s64 %digest, %digest, {FACTOR};\n"
                );
            }
        }
        text + TAIL
    }
}

/// All but one of the steps.
fn without_one(steps: &[Step]) -> impl Iterator<Item = Vec<Step>> {
    (0..steps.len()).map(|at| [&steps[..at], &steps[at + 1..]].concat())
}

/// All of the steps, but of the branches and loops among them all but one step.
fn without_one_within(steps: &[Step]) -> Vec<Vec<Step>> {
    let all = |steps: &[Step]| Vec::from_iter(without_one(steps).chain(without_one_within(steps)));
    let smaller = |step: &Step| match step {
        Step::Row { .. } => Vec::new(),
        Step::If(predicate, yes, no) => {
            let less_yes = all(yes).into_iter().map(|yes| Step::If(*predicate, yes, no.clone()));
            let less_no = all(no).into_iter().map(|no| Step::If(*predicate, yes.clone(), no));
            less_yes.chain(less_no).collect()
        }
        Step::Loop { count, mask, body } => {
            all(body).into_iter().map(|body| Step::Loop { count: *count, mask: *mask, body }).collect()
        }
    };
    let at =
        |at: usize| smaller(&steps[at]).into_iter().map(move |step| [&steps[..at], &[step], &steps[at + 1..]].concat());
    (0..steps.len()).flat_map(at).collect()
}

/// What digests multiply by.
const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

/// A module of kernels: `k0`, `k1` and so on.
pub fn module(kernels: &[Kernel], arch: &str) -> String {
    let kernels = kernels.iter().enumerate().map(|(number, kernel)| kernel.text(&format!("k{number}")));
    format!(".version 8.0\n.target {arch}\n.address_size 64\n{}", kernels.collect::<String>())
}

/// Registers, and the first values of those that the table knows.
const HEAD: &str = "\t.reg .b16 %h<8>, %between_h;\n\t.reg .b32 %w<6>, %between_w, %between_v, %thread<4>;\n\
    \t.reg .b64 %d<4>, %between_x, %digest, %value, %left, %right, %from, %to;\n\
    \t.reg .pred %p<4>, %between_p, %more;\n\t.reg .b32 %count<256>;\n\
    \tld.param.u64 %from, [inputs];\n\tld.param.u64 %to, [out];\n\
    \tmov.u32 %thread0, %tid.x;\n\tmov.u32 %thread1, %ctaid.x;\n\tmov.u32 %thread2, %ntid.x;\n\
    \tmad.lo.s32 %thread3, %thread1, %thread2, %thread0;\n\
    \tmad.wide.u32 %from, %thread3, 32, %from;\n\tmad.wide.u32 %to, %thread3, 4, %to;\n\
    \tld.global.u64 %d0, [%from];\n\tld.global.u64 %d1, [%from+8];\n\tld.global.u64 %d2, [%from+16];\n\
    \tld.global.u64 %d3, [%from+24];\n\
    \tld.global.u32 %w0, [%from+4];\n\tld.global.u32 %w1, [%from+8];\n\tld.global.u32 %w2, [%from+20];\n\
    \tld.global.u32 %w3, [%from+24];\n\tcvt.u32.u64 %w4, %d0;\n\tld.global.s8 %w5, [%from+9];\n\
    \tld.global.u16 %h0, [%from];\n\tld.global.u16 %h1, [%from+10];\n\tld.global.u16 %h2, [%from+20];\n\
    \tld.global.u16 %h3, [%from+30];\n\tld.global.s8 %h4, [%from+3];\n\tld.global.u8 %h5, [%from+12];\n\
    \tcvt.u16.u32 %h6, %w0;\n\tmov.b32 {%between_h, %h7}, %w3;\n\
    \tsetp.lt.s64 %p0, %d0, 0;\n\tsetp.ne.s16 %p1, %h0, 0;\n\tsetp.gt.u32 %p2, %w1, %w2;\n\tsetp.eq.s32 %p3, %w0, %w4;\n";

const TAIL: &str = "\tshr.u64 %left, %digest, 32;\n\txor.b64 %digest, %digest, %left;\n\
    \tcvt.u32.u64 %thread0, %digest;\n\tst.global.u32 [%to], %thread0;\n\tret;\n}\n";

/// The same first values.
fn first(inputs: &[u64; WORDS]) -> [Vec<u64>; 4] {
    let bytes: Vec<u8> = inputs.iter().flat_map(|word| word.to_le_bytes()).collect();
    let at =
        |place: usize, len: usize| (0..len).rev().fold(0u64, |value, byte| value << 8 | u64::from(bytes[place + byte]));
    let d = inputs.to_vec();
    let extended = |place: usize, bits: u32| model::low(model::signed(at(place, 1), 8) as u64, bits);
    let w = vec![at(4, 4), at(8, 4), at(20, 4), at(24, 4), at(0, 4), extended(9, 32)];
    let h = vec![at(0, 2), at(10, 2), at(20, 2), at(30, 2), extended(3, 16), at(12, 1), w[0] & 0xffff, w[3] >> 16];
    let p = [(d[0] as i64) < 0, h[0] != 0, w[1] > w[2], w[0] == w[4]].map(u64::from).to_vec();
    [h, w, d, p]
}

fn steps(choices: &mut Choices, count: usize, depth: usize) -> Vec<Step> {
    let mut list = Vec::new();
    while list.len() < count {
        let nested = if depth > 0 { 1 } else { 0 };
        let step = match choices.weighted(&[18, nested, nested]) {
            0 => row(choices),
            1 => {
                let (yes, no) = (1 + choices.below(5), choices.below(5));
                let predicate = choices.below(REGISTERS[3].2);
                Step::If(predicate, steps(choices, yes, depth - 1), steps(choices, no, depth - 1))
            }
            _ => {
                let (count, len) = (choices.below(REGISTERS[1].2), 1 + choices.below(5));
                let mask = *choices.pick(&[0, 1, 3, 7]);
                Step::Loop { count, mask, body: steps(choices, len, depth - 1) }
            }
        };
        list.push(step);
    }
    list
}

fn row(choices: &mut Choices) -> Step {
    let table = [NARROW, table::WORDS, PACKED, LONGS][choices.weighted(&[12, 9, 4, 4])];
    let row = choices.pick(table);
    let mut kinds = row.kinds.chars();
    let result = kinds.next().expect("a result's kind");
    let operands = kinds.enumerate().map(|(number, kind)| operand(choices, kind, number)).collect();
    // What `workarounds.rs` of the compiler rewrites stands alone in its line, as LLVM writes it.
    let rewritten = row.ptx.contains("16") || row.ptx.starts_with("abs");
    let may_guard = row.ptx.matches(';').count() == 1 && !rewritten;
    let guard = (may_guard && choices.chance(12)).then(|| (choices.below(4), choices.chance(50)));
    Step::Row { row, result: choices.below(REGISTERS[place(result)].2), operands, guard }
}

fn operand(choices: &mut Choices, kind: char, number: usize) -> Operand {
    match kind {
        'k' => Operand::Constant(choices.below(256) as u64),
        // The first is a register: where all are constants there is nothing to run.
        'h' | 'w' | 'd' if number > 0 && choices.chance(15) => {
            let edges = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff];
            let value = match choices.below(3) {
                0 => *choices.pick(&edges),
                1 => !*choices.pick(&edges),
                _ => choices.word().into(),
            };
            Operand::Constant(model::low(value, bits(kind)))
        }
        _ => Operand::Register(choices.below(REGISTERS[place(kind)].2)),
    }
}

fn run(steps: &[Step], registers: &mut [Vec<u64>; 4]) {
    for step in steps {
        match step {
            Step::Row { row, result, operands, guard } => {
                if guard.is_some_and(|(predicate, value)| (registers[3][predicate] == 1) != value) {
                    continue;
                }
                let mut kinds = row.kinds.chars();
                let kind = kinds.next().expect("a result's kind");
                let mut values = [0; 4];
                for ((value, operand), kind) in values.iter_mut().zip(operands).zip(kinds) {
                    *value = match operand {
                        Operand::Register(register) => registers[place(kind)][*register],
                        Operand::Constant(constant) => *constant,
                    };
                }
                registers[place(kind)][*result] = model::low((row.compute)(values), bits(kind));
            }
            Step::If(predicate, yes, no) => run(if registers[3][*predicate] == 1 { yes } else { no }, registers),
            Step::Loop { count, mask, body } => {
                for _ in 0..(registers[1][*count] & mask) + 1 {
                    run(body, registers);
                }
            }
        }
    }
}

struct Writer<'a> {
    text: &'a mut String,
    labels: usize,
}

impl Writer<'_> {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Row { row, result, operands, guard } => self.row(row, *result, operands, *guard),
            Step::If(predicate, yes, no) => {
                self.labels += 1;
                let label = self.labels;
                _ = writeln!(self.text, "\t@!%p{predicate} bra $else{label};");
                self.steps(yes);
                _ = writeln!(self.text, "\tbra $end{label};\n$else{label}:");
                self.steps(no);
                _ = writeln!(self.text, "$end{label}:");
            }
            Step::Loop { count, mask, body } => {
                self.labels += 1;
                let label = self.labels;
                _ = writeln!(self.text, "\tand.b32 %count{label}, %w{count}, {mask};\n$loop{label}:");
                self.steps(body);
                _ = writeln!(
                    self.text,
                    "\tsetp.ne.s32 %more, %count{label}, 0;\n\tsub.s32 %count{label}, %count{label}, 1;\n\
                     \t@%more bra $loop{label};"
                );
            }
        }
    }

    /// One instruction a line, as LLVM writes.
    fn row(&mut self, row: &Row, result: usize, operands: &[Operand], guard: Option<(usize, bool)>) {
        let mut kinds = row.kinds.chars();
        let mut text = row.ptx.replace("{r}", &format!("%{}{result}", kinds.next().expect("a result's kind")));
        for ((place, operand), kind) in ["{a}", "{b}", "{c}", "{d}"].iter().zip(operands).zip(kinds) {
            let operand = match operand {
                Operand::Register(register) => format!("%{}{register}", kind.to_ascii_lowercase()),
                Operand::Constant(constant) if kind == 'k' => constant.to_string(),
                Operand::Constant(constant) => model::signed(*constant, bits(kind)).to_string(),
            };
            text = text.replace(place, &operand);
        }
        for between in ["h", "w", "v", "x", "p"] {
            text = text.replace(&format!("{{{between}}}"), &format!("%between_{between}"));
        }
        for instruction in text.split_inclusive(';') {
            let guard = guard
                .map_or(String::new(), |(predicate, value)| format!("@{}%p{predicate} ", if value { "" } else { "!" }));
            _ = writeln!(self.text, "\t{guard}{}", instruction.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_used() {
        let text: String = (0..300).map(|number| Kernel::new(&mut Choices::of_item(1, number)).text("k")).collect();
        for row in [NARROW, table::WORDS, PACKED, LONGS].into_iter().flatten() {
            let name = row.ptx.split(' ').next().expect("a name");
            assert!(text.contains(&format!("\t{name} ")), "{name}");
        }
    }

    /// A kernel that does nothing: its digest is that of the first values.
    #[test]
    fn loops_and_branches() {
        let add = |result, a, constant| Step::Row {
            row: table::WORDS.iter().find(|row| row.ptx.starts_with("add.s32")).expect("a row"),
            result,
            operands: vec![Operand::Register(a), Operand::Constant(constant)],
            guard: None,
        };
        let run_of = |steps: Vec<Step>| {
            let mut registers = first(&[1, 2, 3, 4]);
            run(&steps, &mut registers);
            registers[1].clone()
        };
        let before = run_of(Vec::new());
        assert_eq!(before[..4], [0, 2, 0, 4]);
        // Register 1 is 2: three rounds.
        let looped = run_of(vec![Step::Loop { count: 1, mask: 3, body: vec![add(0, 0, 10)] }]);
        assert_eq!(looped[0], 30);
        // Predicate 1, whether the first halfword is not 0, holds.
        let either = run_of(vec![Step::If(1, vec![add(2, 2, 1)], vec![add(2, 2, 100)])]);
        assert_eq!(either[2], 1);
    }
}
