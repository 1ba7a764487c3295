//! Divides, and takes roots, only where the result is wanted.
//!
//! ```text
//! before: %q = fdiv float %x, %r
//!         %s = call float @llvm.sqrt.f32(float %q)
//!         %v = select i1 (fcmp ogt float %r, 0.0), float %s, float -1.0
//! after:  br i1 (fcmp ogt float %r, 0.0), label %then, label %rest
//!         then: %q = fdiv float %x, %r
//!               %s = call float @llvm.sqrt.f32(float %q)
//!               br label %rest
//!         rest: %v = phi float [ %s, %then ], [ -1.0, %before ]
//! ```
//!
//! LLVM makes a choice of a branch around a division and a root, which it takes for four instructions. In IEEE 754's way they
//! are twenty, and a hundred for what the fast way does not take: a divisor of 0, a root of a negative number, which is just
//! what `if r > 0.0` keeps away from them. Then every warp with one such element computes its quotient of it, to throw
//! that away. It costs nothing more to branch, since ptxas branches at every division.
//!
//! **Why it is right.** What moves computes from its operands alone and is used by nothing else, and the choice looks at it
//! only where the condition holds. A condition that means nothing is some number first: `select` may be asked with such a one,
//! a branch may not.

use crate::hash::QuickSet;
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, Use,
};

/// LLVM's functions of floats that compute from their operands.
const FUNCTIONS: [&str; 12] = [
    "llvm.sqrt.",
    "llvm.fma.",
    "llvm.fabs.",
    "llvm.copysign.",
    "llvm.minnum.",
    "llvm.maxnum.",
    "llvm.minimumnum.",
    "llvm.maximumnum.",
    "llvm.floor.",
    "llvm.ceil.",
    "llvm.trunc.",
    "llvm.rint.",
];

/// Puts a branch around what is chosen so, in all of a function.
pub fn branch<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    for block in function.get_basic_blocks() {
        let mut block = block;
        while let Some(choice) = block.get_instructions().find_map(Choice::of) {
            block = choice.branch(context, block)?;
        }
    }
    Ok(())
}

/// A choice of something that takes long.
struct Choice<'ctx> {
    select: InstructionValue<'ctx>,
    /// Whether that is chosen where the condition holds.
    first: bool,
    /// What computes it, and nothing else; in order.
    work: Vec<InstructionValue<'ctx>>,
}

impl<'ctx> Choice<'ctx> {
    fn of(select: InstructionValue<'ctx>) -> Option<Self> {
        if select.get_opcode() != Op::Select || !matches!(llvm::operand(select, 0)?, BasicValueEnum::IntValue(_)) {
            return None;
        }
        [true, false]
            .into_iter()
            .find_map(|first| Some(Self { select, first, work: work(select, if first { 1 } else { 2 })? }))
    }

    /// Writes the branch; returns the block behind it.
    fn branch(&self, context: &'ctx Context, block: BasicBlock<'ctx>) -> Result<BasicBlock<'ctx>, BuilderError> {
        let builder = context.create_builder();
        let then = context.insert_basic_block_after(block, "");
        let rest = context.insert_basic_block_after(then, "");
        let behind: Vec<_> = block.get_instructions().skip_while(|from| *from != self.select).collect();
        for to in block.get_terminator().map(llvm::block_operands).unwrap_or_default() {
            llvm::replace_predecessor(to, block, rest, |value| value);
        }
        // Only now, for a loop of one block has new phis.
        let [condition, one, other] =
            [0, 1, 2].map(|at| llvm::operand(self.select, at).expect("a choice has three operands"));
        llvm::move_to_end(context, &behind, rest);
        llvm::move_to_end(context, &self.work, then);
        builder.position_at_end(then);
        builder.build_unconditional_branch(rest)?;
        builder.position_at_end(block);
        let condition = llvm::build_freeze(&builder, condition.into_int_value());
        let (yes, no) = if self.first { (then, rest) } else { (rest, then) };
        builder.build_conditional_branch(condition, yes, no)?;
        builder.position_before(&self.select);
        let phi = builder.build_phi(one.get_type(), "")?;
        let (wanted, else_) = if self.first { (one, other) } else { (other, one) };
        phi.add_incoming(&[(&wanted, then), (&else_, block)]);
        llvm::replace_uses(self.select, phi.as_basic_value());
        self.select.erase_from_basic_block();
        Ok(rest)
    }
}

/// What computes an operand of a choice in its block, and is used by nothing else, where that takes long; in order.
///
/// It is looked for from the choice up, for a block of thousands of instructions may have hundreds of choices.
fn work<'ctx>(select: InstructionValue<'ctx>, at: u32) -> Option<Vec<InstructionValue<'ctx>>> {
    let block = select.get_parent()?;
    let in_block =
        |operand: BasicValueEnum<'ctx>| operand.as_instruction_value().filter(|from| from.get_parent() == Some(block));
    let mut found = QuickSet::default();
    let mut next: Vec<_> = llvm::operand(select, at).and_then(in_block).into_iter().collect();
    while let Some(from) = next.pop() {
        let is_wanted = |user: Use<'ctx>| match user {
            Use::Instruction(user) if user == select => {
                let value = llvm::result(from);
                llvm::value_operands(select).all(|(index, operand)| operand != value || index == at)
            }
            Use::Instruction(user) => found.contains(&user),
            Use::Global(_) => false,
        };
        // What is used twice comes again with its other user.
        if computes(from) && llvm::uses(&from).into_iter().all(is_wanted) && found.insert(from) {
            next.extend(llvm::value_operands(from).filter_map(|(_, operand)| in_block(operand)));
        }
    }
    if !found.iter().any(|from| is_long(*from)) {
        return None;
    }
    Some(block.get_instructions().filter(|from| found.contains(from)).collect())
}

fn computes(from: InstructionValue<'_>) -> bool {
    llvm::is_pure(from) || llvm::is_promised_pure(from) || llvm::calls(from, &FUNCTIONS)
}

/// Whether it is a quotient or a root in IEEE 754's way, for which a GPU has no instruction.
fn is_long(from: InstructionValue<'_>) -> bool {
    (from.get_opcode() == Op::FDiv || llvm::calls(from, &["llvm.sqrt."])) && !llvm::float_flags(from).approximate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function that chooses `%v`, after [`branch`].
    fn branched(work: &str, choice: &str, more: &str) -> String {
        let context = Context::create();
        let text = format!(
            "declare float @llvm.sqrt.f32(float)
            define float @f(float %x, float %r, i1 %c, ptr %to) {{
            entry: br label %loop
            loop: %sum = phi float [ 0.0, %entry ], [ %next, %loop ]
              {work}
              %v = {choice}
              {more}
              %next = fadd float %sum, %v
              %again = fcmp olt float %next, 9.0
              br i1 %again, label %loop, label %end
            end: ret float %next
            }}"
        );
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        branch(&context, function).unwrap();
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const QUOTIENT: &str = "%q = fdiv float %x, %sum";
    const ROOT: &str = "%q = fdiv float %x, %sum\n %s = call float @llvm.sqrt.f32(float %q)\n %t = fadd float %s, 1.0";

    #[test]
    fn a_quotient_is_computed_where_it_is_wanted() {
        let ir = branched(QUOTIENT, "select i1 %c, float %q, float 1.0", "");
        assert!(!ir.contains("select") && ir.contains("freeze i1 %c"), "{ir}");
        let (_, then) = ir.split_once("%q = fdiv").expect("it is there");
        assert!(then.trim_start_matches(|c| c != '\n').trim_start().starts_with("br label"), "{ir}");
        // The other way round, and with what is around it.
        let ir = branched(ROOT, "select i1 %c, float %sum, float %t", "");
        assert!(!ir.contains("select"), "{ir}");
        assert_eq!(ir.matches("br i1").count(), 2, "{ir}");
        // What has two users, which are both not wanted elsewhere.
        let twice = "%q = fdiv float %x, %sum\n %a = fadd float %q, 1.0\n %b = fmul float %q, %a";
        let ir = branched(twice, "select i1 %c, float %b, float 1.0", "");
        let (before, then) = ir.split_once("%q = fdiv").expect("it is there");
        let (then, _) = then.split_once("br label").expect("it ends");
        assert!(before.contains("freeze i1 %c") && then.contains("%a = ") && then.contains("%b = "), "{ir}");
    }

    #[test]
    fn what_others_use_or_is_short_stays() {
        for (work, choice, more) in [
            (QUOTIENT, "select i1 %c, float %q, float 1.0", "store float %q, ptr %to"),
            (QUOTIENT, "select i1 %c, float %q, float %q", ""),
            ("%q = fdiv afn float %x, %sum", "select i1 %c, float %q, float 1.0", ""),
            ("%q = fmul float %x, %sum", "select i1 %c, float %q, float 1.0", ""),
            ("%q = fdiv float %x, %sum\n %d = fcmp olt float %q, 1.0", "select i1 %d, float %q, float 1.0", ""),
        ] {
            let ir = branched(work, choice, more);
            assert!(ir.contains("select") && ir.matches("br i1").count() == 1, "{ir}");
        }
    }
}
