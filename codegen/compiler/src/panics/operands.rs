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

use std::cell::Cell;

use ptx_abi::panic::{Operand, WORDS};

use super::assign::{ALLOCATION, BOUNDS_CHECK, SINKS};
use super::branches::Ways;
use super::message::{self, Part};
use super::shown::{Address, Frame, Pieces, Reader, Shown, demangled, operand_of, pointer};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, Attribute, AttributeLoc, BasicBlock, BasicMetadataValueEnum, BasicValueEnum, Builder,
    BuilderError, Context, FunctionValue, InstructionOpcode, InstructionValue, IntValue, Module, PointerValue,
};
use crate::marks::PANIC_WITH;
use crate::request::OptLevel;

/// What a bounds check says, as `core` does.
const BOUNDS: [&str; 2] = ["index out of bounds: the len is ", " but the index is "];

/// What a failed allocation says: `ptx-device`'s `__ptx_rt_alloc_error`, which unoptimised code calls.
const ALLOCATION_TEXT: [&str; 2] = [
    "memory allocation of ",
    " bytes failed: the device heap is full. Allow more with Device::set_heap_size (cuCtxSetLimit, \
     CU_LIMIT_MALLOC_HEAP_SIZE) before the first kernel that allocates",
];

/// What `assert_eq!` and `assert_ne!` call, for each pair of types.
const ASSERTION: &str = "core::panicking::assert_failed::<";

/// And what that calls.
const ASSERTION_INNER: &str = "core::panicking::assert_failed_inner";

/// What `unwrap` and `expect` of an error call.
const ERROR: &str = "core::result::unwrap_failed";

/// Functions that only panic are inlined with up to so many panics.
const MOST_PANICS: usize = 8;

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
    let sinks: Vec<(FunctionValue<'ctx>, Sink<'ctx>)> =
        llvm::functions(module).filter_map(|function| Some((function, Sink::of(module, function)?))).collect();
    let builder = context.create_builder();
    let reader = Reader { context, builder: &builder };
    // In the order of the code: that of uses depends on what rustc wrote for debuggers.
    for caller in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0).collect::<Vec<_>>() {
        let calls = llvm::instructions(caller).filter(|call| call.get_opcode() == InstructionOpcode::Call);
        for call in calls.collect::<Vec<_>>() {
            let callee = llvm::called_function(call);
            let Some((function, sink)) = sinks.iter().find(|(function, _)| Some(*function) == callee) else { continue };
            let (function, sink) = (*function, *sink);
            builder.position_before(&call);
            let Some((message, location)) = sink.message(&reader, function, call)? else { continue };
            let panic = |message: &Pieces<'ctx>| build(context, module, &builder, message, location);
            if message.branches.is_empty() {
                if panic(&message)? {
                    call.erase_from_basic_block();
                }
                continue;
            }
            let end = call.get_next_instruction().filter(|end| end.get_opcode() == InstructionOpcode::Unreachable);
            let within = call.get_parent().and_then(BasicBlock::get_parent);
            let (Some(end), Some(function)) = (end, within) else { continue };
            let ways = Ways { reader: &reader, function, panic, count: Cell::new(0) };
            if let Some(first) = ways.write(&message)? {
                builder.position_before(&end);
                builder.build_unconditional_branch(first)?;
                end.erase_from_basic_block();
                call.erase_from_basic_block();
            }
        }
    }
    Ok(())
}

/// What panics are calls of.
#[derive(Clone, Copy)]
enum Sink<'ctx> {
    /// `core::panicking::panic_fmt(template, arguments, …, location)`
    Format,
    /// The runtime's, for a failed bounds check: `(index, len, location)`
    Bounds,
    /// The runtime's, for a failed allocation: `(size, align)`
    Allocation,
    /// `core::panicking::assert_failed::<…>`, and what that calls.
    Assertion(FunctionValue<'ctx>),
    /// `core::result::unwrap_failed`
    Error,
}

impl<'ctx> Sink<'ctx> {
    fn of(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Option<Self> {
        let name = function.get_name().to_string_lossy();
        match &*name {
            BOUNDS_CHECK => Some(Self::Bounds),
            ALLOCATION => Some(Self::Allocation),
            name if is_format(name) => Some(Self::Format),
            name if name.contains("assert_failed") => match demangled(name) {
                name if name == ASSERTION_INNER => Some(Self::Assertion(function)),
                name if name.starts_with(ASSERTION) => {
                    let is_inner =
                        |f: &FunctionValue<'_>| demangled(&f.get_name().to_string_lossy()) == ASSERTION_INNER;
                    llvm::functions(module).find(is_inner).map(Self::Assertion)
                }
                _ => None,
            },
            name if name.contains("unwrap_failed") && demangled(name) == ERROR => Some(Self::Error),
            _ => None,
        }
    }

    /// The message of a call, and where it stands; `None` if only the device can put it into words.
    fn message(
        self,
        reader: &Reader<'_, 'ctx>,
        function: FunctionValue<'ctx>,
        call: InstructionValue<'ctx>,
    ) -> Result<Option<(Pieces<'ctx>, PointerValue<'ctx>)>, BuilderError> {
        let (last, nowhere) =
            (function.count_params().saturating_sub(1), reader.context.ptr_type(AddressSpace::default()));
        let pieces = match self {
            Self::Assertion(inner) => return assertion(reader, inner, call),
            Self::Allocation => {
                let pieces = llvm::int_operand(call, 0).map(|size| pieces(&ALLOCATION_TEXT, &[size]));
                return Ok(pieces.map(|pieces| (pieces, nowhere.const_null())));
            }
            Self::Bounds => llvm::int_operand(call, 1)
                .zip(llvm::int_operand(call, 0))
                .map(|(len, index)| pieces(&BOUNDS, &[len, index])),
            Self::Format => format(reader, call)?,
            Self::Error => error(reader, function, call)?,
        };
        Ok(pieces.zip(pointer(call, last)))
    }
}

/// Numbers behind texts.
fn pieces<'ctx>(texts: &[&str], numbers: &[IntValue<'ctx>]) -> Pieces<'ctx> {
    let mut pieces = Pieces::default();
    for (index, text) in texts.iter().enumerate() {
        pieces.text(*text);
        if let Some(number) = numbers.get(index) {
            pieces.operand(Operand::Unsigned, [*number]);
        }
    }
    pieces
}

/// The message of a call of `panic_fmt`.
fn format<'ctx>(reader: &Reader<'_, 'ctx>, call: InstructionValue<'ctx>) -> Shown<'ctx> {
    match (pointer(call, 0), pointer(call, 1)) {
        (Some(template), Some(arguments)) => reader.template(template, arguments),
        _ => Ok(None),
    }
}

/// What `assert_eq!` and `assert_ne!` say, and where they stand: the text is that of the template in `inner`. `call` calls
/// that, or what calls it for values of certain types, with some of what is said.
fn assertion<'ctx>(
    reader: &Reader<'_, 'ctx>,
    inner: FunctionValue<'ctx>,
    call: InstructionValue<'ctx>,
) -> Result<Option<(Pieces<'ctx>, PointerValue<'ctx>)>, BuilderError> {
    let callee = llvm::called_function(call).filter(|callee| *callee != inner);
    let within = callee.map_or(Some(call), |callee| {
        llvm::instructions(callee).find(|call| llvm::called_function(*call) == Some(inner))
    });
    let Some(within) = within else { return Ok(None) };
    let frame = callee.map(|_| Frame::of(call));
    let given = |index| match (operand_of(within, index), &frame) {
        (Some(value), Some(frame)) => reader.plain(value, frame),
        (value, _) => Ok(value),
    };
    let Some(BasicValueEnum::PointerValue(location)) = given(7)? else { return Ok(None) };
    let comparison = match given(0)? {
        Some(BasicValueEnum::IntValue(kind)) if kind.get_zero_extended_constant() == Some(0) => "==",
        Some(BasicValueEnum::IntValue(kind)) if kind.get_zero_extended_constant() == Some(1) => "!=",
        _ => return Ok(None),
    };
    let mut shown = vec![Pieces::of(comparison)];
    let Some(BasicValueEnum::PointerValue(template)) = given(5)? else { return Ok(None) };
    if !template.is_null() {
        let Some(BasicValueEnum::PointerValue(arguments)) = given(6)? else { return Ok(None) };
        let Some(added) = reader.template(template, arguments)? else { return Ok(None) };
        shown.push(added);
    }
    for index in [1, 3] {
        let (Some(value), Some(table)) = (pointer(within, index), pointer(within, index + 1)) else { return Ok(None) };
        let address = match &frame {
            Some(frame) => reader.address(value, frame)?,
            None => Some(Address::At(value)),
        };
        let Some(address) = address else { return Ok(None) };
        let Some(value) = reader.dynamic(address, table)? else { return Ok(None) };
        shown.push(value);
    }
    Ok(in_template(inner, shown).map(|pieces| (pieces, location)))
}

/// What `unwrap` and `expect` of an error say, `core::result::unwrap_failed(text, len, error, table, location)`.
fn error<'ctx>(reader: &Reader<'_, 'ctx>, function: FunctionValue<'ctx>, call: InstructionValue<'ctx>) -> Shown<'ctx> {
    let (Some(start), Some(len)) = (pointer(call, 0), llvm::int_operand(call, 1)) else { return Ok(None) };
    let (Some(error), Some(table)) = (pointer(call, 2), pointer(call, 3)) else { return Ok(None) };
    let text = reader.text_of(start, len, Operand::Text)?;
    let Some(error) = reader.dynamic(Address::At(error), table)? else { return Ok(None) };
    Ok(in_template(function, vec![text, error]))
}

/// What a function of `core` with one template for so many values says of these.
fn in_template<'ctx>(function: FunctionValue<'ctx>, shown: Vec<Pieces<'ctx>>) -> Option<Pieces<'ctx>> {
    let templates = llvm::instructions(function)
        .filter(|call| {
            llvm::called_function(*call).is_some_and(|callee| is_format(&callee.get_name().to_string_lossy()))
        })
        .filter_map(|call| message::of_core(&llvm::constant_bytes(llvm::global_of(pointer(call, 0)?)?, &[])?));
    let mut fitting = templates.filter(|parts| parts.iter().filter(|part| part.is_none()).count() == shown.len());
    let (template, None) = (fitting.next()?, fitting.next()) else { return None };
    let mut shown = shown.into_iter();
    let mut pieces = Pieces::default();
    for part in template {
        match part {
            Some(text) => pieces.text(text),
            None => pieces.add(shown.next()?),
        }
    }
    Some(pieces)
}

/// The call that the stage [`super::lower`] knows, if a record has room for all of the message.
fn build<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    message: &Pieces<'ctx>,
    location: PointerValue<'ctx>,
) -> Result<bool, BuilderError> {
    let texts = message.parts.iter().filter(|part| matches!(part, Part::Operand(operand) if operand.is_text()));
    if texts.count() > 1 || message.words.len() > WORDS {
        return Ok(false);
    }
    let global = message::global(context, module, &message::encode(&message.parts));
    let mut arguments: Vec<BasicMetadataValueEnum<'_>> = vec![global.as_pointer_value().into(), location.into()];
    arguments.extend(message.words.iter().map(|word| BasicMetadataValueEnum::from(*word)));
    builder.build_call(function(context, module, message.words.len()), &arguments, "")?;
    Ok(true)
}

/// Panics with so many words of operands.
pub fn function<'ctx>(context: &'ctx Context, module: &Module<'ctx>, words: usize) -> FunctionValue<'ctx> {
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
    llvm::instructions(function).filter(|i| i.get_opcode() == InstructionOpcode::Call).all(|call| {
        let Some(callee) = llvm::called_function(call) else { return false };
        let name = callee.get_name().to_string_lossy();
        let panics = name.starts_with(PANIC_WITH)
            || callee.get_enum_attribute(AttributeLoc::Function, inlined).is_some() && !is_format(&name);
        calls += usize::from(panics);
        panics || name.starts_with("llvm.")
    }) && (1..=MOST_PANICS).contains(&calls)
}

/// Whether it formats on the device.
fn is_format(name: &str) -> bool {
    name.contains("panic") && SINKS.contains(&demangled(name).as_str())
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
            declare void @_RNvNtCs0_4core9panicking9panic_fmt(ptr, ptr, ptr)
            declare void @other(ptr)
            @fault = private constant [5 x i8] c"Fault"
            @at = private constant [2 x i8] c"at"
            @table = private constant {{ [24 x i8], ptr }} {{ [24 x i8] zeroinitializer, ptr {DERIVED} }}
            @failed = private constant [6 x i8] c"\C0\02: \C0\00"
            @display = private constant {{ [24 x i8], ptr }} {{ [24 x i8] zeroinitializer, ptr {NUMBER} }}
            declare i1 @"_RNvMsa_NtCs0_4core3fmtNtB5_9Formatter26debug_struct_field1_finish"(ptr, ptr, i64, ptr, i64, ptr, ptr)
            define i1 {DERIVED}(ptr %self, ptr %f) {{
              %at = getelementptr i8, ptr %self, i64 4
              %done = call i1 @"_RNvMsa_NtCs0_4core3fmtNtB5_9Formatter26debug_struct_field1_finish"(
                ptr %f, ptr @fault, i64 5, ptr @at, i64 2, ptr %at, ptr @display)
              ret i1 %done
            }}
            define i1 {CHOICE}(ptr %self, ptr %f) {{
              %tag = load i8, ptr %self
              switch i8 %tag, label %never [ i8 0, label %none  i8 1, label %some ]
            never:
              unreachable
            none:
              %first = call i1 @"_RNvMsa_NtCs0_4core3fmtNtB5_9Formatter9write_str"(ptr %f, ptr @fault, i64 5)
              br label %end
            some:
              %second = call i1 {DERIVED}(ptr %self, ptr %f)
              br label %end
            end:
              %done = phi i1 [ %first, %none ], [ %second, %some ]
              ret i1 %done
            }}
            declare i1 @"_RNvMsa_NtCs0_4core3fmtNtB5_9Formatter9write_str"(ptr, ptr, i64)
            define void {ERROR_FUNCTION}(ptr %text, i64 %len, ptr %error, ptr %table, ptr %location) {{
              call void @_RNvNtCs0_4core9panicking9panic_fmt(ptr @failed, ptr null, ptr %location)
              unreachable
            }}
            define i1 {USERS}(ptr %self, ptr %f) {{
              call void @other(ptr %self)
              %done = call i1 {DERIVED}(ptr %self, ptr %f)
              ret i1 %done
            }}
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
    const DERIVED: &str = "@\"_RNvXNtCs0_4userNtB0_5FaultNtNtCs0_4core3fmt5Debug3fmt\"";
    const CHOICE: &str = "@\"_RNvXNtCs0_4userNtB0_6ChoiceNtNtCs0_4core3fmt5Debug3fmt\"";
    const ERROR_FUNCTION: &str = "@_RNvNtCs0_4core6result13unwrap_failed";
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
        assert!(ir.contains("@__rust_ptx_panic_with_0("), "a constant is part of the message: {ir}");
    }

    #[test]
    fn what_is_derived_is_read() {
        let ir = with("value", DERIVED, "plain");
        assert!(ir.contains("getelementptr i8, ptr %value, i64 4") && ir.contains("sext i32"), "{ir}");
        assert!(ir.contains("@__rust_ptx_panic_with_1(") && !ir.contains("panic_fmt"), "{ir}");
    }

    #[test]
    fn what_is_shown_in_several_ways_is_several_panics() {
        let ir = with("value", CHOICE, "plain");
        assert!(ir.contains("switch i8") && ir.contains("@__rust_ptx_panic_with_0("), "{ir}");
        assert!(ir.contains("@__rust_ptx_panic_with_1(") && !ir.contains("panic_fmt"), "{ir}");
    }

    #[test]
    fn errors_go_with_their_text() {
        let ir = handed_over(&format!(
            "call void {ERROR_FUNCTION}(ptr @constant, i64 4, ptr %value, ptr @table, ptr @location)"
        ));
        assert!(ir.contains("@__rust_ptx_panic_with_1(") && ir.contains("ptr @location, i64"), "{ir}");
        assert!(!ir.contains("unwrap_failed"), "{ir}");
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
