//! Copies and fills memory by words.
//!
//! LLVM 22's code generator for PTX makes straight code of copies and fills of less than 128 bytes, by the widest word that
//! the alignment allows. Anything longer, or as long as the program says, becomes a loop over single bytes, whatever the
//! alignment (`NVPTXLowerAggrCopies`). So those become loops of our own here:
//!
//! ```text
//! before: call void @llvm.memcpy(ptr align 4 %to, ptr align 4 %from, i64 %n)
//! after:  for (i = 0; i < n & -64; i += 64) 16 loads of i32, then 16 stores
//!         for (; i < n & -4; i += 4)        one load, one store
//!         for (; i < n; i += 1)             the same with i8; goes away where n is seen to be a multiple of 4
//! ```
//!
//! Of a few words, as those of an `[f32; 4]`, LLVM loads and stores each in turn, and ptxas, which cannot know that the sides are
//! apart, has each load wait for the store before it. Here all of them are loaded first.
//!
//! A known length of up to 512 bytes needs no loop, unless the two sides may overlap (`memmove`, which `*to = *from` of raw
//! pointers is): then there are loops up and loops down, and the addresses decide.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, Attribute, AttributeLoc, BasicMetadataTypeEnum, BasicValue, BasicValueEnum, Builder, BuilderError,
    CallSiteValue, Context, FunctionValue, InstructionOpcode, InstructionValue, IntPredicate, IntType, IntValue,
    Linkage, Module, PointerValue, TargetMachine,
};
use crate::request::OptLevel;

/// From here on LLVM loops over bytes (`MaxAggrCopySize` of `NVPTXLowerAggrCopies.cpp`).
const SLOW: u64 = 128;
/// The longest that is worth straight code.
const LONGEST_UNROLLED: u64 = 512;
/// What a loop does at once, and straight code loads before it stores.
const BLOCK: u64 = 64;
/// How many words of a short copy are loaded before the first is stored.
const MOST_WORDS: u64 = 16;
/// The widest integer that PTX loads; LLVM joins neighbours to vectors where they are aligned.
const WIDEST: u64 = 8;

/// Cuts long copies and fills into short ones; after optimising, which would put them together again.
pub fn widen<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    level: OptLevel,
) -> Result<()> {
    if level == OptLevel::O0 {
        return Ok(());
    }
    let all: Vec<_> = llvm::functions(module).flat_map(llvm::instructions).filter_map(Transfer::of).collect();
    let (long, short): (Vec<_>, Vec<_>) = all.into_iter().partition(Transfer::is_slow);
    let stage = Stage { context, module, builder: context.create_builder() };
    let short = short.into_iter().filter(Transfer::is_short).collect::<Vec<_>>();
    for transfer in short.iter().chain(&long) {
        stage.cut(transfer).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot cut a copy of memory into words: {error}"))
        })?;
    }
    if long.is_empty() {
        return Ok(());
    }
    // Without that option LLVM ends the program where combining once does not suffice, as in `String`'s `Debug`.
    let pipeline = "always-inline,globaldce,function(instcombine<no-verify-fixpoint>,simplifycfg)";
    llvm::run_passes(module, machine, pipeline).map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{pipeline}` failed: {error}")).into()
    })
}

/// Where the bytes come from.
#[derive(Clone, Copy)]
enum Source<'ctx> {
    /// `memcpy` or `memmove`.
    Memory { from: PointerValue<'ctx>, align: u32, may_overlap: bool },
    /// `memset`
    Byte(IntValue<'ctx>),
}

/// A call of LLVM's `memcpy`, `memmove` or `memset`.
struct Transfer<'ctx> {
    call: InstructionValue<'ctx>,
    to: PointerValue<'ctx>,
    to_align: u32,
    from: Source<'ctx>,
    len: IntValue<'ctx>,
}

impl<'ctx> Transfer<'ctx> {
    fn of(call: InstructionValue<'ctx>) -> Option<Self> {
        if call.get_opcode() != InstructionOpcode::Call {
            return None;
        }
        let operand = |index| call.get_operand(index).and_then(|operand| operand.value());
        let BasicValueEnum::PointerValue(callee) = operand(call.get_num_operands() - 1)? else { return None };
        let name = callee.get_name().to_str().ok()?;
        // Not the variants `inline`, `element` and so on.
        let operations = ["llvm.memcpy.p", "llvm.memmove.p", "llvm.memset.p"];
        let operation = operations.into_iter().find(|operation| name.starts_with(operation))?;
        let site = CallSiteValue::try_from(call).ok()?;
        let align = |index| {
            let kind = Attribute::get_named_enum_kind_id("align");
            let attribute = site.get_enum_attribute(AttributeLoc::Param(index), kind);
            attribute.and_then(|attribute| u32::try_from(attribute.get_enum_value()).ok()).unwrap_or(1)
        };
        let BasicValueEnum::PointerValue(to) = operand(0)? else { return None };
        let from = match operand(1)? {
            BasicValueEnum::PointerValue(from) => {
                let may_overlap = operation == "llvm.memmove.p";
                if may_overlap && to.get_type() != from.get_type() {
                    // Addresses in different spaces cannot be compared.
                    return None;
                }
                Source::Memory { from, align: align(1), may_overlap }
            }
            BasicValueEnum::IntValue(byte) => Source::Byte(byte),
            _ => return None,
        };
        let (BasicValueEnum::IntValue(len), BasicValueEnum::IntValue(is_volatile)) = (operand(2)?, operand(3)?) else {
            return None;
        };
        let is_plain = is_volatile.get_zero_extended_constant() == Some(0);
        is_plain.then_some(Self { call, to, to_align: align(0), from, len })
    }

    /// How both sides are aligned, as far as it is of use.
    fn align(&self) -> u64 {
        let from = match self.from {
            Source::Memory { align, .. } => align,
            Source::Byte(_) => self.to_align,
        };
        u64::from(self.to_align.min(from)).min(BLOCK)
    }

    fn may_overlap(&self) -> bool {
        matches!(self.from, Source::Memory { may_overlap: true, .. })
    }

    /// Whether LLVM would loop over bytes, and words are possible.
    fn is_slow(&self) -> bool {
        self.align() > 1 && self.len.get_zero_extended_constant().is_none_or(|len| len >= SLOW)
    }

    /// Whether it is a few words that LLVM would load and store by turns, each store waiting for its load.
    fn is_short(&self) -> bool {
        let Some(len) = self.len.get_zero_extended_constant() else { return false };
        matches!(self.from, Source::Memory { .. })
            && (1..=BLOCK).contains(&len)
            && len / self.align().min(WIDEST) <= MOST_WORDS
    }
}

struct Stage<'ctx, 'a> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
}

impl<'ctx> Stage<'ctx, '_> {
    /// Puts shorter ones into the place of a long one.
    fn cut(&self, transfer: &Transfer<'ctx>) -> Result<(), BuilderError> {
        self.builder.position_before(&transfer.call);
        let ty = transfer.len.get_type();
        let int = |value| ty.const_int(value, false);
        match transfer.len.get_zero_extended_constant() {
            // All is loaded before something is stored.
            Some(len) if transfer.is_short() => self.pieces(transfer, 0, len)?,
            _ if transfer.may_overlap() => self.call(transfer, transfer.len)?,
            Some(len) if len <= LONGEST_UNROLLED => self.pieces(transfer, 0, len)?,
            Some(len) => {
                let whole = len - len % BLOCK;
                self.call(transfer, int(whole))?;
                self.pieces(transfer, whole, len)?;
            }
            None => self.call(transfer, transfer.len)?,
        }
        transfer.call.erase_from_basic_block();
        Ok(())
    }

    /// From one constant offset to another, without a loop.
    fn pieces(&self, transfer: &Transfer<'ctx>, start: u64, end: u64) -> Result<(), BuilderError> {
        let mut at = start;
        while at < end {
            let len = BLOCK.min(end - at);
            let offset = transfer.len.get_type().const_int(at, false);
            self.piece(&self.builder, (transfer.to, transfer.from), divisor(transfer.align(), at), offset, len)?;
            at += len;
        }
        Ok(())
    }

    /// At most a block at an offset: all loads, then all stores, so that the sides may overlap.
    fn piece(
        &self,
        builder: &Builder<'ctx>,
        (to, from): (PointerValue<'ctx>, Source<'ctx>),
        align: u64,
        offset: IntValue<'ctx>,
        len: u64,
    ) -> Result<(), BuilderError> {
        let int = |value| offset.get_type().const_int(value, false);
        let to = llvm::build_byte_offset(self.context, builder, to, offset)?;
        let from = match from {
            Source::Memory { from, .. } => llvm::build_byte_offset(self.context, builder, from, offset)?,
            Source::Byte(byte) => {
                builder.build_memset(to, narrow(align), byte, int(len))?;
                return Ok(());
            }
        };
        let mut loaded = Vec::new();
        let mut at = 0;
        while at < len {
            // A word must be aligned, and there must be so much left.
            let word = divisor(align.min(WIDEST), at).min(1 << (len - at).ilog2());
            let ty = self.int(word);
            let place = llvm::build_byte_offset(self.context, builder, from, int(at))?;
            let value = builder.build_load(ty, place, "")?;
            aligned(value.as_instruction_value(), divisor(align, at));
            loaded.push((at, value));
            at += word;
        }
        for (at, value) in loaded {
            let place = llvm::build_byte_offset(self.context, builder, to, int(at))?;
            let store = builder.build_store(place, value)?;
            aligned(Some(store), divisor(align, at));
        }
        Ok(())
    }

    /// The integer of so many bytes.
    fn int(&self, bytes: u64) -> IntType<'ctx> {
        match bytes {
            1 => self.context.i8_type(),
            2 => self.context.i16_type(),
            4 => self.context.i32_type(),
            _ => self.context.i64_type(),
        }
    }

    /// Has a function with loops do it, which is inlined.
    fn call(&self, transfer: &Transfer<'ctx>, len: IntValue<'ctx>) -> Result<(), BuilderError> {
        let function = self.function(transfer)?;
        let from = match transfer.from {
            Source::Memory { from, .. } => from.into(),
            Source::Byte(byte) => byte.into(),
        };
        self.builder.build_call(function, &[transfer.to.into(), from, len.into()], "")?;
        Ok(())
    }

    /// The function for copies or fills between these address spaces with that alignment.
    fn function(&self, transfer: &Transfer<'ctx>) -> Result<FunctionValue<'ctx>, BuilderError> {
        let (what, from): (_, BasicMetadataTypeEnum<'_>) = match transfer.from {
            Source::Memory { from, may_overlap, .. } => {
                let what = if may_overlap { "move" } else { "copy" };
                (format!("{what}.from{}", llvm::address_space(from)), from.get_type().into())
            }
            Source::Byte(byte) => ("fill".to_owned(), byte.get_type().into()),
        };
        let (align, len) = (transfer.align(), transfer.len.get_type());
        // Dots: no Rust symbol looks like this.
        let name =
            format!("ptx.{what}.to{}.align{align}.{len}", llvm::address_space(transfer.to), len = len.get_bit_width());
        if let Some(function) = self.module.get_function(&name) {
            return Ok(function);
        }
        let params = [transfer.to.get_type().into(), from, len.into()];
        let ty = self.context.void_type().fn_type(&params, false);
        let function = self.module.add_function(&name, ty, Some(Linkage::Internal));
        for attribute in ["alwaysinline", "nounwind"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
        }
        self.write(function, align, transfer.may_overlap())?;
        Ok(function)
    }

    /// Loops over blocks, words and bytes; with `may_overlap` also from the end to the start.
    fn write(&self, function: FunctionValue<'ctx>, align: u64, may_overlap: bool) -> Result<(), BuilderError> {
        let builder = self.context.create_builder();
        let param = |index| function.get_nth_param(index).expect("the function was declared with three parameters");
        let (to, len) = (param(0).into_pointer_value(), param(2).into_int_value());
        let from = match param(1) {
            BasicValueEnum::PointerValue(from) => Source::Memory { from, align: narrow(align), may_overlap },
            byte => Source::Byte(byte.into_int_value()),
        };
        let ty = len.get_type();
        builder.position_at_end(self.context.append_basic_block(function, ""));
        let mut ranges = Vec::new();
        let mut low = ty.const_zero();
        for step in [BLOCK, align.min(WIDEST), 1] {
            let high = builder.build_and(len, ty.const_int(step.wrapping_neg(), true), "")?;
            ranges.push(Range { step, align: align.min(step), low, high });
            low = high;
        }
        let loops = Loops { stage: self, builder: &builder, function, to, from };
        if let Source::Memory { from, may_overlap: true, .. } = from {
            let [up, down] = ["up", "down"].map(|name| self.context.append_basic_block(function, name));
            // Below the source the distance wraps to a large number.
            let [to, from] = [to, from].map(|pointer| builder.build_ptr_to_int(pointer, ty, ""));
            let distance = builder.build_int_sub(to?, from?, "")?;
            let is_up = builder.build_int_compare(IntPredicate::UGE, distance, len, "")?;
            builder.build_conditional_branch(is_up, up, down)?;
            builder.position_at_end(down);
            ranges.iter().rev().try_for_each(|range| loops.write(range, false))?;
            builder.build_return(None)?;
            builder.position_at_end(up);
        }
        ranges.iter().try_for_each(|range| loops.write(range, true))?;
        builder.build_return(None)?;
        Ok(())
    }
}

/// What one loop does: the offsets from `low` to `high`, so many bytes at once.
struct Range<'ctx> {
    step: u64,
    align: u64,
    low: IntValue<'ctx>,
    high: IntValue<'ctx>,
}

/// What the loops of a function have in common.
struct Loops<'ctx, 'a> {
    stage: &'a Stage<'ctx, 'a>,
    builder: &'a Builder<'ctx>,
    function: FunctionValue<'ctx>,
    to: PointerValue<'ctx>,
    from: Source<'ctx>,
}

impl<'ctx> Loops<'ctx, '_> {
    /// Ends the block at which the builder stands with a loop, and goes on after it.
    fn write(&self, range: &Range<'ctx>, is_up: bool) -> Result<(), BuilderError> {
        let &Range { step, align, low, high } = range;
        let (builder, ty) = (self.builder, low.get_type());
        let before = builder.get_insert_block().ok_or(BuilderError::UnsetPosition)?;
        let [body, after] = ["body", "after"].map(|name| self.stage.context.append_basic_block(self.function, name));
        let is_some = builder.build_int_compare(IntPredicate::ULT, low, high, "")?;
        builder.build_conditional_branch(is_some, body, after)?;
        builder.position_at_end(body);
        let position = builder.build_phi(ty, "")?;
        let at = position.as_basic_value().into_int_value();
        let size = ty.const_int(step, false);
        let next = if is_up { builder.build_int_add(at, size, "")? } else { builder.build_int_sub(at, size, "")? };
        let (start, offset) = if is_up { (low, at) } else { (high, next) };
        self.stage.piece(builder, (self.to, self.from), align, offset, step)?;
        let is_more = if is_up {
            builder.build_int_compare(IntPredicate::ULT, next, high, "")?
        } else {
            builder.build_int_compare(IntPredicate::UGT, next, low, "")?
        };
        builder.build_conditional_branch(is_more, body, after)?;
        position.add_incoming(&[(&start, before), (&next, body)]);
        builder.position_at_end(after);
        Ok(())
    }
}

/// What is left of an alignment at an offset.
fn divisor(align: u64, offset: u64) -> u64 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}

/// Says how the address of a load or store is aligned.
fn aligned(access: Option<InstructionValue<'_>>, align: u64) {
    let set = access.map(|access| access.set_alignment(narrow(align)));
    debug_assert_eq!(set, Some(Ok(())), "loads and stores take powers of two");
}

fn narrow(align: u64) -> u32 {
    u32::try_from(align).expect("at most a block")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;

    #[test]
    fn a_word_in_a_loop_is_aligned_to_words_only() {
        // The loop over words claimed the alignment of the whole, which only every fourth word has.
        let context = Context::create();
        let text = "
            declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
            define void @f(ptr %to, ptr %from, i64 %n) {
              call void @llvm.memcpy.p0.p0.i64(ptr align 32 %to, ptr align 32 %from, i64 %n, i1 false)
              ret void
            }";
        let module = llvm::parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let arch: Arch = "sm_80".parse().expect("it is an arch");
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).expect("LLVM has the arch");
        widen(&context, &module, &machine, OptLevel::O3).expect("it is widened");
        let text = module.print_to_string().to_string();
        let count =
            |wanted: &str| text.lines().filter(|line| line.contains("= load i64") && line.ends_with(wanted)).count();
        // A block's eight loads, and one of a word; bytes are loaded as such.
        assert_eq!([count("align 32"), count("align 16"), count("align 8")], [2, 2, 5], "{text}");
    }

    #[test]
    fn a_few_words_are_loaded_before_one_is_stored() {
        let context = Context::create();
        let after = |call: &str| {
            let text = format!(
                "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
                declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
                declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
                define void @f(ptr %to, ptr %from) {{
                  call void @llvm.{call}
                  ret void
                }}"
            );
            let module = llvm::parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
            let arch: Arch = "sm_80".parse().expect("it is an arch");
            let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).expect("LLVM has the arch");
            widen(&context, &module, &machine, OptLevel::O3).expect("it is widened");
            module.verify().expect("it is still right");
            module.print_to_string().to_string()
        };
        for (call, loads) in [
            ("memcpy.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 16, i1 false)", 4),
            ("memcpy.p0.p0.i64(ptr align 16 %to, ptr align 16 %from, i64 16, i1 false)", 2),
            ("memmove.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 14, i1 false)", 4),
            ("memcpy.p0.p0.i64(ptr %to, ptr %from, i64 3, i1 false)", 3),
        ] {
            let text = after(call);
            let (before, behind) = text.split_once("store").expect("something is stored");
            assert_eq!((before.matches("= load").count(), behind.matches("= load").count()), (loads, 0), "{text}");
        }
        for call in [
            "memset.p0.i64(ptr align 4 %to, i8 0, i64 16, i1 false)",
            "memcpy.p0.p0.i64(ptr %to, ptr %from, i64 24, i1 false)",
            "memcpy.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 16, i1 true)",
        ] {
            assert!(!after(call).contains("load"), "{call}");
        }
    }
}
