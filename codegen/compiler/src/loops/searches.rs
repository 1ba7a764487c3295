//! Keeps what a search has loaded from where it stands, so that it is not loaded again when the search is over.
//!
//! ```text
//! before: loop: %base = phi i64 [ 0, %before ], [ %new, %loop ]
//!               %x = load i32, ptr (getelementptr inbounds nuw i32, ptr %from, i64 %mid)
//!               %new = select i1 (icmp ult i32 %x, %key), i64 %mid, i64 %base
//!               br i1 %more, label %loop, label %out
//!         out:  %at = phi i64 [ 0, %empty ], [ %new, %loop ]
//!               %last = load i32, ptr (getelementptr inbounds nuw i32, ptr %from, i64 %at)
//! after:  loop: %kept = phi i32 [ poison, %before ], [ %new.kept, %loop ]
//!               %new.kept = select i1 (icmp ult i32 %x, %key), i32 %x, i32 %kept
//!         out:  %found = phi i32 [ poison, %empty ], [ %new.kept, %loop ]
//!               %first = load i32, ptr %from
//!               %last = select i1 (icmp eq i64 %at, 0), i32 %first, i32 %found
//! ```
//!
//! `binary_search` and `partition_point` compare once more when one element is left. It was compared before, unless it is the
//! first. The threads of a warp search for different keys, so that such a load goes to 32 places, and takes as long as a
//! round of the search; the first element is one place for all of them. On an H100 20 rounds in 4 MB took
//! 1355 µs before, 1247 with this, and 1267 in CUDA C++, whose search has no such load.
//!
//! Sound: where `%at` is not 0, the search has moved, and `%kept` is what it loaded from where it moved to last. Nothing
//! in the loop or between it and the last load writes, so that memory is as it was. Where `%at` is 0, the first element is
//! loaded, as before. That one can be loaded wherever the last load is done: the address of that is in the same object, and
//! not below `%from`.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode,
    InstructionValue, IntPredicate, IntValue, Module, PointerValue,
};
use crate::settled;

use super::natural::{Graph, Loop};

/// Keeps what every search stands at.
pub fn keep<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost() {
            keep_in(context, function, &found).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot keep what a search has loaded: {error}"))
            })?;
        }
    }
    Ok(())
}

fn keep_in<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let quiet = found.blocks.iter().flat_map(|block| block.get_instructions()).all(is_quiet);
    let ([latch], true) = (&found.latches[..], quiet) else { return Ok(()) };
    let bases = llvm::phis(found.head).filter_map(|phi| Search::of(found, *latch, phi));
    for search in bases.collect::<Vec<_>>() {
        let last = llvm::instructions(function).find(|last| search.ends_in(found, *last));
        if let Some(last) = last {
            search.keep(&context.create_builder(), found, last)?;
        }
    }
    Ok(())
}

/// Whether an instruction writes nothing, and is no call that others could write in.
fn is_quiet(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode as Op;
    let is_assumption =
        || llvm::called_function(instruction).is_some_and(|callee| callee.get_name().to_bytes() == b"llvm.assume");
    llvm::is_pure(instruction)
        || llvm::is_plain_load(instruction)
        || llvm::is_division(instruction)
        || matches!(instruction.get_opcode(), Op::Phi | Op::Br | Op::Switch | Op::Freeze)
        || instruction.get_opcode() == Op::Call && is_assumption()
}

/// An element of an array.
#[derive(Clone, Copy)]
struct Element<'ctx> {
    load: InstructionValue<'ctx>,
    from: PointerValue<'ctx>,
    size: u64,
    index: IntValue<'ctx>,
}

impl<'ctx> Element<'ctx> {
    /// What an instruction loads, if it is one of the elements from a pointer on.
    fn of(load: InstructionValue<'ctx>) -> Option<Self> {
        if load.get_opcode() != InstructionOpcode::Load || !llvm::is_plain_load(load) {
            return None;
        }
        let address = load.get_operand(0)?.value()?.as_instruction_value()?;
        let (from, size, index) = llvm::element_of(address)?;
        // Then the first element is aligned, too.
        let is_aligned = load.get_alignment().is_ok_and(|align| size.is_multiple_of(align.into()));
        (is_aligned && llvm::is_in_bounds_above(address)).then_some(Self { load, from, size, index })
    }
}

/// A place that a loop moves to elements which it has loaded.
struct Search<'ctx> {
    base: InstructionValue<'ctx>,
    /// Where it is when the loop ends or goes on.
    new: InstructionValue<'ctx>,
    latch: BasicBlock<'ctx>,
    /// Whether the first of the two operands is where it moves to.
    moves_first: bool,
    element: Element<'ctx>,
}

impl<'ctx> Search<'ctx> {
    fn of(found: &Loop<'ctx>, latch: BasicBlock<'ctx>, base: InstructionValue<'ctx>) -> Option<Self> {
        let (first, next) = found.incoming(llvm::result(base))?;
        let BasicValueEnum::IntValue(first) = first else { return None };
        let new = next.as_instruction_value().filter(|new| new.get_opcode() == InstructionOpcode::Select)?;
        if first.get_zero_extended_constant() != Some(0) || !found.contains(new.get_parent()?) {
            return None;
        }
        let (then, other) = (llvm::int_operand(new, 1)?, llvm::int_operand(new, 2)?);
        let stays = |value: IntValue<'ctx>| value.as_instruction_value() == Some(base);
        let (moves_first, to) = match (stays(then), stays(other)) {
            (false, true) => (true, then),
            (true, false) => (false, other),
            _ => return None,
        };
        // In the block of the choice, before it.
        let before = || new.get_parent().into_iter().flat_map(|block| block.get_instructions());
        let mut loads = before().take_while(|instruction| *instruction != new).filter_map(Element::of);
        let element = loads.find(|element| element.index == to && found.is_invariant(element.from.into()))?;
        Some(Self { base, new, latch, moves_first, element })
    }

    /// Whether an instruction loads the element that the search ends at, with nothing written in between.
    fn ends_in(&self, found: &Loop<'ctx>, last: InstructionValue<'ctx>) -> bool {
        let Some(element) = Element::of(last) else { return false };
        let Some(block) = last.get_parent().filter(|block| !found.contains(*block)) else { return false };
        let same = element.from == self.element.from
            && element.size == self.element.size
            && last.get_type() == self.element.load.get_type();
        let quiet = || block.get_instructions().take_while(|instruction| *instruction != last).all(is_quiet);
        same && self.found_in(found, block, element.index).is_some() && quiet()
    }

    /// Where the end of the search comes from in a block behind the loop whose phi is `at`; every other value is 0.
    fn found_in(
        &self,
        found: &Loop<'ctx>,
        block: BasicBlock<'ctx>,
        at: IntValue<'ctx>,
    ) -> Option<Vec<(bool, BasicBlock<'ctx>)>> {
        let phi = at.as_instruction_value().filter(|phi| phi.get_opcode() == InstructionOpcode::Phi)?;
        if phi.get_parent() != Some(block) {
            return None;
        }
        let comes = |(value, from): (BasicValueEnum<'ctx>, BasicBlock<'ctx>)| {
            if value == llvm::result(self.new) && found.contains(from) {
                return Some((true, from));
            }
            let BasicValueEnum::IntValue(number) = value else { return None };
            (number.get_zero_extended_constant() == Some(0)).then_some((false, from))
        };
        let all = llvm::incoming(phi).into_iter().map(comes).collect::<Option<Vec<_>>>()?;
        all.iter().any(|(moved, _)| *moved).then_some(all)
    }

    /// Has what is kept take the place of the last load.
    fn keep(
        &self,
        builder: &Builder<'ctx>,
        found: &Loop<'ctx>,
        last: InstructionValue<'ctx>,
    ) -> std::result::Result<(), BuilderError> {
        let (Some(block), Some(end)) = (last.get_parent(), Element::of(last)) else { return Ok(()) };
        let Some(comes) = self.found_in(found, block, end.index) else { return Ok(()) };
        let ty = llvm::result(last).get_type();
        let none = llvm::poison(ty);
        builder.position_before(&self.base);
        let kept = builder.build_phi(ty, "")?;
        let kept_value = kept.as_basic_value();
        if let Some(behind) = self.new.get_next_instruction() {
            builder.position_before(&behind);
        }
        let condition = llvm::int_operand(self.new, 0).expect("a choice has a condition");
        let loaded = llvm::result(self.element.load);
        let (then, other) = if self.moves_first { (loaded, kept_value) } else { (kept_value, loaded) };
        let new = builder.build_select(condition, then, other, "")?;
        for (_, from) in llvm::incoming(self.base) {
            kept.add_incoming(&[(if from == self.latch { &new } else { &none }, from)]);
        }
        let Some(top) = block.get_first_instruction() else { return Ok(()) };
        builder.position_before(&top);
        let at_end = builder.build_phi(ty, "")?;
        for (moved, from) in comes {
            at_end.add_incoming(&[(if moved { &new } else { &none }, from)]);
        }
        builder.position_before(&last);
        let zero = end.index.get_type().const_zero();
        let stayed = builder.build_int_compare(IntPredicate::EQ, end.index, zero, "")?;
        // Nothing is said of it: where the search has moved, it may be any element, and nobody looks at it.
        let first = builder.build_load(ty, end.from, "")?;
        if let (Some(load), Ok(align)) = (first.as_instruction_value(), last.get_alignment()) {
            load.set_alignment(align).expect("an alignment is a power of two");
        }
        let value = builder.build_select(stayed, first, at_end.as_basic_value(), "")?;
        llvm::replace_uses(last, value);
        last.erase_from_basic_block();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A search by halves whose choice is `choice`, after [`keep`]; `last` is the address of what is loaded at its end.
    fn kept(choice: &str, more: &str, last: &str, behind: &str) -> String {
        let text = format!(
            "declare void @llvm.assume(i1)
            define i64 @f(ptr %from, ptr %to, i64 %n, i32 %key) {{
            entry: switch i64 %n, label %loop [ i64 0, label %none i64 1, label %out ]
            loop: %size = phi i64 [ %rest, %loop ], [ %n, %entry ]
              %base = phi i64 [ %new, %loop ], [ 0, %entry ]
              %half = lshr i64 %size, 1
              %mid = add nuw i64 %half, %base
              %inside = icmp ult i64 %mid, %n
              call void @llvm.assume(i1 %inside)
              %at = getelementptr inbounds nuw i32, ptr %from, i64 %mid
              %x = load i32, ptr %at
              {more}
              %less = icmp ult i32 %x, %key
              %new = {choice}
              %rest = sub i64 %size, %half
              %goes = icmp ugt i64 %rest, 1
              br i1 %goes, label %loop, label %out
            out: %found = phi i64 [ 0, %entry ], [ %new, %loop ]
              {behind}
              %end = {last}
              %y = load i32, ptr %end, !noundef !0
              %less.y = icmp ult i32 %y, %key
              %one = zext i1 %less.y to i64
              %rank = add i64 %found, %one
              ret i64 %rank
            none: ret i64 0
            }}
            !0 = !{{}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        keep(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const MOVES: &str = "select i1 %less, i64 %mid, i64 %base";
    const LAST: &str = "getelementptr inbounds nuw i32, ptr %from, i64 %found";

    fn is_kept(ir: &str) -> bool {
        ir.contains("load i32, ptr %from, align 4") && ir.contains("icmp eq i64 %found, 0")
    }

    #[test]
    fn the_last_element_is_the_one_that_the_search_moved_to() {
        let ir = kept(MOVES, "", LAST, "");
        assert!(is_kept(&ir) && ir.contains("select i1 %less, i32 %x, i32 %"), "{ir}");
        // Nothing is said of an element that the function may never have loaded.
        assert!(!ir.contains("!noundef"), "{ir}");
        let ir = kept("select i1 %less, i64 %base, i64 %mid", "", LAST, "");
        assert!(is_kept(&ir) && ir.contains(", i32 %x"), "{ir}");
    }

    #[test]
    fn others_load_again() {
        let elsewhere = "getelementptr inbounds nuw i32, ptr %to, i64 %found";
        let below = "getelementptr inbounds i32, ptr %from, i64 %found";
        for (choice, more, last, behind) in [
            (MOVES, "store i32 1, ptr %to", LAST, ""),
            (MOVES, "fence acquire", LAST, ""),
            (MOVES, "", LAST, "store i32 1, ptr %to"),
            (MOVES, "", elsewhere, ""),
            (MOVES, "", below, ""),
            ("select i1 %less, i64 %half, i64 %base", "", LAST, ""),
            ("add i64 %mid, 0", "", LAST, ""),
        ] {
            let ir = kept(choice, more, last, behind);
            assert!(!is_kept(&ir), "{ir}");
        }
    }
}
