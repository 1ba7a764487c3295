//! Has panics hand over what their message is made of, so that the host makes it.
//!
//! `core` puts the arguments of a message into an array of addresses and functions that format, and [`panic_fmt`] gets that and
//! a template. Formatting on the device takes 50 registers and a stack, in every kernel that checks an index. Where each
//! argument is of a type whose text the host knows as well, the values themselves go to the host:
//!
//! ```text
//! before: store i64 %start, ptr %x           ; and %args: the address of %x, `<usize as Display>::fmt`
//!         call void @panic_fmt(ptr @template, ptr %args, ptr %location)
//! after:  call void @__rust_ptx_panic_1(ptr @message, ptr %location, i64 %start)
//! ```
//!
//! It is the same panic: a value is read where `panic_fmt` would have read it, and nothing but the panic follows. What only
//! the user's code can show stays as it is, and is formatted on the device.
//!
//! [`panic_fmt`]: https://doc.rust-lang.org/core/panicking/fn.panic_fmt.html

use ptx_abi::panic::{Operand, WORDS};

use super::assign::{ALLOCATION, BOUNDS_CHECK, SINKS};
use super::message::{self, Part};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, Attribute, AttributeLoc, BasicMetadataValueEnum, BasicValueEnum, Builder, BuilderError,
    Context, FunctionValue, InstructionOpcode, InstructionValue, IntValue, Module, PointerValue, Use,
};
use crate::marks::PANIC_WITH;
use crate::request::OptLevel;

/// What a bounds check says, as `core` does.
const BOUNDS: [(&str, Operand); 2] =
    [("index out of bounds: the len is ", Operand::Unsigned), (" but the index is ", Operand::Unsigned)];

/// What a failed allocation says: `ptx-device`'s `__ptx_rt_alloc_error`, which unoptimised code calls.
const ALLOCATION_TEXT: [&str; 2] = [
    "memory allocation of ",
    " bytes failed: the device heap is full. Allow more with Device::set_heap_size (cuCtxSetLimit, \
     CU_LIMIT_MALLOC_HEAP_SIZE) before the first kernel that allocates",
];

/// Functions that only panic are inlined up to this size.
const MOST_INSTRUCTIONS: usize = 60;

/// A message and the words of its operands.
struct Message<'ctx> {
    parts: Vec<Part>,
    words: Vec<IntValue<'ctx>>,
}

/// Rewrites the panics that the host can put into words. Unoptimised code keeps the calls that a debugger shows.
pub fn hand_over<'ctx>(context: &'ctx Context, module: &Module<'ctx>, level: OptLevel) -> Result<()> {
    if level == OptLevel::O0 {
        return Ok(());
    }
    rewrite(context, module)
        .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot write a panic: {error}")))?;
    inline(context, module);
    Ok(())
}

fn rewrite<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<(), BuilderError> {
    let sinks: Vec<(FunctionValue<'ctx>, Sink)> =
        llvm::functions(module).filter_map(|function| Some((function, Sink::of(function)?))).collect();
    let builder = context.create_builder();
    for (function, sink) in sinks {
        for user in llvm::uses(&function) {
            let Use::Instruction(call) = user else { continue };
            if llvm::called_function(call) != Some(function) {
                continue;
            }
            builder.position_before(&call);
            let Some(message) = sink.message(context, &builder, call)? else { continue };
            let location = match sink {
                Sink::Allocation => context.ptr_type(AddressSpace::default()).const_null(),
                _ => match pointer(call, function.count_params() - 1) {
                    Some(location) => location,
                    None => continue,
                },
            };
            build(context, module, &builder, &message, location)?;
            call.erase_from_basic_block();
        }
    }
    Ok(())
}

/// What panics are calls of.
#[derive(Clone, Copy)]
enum Sink {
    /// `core::panicking::panic_fmt(template, arguments, …, location)`
    Format,
    /// The runtime's, for a failed bounds check: `(index, len, location)`
    Bounds,
    /// The runtime's, for a failed allocation: `(size, align)`
    Allocation,
}

impl Sink {
    fn of(function: FunctionValue<'_>) -> Option<Self> {
        let name = function.get_name().to_string_lossy();
        match &*name {
            BOUNDS_CHECK => Some(Self::Bounds),
            ALLOCATION => Some(Self::Allocation),
            name if name.contains("panic") && SINKS.contains(&demangled(name).as_str()) => Some(Self::Format),
            _ => None,
        }
    }

    /// The message of a call; `None` if only the device can put it into words.
    fn message<'ctx>(
        self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
        call: InstructionValue<'ctx>,
    ) -> Result<Option<Message<'ctx>>, BuilderError> {
        match self {
            Self::Format => format(context, builder, call),
            Self::Bounds => {
                let (Some(index), Some(len)) = (integer(call, 0), integer(call, 1)) else { return Ok(None) };
                let parts =
                    BOUNDS.iter().flat_map(|(text, operand)| [Part::Text((*text).into()), Part::Operand(*operand)]);
                Ok(Some(Message { parts: parts.collect(), words: vec![len, index] }))
            }
            Self::Allocation => {
                let Some(size) = integer(call, 0) else { return Ok(None) };
                let [before, after] = ALLOCATION_TEXT.map(|text| Part::Text(text.into()));
                Ok(Some(Message { parts: vec![before, Part::Operand(Operand::Unsigned), after], words: vec![size] }))
            }
        }
    }
}

/// The message of a call of `panic_fmt`.
fn format<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    call: InstructionValue<'ctx>,
) -> Result<Option<Message<'ctx>>, BuilderError> {
    let (Some(template), Some(arguments)) = (pointer(call, 0), pointer(call, 1)) else { return Ok(None) };
    // A text without placeholders: its length, doubled, and a bit that says so.
    if let Some(len) = llvm::address_of_integer(arguments) {
        let address = builder.build_ptr_to_int(template, context.i64_type(), "")?;
        let len = builder.build_right_shift(len, context.i64_type().const_int(1, false), false, "")?;
        return Ok(Some(Message { parts: vec![Part::Operand(Operand::Text)], words: vec![address, len] }));
    }
    let Some(parts) = llvm::global_of(template)
        .and_then(|global| llvm::constant_bytes(global, &[]))
        .and_then(|bytes| message::of_core(&bytes))
    else {
        return Ok(None);
    };
    let count = parts.iter().filter(|part| part.is_none()).count();
    let Some(arguments) = array(arguments, count) else { return Ok(None) };
    let shown: Option<Vec<_>> = arguments.iter().map(|(_, function)| Shown::by(*function)).collect();
    let Some(shown) = shown else { return Ok(None) };
    let texts = shown.iter().filter(|shown| shown.operand.is_text()).count();
    if texts > 1 || shown.iter().map(|shown| shown.operand.words()).sum::<usize>() > WORDS {
        return Ok(None);
    }
    let mut words = Vec::new();
    for (shown, (value, _)) in shown.iter().zip(&arguments) {
        words.extend(shown.load(context, builder, *value)?);
    }
    let mut operands = shown.iter();
    let parts = parts.into_iter().map(|part| match part {
        Some(text) => Part::Text(text),
        None => Part::Operand(operands.next().expect("as many as placeholders").operand),
    });
    Ok(Some(Message { parts: parts.collect(), words }))
}

/// The arguments in the array that `start` points to: what is shown, and by which function. Each is stored once.
fn array<'ctx>(start: PointerValue<'ctx>, count: usize) -> Option<Vec<(PointerValue<'ctx>, FunctionValue<'ctx>)>> {
    let alloca = start.as_instruction()?;
    if alloca.get_opcode() != InstructionOpcode::Alloca {
        return None;
    }
    let mut slots: Vec<Option<PointerValue<'ctx>>> = vec![None; 2 * count];
    let mut addresses = vec![(start, 0)];
    while let Some((address, offset)) = addresses.pop() {
        for user in llvm::uses(&address) {
            let Use::Instruction(user) = user else { return None };
            match user.get_opcode() {
                InstructionOpcode::GetElementPtr => {
                    let more = llvm::constant_offset(user)?;
                    addresses.push((llvm::result(user).into_pointer_value(), offset + more));
                }
                InstructionOpcode::Store if pointer(user, 1)? == address => {
                    let slot = slots.get_mut(usize::try_from(offset).ok()? / 8)?;
                    if offset % 8 != 0 || slot.replace(pointer(user, 0)?).is_some() {
                        return None;
                    }
                }
                // The panic itself, and the array's lifetime.
                InstructionOpcode::Call if offset == 0 => {}
                _ => return None,
            }
        }
    }
    let slots: Vec<PointerValue<'ctx>> = slots.into_iter().collect::<Option<_>>()?;
    slots.chunks_exact(2).map(|pair| Some((pair[0], llvm::function_of(pair[1])?))).collect()
}

/// How a value is shown: so many references lead to it.
struct Shown {
    references: usize,
    operand: Operand,
    /// Bits in memory; of a signed integer.
    bits: u32,
    is_signed: bool,
}

impl Shown {
    /// What an implementation of `Display` or `Debug` in `core` shows.
    fn by(function: FunctionValue<'_>) -> Option<Self> {
        let name = demangled(&function.get_name().to_string_lossy());
        let (ty, form) = name.strip_prefix('<')?.strip_suffix(">::fmt")?.split_once(" as core::fmt::")?;
        let is_debug = match form {
            "Display" => false,
            "Debug" => true,
            _ => return None,
        };
        let value = ty.trim_start_matches('&');
        let references = ty.len() - value.len();
        let (operand, bits, is_signed) = match (value, is_debug) {
            ("u8", _) => (Operand::Unsigned, 8, false),
            ("u16", _) => (Operand::Unsigned, 16, false),
            ("u32", _) => (Operand::Unsigned, 32, false),
            ("u64" | "usize", _) => (Operand::Unsigned, 64, false),
            ("u128", _) => (Operand::Unsigned128, 128, false),
            ("i8", _) => (Operand::Signed, 8, true),
            ("i16", _) => (Operand::Signed, 16, true),
            ("i32", _) => (Operand::Signed, 32, true),
            ("i64" | "isize", _) => (Operand::Signed, 64, true),
            ("i128", _) => (Operand::Signed128, 128, true),
            ("bool", _) => (Operand::Bool, 8, false),
            ("char", false) => (Operand::Char, 32, false),
            ("char", true) => (Operand::CharDebug, 32, false),
            ("f32", false) => (Operand::Single, 32, false),
            ("f32", true) => (Operand::SingleDebug, 32, false),
            ("f64", false) => (Operand::Double, 64, false),
            ("f64", true) => (Operand::DoubleDebug, 64, false),
            // The value is a reference itself, of two words.
            ("str", false) => (Operand::Text, 128, false),
            ("str", true) => (Operand::TextDebug, 128, false),
            _ => return None,
        };
        let references = if value == "str" { references.checked_sub(1)? } else { references };
        Some(Self { references, operand, bits, is_signed })
    }

    /// The words of the value that `address` leads to.
    fn load<'ctx>(
        &self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
        mut address: PointerValue<'ctx>,
    ) -> Result<Vec<IntValue<'ctx>>, BuilderError> {
        let word = context.i64_type();
        for _ in 0..self.references {
            address = builder.build_load(context.ptr_type(AddressSpace::default()), address, "")?.into_pointer_value();
        }
        if self.bits == 128 {
            let high = llvm::build_byte_offset(context, builder, address, word.const_int(8, false))?;
            let first = if self.operand.is_text() {
                let start = builder.build_load(context.ptr_type(AddressSpace::default()), address, "")?;
                builder.build_ptr_to_int(start.into_pointer_value(), word, "")?
            } else {
                builder.build_load(word, address, "")?.into_int_value()
            };
            return Ok(vec![first, builder.build_load(word, high, "")?.into_int_value()]);
        }
        let ty =
            context.custom_width_int_type(std::num::NonZeroU32::new(self.bits).expect("a size")).expect("LLVM has it");
        let value = builder.build_load(ty, address, "")?.into_int_value();
        let value = match self.bits {
            64 => value,
            _ if self.is_signed => builder.build_int_s_extend(value, word, "")?,
            _ => builder.build_int_z_extend(value, word, "")?,
        };
        Ok(vec![value])
    }
}

/// The call that the stage [`super::lower`] knows.
fn build<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    message: &Message<'ctx>,
    location: PointerValue<'ctx>,
) -> Result<(), BuilderError> {
    let global = message::global(context, module, &message::encode(&message.parts));
    let mut arguments: Vec<BasicMetadataValueEnum<'_>> = vec![global.as_pointer_value().into(), location.into()];
    arguments.extend(message.words.iter().map(|word| BasicMetadataValueEnum::from(*word)));
    builder.build_call(function(context, module, message.words.len()), &arguments, "")?;
    Ok(())
}

/// Panics with so many words of operands.
fn function<'ctx>(context: &'ctx Context, module: &Module<'ctx>, words: usize) -> FunctionValue<'ctx> {
    let name = format!("{PANIC_WITH}{words}");
    module.get_function(&name).unwrap_or_else(|| {
        let pointer = context.ptr_type(AddressSpace::default()).into();
        let mut params = vec![pointer, pointer];
        params.resize(2 + words, context.i64_type().into());
        let function = module.add_function(&name, context.void_type().fn_type(&params, false), None);
        for attribute in ["noreturn", "cold", "nounwind", "noinline"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
        }
        function
    })
}

/// Inlines what `core` and others keep apart because panics are large: they no longer are, and a call takes 24 registers.
fn inline(context: &Context, module: &Module<'_>) {
    let kind = Attribute::get_named_enum_kind_id;
    loop {
        let mut found = Vec::new();
        for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
            let has = |name| function.get_enum_attribute(AttributeLoc::Function, kind(name)).is_some();
            if has("noreturn") && !has("alwaysinline") && only_panics(function) {
                found.push(function);
            }
        }
        if found.is_empty() {
            return;
        }
        for function in found {
            llvm::allow_inlining(function);
            for name in ["minsize", "optsize"] {
                function.remove_enum_attribute(AttributeLoc::Function, kind(name));
            }
            function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind("alwaysinline"), 0));
        }
    }
}

/// Whether nothing is called but panics for the host, and what is inlined anyway.
fn only_panics(function: FunctionValue<'_>) -> bool {
    let inlined = Attribute::get_named_enum_kind_id("alwaysinline");
    let mut calls = 0;
    let small = llvm::instructions(function).take(MOST_INSTRUCTIONS + 1).count() <= MOST_INSTRUCTIONS;
    small
        && llvm::instructions(function).filter(|i| i.get_opcode() == InstructionOpcode::Call).all(|call| {
            let Some(callee) = llvm::called_function(call) else { return false };
            let name = callee.get_name().to_string_lossy();
            let panics = name.starts_with(PANIC_WITH)
                || callee.get_enum_attribute(AttributeLoc::Function, inlined).is_some() && !is_format(&name);
            calls += usize::from(panics);
            panics || name.starts_with("llvm.")
        })
        && calls > 0
}

/// Whether it formats on the device.
fn is_format(name: &str) -> bool {
    name.contains("panic") && SINKS.contains(&demangled(name).as_str())
}

fn demangled(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

fn pointer(instruction: InstructionValue<'_>, index: u32) -> Option<PointerValue<'_>> {
    match instruction.get_operand(index)?.value()? {
        BasicValueEnum::PointerValue(pointer) => Some(pointer),
        _ => None,
    }
}

fn integer(instruction: InstructionValue<'_>, index: u32) -> Option<IntValue<'_>> {
    match instruction.get_operand(index)?.value()? {
        BasicValueEnum::IntValue(value) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::AnyValue;

    /// `call` and what stands before it, in a function of a module with all that they refer to.
    fn handed_over(body: &str) -> String {
        let text = format!(
            r#"
            @plain = private constant [10 x i8] c"\05text \C0\01!\00"
            @wide = private constant [5 x i8] c"\C2\05\00\00\00"
            @constant = private constant [4 x i8] c"text"
            @location = private constant [24 x i8] zeroinitializer
            declare void @"_RNvXs5_NtNtNtCs0_4core3fmt3num3implNtB9_7Display3fmt"()
            declare void @"_RNvXs1i_NtCs0_4core3fmtReNtB6_7Display3fmtB8_"()
            declare void @"_RNvXNtCs0_4userNtB0_4TypeNtNtCs0_4core3fmt7Display3fmt"()
            declare void @_RNvNtCs0_4core9panicking9panic_fmt(ptr, ptr, ptr)
            declare void @other(ptr)
            define internal void @f(i64 %number, ptr %text) {{
              %args = alloca [16 x i8]
              %second = getelementptr inbounds i8, ptr %args, i64 8
              %value = alloca i64
              store i64 %number, ptr %value
              {body}
              unreachable
            }}"#
        );
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        hand_over(&context, &module, OptLevel::O3).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const NUMBER: &str = "@\"_RNvXs5_NtNtNtCs0_4core3fmt3num3implNtB9_7Display3fmt\"";
    const TEXT: &str = "@\"_RNvXs1i_NtCs0_4core3fmtReNtB6_7Display3fmtB8_\"";
    const USERS: &str = "@\"_RNvXNtCs0_4userNtB0_4TypeNtNtCs0_4core3fmt7Display3fmt\"";

    fn with(value: &str, function: &str, template: &str) -> String {
        handed_over(&format!(
            "store ptr %{value}, ptr %args
             store ptr {function}, ptr %second
             call void @_RNvNtCs0_4core9panicking9panic_fmt(ptr @{template}, ptr %args, ptr @location)"
        ))
    }

    #[test]
    fn numbers_go_to_the_host() {
        let ir = with("value", NUMBER, "plain");
        assert!(ir.contains("load i32, ptr %value"), "{ir}");
        assert!(ir.contains("sext i32") && ir.contains("@__rust_ptx_panic_with_1(ptr @__rust_ptx_message"), "{ir}");
        assert!(!ir.contains("panic_fmt"), "{ir}");
    }

    #[test]
    fn texts_go_by_address_and_length() {
        let ir = with("text", TEXT, "plain");
        assert!(ir.contains("ptrtoint") && ir.contains("@__rust_ptx_panic_with_2("), "{ir}");
        let ir = handed_over(
            "call void @_RNvNtCs0_4core9panicking9panic_fmt(ptr @constant, ptr inttoptr (i64 9 to ptr), ptr @location)",
        );
        assert!(ir.contains("@__rust_ptx_panic_with_2(") && ir.contains("i64 4)"), "{ir}");
    }

    #[test]
    fn what_the_host_does_not_know_stays() {
        for (value, function, template) in [("value", USERS, "plain"), ("value", NUMBER, "wide")] {
            let ir = with(value, function, template);
            assert!(ir.contains("panic_fmt") && !ir.contains(PANIC_WITH), "{ir}");
        }
        // Somebody else may have written the array; a slot is written twice.
        for more in ["call void @other(ptr %second)", "store ptr %text, ptr %args"] {
            let ir = handed_over(&format!(
                "store ptr %value, ptr %args
                 store ptr {NUMBER}, ptr %second
                 {more}
                 call void @_RNvNtCs0_4core9panicking9panic_fmt(ptr @plain, ptr %args, ptr @location)"
            ));
            assert!(ir.contains("panic_fmt") && !ir.contains(PANIC_WITH), "{ir}");
        }
    }
}
