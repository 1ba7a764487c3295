//! What an index is at most in all rounds of a loop, where it does not grow by the same in each.
//!
//! ```text
//! before: loop: %y = umin(i64 usub.sat(i64 %row + %k, i64 4), i64 %last)       ; clamped into the image
//!               br i1 (icmp ult i64 (add i64 (mul i64 %y, %width), %x), %len), label %inside, label %panic
//! after:  before:  br i1 (%last * %width + %x < %len, and neither overflows), label %fast, label %loop
//! ```
//!
//! So columns of an image are checked whose rows are clamped, rings (`x[(k + at) % n]`), tables that bytes choose from, and
//! what the same index goes on from (`at = (at + step) % n`).
//!
//! **Why it is right.** A sum or a product of numbers without sign is no more than that of larger ones which does not overflow,
//! and then does not overflow itself. The smaller of two is no more than either, a remainder is less than what it is divided
//! by, a difference that ends at 0, a quotient and a shift to the right are no more than what they begin with. Of a number with
//! a sign that is not negative, the smaller one with another is, as a number without, no more than that other: that is a large
//! number where it is negative. Extending keeps the order of numbers without sign, also that of a sign. A phi that is one of two
//! numbers is no more than the larger.

use crate::llvm::{
    self, BasicValue, BuilderError, InstructionOpcode as Op, InstructionValue, IntPredicate, IntType, IntValue,
};

use super::checks::{Emit, Shape};

/// How deep an index may be computed.
const MOST_STEPS: u32 = 10;

/// What a number is at most, computed before the loop.
pub(super) enum Bound<'ctx> {
    /// A number that is the same in all rounds.
    Same(IntValue<'ctx>),
    /// One that grows alike: what it is in the last round.
    Last(IntValue<'ctx>),
    /// One less than a number.
    Before(IntValue<'ctx>),
    Sum(Box<[Bound<'ctx>; 2]>),
    Product(Box<[Bound<'ctx>; 2]>),
    /// The larger of two numbers, with a sign or without.
    Larger(Box<[Bound<'ctx>; 2]>, bool),
    /// The same number in more bits, with its sign or without.
    Wider(Box<Bound<'ctx>>, IntType<'ctx>, bool),
}

impl<'ctx> Shape<'_, 'ctx> {
    /// What an index is at most.
    pub(super) fn bound(&self, index: IntValue<'ctx>) -> Option<Bound<'ctx>> {
        self.bound_of(index, MOST_STEPS)
    }

    fn bound_of(&self, value: IntValue<'ctx>, steps: u32) -> Option<Bound<'ctx>> {
        if self.is_invariant(value) {
            return Some(Bound::Same(value));
        }
        if self.grows(value) {
            return Some(Bound::Last(value));
        }
        let from = value.as_instruction_value().filter(|_| steps > 0)?;
        let part = |index| llvm::int_operand(from, index);
        let of = |index| self.bound_of(part(index)?, steps - 1);
        let both = |left: u32, right: u32| Some(Box::new([of(left)?, of(right)?]));
        let same = |index| part(index).filter(|part| self.is_invariant(*part));
        let number = |number| value.get_type().const_int(number, false);
        match from.get_opcode() {
            Op::Add => Some(Bound::Sum(both(0, 1)?)),
            Op::Or if llvm::is_disjoint(from) => Some(Bound::Sum(both(0, 1)?)),
            Op::Mul => Some(Bound::Product(both(0, 1)?)),
            Op::Shl => {
                let by = part(1)?.get_zero_extended_constant().filter(|by| *by < 32)?;
                Some(Bound::Product(Box::new([of(0)?, Bound::Same(number(1 << by))])))
            }
            Op::URem => same(1).map(Bound::Before),
            Op::UDiv | Op::LShr => of(0),
            Op::Freeze if self.sees_frozen() => of(0),
            Op::ExtractValue => {
                let (call, _) = llvm::part_of(from).filter(|(_, part)| *part == 0)?;
                let of = |index| self.bound_of(llvm::int_operand(call, index)?, steps - 1);
                let both = Box::new([of(0)?, of(1)?]);
                Some(if overflowing(call)? == Op::Add { Bound::Sum(both) } else { Bound::Product(both) })
            }
            Op::And => same(1).or_else(|| same(0)).map(Bound::Same),
            Op::Select => Some(Bound::Larger(both(1, 2)?, false)),
            Op::ZExt | Op::SExt => {
                let inner = part(0)?.get_type().get_bit_width();
                match of(0) {
                    Some(bound) => Some(Bound::Wider(Box::new(bound), value.get_type(), from.get_opcode() == Op::SExt)),
                    None if inner < 32 && from.get_opcode() == Op::ZExt => Some(Bound::Same(number((1 << inner) - 1))),
                    None => None,
                }
            }
            Op::Phi => {
                let (first, next) = self.of_head(value).filter(|(_, next)| *next != value)?;
                let next = self.bound_of(next, steps - 1)?;
                Some(Bound::Larger(Box::new([Bound::Same(first), next]), false))
            }
            Op::Call => {
                let name = llvm::called_function(from)?.get_name().to_string_lossy().into_owned();
                match name.rsplit_once('.')?.0 {
                    "llvm.umin" => same(1).or_else(|| same(0)).map(Bound::Same).or_else(|| of(0)).or_else(|| of(1)),
                    "llvm.umax" => Some(Bound::Larger(both(0, 1)?, false)),
                    "llvm.usub.sat" => of(0),
                    "llvm.smin" => {
                        let is_positive = |index| part(index).is_some_and(is_maximum_with_positive);
                        let other = |index, other| same(other).filter(|_| is_positive(index));
                        other(0, 1).or_else(|| other(1, 0)).map(Bound::Same)
                    }
                    "llvm.smax" => {
                        let zero = |index: u32| part(index)?.get_sign_extended_constant().filter(|zero| *zero == 0);
                        let inner = if zero(1).is_some() { part(0)? } else { zero(0).and_then(|_| part(1))? };
                        let limit = self.signed_limit(inner)?;
                        Some(Bound::Larger(Box::new([Bound::Same(limit), Bound::Same(number(0))]), true))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What a number with a sign is never above: the smaller of it and another.
    fn signed_limit(&self, value: IntValue<'ctx>) -> Option<IntValue<'ctx>> {
        let from = value.as_instruction_value()?;
        let is_minimum = llvm::called_function(from)?.get_name().to_bytes().starts_with(b"llvm.smin.");
        let same = |index| llvm::int_operand(from, index).filter(|part| self.is_invariant(*part));
        same(1).or_else(|| same(0)).filter(|_| is_minimum)
    }
}

/// Whether a call adds or multiplies numbers without a sign, and says whether that overflows.
pub fn overflowing(call: InstructionValue<'_>) -> Option<Op> {
    let name = llvm::called_function(call)?.get_name().to_bytes().to_vec();
    [("llvm.uadd.with.overflow.", Op::Add), ("llvm.umul.with.overflow.", Op::Mul)]
        .into_iter()
        .find_map(|(known, op)| name.starts_with(known.as_bytes()).then_some(op))
}

/// Whether a number is the larger one of two with a sign, of which one is a constant that is not negative.
fn is_maximum_with_positive(value: IntValue<'_>) -> bool {
    let from = value.as_instruction_value();
    from.is_some_and(|from| {
        let is_maximum =
            llvm::called_function(from).is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.smax."));
        let is_positive =
            |index| llvm::int_operand(from, index).and_then(IntValue::get_sign_extended_constant) >= Some(0);
        is_maximum && (is_positive(0) || is_positive(1))
    })
}

impl<'ctx> Emit<'_, 'ctx> {
    /// Whether an index is below a length in every round, or no more.
    pub(super) fn stays_bounded(
        &self,
        (index, len): (IntValue<'ctx>, IntValue<'ctx>),
        strict: bool,
        rounds: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let bound = self.shape.bound(index).expect("it was seen to have one");
        let mut overflows = self.context.bool_type().const_zero();
        let most = self.most(&bound, rounds, &mut overflows)?;
        let len = llvm::build_freeze(&self.builder, len);
        let relation = if strict { IntPredicate::ULT } else { IntPredicate::ULE };
        let below = self.builder.build_int_compare(relation, most, len, "")?;
        self.builder.build_and(below, self.builder.build_not(overflows, "")?, "")
    }

    /// Whether a sum or a product does not overflow in any round.
    pub(super) fn stays_exact(
        &self,
        call: InstructionValue<'ctx>,
        rounds: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let part = |index| llvm::int_operand(call, index).and_then(|part| self.shape.bound(part));
        let both = Box::new([0, 1].map(|index| part(index).expect("it was seen to have one")));
        let bound = if overflowing(call) == Some(Op::Add) { Bound::Sum(both) } else { Bound::Product(both) };
        let mut overflows = self.context.bool_type().const_zero();
        self.most(&bound, rounds, &mut overflows)?;
        self.builder.build_not(overflows, "")
    }

    fn most(
        &self,
        bound: &Bound<'ctx>,
        rounds: IntValue<'ctx>,
        overflows: &mut IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let mut note = |(result, overflow): (IntValue<'ctx>, IntValue<'ctx>)| {
            *overflows = self.builder.build_or(*overflows, overflow, "")?;
            Ok(result)
        };
        match bound {
            Bound::Same(value) => Ok(llvm::build_freeze(&self.builder, *value)),
            Bound::Before(value) => {
                let value = llvm::build_freeze(&self.builder, *value);
                // Nothing is divided by 0.
                self.builder.build_int_sub(value, value.get_type().const_int(1, false), "")
            }
            Bound::Last(value) => {
                let (first, step) = self.affine(*value)?;
                let [first, step] = [first, step].map(|value| llvm::build_freeze(&self.builder, value));
                let growth = note(self.overflowing("llvm.umul.with.overflow", rounds, step)?)?;
                note(self.overflowing("llvm.uadd.with.overflow", first, growth)?)
            }
            Bound::Sum(parts) | Bound::Product(parts) => {
                let name = if matches!(bound, Bound::Sum(_)) { "llvm.uadd" } else { "llvm.umul" };
                let (left, right) =
                    (self.most(&parts[0], rounds, overflows)?, self.most(&parts[1], rounds, overflows)?);
                let (result, overflow) = self.overflowing(&format!("{name}.with.overflow"), left, right)?;
                *overflows = self.builder.build_or(*overflows, overflow, "")?;
                Ok(result)
            }
            Bound::Larger(parts, signed) => {
                let (left, right) =
                    (self.most(&parts[0], rounds, overflows)?, self.most(&parts[1], rounds, overflows)?);
                self.call(if *signed { "llvm.smax" } else { "llvm.umax" }, left, right)
            }
            Bound::Wider(inner, ty, signed) => {
                let inner = self.most(inner, rounds, overflows)?;
                if *signed {
                    self.builder.build_int_s_extend(inner, *ty, "")
                } else {
                    self.builder.build_int_z_extend(inner, *ty, "")
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SimpleForm, split};
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{self, AnyValue, Context};
    use crate::request::OptLevel;

    /// A loop that checks such an index, computed by the instructions before, after [`split`].
    fn after(phis: &str, index: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.usub.sat.i64(i64, i64)
            declare i32 @llvm.smin.i32(i32, i32)
            declare i32 @llvm.smax.i32(i32, i32)
            declare void @__rust_ptx_panic_with_2(i64) noreturn
            define i32 @f(ptr %data, ptr %bytes, i64 %len, i64 %a, i64 %b, i32 %c, i64 %n) {{
            entry: br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %next, %inside ]
              %sum = phi i32 [ 0, %entry ], [ %more, %inside ]
              {phis}
              {index}
              %below = icmp ult i64 %i, %len
              br i1 %below, label %inside, label %panic
            inside: %at = getelementptr i32, ptr %data, i64 %i
              %x = load i32, ptr %at
              %more = add i32 %sum, %x
              %next = add nuw i64 %k, 1
              %go = icmp ult i64 %next, %n
              br i1 %go, label %loop, label %end
            end: ret i32 %more
            panic: call void @__rust_ptx_panic_with_2(i64 %i)
              unreachable
            }}"
        );
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        split(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn what_has_a_bound_is_split() {
        for (phis, index, tested) in [
            (
                "",
                "%r = add i64 %k, %a
                %s = call i64 @llvm.usub.sat.i64(i64 %r, i64 4)
                %y = call i64 @llvm.umin.i64(i64 %s, i64 %b)
                %row = mul i64 %y, %n
                %i = add i64 %row, %a",
                "umul.with.overflow.i64(i64 %",
            ),
            ("", "%r = add i64 %k, %a\n %i = urem i64 %r, %b", "sub i64 %"),
            // A square grows by more each time, a quotient by less.
            ("", "%i = mul i64 %k, %k", "umul.with.overflow"),
            ("", "%i = udiv i64 %k, %a", "uadd.with.overflow"),
            ("%i = phi i64 [ 0, %entry ], [ %then, %inside ]", "%r = add i64 %i, %a\n %then = urem i64 %r, %b", "umax"),
            (
                "",
                "%p = getelementptr i8, ptr %bytes, i64 %k\n %v = load i8, ptr %p\n %w = zext i8 %v to i64
                %i = or disjoint i64 %w, 256",
                "255",
            ),
            (
                "",
                "%t = trunc i64 %k to i32\n %u = add i32 %t, -4\n %v = call i32 @llvm.smax.i32(i32 %u, i32 0)
                %w = call i32 @llvm.smin.i32(i32 %v, i32 %c)\n %i = sext i32 %w to i64",
                "sext i32 %",
            ),
            (
                "",
                "%t = trunc i64 %k to i32\n %u = add i32 %t, -4\n %v = call i32 @llvm.smin.i32(i32 %u, i32 %c)
                %w = call i32 @llvm.smax.i32(i32 %v, i32 0)\n %i = zext i32 %w to i64",
                "smax.i32(i32 %",
            ),
        ] {
            let ir = after(phis, index);
            assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
            let test = ir.split("\nloop:").next().unwrap();
            assert!(test.contains(tested) && test.contains("icmp ult i64"), "{tested}: {ir}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for (phis, index) in [
            // What memory says; a difference, which may wrap; what no branch says of its sign; what goes on from itself.
            ("", "%p = getelementptr i64, ptr %bytes, i64 %k\n %i = load i64, ptr %p"),
            ("", "%p = load i8, ptr %bytes\n %w = zext i8 %p to i64\n %i = sub i64 %w, %a"),
            ("", "%t = load i32, ptr %bytes\n %w = call i32 @llvm.smin.i32(i32 %t, i32 %c)\n %i = sext i32 %w to i64"),
            ("%i = phi i64 [ 0, %entry ], [ %then, %inside ]", "%w = mul i64 %i, 3\n %then = add i64 %w, 1"),
        ] {
            let ir = after(phis, index);
            assert_eq!(ir.matches("load i32, ptr %at").count(), 1, "{ir}");
            assert!(!ir.contains("freeze"), "{ir}");
        }
    }
}
