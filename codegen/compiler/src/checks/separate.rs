//! Writes comparisons with one limit as PTX, before LLVM's code generator joins them by a maximum.
//!
//! ```text
//! before: and i1 (icmp ult i64 %a, %len), (icmp ult i64 %b, %len)
//! after:  icmp ne i32 (call i32 asm "{ .reg .pred %p;
//!                                     setp.lt.u64 %p, $1, $2; setp.lt.and.u64 %p, $3, $2, %p;
//!                                     selp.b32 $0, 1, 0, %p; }" (%a, %len, %b)), 0
//! ```
//!
//! Else that makes `icmp ult (umax %a, %b), %len` of it (`foldAndOrOfSETCC` of LLVM's `DAGCombiner.cpp`), because PTX has
//! `max.u64`. No GPU has: it takes four instructions, and a comparison that takes in the one before it two. LLVM has no
//! predicates in inline PTX; ptxas sees through the number that stands for one. So it would make a minimum of several limits
//! for one number, too.
//!
//! ```text
//! before: %both = select i1 (icmp ult i32 %a, %len), i1 (icmp ult i32 %b, %len), i1 false
//!         select i1 %both, i1 (icmp ult i32 %c, %len), i1 false
//! after:  icmp ult (umax (umax %a, %b), %c), %len                       ; each of the three frozen
//! ```
//!
//! Of 32 bits every GPU has a maximum, from sm_90 on one of three numbers: half as many instructions as comparisons, which
//! also wait for each other. There LLVM would join, but for `select`, which does not look at what may mean nothing. A number
//! that means nothing does no harm once it is frozen: where it is asked for, it is what it was, and where it is not, another
//! is not below the limit, and neither is the largest. Of 64 bits a maximum is taken only where it is one of 32
//! (`growing.rs`).

use std::fmt::Write as _;

use super::growing::Growing;
use crate::arch::Arch;
use crate::llvm::{
    self, BasicMetadataTypeEnum, BasicMetadataValueEnum, BasicValue, BasicValueEnum, Builder, BuilderError, Context,
    InstructionOpcode, InstructionValue, IntPredicate, IntValue, Module, Use,
};

/// Comparisons in one inline PTX.
const MOST: usize = 24;

/// Numbers from which on their maximum is compared, of 32 bits.
const FEWEST_OF_A_MAXIMUM: usize = 3;

/// The first arch that has a maximum of three numbers: `VIMNMX3` (CUDA Binary Utilities, "Hopper Instruction Set").
const HAS_MAXIMUM_OF_THREE: u32 = 90;

/// Writes all joined comparisons that have a limit in common.
pub fn separate<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch) -> Result<(), BuilderError> {
    let joins = llvm::functions(module).flat_map(llvm::instructions).filter_map(Join::of);
    for root in joins.filter(|join| !join.is_inner()).collect::<Vec<_>>() {
        let mut leaves = Vec::new();
        root.collect(&mut leaves);
        write(context, &root, leaves, arch)?;
    }
    Ok(())
}

/// Two conditions that are joined, by an instruction that looks at the second only where the first does not decide, or by
/// one that looks at both.
#[derive(Clone, Copy)]
struct Join<'ctx> {
    instruction: InstructionValue<'ctx>,
    /// Whether both must hold, or one of both.
    all: bool,
    parts: [IntValue<'ctx>; 2],
}

impl<'ctx> Join<'ctx> {
    fn of(instruction: InstructionValue<'ctx>) -> Option<Self> {
        let operands: Vec<IntValue<'ctx>> = llvm::value_operands(instruction)
            .map(|(_, operand)| match operand {
                BasicValueEnum::IntValue(value) if value.get_type().get_bit_width() == 1 => Some(value),
                _ => None,
            })
            .collect::<Option<_>>()?;
        let is = |value: IntValue<'ctx>, wanted| value.get_zero_extended_constant() == Some(wanted);
        let (all, parts) = match (instruction.get_opcode(), &operands[..]) {
            (InstructionOpcode::And, [one, other]) => (true, [*one, *other]),
            (InstructionOpcode::Or, [one, other]) => (false, [*one, *other]),
            (InstructionOpcode::Select, [one, other, never]) if is(*never, 0) => (true, [*one, *other]),
            (InstructionOpcode::Select, [one, always, other]) if is(*always, 1) => (false, [*one, *other]),
            _ => return None,
        };
        Some(Self { instruction, all, parts })
    }

    /// Whether it is a part of another join of its kind, and of nothing else.
    fn is_inner(&self) -> bool {
        let mut users = llvm::uses(&llvm::result(self.instruction)).into_iter();
        match (users.next(), users.next()) {
            (Some(Use::Instruction(user)), None) => Self::of(user).is_some_and(|outer| outer.all == self.all),
            _ => false,
        }
    }

    /// The conditions that are joined, in their order.
    fn collect(&self, leaves: &mut Vec<IntValue<'ctx>>) {
        for part in self.parts {
            match part.as_instruction_value().and_then(Self::of) {
                Some(inner) if inner.all == self.all && inner.is_inner() => inner.collect(leaves),
                _ => leaves.push(part),
            }
        }
    }
}

fn write<'ctx>(
    context: &'ctx Context,
    root: &Join<'ctx>,
    leaves: Vec<IntValue<'ctx>>,
    arch: Arch,
) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    builder.position_before(&root.instruction);
    let mut rest = leaves;
    let mut joined: Vec<IntValue<'ctx>> = Vec::new();
    while let Some((group, growing)) = common(&rest, root.all, arch) {
        joined.push(match growing {
            Some(growing) => {
                let largest = growing.largest(context, &builder)?;
                let limit = llvm::build_freeze(&builder, group[0].limit);
                builder.build_int_compare(below(root.all), largest, limit, "")?
            }
            None if group[0].is_wide() => compare(context, &builder, &group, root.all)?,
            None => compare_largest(&builder, &group, root.all)?,
        });
        rest.retain(|leaf| Bound::of(*leaf, root.all).is_none_or(|bound| !group.contains(&bound)));
    }
    let is_written = !joined.is_empty();
    // A condition that is looked at where those before it hold may mean nothing elsewhere: inline PTX does no harm then.
    let mut all = joined.into_iter().chain(rest);
    let (Some(first), true) = (all.next(), is_written) else { return Ok(()) };
    let decided = context.bool_type().const_int(u64::from(!root.all), false);
    let mut result = first;
    for next in all {
        let (then, other) = if root.all { (next, decided) } else { (decided, next) };
        result = builder.build_select(result, then, other, "")?.into_int_value();
    }
    llvm::replace_uses(root.instruction, result.into());
    Ok(())
}

/// Comparisons that have their limit in common, or of 64 bits their value; in what way those grow that grow like the first.
fn common<'ctx>(leaves: &[IntValue<'ctx>], all: bool, arch: Arch) -> Option<(Vec<Bound<'ctx>>, Option<Growing<'ctx>>)> {
    let bounds: Vec<Bound<'ctx>> = leaves.iter().filter_map(|leaf| Bound::of(*leaf, all)).collect();
    let like = |is_like: &dyn Fn(&Bound<'ctx>) -> bool| -> Vec<Bound<'ctx>> {
        bounds.iter().copied().filter(is_like).take(MOST).collect()
    };
    bounds.iter().find_map(|first| {
        let of_limit = like(&|bound| bound.limit == first.limit);
        if !first.is_wide() {
            let has_maximum = arch.number() >= HAS_MAXIMUM_OF_THREE && of_limit.len() >= FEWEST_OF_A_MAXIMUM;
            return has_maximum.then_some((of_limit, None));
        }
        let values: Vec<_> = of_limit.iter().map(|bound| bound.value).collect();
        if let Some(growing) = Growing::of(&values) {
            let grows = |bound: &Bound<'ctx>| growing.numbers.iter().any(|(number, _)| *number == bound.value);
            return Some((of_limit.into_iter().filter(grows).collect(), Some(growing)));
        }
        [of_limit, like(&|bound| bound.value == first.value)]
            .into_iter()
            .find(|group| group.len() > 1)
            .map(|group| (group, None))
    })
}

/// Whether a value is below a limit that all are to be below; or is not, if one is asked for that is not.
fn below(all: bool) -> IntPredicate {
    if all { IntPredicate::ULT } else { IntPredicate::UGE }
}

/// Whether all values are below their limits; or, of what need not hold for all, whether one is not.
fn compare<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    bounds: &[Bound<'ctx>],
    all: bool,
) -> Result<IntValue<'ctx>, BuilderError> {
    let mut operands: Vec<IntValue<'ctx>> = Vec::new();
    let mut number = |value: IntValue<'ctx>| {
        let known = operands.iter().position(|operand| *operand == value);
        1 + known.unwrap_or_else(|| {
            operands.push(value);
            operands.len() - 1
        })
    };
    let (relation, join) = if all { ("lt", "and") } else { ("ge", "or") };
    let mut text = "{ .reg .pred %p;".to_string();
    for (at, bound) in bounds.iter().enumerate() {
        let (value, limit) = (number(bound.value), number(bound.limit));
        let _ = match at {
            0 => write!(text, " setp.{relation}.u64 %p, ${value}, ${limit};"),
            _ => write!(text, " setp.{relation}.{join}.u64 %p, ${value}, ${limit}, %p;"),
        };
    }
    text += " selp.b32 $0, 1, 0, %p; }";
    let operands: Vec<BasicMetadataValueEnum<'ctx>> = operands.into_iter().map(Into::into).collect();
    let types: Vec<BasicMetadataTypeEnum<'ctx>> = operands.iter().map(|_| context.i64_type().into()).collect();
    let ty = context.i32_type().fn_type(&types, false);
    let constraints = "=r".to_string() + &",l".repeat(operands.len());
    let assembly = context.create_inline_asm(ty, text, constraints, false, false, None, false);
    let call = builder.build_indirect_call(ty, assembly, &operands, "")?;
    llvm::promise_pure(context, call);
    let number = call.try_as_basic_value().unwrap_basic().into_int_value();
    builder.build_int_compare(IntPredicate::NE, number, context.i32_type().const_zero(), "")
}

/// The same of 32 bits with one limit, by the largest value.
fn compare_largest<'ctx>(
    builder: &Builder<'ctx>,
    bounds: &[Bound<'ctx>],
    all: bool,
) -> Result<IntValue<'ctx>, BuilderError> {
    let mut largest = llvm::build_freeze(builder, bounds[0].value);
    for bound in &bounds[1..] {
        let value = llvm::build_freeze(builder, bound.value);
        let is_larger = builder.build_int_compare(IntPredicate::UGT, largest, value, "")?;
        largest = builder.build_select(is_larger, largest, value, "")?.into_int_value();
    }
    let limit = llvm::build_freeze(builder, bounds[0].limit);
    builder.build_int_compare(below(all), largest, limit, "")
}

/// A comparison of 32 or 64 bits with a limit.
#[derive(Clone, Copy, PartialEq)]
struct Bound<'ctx> {
    value: IntValue<'ctx>,
    limit: IntValue<'ctx>,
}

impl<'ctx> Bound<'ctx> {
    fn is_wide(&self) -> bool {
        self.value.get_type().get_bit_width() == 64
    }

    /// Whether a value is below a limit, or whether it is not. With a constant there is nothing to join.
    fn of(condition: IntValue<'ctx>, below: bool) -> Option<Self> {
        let compare = condition.as_instruction_value()?;
        let predicate = compare.get_icmp_predicate()?;
        let mut operands = llvm::value_operands(compare).map(|(_, operand)| operand);
        let (Some(BasicValueEnum::IntValue(left)), Some(BasicValueEnum::IntValue(right))) =
            (operands.next(), operands.next())
        else {
            return None;
        };
        let (value, limit) = match (predicate, below) {
            (IntPredicate::ULT, true) | (IntPredicate::UGE, false) => (left, right),
            (IntPredicate::UGT, true) | (IntPredicate::ULE, false) => (right, left),
            _ => return None,
        };
        (matches!(value.get_type().get_bit_width(), 32 | 64) && !limit.is_const()).then_some(Self { value, limit })
    }
}
