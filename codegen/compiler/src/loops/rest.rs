//! Has what is left of an unrolled loop go on at the addresses where the loop stands.
//!
//! ```text
//! before: loop:  %k = phi i64 [ 0, %before ], [ %k.4, %loop ]           ; %k.4 = add i64 %k, 4
//!                load float, ptr (getelementptr float, ptr %x, i64 %k)  ; and three more
//!                br i1 (icmp eq i64 %k.4, %whole), label %end, label %loop
//!         rest:  %first = phi i64 [ 0, %few ], [ %whole, %end ]
//!         again: %i = phi i64 [ %first, %rest ], [ %i.1, %again ]
//!                load float, ptr (getelementptr float, ptr %x, i64 %i)
//! after:  loop:  %p.4 = getelementptr float, ptr %x, i64 %k.4
//!         rest:  %q = phi ptr [ %x, %few ], [ %p.4, %end ]
//!         again: %p = phi ptr [ %q, %rest ], [ (getelementptr i8, ptr %p, i64 4), %again ]
//!                load float, ptr %p
//! ```
//!
//! Where LLVM does not know the number of rounds, it makes two loops of one: four rounds at a time, and the rest. The code
//! generator makes an address of the index in each. The number of the rest's first round, and what its addresses are
//! computed from, then had registers of their own all through the first loop. There ptxas keeps to 32, and asks for as many loads
//! at once as are left: a sum of products waited three times for 16 rounds' loads where nvcc's code waits twice.
//! The address where the loop stands needs none, because the loop has it anyway, and each round of the rest has less to
//! compute.
//!
//! **Why it is right.** On the way from the loop, the index is what the loop's counter was at last: itself, or what the
//! loop's only end compares it with. The address of the rest's first round is computed of that as the rest computes it, and
//! grows in each round by what the sums and products that it is computed of grow by. What it loads or stores there it
//! loads or stores in every round, so that an address that means nothing meant nothing before.

use std::collections::HashMap;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module, PointerValue, TargetMachine,
};

use super::branches::Branch;
use super::counters::users;
use super::natural::{Graph, Loop};
use super::walks::{Growth, bytes_behind, growth};

/// What cleans up.
const CLEAN: &str = "adce";

/// Addresses of a round. Each takes two registers in both loops.
const MOST_ADDRESSES: usize = 4;

/// Instructions of a round.
const MOST_INSTRUCTIONS: usize = 60;

/// How deep an address may be computed.
const MOST_STEPS: u32 = 8;

/// Bits of a register.
const REGISTER: u32 = 32;

/// Rewrites the addresses of what is left of every such loop.
pub fn follow<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 3) {
        let changed = follow_function(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot rewrite the addresses of a loop's rest: {error}"))
        })?;
        if changed {
            llvm::run_passes_on_function(function, machine, CLEAN).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}"))
            })?;
        }
    }
    Ok(())
}

/// Says whether there was such a loop.
fn follow_function<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
) -> std::result::Result<bool, BuilderError> {
    let graph = Graph::of(function);
    let loops = graph.innermost();
    let mut changed = false;
    for found in &loops {
        let Some(rest) = Rest::of(&graph, &loops, found).filter(|rest| !loads_pairs(rest.other)) else { continue };
        let groups = rest.groups(context);
        if groups.len() > MOST_ADDRESSES {
            continue;
        }
        for group in groups {
            changed |= rest.rewrite(context, &group)?;
        }
    }
    Ok(changed)
}

/// Whether a loop loads numbers of more bits than a register has. Of these ptxas asks for no more at once, but takes more
/// registers, and fewer warps fit: products of doubles lost up to a fifteenth.
fn loads_pairs(found: &Loop<'_>) -> bool {
    let loads = found.blocks.iter().flat_map(|block| block.get_instructions());
    loads.filter(|from| from.get_opcode() == Op::Load).any(|load| match llvm::result(load) {
        BasicValueEnum::FloatValue(value) => value.get_type().get_bit_width() > REGISTER,
        BasicValueEnum::IntValue(value) => value.get_type().get_bit_width() > REGISTER,
        _ => false,
    })
}

/// A loop that does what is left of another.
struct Rest<'a, 'ctx> {
    graph: &'a Graph<'ctx>,
    found: &'a Loop<'ctx>,
    latch: BasicBlock<'ctx>,
    before: BasicBlock<'ctx>,
    /// The block that jumps back in the loop before, and the one that it leads to at last, which may be `before` itself.
    last: BasicBlock<'ctx>,
    end: BasicBlock<'ctx>,
    other: &'a Loop<'ctx>,
}

impl<'a, 'ctx> Rest<'a, 'ctx> {
    fn of(graph: &'a Graph<'ctx>, loops: &'a [Loop<'ctx>], found: &'a Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let before = graph.block_before(found)?;
        if found.head.get_instructions().take(MOST_INSTRUCTIONS + 1).count() > MOST_INSTRUCTIONS {
            return None;
        }
        let sources = llvm::predecessors(before);
        let mut from = sources.iter().filter_map(|block| {
            let other = loops.iter().find(|other| other.latches == [*block])?;
            Some((other, *block, before))
        });
        let mut behind = sources.iter().filter_map(|block| {
            let [last] = llvm::predecessors(*block)[..] else { return None };
            let other = loops.iter().find(|other| other.latches == [last] && !other.contains(*block))?;
            Some((other, last, *block))
        });
        let (other, last, end) = from.next().or_else(|| behind.next())?;
        let is_alone = from.next().is_none() && behind.next().is_none() && sources.len() > 1;
        let ends = |block: &BasicBlock<'ctx>| {
            let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
            *block == last || targets.into_iter().all(|to| other.contains(to))
        };
        let is_fit = is_alone && other.head != found.head && other.blocks.iter().all(ends);
        is_fit.then_some(Self { graph, found, latch, before, last, end, other })
    }

    /// The addresses of a round, but for those that are computed of another; with those that are bytes behind the first.
    fn groups(&self, context: &'ctx Context) -> Vec<Vec<(InstructionValue<'ctx>, i64)>> {
        let mut groups: Vec<Vec<(InstructionValue<'ctx>, i64)>> = Vec::new();
        for gep in self.found.head.get_instructions().filter(|from| self.is_address(*from)) {
            let base = llvm::element_of(gep).and_then(|(base, ..)| base.as_instruction_value());
            if groups.iter().flatten().any(|(address, _)| base == Some(*address)) {
                continue;
            }
            let near = groups.iter_mut().find_map(|group| {
                let bytes = bytes_behind(context, self.found, [gep, group.first()?.0])?;
                Some((group, bytes))
            });
            match near {
                Some((group, bytes)) => group.push((gep, bytes)),
                None => groups.push(vec![(gep, 0)]),
            }
        }
        groups
    }

    /// Whether every round loads from where an instruction points, or stores there.
    fn is_address(&self, gep: InstructionValue<'ctx>) -> bool {
        let is_access = |user: InstructionValue<'ctx>| {
            let pointer = match user.get_opcode() {
                Op::Load => 0,
                Op::Store => 1,
                _ => return false,
            };
            let operand = user.get_operand(pointer).and_then(|operand| operand.value());
            user.get_parent() == Some(self.found.head) && operand == Some(llvm::result(gep))
        };
        llvm::element_of(gep).is_some() && users(gep).into_iter().any(is_access)
    }

    fn rewrite(
        &self,
        context: &'ctx Context,
        group: &[(InstructionValue<'ctx>, i64)],
    ) -> std::result::Result<bool, BuilderError> {
        let Some((address, _)) = group.first().copied() else { return Ok(false) };
        let Some(growth) = growth(context, self.found, address).filter(|growth| self.is_there(growth)) else {
            return Ok(false);
        };
        let edges: Vec<BasicBlock<'ctx>> = llvm::predecessors(self.before);
        let known = &mut HashMap::new();
        if !edges.iter().all(|edge| self.may_be_written(llvm::result(address), *edge, MOST_STEPS, known)) {
            return Ok(false);
        }
        let builder = context.create_builder();
        let mut firsts = Vec::new();
        for edge in edges {
            let Some(end) = self.place(edge).get_terminator() else { return Ok(false) };
            builder.position_before(&end);
            firsts.push((self.write(&builder, llvm::result(address), edge, &mut HashMap::new()), edge));
        }
        let (Some(top), Some(ends), Some(head), Some(latch)) = (
            self.before.get_first_instruction(),
            self.before.get_terminator(),
            self.found.head.get_first_instruction(),
            self.latch.get_terminator(),
        ) else {
            return Ok(false);
        };
        builder.position_before(&top);
        let start = builder.build_phi(llvm::result(address).get_type(), "")?;
        firsts.iter().for_each(|(first, edge)| start.add_incoming(&[(first, *edge)]));
        builder.position_before(&ends);
        let step = growth.write(context, &builder)?;
        builder.position_before(&head);
        let phi = builder.build_phi(start.as_basic_value().get_type(), "")?;
        builder.position_before(&latch);
        let pointer: PointerValue<'ctx> = phi.as_basic_value().into_pointer_value();
        // SAFETY: without `inbounds`, an address may be any.
        let next = unsafe { builder.build_gep(context.i8_type(), pointer, &[step], "")? };
        phi.add_incoming(&[(&start.as_basic_value(), self.before), (&next, self.latch)]);
        for (member, bytes) in group {
            let mut same = pointer;
            if *bytes != 0 {
                builder.position_before(member);
                let bytes = context.i64_type().const_int(bytes.cast_unsigned(), true);
                // SAFETY: an address that was computed otherwise.
                same = unsafe { builder.build_gep(context.i8_type(), pointer, &[bytes], "")? };
            }
            llvm::replace_uses(*member, same.into());
        }
        Ok(true)
    }

    /// Whether all that an address grows by is known before the loop.
    fn is_there(&self, growth: &Growth<'ctx>) -> bool {
        growth.values().all(|value| self.reaches(value.into(), self.before))
    }

    fn reaches(&self, value: BasicValueEnum<'ctx>, to: BasicBlock<'ctx>) -> bool {
        let block = llvm::instruction_of(value).and_then(InstructionValue::get_parent);
        block.is_none_or(|block| self.graph.is_reached_by_way_of(to, block))
    }

    /// Where a value is written that the rest begins with, if it is reached from a block: in the last block of the loop before,
    /// or in that block.
    fn place(&self, edge: BasicBlock<'ctx>) -> BasicBlock<'ctx> {
        if edge == self.end { self.last } else { edge }
    }

    /// What a phi is, if the loop is reached from a block and has made no round.
    fn told(&self, value: BasicValueEnum<'ctx>, edge: BasicBlock<'ctx>) -> Option<BasicValueEnum<'ctx>> {
        let phi = llvm::instruction_of(value).filter(|phi| phi.get_opcode() == Op::Phi)?;
        let block = phi.get_parent()?;
        if block == self.found.head {
            return self.found.incoming(value).map(|(first, _)| first);
        }
        let is_last = self.place(edge) == self.last;
        let told = if block == self.before {
            llvm::incoming_from(phi, edge)
        } else if block == self.end && is_last {
            llvm::incoming_from(phi, self.last)
        } else {
            None
        };
        told.map(|told| if is_last { self.counted(told) } else { told })
    }

    /// What the loop before compares at its end with a value that it does not change.
    fn counted(&self, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
        let BasicValueEnum::IntValue(number) = value else { return value };
        let Some(branch) = Branch::of(self.last).filter(|_| self.other.is_invariant(value)) else { return value };
        let leaves = match branch.predicate {
            IntPredicate::EQ => branch.then,
            IntPredicate::NE => branch.other,
            _ => return value,
        };
        let is = |side: IntValue<'ctx>, other: IntValue<'ctx>| {
            side == number && leaves == self.end && !self.other.is_invariant(other.into())
        };
        match (branch.left, branch.right) {
            (left, right) if is(right, left) => left.into(),
            (left, right) if is(left, right) => right.into(),
            _ => value,
        }
    }

    /// Whether [`Rest::write`] can write a value.
    fn may_be_written(
        &self,
        value: BasicValueEnum<'ctx>,
        edge: BasicBlock<'ctx>,
        steps: u32,
        known: &mut HashMap<(InstructionValue<'ctx>, BasicBlock<'ctx>), bool>,
    ) -> bool {
        if self.reaches(value, self.place(edge)) {
            return true;
        }
        if steps == 0 {
            return false;
        }
        if let Some(told) = self.told(value, edge) {
            return self.may_be_written(told, edge, steps - 1, known);
        }
        let is_near = |block| self.found.contains(block) || block == self.before || block == self.end;
        let from = llvm::instruction_of(value).filter(|from| from.get_parent().is_some_and(is_near));
        let Some(from) = from.filter(|from| llvm::is_pure(*from)) else { return false };
        if let Some(known) = known.get(&(from, edge)) {
            return *known;
        }
        let may = llvm::value_operands(from).all(|(_, operand)| self.may_be_written(operand, edge, steps - 1, known));
        known.insert((from, edge), may);
        may
    }

    /// What a value of the loop is in its first round, if it is reached from a block.
    fn write(
        &self,
        builder: &Builder<'ctx>,
        value: BasicValueEnum<'ctx>,
        edge: BasicBlock<'ctx>,
        written: &mut HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>,
    ) -> BasicValueEnum<'ctx> {
        if self.reaches(value, self.place(edge)) {
            return value;
        }
        if let Some(told) = self.told(value, edge) {
            return self.write(builder, told, edge, written);
        }
        let from = llvm::instruction_of(value).expect("what is no instruction is there");
        if let Some(written) = written.get(&from) {
            return *written;
        }
        let operands: Vec<_> = llvm::value_operands(from)
            .map(|(index, operand)| (index, self.write(builder, operand, edge, written)))
            .collect();
        let known = self.known(from, &operands, self.place(edge));
        let copy = known.unwrap_or_else(|| llvm::result(llvm::build_copy(builder, from, &operands)));
        written.insert(from, copy);
        copy
    }

    /// An address that the loop before begins with, if it is what a copy of an instruction would compute: what follows knows
    /// addresses for neighbours by what they are computed from.
    fn known(
        &self,
        from: InstructionValue<'ctx>,
        operands: &[(u32, BasicValueEnum<'ctx>)],
        place: BasicBlock<'ctx>,
    ) -> Option<BasicValueEnum<'ctx>> {
        let (_, size, _) = llvm::element_of(from)?;
        let [(0, BasicValueEnum::PointerValue(base)), (1, BasicValueEnum::IntValue(index))] = operands[..] else {
            return None;
        };
        let users = index.as_instruction_value().map(users).unwrap_or_default();
        let is_same = |user: &InstructionValue<'ctx>| {
            llvm::element_of(*user) == Some((base, size, index))
                && user.get_parent().is_some_and(|block| {
                    !self.other.contains(block) && self.graph.is_reached_by_way_of(place, block) && block != place
                })
        };
        users.into_iter().find(is_same).map(llvm::result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::request::OptLevel;

    /// A loop of four rounds at a time and its rest, after the stage; the loops count `%k` and `%i`, the rest's number begins
    /// with `%whole` behind the loop, which ends where `%k.4` is `%whole` by such a comparison.
    fn followed(goes: &str, body: &str, rest: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            define void @f(ptr %x, ptr %y, ptr %to, i64 %column, i64 %width, i64 %n) {{
            entry: %whole = and i64 %n, -4
              %few = icmp ult i64 %n, 4
              br i1 %few, label %before, label %begin
            begin: %base = getelementptr float, ptr %y, i64 %column
              br label %loop
            loop: %k = phi i64 [ 0, %begin ], [ %k.4, %loop ]
              {body}
              %k.4 = add i64 %k, 4
              {goes}
            end: %any = icmp eq i64 %whole, %n
              br i1 %any, label %out, label %before
            before: %first = phi i64 [ 0, %entry ], [ %whole, %end ]
              %y.column = getelementptr float, ptr %y, i64 %column
              br label %again
            again: %i = phi i64 [ %first, %before ], [ %i.1, %last ]
              {rest}
              br label %last
            last: %i.1 = add i64 %i, 1
              %more = icmp ult i64 %i.1, %n
              br i1 %more, label %again, label %out
            out: ret void
            }}"
        );
        let context = Context::create();
        let module =
            llvm::parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        follow(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const GOES: &str = "%done = icmp eq i64 %k.4, %whole
        br i1 %done, label %end, label %loop";
    const LOADS: &str = "%p = getelementptr float, ptr %x, i64 %i
        %v = load volatile float, ptr %p";

    fn is_followed(ir: &str) -> bool {
        ir.lines().skip_while(|line| !line.starts_with("again:")).any(|line| line.contains("phi ptr"))
    }

    #[test]
    fn a_loop_over_doubles_stays_as_it_was() {
        for (ty, expected) in [("float", true), ("i16", true), ("double", false), ("i64", false)] {
            let body = format!("%at = getelementptr {ty}, ptr %x, i64 %k\n %all = load volatile {ty}, ptr %at");
            assert_eq!(is_followed(&followed(GOES, &body, LOADS)), expected, "{ty}");
        }
    }

    #[test]
    fn the_rest_goes_on_where_the_loop_stands() {
        let ir = followed(GOES, "", LOADS);
        assert!(is_followed(&ir) && ir.contains("getelementptr float, ptr %x, i64 %k.4"), "{ir}");
        assert!(ir.lines().any(|line| line.contains("getelementptr i8, ptr %") && line.ends_with("i64 4")), "{ir}");
        let ir = followed("%goes = icmp ne i64 %whole, %k.4\n br i1 %goes, label %loop, label %end", "", LOADS);
        assert!(is_followed(&ir), "{ir}");
    }

    #[test]
    fn columns_go_on_by_rows() {
        let ir = followed(
            GOES,
            "%q = getelementptr float, ptr %base, i64 %k
            %u = load volatile float, ptr %q",
            "%row = mul i64 %i, %width
            %p = getelementptr float, ptr %y.column, i64 %row
            %v = load volatile float, ptr %p
            %q2 = getelementptr i8, ptr %p, i64 16
            %w = load volatile float, ptr %q2",
        );
        assert!(is_followed(&ir) && ir.contains("mul i64 %k.4, %width"), "{ir}");
        assert!(ir.contains("getelementptr float, ptr %base, i64 %"), "what the loop begins with is known: {ir}");
        assert!(ir.contains("asm \"mov.b64 $0, $1;\", \"=l,l\"(i64 %width)"), "{ir}");
    }

    #[test]
    fn neighbours_have_one_address() {
        let ir = followed(
            GOES,
            "",
            "%p = getelementptr float, ptr %x, i64 %i
            %v = load volatile float, ptr %p
            %next = add i64 %i, 1
            %q = getelementptr float, ptr %x, i64 %next
            %w = load volatile float, ptr %q",
        );
        assert!(ir.matches("phi ptr").count() == 2 && ir.contains("i64 4"), "{ir}");
    }

    #[test]
    fn others_stay() {
        for (goes, rest) in [
            // The loop does not end at `%whole`.
            ("%done = icmp ugt i64 %k.4, %column\n br i1 %done, label %end, label %loop", "call void asm \"\", \"\"()"),
            // The index grows by what is loaded, or is no number of the rest's.
            (GOES, "%p = getelementptr float, ptr %x, i64 %n\n %v = load volatile float, ptr %p"),
            (
                GOES,
                "%square = mul i64 %i, %i
                %p = getelementptr float, ptr %x, i64 %square
                %v = load volatile float, ptr %p",
            ),
            // It is only stored where it points.
            (GOES, "%p = getelementptr float, ptr %x, i64 %i\n store volatile ptr %p, ptr %to"),
        ] {
            let ir = followed(goes, "", rest);
            assert!(!is_followed(&ir), "{ir}");
        }
        // What the loop ends at may be passed by: then the address is computed of that.
        let ir = followed("%done = icmp uge i64 %k.4, %whole\n br i1 %done, label %end, label %loop", "", LOADS);
        assert!(ir.contains("getelementptr float, ptr %x, i64 %whole"), "{ir}");
    }
}
