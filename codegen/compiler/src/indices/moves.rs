//! Between which numbers the place and the size of a search lie, which are computed anew in each round.
//!
//! ```text
//! loop: %size = phi i64 [ %len, %before ], [ %left, %loop ]
//!       %base = phi i64 [ 0, %before ], [ %new, %loop ]
//!       %half = lshr i64 %size, 1
//!       %mid = add nuw i64 %base, %half
//!       call void @llvm.assume(i1 (icmp ult i64 %mid, %len))
//!       %new = select i1 %is.less, i64 %mid, i64 %base
//!       %left = sub i64 %size, %half
//! ```
//!
//! As `binary_search` and `partition_point` do. A phi is at any time one of the numbers that it may have been chosen from, but
//! for itself; and a number that was computed of it by nothing that makes it larger, nor less than 0, is at or below it: by
//! induction over the rounds it lies between 0 and the largest of the others.

use crate::llvm::{self, BasicValue, BasicValueEnum, InstructionOpcode as Op, InstructionValue, IntValue};

use super::ranges::{Interval, Ranges, constant};

/// How many values a phi may be chosen from.
const MOST_CHOICES: usize = 8;

/// How deep what makes a number smaller is looked into.
const MOST_STEPS: u32 = 3;

impl<'ctx> Ranges<'_, 'ctx> {
    /// Between which numbers a phi lies that is computed of itself by choices, and by what makes it no larger.
    pub(super) fn moved(&self, phi: InstructionValue<'ctx>, steps: u32) -> Option<Interval> {
        let BasicValueEnum::IntValue(value) = llvm::result(phi) else { return None };
        let mut pending: Vec<_> = llvm::incoming(phi);
        let (mut others, mut falls, mut is_own) = (Vec::new(), false, false);
        let mut count = 0;
        while let Some((chosen, before)) = pending.pop() {
            count += 1;
            let BasicValueEnum::IntValue(chosen) = chosen else { return None };
            if count > MOST_CHOICES {
                return None;
            }
            let from = chosen.as_instruction_value();
            match from.map(|from| (from, from.get_opcode())) {
                _ if chosen == value => is_own = true,
                Some((from, Op::Select)) => {
                    pending.extend(
                        [1, 2].into_iter().filter_map(|index| Some((llvm::int_operand(from, index)?.into(), before))),
                    );
                }
                _ if is_below(chosen, value, MOST_STEPS) => falls = true,
                // What is known of it where it becomes the phi.
                _ => others.push((chosen, before)),
            }
        }
        if !is_own && !falls {
            return None;
        }
        let ranges = others.into_iter().map(|(other, block)| self.look(other, &self.facts(block), steps));
        let all = ranges.reduce(Interval::join).filter(|all| all.is_narrow())?;
        if falls { (all.low >= 0).then(|| Interval::new(0, all.high)) } else { Some(all) }
    }
}

/// Whether a number is between 0 and another one, if that is not below 0.
fn is_below<'ctx>(value: IntValue<'ctx>, other: IntValue<'ctx>, steps: u32) -> bool {
    if value == other {
        return true;
    }
    let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return false };
    let is_part = |index| llvm::int_operand(from, index).is_some_and(|part| is_below(part, other, steps - 1));
    match from.get_opcode() {
        Op::LShr | Op::UDiv | Op::URem => is_part(0),
        Op::And => is_part(0) || is_part(1),
        // What is left of the number itself.
        Op::Sub => llvm::int_operand(from, 0) == Some(other) && is_part(1),
        Op::Call => {
            let is_minimum = llvm::called_function(from)
                .is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.umin."));
            is_minimum && (is_part(0) || is_part(1))
        }
        _ => constant(value) == Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::QuickMap;
    use crate::llvm::{Context, parse_ir};
    use crate::loops::Graph;

    /// Between which numbers the place and the size of a search lie.
    fn of_search(half: &str, left: &str, assumed: &str) -> [(i128, i128); 2] {
        let text = format!(
            "declare void @llvm.assume(i1)
            declare i64 @llvm.umin.i64(i64, i64)
            define i64 @f(ptr %from, i16 %few, i64 %any, i1 %c) {{
            entry: %len = zext i16 %few to i64
              br label %loop
            loop: %size = phi i64 [ %len, %entry ], [ %left, %loop ]
              %base = phi i64 [ 0, %entry ], [ %new, %loop ]
              %half = {half}
              %mid = add nuw i64 %base, %half
              %frozen = freeze i64 %mid
              %is = icmp ult i64 %frozen, {assumed}
              call void @llvm.assume(i1 %is)
              %new = select i1 %c, i64 %frozen, i64 %base
              %left = {left}
              %more = icmp ugt i64 %left, 1
              br i1 %more, label %loop, label %end
            end: ret i64 %new
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let graph = Graph::of(module.get_function("f").unwrap());
        let (given, same) = (QuickMap::default(), QuickMap::default());
        let ranges = Ranges::of_function(&graph, &given, &same);
        let block = graph.loops()[0].head;
        let mut phis = llvm::phis(block).map(|phi| ranges.in_block(llvm::result(phi).into_int_value(), block));
        let [size, base] = [phis.next().unwrap(), phis.next().unwrap()];
        [(size.low, size.high), (base.low, base.high)]
    }

    const MOST: i128 = u16::MAX as i128;
    const ALL: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

    #[test]
    fn a_search_stays_in_its_slice() {
        let [size, base] = of_search("lshr i64 %size, 1", "sub i64 %size, %half", "%len");
        assert_eq!((size, base), ((0, MOST), (0, MOST - 1)));
        let [size, _] = of_search("and i64 %size, 7", "call i64 @llvm.umin.i64(i64 %half, i64 %any)", "%len");
        assert_eq!(size, (0, MOST));
    }

    #[test]
    fn of_others_nothing_is_known() {
        for left in ["sub i64 %half, %size", "add i64 %size, %half", "sub i64 %any, %half", "ashr i64 %any, 1"] {
            assert_eq!(of_search("lshr i64 %size, 1", left, "%len")[0], ALL, "{left}");
        }
        assert_eq!(of_search("lshr i64 %size, 1", "sub i64 %size, %half", "%any")[1], ALL);
    }
}
