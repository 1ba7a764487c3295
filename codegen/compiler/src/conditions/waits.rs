//! Chooses behind a load, not before it, where the other value is on its way from memory, too.
//!
//! ```text
//! before: head:  %here = load float, ptr %p
//!                br i1 %inside, label %next, label %end
//!         next:  %there = load float, ptr %q
//!                br label %end
//!         end:   %x = phi float [ %there, %next ], [ %here, %head ]
//! after:  end:   %loaded = phi float [ %there, %next ], [ 0.0, %head ]
//!                %x = select i1 %inside, float %loaded, float %here
//! ```
//!
//! ptxas writes the phi as a move before the predicated load, and the move waits for the first load: a thread that looks at
//! its six neighbours, and takes its own number where one is missing, waited twice as long. The choice waits where the number is
//! used. It costs an instruction, so it is written only where the other value was loaded shortly before.
//!
//! **Why it is right.** The condition is the branch's own: where it holds, the phi has what was loaded, and else nobody looks at
//! it.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue,
};
use crate::loops::{self, Graph};

/// Blocks between both loads.
const MOST_BLOCKS: usize = 12;

/// Instructions from a load to what is handed on of it, or to a condition.
const MOST_STEPS: u32 = 4;

/// Instructions behind a branch: more ptxas does not predicate.
const MOST_INSTRUCTIONS: usize = 12;

/// A value that is loaded behind a branch, or another one.
struct Loaded<'ctx> {
    branch: InstructionValue<'ctx>,
    loads_if: bool,
    inner: BasicBlock<'ctx>,
    phi: InstructionValue<'ctx>,
}

impl<'ctx> Loaded<'ctx> {
    /// What is loaded, and the other value.
    fn values(&self) -> Option<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>)> {
        let head = self.branch.get_parent()?;
        Some((llvm::incoming_from(self.phi, self.inner)?, llvm::incoming_from(self.phi, head)?))
    }
}

/// Does so in a function.
pub fn choose<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let found: Vec<_> = function.get_basic_blocks().into_iter().flat_map(loaded).collect();
    if found.is_empty() {
        return Ok(());
    }
    let graph = Graph::of(function);
    let builder = context.create_builder();
    for one in found.into_iter().filter(|one| is_on_its_way(&graph, one)) {
        write(&builder, &one)?;
    }
    Ok(())
}

/// What is loaded behind a block's branch and nowhere else.
fn loaded(head: BasicBlock<'_>) -> Vec<Loaded<'_>> {
    let Some(branch) = head.get_terminator() else { return Vec::new() };
    let Some((then, other)) = llvm::branch_targets(branch) else { return Vec::new() };
    let goes_to = |inner: BasicBlock<'_>, end: BasicBlock<'_>| {
        let jump = inner.get_terminator();
        llvm::predecessors(inner) == [head]
            && jump.is_some_and(|jump| {
                llvm::block_operands(jump).first() == Some(&end) && llvm::branch_targets(jump).is_none()
            })
    };
    let (inner, end, loads_if) = if goes_to(then, other) { (then, other, true) } else { (other, then, false) };
    let is_quiet =
        |from: InstructionValue<'_>| llvm::is_pure(from) || llvm::is_plain_load(from) || from.is_terminator();
    let is_triangle = goes_to(inner, end) && llvm::predecessors(end).len() == 2;
    if !is_triangle || inner.get_instructions().count() > MOST_INSTRUCTIONS || !inner.get_instructions().all(is_quiet) {
        return Vec::new();
    }
    let of_phi = |phi| {
        let one = Loaded { branch, loads_if, inner, phi };
        let loaded = llvm::instruction_of(one.values()?.0).filter(|from| from.get_parent() == Some(inner))?;
        comes_of_load(loaded).is_some().then_some(one)
    };
    llvm::phis(end).filter_map(of_phi).collect()
}

/// The load that a value is made of by little arithmetic.
fn comes_of_load(value: InstructionValue<'_>) -> Option<InstructionValue<'_>> {
    let mut from = value;
    for _ in 0..MOST_STEPS {
        if llvm::is_plain_load(from) {
            return Some(from).filter(|from| takes_long(*from));
        }
        if !llvm::is_pure(from) {
            return None;
        }
        from = llvm::value_operands(from).find_map(|(_, operand)| llvm::instruction_of(operand))?;
    }
    None
}

/// Whether a load may be of global memory: others do not take so long.
fn takes_long(load: InstructionValue<'_>) -> bool {
    let mut address = load.get_operand(0).and_then(|address| address.value());
    let space = match address {
        Some(BasicValueEnum::PointerValue(address)) => llvm::address_space(address),
        _ => return false,
    };
    for _ in 0..MOST_STEPS {
        match address.and_then(llvm::instruction_of) {
            Some(from) if matches!(from.get_opcode(), Op::GetElementPtr | Op::AddrSpaceCast) => {
                address = from.get_operand(0).and_then(|base| base.value());
            }
            _ => break,
        }
    }
    let is_variable = address.and_then(llvm::instruction_of).is_some_and(|from| from.get_opcode() == Op::Alloca);
    !is_variable && [0, u32::from(llvm::GLOBAL_SPACE)].contains(&space)
}

/// Whether the other value was loaded shortly before, in the same round of a loop, and nothing has waited for it.
fn is_on_its_way<'ctx>(graph: &Graph<'ctx>, one: &Loaded<'ctx>) -> bool {
    let other = one.values().and_then(|(_, other)| llvm::instruction_of(other));
    let Some(load) = other.and_then(comes_of_load) else { return false };
    let (Some(before), Some(mut at)) = (load.get_parent(), one.branch.get_parent()) else { return false };
    for _ in 0..MOST_BLOCKS {
        let begins_round = || llvm::predecessors(at).into_iter().any(|from| graph.is_reached_by_way_of(from, at));
        if at.get_terminator().is_some_and(|end| depends(end, load, MOST_STEPS)) {
            return false;
        }
        if at == before {
            return true;
        }
        if begins_round() || at.get_instructions().any(loops::is_convergent) {
            return false;
        }
        let Some(above) = graph.dominator(at) else { return false };
        at = above;
    }
    false
}

/// Whether a value is computed from that of a load by little arithmetic.
fn depends<'ctx>(value: InstructionValue<'ctx>, load: InstructionValue<'ctx>, steps: u32) -> bool {
    let mut operands = llvm::value_operands(value).filter_map(|(_, operand)| llvm::instruction_of(operand));
    steps > 0 && operands.any(|from| from == load || llvm::is_pure(from) && depends(from, load, steps - 1))
}

fn write<'ctx>(builder: &Builder<'ctx>, one: &Loaded<'ctx>) -> Result<(), BuilderError> {
    let (Some(condition), Some(head)) = (llvm::int_operand(one.branch, 0), one.branch.get_parent()) else {
        return Ok(());
    };
    let Some(place) =
        one.phi.get_parent().and_then(|end| end.get_instructions().find(|from| from.get_opcode() != Op::Phi))
    else {
        return Ok(());
    };
    let Some((loaded, own)) = one.values() else { return Ok(()) };
    builder.position_before(&one.phi);
    let phi = builder.build_phi(loaded.get_type(), "")?;
    phi.add_incoming(&[(&loaded, one.inner), (&loaded.get_type().const_zero(), head)]);
    builder.position_before(&place);
    let phi = phi.as_basic_value();
    let (then, other) = if one.loads_if { (phi, own) } else { (own, phi) };
    let chosen = builder.build_select(condition, then, other, "")?;
    llvm::replace_uses(one.phi, chosen);
    one.phi.erase_from_basic_block();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function with a branch to a load, after [`choose`].
    fn chosen(before: &str, head: &str, inner: &str, end: &str) -> String {
        let text = format!(
            "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
            define float @f(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(3) %tile, i1 %inside, float %given, i32 %n) {{
            entry: %local = alloca float
              %here = load float, ptr addrspace(1) %p
              {before}
              br label %head
            head: {head}
            inner: {inner}
              br label %end
            end: {end}
            out: ret float 0.0
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap();
        let function = module.get_function("f").unwrap();
        choose(&context, function).unwrap();
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const HEAD: &str = "br i1 %inside, label %inner, label %end";
    const LOAD: &str = "%there = load float, ptr addrspace(1) %q";
    const END: &str = "%x = phi float [ %there, %inner ], [ %here, %head ]\n ret float %x";

    #[test]
    fn both_loads_are_on_their_way() {
        let ir = chosen("", HEAD, LOAD, END);
        assert!(ir.contains("phi float [ %there, %inner ], [ 0.000000e+00, %head ]"), "{ir}");
        assert!(ir.contains("select i1 %inside, float %0, float %here"), "{ir}");
        let other = chosen("", "br i1 %inside, label %end, label %inner", LOAD, END);
        assert!(other.contains("select i1 %inside, float %here, float %0"), "{other}");
        // What is made of them, too.
        let of_byte = "%byte = load i8, ptr addrspace(1) %q\n %there = uitofp i8 %byte to float";
        assert!(chosen("", HEAD, of_byte, END).contains("select"));
    }

    #[test]
    fn others_stay() {
        let meet = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";
        let given = END.replace("%here", "%given");
        let asks = "%more = fcmp olt float %here, 1.0\n br i1 %more, label %inner, label %end";
        let rounds = "%i = phi i32 [ 0, %entry ], [ %next, %end ]\n br i1 %inside, label %inner, label %end";
        let round = "%x = phi float [ %there, %inner ], [ %here, %head ]
            %next = add i32 %i, 1\n %go = icmp ult i32 %next, %n\n store float %x, ptr addrspace(1) %p
            br i1 %go, label %head, label %out";
        for (head, inner, end, why) in [
            (HEAD, LOAD, &*given, "nothing is loaded for it"),
            (asks, LOAD, END, "the branch waits for it"),
            (&*format!("{meet}\n{HEAD}"), LOAD, END, "threads wait for each other"),
            (HEAD, "%there = fadd float %given, 1.0", END, "nothing is loaded behind the branch"),
            (HEAD, "%there = load float, ptr addrspace(3) %tile", END, "that does not take long"),
            (HEAD, "%there = load float, ptr %local", END, "nor does that"),
            (
                HEAD,
                "store float 2.0, ptr addrspace(1) %p\n %there = load float, ptr addrspace(1) %q",
                END,
                "a store is no load",
            ),
            (rounds, LOAD, round, "it is loaded once for all rounds"),
        ] {
            let ir = chosen("", head, inner, end);
            assert!(!ir.contains("select"), "{why}: {ir}");
        }
    }
}
