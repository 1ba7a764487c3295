//! Has the loads of an unrolled loop's round, or of a block outside of loops, stand before its stores, where these are to
//! other places.
//!
//! ```text
//! before: loop: %a = load i8, ptr (%row + %j + 1)          after: loop: %a = load i8, ptr (%row + %j + 1)
//!               store i8 %x, ptr (%row + %j + 1)                        %b = load i8, ptr (%row + %j + 2)
//!               %b = load i8, ptr (%row + %j + 2)                       store i8 %x, ptr (%row + %j + 1)
//!               store i8 %y, ptr (%row + %j + 2)                        store i8 %y, ptr (%row + %j + 2)
//! ```
//!
//! A row of a table that is filled from its left neighbours is stored as it is read. ptxas moves no load before a store to
//! the same array, so each step waited for a load of its own; nvcc has all four in front. So did each array that a kernel
//! updates, as those of Adam: ptxas does not know that they are apart.
//!
//! **Why it is right.** A load passes only stores that share no byte with it: a constant distance from it along one address,
//! or one of both in a local array and the other at an address that was there before the array, or each through a parameter of
//! its own, one of which is the only way to what it points to (`noalias`). What the address is computed of moves with it, in
//! its order.

use std::collections::HashSet;

use crate::llvm::{
    self, Attribute, AttributeLoc, BasicBlock, BasicValue, BasicValueEnum, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntValue, PointerValue,
};

use super::branches::is_quiet;

/// Registers for what is loaded early, all of which are kept at once.
const MOST_REGISTERS: u64 = 16;

/// How many steps there may be from an address to where it begins.
const MOST_STEPS: usize = 8;

/// Moves what a block loads before what it stores.
pub fn load_past_stores<'ctx>(context: &'ctx Context, block: BasicBlock<'ctx>) {
    let instructions: Vec<_> = block.get_instructions().collect();
    let is_known = |from: &InstructionValue<'ctx>| {
        is_quiet(*from) || llvm::is_plain_store(*from) || from.is_terminator() || only_tells(*from)
    };
    let Some(first) = instructions.iter().position(|from| llvm::is_plain_store(*from)) else { return };
    if !instructions.iter().copied().all(|from| is_known(&from)) {
        return;
    }
    let mut before: HashSet<_> = instructions[..first].iter().copied().collect();
    let all: HashSet<_> = instructions.iter().copied().collect();
    let mut stores = vec![instructions[first]];
    let (mut moved, mut registers) = (Vec::new(), 0);
    for (at, from) in instructions.iter().enumerate().skip(first + 1) {
        if llvm::is_plain_store(*from) {
            stores.push(*from);
        } else if llvm::is_plain_load(*from) {
            let bytes = size(llvm::result(*from));
            let passes = stores.iter().all(|store| are_apart(*from, *store));
            let needed = needed(*from, &instructions[first + 1..at], &before, &all);
            if let (Some(needed), true, true) = (needed, passes, registers + bytes.div_ceil(4) <= MOST_REGISTERS) {
                registers += bytes.div_ceil(4);
                before.extend(&needed);
                moved.extend(needed);
            }
        }
    }
    llvm::move_before(context, &moved, instructions[first]);
}

/// Whether an instruction does nothing but tell LLVM something.
fn only_tells(instruction: InstructionValue<'_>) -> bool {
    const TELL: [&[u8]; 2] = [b"llvm.assume", b"llvm.experimental.noalias.scope.decl"];
    llvm::called_function(instruction).is_some_and(|callee| TELL.contains(&callee.get_name().to_bytes()))
}

/// A load and what its address is computed from behind the first store, in their order; `None` if something cannot move.
fn needed<'ctx>(
    load: InstructionValue<'ctx>,
    between: &[InstructionValue<'ctx>],
    before: &HashSet<InstructionValue<'ctx>>,
    all: &HashSet<InstructionValue<'ctx>>,
) -> Option<Vec<InstructionValue<'ctx>>> {
    let mut wanted = HashSet::from([load]);
    let mut pending = vec![load];
    while let Some(from) = pending.pop() {
        for (_, operand) in llvm::value_operands(from) {
            let Some(of) = llvm::instruction_of(operand) else { continue };
            if before.contains(&of) || !all.contains(&of) {
                continue;
            }
            if !llvm::is_pure(of) {
                return None;
            }
            if wanted.insert(of) {
                pending.push(of);
            }
        }
    }
    let mut in_order: Vec<_> = between.iter().copied().filter(|from| wanted.contains(from)).collect();
    in_order.push(load);
    Some(in_order)
}

/// Where an address is: what it begins at, an index that is not constant with the size that it counts, and bytes.
struct Place<'ctx> {
    base: PointerValue<'ctx>,
    index: Option<(IntValue<'ctx>, u64)>,
    bytes: u64,
}

impl<'ctx> Place<'ctx> {
    fn of(address: PointerValue<'ctx>) -> Self {
        let mut place = Self { base: address, index: None, bytes: 0 };
        for _ in 0..MOST_STEPS {
            let Some(from) = place.base.as_instruction_value() else { break };
            let operand = || match from.get_operand(0).and_then(|operand| operand.value()) {
                Some(BasicValueEnum::PointerValue(base)) => Some(base),
                _ => None,
            };
            let (Some(base), Op::GetElementPtr | Op::AddrSpaceCast) = (operand(), from.get_opcode()) else { break };
            if let Some(bytes) = llvm::constant_offset(from) {
                place.bytes = place.bytes.wrapping_add(bytes);
            } else if let Some((_, size, index)) = llvm::element_of(from) {
                if place.index.is_some() || index.get_type().get_bit_width() != 64 {
                    break;
                }
                let (index, more) = without_constant(index);
                place.index = index.map(|index| (index, size));
                place.bytes = place.bytes.wrapping_add(more.wrapping_mul(size));
            } else if from.get_opcode() != Op::AddrSpaceCast {
                break;
            }
            place.base = base;
        }
        place
    }

    fn is_local_array(&self) -> bool {
        self.base.as_instruction_value().is_some_and(|from| from.get_opcode() == Op::Alloca)
    }

    /// Whether it is in what only one parameter leads to.
    fn is_alone(&self, function: FunctionValue<'ctx>) -> bool {
        let noalias = Attribute::get_named_enum_kind_id("noalias");
        let index = llvm::param_index(self.base).and_then(|index| u32::try_from(index).ok());
        index.is_some_and(|index| function.get_enum_attribute(AttributeLoc::Param(index), noalias).is_some())
    }

    /// Whether it was there before any local array.
    fn is_given(&self) -> bool {
        self.base.as_instruction_value().is_none() && llvm::global_of(self.base).is_none()
    }
}

/// A number as another one and a constant.
fn without_constant(number: IntValue<'_>) -> (Option<IntValue<'_>>, u64) {
    if let Some(constant) = number.get_zero_extended_constant() {
        return (None, constant);
    }
    let sum = number
        .as_instruction()
        .filter(|from| from.get_opcode() == Op::Add || from.get_opcode() == Op::Or && llvm::is_disjoint(*from));
    let parts = sum.and_then(|from| {
        Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?.get_zero_extended_constant()?))
    });
    parts.map_or((Some(number), 0), |(index, constant)| (Some(index), constant))
}

/// Whether what one instruction loads and what another one stores share no byte.
fn are_apart<'ctx>(load: InstructionValue<'ctx>, store: InstructionValue<'ctx>) -> bool {
    let pointer = |from: InstructionValue<'ctx>, index| match from.get_operand(index).and_then(|of| of.value()) {
        Some(BasicValueEnum::PointerValue(pointer)) => Some(Place::of(pointer)),
        _ => None,
    };
    let (Some(one), Some(other)) = (pointer(load, 0), pointer(store, 1)) else { return false };
    if one.is_local_array() && other.is_given() || other.is_local_array() && one.is_given() {
        return true;
    }
    if let Some(function) = load.get_parent().and_then(|block| block.get_parent()) {
        let is_only_way = one.is_alone(function) || other.is_alone(function);
        if one.base != other.base && is_only_way && one.is_given() && other.is_given() {
            return true;
        }
    }
    if one.base != other.base || one.index != other.index {
        return false;
    }
    let Some(stored) = store.get_operand(0).and_then(|operand| operand.value()) else { return false };
    // Addresses are numbers that wrap around.
    let way = other.bytes.wrapping_sub(one.bytes);
    way >= size(llvm::result(load)) && way.wrapping_neg() >= size(stored)
}

/// The bytes that a value takes in memory.
fn size(value: BasicValueEnum<'_>) -> u64 {
    llvm::type_align(value.get_type()).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// The loads and stores of a loop, in their order.
    fn order(body: &str) -> String {
        let text = format!(
            "define void @f(ptr %from, ptr %to, i64 %n) {{
            entry: %row = alloca [25 x i8]
              br label %loop
            loop: %j = phi i64 [ 0, %entry ], [ %next, %loop ]
              %at = getelementptr i8, ptr %row, i64 %j
              {body}
              %next = add i64 %j, 4
              %ends = icmp eq i64 %next, %n
              br i1 %ends, label %end, label %loop
            end: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        load_past_stores(&context, function.get_basic_blocks()[1]);
        module.verify().unwrap();
        let name = |from: InstructionValue<'_>| match from.get_opcode() {
            Op::Load => Some(from.get_name().unwrap().to_string_lossy().into_owned()),
            Op::Store => Some("-".to_string()),
            _ => None,
        };
        llvm::instructions(function).filter_map(name).collect()
    }

    #[test]
    fn loads_pass_stores_through_other_parameters() {
        let of = |kind: &str| {
            let text = format!(
                "define void @f(ptr {kind} %m, ptr %v, float %x) {{
                  store float %x, ptr %m
                  %a = load float, ptr %v
                  store float %a, ptr %v
                  ret void
                }}"
            );
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
            let function = module.get_function("f").unwrap();
            load_past_stores(&context, function.get_basic_blocks()[0]);
            llvm::instructions(function).next().unwrap().get_opcode()
        };
        assert_eq!(of("noalias"), Op::Load);
        assert_eq!(of(""), Op::Store);
    }

    #[test]
    fn loads_pass_stores_to_other_places() {
        let more = "%j2 = add i64 %j, 2\n %at2 = getelementptr i8, ptr %row, i64 %j2\n %b = load i8, ptr %at2";
        assert_eq!(
            order(&format!("%a = load i8, ptr %at\n store i8 %a, ptr %at\n {more}\n store i8 %b, ptr %at2")),
            "ab--"
        );
        assert_eq!(
            order("store i8 7, ptr %at\n %at1 = getelementptr i8, ptr %at, i64 1\n %b = load i8, ptr %at1"),
            "b-"
        );
        assert_eq!(
            order("store i8 7, ptr %at\n %at1 = getelementptr i8, ptr %at, i64 -1\n %b = load i8, ptr %at1"),
            "b-"
        );
        assert_eq!(order("store i8 7, ptr %at\n %b = load i8, ptr %from"), "b-");
    }

    #[test]
    fn loads_of_what_may_be_stored_wait() {
        for body in [
            "store i8 7, ptr %at\n %b = load i8, ptr %at",
            "store i16 7, ptr %at\n %at1 = getelementptr i8, ptr %at, i64 1\n %b = load i8, ptr %at1",
            "store i8 7, ptr %at\n %at1 = getelementptr i8, ptr %at, i64 -1\n %b = load i16, ptr %at1",
            "store i8 7, ptr %at\n %at1 = getelementptr i8, ptr %row, i64 %n\n %b = load i8, ptr %at1",
            "store i8 7, ptr %to\n %b = load i8, ptr %from",
            "store volatile i8 7, ptr %at\n %b = load i8, ptr %from",
        ] {
            assert_eq!(order(body), "-b", "{body}");
        }
    }
}
