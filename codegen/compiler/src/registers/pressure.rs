//! How many registers values take at once, as far as LLVM's order shows it: ptxas chooses another one.

use crate::hash::{QuickMap, QuickSet};
use crate::llvm::{self, BasicBlock, BasicTypeEnum, FunctionValue, InstructionOpcode as Op, InstructionValue};
use crate::loops::Graph;

/// In which order a block computes its values.
#[derive(Clone, Copy)]
pub enum Order {
    /// As they stand.
    Given,
    /// Each before what looks at it first.
    Late,
}

impl Order {
    fn of<'ctx>(self, block: BasicBlock<'ctx>) -> Vec<InstructionValue<'ctx>> {
        let instructions: Vec<_> = block.get_instructions().collect();
        match self {
            Self::Given => instructions,
            Self::Late => late(&instructions),
        }
    }
}

/// A block's instructions with what only computes just before its first use.
fn late<'ctx>(instructions: &[InstructionValue<'ctx>]) -> Vec<InstructionValue<'ctx>> {
    let moves = |from: &InstructionValue<'ctx>| from.get_opcode() != Op::Phi && llvm::is_pure(*from);
    let mut left: QuickSet<_> = instructions.iter().copied().filter(moves).collect();
    let mut order = Vec::with_capacity(instructions.len());
    let (end, others) = instructions.split_last().expect("a block has an end");
    let stays: Vec<_> = others.iter().copied().filter(|from| !left.contains(from)).collect();
    for from in stays {
        with_operands(from, &mut left, &mut order);
    }
    // What other blocks use.
    for from in others {
        if left.contains(from) {
            with_operands(*from, &mut left, &mut order);
        }
    }
    with_operands(*end, &mut left, &mut order);
    order
}

/// Adds an instruction behind those of its operands that are left.
fn with_operands<'ctx>(
    from: InstructionValue<'ctx>,
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
                if instruction.get_opcode() != Op::Phi {
                    computed_operands(instruction).for_each(|value| live.insert(value));
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
            from_here.filter_map(|(value, _)| llvm::instruction_of(value)).for_each(|value| live.insert(value));
        }
    }
    live
}

/// Parameters and constants are in no register: machine code takes them from the constant bank.
fn computed_operands<'ctx>(instruction: InstructionValue<'ctx>) -> impl Iterator<Item = InstructionValue<'ctx>> {
    llvm::value_operands(instruction).filter_map(|(_, value)| llvm::instruction_of(value))
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
        assert_eq!(late(&given), given);
    }
}
