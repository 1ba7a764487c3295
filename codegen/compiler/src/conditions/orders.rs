//! The order of two numbers as comparisons rather than a number.
//!
//! ```text
//! before: a:    %order = call i8 @llvm.ucmp.i8.i32(i32 %x, i32 %y)
//!               switch i8 %order, label %never [i8 -1, label %less  i8 0, label %equal  i8 1, label %greater]
//! after:  a:    br i1 (icmp ult i32 %x, %y), label %less, label %next
//!         next: br i1 (icmp eq i32 %x, %y), label %equal, label %greater
//! ```
//!
//! So rustc writes `match x.cmp(&y)`. A GPU has no instruction for the number: it is two comparisons and two choices, and then
//! each branch compares the number again, twelve instructions for four. Last of all, because what only chooses values should
//! have no branch at all, which is for a stage before (`cases`).
//!
//! **Why it is right.** The order is -1, 0 or 1, and is it exactly where %x is less, equal or greater. It means nothing only where
//! %x or %y does, and so do both comparisons then; neither a `switch` nor a `br` may be by that. The second branch is reached
//! by nothing but the first.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionValue, IntPredicate,
    IntValue,
};

use super::steps::is_never;

/// The order of two numbers, which is -1, 0 or 1.
pub struct Order<'ctx> {
    left: IntValue<'ctx>,
    right: IntValue<'ctx>,
    is_signed: bool,
    /// -1, of the order's type.
    less: u64,
}

/// A switch by an order.
struct Switch<'ctx> {
    switch: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    order: Order<'ctx>,
    /// Where it goes if the left one is less, equal or greater: three blocks, to each of which it jumps once.
    targets: [BasicBlock<'ctx>; 3],
}

/// Writes switches by orders as branches, and says whether there was one.
pub fn part<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let mut any = false;
    for block in function.get_basic_blocks() {
        // One after the other, because the numbers of the next one may be phis that this one writes anew.
        if let Some(switch) = Switch::of(block) {
            switch.part(context)?;
            any = true;
        }
    }
    Ok(any)
}

impl<'ctx> Order<'ctx> {
    pub fn of(value: IntValue<'ctx>) -> Option<Self> {
        let call = llvm::instruction_of(value.into())?;
        let is_signed = llvm::calls(call, &["llvm.scmp."]);
        if !is_signed && !llvm::calls(call, &["llvm.ucmp."]) {
            return None;
        }
        let number = |index| match call.get_operand(index)?.value()? {
            BasicValueEnum::IntValue(number) => Some(number),
            _ => None,
        };
        let less = u64::MAX >> 64_u32.checked_sub(value.get_type().get_bit_width())?;
        Some(Self { left: number(0)?, right: number(1)?, is_signed, less })
    }

    /// Writes whether it is one of the numbers of which `is` is said.
    pub fn is_one_of(&self, builder: &Builder<'ctx>, is: impl Fn(u64) -> bool) -> Result<IntValue<'ctx>, BuilderError> {
        use IntPredicate::{EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT};
        let either = |signed, unsigned| if self.is_signed { signed } else { unsigned };
        let predicate = match self.numbers().map(is) {
            [true, false, false] => either(SLT, ULT),
            [true, true, false] => either(SLE, ULE),
            [false, true, false] => EQ,
            [true, false, true] => NE,
            [false, true, true] => either(SGE, UGE),
            [false, false, true] => either(SGT, UGT),
            [always, ..] => {
                let condition = self.left.get_type().get_context().bool_type();
                return Ok(condition.const_int(u64::from(always), false));
            }
        };
        builder.build_int_compare(predicate, self.left, self.right, "")
    }

    /// -1, 0 and 1.
    const fn numbers(&self) -> [u64; 3] {
        [self.less, 0, 1]
    }
}

impl<'ctx> Switch<'ctx> {
    fn of(block: BasicBlock<'ctx>) -> Option<Self> {
        let switch = block.get_terminator()?;
        let (rest, cases) = llvm::switch_targets(switch)?;
        let BasicValueEnum::IntValue(of) = switch.get_operand(0)?.value()? else { return None };
        let order = Order::of(of)?;
        let target = |number| {
            let is_its = |(case, _): &&(IntValue<'ctx>, _)| case.get_zero_extended_constant() == Some(number);
            cases.iter().find(is_its).map_or(rest, |(_, target)| *target)
        };
        let targets @ [less, equal, greater] = order.numbers().map(target);
        // The phis of a block have an entry for each jump to it.
        let is_whole = if is_never(rest) { cases.len() == 3 } else { cases.len() == 2 && targets.contains(&rest) };
        let are_three = less != equal && less != greater && equal != greater;
        (is_whole && are_three && !targets.into_iter().any(is_never)).then_some(Self { switch, block, order, targets })
    }

    fn part(&self, context: &'ctx Context) -> Result<(), BuilderError> {
        let [less, equal, greater] = self.targets;
        let next = context.insert_basic_block_after(self.block, "");
        let builder = context.create_builder();
        builder.position_before(&self.switch);
        let is_less = self.order.is_one_of(&builder, |number| number == self.order.less)?;
        builder.build_conditional_branch(is_less, less, next)?;
        builder.position_at_end(next);
        let is_equal = self.order.is_one_of(&builder, |number| number == 0)?;
        builder.build_conditional_branch(is_equal, equal, greater)?;
        for target in [equal, greater] {
            llvm::replace_predecessor(target, self.block, next, |value| value);
        }
        self.switch.erase_from_basic_block();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::part;
    use crate::llvm::{AnyValue, Context, parse_ir};

    /// What becomes of a switch by an order, or none if it stays.
    fn parted(compare: &str, rest: &str, cases: &str) -> Option<String> {
        let context = Context::create();
        let text = format!(
            "declare i8 @llvm.ucmp.i8.i32(i32, i32)
            declare i8 @llvm.scmp.i8.i32(i32, i32)
            define i32 @f(i32 %x, i32 %y, i8 %z, ptr %to) {{
            a: %order = {compare}
              switch i8 %order, label %{rest} [{cases}]
            less: %l = phi i32 [ 1, %a ]
              store i32 %l, ptr %to
              br label %end
            equal: store i32 2, ptr %to
              br label %end
            greater: store i32 3, ptr %to
              br label %end
            end: %e = phi i32 [ 4, %less ], [ 5, %equal ], [ 6, %greater ]
              ret i32 %e
            never: unreachable
            }}"
        );
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let function = module.get_function("f").unwrap();
        let any = part(&context, function).unwrap();
        module.verify().unwrap();
        any.then(|| function.print_to_string().to_string())
    }

    const UNSIGNED: &str = "call i8 @llvm.ucmp.i8.i32(i32 %x, i32 %y)";
    const ALL: &str = "i8 -1, label %less i8 0, label %equal i8 1, label %greater";

    #[test]
    fn a_match_of_an_order_is_two_branches() {
        for (compare, predicate) in [(UNSIGNED, "ult"), ("call i8 @llvm.scmp.i8.i32(i32 %x, i32 %y)", "slt")] {
            let ir = parted(compare, "never", ALL).unwrap();
            assert!(ir.contains(&format!("icmp {predicate} i32 %x, %y")) && ir.contains("icmp eq i32 %x, %y"), "{ir}");
            assert!(!ir.contains("switch") && ir.matches("br i1").count() == 2, "{ir}");
        }
        assert!(parted(UNSIGNED, "less", "i8 0, label %equal i8 1, label %greater").is_some());
        assert!(parted(UNSIGNED, "greater", "i8 0, label %equal i8 -1, label %less").is_some());
    }

    #[test]
    fn other_switches_stay() {
        assert_eq!(parted("add i8 %z, 1", "never", ALL), None);
        assert_eq!(parted(UNSIGNED, "never", "i8 -1, label %less i8 0, label %equal"), None);
        assert_eq!(parted(UNSIGNED, "less", "i8 0, label %equal i8 2, label %greater"), None);
        assert_eq!(parted(UNSIGNED, "equal", "i8 -1, label %less i8 2, label %greater"), None);
    }
}
