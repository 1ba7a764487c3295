//! Runs a stretch of a function whose checks all hold in a copy without these checks, and else as it was.
//!
//! ```text
//! before: a:  br i1 %first, label %b, label %c
//!         b:  br i1 %b.inside, label %b.fine, label %b.panic      ; both computed from what is known in %a
//!         b.fine:  … store …, label %c
//!         c:  br i1 %second, label %d, label %e
//!         d:  br i1 %d.inside, label %d.fine, label %d.panic
//!         d.fine:  … store …, label %e
//! after:  a:  %all = and i1 (select i1 %first, i1 %b.inside, i1 true), (select i1 %second, i1 %d.inside, i1 true)
//!             br i1 %all, label %fast, label %slow
//!         slow:    …                                              ; as it was
//!         fast:    br i1 %first, label %b.fast, label %c.fast
//!         b.fast:  … store …, label %c.fast                       ; and so on, with `br i1 true` for the checks
//! ```
//!
//! A thread that moves several elements, each if it is inside of a matrix, has a check in each of these branches. With a way
//! out of it, ptxas makes no predicated instructions of the branch, and no load comes before the one of the branch before:
//! a transposition waited for each of its four elements.
//!
//! So are checks between which something is stored, as those of a thread that loads several elements into a tile one after the
//! other: each load waited for the store of the one before, where in the copy all are under way at once. What such a thread
//! loads last stands in one block with the barrier behind it; that is parted before.
//!
//! So are two short arms, of which each loads behind a check: `if a[i] == b[j] { x[i] } else { y[i].max(y[i + 1]) }`. Most warps
//! have threads in both, and waited for the loads of one and then for those of the other.
//!
//! Nothing is done earlier or later than before but arithmetic, so it does not matter what is stored between the checks: in
//! the copy no check fails, and what is not the copy is what it was. A check of the copy holds for this reason. `%all` has
//! been computed of the same values, which are the same wherever they are computed, since no load is among them. If the check
//! is reached, the branches that lead to it were taken, so the condition is the one of the check. What is computed where it
//! is not reached may mean nothing, and is frozen; whatever it then is, it decides only which of two equal ways is taken.
//! What is computed in the stretch and used behind it is computed before it, if that is arithmetic; else nothing is copied.
//!
//! What the head has just loaded is not asked: `match raw[i] { MIN => None, x => Some(x.clamp(low, high)) }` reaches the check
//! of `low <= high` for most numbers, and with that the load of `reference[i]` waited for the one of `raw[i]`. The check alone
//! decides there, as if it were always reached; that more threads then go the slow way, which is as it was, changes no result.
//!
//! Where all checks but its own are on one way out of a block, the copy begins there, not with that block: behind a branch that
//! asks whether a thread is inside of a matrix, `indices/` knows that its indices are small.
//!
//! Not across barriers, calls and loops: threads of a warp may take both ways.

use std::collections::HashSet;

use super::bounds::Bound;
use super::chain::{self, Check};
use super::copy::{self, Copies};
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode,
    InstructionValue, IntPredicate, IntValue, Use,
};
use crate::loops;

/// Instructions of a stretch that is copied.
const MOST_INSTRUCTIONS: usize = 250;

/// Checks that are made at its start.
const MOST_CHECKS: usize = 16;

/// Instructions that one condition may need.
const MOST_STEPS: usize = 24;

/// Instructions of two arms of which one is run.
const MOST_OF_ARMS: usize = 48;

/// Uses, behind a stretch, of what it computes.
const MOST_BEHIND: usize = 24;

/// Blocks that can be copied, and the checks that can be made before them.
struct Region<'ctx> {
    /// The block that they all come behind; only its end is copied.
    head: BasicBlock<'ctx>,
    blocks: Vec<BasicBlock<'ctx>>,
    checks: Vec<Guarded<'ctx>>,
    behind: Vec<Behind<'ctx>>,
}

/// A value that a block behind uses, what uses it, and the number of the operand.
type Behind<'ctx> = (BasicValueEnum<'ctx>, InstructionValue<'ctx>, u32);

/// A check, and the branches that lead to it.
struct Guarded<'ctx> {
    check: Check<'ctx>,
    /// The conditions, the last one first, and what they must be.
    guards: Vec<(IntValue<'ctx>, bool)>,
    /// The block that the branches begin in.
    root: BasicBlock<'ctx>,
}

/// Copies every such stretch of a function that does not begin in one of some blocks; returns the blocks that are run where a
/// check fails.
pub fn copy<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    without: &HashSet<BasicBlock<'ctx>>,
) -> Result<HashSet<BasicBlock<'ctx>>, BuilderError> {
    let mut slow = HashSet::new();
    function.get_basic_blocks().into_iter().for_each(|block| part(context, block));
    for head in function.get_basic_blocks() {
        if slow.contains(&head) || without.contains(&head) {
            continue;
        }
        if let Some(region) = Region::of(head).filter(|region| !region.may_begin_later()) {
            slow.extend(&region.blocks);
            slow.insert(region.version(context, function)?);
        }
    }
    Ok(slow)
}

impl<'ctx> Region<'ctx> {
    /// What comes behind a block, if several branches there have checks of their own.
    fn of(head: BasicBlock<'ctx>) -> Option<Self> {
        let end = head.get_terminator().filter(|end| end.get_opcode() == InstructionOpcode::Br)?;
        let mut region = Self { head, blocks: Vec::new(), checks: Vec::new(), behind: Vec::new() };
        let (mut pending, mut size) = (llvm::block_operands(end), 0);
        while let Some(block) = pending.pop() {
            let is_known = |from: &BasicBlock<'ctx>| *from == head || region.blocks.contains(from);
            let is_new = block != head && !region.blocks.contains(&block);
            // With a way back to it, one of the blocks before it would not be known yet.
            if !is_new || !llvm::predecessors(block).iter().all(is_known) || stays_alone(block) {
                continue;
            }
            size += block.get_instructions().count();
            if size > MOST_INSTRUCTIONS {
                return None;
            }
            region.blocks.push(block);
            pending.extend(targets(block));
        }
        let inside: HashSet<BasicBlock<'ctx>> = region.blocks.iter().copied().collect();
        region.checks =
            [head].iter().chain(&region.blocks).filter_map(|block| Guarded::of(*block, head, &inside)).collect();
        let is_worth = region.checks.len() <= MOST_CHECKS
            && (region.has_stores_between() || region.has_branches_in_turn(&inside) || region.has_arms(&inside));
        if is_worth {
            region.behind = region.used_behind(&inside)?;
        }
        is_worth.then_some(region)
    }

    /// Whether a branch with a check comes behind another, which a thread may also pass by. Other checks are merged anyway.
    fn has_branches_in_turn(&self, inside: &HashSet<BasicBlock<'ctx>>) -> bool {
        let reaches = |from: Vec<BasicBlock<'ctx>>, to: BasicBlock<'ctx>, without: Option<BasicBlock<'ctx>>| {
            reached(from, |block| inside.contains(&block) && Some(block) != without).contains(&to)
        };
        let later: HashSet<_> = self.checks.iter().map(|check| check.root).filter(|root| *root != self.head).collect();
        self.checks.iter().filter(|check| check.check.block != self.head).any(|Guarded { check, .. }| {
            later.iter().any(|root| {
                reaches(vec![check.inside], *root, None) && reaches(targets(self.head), *root, Some(check.block))
            })
        })
    }

    /// Whether the head chooses between two short arms that only load, each behind a check of its own: without, ptxas has the
    /// instructions of both under a predicate, and the loads of both are under way at once.
    fn has_arms(&self, inside: &HashSet<BasicBlock<'ctx>>) -> bool {
        let [one, other] = targets(self.head)[..] else { return false };
        let [one, other] = [one, other].map(|way| reached(vec![way], |block| inside.contains(&block)));
        let arms = [&one - &other, &other - &one];
        let size: usize = arms.iter().flatten().map(|block| block.get_instructions().count()).sum();
        let loads = |block: BasicBlock<'ctx>| block.get_instructions().any(llvm::is_plain_load);
        let has_check = |arm: &HashSet<BasicBlock<'ctx>>| {
            let mut checks = self.checks.iter().map(|check| &check.check).filter(|check| arm.contains(&check.block));
            checks.any(|check| arm.contains(&check.inside) && loads(check.inside))
        };
        let stores = || arms.iter().flatten().any(|block| has_store(*block));
        size <= MOST_OF_ARMS && arms.iter().all(has_check) && !stores()
    }

    /// Whether one of the ways out of the head leads to all checks but its own, and may be copied by itself. There what the head
    /// asks is known of the indices, as that they are inside of a matrix.
    fn may_begin_later(&self) -> bool {
        let rest = || self.checks.iter().filter(|check| check.check.block != self.head);
        let has_all = |later: Self| {
            let blocks: Vec<_> = later.checks.iter().map(|check| check.check.block).collect();
            rest().all(|check| blocks.contains(&check.check.block))
        };
        let ways = || targets(self.head).into_iter().filter(|way| self.blocks.contains(way));
        !self.has_stores_between() && ways().any(|way| Self::of(way).is_some_and(has_all))
    }

    /// Whether something is loaded behind a check that comes behind a store behind another check.
    fn has_stores_between(&self) -> bool {
        let loads = |block: BasicBlock<'ctx>| block.get_instructions().any(llvm::is_plain_load);
        let follows = |block: BasicBlock<'ctx>| self.checks.iter().any(|before| before.check.inside == block);
        self.checks
            .iter()
            .any(|Guarded { check, .. }| follows(check.block) && has_store(check.block) && loads(check.inside))
    }

    /// What the blocks compute that is used behind them, but by phis that say where it comes from: each value with a user and
    /// the number of its operand. None if one of them cannot be computed before the blocks.
    fn used_behind(&self, inside: &HashSet<BasicBlock<'ctx>>) -> Option<Vec<Behind<'ctx>>> {
        let mut found = Vec::new();
        let instructions = self.blocks.iter().flat_map(|block| block.get_instructions());
        // What computes nothing is used nowhere.
        for value in instructions.filter(|instruction| instruction.get_first_use().is_some()).map(llvm::result) {
            let known = found.len();
            for user in llvm::uses(&value) {
                let Use::Instruction(user) = user else { return None };
                if user.get_parent().is_some_and(|block| inside.contains(&block)) {
                    continue;
                }
                let from = llvm::incoming(user);
                let is_told = |at: u32| from.get(at as usize).is_some_and(|(_, block)| inside.contains(block));
                let operands = llvm::value_operands(user).filter(|(_, operand)| *operand == value);
                found.extend(operands.filter(|(at, _)| !is_told(*at)).map(|(at, _)| (value, user, at)));
            }
            if found.len() > known && !chain::can_be_copied(value, inside, &mut { MOST_STEPS }) {
                return None;
            }
        }
        (found.len() <= MOST_BEHIND).then_some(found)
    }

    /// Writes the copy, and returns the block in which the way as it was begins.
    fn version(&self, context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<BasicBlock<'ctx>, BuilderError> {
        let builder = context.create_builder();
        let end = self.head.get_terminator().expect("a block that is finished ends in a jump");
        builder.position_before(&end);
        let all = self.all_hold(context, &builder)?;
        // Behind both ways, what was computed on one of them is not known.
        let mut copies = Copies::new(self.blocks.iter().copied().collect());
        for (value, user, at) in &self.behind {
            let copy = copies.of(&builder, *value);
            assert!(user.set_operand(*at, copy), "the user has that operand");
        }
        let version = copy::version(context, function, self.head, &self.blocks, all)?;
        for Guarded { check, .. } in &self.checks {
            let end = version.copy_of(check.block).get_terminator().expect("a copy ends as its block does");
            llvm::always_branch(context, end, check.inside_first);
        }
        Ok(version.slow)
    }

    /// Writes whether no check fails, at the head's end.
    fn all_hold(&self, context: &'ctx Context, builder: &Builder<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let mut copies = Copies::new(self.blocks.iter().copied().collect());
        let yes = context.bool_type().const_int(1, false);
        let mut all = yes;
        let bounds: Vec<_> = self.checks.iter().map(Guarded::bound).collect();
        for (at, Guarded { check, guards, .. }) in self.checks.iter().enumerate() {
            let mut condition = |value: IntValue<'ctx>, is: bool| {
                let copy = llvm::build_freeze(builder, copies.of(builder, value.into()).into_int_value());
                if is { Ok(copy) } else { builder.build_not(copy, "") }
            };
            let alike = || {
                bounds.iter().enumerate().filter(
                    |(_, other)| matches!((other, &bounds[at]), (Some((one, _)), Some((other, _))) if one == other),
                )
            };
            let holds = match &bounds[at] {
                Some((bound, _)) if alike().count() > 1 => {
                    // The one with the largest number is enough; of equal ones the first.
                    let decides = alike().max_by_key(|(other, bound)| {
                        (bound.as_ref().map(|(_, number)| *number), std::cmp::Reverse(*other))
                    });
                    if decides.is_none_or(|(other, _)| other != at) {
                        continue;
                    }
                    match bound {
                        Bound::Plane { width, height, len } => {
                            let wide = |value: IntValue<'ctx>| builder.build_int_z_extend(value, len.get_type(), "");
                            let [width, height, len] = [*width, *height, *len].map(|value| {
                                llvm::build_freeze(builder, copies.of(builder, value.into()).into_int_value())
                            });
                            let elements = builder.build_int_nuw_mul(wide(height)?, wide(width)?, "")?;
                            let one = len.get_type().const_int(1, false);
                            let last = builder.build_int_sub(elements, one, "")?;
                            builder.build_int_compare(IntPredicate::ULT, last, len, "")?
                        }
                        Bound::Place { .. } => condition(check.condition, check.inside_first)?,
                    }
                }
                _ => {
                    let mut holds = condition(check.condition, check.inside_first)?;
                    let waits = |value: IntValue<'ctx>| is_loaded(value.into(), self.head, &mut { MOST_STEPS });
                    let is_at_once = !waits(check.condition);
                    for (guard, is) in guards.iter().filter(|(guard, _)| !is_at_once || !waits(*guard)) {
                        let leads = condition(*guard, *is)?;
                        holds = builder.build_select(leads, holds, yes, "")?.into_int_value();
                    }
                    holds
                }
            };
            all = builder.build_and(all, holds, "")?;
        }
        Ok(all)
    }
}

impl<'ctx> Guarded<'ctx> {
    fn bound(&self) -> Option<(Bound<'ctx>, u64)> {
        Bound::of(self.check.condition, self.check.inside_first, &self.guards)
    }

    fn of(block: BasicBlock<'ctx>, head: BasicBlock<'ctx>, inside: &HashSet<BasicBlock<'ctx>>) -> Option<Self> {
        let known = |value: IntValue<'ctx>| chain::can_be_copied(value.into(), inside, &mut { MOST_STEPS });
        let check = Check::of(block, false).filter(|check| known(check.condition))?;
        let (mut guards, mut root) = (Vec::new(), block);
        while root != head {
            let [before] = llvm::predecessors(root)[..] else { break };
            // A check that comes before it holds too.
            let end = before.get_terminator().filter(|_| Check::of(before, false).is_none());
            if let Some((end, (then, _))) = end.and_then(|end| Some((end, llvm::branch_targets(end)?)))
                && let Some(BasicValueEnum::IntValue(condition)) = end.get_operand(0).and_then(|value| value.value())
                && known(condition)
            {
                guards.push((condition, then == root));
            }
            root = before;
        }
        Some(Self { check, guards, root })
    }
}

/// Parts a block that is run where a check holds, and that loads something and stores it before threads meet, where they do.
fn part<'ctx>(context: &'ctx Context, block: BasicBlock<'ctx>) {
    let instructions: Vec<InstructionValue<'ctx>> = block.get_instructions().collect();
    let Some(at) = instructions.iter().position(|from| loops::is_convergent(*from)) else { return };
    let does = |is: fn(InstructionValue<'_>) -> bool| instructions[..at].iter().any(|from| is(*from));
    let is_inside = || {
        let [before] = llvm::predecessors(block)[..] else { return false };
        Check::of(before, false).is_some_and(|check| check.inside == block && has_store(before))
    };
    if !does(llvm::is_plain_load) || !does(llvm::is_plain_store) || !is_inside() {
        return;
    }
    let rest = context.insert_basic_block_after(block, "");
    let behind = targets(block);
    llvm::move_to_end(context, &instructions[at..], rest);
    let builder = context.create_builder();
    builder.position_at_end(block);
    builder.build_unconditional_branch(rest).expect("the builder has a place");
    behind.into_iter().for_each(|to| llvm::replace_predecessor(to, block, rest, |value| value));
}

/// Whether a number is computed of what this block loads.
fn is_loaded<'ctx>(value: BasicValueEnum<'ctx>, block: BasicBlock<'ctx>, steps: &mut usize) -> bool {
    let Some(from) = llvm::instruction_of(value).filter(|_| *steps > 0) else { return false };
    *steps -= 1;
    if llvm::is_plain_load(from) {
        return from.get_parent() == Some(block);
    }
    llvm::value_operands(from).any(|(_, operand)| is_loaded(operand, block, steps))
}

fn has_store(block: BasicBlock<'_>) -> bool {
    block.get_instructions().any(llvm::is_plain_store)
}

/// The blocks that are reached from these by way of blocks that may be passed, with themselves.
fn reached<'ctx>(
    mut pending: Vec<BasicBlock<'ctx>>,
    may_pass: impl Fn(BasicBlock<'ctx>) -> bool,
) -> HashSet<BasicBlock<'ctx>> {
    let mut seen = HashSet::new();
    while let Some(block) = pending.pop() {
        if seen.insert(block) && may_pass(block) {
            pending.extend(targets(block));
        }
    }
    seen
}

/// Where a block jumps.
fn targets(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    block.get_terminator().map(llvm::block_operands).unwrap_or_default()
}

/// Whether a block must not be copied.
fn stays_alone(block: BasicBlock<'_>) -> bool {
    block.get_instructions().any(loops::is_convergent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// Two branches, each with a check of its own and `work` behind it, after [`copy`]: how many stretches were copied, and
    /// the function.
    fn copied(index: &str, work: &str, between: &str, end: &str) -> (usize, String) {
        copied_from("br i1 %first", index, work, between, end)
    }

    fn copied_from(entry: &str, index: &str, work: &str, between: &str, end: &str) -> (usize, String) {
        let text = format!(
            "declare void @__rust_ptx_panic_with_1(i64) noreturn
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define void @f(ptr %from, ptr %to, i64 %len, i64 %i, i64 %j, i1 %first, i1 %second) {{
            entry: {entry}, label %b, label %c
            b: %b.inside = icmp ult i64 %i, %len
              br i1 %b.inside, label %b.fine, label %b.panic
            b.fine: %b.at = getelementptr i32, ptr %from, i64 %i
              %x = load i32, ptr %b.at
              store i32 %x, ptr %to
              br label %c
            c: {between}
              br i1 %second, label %d, label %e
            d: {index}
              %d.inside = icmp ult i64 %index, %len
              br i1 %d.inside, label %d.fine, label %d.panic
            d.fine: %d.at = getelementptr i32, ptr %from, i64 %index
              %y = load i32, ptr %d.at
              {work}
              br label %e
            e: {end}
            b.panic: call void @__rust_ptx_panic_with_1(i64 %i)
              unreachable
            d.panic: call void @__rust_ptx_panic_with_1(i64 %index)
              unreachable
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let before = function.count_basic_blocks();
        let slow = copy(&context, function, &HashSet::new()).unwrap();
        module.verify().unwrap();
        assert_eq!(slow.is_empty(), function.count_basic_blocks() == before);
        (slow.len(), function.print_to_string().to_string())
    }

    const INDEX: &str = "%index = add nuw i64 %i, %j";
    const STORE: &str = "store i32 %y, ptr %to";
    const END: &str = "ret void";

    #[test]
    fn branches_with_checks_get_a_copy_without() {
        let (slow, ir) = copied(INDEX, STORE, "", END);
        assert_eq!(slow, 9, "all blocks behind the first, and where it jumped: {ir}");
        assert_eq!((ir.matches("load i32").count(), ir.matches("store i32").count()), (4, 4), "{ir}");
        assert_eq!(ir.matches("br i1 true").count(), 2, "{ir}");
        // Nothing that could be undefined decides: not the sum that must not wrap, nor a branch.
        let entry = ir.split("\n\n").next().unwrap_or_default();
        assert_eq!(entry.matches("freeze i1").count(), 4, "{entry}");
        assert_eq!(entry.matches("select i1").count(), 2, "{entry}");
        assert!(!entry.contains("load") && entry.contains("br i1 %"), "{entry}");
    }

    #[test]
    fn what_was_just_loaded_is_not_asked() {
        let ir = |first: &str| {
            let (index, work, end) = (INDEX, STORE, END);
            copied_from(
                &format!("%v = load i32, ptr %to\n %is = icmp ne i32 %v, 0\n br i1 {first}"),
                index,
                work,
                "",
                end,
            )
            .1
        };
        let selects = |ir: &str| ir.split("\n\n").next().unwrap_or_default().matches("select i1").count();
        assert_eq!(selects(&ir("%first")), 2);
        let loaded = ir("%is");
        assert_eq!(selects(&loaded), 1, "{loaded}");
        assert_eq!(loaded.matches("br i1 %is").count(), 2, "{loaded}");
    }

    /// Two elements of a plane that go to a tile, each if it is inside and `more` holds; what decides, after [`copy`].
    fn of_plane(more: &str, column: &str) -> String {
        let element = |at: usize, next: &str| {
            let rows = at * 8;
            format!(
                "a{at}: %row{at} = add i32 %top, {rows}
                  %y{at} = add i32 %row{at}, %ty
                  %below{at} = icmp ult i32 %y{at}, %height
                  %in{at} = and i1 %left, %below{at}
                  %mine{at} = select i1 %in{at}, i1 {more}, i1 false
                  br i1 %mine{at}, label %b{at}, label %{next}
                b{at}: %wide{at} = zext i32 %y{at} to i64
                  %start{at} = mul nuw i64 %wide{at}, %w
                  %i{at} = add nuw i64 %start{at}, %x
                  %inside{at} = icmp ult i64 %i{at}, %len
                  br i1 %inside{at}, label %c{at}, label %panic
                c{at}: %t{at} = add nuw nsw i32 %ty, {rows}
                  %line{at} = mul nuw nsw i32 %t{at}, 33
                  %to{at} = add nuw nsw i32 %line{at}, %tx
                  %fits{at} = icmp ult i32 %to{at}, 1056
                  br i1 %fits{at}, label %d{at}, label %panic
                d{at}: %v{at} = load i32, ptr %from
                  store i32 %v{at}, ptr %to
                  br label %{next}\n"
            )
        };
        let (first, second) = (element(0, "a1"), element(1, "end"));
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
            define void @f(ptr %from, ptr %to, i64 %len, i32 %width, i32 %height, i32 %column, i32 %other, i32 %top) {{
            entry: %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
              %first = icmp ult i32 %tx, 8
              %grid = icmp ult i32 %tx, %top
              %left = icmp ult i32 %column, %width
              %x = zext i32 {column} to i64
              %w = zext i32 %width to i64
              br label %a0
            {first}{second}
            end: ret void
            panic: unreachable
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        copy(&context, module.get_function("f").unwrap(), &HashSet::new()).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        ir.split("\n\n").find(|block| block.starts_with("a0:")).unwrap_or_default().to_owned()
    }

    #[test]
    fn one_test_is_enough_for_all_elements_of_a_plane() {
        let compares = |ir: &str| (ir.matches("icmp ult i64").count(), ir.matches("1056").count());
        let ir = of_plane("%grid", "%column");
        assert!(ir.contains("mul nuw i64") && compares(&ir) == (1, 1), "{ir}");
        // Of the tile the last element is compared, whatever the plane.
        assert!(ir.contains("%ty, 8") && !ir.contains("%ty, 0"), "{ir}");
        // Not every thread of a block that is inside has such an element.
        assert_eq!(compares(&of_plane("%first", "%column")), (1, 2));
        // Another column may be outside.
        let ir = of_plane("%grid", "%other");
        assert_eq!(compares(&ir), (2, 1), "{ir}");
    }

    #[test]
    fn what_comes_behind_is_told_where_from() {
        let (slow, ir) = copied(INDEX, STORE, "", "br label %end\n end: %z = phi i64 [ %j, %e ]\n ret void");
        assert_eq!(slow, 10, "{ir}");
        // `%sum` is used behind a barrier, where no phi stands: it is computed before.
        let used = "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)\n store i32 %sum, ptr %to\n ret void";
        let (slow, ir) = copied(INDEX, STORE, "%sum = trunc i64 %len to i32", &format!("br label %end\n end: {used}"));
        assert_eq!(slow, 9, "{ir}");
        let entry = ir.split("\n\n").next().unwrap_or_default();
        assert_eq!((ir.matches("trunc i64").count(), entry.matches("trunc i64").count()), (3, 1), "{ir}");
        // What is loaded stays where it is.
        let loaded = "%sum = load i32, ptr %from";
        let (slow, ir) = copied(INDEX, STORE, loaded, &format!("br label %end\n end: {used}"));
        assert_eq!(slow, 0, "{ir}");
        let phi = format!("br label %end\n end: %sum2 = phi i32 [ %sum, %e ]\n {}", used.replace("%sum", "%sum2"));
        let (slow, ir) = copied(INDEX, STORE, "%sum = trunc i64 %len to i32", &phi);
        assert_eq!(slow, 9, "{ir}");
        assert_eq!(ir.matches("barrier.cta.sync.all(i32 0)").count(), 1, "{ir}");
    }

    /// Two elements that go to a tile one after the other, before a barrier; what is stored between, after [`copy`].
    fn tiled(between: &str) -> String {
        let text = format!(
            "declare void @__rust_ptx_panic_with_1(i64) noreturn
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define void @f(ptr %from, ptr %to, i64 %len, i64 %i, i64 %j, i1 %again) {{
            entry: br label %a
            a: %a.inside = icmp ult i64 %i, %len
              br i1 %a.inside, label %b, label %panic
            b: %a.at = getelementptr i32, ptr %from, i64 %i
              %x = load i32, ptr %a.at
              {between}
              %index = add i64 %i, %j
              %b.inside = icmp ult i64 %index, %len
              br i1 %b.inside, label %c, label %panic
            c: %b.at = getelementptr i32, ptr %from, i64 %index
              %y = load i32, ptr %b.at
              store i32 %y, ptr %to
              call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
              br i1 %again, label %a, label %end
            end: ret void
            panic: %told = phi i64 [ %i, %a ], [ %index, %b ]
              call void @__rust_ptx_panic_with_1(i64 %told)
              unreachable
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        copy(&context, function, &HashSet::new()).unwrap();
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    #[test]
    fn checks_with_stores_between_them_get_a_copy_without() {
        let ir = tiled("store i32 %x, ptr %to");
        assert_eq!((ir.matches("load i32").count(), ir.matches("store i32").count()), (4, 4), "{ir}");
        assert_eq!(
            (ir.matches("br i1 true").count(), ir.matches("barrier.cta.sync.all(i32 0)").count()),
            (2, 1),
            "{ir}"
        );
        // Others are merged.
        assert_eq!(tiled("").matches("load i32").count(), 2);
    }

    #[test]
    fn others_stay_as_they_are() {
        let barrier = "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)";
        for (index, work, between) in [
            // An index from memory; a barrier, a call and inline PTX in the way.
            ("%z = load i64, ptr %from\n %index = add i64 %z, %i", STORE, ""),
            ("%index = udiv i64 %i, %j", STORE, ""),
            (INDEX, STORE, barrier),
            (INDEX, STORE, "call void @f(ptr %to, ptr %to, i64 0, i64 0, i64 0, i1 false, i1 false)"),
            (INDEX, STORE, "call void asm sideeffect \"nop;\", \"\"()"),
        ] {
            let (slow, ir) = copied(index, work, between, END);
            assert_eq!(slow, 0, "{index}, {between}: {ir}");
        }
    }

    #[test]
    fn branches_of_which_one_is_taken_are_not_copied() {
        // The first goes to the end, as the arms of an `if` do.
        let text = |to: &str| {
            format!(
                "declare void @__rust_ptx_panic_with_1(i64) noreturn
                define void @f(ptr %from, ptr %to, i64 %len, i64 %i, i64 %j, i1 %first, i1 %second) {{
                entry: br i1 %first, label %b, label %c
                b: %b.inside = icmp ult i64 %i, %len
                  br i1 %b.inside, label %b.fine, label %panic
                b.fine: store i32 1, ptr %to
                  {to}
                c: br i1 %second, label %d, label %e
                e: store i32 3, ptr %to
                  br label %d
                d: %d.inside = icmp ult i64 %j, %len
                  br i1 %d.inside, label %d.fine, label %panic
                d.fine: store i32 2, ptr %to
                  br label %end
                end: ret void
                panic: unreachable
                }}"
            )
        };
        // A check that all threads make before the second branch is no branch either.
        let before = "br i1 %second, label %c, label %end";
        let through = |ir: String| ir.replace("br i1 %first, label %b, label %c", "br label %b");
        // Two arms of which each loads, and arms that store.
        let arms = |more: &str| {
            format!(
                "declare void @__rust_ptx_panic_with_1(i64) noreturn
                define i32 @f(ptr %from, ptr %to, i64 %len, i64 %i, i64 %j, i1 %first) {{
                entry: br i1 %first, label %b, label %c
                b: %b.inside = icmp ult i64 %i, %len
                  br i1 %b.inside, label %b.fine, label %panic
                b.fine: %x = load i32, ptr %from
                  br label %end
                c: %c.inside = icmp ult i64 %j, %len
                  br i1 %c.inside, label %c.fine, label %panic
                c.fine: %y = load i32, ptr %to
                  {more}
                  br label %end
                end: %z = phi i32 [ %x, %b.fine ], [ %y, %c.fine ]
                  ret i32 %z
                panic: unreachable
                }}"
            )
        };
        for (ir, to, copies) in [
            (arms(""), "loads", true),
            (arms("store i32 1, ptr %from"), "a store", false),
            (text("br label %end"), "the end", false),
            (through(text(before)), "both", false),
            (text("br label %c"), "the second", true),
        ] {
            let context = Context::create();
            let module = parse_ir(&context, ir.as_bytes(), "module").unwrap();
            let slow = copy(&context, module.get_function("f").unwrap(), &HashSet::new()).unwrap();
            module.verify().unwrap();
            assert_eq!(!slow.is_empty(), copies, "{to}");
        }
    }

    #[test]
    fn behind_a_branch_with_all_checks_on_one_way_the_copy_begins_there() {
        let text = "define void @f(ptr %from, ptr %to, i64 %len, i64 %i, i64 %j, i1 %first, i1 %second) {
            start: %mine = icmp ult i64 %i, %j
              br i1 %mine, label %entry, label %e
            entry: br i1 %first, label %b, label %c
            b: %b.inside = icmp ult i64 %i, %len
              br i1 %b.inside, label %b.fine, label %panic
            b.fine: store i32 1, ptr %to
              br label %c
            c: br i1 %second, label %d, label %e
            d: %d.inside = icmp ult i64 %j, %len
              br i1 %d.inside, label %d.fine, label %panic
            d.fine: store i32 2, ptr %to
              br label %e
            e: ret void
            panic: unreachable
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        copy(&context, function, &HashSet::new()).unwrap();
        module.verify().unwrap();
        let ir = function.print_to_string().to_string();
        assert_eq!(ir.matches("br i1 true").count(), 2, "{ir}");
        // Only where it is known that `%i` is below `%j`.
        let (start, rest) = ir.split_once("\n\n").unwrap_or_default();
        assert!(start.contains("br i1 %mine, label %entry, label %e") && !start.contains("freeze"), "{ir}");
        assert!(rest.starts_with("entry:") && rest.split("\n\n").next().unwrap_or_default().contains("freeze"), "{ir}");
    }

    #[test]
    fn a_way_back_is_not_copied() {
        // From the second branch to between both: a loop begins there.
        let (slow, ir) = copied(INDEX, STORE, "", "br i1 %first, label %c, label %end\n end: ret void");
        assert_eq!(slow, 0, "{ir}");
    }
}
