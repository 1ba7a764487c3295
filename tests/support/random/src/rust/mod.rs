//! Random programs in safe Rust, without panics and without anything undefined: the same source gives the same digest on a
//! CPU and on a GPU, at every level of optimisation.
//!
//! A program is a module with a function `program(input, thread)`. It may use all of `core`; what it shares with the other
//! threads of its block does not depend on their order.

mod expressions;
mod generator;
mod items;
mod iterators;
mod statements;
mod tables;
mod types;

use crate::choices::Choices;
use generator::Generator;
use types::{INTS, Ty};

/// What all programs use, for both sides.
pub const PRELUDE: &str = include_str!("prelude.rs.txt");

/// What the crates of both sides begin with.
const HEAD: &str = "#![allow(warnings)]\n#![allow(arithmetic_overflow, unconditional_panic, overflowing_literals)]\n";

/// How much fuel a program's own statements get.
const FUEL: i32 = 90;

/// A program's items and its function `program`.
pub fn program(choices: &mut Choices) -> String {
    let mut generator = Generator::new(choices);
    let items = generator.items();
    let body = body(&mut generator);
    format!("{items}pub fn program(input: &Inputs, thread: u32) -> u64 {{\n{body}}}\n")
}

fn body(generator: &mut Generator<'_>) -> String {
    generator.fuel = FUEL;
    generator.cost = 0;
    generator.declare("thread", Ty::Int(types::U32), false);
    let mut text = "let mut d = thread as u64;\n".to_string();
    // The inputs in several widths.
    for number in 0..4 {
        let int = if number == 0 { types::U64 } else { INTS[generator.choices.below(INTS.len())] };
        let value = match int.bits {
            128 => format!("((input[{number}] as u128) << 64 | input[{}] as u128) as {}", (number + 1) % 4, int.name),
            _ => format!("input[{number}] as {}", int.name),
        };
        text += &format!("let mut a{number}: {} = {value};\n", int.name);
        generator.declare(&format!("a{number}"), Ty::Int(int), true);
    }
    let shares = generator.choices.chance(25);
    for _ in 0..2 + generator.choices.below(4) {
        let count = 1 + generator.choices.below(3);
        text += &generator.statements(count, false);
        if shares {
            text += &match generator.choices.below(3) {
                0 => generator.exchange(),
                1 => generator.counting(),
                _ => String::new(),
            };
        }
    }
    // All that is left counts.
    let left: Vec<String> = generator.scope.iter().map(|variable| variable.name.clone()).collect();
    for name in left {
        text += &format!("{name}.mix(&mut d);\n");
    }
    if shares {
        // The next program of this block writes the same memory.
        text += "sync();\n";
    }
    text + "d\n"
}

/// The source of programs as a crate for the CPU, which prints every digest: a line of 128 words for each program.
pub fn host_crate(programs: &[String]) -> String {
    let modules = modules(programs);
    let list: String = (0..programs.len()).map(|number| format!("p{number}::program, ")).collect();
    let inputs = format!("{:?}", crate::inputs::inputs(crate::inputs::THREADS));
    format!(
        "{HEAD}\nmod prelude {{\n{PRELUDE}\n}}\n{modules}\nstatic INPUTS: [prelude::Inputs; prelude::THREADS] = {inputs};\n\
         fn main() {{\n    let results = prelude::run_all(&[{list}], &INPUTS);\n    for line in \
         results.chunks(prelude::THREADS) {{\n        let line: Vec<String> = line.iter().map(|word| \
         format!(\"{{word:08x}}\")).collect();\n        println!(\"{{}}\", line.join(\" \"));\n    }}\n}}\n"
    )
}

/// The same for the GPU, with a kernel for each program: `k0`, `k1` and so on.
pub fn device_crate(programs: &[String]) -> String {
    let kernels: String = (0..programs.len())
        .map(|number| {
            format!(
                "#[kernel]\npub fn k{number}(inputs: &[prelude::Inputs], mut out: DisjointSlice<u32>) {{\n    \
                 {DEVICE_START}let digest = p{number}::program(input, i.get() as u32);\n    {DEVICE_END}}}\n"
            )
        })
        .collect();
    device(programs, &kernels)
}

/// With one kernel, `k0`, that is told which program to run: ptxas compiles all that a kernel may reach anew for each
/// kernel, which without optimisation is nearly everything.
pub fn device_crate_with_one_kernel(programs: &[String]) -> String {
    let arms: String = (0..programs.len()).map(|number| format!("{number} => p{number}::program, ")).collect();
    let calls = arms.replace("program,", "program(input, i.get() as u32),");
    let kernel = format!(
        "#[kernel]\npub fn k0(which: u32, inputs: &[prelude::Inputs], mut out: DisjointSlice<u32>) {{\n    {DEVICE_START}\
         let digest = match which {{ {calls}_ => 0 }};\n    {DEVICE_END}}}\n"
    );
    device(programs, &kernel)
}

const DEVICE_START: &str = "let i = thread::index_1d();\n    let input = &inputs[i.get()];\n    ";

const DEVICE_END: &str = "if let Some(out) = out.get_mut(i) {\n        *out = prelude::fold(digest);\n    }\n";

fn device(programs: &[String], kernels: &str) -> String {
    format!("{HEAD}#![no_std]\nuse ptx::prelude::*;\nmod prelude {{\n{PRELUDE}\n}}\n{}\n{kernels}", modules(programs))
}

fn modules(programs: &[String]) -> String {
    let module =
        |(number, program): (usize, &String)| format!("mod p{number} {{\nuse super::prelude::*;\n{program}}}\n");
    programs.iter().enumerate().map(module).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_code_appears() {
        let texts: Vec<String> = (0..400).map(|number| program(&mut Choices::of_item(1, number))).collect();
        let kinds = [
            "&dyn Method",
            "&mut dyn FnMut",
            "= move |",
            "let mut f",
            ".zip(",
            ".rev()",
            ".windows(2)",
            ".scan(",
            ".flat_map(",
            "step_by",
            ".fold(",
            "?;",
            "Ok(",
            "Some(",
            "'l",
            "break",
            "continue",
            "return",
            "match ",
            "enum ",
            "struct ",
            "static ",
            "const ",
            "&mut ",
            "split_at_mut",
            "chunks_mut",
            "i128",
            "u128",
            "f32",
            "f64",
            ".sqrt()",
            ".mul_add(",
            "char::",
            "core::mem::replace",
            "sync();",
            "peek(",
            "counted()",
            "most(",
            "least(",
            "parity(",
            "sum(",
            "recursive",
            "generic",
            "#[repr(",
            "sort_unstable",
            "checked_div",
            "rem_euclid",
            "reverse_bits",
            "isqrt",
            "saturating_pow",
        ];
        for kind in kinds {
            assert!(texts.iter().any(|text| text.contains(kind)), "no program has `{kind}`");
        }
    }

    #[test]
    fn zeros_make_the_smallest() {
        let smallest = program(&mut Choices::again(&[]));
        assert!(smallest.lines().count() < 24, "{smallest}");
        assert!(program(&mut Choices::of_item(1, 0)).len() > smallest.len());
    }
}
