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
//! So it is of the rows of `chunks_exact(n).skip(t)`, for which more is asked where some are skipped: whether `t × n` overflows, and
//! whether a row begins there. Of no rows neither is so.
//!
//! **Why it is right.** Both blocks only compute, and go to the same two, if need be by way of a block that only computes. With the
//! number in the place of what is compared with it, the second one's condition is the first one's, and so is each value that it
//! gives the blocks behind. What the second one's comparison promises of its numbers goes, because it may not hold there. What the
//! second one asks besides is known then; it means something, since it is made of nothing but what the first one's comparison
//! asks for, by arithmetic, whose promises go as well.

use std::cell::RefCell;

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue,
};
use crate::loops::opposite;

/// How deep values are looked into.
const MOST_STEPS: u32 = 8;

/// Does so at every such branch; returns whether there was one.
pub fn unite<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let mut any = false;
    for block in function.get_basic_blocks() {
        if let Some(SameWay { branch, to_first, promising }) = same_way(block) {
            for from in promising {
                forget_promises(context, from)?;
            }
            llvm::always_branch(context, branch, to_first);
            any = true;
        }
    }
    Ok(any)
}

/// Writes a comparison, a sum or a difference without what it promises of its numbers, which holds for the others.
fn forget_promises<'ctx>(context: &'ctx Context, from: InstructionValue<'ctx>) -> Result<(), BuilderError> {
    let (Some(left), Some(right)) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1)) else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&from);
    let same = match (from.get_opcode(), from.get_icmp_predicate()) {
        (_, Some(predicate)) => builder.build_int_compare(predicate, left, right, "")?,
        (Op::Add, _) => builder.build_int_add(left, right, "")?,
        _ => builder.build_int_sub(left, right, "")?,
    };
    llvm::replace_uses(from, same.into());
    Ok(())
}

/// A branch whose one way may be gone in place of the other.
struct SameWay<'ctx> {
    branch: InstructionValue<'ctx>,
    /// Whether that is the first.
    to_first: bool,
    /// What must promise nothing any more.
    promising: Vec<InstructionValue<'ctx>>,
}

fn same_way(block: BasicBlock<'_>) -> Option<SameWay<'_>> {
    let branch = block.get_terminator()?;
    let (then, other) = llvm::branch_targets(branch)?;
    let compared = llvm::int_operand(branch, 0)?.as_instruction_value()?;
    let (value, number) =
        (llvm::int_operand(compared, 0)?, llvm::int_operand(compared, 1)?.get_zero_extended_constant()?);
    let (of_number, of_others) = match compared.get_icmp_predicate()? {
        IntPredicate::EQ => (then, other),
        IntPredicate::NE => (other, then),
        _ => return None,
    };
    let known = Known { value, number, meant: asked_by(of_number), promising: RefCell::default() };
    let are_arms =
        [of_number, of_others].iter().all(|arm| llvm::predecessors(*arm)[..] == [block] && only_computes(*arm));
    let is_same = then != other && are_arms && known.go_the_same(of_number, of_others);
    let promising = known.promising.into_inner();
    is_same.then_some(SameWay { branch, to_first: of_others == then, promising })
}

fn only_computes(block: BasicBlock<'_>) -> bool {
    block.get_instructions().all(|from| from.is_terminator() || llvm::is_pure(from))
}

/// What the comparison asks for by which a block ends.
fn asked_by(block: BasicBlock<'_>) -> Vec<IntValue<'_>> {
    let condition =
        block.get_terminator().and_then(|end| llvm::int_operand(end, 0)).and_then(|asked| asked.as_instruction_value());
    let compared = condition.filter(|from| from.get_opcode() == Op::ICmp);
    compared.map(|from| [0, 1].into_iter().filter_map(|at| llvm::int_operand(from, at)).collect()).unwrap_or_default()
}

/// Where a block goes, by way of a block that only computes, and from where.
fn end<'ctx>(from: BasicBlock<'ctx>, to: BasicBlock<'ctx>) -> (BasicBlock<'ctx>, BasicBlock<'ctx>) {
    let jump = to.get_terminator().filter(|end| end.get_opcode() == Op::Br && end.get_num_operands() == 1);
    let target = jump.and_then(|jump| llvm::block_operands(jump).first().copied());
    match target {
        Some(target) if llvm::predecessors(to)[..] == [from] && only_computes(to) => (target, to),
        _ => (to, from),
    }
}

/// A value that is a number.
struct Known<'ctx> {
    value: IntValue<'ctx>,
    number: u64,
    /// Values that mean something, since a branch asks for them.
    meant: Vec<IntValue<'ctx>>,
    /// What promises something of its numbers that may not hold where the value is this number.
    promising: RefCell<Vec<InstructionValue<'ctx>>>,
}

/// What decides, where a value is a number.
#[derive(Clone, Copy, PartialEq)]
enum Asked<'ctx> {
    Known(bool),
    Comparison(IntPredicate, Side<'ctx>, Side<'ctx>),
}

impl<'ctx> Known<'ctx> {
    /// Whether the second block goes where the first does, with the same values.
    fn go_the_same(&self, one: BasicBlock<'ctx>, other: BasicBlock<'ctx>) -> bool {
        let ends = |block: BasicBlock<'ctx>| {
            let (then, other) = block.get_terminator().and_then(llvm::branch_targets)?;
            Some((end(block, then), end(block, other)))
        };
        let (Some(ours), Some(theirs)) = (ends(one), ends(other)) else { return false };
        let turned = (ours.0.0, ours.1.0) == (theirs.1.0, theirs.0.0);
        let theirs = if turned { (theirs.1, theirs.0) } else { theirs };
        let condition = |block: BasicBlock<'ctx>| llvm::int_operand(block.get_terminator()?, 0);
        let (Some(our_condition), Some(their_condition)) = (condition(one), condition(other)) else { return false };
        let are_same = |(to, our_end): (BasicBlock<'ctx>, _), their_end, holds| {
            llvm::phis(to).all(|phi| {
                let ours = llvm::incoming_from(phi, our_end);
                let Some((ours, theirs)) = ours.zip(llvm::incoming_from(phi, their_end)) else { return false };
                let ours = self.sum(ours, Some((our_condition, holds)), MOST_STEPS);
                let theirs = self.sum(theirs, Some((their_condition, holds != turned)), MOST_STEPS);
                // What the other way promises of its sum must be promised of this one.
                (ours.of, ours.more) == (theirs.of, theirs.more) && (ours.promises || !theirs.promises)
            })
        };
        let ours_asked = our_condition.as_instruction_value().and_then(|from| self.comparison(from, true));
        (ours.0.0, ours.1.0) == (theirs.0.0, theirs.1.0)
            && ours_asked.is_some()
            && self.asked(their_condition, !turned, MOST_STEPS) == ours_asked
            && are_same(ours.0, theirs.0.1, true)
            && are_same(ours.1, theirs.1.1, false)
    }

    /// What a condition asks, or the opposite of it, once what is known of its parts is left out.
    fn asked(&self, condition: IntValue<'ctx>, holds: bool, steps: u32) -> Option<Asked<'ctx>> {
        let from = condition.as_instruction_value().filter(|_| steps > 0)?;
        if from.get_opcode() == Op::ICmp {
            self.note_promises(from);
            return self.comparison(from, holds);
        }
        if from.get_opcode() == Op::ExtractValue {
            // What nothing is multiplied by.
            let (product, 1) = llvm::part_of(from)? else { return None };
            return self.is_nothing(product, steps).then_some(Asked::Known(!holds));
        }
        let number = |at| llvm::int_operand(from, at).and_then(|value| value.get_zero_extended_constant());
        let (is_either, second) = match from.get_opcode() {
            Op::Or => (true, 1),
            Op::And => (false, 1),
            Op::Select if number(1) == Some(1) => (true, 2),
            Op::Select if number(2) == Some(0) => (false, 1),
            _ => return None,
        };
        let [one, other] = [0, second].map(|at| self.asked(llvm::int_operand(from, at)?, holds, steps - 1));
        let neutral = Asked::Known(is_either != holds);
        match (one?, other?) {
            (known, asked) | (asked, known) if known == neutral => Some(asked),
            _ => None,
        }
    }

    fn note_promises(&self, from: InstructionValue<'ctx>) {
        if llvm::promises(from) != llvm::Promises::default() {
            self.promising.borrow_mut().push(from);
        }
    }

    /// Whether a product has a factor that is 0, and another one that means something.
    fn is_nothing(&self, product: InstructionValue<'ctx>, steps: u32) -> bool {
        let is_product = || {
            let name = llvm::called_function(product).map(|callee| callee.get_name().to_bytes().to_vec());
            name.is_some_and(|name| name == b"llvm.umul.with.overflow.i64")
        };
        let sides = llvm::int_operand(product, 0).zip(llvm::int_operand(product, 1));
        sides.filter(|_| product.get_opcode() == Op::Mul || is_product()).is_some_and(|(one, other)| {
            [(one, other), (other, one)].into_iter().any(|(one, other)| {
                steps > 0 && self.constant(one, None, steps - 1) == Some(0) && self.is_meant(other, steps - 1)
            })
        })
    }

    /// Whether a value means something where a branch asks for others.
    fn is_meant(&self, value: IntValue<'ctx>, steps: u32) -> bool {
        if self.constant(value, None, steps).is_some() || self.meant.contains(&value) {
            return true;
        }
        let from = value.as_instruction_value().filter(|_| steps > 0);
        let Some(from) = from.filter(|from| matches!(from.get_opcode(), Op::Add | Op::Sub)) else { return false };
        self.note_promises(from);
        [0, 1].into_iter().all(|at| llvm::int_operand(from, at).is_some_and(|part| self.is_meant(part, steps - 1)))
    }

    /// A comparison without a sign in one form: what it compares, and how.
    fn comparison(&self, from: InstructionValue<'ctx>, holds: bool) -> Option<Asked<'ctx>> {
        use IntPredicate as P;
        let predicate = from.get_icmp_predicate()?;
        let predicate = if holds { predicate } else { opposite(predicate) };
        let side = |at| llvm::int_operand(from, at).map(|value| self.side(value, MOST_STEPS));
        let (left, right) = (side(0)?, side(1)?);
        let is_meant = || {
            [0, 1].into_iter().all(|at| llvm::int_operand(from, at).is_some_and(|part| self.is_meant(part, MOST_STEPS)))
        };
        let (predicate, left, right) = match (predicate, left, right) {
            // Nothing is below 0.
            (P::UGT, Side::Number(0), _) | (P::ULT, _, Side::Number(0)) if is_meant() => {
                return Some(Asked::Known(false));
            }
            (P::ULE, Side::Number(0), _) | (P::UGE, _, Side::Number(0)) if is_meant() => {
                return Some(Asked::Known(true));
            }
            // Only 0 is not above 0.
            (P::UGT, left, Side::Number(0)) | (P::ULT, Side::Number(0), left) => (P::NE, left, Side::Number(0)),
            (P::ULE, left, Side::Number(0)) | (P::UGE, Side::Number(0), left) => (P::EQ, left, Side::Number(0)),
            (P::EQ | P::NE, Side::Number(number), value) => (predicate, value, Side::Number(number)),
            (P::UGT, left, right) => (P::ULT, right, left),
            (P::UGE, left, right) => (P::ULE, right, left),
            (P::EQ | P::NE | P::ULT | P::ULE, left, right) => (predicate, left, right),
            _ => return None,
        };
        Some(Asked::Comparison(predicate, left, right))
    }

    fn side(&self, value: IntValue<'ctx>, steps: u32) -> Side<'ctx> {
        match self.constant(value, None, steps) {
            Some(number) => Side::Number(number),
            None => Side::Value(value.into()),
        }
    }

    /// The number that a value is, where a condition is as told.
    fn constant(&self, value: IntValue<'ctx>, way: Way<'ctx>, steps: u32) -> Option<u64> {
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
            Op::ZExt => self.constant(llvm::int_operand(from, 0)?, way, steps - 1),
            // What is computed of nothing, by a number that means something.
            Op::Mul | Op::Shl if llvm::int_operand(from, 1)?.is_const() => {
                (self.constant(llvm::int_operand(from, 0)?, way, steps - 1)? == 0).then_some(0)
            }
            Op::Mul => self.is_nothing(from, steps).then_some(0),
            Op::ExtractValue => {
                let (product, 0) = llvm::part_of(from)? else { return None };
                self.is_nothing(product, steps).then_some(0)
            }
            Op::Select => {
                let (_, holds) = way.filter(|(condition, _)| llvm::int_operand(from, 0) == Some(*condition))?;
                self.constant(llvm::int_operand(from, if holds { 1 } else { 2 })?, way, steps - 1)
            }
            _ => None,
        }
    }

    /// A value of 64 bits as a sum.
    fn sum(&self, value: BasicValueEnum<'ctx>, way: Way<'ctx>, steps: u32) -> Sum<'ctx> {
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
                let (Some(left), Some(right)) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1)) else {
                    return as_it_is;
                };
                let known = [(left, right), (right, left)]
                    .into_iter()
                    .find_map(|(one, other)| self.constant(one, way, steps - 1).map(|number| (number, other)));
                let Some((number, other)) = known else { return as_it_is };
                let promises = llvm::promises(from) != llvm::Promises::default();
                self.sum(other.into(), way, steps - 1).and(number, promises)
            }
            Op::Sub => {
                let taken = llvm::int_operand(from, 1).and_then(|taken| self.constant(taken, way, steps - 1));
                let (Some(taken), Some(whole)) = (taken, llvm::int_operand(from, 0)) else { return as_it_is };
                let promises = llvm::promises(from) != llvm::Promises::default();
                self.sum(whole.into(), way, steps - 1).and(taken.wrapping_neg(), promises)
            }
            Op::Select => {
                let chosen = way.filter(|(condition, _)| llvm::int_operand(from, 0) == Some(*condition));
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
type Way<'ctx> = Option<(IntValue<'ctx>, bool)>;

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

    /// Rows of a number of elements, behind so many of them, where a row begins and how much is left there.
    fn rows(none: &str, first: &str, past: &str) -> bool {
        let text = format!(
            "declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)
            define i64 @f(ptr %x, i64 %len, i64 %whole, i64 %n, i64 %t) {{
            entry: %is = icmp eq i64 %t, 0
              br i1 %is, label %none, label %some
            none: %c = icmp {none}
              br i1 %c, label %end, label %first
            some: %both = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 {first})
              %at = extractvalue {{ i64, i1 }} %both, 0
              %wraps = extractvalue {{ i64, i1 }} %both, 1
              %short = icmp ult i64 %len, %n
              %last = {past}
              %over = icmp ugt i64 %at, %last
              %out = or i1 %short, %over
              %ends = select i1 %wraps, i1 true, i1 %out
              br i1 %ends, label %end, label %inside
            inside: %p = getelementptr inbounds float, ptr %x, i64 %at
              %rest = sub nuw i64 %whole, %at
              br label %first
            first: %row = phi ptr [ %x, %none ], [ %p, %inside ]
              %left = phi i64 [ %whole, %none ], [ %rest, %inside ]
              %number = ptrtoint ptr %row to i64
              %sum = add i64 %number, %left
              ret i64 %sum
            end: ret i64 0
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let function = module.get_function("f").unwrap();
        let any = unite(&context, function).unwrap();
        module.verify().unwrap();
        // The difference that is known to be of no use promises nothing any more.
        let ir = function.print_to_string().to_string();
        assert!(!any || !ir.contains("ugt i64 %at, %last") || !ir.contains("%last = sub nuw"), "{ir}");
        any
    }

    #[test]
    fn no_rows_are_skipped_as_others_are() {
        const LAST: &str = "sub i64 %len, %n";
        assert!(rows("ult i64 %len, %n", "%t, i64 %n", LAST) && rows("ugt i64 %n, %len", "%n, i64 %t", LAST));
        assert!(rows("ult i64 %len, %n", "%t, i64 %n", "sub nuw i64 %len, %n"));
        // Another question; what is multiplied by another number; what may mean nothing.
        assert!(!rows("ult i64 %whole, %n", "%t, i64 %n", LAST));
        assert!(!rows("ult i64 %len, %n", "%whole, i64 %n", LAST));
        assert!(!rows("ult i64 %len, %n", "%t, i64 %whole", LAST));
        assert!(!rows("ult i64 %len, %n", "%t, i64 %n", "sub i64 %len, %whole"));
    }
}
