//! Divides what has been divided already.
//!
//! ```text
//! before: %q = udiv i32 %i, %width
//!         %y = urem i32 %q, %height
//!         %z = udiv i32 %i, (mul nuw i32 %width, %height)
//! after:  %q = udiv i32 %i, %width
//!         %z = udiv i32 %q, %height
//!         %y = sub i32 %q, (mul i32 %z, %height)
//! ```
//!
//! The place of an element in a box is written so. No GPU divides integers: each division is some twenty instructions, of
//! which three are among its slowest, and the reciprocal of a number is computed once for all divisions by it.
//!
//! **Why it is right.** `i / (a b)`, rounded down, is `(i / a) / b`, rounded down each time, for numbers without a sign and
//! a product that does not overflow. If the product is not 0, neither factor is, so the new division is defined where the
//! old one was. Then LLVM computes what is left of a division from the quotient of the same numbers.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntValue, Module, TargetMachine,
};
use crate::loops::Graph;

/// What joins quotients and rests.
const JOIN: &str = "function(div-rem-pairs)";

/// Shares the divisions of every function.
pub fn share<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    let mut any = false;
    for function in llvm::functions(module) {
        if llvm::instructions(function).filter(|found| Division::of(*found).is_some()).nth(1).is_some() {
            any |= share_in(context, function)
                .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot share a division: {error}")))?;
        }
    }
    if any {
        llvm::run_passes(module, machine, JOIN)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{JOIN}` failed: {error}")))?;
    }
    Ok(())
}

fn share_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let graph = Graph::of(function);
    let builder = context.create_builder();
    let blocks = graph.by_dominance().into_iter();
    let mut known: Vec<Division<'ctx>> =
        blocks.flat_map(|block| block.get_instructions()).filter_map(Division::of).collect();
    let mut any = false;
    for at in 0..known.len() {
        let division = known[at];
        let Some((quotient, divisor)) = division.by_a_quotient(&known, &graph) else { continue };
        // Of three factors the last two may be a product, too.
        builder.position_before(&division.instruction);
        let new = builder.build_int_unsigned_div(quotient.value(), divisor, "")?;
        llvm::replace_uses(division.instruction, new.into());
        division.instruction.erase_from_basic_block();
        // As the operands of others it is another value now.
        let instruction = new.as_instruction_value().expect("a division of what is not constant is an instruction");
        known[at] = Division { instruction, dividend: quotient.value(), divisor };
        for other in &mut known {
            *other = Division::of(other.instruction).unwrap_or(*other);
        }
        any = true;
    }
    Ok(any)
}

/// A quotient of numbers without a sign.
#[derive(Clone, Copy)]
struct Division<'ctx> {
    instruction: InstructionValue<'ctx>,
    dividend: IntValue<'ctx>,
    divisor: IntValue<'ctx>,
}

impl<'ctx> Division<'ctx> {
    fn of(instruction: InstructionValue<'ctx>) -> Option<Self> {
        if instruction.get_opcode() != Op::UDiv {
            return None;
        }
        let [dividend, divisor] = integers(instruction)?;
        // LLVM multiplies where the divisor is a constant.
        (!divisor.is_const() && !dividend.is_const()).then_some(Self { instruction, dividend, divisor })
    }

    fn value(&self) -> IntValue<'ctx> {
        llvm::result(self.instruction).into_int_value()
    }

    /// A quotient that is known, and what it is to be divided by instead.
    fn by_a_quotient(&self, known: &[Self], graph: &Graph<'ctx>) -> Option<(Self, IntValue<'ctx>)> {
        let product = self.divisor.as_instruction_value().filter(|from| from.get_opcode() == Op::Mul)?;
        if !llvm::has_no_unsigned_wrap(product) {
            return None;
        }
        let [one, other] = integers(product)?;
        let quotient = |factor| {
            let is_it = |known: &&Self| {
                (known.dividend, known.divisor) == (self.dividend, factor)
                    && comes_before(graph, known.instruction, self.instruction)
            };
            known.iter().find(is_it).copied()
        };
        quotient(one).map(|found| (found, other)).or_else(|| quotient(other).map(|found| (found, one)))
    }
}

/// Both operands, if they are integers.
fn integers(instruction: InstructionValue<'_>) -> Option<[IntValue<'_>; 2]> {
    let mut operands = llvm::value_operands(instruction).map(|(_, value)| value);
    match (operands.next()?, operands.next()?) {
        (BasicValueEnum::IntValue(one), BasicValueEnum::IntValue(other)) => Some([one, other]),
        _ => None,
    }
}

/// Whether an instruction is run before another on every way to it.
fn comes_before<'ctx>(graph: &Graph<'ctx>, first: InstructionValue<'ctx>, second: InstructionValue<'ctx>) -> bool {
    let (Some(above), Some(block)) = (first.get_parent(), second.get_parent()) else { return false };
    if above == block {
        return first != second && block.get_instructions().find(|at| *at == first || *at == second) == Some(first);
    }
    graph.is_reached_by_way_of(block, above)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::fmt::Write as _;

    use arbtest::arbitrary::{self, Unstructured};

    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::loops::interpreter::{Event, Function, Value, agree};
    use crate::request::OptLevel;

    /// The function `f` before and after.
    fn both(text: &str) -> (String, String) {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        let printed = || module.get_function("f").unwrap().print_to_string().to_string();
        let before = printed();
        share(&context, &module, &machine).unwrap();
        module.verify().unwrap_or_else(|error| panic!("{error}: {text}"));
        (before, printed())
    }

    /// How many quotients and rests are computed, of an element's place in a box.
    fn divisions(product: &str, ty: &str) -> (usize, usize) {
        let (_, ir) = both(&format!(
            "define void @f(ptr %to, {ty} %i, {ty} %width, {ty} %height) {{
              %q = udiv {ty} %i, %width
              %rows = mul {ty} %q, %width
              %x = sub {ty} %i, %rows
              %y = urem {ty} %q, %height
              %plane = {product} %width, %height
              %z = udiv {ty} %i, %plane
              store volatile {ty} %x, ptr %to
              store volatile {ty} %y, ptr %to
              store volatile {ty} %z, ptr %to
              ret void
            }}"
        ));
        (ir.matches("udiv").count(), ir.matches("urem").count())
    }

    #[test]
    fn the_place_in_a_box_takes_two_divisions() {
        assert_eq!(divisions("mul nuw i32", "i32"), (2, 0));
        assert_eq!(divisions("mul nuw nsw i64", "i64"), (2, 0));
    }

    #[test]
    fn a_product_that_may_overflow_divides_as_before() {
        for product in ["mul i32", "mul nsw i32", "add nuw i32"] {
            assert_eq!(divisions(product, "i32"), (2, 1), "{product}");
        }
    }

    /// Quotients and rests of each other, in blocks that part and in those that come after.
    fn places(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
        let mut known = vec!["%a".to_string(), "%b".to_string()];
        let mut divisors = vec!["%c".to_string(), "%d".to_string(), "%e".to_string()];
        let mut text = String::new();
        let mut label = 0;
        let mut inside: Option<(usize, usize, String)> = None;
        for at in 0..u.int_in_range(4..=24)? {
            match u.int_in_range(0..=6)? {
                0 | 1 => {
                    let flags = u.choose(&["nuw", "nuw", "nuw nsw", "nsw", ""])?;
                    let (one, other) = (u.choose(&divisors)?, u.choose(&divisors)?);
                    _ = writeln!(text, "%v{at} = mul {flags} i32 {one}, {other}");
                    divisors.push(format!("%v{at}"));
                }
                2 if inside.is_none() => {
                    _ = writeln!(text, "%v{at} = icmp ult i32 {}, {}\n", u.choose(&known)?, u.choose(&divisors)?);
                    _ = writeln!(text, "br i1 %v{at}, label %yes{label}, label %no{label}\nyes{label}:");
                    inside = Some((known.len(), divisors.len(), format!("no{label}")));
                    label += 1;
                }
                2 => {
                    let (known_before, divisors_before, no) = inside.take().expect("it is one");
                    _ = writeln!(text, "br label %{no}\n{no}:");
                    known.truncate(known_before);
                    divisors.truncate(divisors_before);
                }
                kind => {
                    let operation = if kind == 3 { "urem" } else { "udiv" };
                    let (dividend, divisor) = (u.choose(&known)?, u.choose(&divisors)?);
                    _ = writeln!(text, "%v{at} = {operation} i32 {dividend}, {divisor}");
                    _ = writeln!(text, "store volatile i32 %v{at}, ptr %to");
                    known.push(format!("%v{at}"));
                }
            }
        }
        if let Some((.., no)) = inside {
            _ = writeln!(text, "br label %{no}\n{no}:");
        }
        Ok(format!("define void @f(ptr %to, i32 %a, i32 %b, i32 %c, i32 %d, i32 %e) {{\n{text}ret void\n}}\n"))
    }

    #[test]
    fn random_divisions_are_the_same() {
        const DIVIDENDS: [u32; 8] = [0, 1, 6, 41, 1000, 65_535, 1 << 31, u32::MAX];
        const DIVISORS: [u32; 9] = [0, 1, 2, 3, 7, 256, 65_535, 65_537, u32::MAX];
        let (mut changed, mut runs) = (0, 0);
        arbtest::arbtest(|u| {
            let (before, after) = both(&places(u)?);
            if before == after {
                return Ok(());
            }
            changed += 1;
            let (old, new) = (Function::parse(&before), Function::parse(&after));
            for _ in 0..60 {
                let mut given = HashMap::from([("%to", Value::Address(1 << 20))]);
                for name in ["%a", "%b"] {
                    given.insert(name, Value::Number(u64::from(*u.choose(&DIVIDENDS)?), 32));
                }
                for name in ["%c", "%d", "%e"] {
                    given.insert(name, Value::Number(u64::from(*u.choose(&DIVISORS)?), 32));
                }
                let (is, was) = (new.run(&given), old.run_original(&given));
                if was.iter().any(|event| matches!(event, Event::Undefined(_))) {
                    continue;
                }
                runs += 1;
                assert!(agree(&is, &was), "{given:?}: {is:?}, not {was:?}:\n{before}\n{after}");
            }
            Ok(())
        })
        .size_min(300)
        .size_max(3000)
        .budget(crate::random::budget(3000));
        assert!(changed > 20 && runs > 20, "{changed} functions were changed, and run {runs} times");
    }
}
