//! Stores four bytes at once where a loop stores them one by one, to addresses that follow each other.
//!
//! ```text
//! before: loop:   …                                        ; a check that may panic
//!                 store i8 %symbol, ptr %to                 ; `for symbol in symbols { *symbol = … }`
//!                 %next = getelementptr i8, ptr %to, i64 1
//!                 br i1 %done, label %end, label %loop
//! after:  loop:   four rounds, without their stores; an end behind the first of them stores what it would have
//!                 br i1 (%to is a multiple of 4), label %wide, label %narrow
//!         wide:   store i32 (the four bytes), ptr %to       ; narrow: as before, each byte by itself
//! ```
//!
//! Threads that each have a row of bytes write to 32 places with every store, and the second-level cache takes as long
//! for a byte as for a word. On an H100 a decoder of 32 symbols a thread took 356 µs with bytes, 100 with words, and 305
//! in CUDA C++, which stores bytes.
//!
//! **Why it is right.** Between the stores the loop only computes, and loads from slices that nobody writes while the kernel
//! runs, so that nothing sees whether a byte is stored a few rounds later. Whoever ends the loop early, by a panic above all,
//! first stores the bytes of the rounds that were made, in their order. Other threads must not look at the bytes before they
//! meet this one behind the loop, where all of them are stored.
//!
//! Not with anything convergent in the loop, or another store, nor where a user or another stage has said how often to unroll
//! it. LLVM may have unrolled it by two.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module, PointerValue, Unroll,
};
use crate::settled;

use super::batches::is_quiet;
use super::branches::Branch;
use super::natural::{Graph, Loop, SimpleForm};

/// Bytes of a word.
const WORD: usize = 4;

/// Instructions of a loop, which is written up to four times.
const MOST_INSTRUCTIONS: usize = 100;

/// How deep addresses may be computed.
const MOST_STEPS: u32 = 8;

/// Joins the stores of every loop where that is possible.
pub fn pack<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module) {
        let graph = Graph::of(function);
        // Loops have no block in common, and what is written for one moves none of another.
        for found in graph.innermost() {
            let Some(before) = graph.block_before(&found) else { continue };
            let Some(bytes) = Bytes::of(context, function, &found, before) else { continue };
            form.lose();
            Stage { context, builder: context.create_builder(), function, bytes: &bytes }.write().map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot join the stores of a loop: {error}"))
            })?;
        }
    }
    Ok(())
}

/// A loop that stores bytes.
struct Bytes<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// Blocks in the order in which they run, as places in the loop's.
    order: Vec<usize>,
    /// The places of a round's stores, in their order: the block in the order, and where in it.
    stores: Vec<(usize, usize)>,
    /// How many rounds store a word.
    rounds: usize,
    /// Whether the number of rounds is known to be a multiple of that.
    is_even: bool,
}

impl<'a, 'ctx> Bytes<'a, 'ctx> {
    fn of(
        context: &Context,
        function: FunctionValue<'ctx>,
        found: &'a Loop<'ctx>,
        before: BasicBlock<'ctx>,
    ) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
        let is_short = instructions().take(MOST_INSTRUCTIONS + 1).count() <= MOST_INSTRUCTIONS;
        let is_fit = |instruction: InstructionValue<'ctx>| match instruction.get_opcode() {
            Op::Store => is_byte(instruction),
            Op::Load => is_quiet(instruction) && is_shared(function, found, instruction),
            _ => is_quiet(instruction),
        };
        if !is_short || llvm::has_loop_mark(context, &found.jumps_back()) || !instructions().all(is_fit) {
            return None;
        }
        let order = order(found, latch)?;
        let (mut stores, mut offsets) = (Vec::new(), Vec::new());
        for (at, block) in order.iter().enumerate() {
            for (number, instruction) in found.blocks[*block].get_instructions().enumerate() {
                if instruction.get_opcode() == Op::Store {
                    stores.push((at, number));
                    offsets.push(Offset::of(found, address(instruction)?, MOST_STEPS)?);
                }
            }
        }
        let first = offsets.first()?;
        let follows = |(at, offset): (usize, &Offset<'ctx>)| {
            offset.base == first.base
                && Some(offset.first) == i64::try_from(at).ok().and_then(|at| first.first.checked_add(at))
                && usize::try_from(offset.step) == Ok(stores.len())
        };
        if !WORD.is_multiple_of(stores.len()) || !offsets.iter().enumerate().all(follows) {
            return None;
        }
        let rounds = WORD / stores.len();
        let is_even = number_of_rounds(found, latch).is_some_and(|number| number.is_multiple_of(rounds as u64));
        Some(Self { found, before, latch, order, stores, rounds, is_even })
    }
}

fn is_byte(store: InstructionValue<'_>) -> bool {
    llvm::is_plain_store(store)
        && llvm::int_operand(store, 0).is_some_and(|value| value.get_type().get_bit_width() == 8)
}

fn address(access: InstructionValue<'_>) -> Option<PointerValue<'_>> {
    let at = if access.get_opcode() == Op::Store { 1 } else { 0 };
    match access.get_operand(at)?.value()? {
        BasicValueEnum::PointerValue(pointer) => Some(pointer),
        _ => None,
    }
}

/// How far an address is behind another, in bytes: at first, and by how much more in each round.
struct Offset<'ctx> {
    base: PointerValue<'ctx>,
    first: i64,
    step: i64,
}

impl<'ctx> Offset<'ctx> {
    fn of(found: &Loop<'ctx>, address: PointerValue<'ctx>, steps: u32) -> Option<Self> {
        if found.is_invariant(address.into()) || steps == 0 {
            return Some(Self { base: address, first: 0, step: 0 });
        }
        let from = address.as_instruction_value()?;
        if from.get_opcode() == Op::Phi {
            return Self::of_phi(found, address, steps);
        }
        let (base, _, index) = llvm::element_of(from).filter(|(_, size, _)| *size == 1)?;
        let (more, step) = counted(found, index, MOST_STEPS)?;
        let base = Self::of(found, base, steps - 1)?;
        Some(Self { base: base.base, first: base.first.checked_add(more)?, step: base.step.checked_add(step)? })
    }

    fn of_phi(found: &Loop<'ctx>, phi: PointerValue<'ctx>, steps: u32) -> Option<Self> {
        let (BasicValueEnum::PointerValue(base), BasicValueEnum::PointerValue(next)) = found.incoming(phi)? else {
            return None;
        };
        let (from, size, index) = llvm::element_of(next.as_instruction_value()?)?;
        if from == phi {
            let step = index.get_sign_extended_constant().filter(|_| size == 1)?;
            return Some(Self { base, first: 0, step });
        }
        // What comes next is computed from the same address, and is where this goes on.
        let next = Self::of(found, next, steps - 1)?;
        (next.base == base && next.first == next.step).then_some(Self { base, first: 0, step: next.step })
    }
}

/// What a number of 64 bits is in the first round, and by how much it grows in each.
fn counted<'ctx>(found: &Loop<'ctx>, value: IntValue<'ctx>, steps: u32) -> Option<(i64, i64)> {
    if value.get_type().get_bit_width() != 64 || steps == 0 {
        return None;
    }
    if let Some(constant) = value.get_sign_extended_constant() {
        return Some((constant, 0));
    }
    if let Some((BasicValueEnum::IntValue(first), next)) = found.incoming(value) {
        let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
        let step = llvm::int_operand(sum, 1)?
            .get_sign_extended_constant()
            .filter(|_| llvm::int_operand(sum, 0) == Some(value))?;
        return Some((first.get_sign_extended_constant()?, step));
    }
    let sum = value.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
    let more = llvm::int_operand(sum, 1)?.get_sign_extended_constant()?;
    let (first, step) = counted(found, llvm::int_operand(sum, 0)?, steps - 1)?;
    Some((first.checked_add(more)?, step))
}

/// How many rounds a loop has if nothing but its last block ends it, if that is a constant.
fn number_of_rounds<'ctx>(found: &Loop<'ctx>, latch: BasicBlock<'ctx>) -> Option<u64> {
    let branch = Branch::of(latch)?;
    let until_equal = match branch.predicate {
        IntPredicate::EQ => branch.other == found.head,
        IntPredicate::NE => branch.then == found.head,
        _ => false,
    };
    let (first, step) = counted(found, branch.left, MOST_STEPS).filter(|(_, step)| until_equal && *step > 0)?;
    let way = branch.right.get_sign_extended_constant()?.checked_sub(first).filter(|way| *way >= 0)?;
    (way % step == 0).then(|| (way / step).unsigned_abs() + 1)
}

/// Whether something is loaded from what nobody writes while the function runs.
fn is_shared<'ctx>(function: FunctionValue<'ctx>, found: &Loop<'ctx>, load: InstructionValue<'ctx>) -> bool {
    let root = address(load).and_then(|address| root(found, address));
    root.is_some_and(|root| llvm::is_shared_reference(function, root))
}

/// What an address is computed from, also round by round.
fn root<'ctx>(found: &Loop<'ctx>, mut address: PointerValue<'ctx>) -> Option<PointerValue<'ctx>> {
    loop {
        let Some(from) = address.as_instruction_value() else { return Some(address) };
        let next = match from.get_opcode() {
            Op::GetElementPtr => from.get_operand(0)?.value()?,
            Op::Phi => {
                let (first, next) = found.incoming(address)?;
                // What the next round has is this one's, and more, or the first one's.
                let next = next.as_instruction_value().filter(|next| next.get_opcode() == Op::GetElementPtr)?;
                let from = next.get_operand(0)?.value()?;
                let is_same = from == BasicValueEnum::from(address) || from == first || Some(from) == base(first);
                if !is_same {
                    return None;
                }
                first
            }
            _ => return None,
        };
        let BasicValueEnum::PointerValue(pointer) = next else { return None };
        address = pointer;
    }
}

/// What an address is computed from, in one step.
fn base(address: BasicValueEnum<'_>) -> Option<BasicValueEnum<'_>> {
    let from = address.as_instruction_value().filter(|from| from.get_opcode() == Op::GetElementPtr)?;
    from.get_operand(0)?.value()
}

/// The order in which a loop's blocks run, if it is always the same.
fn order<'ctx>(found: &Loop<'ctx>, latch: BasicBlock<'ctx>) -> Option<Vec<usize>> {
    let (mut block, mut order) = (found.head, vec![0]);
    while block != latch {
        let targets = llvm::block_operands(block.get_terminator()?);
        let mut inside = targets.into_iter().filter(|target| found.contains(*target));
        let next = inside.next().filter(|next| inside.next().is_none() && *next != found.head)?;
        if llvm::predecessors(next) != [block] {
            return None;
        }
        order.push(found.blocks.iter().position(|known| *known == next)?);
        block = next;
    }
    let is_jump = |block: &usize| found.blocks[*block].get_terminator().is_some_and(|end| end.get_opcode() == Op::Br);
    (order.len() == found.blocks.len() && order.iter().all(is_jump)).then_some(order)
}

struct Stage<'a, 'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    function: FunctionValue<'ctx>,
    bytes: &'a Bytes<'a, 'ctx>,
}

impl<'ctx> Stage<'_, 'ctx> {
    fn write(&self) -> Result<(), BuilderError> {
        let Self { context, function, bytes, .. } = self;
        let found = bytes.found;
        let mut rounds = vec![found.blocks.clone()];
        for _ in 1..bytes.rounds {
            rounds.push(llvm::copy_blocks(context, *function, &found.blocks));
        }
        let latch = found.blocks.iter().position(|block| *block == bytes.latch).expect("it is one of them");
        let latches: Vec<InstructionValue<'ctx>> =
            rounds.iter().filter_map(|blocks| blocks[latch].get_terminator()).collect();
        llvm::forget_loop(context, &latches);
        let back = context.append_basic_block(*function, "");
        self.join_phis(&rounds, latch, back)?;
        let mut stored = Vec::new();
        for (number, blocks) in rounds.iter().enumerate() {
            let next = rounds.get(number + 1).map(|blocks| blocks[0]);
            self.write_round(blocks, next, &mut stored, back)?;
        }
        Ok(())
    }

    /// Has each round begin with what the one before ends with.
    fn join_phis(
        &self,
        rounds: &[Vec<BasicBlock<'ctx>>],
        latch: usize,
        back: BasicBlock<'ctx>,
    ) -> Result<(), BuilderError> {
        let phis: Vec<Vec<InstructionValue<'ctx>>> =
            rounds.iter().map(|blocks| llvm::phis(blocks[0]).collect()).collect();
        let incoming = |round: usize, phi: usize, block: BasicBlock<'ctx>| {
            let mut all = llvm::incoming(phis[round][phi]).into_iter();
            all.find(|(_, from)| *from == block).expect("a phi has a value for every block that jumps to it").0
        };
        let mut made = Vec::new();
        for (round, of_round) in phis.iter().enumerate() {
            for (number, phi) in of_round.iter().enumerate() {
                self.builder.position_before(phi);
                let new = self.builder.build_phi(llvm::result(*phi).get_type(), "")?;
                if round == 0 {
                    let last = rounds.len() - 1;
                    let first = incoming(0, number, self.bytes.before);
                    let next = incoming(last, number, rounds[last][latch]);
                    new.add_incoming(&[(&first, self.bytes.before), (&next, back)]);
                } else {
                    let from = rounds[round - 1][latch];
                    new.add_incoming(&[(&incoming(round - 1, number, from), from)]);
                }
                made.push((*phi, new.as_basic_value()));
            }
        }
        for (phi, new) in &made {
            llvm::replace_uses(*phi, *new);
        }
        for (phi, _) in made {
            phi.erase_from_basic_block();
        }
        Ok(())
    }

    /// Takes a round's store away, and leads its ends, and its last jump, where they belong.
    fn write_round(
        &self,
        blocks: &[BasicBlock<'ctx>],
        next: Option<BasicBlock<'ctx>>,
        stored: &mut Vec<Byte<'ctx>>,
        back: BasicBlock<'ctx>,
    ) -> Result<(), BuilderError> {
        let Self { context, bytes, .. } = self;
        for (at, number) in bytes.order.iter().enumerate() {
            let block = blocks[*number];
            // The head's phis were made anew, as many as there were.
            let here = bytes.stores.iter().filter(|(of, _)| *of == at);
            let here = here.filter_map(|(_, number)| block.get_instructions().nth(*number));
            for store in here.collect::<Vec<_>>() {
                let (to, value) =
                    (address(store).expect("it is a store"), llvm::int_operand(store, 0).expect("of a byte"));
                stored.push(Byte { to, value });
                store.erase_from_basic_block();
            }
            let Some(end) = block.get_terminator() else { continue };
            let goes_on = |target: &BasicBlock<'ctx>| blocks.contains(target);
            let exit = llvm::block_operands(end).into_iter().find(|target| !goes_on(target));
            let is_last = at + 1 == bytes.order.len();
            if is_last && next.is_none() {
                self.write_word(block, stored, back)?;
                if let Some(exit) = exit {
                    llvm::replace_predecessor(exit, block, back, |value| value);
                }
                self.builder.position_at_end(back);
                let jump = self.jump(end, blocks, self.bytes.found.head, exit)?;
                llvm::set_unroll(context, &[jump], Unroll::None);
                end.erase_from_basic_block();
                continue;
            }
            if let (Some((then, _)), true) = (llvm::branch_targets(end), is_last && bytes.is_even) {
                llvm::always_branch(context, end, goes_on(&then));
            }
            let exit = exit.map(|exit| self.flush(block, exit, stored)).transpose()?;
            let inside = llvm::block_operands(end).into_iter().find(goes_on).expect("the loop goes on");
            self.builder.position_before(&end);
            self.jump(end, blocks, next.filter(|_| is_last).unwrap_or(inside), exit)?;
            end.erase_from_basic_block();
        }
        Ok(())
    }

    /// Writes a jump like another, with other targets in the loop and outside.
    fn jump(
        &self,
        end: InstructionValue<'ctx>,
        blocks: &[BasicBlock<'ctx>],
        inside: BasicBlock<'ctx>,
        outside: Option<BasicBlock<'ctx>>,
    ) -> Result<InstructionValue<'ctx>, BuilderError> {
        let (Some((then, _)), Some(outside)) = (llvm::branch_targets(end), outside) else {
            return self.builder.build_unconditional_branch(inside);
        };
        let condition = llvm::int_operand(end, 0).expect("a branch with two targets has a condition");
        let (then, other) = if blocks.contains(&then) { (inside, outside) } else { (outside, inside) };
        self.builder.build_conditional_branch(condition, then, other)
    }

    /// Writes what the rounds so far store where the loop ends behind them; returns where to go there.
    fn flush(
        &self,
        from: BasicBlock<'ctx>,
        exit: BasicBlock<'ctx>,
        stored: &[Byte<'ctx>],
    ) -> Result<BasicBlock<'ctx>, BuilderError> {
        if stored.is_empty() {
            return Ok(exit);
        }
        let block = self.context.append_basic_block(self.function, "");
        self.builder.position_at_end(block);
        self.one_by_one(stored)?;
        self.builder.build_unconditional_branch(exit)?;
        llvm::replace_predecessor(exit, from, block, |value| value);
        Ok(block)
    }

    fn one_by_one(&self, stored: &[Byte<'ctx>]) -> Result<(), BuilderError> {
        for Byte { to, value } in stored {
            self.builder.build_store(*to, *value)?;
        }
        Ok(())
    }

    /// Writes what all rounds store, behind the last of them, as a word where that is possible; goes on at a block.
    fn write_word(
        &self,
        last: BasicBlock<'ctx>,
        stored: &[Byte<'ctx>],
        back: BasicBlock<'ctx>,
    ) -> Result<(), BuilderError> {
        let Self { context, function, builder, .. } = self;
        let [wide, narrow] = [(); 2].map(|()| context.append_basic_block(*function, ""));
        let Some(end) = last.get_terminator() else { return Ok(()) };
        let (word, long) = (context.i32_type(), context.i64_type());
        builder.position_before(&end);
        let to = builder.build_ptr_to_int(stored[0].to, long, "")?;
        let low = builder.build_and(to, long.const_int(WORD as u64 - 1, false), "")?;
        let is_aligned = builder.build_int_compare(IntPredicate::EQ, low, long.const_zero(), "")?;
        builder.build_conditional_branch(is_aligned, wide, narrow)?;
        builder.position_at_end(wide);
        let mut all = word.const_zero();
        for (number, byte) in stored.iter().enumerate() {
            let value = builder.build_int_z_extend(byte.value, word, "")?;
            let value = builder.build_left_shift(value, word.const_int(8 * number as u64, false), "")?;
            all = builder.build_or(all, value, "")?;
        }
        builder.build_store(stored[0].to, all)?;
        builder.build_unconditional_branch(back)?;
        builder.position_at_end(narrow);
        self.one_by_one(stored)?;
        builder.build_unconditional_branch(back)?;
        Ok(())
    }
}

/// A byte that a round stores.
#[derive(Clone, Copy)]
struct Byte<'ctx> {
    to: PointerValue<'ctx>,
    value: IntValue<'ctx>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::request::OptLevel;

    /// A loop that checks and stores a byte, or two; after [`pack`].
    fn packed(params: &str, to: &str, next: &str, more: &str, done: &str) -> String {
        let text = format!(
            "declare void @__rust_ptx_panic_with_1(i64) noreturn
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define void @f({params}, i64 %len, i64 %n) {{
            entry: br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %k.next, %inside ]
              %p = phi ptr [ %to, %entry ], [ %p.next, %inside ]
              %below = icmp ult i64 %k, %len
              br i1 %below, label %inside, label %panic
            inside: %at = getelementptr i8, ptr %from, i64 %k
              %x = load i8, ptr %at
              {to}
              {more}
              %k.next = add i64 %k, 1
              %p.next = {next}
              %done = {done}
              br i1 %done, label %end, label %loop
            end: ret void
            panic: call void @__rust_ptx_panic_with_1(i64 %k)
              unreachable
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        pack(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        llvm::run_passes(&module, &machine, "function(simplifycfg)").unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const PARAMS: &str = "ptr noalias readonly %from, ptr noalias %to";
    const STORE: &str = "store i8 %x, ptr %p";
    const NEXT: &str = "getelementptr i8, ptr %p, i64 1";
    const UNTIL: &str = "icmp eq i64 %k.next, %n";

    #[test]
    fn four_bytes_are_a_word() {
        for (to, next) in [
            (STORE, NEXT),
            ("%q = getelementptr i8, ptr %to, i64 %k\n store i8 %x, ptr %q", NEXT),
            (STORE, "getelementptr i8, ptr %to, i64 %k.next"),
        ] {
            let ir = packed(PARAMS, to, next, "", UNTIL);
            assert_eq!(ir.matches("store i32").count(), 1, "{ir}");
            assert_eq!(ir.matches("load i8").count(), 4, "{ir}");
            // Four where the word is not aligned, and before three ends of the loop and three panics, one to three.
            assert_eq!(ir.matches("store i8").count(), 4 + 6 + 6, "{ir}");
            assert!(ir.contains("and i64") && ir.contains(", 3"), "{ir}");
        }
    }

    #[test]
    fn what_is_known_to_go_on_is_not_asked() {
        let ir = packed(PARAMS, STORE, NEXT, "", "icmp eq i64 %k.next, 32");
        assert_eq!(ir.matches("store i8").count(), 4 + 6, "{ir}");
        let ir = packed(PARAMS, STORE, NEXT, "", "icmp eq i64 %k.next, 30");
        assert_eq!(ir.matches("store i8").count(), 4 + 6 + 6, "{ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        let two = "%y = getelementptr i8, ptr %p, i64 1\n store i8 %x, ptr %y";
        for (params, to, next, more) in [
            // What is loaded may be what was stored.
            ("ptr %from, ptr noalias %to", STORE, NEXT, ""),
            ("ptr noalias %from, ptr noalias %to", STORE, NEXT, ""),
            (PARAMS, STORE, "getelementptr i8, ptr %p, i64 2", ""),
            (PARAMS, STORE, "getelementptr i8, ptr %p, i64 -1", ""),
            (PARAMS, STORE, "getelementptr i8, ptr %to, i64 %k", ""),
            (PARAMS, STORE, "getelementptr i8, ptr %to, i64 %n", ""),
            (PARAMS, "store volatile i8 %x, ptr %p", NEXT, ""),
            (PARAMS, "%w = zext i8 %x to i32\n store i32 %w, ptr %p", NEXT, ""),
            // Two that are one further each.
            (PARAMS, STORE, NEXT, two),
            (PARAMS, STORE, NEXT, "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)"),
        ] {
            let ir = packed(params, to, next, more, UNTIL);
            assert_eq!(ir.matches("load i8").count(), 1, "{params}, {to}, {next}, {more}: {ir}");
        }
        let two_rounds = packed(PARAMS, STORE, "getelementptr i8, ptr %p, i64 2", two, UNTIL);
        assert_eq!(two_rounds.matches("load i8").count(), 2, "{two_rounds}");
        assert_eq!(two_rounds.matches("store i32").count(), 1, "{two_rounds}");
    }
}
