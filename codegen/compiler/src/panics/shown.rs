//! What the `Display` or `Debug` of a value writes, as parts of a message and the words of its operands.
//!
//! `core`'s own for numbers, texts and the like are known by name. Others are read: what `derive(Debug)` makes of a struct,
//! or of an enum without fields, and what one `write!` makes, is a call of `core::fmt` with constant texts and addresses of
//! fields, as in
//!
//! ```text
//! define i1 @<user::Problem as core::fmt::Debug>::fmt(ptr %self, ptr %f) {
//!   %at = getelementptr i8, ptr %self, i64 4
//!   %done = call i1 @<core::fmt::Formatter>::debug_struct_field2_finish(ptr %f, ptr @"Problem", i64 7,
//!     ptr @"code", i64 4, ptr %self, ptr @<u32 as Debug>, ptr @"at", i64 2, ptr %at, ptr @<i8 as Debug>)
//!   ret i1 %done
//! }
//! ```
//!
//! where the message says `Problem { code: `, the number at `%self`, `, at: `, the number at `%at`, ` }`. The addresses are
//! computed at the panic, from what stands there. What branches, loops or writes on its way is not read.

use ptx_abi::panic::Operand;

use super::message::{self, Part};
use crate::llvm::{
    self, AddressSpace, AsValueRef, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode, InstructionValue, IntValue, PointerValue, Use,
};

/// How deep values may lie in others.
const MOST_LEVELS: usize = 8;

/// What a value adds to a message; nothing where only the device can show it.
pub type Shown<'ctx> = Result<Option<Pieces<'ctx>>, BuilderError>;

/// A part of a message with its words.
#[derive(Clone, Default)]
pub struct Pieces<'ctx> {
    pub parts: Vec<Part>,
    pub words: Vec<IntValue<'ctx>>,
    /// Values whose formatting branches, in their order.
    pub branches: Vec<Branch<'ctx>>,
}

/// A value that is shown in one of several ways, which stands behind so many parts and words.
#[derive(Clone, Copy)]
pub struct Branch<'ctx> {
    pub parts: usize,
    pub words: usize,
    /// Its `Display` or `Debug`.
    pub function: FunctionValue<'ctx>,
    pub address: Address<'ctx>,
    pub level: usize,
}

impl<'ctx> Pieces<'ctx> {
    /// A text alone.
    pub fn of(text: &str) -> Self {
        Self { parts: vec![Part::Text(text.into())], ..Self::default() }
    }

    pub fn text(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Text(text.into()));
    }

    pub fn add(&mut self, other: Self) {
        let (parts, words) = (self.parts.len(), self.words.len());
        let moved =
            |branch: Branch<'ctx>| Branch { parts: branch.parts + parts, words: branch.words + words, ..branch };
        self.branches.extend(other.branches.into_iter().map(moved));
        self.parts.extend(other.parts);
        self.words.extend(other.words);
    }

    pub fn operand(&mut self, operand: Operand, words: impl IntoIterator<Item = IntValue<'ctx>>) {
        self.parts.push(Part::Operand(operand));
        self.words.extend(words);
    }
}

/// Where a value is.
#[derive(Clone, Copy)]
pub enum Address<'ctx> {
    /// In memory.
    At(PointerValue<'ctx>),
    /// In a variable that need not exist: this is what it holds.
    Holding(BasicValueEnum<'ctx>),
}

/// Reads formatting, and computes what it needs where the builder stands.
pub struct Reader<'a, 'ctx> {
    pub context: &'ctx Context,
    pub builder: &'a Builder<'ctx>,
}

/// A function whose values are asked for: what its parameters are here.
pub struct Frame<'ctx> {
    params: Vec<Option<Given<'ctx>>>,
    /// The block that control comes from, which decides what phis are.
    pub from: Option<BasicBlock<'ctx>>,
}

/// What a parameter is at the call.
#[derive(Clone, Copy)]
pub enum Given<'ctx> {
    /// Itself.
    Value(BasicValueEnum<'ctx>),
    /// The address of a variable that need not exist, with what it holds.
    Holding(BasicValueEnum<'ctx>),
}

impl<'ctx> Frame<'ctx> {
    /// Of what formats a value.
    pub fn at(address: Address<'ctx>) -> Self {
        let this = match address {
            Address::At(pointer) => Given::Value(pointer.into()),
            Address::Holding(value) => Given::Holding(value),
        };
        Self { params: vec![Some(this), None], from: None }
    }

    /// Of what `call` calls.
    pub fn of(call: InstructionValue<'ctx>) -> Self {
        // The last operand is the function.
        let operands = 0..call.get_num_operands().saturating_sub(1);
        Self { params: operands.map(|index| operand_of(call, index).map(Given::Value)).collect(), from: None }
    }

    fn param(&self, value: impl AsValueRef) -> Option<Option<Given<'ctx>>> {
        Some(self.params.get(llvm::param_index(value)?).copied().flatten())
    }
}

impl<'ctx> Reader<'_, 'ctx> {
    /// What `function`, a `Display` or `Debug`, writes of the value there.
    pub fn value(&self, function: FunctionValue<'ctx>, address: Address<'ctx>, level: usize) -> Shown<'ctx> {
        if let Some(known) = Known::by(function) {
            let words = self.words(&known, address)?;
            let parts = vec![Part::Operand(known.operand)];
            return Ok(words.map(|words| Pieces { parts, words, ..Pieces::default() }));
        }
        if level == MOST_LEVELS || function.count_params() != 2 {
            return Ok(None);
        }
        let frame = Frame::at(address);
        match last_call(function) {
            Some(call) if is_only_effect(llvm::instructions(function), call) => {
                self.call(function, call, &frame, level)
            }
            None if branches(function) => {
                let branch = Branch { parts: 0, words: 0, function, address, level };
                Ok(Some(Pieces { branches: vec![branch], ..Pieces::default() }))
            }
            _ => Ok(None),
        }
    }

    /// What a template with these arguments writes, at the panic itself.
    pub fn template(&self, template: PointerValue<'ctx>, arguments: PointerValue<'ctx>) -> Shown<'ctx> {
        self.format(template, arguments, None, 0)
    }

    /// What `assert_eq!`, `unwrap` and others show by a pointer and the table of its `Debug`.
    pub fn dynamic(&self, address: Address<'ctx>, table: PointerValue<'ctx>) -> Shown<'ctx> {
        match debug_of(table) {
            Some(function) => self.value(function, address, 0),
            None => Ok(None),
        }
    }

    /// What a call at the end of a function that formats writes.
    pub fn call(
        &self,
        function: FunctionValue<'ctx>,
        call: InstructionValue<'ctx>,
        frame: &Frame<'ctx>,
        level: usize,
    ) -> Shown<'ctx> {
        let Some(callee) = llvm::called_function(call) else { return Ok(None) };
        let formatter = |index| pointer(call, index).and_then(llvm::param_index) == Some(1);
        let name = demangled(&callee.get_name().to_string_lossy());
        match &*name {
            "<core::fmt::Formatter>::write_str" | "<core::fmt::Formatter>::pad" if formatter(0) => {
                self.text(call, 1, Operand::Text, frame)
            }
            "<str as core::fmt::Display>::fmt" if formatter(2) => self.text(call, 0, Operand::Text, frame),
            "<str as core::fmt::Debug>::fmt" if formatter(2) => self.text(call, 0, Operand::TextDebug, frame),
            "core::fmt::write" if is_buffer_of(function, call) => {
                let (Some(template), Some(arguments)) = (pointer(call, 2), pointer(call, 3)) else { return Ok(None) };
                self.format(template, arguments, Some(frame), level + 1)
            }
            "<core::fmt::Formatter>::write_fmt" if formatter(0) => {
                let (Some(template), Some(arguments)) = (pointer(call, 1), pointer(call, 2)) else { return Ok(None) };
                self.format(template, arguments, Some(frame), level + 1)
            }
            name if formatter(0) && name.starts_with("<core::fmt::Formatter>::debug_") => {
                let name = name.trim_start_matches("<core::fmt::Formatter>::debug_");
                self.derived(call, name, frame, level + 1)
            }
            _ if callee.count_params() == 2 && formatter(1) => {
                let address = pointer(call, 0).map(|value| self.address(value, frame)).transpose()?.flatten();
                address.map_or(Ok(None), |address| self.value(callee, address, level + 1))
            }
            _ => Ok(None),
        }
    }

    /// A text by the call's operands from `at` on, its address and its length.
    fn text(&self, call: InstructionValue<'ctx>, at: u32, operand: Operand, frame: &Frame<'ctx>) -> Shown<'ctx> {
        let (Some(start), Some(len)) = (operand_of(call, at), operand_of(call, at + 1)) else { return Ok(None) };
        let (Some(start), Some(len)) = (self.plain(start, frame)?, self.plain(len, frame)?) else { return Ok(None) };
        match (start, len) {
            (BasicValueEnum::PointerValue(start), BasicValueEnum::IntValue(len)) => {
                self.text_of(start, len, operand).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A text, as one where it is constant.
    pub fn text_of(
        &self,
        start: PointerValue<'ctx>,
        len: IntValue<'ctx>,
        operand: Operand,
    ) -> Result<Pieces<'ctx>, BuilderError> {
        let mut pieces = Pieces::default();
        match constant_text(start, len) {
            Some(text) => pieces.text(operand.shown([0; 2], &text).to_string()),
            None => {
                let start = self.builder.build_ptr_to_int(start, self.context.i64_type(), "")?;
                pieces.operand(operand, [start, len]);
            }
        }
        Ok(pieces)
    }

    /// `debug_struct_field2_finish(f, name, len, name, len, value, table, name, len, value, table)` and its like.
    fn derived(&self, call: InstructionValue<'ctx>, name: &str, frame: &Frame<'ctx>, level: usize) -> Shown<'ctx> {
        let fields = |name: &str| name.strip_suffix("_finish")?.parse::<u32>().ok();
        let (count, is_struct) = match (name.strip_prefix("struct_field"), name.strip_prefix("tuple_field")) {
            (Some(name), _) => (fields(name), true),
            (_, Some(name)) => (fields(name), false),
            _ => (None, false),
        };
        let constant = |at| match (operand_of(call, at)?, operand_of(call, at + 1)?) {
            (BasicValueEnum::PointerValue(start), BasicValueEnum::IntValue(len)) => constant_text(start, len),
            _ => None,
        };
        // A tuple without a name ends in a comma.
        let Some(name) = constant(1).filter(|name| !name.is_empty()) else { return Ok(None) };
        let Some(count) = count else { return Ok(None) };
        let mut pieces = Pieces::default();
        pieces.text(name);
        pieces.text(if is_struct { " { " } else { "(" });
        for field in 0..count {
            let at = 3 + field * if is_struct { 4 } else { 2 };
            if field > 0 {
                pieces.text(", ");
            }
            let at = if is_struct {
                let Some(name) = constant(at) else { return Ok(None) };
                pieces.text(name);
                pieces.text(": ");
                at + 2
            } else {
                at
            };
            let Some(debug) = pointer(call, at + 1).and_then(debug_of) else { return Ok(None) };
            let address = pointer(call, at).map(|value| self.address(value, frame)).transpose()?.flatten();
            let Some(address) = address else { return Ok(None) };
            let Some(value) = self.value(debug, address, level)? else { return Ok(None) };
            pieces.add(value);
        }
        pieces.text(if is_struct { " }" } else { ")" });
        Ok(Some(pieces))
    }

    /// What a template with these arguments writes, in a function with a frame or at the panic itself.
    fn format(
        &self,
        template: PointerValue<'ctx>,
        arguments: PointerValue<'ctx>,
        frame: Option<&Frame<'ctx>>,
        level: usize,
    ) -> Shown<'ctx> {
        let word = self.context.i64_type();
        // A text without placeholders: its length, doubled, and a bit that says so.
        if let Some(len) = llvm::address_of_integer(arguments) {
            if frame.is_some() && !(len.is_const() && llvm::global_of(template).is_some()) {
                return Ok(None);
            }
            let len = self.builder.build_right_shift(len, word.const_int(1, false), false, "")?;
            return self.text_of(template, len, Operand::Text).map(Some);
        }
        let parts = llvm::global_of(template)
            .and_then(|global| llvm::constant_bytes(global, &[]))
            .and_then(|bytes| message::of_core(&bytes));
        let Some(parts) = parts else { return Ok(None) };
        let count = parts.iter().filter(|part| part.is_none()).count();
        let Some(arguments) = array(arguments, count) else { return Ok(None) };
        let mut arguments = arguments.into_iter();
        let mut pieces = Pieces::default();
        for part in parts {
            let Some((value, function)) = part.is_none().then(|| arguments.next()).flatten() else {
                pieces.text(part.unwrap_or_default());
                continue;
            };
            let address = match frame {
                None => Some(Address::At(value)),
                Some(frame) => self.address(value, frame)?,
            };
            let Some(address) = address else { return Ok(None) };
            let Some(shown) = self.value(function, address, level)? else { return Ok(None) };
            pieces.add(shown);
        }
        Ok(Some(pieces))
    }

    /// Where a pointer in a function points to here.
    pub fn address(
        &self,
        value: PointerValue<'ctx>,
        frame: &Frame<'ctx>,
    ) -> Result<Option<Address<'ctx>>, BuilderError> {
        if let Some(param) = frame.param(value) {
            return Ok(match param {
                Some(Given::Value(BasicValueEnum::PointerValue(pointer))) => Some(Address::At(pointer)),
                Some(Given::Holding(value)) => Some(Address::Holding(value)),
                _ => None,
            });
        }
        let alloca = value.as_instruction().filter(|i| i.get_opcode() == InstructionOpcode::Alloca);
        Ok(match alloca {
            Some(_) => match held(value) {
                Some(held) => self.plain(held, frame)?.map(Address::Holding),
                None => None,
            },
            None => match self.plain(value.into(), frame)? {
                Some(BasicValueEnum::PointerValue(pointer)) => Some(Address::At(pointer)),
                _ => None,
            },
        })
    }

    /// The value in a function, computed here.
    pub fn plain(
        &self,
        value: BasicValueEnum<'ctx>,
        frame: &Frame<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>, BuilderError> {
        use InstructionOpcode as Op;
        if let Some(param) = frame.param(value) {
            return Ok(match param {
                Some(Given::Value(value)) => Some(value),
                _ => None,
            });
        }
        let Some(instruction) = llvm::instruction_of(value) else {
            return Ok(llvm::is_constant(&value).then_some(value));
        };
        match instruction.get_opcode() {
            Op::Load => {
                let Some(from) = pointer(instruction, 0) else { return Ok(None) };
                match self.address(from, frame)? {
                    Some(Address::Holding(held)) if held.get_type() == value.get_type() => Ok(Some(held)),
                    Some(Address::At(from)) => {
                        Ok(Some(llvm::copy_instruction(self.builder, instruction, &[from.into()])))
                    }
                    _ => Ok(None),
                }
            }
            Op::Phi => match llvm::incoming(instruction).into_iter().find(|(_, from)| Some(*from) == frame.from) {
                Some((value, _)) if llvm::is_constant(&value) => Ok(Some(value)),
                _ => Ok(None),
            },
            Op::GetElementPtr
            | Op::ZExt
            | Op::SExt
            | Op::Trunc
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Add
            | Op::Sub
            | Op::Shl
            | Op::LShr
            | Op::ICmp
            | Op::Select
            | Op::PtrToInt => {
                let mut operands = Vec::new();
                for index in 0..instruction.get_num_operands() {
                    let Some(operand) = operand_of(instruction, index) else { return Ok(None) };
                    let Some(operand) = self.plain(operand, frame)? else { return Ok(None) };
                    operands.push(operand);
                }
                Ok(Some(llvm::copy_instruction(self.builder, instruction, &operands)))
            }
            _ => Ok(None),
        }
    }

    /// The words of a value that is shown as `core` does.
    fn words(&self, known: &Known, mut address: Address<'ctx>) -> Result<Option<Vec<IntValue<'ctx>>>, BuilderError> {
        let (word, pointer) = (self.context.i64_type(), self.context.ptr_type(AddressSpace::default()));
        for _ in 0..known.references {
            let target = match address {
                Address::At(address) => self.builder.build_load(pointer, address, "")?,
                Address::Holding(value) => value,
            };
            let BasicValueEnum::PointerValue(target) = target else { return Ok(None) };
            address = Address::At(target);
        }
        let bits = std::num::NonZeroU32::new(known.bits).expect("a size");
        let value = match address {
            Address::At(address) if known.bits == 128 => {
                let high = llvm::build_byte_offset(self.context, self.builder, address, word.const_int(8, false))?;
                let first = if known.operand.is_text() {
                    let start = self.builder.build_load(pointer, address, "")?.into_pointer_value();
                    self.builder.build_ptr_to_int(start, word, "")?
                } else {
                    self.builder.build_load(word, address, "")?.into_int_value()
                };
                return Ok(Some(vec![first, self.builder.build_load(word, high, "")?.into_int_value()]));
            }
            Address::At(address) => {
                let ty = self.context.custom_width_int_type(bits).expect("LLVM has it");
                self.builder.build_load(ty, address, "")?.into_int_value()
            }
            Address::Holding(BasicValueEnum::IntValue(value)) if value.get_type().get_bit_width() == known.bits => {
                value
            }
            Address::Holding(_) => return Ok(None),
        };
        Ok(match known.bits {
            64 => Some(vec![value]),
            128 => None,
            _ if known.is_signed => Some(vec![self.builder.build_int_s_extend(value, word, "")?]),
            _ => Some(vec![self.builder.build_int_z_extend(value, word, "")?]),
        })
    }
}

/// How a value is shown by an implementation in `core`: so many references lead to it.
struct Known {
    references: usize,
    operand: Operand,
    /// Bits in memory.
    bits: u32,
    /// Of an integer.
    is_signed: bool,
}

impl Known {
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
}

/// The call whose result a function of one block returns.
fn last_call<'ctx>(function: FunctionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    let mut blocks = function.get_basic_block_iter();
    let (block, None) = (blocks.next()?, blocks.next()) else { return None };
    let end = block.get_terminator().filter(|end| end.get_opcode() == InstructionOpcode::Return)?;
    let call = llvm::instruction_of(operand_of(end, 0)?)?;
    (call.get_opcode() == InstructionOpcode::Call).then_some(call)
}

/// Whether a function that formats has a condition to begin with.
fn branches(function: FunctionValue<'_>) -> bool {
    let end = function.get_first_basic_block().and_then(BasicBlock::get_terminator);
    end.is_some_and(|end| llvm::block_operands(end).len() > 1)
}

/// Whether nothing but `call` does something that anybody could see.
pub fn is_only_effect<'ctx>(
    mut instructions: impl Iterator<Item = InstructionValue<'ctx>>,
    call: InstructionValue<'ctx>,
) -> bool {
    instructions.all(|instruction| match instruction.get_opcode() {
        InstructionOpcode::Call => {
            instruction == call
                || llvm::called_function(instruction).is_some_and(|callee| {
                    let name = callee.get_name().to_string_lossy().into_owned();
                    ["llvm.lifetime.", "llvm.experimental.noalias.", "llvm.assume"]
                        .iter()
                        .any(|of| name.starts_with(of))
                })
        }
        InstructionOpcode::Store => {
            let address = pointer(instruction, 1).and_then(|address| alloca_of(address));
            address.is_some()
        }
        InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg | InstructionOpcode::Fence => false,
        _ => true,
    })
}

/// The local variable that an address lies in.
fn alloca_of<'ctx>(address: PointerValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    let instruction = address.as_instruction()?;
    match instruction.get_opcode() {
        InstructionOpcode::Alloca => Some(instruction),
        InstructionOpcode::GetElementPtr => alloca_of(pointer(instruction, 0)?),
        _ => None,
    }
}

/// What a local variable holds that is written once, as a whole, and then only read or handed on.
fn held<'ctx>(alloca: PointerValue<'ctx>) -> Option<BasicValueEnum<'ctx>> {
    let mut held = None;
    for user in llvm::uses(&alloca) {
        let Use::Instruction(user) = user else { return None };
        match user.get_opcode() {
            InstructionOpcode::Store if pointer(user, 1) == Some(alloca) => {
                let stored = operand_of(user, 0)?;
                if held.replace(stored).is_some() {
                    return None;
                }
            }
            // Its address in an array of arguments; its lifetime; what formats it.
            InstructionOpcode::Store | InstructionOpcode::Call | InstructionOpcode::Load => {}
            _ => return None,
        }
    }
    held
}

/// Whether a call of `core::fmt::write` writes to where the function's formatter does, its first two fields.
fn is_buffer_of(function: FunctionValue<'_>, call: InstructionValue<'_>) -> bool {
    let Some(BasicValueEnum::PointerValue(formatter)) = function.get_nth_param(1) else { return false };
    let loaded = |index| {
        let load = pointer(call, index)?.as_instruction()?;
        (load.get_opcode() == InstructionOpcode::Load).then(|| pointer(load, 0)).flatten()
    };
    let second = loaded(1).and_then(|address| address.as_instruction()).filter(|gep| {
        gep.get_opcode() == InstructionOpcode::GetElementPtr
            && llvm::constant_offset(*gep) == Some(8)
            && pointer(*gep, 0) == Some(formatter)
    });
    loaded(0) == Some(formatter) && second.is_some()
}

/// `Debug::fmt` in the table of a `dyn Debug`: behind the type's destructor, size and alignment.
fn debug_of<'ctx>(table: PointerValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    let table = llvm::global_of(table).filter(|table| table.is_constant())?;
    llvm::constant_operand(table, &[1]).or_else(|| llvm::constant_operand(table, &[2]))
}

/// A text that the compiler knows.
pub fn constant_text(start: PointerValue<'_>, len: IntValue<'_>) -> Option<String> {
    let len = usize::try_from(len.get_zero_extended_constant()?).ok()?;
    if len == 0 {
        return Some(String::new());
    }
    let global = llvm::global_of(start).filter(|global| global.is_constant())?;
    let bytes = llvm::constant_bytes(global, &[]).or_else(|| llvm::constant_bytes(global, &[0]))?;
    Some(std::str::from_utf8(bytes.get(..len)?).ok()?.to_string())
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

/// A function's name, also where LLVM has put a number behind it, because another unit of code generation has the function, too.
pub fn demangled(name: &str) -> String {
    // Shorter by one digit after the other.
    let mut names = std::iter::successors(Some(name), |name| name.strip_suffix(|last: char| last.is_ascii_digit()));
    let known = names.find(|name| rustc_demangle::try_demangle(name).is_ok());
    format!("{:#}", rustc_demangle::demangle(known.filter(|name| name.starts_with("_R")).unwrap_or(name)))
}

/// An operand that is a value.
pub fn operand_of(instruction: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    instruction.get_operand(index)?.value()
}

pub fn pointer(instruction: InstructionValue<'_>, index: u32) -> Option<PointerValue<'_>> {
    match operand_of(instruction, index)? {
        BasicValueEnum::PointerValue(pointer) => Some(pointer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn a_number_behind_a_name_is_no_part_of_it() {
        for name in ["_RNvXsQ_NtCs1_4core3fmtlNtB5_5Debug3fmt", "_RNvXsQ_NtCs1_4core3fmtlNtB5_5Debug3fmt45"] {
            assert_eq!(demangled(name), "<i32 as core::fmt::Debug>::fmt", "{name}");
        }
        for name in ["other45", "_R45", "_ZN4core3fmt17h0123456789abcdefE"] {
            assert_eq!(demangled(name), format!("{:#}", rustc_demangle::demangle(name)), "{name}");
        }
    }
}
