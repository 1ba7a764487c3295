//! One head and one jump back for loops that LLVM has given several.
//!
//! ```text
//! before: outer: %sum = phi float [ 0.0, %before ], [ %more, %body ]
//!                br label %head
//!         head:  %k = phi i32 [ %k.outer, %outer ], [ %next, %head ]
//!                br i1 %inside, label %body, label %head
//!         body:  %more = fadd float %sum, %x
//!                br label %outer
//! after:  outer: br label %head
//!         head:  %sum = phi float [ 0.0, %outer ], [ %last, %latch ]
//!                br i1 %inside, label %body, label %latch
//!         body:  br label %latch
//!         latch: %last = phi float [ %sum, %head ], [ %more, %body ]
//!                br label %head
//! ```
//!
//! Where a round may do nothing, LLVM's `loop-simplify` takes the rounds that do nothing for a loop within the other. Neither
//! of the two has a number of rounds then, though both together have.
//!
//! **Why it is right.** The outer head does nothing but go on to the other one, with what its phis are: so whoever jumps to the
//! one can as well jump to the other with the same values. Every use of such a phi is reached by way of the other head.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode, InstructionValue, Use,
};

use super::natural::{Graph, Loop};

/// Has the jumps back to outer heads that go on to this one, and do nothing else, come here at once.
pub fn join<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    head: BasicBlock<'ctx>,
) -> Result<(), BuilderError> {
    loop {
        let graph = Graph::of(function);
        let outer = graph.before(head).filter(|before| *before != head && is_bare(*before, head));
        let outer = outer.filter_map(|before| graph.loop_of(before)).next();
        let Some((outer, inner)) = outer.zip(graph.loop_of(head)) else { return Ok(()) };
        if [&outer, &inner].into_iter().any(|found| is_marked(context, found)) {
            return Ok(());
        }
        let both = outer.latches.iter().chain(&inner.latches);
        if !both.chain([&outer.head]).all(|block| jumps_once(*block)) {
            return Ok(());
        }
        merge(context, &outer, &inner)?;
    }
}

/// Whether a block does nothing but go on to another.
fn is_bare(block: BasicBlock<'_>, to: BasicBlock<'_>) -> bool {
    let goes_on = block.get_terminator().is_some_and(|end| llvm::block_operands(end) == [to]);
    goes_on && llvm::phis(block).count() + 1 == block.get_instructions().count()
}

/// Whether something was said of a loop that another would not have.
fn is_marked(context: &Context, found: &Loop<'_>) -> bool {
    let jumps = found.jumps_back();
    llvm::unroll_is_disabled(context, &jumps)
        || llvm::unroll_was_asked(context, &jumps)
        || llvm::few_rounds(context, &jumps).is_some()
}

/// Whether a block jumps to each of its targets in one case only.
pub fn jumps_once(block: BasicBlock<'_>) -> bool {
    let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
    targets.iter().enumerate().all(|(at, target)| !targets[..at].contains(target))
}

type Incoming<'ctx> = Vec<(BasicValueEnum<'ctx>, BasicBlock<'ctx>)>;

/// What a phi is from a loop's jumps back, and what it is from elsewhere.
fn parts<'ctx>(found: &Loop<'ctx>, phi: InstructionValue<'ctx>) -> (Incoming<'ctx>, Incoming<'ctx>) {
    llvm::incoming(phi).into_iter().partition(|(_, from)| found.latches.contains(from))
}

fn merge<'ctx>(context: &'ctx Context, outer: &Loop<'ctx>, inner: &Loop<'ctx>) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    let head = inner.head;
    let of_outer: Vec<_> = llvm::phis(outer.head).collect();
    let of_inner: Vec<_> = llvm::phis(head).collect();
    let mut new = Vec::new();
    let mut first_of = Vec::new();
    for phi in &of_outer {
        let (back, first) = parts(outer, *phi);
        let at_first = match first[..] {
            [(value, _)] => value,
            _ => {
                builder.position_before(phi);
                let at_first = builder.build_phi(llvm::result(*phi).get_type(), "")?;
                first.iter().for_each(|(value, from)| at_first.add_incoming(&[(value, *from)]));
                at_first.as_basic_value()
            }
        };
        first_of.push((llvm::result(*phi), at_first, back));
    }
    for phi in &of_inner {
        builder.position_before(phi);
        let made = builder.build_phi(llvm::result(*phi).get_type(), "")?;
        for (value, from) in llvm::incoming(*phi) {
            let known = first_of.iter().find(|(phi, ..)| from == outer.head && *phi == value);
            let at_first = known.map_or(value, |(_, at_first, _)| *at_first);
            made.add_incoming(&[(&at_first, from)]);
            match known {
                Some((.., back)) => back.iter().for_each(|(value, from)| made.add_incoming(&[(value, *from)])),
                None if from == outer.head => {
                    outer.latches.iter().for_each(|latch| made.add_incoming(&[(&value, *latch)]));
                }
                None => {}
            }
        }
        new.push((*phi, made.as_basic_value()));
    }
    for (phi, (_, at_first, back)) in of_outer.iter().zip(&first_of) {
        if !is_used_elsewhere(*phi, outer.head, head) {
            continue;
        }
        builder.position_before(&head.get_first_instruction().expect("it ends in a jump"));
        let made = builder.build_phi(at_first.get_type(), "")?;
        made.add_incoming(&[(at_first, outer.head)]);
        back.iter().for_each(|(value, from)| made.add_incoming(&[(value, *from)]));
        inner.latches.iter().for_each(|latch| made.add_incoming(&[(&made.as_basic_value(), *latch)]));
        new.push((*phi, made.as_basic_value()));
    }
    new.iter().for_each(|(phi, by)| llvm::replace_uses(*phi, *by));
    // What only the inner head's phis used is used by none of the new ones.
    of_inner.iter().chain(&of_outer).for_each(|phi| phi.erase_from_basic_block());
    let jumps = outer.jumps_back();
    llvm::forget_loop(context, &jumps);
    llvm::forget_loop(context, &inner.jumps_back());
    jumps.into_iter().for_each(|jump| llvm::redirect(jump, outer.head, head));
    Ok(())
}

/// Whether a phi of the outer head is used by anything but phis of the inner head, as what they are from there.
fn is_used_elsewhere<'ctx>(phi: InstructionValue<'ctx>, outer: BasicBlock<'ctx>, inner: BasicBlock<'ctx>) -> bool {
    let value = llvm::result(phi);
    llvm::uses(&phi).into_iter().any(|user| match user {
        Use::Instruction(user) if user.get_opcode() == InstructionOpcode::Phi && user.get_parent() == Some(inner) => {
            llvm::incoming(user).into_iter().any(|(incoming, from)| incoming == value && from != outer)
        }
        _ => true,
    })
}

/// Gives a loop one block that jumps back, which is new.
pub fn jump_back_once<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    let latch = context.append_basic_block(function, "");
    builder.position_at_end(latch);
    let jump = builder.build_unconditional_branch(found.head)?;
    let old: Vec<_> = llvm::phis(found.head).collect();
    let mut new = Vec::new();
    for phi in &old {
        let (back, first) = parts(found, *phi);
        let Some(&(mut value, _)) = back.first() else { continue };
        if back.iter().any(|(other, _)| *other != value) {
            builder.position_before(&jump);
            let of_latches = builder.build_phi(value.get_type(), "")?;
            back.iter().for_each(|(value, from)| of_latches.add_incoming(&[(value, *from)]));
            value = of_latches.as_basic_value();
        }
        builder.position_before(phi);
        let made = builder.build_phi(value.get_type(), "")?;
        first.iter().for_each(|(value, from)| made.add_incoming(&[(value, *from)]));
        made.add_incoming(&[(&value, latch)]);
        new.push((*phi, made.as_basic_value()));
    }
    new.iter().for_each(|(phi, by)| llvm::replace_uses(*phi, *by));
    old.iter().for_each(|phi| phi.erase_from_basic_block());
    let jumps = found.jumps_back();
    llvm::forget_loop(context, &jumps);
    jumps.into_iter().for_each(|jump| llvm::redirect(jump, found.head, latch));
    Ok(())
}
