//! How many registers values take at once, as far as LLVM's order shows it: ptxas chooses another one.

use crate::hash::{QuickMap, QuickSet};
use crate::llvm::{
    self, BasicBlock, BasicTypeEnum, BasicValueEnum, FunctionValue, InstructionOpcode as Op, InstructionValue,
};
use crate::loops::{Graph, is_convergent};

/// In which order a block computes its values.
#[derive(Clone, Copy)]
pub enum Order {
    /// As they stand.
    Given,
    /// Each before what looks at it first.
    Late,
    /// The same, and what is loaded as well, unless something is written between.
    Loaded,
}

impl Order {
    fn of<'ctx>(self, block: BasicBlock<'ctx>) -> Vec<InstructionValue<'ctx>> {
        let instructions: Vec<_> = block.get_instructions().collect();
        match self {
            Self::Given => instructions,
            Self::Late => late(&instructions, llvm::is_pure),
            Self::Loaded => late(&instructions, |from| llvm::is_pure(from) || llvm::is_plain_load(from)),
        }
    }
}

/// A block's instructions with what may move just before its first use. What is computed of a load stays before what may write
/// memory, if the load did.
fn late<'ctx>(
    instructions: &[InstructionValue<'ctx>],
    moves: impl Fn(InstructionValue<'ctx>) -> bool,
) -> Vec<InstructionValue<'ctx>> {
    let mut left: QuickSet<_> = instructions.iter().copied().filter(|from| moves(*from)).collect();
    let mut order = Vec::with_capacity(instructions.len());
    let (end, others) = instructions.split_last().expect("a block has an end");
    let depths = depths(others);
    let (movable, mut of_loads) = (left.clone(), OfLoads::default());
    for from in others {
        if movable.contains(from) {
            of_loads.add(*from);
            continue;
        }
        if may_write(*from) {
            for result in std::mem::take(&mut of_loads).results() {
                if left.contains(&result) {
                    with_operands(result, &depths, &mut left, &mut order);
                }
            }
        }
        with_operands(*from, &depths, &mut left, &mut order);
    }
    // What other blocks use.
    for from in others {
        if left.contains(from) {
            with_operands(*from, &depths, &mut left, &mut order);
        }
    }
    with_operands(*end, &depths, &mut left, &mut order);
    order
}

/// Of how many steps of its block each value is, one after the other.
fn depths<'ctx>(instructions: &[InstructionValue<'ctx>]) -> QuickMap<InstructionValue<'ctx>, usize> {
    let mut depths = QuickMap::default();
    for from in instructions.iter().filter(|from| from.get_opcode() != Op::Phi) {
        let most = computed_operands(*from).filter_map(|operand| depths.get(&operand).copied()).max();
        depths.insert(*from, most.unwrap_or(0) + 1);
    }
    depths
}

/// Loads that may move, and what is computed of them.
#[derive(Default)]
struct OfLoads<'ctx> {
    all: Vec<InstructionValue<'ctx>>,
    known: QuickSet<InstructionValue<'ctx>>,
    used: QuickSet<InstructionValue<'ctx>>,
}

impl<'ctx> OfLoads<'ctx> {
    fn add(&mut self, from: InstructionValue<'ctx>) {
        let operands: Vec<_> = computed_operands(from).filter(|operand| self.known.contains(operand)).collect();
        if llvm::is_plain_load(from) || !operands.is_empty() {
            self.used.extend(operands);
            self.known.insert(from);
            self.all.push(from);
        }
    }

    /// What none of the others is computed of.
    fn results(self) -> impl Iterator<Item = InstructionValue<'ctx>> {
        self.all.into_iter().filter(move |from| !self.used.contains(from))
    }
}

/// Whether what is loaded may be something else behind an instruction.
fn may_write(from: InstructionValue<'_>) -> bool {
    match from.get_opcode() {
        Op::Store | Op::AtomicRMW | Op::AtomicCmpXchg | Op::Fence => true,
        Op::Call => is_convergent(from),
        _ => false,
    }
}

/// Adds an instruction behind those of its operands that are left.
fn with_operands<'ctx>(
    from: InstructionValue<'ctx>,
    depths: &QuickMap<InstructionValue<'ctx>, usize>,
    left: &mut QuickSet<InstructionValue<'ctx>>,
    order: &mut Vec<InstructionValue<'ctx>>,
) {
    left.insert(from);
    let mut pending = vec![(from, false)];
    while let Some((from, has_operands)) = pending.pop() {
        if has_operands {
            order.push(from);
        } else if left.remove(&from) {
            pending.push((from, true));
            let mut operands: Vec<_> = computed_operands(from).filter(|operand| left.contains(operand)).collect();
            operands.reverse();
            // Of a long sum first what was added before.
            operands.sort_by_key(|operand| depths.get(operand));
            pending.extend(operands.into_iter().map(|operand| (operand, false)));
        }
    }
}

/// Values that are still used, and how many registers they take.
#[derive(Default)]
struct Live<'ctx> {
    values: QuickSet<InstructionValue<'ctx>>,
    words: u64,
}

impl<'ctx> Live<'ctx> {
    fn insert(&mut self, value: InstructionValue<'ctx>) {
        if self.values.insert(value) {
            self.words += words(value);
        }
    }

    fn remove(&mut self, value: InstructionValue<'ctx>) {
        if self.values.remove(&value) {
            self.words -= words(value);
        }
    }
}

/// The most registers that values take at once, for each block.
pub fn most_live<'ctx>(
    kernel: FunctionValue<'ctx>,
    graph: &Graph<'ctx>,
    order: Order,
) -> QuickMap<BasicBlock<'ctx>, u64> {
    let mut at_start = QuickMap::default();
    let mut most = QuickMap::default();
    let mut blocks: Vec<_> = graph.by_dominance().into_iter().map(|block| (block, order.of(block))).collect();
    blocks.reverse();
    let mut changed = true;
    while changed {
        changed = false;
        for (block, instructions) in &blocks {
            let mut live = at_end(*block, &at_start);
            let mut needs = live.words;
            for instruction in instructions.iter().copied().rev() {
                live.remove(instruction);
                if instruction.get_opcode() != Op::Phi && without_constant(instruction).is_none() {
                    let operands = llvm::value_operands(instruction).filter_map(|(_, value)| in_register(value));
                    operands.for_each(|value| live.insert(value));
                    needs = needs.max(live.words);
                }
            }
            most.insert(*block, needs);
            if at_start.get(block) != Some(&live.values) {
                at_start.insert(*block, live.values);
                changed = true;
            }
        }
    }
    debug_assert_eq!(most.len(), blocks.len(), "each block of {:?} was looked at", kernel.get_name());
    most
}

/// What is still used behind a block.
fn at_end<'ctx>(
    block: BasicBlock<'ctx>,
    at_start: &QuickMap<BasicBlock<'ctx>, QuickSet<InstructionValue<'ctx>>>,
) -> Live<'ctx> {
    let mut live = Live::default();
    for next in block.get_terminator().map(llvm::block_operands).unwrap_or_default() {
        at_start.get(&next).into_iter().flatten().for_each(|value| live.insert(*value));
        for phi in llvm::phis(next) {
            let from_here = llvm::incoming(phi).into_iter().filter(|(_, from)| *from == block);
            from_here.filter_map(|(value, _)| in_register(value)).for_each(|value| live.insert(value));
        }
    }
    live
}

/// Parameters and constants are in no register: machine code takes them from the constant bank.
fn computed_operands<'ctx>(instruction: InstructionValue<'ctx>) -> impl Iterator<Item = InstructionValue<'ctx>> {
    llvm::value_operands(instruction).filter_map(|(_, value)| llvm::instruction_of(value))
}

/// The instruction whose result a register holds for a value: an access adds a constant by itself.
fn in_register(value: BasicValueEnum<'_>) -> Option<InstructionValue<'_>> {
    let mut from = llvm::instruction_of(value)?;
    while let Some(base) = without_constant(from) {
        from = llvm::instruction_of(base)?;
    }
    Some(from)
}

/// What an address adds a constant to: another one, or the index behind a static's begin.
fn without_constant(from: InstructionValue<'_>) -> Option<BasicValueEnum<'_>> {
    if from.get_opcode() != Op::GetElementPtr {
        return None;
    }
    let mut operands = llvm::value_operands(from).map(|(_, value)| value);
    let (base, index) = (operands.next()?, operands.next()?);
    if operands.next().is_some() {
        return None;
    }
    if llvm::is_constant(&index) { Some(base) } else { llvm::is_constant(&base).then_some(index) }
}

/// The registers of 32 bits that a value takes; conditions have registers of their own.
fn words(value: InstructionValue<'_>) -> u64 {
    BasicTypeEnum::try_from(value.get_type()).map_or(0, words_of)
}

fn words_of(ty: BasicTypeEnum<'_>) -> u64 {
    match ty {
        BasicTypeEnum::IntType(ty) if ty.get_bit_width() == 1 => 0,
        ty => llvm::type_align(ty).0.div_ceil(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};

    /// An operand that two others have is computed before both.
    #[test]
    fn operands_come_first() {
        let text = "define ptx_kernel void @f(ptr %p, i1 %small) {
            entry: %x = load volatile i32, ptr %p
              %a = add i32 %x, 1
              %b = mul i32 %a, %x
              %c = sub i32 %b, %a
              store volatile i32 %c, ptr %p
              br i1 %small, label %end, label %end
            end: ret void
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let kernel = module.get_function("f").expect("it is there");
        let given: Vec<_> = kernel.get_first_basic_block().expect("it has one").get_instructions().collect();
        assert_eq!(late(&given, llvm::is_pure), given);
    }
}
