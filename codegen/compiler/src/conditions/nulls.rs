//! Decides by where control comes from whether an `Option<&T>` is one.
//!
//! ```text
//! before: %p = phi ptr [ %element, %some ], [ null, %none ]        ; `for (a, b) in x.iter().zip(y.iter().skip(n))`
//!         %is_none = icmp eq ptr %p, null
//! after:  %is_none = phi i1 [ false, %some ], [ true, %none ]
//! ```
//!
//! So it is where the element is chosen, as that of a view at its edge:
//!
//! ```text
//! before: %own = select i1 %inside, ptr %element, ptr null
//!         %p = phi ptr [ %own, %some ], [ null, %none ]
//!         %is_none = icmp eq ptr %p, null
//! after:  %is_none = phi i1 [ (xor i1 %inside, true), %some ], [ true, %none ]
//! ```
//!
//! LLVM sees it only where nothing else looks at `%p`, or later, when it is the address of an element: by then it may no longer
//! know that the address stays within the slice. The loop then compares it with null in each round, has two ends, and is
//! not unrolled.
//!
//! **Why it is right.** An address is not null where a type says so, or where it stays within what an address that is not null
//! points into: there is nothing at null on this target. Were it otherwise, the address would be undefined.

use crate::llvm::{
    self, Attribute, AttributeLoc, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, CallSiteValue,
    Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, PointerValue,
};

/// How deep it is looked what an address is.
const MOST_STEPS: u32 = 4;

/// Decides the comparisons of a function.
pub fn decide<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    let compared: Vec<_> = llvm::instructions(function).filter_map(of_chosen).collect();
    for (compared, chosen) in compared {
        let is_asked = compared.get_icmp_predicate() == Some(IntPredicate::EQ);
        let asks = Asks { context, builder: &builder, is_null: is_asked };
        let decided = if chosen.get_opcode() == Op::Phi {
            asks.of_phi(chosen)?
        } else {
            Null::of(context, llvm::result(chosen)).map(|null| asks.write(&null)).transpose()?
        };
        if let Some(decided) = decided {
            llvm::replace_uses(compared, decided);
            compared.erase_from_basic_block();
        }
    }
    Ok(())
}

/// The phi or the choice that an instruction compares with null.
fn of_chosen(compared: InstructionValue<'_>) -> Option<(InstructionValue<'_>, InstructionValue<'_>)> {
    let predicate = compared.get_icmp_predicate()?;
    let side = |index| compared.get_operand(index).and_then(|operand| operand.value());
    let (Some(BasicValueEnum::PointerValue(left)), Some(BasicValueEnum::PointerValue(right))) = (side(0), side(1))
    else {
        return None;
    };
    let is_one_of_several = |from: &InstructionValue<'_>| matches!(from.get_opcode(), Op::Phi | Op::Select);
    let chosen = left.as_instruction_value().filter(is_one_of_several)?;
    let is_one = right.is_null() && matches!(predicate, IntPredicate::EQ | IntPredicate::NE);
    (is_one && llvm::address_space(left) == 0).then_some((compared, chosen))
}

/// When an address is null.
enum Null<'ctx> {
    Always,
    Never,
    /// Where this condition holds, or where it does not.
    If {
        condition: IntValue<'ctx>,
        holds: bool,
        choice: InstructionValue<'ctx>,
    },
}

impl<'ctx> Null<'ctx> {
    /// If that is known.
    fn of(context: &Context, value: BasicValueEnum<'ctx>) -> Option<Self> {
        let BasicValueEnum::PointerValue(pointer) = value else { return None };
        if let Some(is_null) = is_null(context, pointer) {
            return Some(if is_null { Self::Always } else { Self::Never });
        }
        let choice = pointer.as_instruction_value().filter(|from| from.get_opcode() == Op::Select)?;
        let operand = |index| choice.get_operand(index)?.value();
        let (Some(BasicValueEnum::IntValue(condition)), Some(BasicValueEnum::PointerValue(then))) =
            (operand(0), operand(1))
        else {
            return None;
        };
        let Some(BasicValueEnum::PointerValue(other)) = operand(2) else { return None };
        let holds = is_null(context, then)?;
        (is_null(context, other)? != holds).then_some(Self::If { condition, holds, choice })
    }
}

/// Writes the answers of comparisons: whether something is null, or whether it is not.
struct Asks<'a, 'ctx> {
    context: &'ctx Context,
    builder: &'a Builder<'ctx>,
    is_null: bool,
}

impl<'ctx> Asks<'_, 'ctx> {
    /// A phi of the answers for what another one is, if they are all known.
    fn of_phi(&self, phi: InstructionValue<'ctx>) -> Result<Option<BasicValueEnum<'ctx>>, BuilderError> {
        let known: Option<Vec<_>> =
            llvm::incoming(phi).into_iter().map(|(value, from)| Some((Null::of(self.context, value)?, from))).collect();
        let Some(known) = known else { return Ok(None) };
        let answers: Vec<_> =
            known.iter().map(|(null, from)| Ok((self.write(null)?, *from))).collect::<Result<_, BuilderError>>()?;
        self.builder.position_before(&phi);
        let decided = self.builder.build_phi(self.context.bool_type(), "")?;
        let incoming: Vec<(&dyn BasicValue<'ctx>, BasicBlock<'ctx>)> =
            answers.iter().map(|(value, from)| (value as &dyn BasicValue<'ctx>, *from)).collect();
        decided.add_incoming(&incoming);
        Ok(Some(decided.as_basic_value()))
    }

    /// The answer, if need be computed beside the choice.
    fn write(&self, null: &Null<'ctx>) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let number = |is_null: bool| self.context.bool_type().const_int(u64::from(is_null == self.is_null), false);
        match null {
            Null::Always => Ok(number(true).into()),
            Null::Never => Ok(number(false).into()),
            Null::If { condition, holds, .. } if *holds == self.is_null => Ok((*condition).into()),
            Null::If { condition, choice, .. } => {
                self.builder.position_before(choice);
                Ok(self.builder.build_not(*condition, "")?.into())
            }
        }
    }
}

/// Whether an address is null, if that is known wherever it is looked at.
fn is_null(context: &Context, pointer: PointerValue<'_>) -> Option<bool> {
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
            define float @f(ptr %held, ptr %may, i64 %n, i1 %own) {{
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
    fn an_element_may_be_chosen() {
        let own = |then: &str, other: &str| format!("select i1 %own, ptr {then}, ptr {other}");
        let ir = decided(&own("%x", "null"), "null", IS_NULL);
        assert!(ir.contains("%0 = xor i1 %own, true"), "{ir}");
        assert!(ir.contains("phi i1 [ %0, %some ], [ true, %loop ]") && !ir.contains("icmp eq ptr"), "{ir}");
        for (chosen, compared) in [(own("null", "%x"), IS_NULL), (own("%x", "null"), "icmp ne ptr %at, null")] {
            let ir = decided(&chosen, "null", compared);
            assert!(ir.contains("phi i1 [ %own, %some ]") && !ir.contains("xor"), "{ir}");
        }
    }

    #[test]
    fn what_may_be_null_is_asked() {
        for (element, none, compared) in [
            ("getelementptr float, ptr %x, i64 %k", "null", IS_NULL),
            ("getelementptr inbounds float, ptr %may, i64 %k", "null", IS_NULL),
            ("call ptr @other(i64 %k)", "null", IS_NULL),
            ("load ptr, ptr %held", "null", IS_NULL),
            ("select i1 %own, ptr %may, ptr null", "null", IS_NULL),
            ("select i1 %own, ptr %held, ptr %x", "null", IS_NULL),
            (INSIDE, "%may", IS_NULL),
            (INSIDE, "null", "icmp eq ptr %at, %may"),
            (INSIDE, "null", "icmp ugt ptr %at, null"),
        ] {
            let ir = decided(element, none, compared);
            assert!(!ir.contains("phi i1"), "{element}, {none}, {compared}: {ir}");
        }
    }
}
