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
//! And where an element is that of one of two buffers, which change places in each round of a loop:
//!
//! ```text
//! before: %front = phi ptr [ @a, %before ], [ %back, %loop ]
//!         %back = phi ptr [ @b, %before ], [ %front, %loop ]
//!         %is_none = icmp eq ptr %back, null
//! after:  %is_none = i1 false
//! ```
//!
//! LLVM sees the first only where nothing else looks at `%p`, or later, when it is the address of an element: by
//! then it may no longer know that the address stays within the slice. The loop then compares it with null in each
//! round, has two ends, and is not unrolled. Of buffers it does not look at both phis at once; that is decided
//! again where functions are in each other.
//!
//! **Why it is right.** An address is not null where a type says so, or where it stays within what an address that
//! is not null points into: there is nothing at null on this target. Were it otherwise, the address would be
//! undefined. A phi is not null if nothing that comes to it from elsewhere is: what comes round to it was that
//! before.

use crate::llvm::{
    self, Attribute, AttributeLoc, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, CallSiteValue,
    Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, PointerValue,
};

/// How deep it is looked what an address is.
const MOST_STEPS: u32 = 4;

/// How many phis an address may come through.
const MOST_PHIS: usize = 8;

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

/// Decides the comparisons of phis that are never null, as is seen once LLVM has put functions into each other.
pub fn decide_never(context: &Context, function: FunctionValue<'_>) {
    let compared: Vec<_> = llvm::instructions(function).filter_map(of_chosen).collect();
    for (compared, chosen) in compared.into_iter().filter(|(_, chosen)| chosen.get_opcode() == Op::Phi) {
        let BasicValueEnum::PointerValue(pointer) = llvm::result(chosen) else { continue };
        if is_null(context, pointer) == Some(false) {
            let holds = compared.get_icmp_predicate() == Some(IntPredicate::NE);
            llvm::replace_uses(compared, context.bool_type().const_int(u64::from(holds), false).into());
            compared.erase_from_basic_block();
        }
    }
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
    is_never_null(context, pointer, MOST_STEPS, &mut Vec::new()).then_some(false)
}

/// Whether an address is never null, if none of the phis is that were looked through before.
fn is_never_null<'ctx>(
    context: &Context,
    pointer: PointerValue<'ctx>,
    steps: u32,
    phis: &mut Vec<InstructionValue<'ctx>>,
) -> bool {
    let attribute = |name| Attribute::get_named_enum_kind_id(name);
    let Some(from) = pointer.as_instruction_value() else { return llvm::is_within_global(pointer) };
    match from.get_opcode() {
        Op::Alloca => true,
        Op::Phi if phis.contains(&from) => true,
        Op::Phi if phis.len() < MOST_PHIS => {
            phis.push(from);
            llvm::incoming(from).into_iter().all(|(value, _)| match value {
                BasicValueEnum::PointerValue(value) => is_never_null(context, value, steps, phis),
                _ => false,
            })
        }
        Op::GetElementPtr if steps > 0 && llvm::is_in_bounds(from) => {
            match from.get_operand(0).and_then(|at| at.value()) {
                Some(BasicValueEnum::PointerValue(base)) => is_never_null(context, base, steps - 1, phis),
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

    /// Two buffers that change places, of which `%back` is one, after [`decide_never`].
    fn swapped(first: &str, second: &str, next: &str, compared: &str) -> String {
        let text = format!(
            "@tile = internal addrspace(3) global [2 x [64 x i32]] poison, align 16
            @table = internal addrspace(1) global [64 x i32] zeroinitializer
            define void @f(ptr %may, i64 %n) {{
            entry: %local = alloca [64 x i32]
              br label %loop
            loop: %front = phi ptr [ {first}, %entry ], [ {next}, %more ]
              %back = phi ptr [ {second}, %entry ], [ %front, %more ]
              %inside = getelementptr inbounds i32, ptr %back, i64 1
              %outside = getelementptr i32, ptr %back, i64 %n
              %is = icmp {compared}
              br i1 %is, label %more, label %out
            more: store volatile i32 0, ptr %back
              br label %loop
            out: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        decide_never(&context, function);
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const TILE: &str = "addrspacecast (ptr addrspace(3) @tile to ptr)";
    const SECOND: &str = "getelementptr inbounds nuw (i8, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 256)";

    #[test]
    fn neither_of_two_buffers_is_null() {
        for (first, second, next) in [
            (TILE, SECOND, "%back"),
            (SECOND, TILE, "%inside"),
            ("addrspacecast (ptr addrspace(1) @table to ptr)", "%local", "%back"),
        ] {
            for (compared, decided) in [("ne ptr %back, null", "br i1 true"), ("eq ptr %front, null", "br i1 false")] {
                let ir = swapped(first, second, next, compared);
                assert!(ir.contains(decided) && !ir.contains("icmp"), "{first}, {second}, {next}: {ir}");
            }
        }
    }

    #[test]
    fn one_of_two_buffers_may_be_null() {
        let behind = SECOND.replace("inbounds nuw ", "");
        for (first, second, next, compared) in [
            (TILE, "%may", "%back", "eq ptr %back, null"),
            ("null", SECOND, "%back", "eq ptr %back, null"),
            (TILE, &behind, "%back", "eq ptr %back, null"),
            (TILE, SECOND, "%outside", "eq ptr %back, null"),
            (TILE, SECOND, "%may", "eq ptr %back, null"),
            (TILE, SECOND, "%back", "eq ptr %back, %may"),
            (TILE, SECOND, "%back", "ult ptr %back, null"),
        ] {
            let ir = swapped(first, second, next, compared);
            assert!(ir.contains("icmp"), "{first}, {second}, {next}, {compared}: {ir}");
        }
    }
}
