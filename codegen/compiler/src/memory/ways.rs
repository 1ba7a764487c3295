//! Stores to one of several local variables where control comes from, instead of where its ways meet.
//!
//! ```text
//! before: some:  %a = …
//!                br label %meet
//!         meet:  %to = phi ptr [ %first, %none ], [ %second, %some ]         ; both are `alloca`
//!                %what = phi ptr [ null, %none ], [ %a, %some ]
//!                store ptr %what, ptr %to
//! after:  none:  store ptr null, ptr %first
//!                br label %meet
//!         some:  %a = …
//!                store ptr %a, ptr %second
//!                br label %meet
//! ```
//!
//! LLVM makes one store of two that end their blocks, unless it is one to a local variable: that would keep the variable in
//! memory. In a function that writes its result through a pointer it does not see that yet: `next` of `zip` is one, with
//! stores to the two parts of an `Option<(&A, &B)>`. Inlined, each part is a variable.
//!
//! **Why it is right.** The store is the first thing that the block does, and each way stores what the phis say of it, to
//! where they say.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue,
};

/// How many steps an address is from the variable that it is in.
const MOST_STEPS: usize = 4;

/// Does so in a function.
pub fn store<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    for block in function.get_basic_blocks() {
        while let Some(store) = first_store(block) {
            store_before(context, &builder, block, store)?;
        }
    }
    Ok(())
}

/// The store at the beginning of a block whose address is another one on each way, that of a local variable on one.
fn first_store(block: BasicBlock<'_>) -> Option<InstructionValue<'_>> {
    let is_first = |from: &InstructionValue<'_>| from.get_opcode() == Op::Phi || llvm::is_pure(*from);
    let store = block.get_instructions().find(|from| !is_first(from)).filter(|from| llvm::is_plain_store(*from))?;
    let address = llvm::operand(store, 1).and_then(llvm::instruction_of).filter(|from| is_phi_of(*from, block))?;
    let is_known = llvm::operand(store, 0).is_some_and(|value| {
        llvm::instruction_of(value).is_none_or(|from| from.get_parent() != Some(block) || is_phi_of(from, block))
    });
    let is_of_variable = |(address, _): (BasicValueEnum<'_>, _)| is_in_variable(address);
    let can_store = |from: BasicBlock<'_>| {
        from.get_terminator().is_some_and(|jump| matches!(jump.get_opcode(), Op::Br | Op::Switch))
    };
    let is_possible = is_known && llvm::predecessors(block).into_iter().all(can_store);
    (is_possible && llvm::incoming(address).into_iter().any(is_of_variable)).then_some(store)
}

/// Whether an address is within a local variable.
fn is_in_variable(address: BasicValueEnum<'_>) -> bool {
    let mut from = llvm::instruction_of(address);
    for _ in 0..MOST_STEPS {
        match from {
            Some(step) if step.get_opcode() == Op::GetElementPtr => {
                from = llvm::operand(step, 0).and_then(llvm::instruction_of);
            }
            _ => break,
        }
    }
    from.is_some_and(|from| from.get_opcode() == Op::Alloca)
}

fn store_before<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    block: BasicBlock<'ctx>,
    store: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let align = store.get_alignment();
    for before in llvm::predecessors(block) {
        let Some(jump) = before.get_terminator() else { continue };
        let mut way = before;
        if llvm::block_operands(jump) == [block] {
            builder.position_before(&jump);
        } else {
            way = context.insert_basic_block_after(before, "");
            come_by(builder, block, before, way)?;
            llvm::retarget(jump, block, way);
            builder.position_at_end(way);
            let jump = builder.build_unconditional_branch(block)?;
            builder.position_before(&jump);
        }
        let on_way = |index| {
            let value = llvm::operand(store, index)?;
            match llvm::instruction_of(value).filter(|from| is_phi_of(*from, block)) {
                Some(phi) => llvm::incoming_from(phi, way),
                None => Some(value),
            }
        };
        let (Some(value), Some(BasicValueEnum::PointerValue(address))) = (on_way(0), on_way(1)) else { continue };
        let stored = builder.build_store(address, value)?;
        if let Ok(align) = align {
            stored.set_alignment(align).expect("an alignment is a power of two");
        }
    }
    store.erase_from_basic_block();
    Ok(())
}

/// Has the phis of a block take from `way` what they took from `before`.
fn come_by<'ctx>(
    builder: &Builder<'ctx>,
    block: BasicBlock<'ctx>,
    before: BasicBlock<'ctx>,
    way: BasicBlock<'ctx>,
) -> Result<(), BuilderError> {
    for phi in llvm::phis(block).collect::<Vec<_>>() {
        let Some(value) = llvm::incoming_from(phi, before) else { continue };
        builder.position_before(&phi);
        let new = builder.build_phi(value.get_type(), "")?;
        for (value, from) in llvm::incoming(phi).into_iter().filter(|(_, from)| *from != before) {
            new.add_incoming(&[(&value, from)]);
        }
        new.add_incoming(&[(&value, way)]);
        llvm::replace_uses(phi, new.as_basic_value());
        phi.erase_from_basic_block();
    }
    Ok(())
}

fn is_phi_of(from: InstructionValue<'_>, block: BasicBlock<'_>) -> bool {
    from.get_opcode() == Op::Phi && from.get_parent() == Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function after [`store`], and after LLVM has made values of its variables.
    fn stored(blocks: &str) -> (String, String) {
        let text = format!(
            "define i64 @f(i1 %c, i64 %n, ptr %out) {{
            entry: %a = alloca i64
              %b = alloca [2 x i64]
              %second = getelementptr i8, ptr %b, i64 8
              store i64 0, ptr %a
              store i64 0, ptr %second
              {blocks}
            end: %x = load i64, ptr %a
              %y = load i64, ptr %second
              %z = sub i64 %x, %y
              ret i64 %z
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap();
        let function = module.get_function("f").unwrap();
        store(&context, function).unwrap();
        module.verify().unwrap();
        let ir = function.print_to_string().to_string();
        llvm::run_passes_for_any(&module, "sroa").unwrap();
        (ir, function.print_to_string().to_string())
    }

    const TWO: &str = "br i1 %c, label %some, label %meet
        some: br label %meet
        meet: %to = phi ptr [ %a, %entry ], [ %second, %some ]
          %what = phi i64 [ 7, %entry ], [ %n, %some ]";

    #[test]
    fn each_way_stores_its_own() {
        let (ir, values) = stored(&format!("{TWO}\n store i64 %what, ptr %to, align 4\n br label %end"));
        assert!(
            ir.contains("store i64 7, ptr %a, align 4") && ir.contains("store i64 %n, ptr %second, align 4"),
            "{ir}"
        );
        assert!(!values.contains("alloca"), "{values}");
    }

    #[test]
    fn a_block_that_comes_from_itself_stores_what_it_had() {
        let (ir, values) = stored(
            "br label %loop
            loop: %to = phi ptr [ %a, %entry ], [ %second, %loop ]
              %what = phi i64 [ 7, %entry ], [ %before, %loop ]
              %before = phi i64 [ %n, %entry ], [ %next, %loop ]
              store i64 %what, ptr %to
              %next = add i64 %before, 1
              %more = icmp ult i64 %next, 9
              br i1 %more, label %loop, label %end",
        );
        let [own] = ir
            .lines()
            .filter(|line| line.contains("ptr %second"))
            .filter(|line| line.contains("store i64 %"))
            .collect::<Vec<_>>()[..]
        else {
            panic!("{ir}");
        };
        let value = own.trim().split([' ', ',']).nth(2).unwrap();
        assert!(ir.contains(&format!("{value} = phi i64 [ %n, %entry ]")), "{ir}");
        assert!(!values.contains("alloca"), "{values}");
    }

    #[test]
    fn a_switch_goes_by_one_way() {
        let (ir, values) = stored(
            "switch i64 %n, label %end [i64 1, label %meet i64 2, label %meet i64 3, label %some]
            some: br label %meet
            meet: %to = phi ptr [ %a, %entry ], [ %a, %entry ], [ %second, %some ]
              store i64 %n, ptr %to
              br label %end",
        );
        assert_eq!(ir.matches("store i64 %n, ptr %a").count(), 1, "{ir}");
        assert!(!values.contains("alloca"), "{values}");
    }

    #[test]
    fn others_stay() {
        for (store, why) in [
            ("store volatile i64 %what, ptr %to", "it is volatile"),
            ("store i64 %n, ptr %out\n store i64 %what, ptr %to", "another may be to the same place"),
            ("%k = add i64 %what, 1\n store i64 %k, ptr %to", "it is computed there"),
        ] {
            let (ir, _) = stored(&format!("{TWO}\n {store}\n br label %end"));
            assert!(ir.contains("ptr %to"), "{why}: {ir}");
        }
        let (ir, _) = stored(&format!(
            "{}\n store i64 %what, ptr %to\n br label %end",
            TWO.replace("%a", "%out").replace("%second", "%out")
        ));
        assert!(ir.contains("ptr %to"), "no variable: {ir}");
    }
}
