//! Instructions that compute from their operands and do nothing else.

use inkwell::llvm_sys::LLVMAtomicOrdering;
use inkwell::llvm_sys::core::{
    LLVMGetCalledValue, LLVMGetExact, LLVMGetICmpSameSign, LLVMGetInlineAsmAsmString, LLVMGetInlineAsmConstraintString,
    LLVMGetIsDisjoint, LLVMGetMDKindIDInContext, LLVMGetMetadata, LLVMGetNNeg, LLVMGetNSW, LLVMGetNUW, LLVMGetOrdering,
    LLVMGetTypeContext, LLVMGetVolatile, LLVMIsACallInst, LLVMIsAInlineAsm, LLVMIsALoadInst, LLVMIsAStoreInst,
    LLVMIsAZExtInst, LLVMSetMetadata, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;

use super::{
    AsValueRef, Attribute, AttributeLoc, CallSiteValue, Context, InstructionOpcode, InstructionValue, Use,
    called_function, calls, result, uses,
};

/// Arithmetic that LLVM has as calls.
const ARITHMETIC: [&str; 17] = [
    "abs.",
    "smax.",
    "smin.",
    "umax.",
    "umin.",
    "ctlz.",
    "cttz.",
    "ctpop.",
    "bswap.",
    "fshl.",
    "fshr.",
    "uadd.",
    "usub.",
    "umul.",
    "sadd.",
    "ssub.",
    "nvvm.mulhi.",
];

/// Promises of a call that its result follows from its arguments, and that it does nothing else. Without, LLVM makes no vector of
/// stores on both sides of inline assembly: that may read what is stored, or never end.
pub fn promise_pure<'ctx>(context: &'ctx Context, call: CallSiteValue<'ctx>) {
    // Of `memory`, no kind of access.
    for attribute in ["memory", "nounwind", "willreturn", "nosync"] {
        let kind = Attribute::get_named_enum_kind_id(attribute);
        call.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
}

/// Whether an instruction calls inline PTX of which [`promise_pure`] promises so.
pub fn is_promised_pure(instruction: InstructionValue<'_>) -> bool {
    let kind = Attribute::get_named_enum_kind_id("memory");
    let call = CallSiteValue::try_from(instruction).ok().filter(|_| inline_assembly(instruction).is_some());
    let memory = call.and_then(|call| call.get_enum_attribute(AttributeLoc::Function, kind));
    memory.is_some_and(|memory| memory.get_enum_value() == 0)
}

/// Whether an instruction's result follows from its operands, and it does no harm wherever it stands. A division does, and a
/// frozen value may be another number in each place.
pub fn is_pure(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode as Op;
    match instruction.get_opcode() {
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Shl
        | Op::LShr
        | Op::AShr
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::ICmp
        | Op::FCmp
        | Op::FAdd
        | Op::FSub
        | Op::FMul
        | Op::FDiv
        | Op::FNeg
        | Op::Select
        | Op::Trunc
        | Op::ZExt
        | Op::SExt
        | Op::FPTrunc
        | Op::FPExt
        | Op::FPToSI
        | Op::FPToUI
        | Op::SIToFP
        | Op::UIToFP
        | Op::BitCast
        | Op::PtrToInt
        | Op::IntToPtr
        | Op::AddrSpaceCast
        | Op::GetElementPtr
        | Op::ExtractValue
        | Op::InsertValue
        | Op::ExtractElement
        | Op::InsertElement
        | Op::ShuffleVector => true,
        Op::Call => called_function(instruction).is_some_and(|callee| {
            let name = callee.get_name().to_string_lossy();
            name.strip_prefix("llvm.").is_some_and(|name| ARITHMETIC.iter().any(|known| name.starts_with(known)))
        }),
        _ => false,
    }
}

/// Whether an instruction tells by LLVM's function where a thread is in the launch, or how large that is, which never changes.
pub fn is_position(instruction: InstructionValue<'_>) -> bool {
    called_function(instruction).is_some() && reads_position(instruction)
}

/// Whether an instruction does so, by LLVM's function or by inline PTX that does no more.
pub fn reads_position(instruction: InstructionValue<'_>) -> bool {
    const REGISTERS: [&str; 4] = ["tid.", "ntid.", "ctaid.", "nctaid."];
    let is_known = |register: String| REGISTERS.iter().any(|known| register.starts_with(known));
    special_register(instruction).is_some_and(is_known)
}

/// Whether what an instruction computes is used by nothing but assumptions, of which no code is made.
pub fn is_only_assumed(instruction: InstructionValue<'_>) -> bool {
    const STEPS: usize = 8;
    fn is_assumed(from: InstructionValue<'_>, steps: usize) -> bool {
        uses(&result(from)).into_iter().all(|user| match user {
            Use::Instruction(user) => {
                calls(user, &["llvm.assume"]) || steps > 0 && is_pure(user) && is_assumed(user, steps - 1)
            }
            Use::Global(_) => false,
        })
    }
    is_assumed(instruction, STEPS)
}

/// The name of the special register that an instruction reads, by LLVM's function or by inline PTX that does no more.
pub fn special_register(read: InstructionValue<'_>) -> Option<String> {
    if let Some(callee) = called_function(read) {
        let name = callee.get_name().to_string_lossy();
        return name.strip_prefix("llvm.nvvm.read.ptx.sreg.").map(str::to_owned);
    }
    Some(inline_assembly(read)?.strip_prefix("mov.u32 $0, %")?.strip_suffix(';')?.to_owned())
}

/// Whether an instruction divides integers: it must not stand where the divisor may be 0.
pub fn is_division(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode as Op;
    matches!(instruction.get_opcode(), Op::UDiv | Op::SDiv | Op::URem | Op::SRem)
}

/// Whether an instruction extends a number that is said not to be negative.
pub fn is_not_negative(instruction: InstructionValue<'_>) -> bool {
    let value = instruction.as_value_ref();
    // SAFETY: the instruction is live; only an extension without a sign is asked for its flag.
    unsafe { !LLVMIsAZExtInst(value).is_null() && LLVMGetNNeg(value) != 0 }
}

/// What LLVM takes for granted of an instruction's numbers: if it is not so, the result means nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Promises {
    /// It does not overflow as a number with a sign, and as one without.
    pub signed: bool,
    pub unsigned: bool,
    /// Something else: that bits are 0, or signs the same.
    pub other: bool,
}

/// What is promised of arithmetic, an extension or a comparison.
pub fn promises(instruction: InstructionValue<'_>) -> Promises {
    use InstructionOpcode as Op;
    let value = instruction.as_value_ref();
    let none = Promises::default();
    // SAFETY: the instruction is live, and asked only for what one of its kind has.
    unsafe {
        match instruction.get_opcode() {
            Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::Trunc => {
                Promises { signed: LLVMGetNSW(value) != 0, unsigned: LLVMGetNUW(value) != 0, other: false }
            }
            Op::UDiv | Op::SDiv | Op::LShr | Op::AShr => Promises { other: LLVMGetExact(value) != 0, ..none },
            Op::Or => Promises { other: LLVMGetIsDisjoint(value) != 0, ..none },
            Op::ZExt => Promises { other: LLVMGetNNeg(value) != 0, ..none },
            Op::ICmp => Promises { other: LLVMGetICmpSameSign(value) != 0, ..none },
            _ => none,
        }
    }
}

/// Whether what an instruction loads is said to mean something.
pub fn is_load_of_number(instruction: InstructionValue<'_>) -> bool {
    let value = instruction.as_value_ref();
    const KIND: &[u8] = b"noundef";
    // SAFETY: the instruction is live and of a context; only a load is asked for more.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(value));
        let kind = LLVMGetMDKindIDInContext(context, KIND.as_ptr().cast(), 7);
        !LLVMIsALoadInst(value).is_null() && !LLVMGetMetadata(value, kind).is_null()
    }
}

/// Takes from a load what it says of the number, so that it may be made where that need not hold.
pub fn forget_number(load: InstructionValue<'_>) {
    const KINDS: [&str; 6] = ["noundef", "range", "nonnull", "align", "dereferenceable", "dereferenceable_or_null"];
    assert_eq!(load.get_opcode(), InstructionOpcode::Load, "only a load says so");
    let value = load.as_value_ref();
    // SAFETY: the instruction is live and of a context; null takes metadata away.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(value));
        for kind in KINDS {
            let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
            LLVMSetMetadata(value, kind, std::ptr::null_mut());
        }
    }
}

/// Whether an instruction loads what no other thread may be waiting to change.
pub fn is_plain_load(instruction: InstructionValue<'_>) -> bool {
    let value = instruction.as_value_ref();
    // SAFETY: the instruction is live; only a load is asked for more.
    unsafe {
        !LLVMIsALoadInst(value).is_null()
            && LLVMGetVolatile(value) == 0
            && LLVMGetOrdering(value) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }
}

/// Whether an instruction stores what no other thread may be waiting for.
pub fn is_plain_store(instruction: InstructionValue<'_>) -> bool {
    let value = instruction.as_value_ref();
    // SAFETY: the instruction is live; only a store is asked for more.
    unsafe {
        !LLVMIsAStoreInst(value).is_null()
            && LLVMGetVolatile(value) == 0
            && LLVMGetOrdering(value) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }
}

/// The text of the inline PTX that an instruction calls.
pub fn inline_assembly(call: InstructionValue<'_>) -> Option<String> {
    inline_text(call, LLVMGetInlineAsmAsmString)
}

/// The constraints of the inline PTX that an instruction calls.
pub fn inline_constraints(call: InstructionValue<'_>) -> Option<String> {
    inline_text(call, LLVMGetInlineAsmConstraintString)
}

fn inline_text(
    call: InstructionValue<'_>,
    get: unsafe extern "C" fn(LLVMValueRef, *mut usize) -> *const libc::c_char,
) -> Option<String> {
    let value = call.as_value_ref();
    // SAFETY: the instruction is live; only a call is asked for its callee, and only inline assembly for its texts, which are
    // so many bytes that are copied.
    unsafe {
        if LLVMIsACallInst(value).is_null() {
            return None;
        }
        let callee = LLVMGetCalledValue(value);
        if LLVMIsAInlineAsm(callee).is_null() {
            return None;
        }
        let mut len = 0;
        let start = get(callee, &mut len);
        (!start.is_null())
            .then(|| String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len)).into_owned())
    }
}
