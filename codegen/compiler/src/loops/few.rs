//! Writes the rounds of a loop one behind the other, each under its condition, where there are few of them.
//!
//! ```text
//! before: loop: %k = phi i64 [ 0, %before ], [ %next, %loop ]           ; up to `min(x + 3, width) - max(x - 2, 0)`
//!               %sum = phi float [ -0.0, %before ], [ %more, %loop ]
//!               %x = load float, ptr (getelementptr float, ptr %row, i64 %k)
//!               %more = fadd float %sum, %x
//!               br i1 (icmp eq i64 %next, %rounds), label %end, label %loop
//! after:  before:  br i1 (%rounds ≤ 5), label %all, label %loop
//!         all:     %x.0 = load float, ptr %row
//!                  br i1 (%rounds > 1), label %second, label %join
//!         second:  %x.1 = load float, ptr (%row + 4 bytes)
//!         join:    …                                                  ; and so on to the fifth; then
//!                  %sum.1 = select i1 (%rounds > 1), float (fadd float %sum.0, %x.1), float %sum.0
//!         loop:    …                                                  ; as it was
//! ```
//!
//! A window around an element, cut off at the edges, has at most as many elements as it is wide, but LLVM does not see it:
//! it unrolls by four and has a loop for the rest, and ptxas unrolls the former once more. Of the five rounds of a blur, each
//! waited for its load behind three branches. Written like this, ptxas makes a load with a predicate of each branch, and all are
//! under way at once.
//!
//! LLVM would thread the branches, and each load would wait for all conditions before its own. So loops are only marked before
//! LLVM unrolls, and the rounds are written when it is done.
//!
//! **Why it is right.** How many rounds there are at most is a guess from how the bounds were computed, and is asked before the
//! loop, which runs as it was where there are more. The question looks at what the loop compares in its first round. Of a
//! round that the loop does not reach nothing is run but arithmetic, whose result is selected by nobody: a load stands behind
//! its round's condition. There are no stores in such a loop, and nothing that may trap or that other threads wait for, so that
//! the loads of later rounds may be made before the arithmetic of earlier ones. Sums are made in the order they had.

use std::collections::{HashMap, HashSet};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicTypeEnum, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module, TargetMachine, Unroll,
};
use crate::settled;

use super::checks::{Emit, Shape};
use super::natural::{self, Graph, Loop, SimpleForm};

/// Rounds that are written one behind the other.
const MOST_ROUNDS: u64 = 8;

/// Instructions of all rounds together.
const MOST_INSTRUCTIONS: u64 = 120;

/// How deep bounds may be computed.
const MOST_STEPS: u32 = 8;

/// Loads of all rounds together: each keeps a register.
const MOST_LOADS: u64 = 16;

/// Marks every such loop, before LLVM unrolls it.
pub fn foresee<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost().iter().filter(|found| found.blocks.len() == 1) {
            let jumps = found.jumps_back();
            let shape = Shape::of(function, found).filter(|_| !llvm::has_loop_mark(context, &jumps));
            let most = shape.and_then(|shape| u64::try_from(most_jumps_back(&shape)?).ok()?.checked_add(1));
            if let Some(most) = most.filter(|most| Round::of(found, *most).is_some()) {
                let most = u32::try_from(most).expect("they are few");
                llvm::set_unroll(context, &jumps, Unroll::Few(most));
            }
        }
    }
    Ok(())
}

/// Writes the rounds of every loop that is marked.
pub fn spread<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    natural::simplify(module, machine)?;
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        for found in Graph::of(function).innermost() {
            let Some(most) = llvm::few_rounds(context, &found.jumps_back()) else { continue };
            let shape = Shape::of(function, &found).or_else(|| Shape::of_narrow(function, &found));
            let (Some(shape), Some(round)) = (shape, Round::of(&found, most)) else { continue };
            let emit = Emit { context, module, builder: context.create_builder(), shape: &shape };
            let mut stage = Stage { emit, function, round: &round, go: Vec::new(), values: Vec::new() };
            stage.write().map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot write the rounds of a loop: {error}"))
            })?;
        }
    }
    Ok(())
}

/// How often a loop jumps back at most, as far as its bound and its first number tell; a guess.
fn most_jumps_back(shape: &Shape<'_, '_>) -> Option<i64> {
    let (bound, (first, more, step)) = (shape.number()?.bound, shape.counter_at_first()?);
    match step {
        1 => most_above(bound, first, MOST_STEPS)?.checked_sub(more),
        -1 => most_above(first, bound, MOST_STEPS)?.checked_add(more),
        _ => None,
    }
}

/// A loop of one block.
struct Round<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    /// Where it goes when it is done.
    end: BasicBlock<'ctx>,
    /// How often it runs at most, as far as its bounds tell.
    most: u64,
    /// Its loads, and behind how many other loads of the round each comes.
    loads: Vec<(InstructionValue<'ctx>, usize)>,
    /// Phis of which somebody asks behind the loop what they were to be next.
    kept: HashSet<InstructionValue<'ctx>>,
}

impl<'a, 'ctx> Round<'a, 'ctx> {
    fn of(found: &'a Loop<'ctx>, most: u64) -> Option<Self> {
        let [block] = found.blocks[..] else { return None };
        let (then, other) = llvm::branch_targets(block.get_terminator()?)?;
        let end = if then == block { other } else { then };
        if !block.get_instructions().all(is_quiet) {
            return None;
        }
        let body = block.get_instructions().filter(|from| from.get_opcode() != Op::Phi && is_value(*from));
        let instructions = body.count() as u64;
        if !(2..=MOST_ROUNDS).contains(&most) || instructions * most > MOST_INSTRUCTIONS {
            return None;
        }
        let next = |phi| found.incoming(llvm::result(phi)).map(|(_, next)| next);
        let asked: Vec<_> = llvm::phis(end).flat_map(llvm::incoming).map(|(value, _)| value).collect();
        let kept = llvm::phis(block).filter(|phi| next(*phi).is_some_and(|next| asked.contains(&next))).collect();
        let mut round = Self { found, end, most, loads: Vec::new(), kept };
        for load in block.get_instructions().filter(|from| llvm::is_plain_load(*from)) {
            let depth = round.depth(load)?;
            round.loads.push((load, depth));
        }
        let few = !round.loads.is_empty() && round.loads.len() as u64 * most <= MOST_LOADS;
        (few && llvm::phis(block).all(|phi| next(phi).is_some())).then_some(round)
    }

    /// Behind how many loads of its round a load comes; none if it waits for one of another round.
    fn depth(&self, load: InstructionValue<'ctx>) -> Option<usize> {
        let (mut depth, mut seen, mut pending) = (0, HashSet::new(), vec![(load, false)]);
        while let Some((from, of_other)) = pending.pop() {
            for (_, operand) in llvm::value_operands(from).collect::<Vec<_>>() {
                let Some(operand) = llvm::instruction_of(operand).filter(|_| !self.found.is_invariant(operand)) else {
                    continue;
                };
                if operand.get_opcode() == Op::Phi {
                    let (_, next) = self.found.incoming(llvm::result(operand))?;
                    if let Some(next) = llvm::instruction_of(next).filter(|_| !self.found.is_invariant(next))
                        && seen.insert((next, true))
                    {
                        if llvm::is_plain_load(next) {
                            return None;
                        }
                        pending.push((next, true));
                    }
                } else if llvm::is_plain_load(operand) {
                    let (_, before) = self.loads.iter().find(|(load, _)| *load == operand).filter(|_| !of_other)?;
                    depth = depth.max(before + 1);
                } else if seen.insert((operand, of_other)) {
                    pending.push((operand, of_other));
                }
            }
        }
        Some(depth)
    }
}

/// Whether nobody notices that an instruction was run, but by its result, or it ends the block. A division takes long for a
/// round that is not reached.
fn is_quiet(instruction: InstructionValue<'_>) -> bool {
    let is_said = |name: &std::ffi::CStr| {
        let name = name.to_bytes();
        name == b"llvm.assume" || name == b"llvm.experimental.noalias.scope.decl"
    };
    let divides = instruction.get_opcode() == Op::FDiv;
    llvm::is_pure(instruction) && !divides
        || llvm::is_plain_load(instruction)
        || matches!(instruction.get_opcode(), Op::Br | Op::Phi)
        || llvm::called_function(instruction).is_some_and(|callee| is_said(callee.get_name()))
}

fn is_value(instruction: InstructionValue<'_>) -> bool {
    BasicTypeEnum::try_from(instruction.get_type()).is_ok()
}

/// By how much one value is above another at most, as they are computed; a guess, which takes no sum to overflow.
fn most_above<'ctx>(above: IntValue<'ctx>, below: IntValue<'ctx>, steps: u32) -> Option<i64> {
    if above == below {
        return Some(0);
    }
    let constants = (above.get_sign_extended_constant(), below.get_sign_extended_constant());
    if let (Some(above), Some(below)) = constants {
        return above.checked_sub(below);
    }
    let steps = steps.checked_sub(1)?;
    let by_above = above.as_instruction_value().and_then(|from| of_above(from, below, constants.1, steps));
    let by_below = below.as_instruction_value().and_then(|from| of_below(above, from, steps));
    by_above.into_iter().chain(by_below).min()
}

fn of_above<'ctx>(
    from: InstructionValue<'ctx>,
    below: IntValue<'ctx>,
    constant: Option<i64>,
    steps: u32,
) -> Option<i64> {
    let (left, right) = (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?);
    let number = right.get_sign_extended_constant();
    let least = |parts: [IntValue<'ctx>; 2]| parts.into_iter().filter_map(|part| most_above(part, below, steps)).min();
    match from.get_opcode() {
        Op::Add => most_above(left, below, steps)?.checked_add(number?),
        Op::Or if llvm::is_disjoint(from) => most_above(left, below, steps)?.checked_add(number?),
        Op::Sub if constant.is_some() => most_above(left, right, steps)?.checked_sub(constant?),
        Op::And => number.filter(|number| *number >= 0)?.checked_sub(constant?),
        Op::URem => number.filter(|number| *number > 0)?.checked_sub(1)?.checked_sub(constant?),
        Op::Call if is_call(from, "llvm.umin.") => least([left, right]),
        Op::Call if is_call(from, "llvm.usub.sat.") && constant.is_some() => {
            most_above(left, right, steps)?.max(0).checked_sub(constant?)
        }
        _ => None,
    }
}

fn of_below<'ctx>(above: IntValue<'ctx>, from: InstructionValue<'ctx>, steps: u32) -> Option<i64> {
    let (left, right) = (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?);
    let number = || right.get_sign_extended_constant();
    match from.get_opcode() {
        Op::Add => most_above(above, left, steps)?.checked_sub(number()?),
        Op::Or if llvm::is_disjoint(from) => most_above(above, left, steps)?.checked_sub(number()?),
        Op::Call if is_call(from, "llvm.usub.sat.") => most_above(above, left, steps)?.checked_add(number()?),
        Op::Call if is_call(from, "llvm.umax.") => {
            [left, right].into_iter().filter_map(|part| most_above(above, part, steps)).min()
        }
        _ => None,
    }
}

fn is_call(from: InstructionValue<'_>, name: &str) -> bool {
    llvm::called_function(from).is_some_and(|callee| callee.get_name().to_string_lossy().starts_with(name))
}

struct Stage<'a, 'ctx> {
    emit: Emit<'a, 'ctx>,
    function: FunctionValue<'ctx>,
    round: &'a Round<'a, 'ctx>,
    /// Whether each round is reached; the first one always is.
    go: Vec<IntValue<'ctx>>,
    /// What each round computes.
    values: Vec<HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>>,
}

impl<'ctx> Stage<'_, 'ctx> {
    fn write(&mut self) -> std::result::Result<(), BuilderError> {
        let Self { emit, function, round, .. } = self;
        let (builder, head, before) = (&emit.builder, round.found.head, emit.shape.before);
        let Some(end) = before.get_terminator() else { return Ok(()) };
        let all = emit.context.append_basic_block(*function, "");
        builder.position_before(&end);
        let jumps_back = emit.jumps_back()?;
        let number = |value| jumps_back.get_type().const_int(value, false);
        let few = builder.build_int_compare(IntPredicate::ULT, jumps_back, number(round.most), "")?;
        builder.build_conditional_branch(few, all, head)?;
        end.erase_from_basic_block();

        builder.position_at_end(all);
        let reached = |at| builder.build_int_compare(IntPredicate::UGE, jumps_back, number(at), "");
        let go = (0..round.most).map(reached).collect::<std::result::Result<Vec<_>, _>>()?;
        self.go = go;
        self.values = vec![HashMap::new(); usize::try_from(self.round.most).expect("there are few rounds")];
        let last = self.loads(all)?;
        self.end(last)?;
        // It runs where the guess was wrong.
        llvm::set_unroll(self.emit.context, &self.round.found.jumps_back(), Unroll::None);
        Ok(())
    }

    /// Writes the loads of all rounds, and returns the block behind them.
    fn loads(&mut self, first: BasicBlock<'ctx>) -> std::result::Result<BasicBlock<'ctx>, BuilderError> {
        let mut block = first;
        let depths = self.round.loads.iter().map(|(_, depth)| depth + 1).max().unwrap_or(0);
        let rounds = self.go.len();
        for (depth, at) in (0..depths).flat_map(|depth| (0..rounds).map(move |at| (depth, at))) {
            let loads: Vec<_> =
                self.round.loads.iter().filter(|(_, known)| *known == depth).map(|(load, _)| *load).collect();
            let mut operands = Vec::new();
            for load in &loads {
                let of_load: Vec<_> = llvm::value_operands(*load).collect();
                operands.push(
                    of_load
                        .into_iter()
                        .map(|(index, operand)| Ok((index, self.value(at, operand)?)))
                        .collect::<std::result::Result<Vec<_>, BuilderError>>()?,
                );
            }
            let builder = &self.emit.builder;
            let guarded = (at > 0).then(|| [(); 2].map(|()| self.emit.context.append_basic_block(self.function, "")));
            if let Some([inside, join]) = guarded {
                builder.build_conditional_branch(self.go[at], inside, join)?;
                builder.position_at_end(inside);
            }
            let mut loaded: Vec<BasicValueEnum<'ctx>> = Vec::new();
            for (load, operands) in loads.iter().zip(&operands) {
                loaded.push(llvm::result(llvm::build_copy(builder, *load, operands)));
            }
            if let Some([inside, join]) = guarded {
                builder.build_unconditional_branch(join)?;
                builder.position_at_end(join);
                for value in &mut loaded {
                    let phi = builder.build_phi(value.get_type(), "")?;
                    phi.add_incoming(&[(&*value, inside), (&llvm::poison(value.get_type()), block)]);
                    *value = phi.as_basic_value();
                }
                block = join;
            }
            self.values[at].extend(loads.into_iter().zip(loaded));
        }
        Ok(block)
    }

    /// Writes what is asked behind the loop.
    fn end(&mut self, block: BasicBlock<'ctx>) -> std::result::Result<(), BuilderError> {
        let (head, end) = (self.round.found.head, self.round.end);
        let last = self.go.len() - 1;
        for asked in llvm::phis(end).collect::<Vec<_>>() {
            let value = llvm::incoming_from(asked, head);
            let value = value.expect("a phi has a value for every block that jumps to it");
            let next = |phi: &InstructionValue<'ctx>| {
                self.round.found.incoming(llvm::result(*phi)).is_some_and(|(_, next)| next == value)
            };
            let result = match llvm::phis(head).find(next) {
                Some(phi) => self.after(last, phi)?,
                None => {
                    let mut result = self.value(0, value)?;
                    for at in 1..=last {
                        let of_round = self.value(at, value)?;
                        result = self.emit.builder.build_select(self.go[at], of_round, result, "")?;
                    }
                    result
                }
            };
            llvm::add_incoming(asked, result, block);
        }
        self.emit.builder.build_unconditional_branch(end)?;
        Ok(())
    }

    /// What a value is in a round.
    fn value(
        &mut self,
        at: usize,
        value: BasicValueEnum<'ctx>,
    ) -> std::result::Result<BasicValueEnum<'ctx>, BuilderError> {
        let from = llvm::instruction_of(value).filter(|_| !self.round.found.is_invariant(value));
        let Some(from) = from else { return Ok(value) };
        if let Some(known) = self.values[at].get(&from) {
            return Ok(*known);
        }
        let made = if from.get_opcode() == Op::Phi {
            match at.checked_sub(1) {
                Some(before) => self.after(before, from)?,
                None => self.round.found.incoming(value).expect("it has a value at first").0,
            }
        } else {
            let operands = llvm::value_operands(from).collect::<Vec<_>>();
            let operands = operands
                .into_iter()
                .map(|(index, operand)| Ok((index, self.value(at, operand)?)))
                .collect::<std::result::Result<Vec<_>, BuilderError>>()?;
            llvm::result(llvm::build_copy(&self.emit.builder, from, &operands))
        };
        self.values[at].insert(from, made);
        Ok(made)
    }

    /// What a phi is behind a round: if somebody asks for it behind the loop, what it was where the round is not reached.
    fn after(
        &mut self,
        at: usize,
        phi: InstructionValue<'ctx>,
    ) -> std::result::Result<BasicValueEnum<'ctx>, BuilderError> {
        let (_, next) = self.round.found.incoming(llvm::result(phi)).expect("it has a next value");
        let next_value = self.value(at, next)?;
        if at == 0 || !self.round.kept.contains(&phi) {
            return Ok(next_value);
        }
        let before = self.value(at, llvm::result(phi))?;
        if let Some(known) = self.selected(at, next_value, before) {
            return Ok(known);
        }
        self.emit.builder.build_select(self.go[at], next_value, before, "")
    }

    /// The selection, if it has been written.
    fn selected(
        &self,
        at: usize,
        then: BasicValueEnum<'ctx>,
        other: BasicValueEnum<'ctx>,
    ) -> Option<BasicValueEnum<'ctx>> {
        let is_it = |user: llvm::Use<'ctx>| match user {
            llvm::Use::Instruction(user) if user.get_opcode() == Op::Select => {
                let operand = |index| user.get_operand(index).and_then(|operand| operand.value());
                let all = [Some(self.go[at].into()), Some(then), Some(other)];
                (all == [operand(0), operand(1), operand(2)]).then(|| llvm::result(user))
            }
            _ => None,
        };
        llvm::uses(&self.go[at]).into_iter().find_map(is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::request::OptLevel;

    /// A loop over `%rounds`, which is computed so, that loads at `%at`, after [`spread`].
    fn spread_loop(rounds: &str, body: &str, mark: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.umax.i64(i64, i64)
            declare i64 @llvm.usub.sat.i64(i64, i64)
            define float @f(ptr %row, ptr %others, i64 %x, i64 %width) {{
            entry:
              {rounds}
              br label %loop
            loop:
              %k = phi i64 [ 0, %entry ], [ %next, %loop ]
              %sum = phi float [ -0.0, %entry ], [ %more, %loop ]
              %at = getelementptr inbounds float, ptr %row, i64 %k
              %value = load float, ptr %at
              {body}
              %more = fadd float %sum, %value
              %next = add nuw i64 %k, 1
              %done = icmp eq i64 %next, %rounds
              br i1 %done, label %end, label %loop {mark}
            end: ret float %more
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"llvm.loop.unroll.count\", i32 2}}"
        );
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        foresee(&context, &module, &SimpleForm::of(&machine)).unwrap();
        spread(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const WINDOW: &str = "%low = call i64 @llvm.usub.sat.i64(i64 %x, i64 2)
        %sum.of = add i64 %x, 3
        %high = call i64 @llvm.umin.i64(i64 %sum.of, i64 %width)
        %rounds = sub i64 %high, %low";

    /// How many loads stand before the loop as it was, and behind how many conditions.
    fn loads(ir: &str) -> (usize, usize) {
        (ir.matches("load float").count() - 1, ir.matches("phi float [").count().saturating_sub(2))
    }

    #[test]
    fn the_rounds_of_a_window_are_side_by_side() {
        let ir = spread_loop(WINDOW, "", "");
        assert_eq!(loads(&ir), (5, 4), "{ir}");
        // In the order they had, and the loop as it was for more of them.
        assert_eq!(ir.matches("fadd float").count(), 6, "{ir}");
        assert_eq!(ir.matches("select i1").count(), 4, "{ir}");
        assert!(ir.contains("icmp ult i64") && ir.contains(", 5\n") && ir.contains("!llvm.loop"), "{ir}");
    }

    #[test]
    fn bounds_of_many_forms_are_known() {
        for (rounds, most) in [
            ("%rounds = call i64 @llvm.umin.i64(i64 %width, i64 6)", 6),
            ("%rounds = and i64 %width, 3", 3),
            ("%rounds = urem i64 %width, 5", 4),
            (
                "%begin = call i64 @llvm.umax.i64(i64 %x, i64 1)
                %low = add i64 %begin, -1
                %up = or disjoint i64 %x, 1
                %high = call i64 @llvm.umin.i64(i64 %width, i64 %up)
                %rounds = sub i64 %high, %low",
                2,
            ),
        ] {
            let ir = spread_loop(rounds, "", "");
            assert_eq!(loads(&ir).0, most, "{rounds}: {ir}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        let ten = WINDOW.replace(", 3", ", 8");
        for (rounds, body, mark) in [
            ("%rounds = add i64 %width, 0", "", ""),
            (&*ten, "", ""),
            // A user said how often; a store; what may trap; a long division; volatile.
            (WINDOW, "", ", !llvm.loop !0"),
            (WINDOW, "store float %value, ptr %others", ""),
            (WINDOW, "%q = udiv i64 %k, %x", ""),
            (WINDOW, "%q = fdiv float %value, %sum", ""),
            (WINDOW, "%v = load volatile float, ptr %others", ""),
        ] {
            let ir = spread_loop(rounds, body, mark);
            assert_eq!(ir.matches("fadd").count(), 1, "{rounds}, {body}, {mark}: {ir}");
        }
    }

    #[test]
    fn loads_wait_for_loads_of_their_round_alone() {
        let more = "%index = fptoui float %value to i64
            %there = getelementptr float, ptr %others, i64 %index
            %other = load float, ptr %there";
        let ir = spread_loop(WINDOW, more, "");
        assert_eq!(ir.matches("load float").count(), 2 + 10, "{ir}");
    }
}
