//! Has a search know its first element from the start, where LLVM reads that behind the loop if nothing further was found.
//!
//! ```text
//! before: loop: %base = phi i64 [ 0, %before ], [ %new, %loop ]          ; `edges.partition_point(|edge| *edge <= x)`
//!               %kept = phi float [ poison, %before ], [ %found, %loop ]
//!               %y = load float, ptr (getelementptr inbounds nuw float, ptr %edges, i64 %mid)
//!               %new = select i1 %is.less, i64 %mid, i64 %base
//!               %found = select i1 %is.less, float %y, float %kept
//!         end:  br i1 (icmp eq i64 %new, 0), label %again, label %done
//!         again: %first = load float, ptr %edges
//!         done: %last = phi float [ %found, %end ], [ %first, %again ]
//! after:  before: %first = load float, ptr %edges
//!         loop: %kept = phi float [ %first, %before ], [ %found, %loop ]
//!         end:  br label %done
//! ```
//!
//! The element that a search ends at was loaded in the round that chose it, but for the one that it began with. So threads of a
//! warp part behind the loop, and some wait for a load that the loop could have had before.
//!
//! **Why it is right.** What is kept is the element that the number names: at the begin, because it is loaded, and in each round,
//! because both are chosen by one condition, which is frozen for both if it is for one. So behind the loop it is the first
//! element where the number is 0, and everything else is the same on both ways. The first element may be loaded before: each
//! round loads one that is not below it, by an address in bounds of what both are in, and nothing in the loop writes.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module, TargetMachine,
};
use crate::settled;

use super::best::block_before;
use super::branches::is_quiet;
use super::natural::{Graph, Loop};

/// What drops the way to the load behind the loop.
const CLEAN: &str = "simplifycfg";

/// Has every search of a module load its first element before it.
pub fn know_first<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        let failed = |error: String| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot load a search's first element before it: {error}"))
        };
        if know_in(context, function).map_err(|error| failed(error.to_string()))? {
            llvm::run_passes_on_function(function, machine, CLEAN).map_err(failed)?;
        }
    }
    Ok(())
}

/// Whether there was one.
fn know_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<bool, BuilderError> {
    let mut any = false;
    for found in Graph::of(function).innermost() {
        if Search::of(&found).is_none() || block_before(context, function, &found)?.is_none() {
            continue;
        }
        // The phis are others where a block was made.
        let Some(search) = Search::of(&found) else { continue };
        search.load_before(context)?;
        any = true;
    }
    Ok(any)
}

/// A loop of one block that halves a range, and what is behind it.
struct Search<'ctx> {
    /// The element that is kept, as a phi that is nothing at first.
    kept: InstructionValue<'ctx>,
    before: BasicBlock<'ctx>,
    /// What chooses between it and another, by what the number is chosen.
    found: InstructionValue<'ctx>,
    condition: IntValue<'ctx>,
    /// Where the number is compared with 0, and the two ways from there: with the load, and around it.
    end: BasicBlock<'ctx>,
    again: BasicBlock<'ctx>,
    done: BasicBlock<'ctx>,
    first: InstructionValue<'ctx>,
}

impl<'ctx> Search<'ctx> {
    fn of(found: &Loop<'ctx>) -> Option<Self> {
        let ([block], [latch]) = (&found.blocks[..], &found.latches[..]) else { return None };
        if block != latch || !block.get_instructions().all(is_harmless) {
            return None;
        }
        let jump = block.get_terminator()?;
        let (then, other) = llvm::branch_targets(jump)?;
        let end = if then == *block { other } else { then };
        if llvm::predecessors(end) != [*block] {
            return None;
        }
        let (number, again, done) = asks_for_first(end)?;
        let (first, after) = lone_load(again)?;
        llvm::phis(*block).find_map(|kept| {
            let incoming = llvm::incoming(kept);
            let (entry, before) = incoming.iter().copied().find(|(_, from)| from != block)?;
            let next = llvm::incoming_from(kept, *block)?;
            let chosen = llvm::instruction_of(next).filter(|from| from.get_opcode() == Op::Select)?;
            let condition = chooses_alike(found, number, kept, chosen, first)?;
            let search = Self { kept, before, found: chosen, condition, end, again, done, first };
            let begins = incoming.len() == 2 && llvm::is_undefined(&entry);
            (begins && after == done && search.is_the_same_behind(number)).then_some(search)
        })
    }

    /// Whether what comes behind is the same on both ways, if the number is 0 and the first element is kept.
    fn is_the_same_behind(&self, number: InstructionValue<'ctx>) -> bool {
        let looked_through = |value| through_phi(self.end, value);
        llvm::phis(self.done).all(|phi| {
            let ways = llvm::incoming_from(phi, self.end).zip(llvm::incoming_from(phi, self.again));
            ways.is_some_and(|(around, with_load)| {
                let with_load = match llvm::instruction_of(with_load) {
                    Some(from) if from.get_opcode() == Op::Phi && from.get_parent() == Some(self.again) => {
                        llvm::incoming_from(from, self.end).unwrap_or(with_load)
                    }
                    _ => with_load,
                };
                let is_zero = matches!(with_load, BasicValueEnum::IntValue(value) if is_zero(value));
                around == with_load
                    || is_zero && looked_through(around) == llvm::result(number)
                    || with_load == llvm::result(self.first) && looked_through(around) == llvm::result(self.found)
            })
        })
    }

    /// Loads the first element before the loop, and leaves the way on which it was loaded again to LLVM, which drops it.
    fn load_before(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let (Some(jump), Some(end)) = (self.before.get_terminator(), self.end.get_terminator()) else { return Ok(()) };
        let Some((then, _)) = llvm::branch_targets(end) else { return Ok(()) };
        let builder = context.create_builder();
        builder.position_before(&jump);
        let copy = llvm::build_copy(&builder, self.first, &[]);
        // Where it was not loaded, nobody promised that it is a number.
        llvm::forget_number(copy);
        let first = llvm::result(copy);
        builder.position_before(&self.kept);
        let phi = builder.build_phi(first.get_type(), "")?;
        for (value, from) in llvm::incoming(self.kept) {
            phi.add_incoming(&[(if from == self.before { &first } else { &value }, from)]);
        }
        llvm::replace_uses(self.kept, phi.as_basic_value());
        self.kept.erase_from_basic_block();
        assert!(self.found.set_operand(0, self.condition), "it chooses by a condition");
        let goes_again = context.bool_type().const_int(u64::from(then != self.again), false);
        assert!(end.set_operand(0, goes_again), "it goes by a condition");
        Ok(())
    }
}

fn is_harmless(from: InstructionValue<'_>) -> bool {
    is_quiet(from) || from.get_opcode() == Op::Freeze || llvm::calls(from, &["llvm.assume"])
}

/// What a block behind a loop asks to be 0, and where it goes on if it is and if it is not.
fn asks_for_first(end: BasicBlock<'_>) -> Option<(InstructionValue<'_>, BasicBlock<'_>, BasicBlock<'_>)> {
    let jump = end.get_terminator()?;
    let (then, other) = llvm::branch_targets(jump)?;
    let asked = llvm::int_operand(jump, 0)?.as_instruction_value().filter(|from| from.get_opcode() == Op::ICmp)?;
    let number = llvm::int_operand(asked, 0).filter(|_| llvm::int_operand(asked, 1).is_some_and(is_zero))?;
    let number = llvm::instruction_of(through_phi(end, number.into()))?;
    match asked.get_icmp_predicate()? {
        IntPredicate::EQ => Some((number, then, other)),
        IntPredicate::NE => Some((number, other, then)),
        _ => None,
    }
}

/// The load that a block has but phis, and where it goes on.
fn lone_load(block: BasicBlock<'_>) -> Option<(InstructionValue<'_>, BasicBlock<'_>)> {
    let mut others = block.get_instructions().filter(|from| from.get_opcode() != Op::Phi);
    let (load, jump) = (others.next().filter(|from| llvm::is_plain_load(*from))?, others.next()?);
    let targets = llvm::block_operands(jump);
    let ([after], None) = (&targets[..], others.next()) else { return None };
    Some((load, *after))
}

/// By what a number and the element that it names are chosen together in a loop of one block, if the other element is read of
/// the same memory as the first, in each round, and not below it.
fn chooses_alike<'ctx>(
    found: &Loop<'ctx>,
    number: InstructionValue<'ctx>,
    kept: InstructionValue<'ctx>,
    chosen: InstructionValue<'ctx>,
    first: InstructionValue<'ctx>,
) -> Option<IntValue<'ctx>> {
    let block = found.head;
    if number.get_opcode() != Op::Select || [number, chosen].iter().any(|from| from.get_parent() != Some(block)) {
        return None;
    }
    let kept_at = (1..=2).find(|at| llvm::operand(chosen, *at) == Some(llvm::result(kept)))?;
    let (base, middle) = (llvm::int_operand(number, kept_at)?, llvm::int_operand(number, 3 - kept_at)?);
    let counter = base.as_instruction_value().filter(|from| from.get_opcode() == Op::Phi)?;
    let is_counter = counter.get_parent() == Some(block)
        && llvm::incoming(counter).into_iter().all(|(value, from)| match value {
            BasicValueEnum::IntValue(value) if from != block => is_zero(value),
            value => value == llvm::result(number),
        });
    let load = llvm::instruction_of(llvm::operand(chosen, 3 - kept_at)?).filter(|from| llvm::is_plain_load(*from))?;
    let address = llvm::instruction_of(llvm::operand(load, 0)?)?;
    let (pointer, bytes, index) = llvm::element_of(address)?;
    let is_element = load.get_type() == first.get_type()
        && llvm::operand(first, 0) == Some(pointer.into())
        && found.is_invariant(pointer.into())
        && llvm::type_align(llvm::result(load).get_type()).0 == bytes;
    let extended = index.as_instruction_value().filter(|from| from.get_opcode() == Op::SExt);
    let is_middle = extended.and_then(|from| llvm::int_operand(from, 0)).unwrap_or(index) == middle;
    let of_number = llvm::int_operand(number, 0)?;
    let of_element = llvm::int_operand(chosen, 0)?;
    let frozen = of_number.as_instruction_value().filter(|from| from.get_opcode() == Op::Freeze);
    let is_one = of_number == of_element || frozen.is_some_and(|from| llvm::int_operand(from, 0) == Some(of_element));
    let is_ahead =
        |from: InstructionValue<'ctx>| block.get_instructions().take_while(|at| *at != chosen).any(|at| at == from);
    let is_there =
        of_number.as_instruction_value().is_none_or(|from| from.get_parent() != Some(block) || is_ahead(from));
    let is_all = is_counter && is_element && is_middle && llvm::is_in_bounds_above(address) && is_one && is_there;
    is_all.then_some(of_number)
}

/// What the only phi is that a value is of, in a block with one block before it.
fn through_phi<'ctx>(block: BasicBlock<'ctx>, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
    let phi =
        llvm::instruction_of(value).filter(|from| from.get_opcode() == Op::Phi && from.get_parent() == Some(block));
    match phi.map(llvm::incoming).as_deref() {
        Some([(only, _)]) => *only,
        _ => value,
    }
}

fn is_zero(value: IntValue<'_>) -> bool {
    value.get_zero_extended_constant() == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{Arch, PtxVersion};
    use crate::llvm::{AnyValue, parse_ir};
    use crate::request::OptLevel;

    /// A search, after [`know_first`]: what its number is chosen by, the sum and its address, what else the loop does, and what
    /// comes behind it.
    fn known(chosen_by: &str, middle: &str, address: &str, more: &str, last: &str) -> String {
        run(&search(chosen_by, middle, address, more, last))
    }

    fn search(chosen_by: &str, middle: &str, address: &str, more: &str, last: &str) -> String {
        format!(
            "declare void @seen()
            define i32 @f(ptr %from, ptr %other, i32 %len, float %x) {{
            entry: switch i32 %len, label %loop [ i32 0, label %none
                                                   i32 1, label %again ]
            loop: %size = phi i32 [ %len, %entry ], [ %left, %loop ]
              %base = phi i32 [ 0, %entry ], [ %new, %loop ]
              %kept = phi float [ poison, %entry ], [ %found, %loop ]
              %half = lshr i32 %size, 1
              %mid = {middle}
              %wide = sext i32 %mid to i64
              %p = {address}
              %y = load float, ptr %p
              {more}
              %less = fcmp ole float %y, %x
              %frozen = freeze i1 %less
              %new = select i1 {chosen_by}, i32 %mid, i32 %base
              %found = select i1 %less, float %y, float %kept
              %left = sub i32 %size, %half
              %goes.on = icmp ugt i32 %left, 1
              br i1 %goes.on, label %loop, label %end
            end: %number = phi i32 [ %new, %loop ]
              %is.first = icmp eq i32 %number, 0
              br i1 %is.first, label %again, label %done
            again: %first = load float, ptr %from, !noundef !0
              br label %done
            done: %at = phi i32 [ {last}, %end ], [ 0, %again ]
              %last = phi float [ %found, %end ], [ %first, %again ]
              %is = fcmp ole float %last, %x
              %one = zext i1 %is to i32
              %sum = add i32 %at, %one
              ret i32 %sum
            none: ret i32 0
            }}
            !0 = !{{}}"
        )
    }

    fn run(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let ptx = PtxVersion { major: 7, minor: 8 };
        let machine = llvm::target_machine(Arch::portable(), ptx, OptLevel::O3).unwrap();
        know_first(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const MIDDLE: &str = "add i32 %base, %half";
    const ADDRESS: &str = "getelementptr inbounds nuw float, ptr %from, i64 %wide";

    #[test]
    fn the_first_element_is_loaded_before_the_search() {
        for chosen_by in ["%frozen", "%less"] {
            let ir = known(chosen_by, MIDDLE, ADDRESS, "", "%number");
            let (before, behind) = ir.split_once("\nloop:").unwrap();
            assert!(before.contains("load float, ptr %from") && !before.contains("noundef !"), "{ir}");
            assert!(!ir.contains("poison") && !ir.contains("br i1 %is.first"), "{ir}");
            assert!(behind.contains(&format!("select i1 {chosen_by}, float %y")), "{ir}");
        }
        // One element is loaded where there is but one.
        assert_eq!(known("%less", MIDDLE, ADDRESS, "", "%number").matches("load float").count(), 3);
    }

    #[test]
    fn others_load_it_again() {
        let below = "getelementptr inbounds float, ptr %from, i64 %wide";
        let other = "getelementptr inbounds nuw float, ptr %other, i64 %wide";
        let halves = "getelementptr inbounds nuw half, ptr %from, i64 %wide";
        for (chosen_by, middle, address, more, last) in [
            ("%other.is", MIDDLE, ADDRESS, "%other.is = icmp ugt i32 %size, 9", "%number"),
            // It may be below the first, or of something else.
            ("%less", MIDDLE, below, "", "%number"),
            ("%less", MIDDLE, other, "", "%number"),
            ("%less", MIDDLE, halves, "", "%number"),
            // It may be written, and never be loaded.
            ("%less", MIDDLE, ADDRESS, "store float 1.0, ptr %other", "%number"),
            ("%less", MIDDLE, ADDRESS, "call void @seen()", "%number"),
            // Something else follows.
            ("%less", MIDDLE, ADDRESS, "", "7"),
        ] {
            let ir = known(chosen_by, middle, address, more, last);
            assert!(ir.contains("br i1 %is.first"), "{chosen_by} {middle} {address} {more} {last}: {ir}");
        }
        // The first of each round is another one.
        let middle = "add i32 %base, %half\n %moved = getelementptr i8, ptr %from, i32 %size";
        let text = search("%less", middle, "getelementptr inbounds nuw float, ptr %moved, i64 %wide", "", "%number");
        let text = text.replace("i32 1, label %again", "i32 1, label %none").replace("ptr %from, !", "ptr %moved, !");
        assert!(run(&text).contains("br i1 %is.first"), "{text}");
    }
}
