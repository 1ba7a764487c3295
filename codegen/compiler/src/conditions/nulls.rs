//! Decides by where control comes from whether an `Option<&T>` is one.
//!
//! ```text
//! before: %p = phi ptr [ %element, %some ], [ null, %none ]        ; `for (a, b) in x.iter().zip(y.iter().skip(n))`
//!         %is_none = icmp eq ptr %p, null
//! after:  %is_none = phi i1 [ false, %some ], [ true, %none ]
//! ```
//!
//! LLVM sees it only where nothing else looks at `%p`, or later, when it is the address of an element: by then it may no longer
//! know that the address stays within the slice. The loop then compares it with null in each round, has two ends, and is
//! not unrolled.
//!
//! **Why it is right.** An address is not null where a type says so, or where it stays within what an address that is not null
//! points into: there is nothing at null on this target. Were it otherwise, the address would be undefined.

use crate::llvm::{
    self, Attribute, AttributeLoc, BasicBlock, BasicValue, BasicValueEnum, BuilderError, CallSiteValue, Context,
    FunctionValue, InstructionOpcode as Op, InstructionValue, IntPredicate, PointerValue,
};

/// How deep it is looked what an address is.
const MOST_STEPS: u32 = 4;

/// Decides the comparisons of a function.
pub fn decide<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let compared: Vec<_> = llvm::instructions(function).filter_map(of_phi).collect();
    for (compared, phi) in compared {
        let known: Option<Vec<_>> =
            llvm::incoming(phi).into_iter().map(|(value, from)| Some((is_null(context, value)?, from))).collect();
        let Some(known) = known else { continue };
        let is_asked = compared.get_icmp_predicate() == Some(IntPredicate::EQ);
        let builder = context.create_builder();
        builder.position_before(&phi);
        let decided = builder.build_phi(context.bool_type(), "")?;
        let number = |is_null: bool| context.bool_type().const_int(u64::from(is_null == is_asked), false);
        let known: Vec<_> = known.into_iter().map(|(is_null, from)| (number(is_null), from)).collect();
        let incoming: Vec<(&dyn BasicValue<'ctx>, BasicBlock<'ctx>)> =
            known.iter().map(|(value, from)| (value as &dyn BasicValue<'ctx>, *from)).collect();
        decided.add_incoming(&incoming);
        llvm::replace_uses(compared, decided.as_basic_value());
        compared.erase_from_basic_block();
    }
    Ok(())
}

/// The phi that an instruction compares with null.
fn of_phi(compared: InstructionValue<'_>) -> Option<(InstructionValue<'_>, InstructionValue<'_>)> {
    let predicate = compared.get_icmp_predicate()?;
    let side = |index| compared.get_operand(index).and_then(|operand| operand.value());
    let (Some(BasicValueEnum::PointerValue(left)), Some(BasicValueEnum::PointerValue(right))) = (side(0), side(1))
    else {
        return None;
    };
    let phi = left.as_instruction_value().filter(|phi| phi.get_opcode() == Op::Phi)?;
    let is_one = right.is_null() && matches!(predicate, IntPredicate::EQ | IntPredicate::NE);
    (is_one && llvm::address_space(left) == 0).then_some((compared, phi))
}

/// Whether an address is null, if that is known.
fn is_null(context: &Context, value: BasicValueEnum<'_>) -> Option<bool> {
    let BasicValueEnum::PointerValue(pointer) = value else { return None };
    if pointer.is_null() {
        return Some(true);
    }
    is_never_null(context, pointer, MOST_STEPS).then_some(false)
}

fn is_never_null(context: &Context, pointer: PointerValue<'_>, steps: u32) -> bool {
    let attribute = |name| Attribute::get_named_enum_kind_id(name);
    let Some(from) = pointer.as_instruction_value() else { return false };
    match from.get_opcode() {
        Op::Alloca => true,
        Op::GetElementPtr if steps > 0 && llvm::is_in_bounds(from) => {
            match from.get_operand(0).and_then(|at| at.value()) {
                Some(BasicValueEnum::PointerValue(base)) => is_never_null(context, base, steps - 1),
                _ => false,
            }
        }
        Op::Load => from.get_metadata(context.get_kind_id("nonnull")).is_some(),
        Op::Call => CallSiteValue::try_from(from)
            .is_ok_and(|call| call.get_enum_attribute(AttributeLoc::Return, attribute("nonnull")).is_some()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A loop over an `Option<&T>` that is `element` or null, after [`decide`].
    fn decided(element: &str, none: &str, compared: &str) -> String {
        let text = format!(
            "declare nonnull ptr @from(i64)
            declare ptr @other(i64)
            define float @f(ptr %held, ptr %may, i64 %n) {{
            entry: br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %next, %more ]
              %next = add i64 %k, 1
              %is = icmp ult i64 %k, %n
              br i1 %is, label %some, label %asks
            some: %x = load ptr, ptr %held, !nonnull !0
              %p = {element}
              br label %asks
            asks: %at = phi ptr [ %p, %some ], [ {none}, %loop ]
              %end = {compared}
              br i1 %end, label %out, label %more
            more: %v = load volatile float, ptr %at
              br label %loop
            out: ret float 0.0
            }}
            !0 = !{{}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        decide(&context, function).unwrap();
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const INSIDE: &str = "getelementptr inbounds nuw float, ptr %x, i64 %k";
    const IS_NULL: &str = "icmp eq ptr %at, null";

    #[test]
    fn where_control_comes_from_decides() {
        for element in [INSIDE, "call nonnull ptr @from(i64 %k)", "load ptr, ptr %held, !nonnull !0"] {
            let ir = decided(element, "null", IS_NULL);
            assert!(ir.contains("phi i1 [ false, %some ], [ true, %loop ]") && !ir.contains("icmp eq ptr"), "{ir}");
        }
        let ir = decided(INSIDE, "null", "icmp ne ptr %at, null");
        assert!(ir.contains("phi i1 [ true, %some ], [ false, %loop ]"), "{ir}");
    }

    #[test]
    fn what_may_be_null_is_asked() {
        for (element, none, compared) in [
            ("getelementptr float, ptr %x, i64 %k", "null", IS_NULL),
            ("getelementptr inbounds float, ptr %may, i64 %k", "null", IS_NULL),
            ("call ptr @other(i64 %k)", "null", IS_NULL),
            ("load ptr, ptr %held", "null", IS_NULL),
            (INSIDE, "%may", IS_NULL),
            (INSIDE, "null", "icmp eq ptr %at, %may"),
            (INSIDE, "null", "icmp ugt ptr %at, null"),
        ] {
            let ir = decided(element, none, compared);
            assert!(!ir.contains("phi i1"), "{element}, {none}, {compared}: {ir}");
        }
    }
}
