//! Has loads stand before the divisions of floats in their block, where nobody writes what they read.
//!
//! ```text
//! before: %a = fdiv float %x, %sum        after: %y = load float, ptr %next
//!         store float %a, ptr %to                %a = fdiv float %x, %sum
//!         %y = load float, ptr %next             store float %a, ptr %to
//! ```
//!
//! A division in IEEE 754's way is a branch for ptxas, to the code for numbers that the fast way does not take. It moves
//! nothing from one block to another, so each round of an unrolled loop waited for its load after the division before it.
//! nvcc leaves it so.
//!
//! **Why it is right.** The load is in the same block, so it is run wherever the division is, unless something between them
//! ends the thread: calls of other functions than LLVM's end the search. Its address comes from a parameter that is
//! `noalias readonly`, a shared reference of Rust, whose memory nobody writes while the function runs, so that the stores
//! between them do not matter. What its address is computed from moves with it, and follows from its operands alone.

use crate::llvm::{self, BasicBlock, Context, FunctionValue, InstructionOpcode as Op, InstructionValue};

/// Loads that are moved in a block: each keeps a register until it is used.
const MOST_LOADS: usize = 8;

/// Moves the loads of a function.
pub fn load<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) {
    for block in function.get_basic_blocks() {
        let instructions: Vec<_> = block.get_instructions().collect();
        let Some(first) = instructions.iter().position(|from| from.get_opcode() == Op::FDiv) else { continue };
        let place = instructions[first];
        let rest = instructions[first + 1..].iter().take_while(|from| !ends_search(**from));
        let loads = rest.filter(|from| llvm::is_plain_load(**from)).take(MOST_LOADS);
        let early = |block: BasicBlock<'ctx>| -> Vec<_> {
            block.get_instructions().take_while(|from| *from != place).collect()
        };
        let address = |load: &InstructionValue<'ctx>| load.get_operand(0)?.value();
        let is_shared = |load| address(load).is_some_and(|address| llvm::is_of_shared_reference(function, address));
        for load in loads.filter(|load| is_shared(load)) {
            let mut moved = Vec::new();
            if needs(*load, &early(block), &mut moved) {
                llvm::move_before(context, &moved, place);
            }
        }
    }
}

/// Finds what must move for an instruction to stand before the place, itself included, in order; none if it cannot.
fn needs<'ctx>(
    instruction: InstructionValue<'ctx>,
    early: &[InstructionValue<'ctx>],
    moved: &mut Vec<InstructionValue<'ctx>>,
) -> bool {
    for (_, operand) in llvm::value_operands(instruction) {
        let Some(from) = llvm::instruction_of(operand) else { continue };
        if from.get_parent() != instruction.get_parent() || early.contains(&from) || moved.contains(&from) {
            continue;
        }
        let is_address = llvm::is_pure(from) && !matches!(from.get_opcode(), Op::FDiv | Op::Call);
        if !is_address || !needs(from, early, moved) {
            return false;
        }
    }
    moved.push(instruction);
    true
}

/// Whether an instruction may end the thread, as far as is known here.
fn ends_search(instruction: InstructionValue<'_>) -> bool {
    let goes_on = |callee: FunctionValue<'_>| {
        let name = callee.get_name().to_string_lossy().into_owned();
        name.starts_with("llvm.") && !name.contains("trap") && !name.contains("exit")
    };
    instruction.get_opcode() == Op::Call && !llvm::called_function(instruction).is_some_and(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// What stands in the function, by its first words, after the loads were moved.
    fn order(from: &str, between: &str, address: &str) -> Vec<String> {
        let context = Context::create();
        let text = format!(
            "declare void @anything()
            declare void @llvm.assume(i1)
            define void @f(ptr {from} %from, ptr %to, float %x, float %sum, i64 %i) {{
              %a = fdiv float %x, %sum
              store float %a, ptr %to
              {between}
              %next = add i64 %i, 1
              {address}
              %y = load float, ptr %at
              %b = fdiv float %y, %sum
              store float %b, ptr %to
              ret void
            }}"
        );
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        load(&context, function);
        module.verify().unwrap();
        let text = function.print_to_string().to_string();
        let words = text.lines().skip(1).filter_map(|line| line.split_whitespace().next().map(Into::into));
        words.filter(|word| word != "}").collect()
    }

    const SHARED: &str = "noalias readonly";
    const AT: &str = "%at = getelementptr float, ptr %from, i64 %next";

    #[test]
    fn a_load_stands_before_the_division_before_it() {
        let expected = ["%next", "%at", "%y", "%a", "store", "%b", "store", "ret"];
        assert_eq!(order(SHARED, "", AT), expected);
        let through = "%row = getelementptr float, ptr %from, i64 8\n %at = getelementptr float, ptr %row, i64 %next";
        assert_eq!(order(SHARED, "", through)[..4], ["%row", "%next", "%at", "%y"]);
        let global = "%global = addrspacecast ptr %from to ptr addrspace(1)
            %there = getelementptr float, ptr addrspace(1) %global, i64 %next
            %at = addrspacecast ptr addrspace(1) %there to ptr";
        assert_eq!(order(SHARED, "", global)[..4], ["%global", "%next", "%there", "%at"]);
    }

    #[test]
    fn others_stay_where_they_are() {
        for (from, between, address) in [
            // Someone may write what is read.
            ("noalias", "", AT),
            ("readonly", "", AT),
            (SHARED, "", "%at = getelementptr float, ptr %to, i64 %next"),
            // The thread may end before.
            (SHARED, "call void @anything()", AT),
            // Where it is read is told by the division.
            (SHARED, "", "%cut = fptoui float %a to i64\n %at = getelementptr float, ptr %from, i64 %cut"),
        ] {
            assert_eq!(order(from, between, address)[..2], ["%a", "store"], "{from}, {between}, {address}");
        }
    }
}
