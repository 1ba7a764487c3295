//! Turns the crate `ptx`'s scoped atomic operations into LLVM's instructions, so that the optimiser knows what they do.
//!
//! ```text
//! before: %old = call i32 @__ptx_atomic_rmw_32(ptr %p, i32 %v, i32 <add, seq_cst, device>)
//! after:  %old = atomicrmw add ptr %p, i32 %v syncscope("device") seq_cst
//! ```
//!
//! `ptx_abi::atomic` says what the calls look like.

use ptx_abi::atomic::{Code as Encoded, Op, Order, PREFIX, Scope};

use super::mapping;
use crate::arch::{Arch, Needs, PtxVersion};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AtomicOrdering, Atomicity, BasicType, BasicTypeEnum, BasicValueEnum, Builder, BuilderError, Context,
    FunctionValue, InstructionValue, Module, PointerValue, Rmw, Use,
};

/// 128-bit operations in any scope (PTX ISA, `ld`, `st` and `atom`, "PTX ISA Notes").
const WIDE: PtxVersion = PtxVersion { major: 8, minor: 4 };

/// Replaces every call; says which PTX ISA version they need. What the arch lacks needs none: it is unreachable, or refused.
pub fn expand<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch) -> Result<Needs> {
    let mut needs = Needs::default();
    let mut problems = Vec::new();
    let declared = llvm::functions(module).filter(|f| f.count_basic_blocks() == 0);
    let ours = declared.filter(|f| f.get_name().to_bytes().starts_with(PREFIX.as_bytes()));
    for function in ours.collect::<Vec<_>>() {
        let name = function.get_name().to_string_lossy().into_owned();
        let (what, bits) = name[PREFIX.len()..].split_once('_').unwrap_or((&name[PREFIX.len()..], "0"));
        let bits = bits.parse().unwrap_or(0);
        for user in llvm::uses(&function) {
            let Use::Instruction(call) = user else {
                problems.push(misused(&name, None));
                continue;
            };
            let expansion = Expansion { context, builder: context.create_builder(), call, bits };
            match expansion.write(what, function) {
                Ok(Some(())) => call.erase_from_basic_block(),
                Ok(None) => problems.push(misused(&name, Some(call))),
                Err(error) => problems.push(misused(&name, Some(call)).note(error.to_string())),
            }
            if bits == 128 && (arch.number() >= 90 || matches!(what, "load" | "store")) {
                needs.ptx = Some(WIDE);
            }
        }
        if problems.is_empty() {
            // SAFETY: all calls of it were erased, and its handle ends here.
            unsafe { llvm::delete_function(function) };
        }
    }
    if problems.is_empty() { Ok(needs) } else { Err(problems.into()) }
}

fn misused(name: &str, call: Option<InstructionValue<'_>>) -> Diagnostic {
    let span = call.and_then(|call| llvm::source_span(call));
    Diagnostic::error(
        Code::Intrinsic,
        format!("cannot use the intrinsic `{name}`: it is called in another way than the crate `ptx` does"),
    )
    .at(span, "used here")
    .help("use the same version of the crate `ptx` and of ptx-codegen; names of your own must not begin with `__ptx_`")
}

struct Expansion<'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    call: InstructionValue<'ctx>,
    bits: u32,
}

impl<'ctx> Expansion<'ctx> {
    /// `None` if the call is not as the crate `ptx` writes it.
    fn write(&self, what: &str, function: FunctionValue<'ctx>) -> Result<Option<()>, BuilderError> {
        let count = function.count_params();
        let operand = |index: u32| self.call.get_operand(index).and_then(|operand| operand.value());
        let operands: Vec<BasicValueEnum<'ctx>> = (0..count).filter_map(operand).collect();
        let code = operands.last().and_then(|code| match code {
            BasicValueEnum::IntValue(code) => code.get_zero_extended_constant(),
            _ => None,
        });
        let Some(code) = code.and_then(|code| u32::try_from(code).ok()).and_then(Encoded::decode) else {
            return Ok(None);
        };
        let is_wide = |ty: BasicTypeEnum<'ctx>| ty.is_int_type() && ty.into_int_type().get_bit_width() == self.bits;
        let values = operands[..operands.len() - 1].iter().skip(1).map(|value| value.get_type());
        let result = BasicTypeEnum::try_from(self.call.get_type()).ok();
        if what != "fence" && !([8, 16, 32, 64, 128].contains(&self.bits) && values.chain(result).all(is_wide)) {
            return Ok(None);
        }
        let scope = llvm::scope_id(self.context, scope(code.scope).llvm());
        let atomicity = Atomicity { ordering: ordering(code.order), scope };
        self.builder.position_before(&self.call);
        let bytes = self.bits / 8;
        match (what, &operands[..operands.len() - 1]) {
            ("load", [BasicValueEnum::PointerValue(pointer)]) if code.order.is_for_loads() => {
                let ty = self.int();
                let value = llvm::build_atomic_load(&self.builder, ty, bytes, *pointer, atomicity)?;
                llvm::replace_uses(self.call, value);
            }
            ("store", [BasicValueEnum::PointerValue(pointer), value]) if code.order.is_for_stores() => {
                llvm::build_atomic_store(&self.builder, *value, bytes, *pointer, atomicity)?;
            }
            ("rmw", [BasicValueEnum::PointerValue(pointer), value]) => {
                let Some(old) = self.rmw(code.op, *pointer, *value, atomicity)? else { return Ok(None) };
                llvm::replace_uses(self.call, old);
            }
            ("cas", [BasicValueEnum::PointerValue(pointer), expected, new]) if code.failure.is_for_loads() => {
                let failure = ordering(code.failure);
                let pair = llvm::build_compare_exchange(&self.builder, *pointer, *expected, *new, atomicity, failure);
                let old = self.builder.build_extract_value(pair.into_struct_value(), 0, "")?;
                llvm::replace_uses(self.call, old);
            }
            ("fence", []) if code.order != Order::Relaxed => llvm::build_fence(&self.builder, atomicity),
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn int(&self) -> BasicTypeEnum<'ctx> {
        self.call.get_type().into_int_type().as_basic_type_enum()
    }

    fn rmw(
        &self,
        op: Op,
        pointer: PointerValue<'ctx>,
        value: BasicValueEnum<'ctx>,
        atomicity: Atomicity,
    ) -> Result<Option<BasicValueEnum<'ctx>>, BuilderError> {
        let context = self.context;
        let float: Option<BasicTypeEnum<'ctx>> = match (op, self.bits) {
            (Op::FAdd | Op::FSub, 32) => Some(context.f32_type().into()),
            (Op::FAdd | Op::FSub, 64) => Some(context.f64_type().into()),
            (Op::AddF16x2, 32) => Some(context.f16_type().vec_type(2).into()),
            (Op::AddBf16x2, 32) => Some(context.bf16_type().vec_type(2).into()),
            (Op::FAdd | Op::FSub | Op::AddF16x2 | Op::AddBf16x2, _) => return Ok(None),
            _ => None,
        };
        let operand = match float {
            Some(float) => self.builder.build_bit_cast(value, float, "")?,
            None => value,
        };
        let old = llvm::build_rmw(&self.builder, operation(op), pointer, operand, atomicity);
        Ok(Some(self.builder.build_bit_cast(old, value.get_type(), "")?))
    }
}

fn scope(scope: Scope) -> mapping::Scope {
    match scope {
        Scope::Block => mapping::Scope::Block,
        Scope::Cluster => mapping::Scope::Cluster,
        Scope::Device => mapping::Scope::Device,
        Scope::System => mapping::Scope::System,
    }
}

fn ordering(order: Order) -> AtomicOrdering {
    match order {
        Order::Relaxed => AtomicOrdering::Monotonic,
        Order::Acquire => AtomicOrdering::Acquire,
        Order::Release => AtomicOrdering::Release,
        Order::AcqRel => AtomicOrdering::AcquireRelease,
        Order::SeqCst => AtomicOrdering::SequentiallyConsistent,
    }
}

fn operation(op: Op) -> Rmw {
    match op {
        Op::Xchg => Rmw::Xchg,
        Op::Add => Rmw::Add,
        Op::Sub => Rmw::Sub,
        Op::And => Rmw::And,
        Op::Nand => Rmw::Nand,
        Op::Or => Rmw::Or,
        Op::Xor => Rmw::Xor,
        Op::Max => Rmw::Max,
        Op::Min => Rmw::Min,
        Op::UMax => Rmw::UMax,
        Op::UMin => Rmw::UMin,
        Op::Inc => Rmw::UIncWrap,
        Op::Dec => Rmw::UDecWrap,
        Op::FAdd | Op::AddF16x2 | Op::AddBf16x2 => Rmw::FAdd,
        Op::FSub => Rmw::FSub,
    }
}
