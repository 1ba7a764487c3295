//! Keeps what a loop has computed of the best element so far, so that it is not computed again in the next round.
//!
//! ```text
//! before: loop: %best = phi i64 [ 0, %before ], [ %new, %loop ]      ; `min_by(|a, b| far(a).partial_cmp(&far(b)).unwrap())`
//!               %x = load float, ptr (getelementptr inbounds nuw float, ptr %from, i64 %best)
//!               %y = load float, ptr (getelementptr inbounds nuw float, ptr %from, i64 %i)
//!               %new = select i1 (fcmp ule float %x, %y), i64 %best, i64 %i
//! after:  before: %first = load float, ptr (getelementptr inbounds nuw float, ptr %from, i64 0)
//!         loop: %best = phi i64 [ 0, %before ], [ %new, %loop ]
//!               %x = phi float [ %first, %before ], [ %kept, %loop ]
//!               %y = load float, ptr (getelementptr inbounds nuw float, ptr %from, i64 %i)
//!               %new = select i1 (fcmp ule float %x, %y), i64 %best, i64 %i
//!               %kept = select i1 (fcmp ule float %x, %y), float %x, float %y
//! ```
//!
//! A comparison of two elements computes a key of both, of which one is that of the round in which the element was found. Its
//! address is known only after the round before, so that no two rounds' loads are under way together. LLVM sees this of a
//! load alone, and not of what is computed of several.
//!
//! **Why it is right.** The best of the next round is the best of this one, or the new element. Of both the same has been
//! computed in this round, by instructions that differ in nothing but in what they are computed of, and nothing in the loop
//! writes. What is computed before the loop is computed in its head in the first round, before anything else could end it.

use std::collections::HashMap;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    Module, Use,
};
use crate::settled;

use super::branches::is_quiet;
use super::natural::{Graph, Loop};

/// Numbers that are kept of one element: each is a register.
const MOST_KEPT: usize = 2;

/// Elements of a loop, as the nearest and the farthest, each by its number and its address.
const MOST_ELEMENTS: usize = 4;

/// Instructions that compute what is kept.
const MOST_INSTRUCTIONS: usize = 64;

/// Keeps what every loop has computed of its best element.
pub fn remember<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        let graph = Graph::of(function);
        for found in graph.innermost() {
            remember_in(context, function, &graph, &found).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot keep what is known of the best element: {error}"))
            })?;
        }
    }
    Ok(())
}

/// Keeps what one loop has computed: of one element after the other, because that of one may be the new one of another.
fn remember_in<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    graph: &Graph<'ctx>,
    found: &Loop<'ctx>,
) -> std::result::Result<(), BuilderError> {
    for _ in 0..MOST_ELEMENTS {
        if Best::find(graph, found).is_none() {
            break;
        }
        let Some(before) = block_before(context, function, found)? else { break };
        // The phis are others where a block was made.
        let Some(best) = Best::find(graph, found) else { break };
        best.keep(context, before)?;
    }
    Ok(())
}

/// An element that a loop keeps or takes another for, in each round.
struct Best<'ctx> {
    phi: InstructionValue<'ctx>,
    first: BasicValueEnum<'ctx>,
    latch: BasicBlock<'ctx>,
    choice: InstructionValue<'ctx>,
    /// Whether the choice's first operand is the element as it was.
    stays_first: bool,
    /// What is computed of it in the head, each with the same of the new one, in their order.
    pairs: Vec<(InstructionValue<'ctx>, InstructionValue<'ctx>)>,
}

impl<'ctx> Best<'ctx> {
    /// The first of a loop of which there is something to keep.
    fn find(graph: &Graph<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let best = llvm::phis(found.head).find_map(|phi| Self::of(graph, found, latch, phi))?;
        let is_known = |from: InstructionValue<'ctx>| {
            is_quiet(from)
                || matches!(from.get_opcode(), Op::Switch | Op::Freeze)
                || llvm::is_division(from)
                || is_assumption(from)
        };
        found.blocks.iter().flat_map(|block| block.get_instructions()).all(is_known).then_some(best)
    }

    fn of(
        graph: &Graph<'ctx>,
        found: &Loop<'ctx>,
        latch: BasicBlock<'ctx>,
        phi: InstructionValue<'ctx>,
    ) -> Option<Self> {
        let (first, next) = found.incoming_of(llvm::result(phi))?;
        let choice = llvm::instruction_of(next).filter(|choice| choice.get_opcode() == Op::Select)?;
        let place = choice.get_parent().filter(|block| found.contains(*block))?;
        let sides = [1, 2].map(|index| choice.get_operand(index).and_then(|value| value.value()));
        let (stays_first, new) = match sides {
            [Some(same), Some(new)] if same == llvm::result(phi) => (true, new),
            [Some(new), Some(same)] if same == llvm::result(phi) => (false, new),
            _ => return None,
        };
        if found.is_invariant(new) || !graph.is_reached_by_way_of(latch, place) {
            return None;
        }
        let pairs = pairs(graph, found, phi, new, choice)?;
        let best = Self { phi, first, latch, choice, stays_first, pairs };
        (1..=MOST_KEPT).contains(&best.kept().len()).then_some(best)
    }

    /// What others look at: it is kept, and what it is computed of is not.
    fn kept(&self) -> Vec<(InstructionValue<'ctx>, InstructionValue<'ctx>)> {
        let is_one = |user: &Use<'ctx>| match user {
            Use::Instruction(user) => self.pairs.iter().any(|(old, _)| old == user),
            _ => false,
        };
        let is_kept = |old: InstructionValue<'ctx>| !llvm::uses(&llvm::result(old)).iter().all(is_one);
        self.pairs.iter().copied().filter(|(old, _)| is_kept(*old)).collect()
    }

    /// Computes it before the loop, and has it be chosen in each round.
    fn keep(&self, context: &'ctx Context, before: BasicBlock<'ctx>) -> std::result::Result<(), BuilderError> {
        let kept = self.kept();
        let Some(end) = before.get_terminator() else { return Ok(()) };
        let builder = context.create_builder();
        builder.position_before(&end);
        let mut firsts: HashMap<BasicValueEnum<'ctx>, BasicValueEnum<'ctx>> = HashMap::new();
        firsts.insert(llvm::result(self.phi), self.first);
        for (old, _) in &self.pairs {
            let changed: Vec<_> = llvm::value_operands(*old)
                .filter_map(|(index, operand)| Some((index, *firsts.get(&operand)?)))
                .collect();
            let copy = llvm::build_copy(&builder, *old, &changed);
            firsts.insert(llvm::result(*old), llvm::result(copy));
        }
        let Some(condition) = llvm::int_operand(self.choice, 0) else { return Ok(()) };
        for (old, new) in kept {
            let (value, other) = (llvm::result(old), llvm::result(new));
            builder.position_before(&self.phi);
            let phi = builder.build_phi(value.get_type(), "")?;
            let same = phi.as_basic_value();
            builder.position_before(&self.choice);
            let (then, otherwise) = if self.stays_first { (same, other) } else { (other, same) };
            let next = builder.build_select(condition, then, otherwise, "")?;
            phi.add_incoming(&[(&firsts[&value], before), (&next, self.latch)]);
            llvm::replace_uses(old, same);
        }
        for (old, _) in self.pairs.iter().rev() {
            if llvm::uses(&llvm::result(*old)).is_empty() {
                old.erase_from_basic_block();
            }
        }
        Ok(())
    }
}

fn is_assumption(from: InstructionValue<'_>) -> bool {
    llvm::called_function(from).is_some_and(|callee| callee.get_name().to_bytes() == b"llvm.assume")
}

/// The block that jumps into a loop and nowhere else; one is made where there is none.
pub(super) fn block_before<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
) -> std::result::Result<Option<BasicBlock<'ctx>>, BuilderError> {
    let mut outside = llvm::predecessors(found.head);
    outside.retain(|block| !found.contains(*block));
    let [from] = outside[..] else { return Ok(None) };
    let Some(jump) = from.get_terminator() else { return Ok(None) };
    let targets = llvm::block_operands(jump);
    if targets.len() == 1 {
        return Ok(Some(from));
    }
    if targets.iter().filter(|to| **to == found.head).count() > 1 {
        return Ok(None);
    }
    let before = context.append_basic_block(function, "");
    let _ = before.move_before(found.head);
    let builder = context.create_builder();
    builder.position_at_end(before);
    builder.build_unconditional_branch(found.head)?;
    llvm::retarget(jump, found.head, before);
    llvm::replace_predecessor(found.head, from, before, |value| value);
    Ok(Some(before))
}

/// What the head computes of a phi and of nothing else that changes, each with what is the same of another value, before a
/// choice.
fn pairs<'ctx>(
    graph: &Graph<'ctx>,
    found: &Loop<'ctx>,
    phi: InstructionValue<'ctx>,
    new: BasicValueEnum<'ctx>,
    choice: InstructionValue<'ctx>,
) -> Option<Vec<(InstructionValue<'ctx>, InstructionValue<'ctx>)>> {
    let place = choice.get_parent()?;
    let is_before = |from: InstructionValue<'ctx>| match from.get_parent() {
        Some(block) if block == place => block.get_instructions().take_while(|at| *at != choice).any(|at| at == from),
        Some(block) => found.contains(block) && graph.is_reached_by_way_of(place, block),
        None => false,
    };
    let mut of: HashMap<BasicValueEnum<'ctx>, BasicValueEnum<'ctx>> = HashMap::from([(llvm::result(phi), new)]);
    let mut all = Vec::new();
    for old in found.head.get_instructions().filter(|from| from.get_opcode() != Op::Phi) {
        if !is_quiet(old) && !is_assumption(old) || all.len() > MOST_INSTRUCTIONS {
            break;
        }
        if let Some(twin) = twin(found, old, &of).filter(|twin| is_before(*twin)) {
            of.insert(llvm::result(old), llvm::result(twin));
            all.push((old, twin));
        }
    }
    all.iter().any(|(old, _)| llvm::is_plain_load(*old)).then_some(all)
}

/// The instruction that does what another does, of what is in the place of its operands that change.
fn twin<'ctx>(
    found: &Loop<'ctx>,
    old: InstructionValue<'ctx>,
    of: &HashMap<BasicValueEnum<'ctx>, BasicValueEnum<'ctx>>,
) -> Option<InstructionValue<'ctx>> {
    if !is_known(old) {
        return None;
    }
    let operands: Vec<_> = llvm::value_operands(old).map(|(_, operand)| operand).collect();
    let changed = operands.iter().find_map(|operand| of.get(operand))?;
    if !operands.iter().all(|operand| of.contains_key(operand) || found.is_invariant(*operand)) {
        return None;
    }
    let wanted: Vec<_> = operands.iter().map(|operand| *of.get(operand).unwrap_or(operand)).collect();
    let is_twin = |user: &InstructionValue<'ctx>| {
        let mut theirs: Vec<_> = llvm::value_operands(*user).map(|(_, operand)| operand).collect();
        let has_same = theirs == wanted
            || commutes(old) && {
                theirs.swap(0, 1);
                theirs == wanted
            };
        *user != old && has_same && do_the_same(old, *user)
    };
    let users = llvm::uses(changed).into_iter().filter_map(|user| match user {
        Use::Instruction(user) => Some(user),
        _ => None,
    });
    users.into_iter().find(is_twin)
}

/// Whether it is seen what else than its operands decides what an instruction computes.
pub(super) fn is_known(from: InstructionValue<'_>) -> bool {
    use Op as O;
    match from.get_opcode() {
        O::GetElementPtr => llvm::element_of(from).is_some(),
        O::ExtractValue | O::InsertValue | O::ShuffleVector => false,
        O::Call => llvm::called_function(from).is_some() && is_quiet(from),
        _ => llvm::is_plain_load(from) || llvm::is_pure(from),
    }
}

/// Whether an operator's operands may change places.
pub(super) fn commutes(from: InstructionValue<'_>) -> bool {
    matches!(from.get_opcode(), Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::FAdd | Op::FMul)
}

/// Whether two instructions compute the same of the same operands, and promise the same of them.
pub(super) fn do_the_same(one: InstructionValue<'_>, other: InstructionValue<'_>) -> bool {
    are_of_a_kind(one, other)
        && llvm::promises(one) == llvm::promises(other)
        && llvm::is_in_bounds(one) == llvm::is_in_bounds(other)
        && llvm::is_in_bounds_above(one) == llvm::is_in_bounds_above(other)
}

/// The same, whatever they promise.
pub(super) fn are_of_a_kind(one: InstructionValue<'_>, other: InstructionValue<'_>) -> bool {
    let bytes = |from| llvm::element_of(from).map(|(_, bytes, _)| bytes);
    one.get_opcode() == other.get_opcode()
        && one.get_type() == other.get_type()
        && one.get_icmp_predicate() == other.get_icmp_predicate()
        && one.get_fcmp_predicate() == other.get_fcmp_predicate()
        && llvm::called_function(one) == llvm::called_function(other)
        && llvm::float_flags(one) == llvm::float_flags(other)
        && bytes(one) == bytes(other)
        && (!llvm::is_plain_load(one) || llvm::is_plain_load(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// The nearest of `n` elements, after [`remember`]: another address of the best, key of it and of the new one, choice, and
    /// what else the loop does.
    fn remembered(address: &str, key: &str, of_new: &str, choice: &str, more: &str) -> String {
        let text = format!(
            "declare float @llvm.fabs.f32(float)
            declare void @seen()
            define void @f(ptr %from, ptr %to, i64 %n, float %at, i1 %any) {{
            entry: br i1 %any, label %loop, label %none
            loop: %best = phi i64 [ 7, %entry ], [ %new, %goes ]
              %i = phi i64 [ 8, %entry ], [ %next, %goes ]
              {more}
              %p = {address}
              %x = load float, ptr %p
              %x.off = fsub float %x, %at
              %x.key = {key}
              %q = getelementptr inbounds nuw float, ptr %from, i64 %i
              %y = load float, ptr %q
              %y.off = fsub float %y, %at
              %y.key = {of_new}
              %ordered = fcmp ord float %x.key, %y.key
              br i1 %ordered, label %goes, label %panic
            goes: %stays = fcmp ule float %x.key, %y.key
              %new = {choice}
              %next = add i64 %i, 1
              %done = icmp eq i64 %next, %n
              br i1 %done, label %end, label %loop
            end: store i64 %new, ptr %to
              ret void
            panic: unreachable
            none: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        remember(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const ADDRESS: &str = "getelementptr inbounds nuw float, ptr %from, i64 %best";
    const KEY: &str = "call float @llvm.fabs.f32(float %x.off)";
    const OF_NEW: &str = "call float @llvm.fabs.f32(float %y.off)";
    const STAYS: &str = "select i1 %stays, i64 %best, i64 %i";

    #[test]
    fn the_key_of_the_best_is_kept() {
        let ir = remembered(ADDRESS, KEY, OF_NEW, STAYS, "");
        let (before, inside) = ir.split_once("\nloop:").unwrap();
        // That of the first is computed before the loop, and only if there is one.
        assert!(before.contains("ptr %from, i64 7") && before.contains("label %none"), "{ir}");
        assert!(before.matches("load float").count() == 1 && inside.matches("load float").count() == 1, "{ir}");
        assert!(inside.contains("= select i1 %stays, float %5, float %y.key"), "{ir}");
        let ir = remembered(ADDRESS, KEY, OF_NEW, "select i1 %stays, i64 %i, i64 %best", "");
        assert!(ir.contains("= select i1 %stays, float %y.key, float %5"), "{ir}");
        // Sums and products may have their sides the other way around.
        let ir = remembered(ADDRESS, "fmul float %x.off, %at", "fmul float %at, %y.off", STAYS, "");
        assert!(ir.contains("float %y.key"), "{ir}");
    }

    #[test]
    fn others_are_computed_again() {
        for (address, key, of_new, choice, more) in [
            // What is loaded may have changed.
            (ADDRESS, KEY, OF_NEW, STAYS, "store float 1.0, ptr %to"),
            // The first might not be loaded at all.
            (ADDRESS, KEY, OF_NEW, STAYS, "call void @seen()"),
            // Neither one nor the other, another array, another key, and one that promises more.
            (ADDRESS, KEY, OF_NEW, "select i1 %stays, i64 %best, i64 %before", "%before = sub i64 %i, 1"),
            ("getelementptr inbounds nuw float, ptr %to, i64 %best", KEY, OF_NEW, STAYS, ""),
            ("getelementptr float, ptr %from, i64 %best", KEY, OF_NEW, STAYS, ""),
        ] {
            let ir = remembered(address, key, of_new, choice, more);
            assert!(ir.matches("load float").count() == 2 && !ir.contains("phi float"), "{ir}");
        }
        // The key is another: what it is computed of is kept.
        let ir = remembered(ADDRESS, KEY, "fneg float %y.off", STAYS, "");
        assert!(ir.contains("float %y.off"), "{ir}");
    }
}
