//! Does not tell a number apart for which the other way does the same.
//!
//! ```text
//! before:       br i1 (icmp eq i64 %t, 0), label %none, label %some          ; `x.iter().skip(t)`
//!         none: br i1 (icmp eq i64 %len, 0), label %end, label %first
//!         some: br i1 (icmp ugt i64 %len, %t), label %first, label %end
//!         first: %p = phi ptr [ %x, %none ], [ (getelementptr float, ptr %x, i64 %t), %some ]
//! after:        br label %some
//! ```
//!
//! `Skip` asks for the next element where it has nothing to skip, and for the one behind what it skips elsewhere. Every thread but
//! the first of a block skips some, so that the warp goes both ways, and the loop behind has an address with two beginnings.
//!
//! On its way, a block may go through another one that only computes: LLVM has the address of the first element there.
//!
//! **Why it is right.** Both blocks only compute, and go to the same two. With the number in the place of what is compared with
//! it, the second one's condition is the first one's, and so is each value that it gives the blocks behind. What the second one's
//! comparison promises of its numbers goes, because it may not hold there.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue,
};
use crate::loops::{integer, opposite};

/// How deep values are looked into.
const MOST_STEPS: u32 = 8;

/// Does so at every such branch; returns whether there was one.
pub fn unite<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let mut any = false;
    for block in function.get_basic_blocks() {
        if let Some((branch, to_first)) = same_way(block) {
            let (then, other) = llvm::branch_targets(branch).expect("it tells two ways apart");
            forget_promise(context, if to_first { then } else { other })?;
            llvm::always_branch(context, branch, to_first);
            any = true;
        }
    }
    Ok(any)
}

/// Writes the comparison that a block ends by without what it promises of its numbers, which holds for the others.
fn forget_promise<'ctx>(context: &'ctx Context, block: BasicBlock<'ctx>) -> Result<(), BuilderError> {
    let Some(branch) = block.get_terminator() else { return Ok(()) };
    let compared = integer(branch, 0).and_then(|condition| condition.as_instruction_value());
    let Some(compared) = compared.filter(|from| llvm::promises(*from).other) else { return Ok(()) };
    let (Some(left), Some(right)) = (integer(compared, 0), integer(compared, 1)) else { return Ok(()) };
    let Some(predicate) = compared.get_icmp_predicate() else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&branch);
    llvm::set_condition(branch, builder.build_int_compare(predicate, left, right, "")?);
    Ok(())
}

/// The branch of a block whose one way may be gone in place of the other: and whether that is the first.
fn same_way(block: BasicBlock<'_>) -> Option<(InstructionValue<'_>, bool)> {
    let branch = block.get_terminator()?;
    let (then, other) = llvm::branch_targets(branch)?;
    let compared = integer(branch, 0)?.as_instruction_value()?;
    let (value, number) = (integer(compared, 0)?, integer(compared, 1)?.get_zero_extended_constant()?);
    let (of_number, of_others) = match compared.get_icmp_predicate()? {
        IntPredicate::EQ => (then, other),
        IntPredicate::NE => (other, then),
        _ => return None,
    };
    let known = Known { value, number };
    let are_arms =
        [of_number, of_others].iter().all(|arm| llvm::predecessors(*arm)[..] == [block] && only_computes(*arm));
    (then != other && are_arms && known.go_the_same(of_number, of_others)).then_some((branch, of_others == then))
}

fn only_computes(block: BasicBlock<'_>) -> bool {
    block.get_instructions().all(|from| from.is_terminator() || llvm::is_pure(from))
}

/// A value that is a number.
struct Known<'ctx> {
    value: IntValue<'ctx>,
    number: u64,
}

impl<'ctx> Known<'ctx> {
    /// Whether the second block goes where the first does, with the same values.
    fn go_the_same(&self, one: BasicBlock<'ctx>, other: BasicBlock<'ctx>) -> bool {
        let (Some(ours), Some(theirs)) = (ways(one), ways(other)) else { return false };
        let are_alike = |at: usize, their_at: usize| ours[at].to == theirs[their_at].to;
        let turned = are_alike(0, 1) && are_alike(1, 0);
        if ours[0].to == ours[1].to || !turned && !(are_alike(0, 0) && are_alike(1, 1)) {
            return false;
        }
        let condition = |block: BasicBlock<'ctx>, holds| {
            let from = integer(block.get_terminator()?, 0)?.as_instruction_value()?;
            self.comparison(from, holds)
        };
        let is_asked = condition(one, true).is_some_and(|asked| condition(other, !turned) == Some(asked));
        // What each block's own condition is on a way of its.
        let told = |block: BasicBlock<'ctx>, at: usize| {
            block.get_terminator().and_then(|end| Some((integer(end, 0)?, at == 0)))
        };
        let are_same = |at: usize| {
            let their_at = if turned { 1 - at } else { at };
            llvm::phis(ours[at].to).all(|phi| {
                let given = |way: &Way<'ctx>| llvm::incoming_from(phi, way.last);
                let (Some(of_us), Some(of_them)) = (given(&ours[at]), given(&theirs[their_at])) else { return false };
                let of_us = self.sum(of_us, told(one, at), MOST_STEPS);
                let of_them = self.sum(of_them, told(other, their_at), MOST_STEPS);
                // What the other way promises of its sum must be promised of this one.
                (of_us.of, of_us.more) == (of_them.of, of_them.more) && (of_us.promises || !of_them.promises)
            })
        };
        is_asked && are_same(0) && are_same(1)
    }

    /// A comparison without a sign in one form: what it compares, and how.
    fn comparison(&self, from: InstructionValue<'ctx>, holds: bool) -> Option<(IntPredicate, Side<'ctx>, Side<'ctx>)> {
        use IntPredicate as P;
        let predicate = from.get_icmp_predicate()?;
        let predicate = if holds { predicate } else { opposite(predicate) };
        let side = |at| integer(from, at).map(|value| self.side(value, MOST_STEPS));
        let (left, right) = (side(0)?, side(1)?);
        Some(match (predicate, left, right) {
            // Only 0 is not above 0, and nothing is below it.
            (P::UGT, left, Side::Number(0)) | (P::ULT, Side::Number(0), left) => (P::NE, left, Side::Number(0)),
            (P::ULE, left, Side::Number(0)) | (P::UGE, Side::Number(0), left) => (P::EQ, left, Side::Number(0)),
            (P::EQ | P::NE, Side::Number(number), value) => (predicate, value, Side::Number(number)),
            (P::UGT, left, right) => (P::ULT, right, left),
            (P::UGE, left, right) => (P::ULE, right, left),
            (P::EQ | P::NE | P::ULT | P::ULE, left, right) => (predicate, left, right),
            _ => return None,
        })
    }

    fn side(&self, value: IntValue<'ctx>, steps: u32) -> Side<'ctx> {
        match self.constant(value, None, steps) {
            Some(number) => Side::Number(number),
            None => Side::Value(value.into()),
        }
    }

    /// The number that a value is, where a condition is as told.
    fn constant(&self, value: IntValue<'ctx>, way: Told<'ctx>, steps: u32) -> Option<u64> {
        if value == self.value {
            return Some(self.number);
        }
        if value.get_type().get_bit_width() > 64 {
            return None;
        }
        if let Some(number) = value.get_zero_extended_constant() {
            return Some(number);
        }
        let from = value.as_instruction_value().filter(|_| steps > 0)?;
        match from.get_opcode() {
            Op::ZExt => self.constant(integer(from, 0)?, way, steps - 1),
            // What is computed of nothing, by a number that means something.
            Op::Mul | Op::Shl if integer(from, 1)?.is_const() => {
                (self.constant(integer(from, 0)?, way, steps - 1)? == 0).then_some(0)
            }
            Op::Select => {
                let (_, holds) = way.filter(|(condition, _)| integer(from, 0) == Some(*condition))?;
                self.constant(integer(from, if holds { 1 } else { 2 })?, way, steps - 1)
            }
            _ => None,
        }
    }

    /// A value of 64 bits as a sum.
    fn sum(&self, value: BasicValueEnum<'ctx>, way: Told<'ctx>, steps: u32) -> Sum<'ctx> {
        let as_it_is = Sum { of: Some(value), more: 0, promises: false };
        if let BasicValueEnum::IntValue(number) = value {
            if let Some(number) = self.constant(number, way, steps) {
                return Sum { of: None, more: number, promises: false };
            }
            if number.get_type().get_bit_width() != 64 {
                return as_it_is;
            }
        }
        let Some(from) = llvm::instruction_of(value).filter(|_| steps > 0) else { return as_it_is };
        match from.get_opcode() {
            Op::GetElementPtr => {
                let Some((base, size, index)) = llvm::element_of(from) else { return as_it_is };
                let is_word = index.get_type().get_bit_width() == 64;
                let Some(elements) = self.constant(index, way, steps - 1).filter(|_| is_word) else { return as_it_is };
                self.sum(base.into(), way, steps - 1).and(elements.wrapping_mul(size), llvm::is_in_bounds(from))
            }
            Op::Add => {
                let (Some(left), Some(right)) = (integer(from, 0), integer(from, 1)) else { return as_it_is };
                let known = [(left, right), (right, left)]
                    .into_iter()
                    .find_map(|(one, other)| self.constant(one, way, steps - 1).map(|number| (number, other)));
                let Some((number, other)) = known else { return as_it_is };
                let promises = llvm::promises(from) != llvm::Promises::default();
                self.sum(other.into(), way, steps - 1).and(number, promises)
            }
            Op::Select => {
                let chosen = way.filter(|(condition, _)| integer(from, 0) == Some(*condition));
                let chosen = chosen.and_then(|(_, holds)| from.get_operand(if holds { 1 } else { 2 })?.value());
                chosen.map_or(as_it_is, |chosen| self.sum(chosen, way, steps - 1))
            }
            _ => as_it_is,
        }
    }
}

/// A value and a number that is added to it, or a number alone.
#[derive(Clone, Copy)]
struct Sum<'ctx> {
    of: Option<BasicValueEnum<'ctx>>,
    more: u64,
    /// Whether it means nothing where a promise is not kept.
    promises: bool,
}

impl Sum<'_> {
    fn and(self, more: u64, promises: bool) -> Self {
        Self { more: self.more.wrapping_add(more), promises: self.promises || promises && more != 0, ..self }
    }
}

/// A condition, and whether it holds.
type Told<'ctx> = Option<(IntValue<'ctx>, bool)>;

/// Where a block goes on one side of its branch.
struct Way<'ctx> {
    to: BasicBlock<'ctx>,
    /// The block itself, or one on the way, which only computes.
    last: BasicBlock<'ctx>,
}

/// Where a block goes if its condition holds, and where if not.
fn ways(block: BasicBlock<'_>) -> Option<[Way<'_>; 2]> {
    let (then, other) = llvm::branch_targets(block.get_terminator()?)?;
    Some([then, other].map(|to| {
        let onward = to.get_terminator().map(llvm::block_operands).unwrap_or_default();
        match onward[..] {
            [next] if llvm::predecessors(to)[..] == [block] && only_computes(to) => Way { to: next, last: to },
            _ => Way { to, last: block },
        }
    }))
}

/// One side of a comparison.
#[derive(Clone, Copy, PartialEq)]
enum Side<'ctx> {
    Number(u64),
    Value(BasicValueEnum<'ctx>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    fn united(none: &str, some: &str, first: &str) -> bool {
        united_at(none, "%x", some, first)
    }

    fn united_at(none: &str, at_none: &str, some: &str, first: &str) -> bool {
        united_by(none, at_none, some, first, "%some")
    }

    fn united_by(none: &str, at_none: &str, some: &str, first: &str, last: &str) -> bool {
        let text = format!(
            "define ptr @f(ptr %x, i64 %len, i32 %t, i64 %other) {{
            entry: %is = icmp eq i32 %t, 0
              br i1 %is, label %none, label %some
            none: br i1 {none}
            some: %wide = zext i32 %t to i64
              %p = getelementptr float, ptr %x, i64 %wide
              %next = add i64 %wide, 1
              {some}
            first: %at = phi ptr [ {at_none}, %none ], [ {first}, {last} ]
              %number = phi i64 [ 1, %none ], [ %next, {last} ]
              %to = getelementptr i8, ptr %at, i64 %number
              ret ptr %to
            end: ret ptr null
            }}"
        );
        let text = text.replacen("none: br i1 ", "none: %c = ", 1);
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let function = module.get_function("f").unwrap();
        let any = unite(&context, function).unwrap();
        module.verify().unwrap();
        assert_eq!(any, function.print_to_string().to_string().contains("br i1 false, label %none"), "{text}");
        any
    }

    #[test]
    fn nothing_to_skip_is_skipped_as_anything_else() {
        let none = "icmp eq i64 %len, 0\n br i1 %c, label %end, label %first";
        let some = "%d = icmp ugt i64 %len, %wide\n br i1 %d, label %first, label %end";
        assert!(united(none, some, "%p"));
        assert!(united(none, "%d = icmp ule i64 %len, %wide\n br i1 %d, label %end, label %first", "%p"));
        assert!(united("icmp ne i64 %len, 0\n br i1 %c, label %first, label %end", some, "%p"));
        // What is behind it is chosen by what is asked.
        let chosen = |first: &str, second: &str| {
            format!(
                "icmp eq i64 %len, 0\n %by = select i1 %c, i64 {first}, i64 {second}
                %q = getelementptr i8, ptr %x, i64 %by\n br i1 %c, label %end, label %first"
            )
        };
        let some_more = "%r = getelementptr i8, ptr %p, i64 4\n ".to_string() + some;
        assert!(united_at(&chosen("0", "4"), "%q", &some_more, "%r"));
        assert!(!united_at(&chosen("4", "0"), "%q", &some_more, "%r"));
        // The address may be computed on the way.
        let on_the_way = |first: &str| {
            let address = format!("%q = getelementptr float, ptr %x, i64 {first}\n br label %first");
            let asks = "%d = icmp ugt i64 %len, %wide\n br i1 %d, label %between, label %end\n between: ";
            let some = format!("{asks}{address}");
            united_by(none, "%x", &some, "%q", "%between")
        };
        assert!(on_the_way("%wide"));
        assert!(!on_the_way("%next") && !on_the_way("%other"));
        // Another way, another question, another value.
        assert!(!united("icmp eq i64 %len, 0\n br i1 %c, label %first, label %end", some, "%p"));
        assert!(!united(none, "%d = icmp uge i64 %len, %wide\n br i1 %d, label %first, label %end", "%p"));
        assert!(!united("icmp eq i64 %other, 0\n br i1 %c, label %end, label %first", some, "%p"));
        assert!(!united(none, some, "null"));
    }
}
