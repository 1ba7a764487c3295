//! Turns floats into 32 bits where nothing can tell these from 64.
//!
//! ```text
//! before: %bin = call i64 @llvm.fptoui.sat.i64.f32(float %x)
//!         %last = call i64 @llvm.umin.i64(i64 %bin, i64 255)
//! after:  %cast = call i32 @llvm.fptoui.sat.i32.f32(float %x)
//!         %bin = zext i32 %cast to i64
//!         %last = call i64 @llvm.umin.i64(i64 %bin, i64 255)
//! ```
//!
//! `x as usize` costs a GPU six instructions, of which one takes the time of four: PTX's conversion to 64 bits makes another
//! number of NaN than Rust does (`float/casts.rs`). CUDA C++ has `int` or `unsigned` there.
//!
//! **Why it is right.** The number of 32 bits is that of 64, or the end of 32 bits that is nearest to it. Minima and maxima with
//! numbers of 32 bits, and choices between these, leave that so. Where one end is cut off by a minimum, the results are equal,
//! and so are those of comparisons with a number that is no end. All users must be such, or stand where the number is known to
//! have 32 bits. A panic that tells the number asks for it anew.

use std::collections::HashSet;

use super::floats::Cast;
use super::ranges::{Interval, Ranges};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::QuickMap;
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntPredicate as P, IntValue, Module, Use,
};
use crate::loops::Graph;

/// How many minima and choices are looked through, one in the other.
const MOST_STEPS: u32 = 3;

/// How many users of a number are looked at.
const MOST_USERS: usize = 16;

/// The conversions of a function into 64 bits.
pub fn wide<'ctx>(function: FunctionValue<'ctx>) -> Vec<(IntValue<'ctx>, Cast<'ctx>)> {
    let wide = |from: InstructionValue<'ctx>| {
        let cast = Cast::of(from)?;
        let result = llvm::result(from).into_int_value();
        (result.get_type().get_bit_width() == 64).then_some((result, cast))
    };
    llvm::instructions(function).filter_map(wide).collect()
}

/// Has panics ask anew for what they tell.
pub fn ask_in_panics<'ctx>(context: &'ctx Context, casts: &[(IntValue<'ctx>, Cast<'ctx>)]) {
    let builder = context.create_builder();
    for (value, _) in casts {
        let Some(from) = value.as_instruction_value() else { continue };
        for user in llvm::uses(value) {
            let Use::Instruction(user) = user else { continue };
            let told = llvm::value_operands(user).filter(|(_, operand)| *operand == BasicValueEnum::from(*value));
            let told: Vec<u32> = told.map(|(index, _)| index).collect();
            if is_panic(user) && user.get_parent() != from.get_parent() && !told.is_empty() {
                builder.position_before(&user);
                let again = llvm::result(llvm::build_copy(&builder, from, &[])).into_int_value();
                for index in told {
                    assert!(user.set_operand(index, again), "the user has that operand");
                }
            }
        }
    }
}

/// Whether an instruction is a call that nothing follows.
fn is_panic(user: InstructionValue<'_>) -> bool {
    user.get_opcode() == Op::Call
        && user.get_next_instruction().is_some_and(|next| next.get_opcode() == Op::Unreachable)
}

/// Narrows what it may in every function, whatever kernels are given: what is compared with constants, or computed of floats
/// that are small.
pub fn narrow_casts<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module) {
        let casts = wide(function);
        if casts.is_empty() {
            continue;
        }
        ask_in_panics(context, &casts);
        let (graph, none, same) = (Graph::of(function), QuickMap::default(), QuickMap::default());
        let ranges = Ranges::of_function(&graph, &none, &same);
        let small: HashSet<_> = narrow(&casts, &ranges).into_iter().map(|(value, _)| value).collect();
        let builder = context.create_builder();
        for (value, cast) in casts.iter().filter(|(value, _)| small.contains(value)) {
            let from = value.as_instruction_value().expect("a cast is an instruction");
            builder.position_before(&from);
            let narrow = cast.build_narrow(context, module, &builder).and_then(|narrow| {
                let ty = value.get_type();
                if cast.signed {
                    builder.build_int_s_extend(narrow, ty, "")
                } else {
                    builder.build_int_z_extend(narrow, ty, "")
                }
            });
            let narrow = narrow.map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot turn a float into fewer bits: {error}"))
            })?;
            llvm::replace_uses(from, narrow.into());
            from.erase_from_basic_block();
        }
    }
    Ok(())
}

/// Of these, those that may have 32 bits, and between which numbers they lie then.
pub fn narrow<'ctx>(
    casts: &[(IntValue<'ctx>, Cast<'ctx>)],
    ranges: &Ranges<'_, 'ctx>,
) -> Vec<(IntValue<'ctx>, Interval)> {
    let interval = |cast: &Cast<'_>| if cast.signed { Interval::with_sign(32) } else { Interval::of_bits(32) };
    let all = casts.iter().map(|(value, cast)| (*value, interval(cast)));
    let may = |(value, interval): &(IntValue<'ctx>, Interval)| {
        let users = Users { ranges, interval: *interval };
        let is_known = value.as_instruction_value().and_then(|from| from.get_parent());
        is_known.is_some_and(|block| users.is_inside(*value, block)) || users.bear(*value, MOST_STEPS)
    };
    all.filter(may).collect()
}

/// Who uses numbers that are cut to an interval of 32 bits.
struct Users<'a, 'b, 'ctx> {
    ranges: &'a Ranges<'b, 'ctx>,
    interval: Interval,
}

impl<'ctx> Users<'_, '_, 'ctx> {
    /// Whether all do the same with it as with the number itself.
    fn bear(&self, value: IntValue<'ctx>, steps: u32) -> bool {
        let users = llvm::uses(&value);
        users.len() <= MOST_USERS
            && users.into_iter().all(|user| match user {
                Use::Instruction(user) => self.bears(user, value, steps),
                Use::Global(_) => false,
            })
    }

    fn bears(&self, user: InstructionValue<'ctx>, value: IntValue<'ctx>, steps: u32) -> bool {
        let Some(block) = user.get_parent() else { return false };
        let is_known = || user.get_opcode() != Op::Phi && self.is_inside(value, block);
        is_known() || self.is_same(user, value, block) || steps > 0 && self.passes(user, value, block, steps)
    }

    /// Whether a number has 32 bits in a block.
    fn is_inside(&self, value: IntValue<'ctx>, block: BasicBlock<'ctx>) -> bool {
        self.ranges.in_block(value, block).is_inside(self.interval)
    }

    /// Whether an instruction's result is the same: it compares the number with one that is no end, or is a minimum with such.
    fn is_same(&self, user: InstructionValue<'ctx>, value: IntValue<'ctx>, block: BasicBlock<'ctx>) -> bool {
        let Some(other) = other(user, value) else { return false };
        let other = self.ranges.in_block(other, block);
        let signed = self.interval.low < 0;
        let within = Interval::new(self.interval.low + i128::from(signed), self.interval.high - 1);
        if !other.is_inside(within) {
            return false;
        }
        match user.get_opcode() {
            Op::ICmp => {
                let by_sign = matches!(user.get_icmp_predicate(), Some(P::SLT | P::SLE | P::SGT | P::SGE));
                signed || !by_sign
            }
            // As a number without a sign, one below 0 is larger.
            Op::Call => name(user).starts_with("llvm.umin.") && other.low >= 0,
            _ => false,
        }
    }

    /// Whether an instruction's result is that of the number itself, or as near to it as there are 32 bits, and its users bear it.
    fn passes(&self, user: InstructionValue<'ctx>, value: IntValue<'ctx>, block: BasicBlock<'ctx>, steps: u32) -> bool {
        let signed = self.interval.low < 0;
        let passes = match user.get_opcode() {
            Op::Select => llvm::int_operand(user, 0) != Some(value),
            Op::Call if signed => name(user).starts_with("llvm.smin.") || name(user).starts_with("llvm.smax."),
            Op::Call => name(user).starts_with("llvm.umax."),
            _ => false,
        };
        let is_beside = || other(user, value).is_some_and(|other| self.is_inside(other, block));
        passes && is_beside() && self.bear(llvm::result(user).into_int_value(), steps - 1)
    }
}

/// The other of two integers that an instruction compares, or chooses from.
fn other<'ctx>(user: InstructionValue<'ctx>, value: IntValue<'ctx>) -> Option<IntValue<'ctx>> {
    let first = u32::from(user.get_opcode() == Op::Select);
    let (left, right) = (llvm::int_operand(user, first)?, llvm::int_operand(user, first + 1)?);
    match (left == value, right == value) {
        (true, false) => Some(right),
        (false, true) => Some(left),
        _ => None,
    }
}

fn name(call: InstructionValue<'_>) -> String {
    llvm::called_function(call).map(|callee| callee.get_name().to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    fn narrowed(kind: &str, users: &str) -> String {
        let text = format!(
            "declare i64 @llvm.fptoui.sat.i64.f32(float)
            declare i64 @llvm.fptosi.sat.i64.f32(float)
            declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.umax.i64(i64, i64)
            declare i64 @llvm.smin.i64(i64, i64)
            declare i64 @llvm.smax.i64(i64, i64)
            declare void @panic(i64) noreturn
            define i64 @f(float %x, i64 %any, i1 %c, ptr %to) {{
            entry: %i = call i64 @llvm.fpto{kind}.sat.i64.f32(float %x)
              {users}
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        narrow_casts(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn users_that_cannot_tell_get_32_bits() {
        let call =
            |name: &str, other: &str| format!("%r = call i64 @llvm.{name}.i64(i64 %i, i64 {other})\n ret i64 %r");
        let compare =
            |is: &str, other: &str| format!("%b = icmp {is} i64 %i, {other}\n %r = zext i1 %b to i64\n ret i64 %r");
        let two = |first: &str, second: &str| {
            format!("%m = call i64 @llvm.{first})\n %r = call i64 @llvm.{second})\n ret i64 %r")
        };
        for (kind, users, narrow) in [
            ("ui", call("umin", "255"), true),
            ("ui", call("umin", "4294967294"), true),
            ("ui", call("umin", "4294967295"), false),
            ("ui", call("umin", "%any"), false),
            ("ui", call("smin", "255"), false),
            ("ui", call("umax", "255"), false),
            ("ui", compare("ult", "255"), true),
            ("ui", compare("ult", "4294967295"), false),
            ("ui", compare("slt", "255"), false),
            ("ui", compare("eq", "7"), true),
            ("ui", two("umax.i64(i64 %i, i64 9", "umin.i64(i64 %m, i64 99"), true),
            ("ui", two("umax.i64(i64 %i, i64 %any", "umin.i64(i64 %m, i64 99"), false),
            ("ui", "%a = add i64 %i, 1\n %r = and i64 %a, 255\n ret i64 %r".into(), false),
            (
                "ui",
                "%s = select i1 %c, i64 %i, i64 9\n %r = call i64 @llvm.umin.i64(i64 %s, i64 99)\n ret i64 %r".into(),
                true,
            ),
            (
                "ui",
                "%s = select i1 %c, i64 %i, i64 -9\n %r = call i64 @llvm.umin.i64(i64 %s, i64 99)\n ret i64 %r".into(),
                false,
            ),
            ("ui", "ret i64 %i".into(), false),
            ("si", compare("slt", "0"), true),
            ("si", compare("slt", "-2147483648"), false),
            ("si", compare("sgt", "2147483647"), false),
            ("si", call("umin", "255"), true),
            ("si", call("umin", "-1"), false),
            ("si", call("smin", "255"), false),
            ("si", two("smax.i64(i64 %i, i64 0", "smin.i64(i64 %m, i64 99"), true),
            ("si", two("smax.i64(i64 %i, i64 0", "smax.i64(i64 %m, i64 99"), false),
            ("si", two("smax.i64(i64 %i, i64 0", "umin.i64(i64 %m, i64 99"), true),
        ] {
            let ir = narrowed(kind, &users);
            assert_eq!(ir.contains(&format!("@llvm.fpto{kind}.sat.i32.f32")), narrow, "{users}: {ir}");
        }
        assert!(narrowed("ui", &call("umin", "255")).contains("zext i32"));
        assert!(narrowed("si", &call("umin", "255")).contains("sext i32"));
    }

    #[test]
    fn a_panic_asks_anew() {
        let ir = narrowed(
            "ui",
            "%in = icmp ult i64 %i, 256
              br i1 %in, label %yes, label %no
            yes: %p = getelementptr i32, ptr %to, i64 %i
              store i32 1, ptr %p
              ret i64 0
            no: call void @panic(i64 %i)
              unreachable",
        );
        assert!(ir.contains("@llvm.fptoui.sat.i32.f32"), "{ir}");
        let (_, panic) = ir.split_once("no:").unwrap();
        assert!(panic.contains("@llvm.fptoui.sat.i64.f32"), "{ir}");
    }
}
