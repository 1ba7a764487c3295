//! Writes the panics that hand something over as PTX, and defines the record.
//!
//! ```text
//! before: a:  call void @__rust_ptx_panic_with_2(ptr @message, ptr @first, i64 %len, i64 %index)
//!             unreachable
//!         b:  call void @__rust_ptx_panic_with_1(ptr @other, ptr @second, i64 7)
//!             unreachable
//! after:  a:  %0 = call i64 asm sideeffect "…", "=&l,l,l,l"(ptr @place.a, i64 %len, i64 %index)
//!             br label %panic                              ; @place.a: a number, and what @first and @message say
//!         b:  %1 = call i64 asm sideeffect "…", "=&l,l"(ptr @place.b)
//!             br label %panic
//!         panic:  %record = phi i64 [ %0, %a ], [ %1, %b ]
//!                 call void asm sideeffect "…exit;…", "l"(i64 %record)
//!                 unreachable
//! ```
//!
//! Operands that are constant by now become part of the message. Places that say the same, as copies of one check do, claim
//! the record in one block, with phis for what they hand over. One place a function and no call: a call costs a kernel at
//! least 24 registers, whatever is called. At the level 0 it stays a call, which a debugger shows with the frames above it.

use std::collections::HashMap;
use std::mem::offset_of;

use ptx_abi::panic::{DRAFT_SYMBOL, NOBODY_FIRST_SYMBOL, NOBODY_SYMBOL, NOBODY_WORDS, OWN, Operand, Record, SYMBOL};

use super::balance;
use super::halves::{self, Halves};
use super::leaving;
use super::message::{self, Part};
use super::place;
use super::record::{self, Before, Known, NUMBERS, Place};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, Attribute, AttributeLoc, BasicBlock, BasicMetadataTypeEnum, BasicMetadataValueEnum,
    BasicTypeEnum, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, GlobalValue, InstructionOpcode,
    InstructionValue, IntType, IntValue, Linkage, Module, PointerValue, Use,
};
use crate::marks::{self, AT_LOCATION, PANIC_END, PANIC_WITH};
use crate::request::{AfterPanic, OptLevel};

/// Lowers calls of [`AT_LOCATION`] and [`PANIC_WITH`], and defines the globals that panics refer to.
pub fn lower<'ctx>(context: &'ctx Context, module: &Module<'ctx>, level: OptLevel, after: AfterPanic) -> Result<()> {
    let failed = |error: BuilderError| Diagnostic::error(Code::LlvmFailed, format!("cannot write a panic: {error}"));
    let callees: Vec<FunctionValue<'ctx>> = llvm::functions(module)
        .filter(|function| {
            let name = function.get_name().to_string_lossy();
            name == AT_LOCATION || name.starts_with(PANIC_WITH)
        })
        .collect();
    if !callees.is_empty() {
        let mut writer = Writer {
            context,
            module,
            builder: context.create_builder(),
            places: HashMap::new(),
            halves: Halves::default(),
            after,
        };
        if level != OptLevel::O0 {
            writer.join(&callees).map_err(failed)?;
        }
        // Inline PTX is no use that LLVM sees.
        let address = module.get_global(SYMBOL).unwrap_or_else(|| {
            module.add_global(
                context.ptr_type(AddressSpace::default()),
                Some(AddressSpace::from(llvm::CONSTANT_SPACE)),
                SYMBOL,
            )
        });
        define_address(context, module, address);
        for function in callees {
            if llvm::uses(&function).is_empty() {
                // SAFETY: nothing uses it, and the list, which is its only handle, ends here.
                unsafe { llvm::delete_function(function) };
            } else {
                writer.body(function).map_err(failed)?;
            }
        }
        drop_messages(module);
    }
    end_panics(context, module, after).map_err(failed)?;
    let used = |name| module.get_global(name).filter(|global| !llvm::uses(global).is_empty());
    if let Some(address) = used(SYMBOL) {
        define_address(context, module, address);
    }
    if let Some(draft) = used(DRAFT_SYMBOL).filter(|draft| draft.is_declaration()) {
        let ty = BasicTypeEnum::try_from(draft.get_value_type());
        define(draft, ty.map_or_else(|_| empty(context), |ty| ty.const_zero()));
    }
    Ok(())
}

/// Has the runtime's panics, too, end their thread where [`PANIC_END`] stands, or go on to what ends the launch.
fn end_panics<'ctx>(context: &'ctx Context, module: &Module<'ctx>, after: AfterPanic) -> Result<(), BuilderError> {
    let Some(end) = module.get_function(PANIC_END) else { return Ok(()) };
    let ty = context.void_type().fn_type(&[], false);
    let exit = context.create_inline_asm(ty, "exit;".into(), "~{memory}".into(), true, false, None, false);
    let builder = context.create_builder();
    for user in llvm::uses(&end) {
        let Use::Instruction(call) = user else { continue };
        if after == AfterPanic::Exit {
            builder.position_before(&call);
            builder.build_indirect_call(ty, exit, &[], "")?;
        }
        call.erase_from_basic_block();
    }
    Ok(())
}

/// Defines the record's address, which is that of the module's own until a host writes another.
fn define_address<'ctx>(context: &'ctx Context, module: &Module<'ctx>, address: GlobalValue<'ctx>) {
    if !address.is_declaration() {
        return;
    }
    let record = nobody(context, module);
    let generic = context.ptr_type(AddressSpace::default());
    define(address, record.as_pointer_value().const_address_space_cast(generic).into());
    llvm::set_externally_initialized(address);
}

/// As much of a record as other threads than the first write, where no host reads it; and memory for what the first writes.
fn nobody<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> GlobalValue<'ctx> {
    const { assert!(offset_of!(Record, nobody) == 12) };
    let global = |name: &str, value: BasicValueEnum<'ctx>| {
        let global = module.add_global(value.get_type(), Some(AddressSpace::from(llvm::GLOBAL_SPACE)), name);
        define(global, value);
        global
    };
    let first = global(NOBODY_FIRST_SYMBOL, empty(context)).as_pointer_value();
    let word = |number| context.i64_type().const_int(number, false);
    let own = llvm::byte_of(context, first, OWN as u64).const_to_int(context.i64_type());
    let words: Vec<_> = [own, word(1 << 32)].into_iter().chain((2..NOBODY_WORDS).map(|_| word(0))).collect();
    global(NOBODY_SYMBOL, context.i64_type().const_array(&words).into())
}

/// A record of zeros.
fn empty(context: &Context) -> BasicValueEnum<'_> {
    let words = u32::try_from(size_of::<Record>() / 8).expect("two pages");
    context.i64_type().array_type(words).const_zero().into()
}

/// Makes a declaration a definition, which other modules may have too.
fn define<'ctx>(global: GlobalValue<'ctx>, value: BasicValueEnum<'ctx>) {
    global.set_initializer(&value);
    global.set_alignment(if value.is_pointer_value() { 8 } else { align_of::<Record>() as u32 });
    global.set_linkage(Linkage::WeakAny);
}

/// Messages that are written anew, with constants in them, are needed no more as they were.
fn drop_messages(module: &Module<'_>) {
    let unused = llvm::globals(module).filter(|global| {
        global.get_name().to_string_lossy().starts_with(message::NAME) && llvm::uses(global).is_empty()
    });
    for global in unused.collect::<Vec<_>>() {
        // SAFETY: nothing uses it, and the list, which is its only handle, ends here.
        unsafe { llvm::delete_global(global) };
    }
}

/// A place that panics.
struct Site<'ctx> {
    call: InstructionValue<'ctx>,
    location: PointerValue<'ctx>,
    /// None where the place is all.
    message: Option<PointerValue<'ctx>>,
    words: Vec<IntValue<'ctx>>,
    /// Whether the message may have a text among its words.
    has_text: bool,
}

impl<'ctx> Site<'ctx> {
    fn of(call: InstructionValue<'ctx>) -> Option<Self> {
        let callee = llvm::called_function(call)?;
        let pointer = |index| match call.get_operand(index)?.value()? {
            BasicValueEnum::PointerValue(pointer) => Some(pointer),
            _ => None,
        };
        if callee.get_name().to_string_lossy() == AT_LOCATION {
            return Some(Self { call, location: pointer(0)?, message: None, words: vec![], has_text: false });
        }
        let words = (2..callee.count_params()).map(|index| match call.get_operand(index)?.value()? {
            BasicValueEnum::IntValue(word) => Some(word),
            _ => None,
        });
        let words: Vec<IntValue<'ctx>> = words.collect::<Option<_>>()?;
        Some(Self { call, location: pointer(1)?, message: Some(pointer(0)?), has_text: words.len() > 1, words })
    }

    /// Whether nothing but the end of the block follows; rustc and LLVM leave it so after what does not come back.
    fn ends_block(&self) -> bool {
        self.call.get_next_instruction().is_some_and(|next| next.get_opcode() == InstructionOpcode::Unreachable)
    }

    /// The message with the constants among the operands, and the rest of the operands; `None` if it is not known.
    fn folded(&self) -> Option<(Vec<u8>, Vec<IntValue<'ctx>>)> {
        let parts = message::decode(&llvm::constant_bytes(llvm::global_of(self.message?)?, &[])?)?;
        let mut words = self.words.iter().copied();
        let (mut folded, mut rest) = (Vec::new(), Vec::new());
        for part in parts {
            let Part::Operand(operand) = part else {
                folded.push(part);
                continue;
            };
            let own: Vec<IntValue<'ctx>> = words.by_ref().take(operand.words()).collect();
            match text(operand, &own) {
                Some(text) => folded.push(Part::Text(text)),
                None => {
                    folded.push(part);
                    rest.extend(own);
                }
            }
        }
        Some((message::encode(&folded), rest))
    }
}

/// What an operand of constant words shows.
fn text(operand: Operand, words: &[IntValue<'_>]) -> Option<String> {
    if operand.is_text() {
        let len = usize::try_from(words.get(1)?.get_zero_extended_constant()?).ok()?;
        if len == 0 {
            return Some(operand.shown([0; 2], "").to_string());
        }
        let global = llvm::global_of(llvm::pointer_of_integer(*words.first()?)?)?;
        let bytes = llvm::constant_bytes(global, &[]).or_else(|| llvm::constant_bytes(global, &[0]))?;
        let text = std::str::from_utf8(bytes.get(..len)?).ok()?;
        return global.is_constant().then(|| operand.shown([0; 2], text).to_string());
    }
    let mut constants = [0; 2];
    for (constant, word) in constants.iter_mut().zip(words) {
        *constant = word.get_zero_extended_constant()?;
    }
    Some(operand.shown(constants, "").to_string())
}

/// Whether a call more costs nothing: what calls already has the registers for it, and what is to be small is not about speed.
/// ptxas may copy the report to every place that panics, so in both it is better called.
fn has_calls(function: FunctionValue<'_>, panics: &[FunctionValue<'_>]) -> bool {
    let small = Attribute::get_named_enum_kind_id("optsize");
    function.get_enum_attribute(AttributeLoc::Function, small).is_some()
        || llvm::instructions(function).filter(|call| call.get_opcode() == InstructionOpcode::Call).any(|call| {
            llvm::called_function(call)
                .is_some_and(|callee| !panics.contains(&callee) && !callee.get_name().to_bytes().starts_with(b"llvm."))
        })
}

/// What a place hands to a function that claims the record.
struct Operands<'ctx> {
    known: Known,
    /// The static that it is in.
    place: PointerValue<'ctx>,
    words: Vec<IntValue<'ctx>>,
}

/// What a place says: location and message.
type Said<'ctx> = (PointerValue<'ctx>, Option<Vec<u8>>);

/// A place that panics in a block, and what it hands over there: no constants, and halves where they are enough.
struct Handing<'ctx> {
    site: Site<'ctx>,
    block: BasicBlock<'ctx>,
    words: Vec<IntValue<'ctx>>,
}

/// The bits of the words that several places hand over.
fn widths_of(places: &[Handing<'_>]) -> Vec<u32> {
    let of = |word: usize| places.iter().map(|place| place.words[word].get_type().get_bit_width()).max().unwrap_or(64);
    (0..places[0].words.len()).map(of).collect()
}

/// Writes panics into a module.
struct Writer<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    /// By that, and by which word stands beside the number.
    places: HashMap<(Said<'ctx>, u32), (Known, PointerValue<'ctx>)>,
    halves: Halves<'ctx>,
    after: AfterPanic,
}

impl<'ctx> Writer<'_, 'ctx> {
    /// Gives every function with panics one block for them.
    fn join(&mut self, callees: &[FunctionValue<'ctx>]) -> Result<(), BuilderError> {
        // In the order of the code: that of uses depends on what rustc wrote for debuggers.
        let functions: Vec<(FunctionValue<'ctx>, Vec<Site<'ctx>>)> = llvm::functions(self.module)
            .map(|function| {
                let calls = llvm::instructions(function).filter(|call| {
                    call.get_opcode() == InstructionOpcode::Call
                        && llvm::called_function(*call).is_some_and(|callee| callees.contains(&callee))
                });
                (function, calls.filter_map(Site::of).filter(Site::ends_block).collect::<Vec<_>>())
            })
            .filter(|(_, sites)| !sites.is_empty())
            .collect();
        for (function, sites) in functions {
            // What looks for the end of the stack calls, if only through pointers.
            let is_called = marks::checks_stack(function) || has_calls(function, callees);
            self.join_in(function, sites, is_called)?;
        }
        Ok(())
    }

    fn join_in(
        &mut self,
        function: FunctionValue<'ctx>,
        sites: Vec<Site<'ctx>>,
        is_called: bool,
    ) -> Result<(), BuilderError> {
        let last = self.context.append_basic_block(function, "panic");
        let (mut claims, mut calls, mut has_text) = (Vec::new(), Vec::new(), false);
        // By what they say, in the order of the code.
        let mut alike: Vec<(Said<'ctx>, Vec<Handing<'ctx>>)> = Vec::new();
        for site in sites {
            let Some(block) = site.call.get_parent() else { continue };
            let Some((said, words)) = self.said(&site, is_called)? else {
                if !is_called {
                    self.write_here(&site)?;
                }
                continue;
            };
            let handing = Handing { site, block, words };
            match alike.iter_mut().find(|(known, _)| !is_called && *known == said) {
                Some((_, places)) => places.push(handing),
                None => alike.push((said, vec![handing])),
            }
        }
        for (said, places) in alike {
            let widths = if is_called { vec![64; places[0].words.len()] } else { widths_of(&places) };
            let Some((known, place)) = self.place(said, &widths) else {
                for handing in places.iter().filter(|_| !is_called) {
                    self.write_here(&handing.site)?;
                }
                continue;
            };
            has_text |= known.text > 0;
            if is_called {
                for Handing { site, block, words } in places {
                    self.leave(&site.call, block);
                    self.builder.build_unconditional_branch(last)?;
                    calls.push((Operands { known, place, words }, block));
                }
                continue;
            }
            let (block, words) = self.one_of(last, &places, &widths)?;
            let record = self.claim(Place::Known(known), &[place.into()], &words, Before::Others)?;
            self.builder.build_unconditional_branch(last)?;
            claims.push((record, block));
        }
        let claims = leaving::leave_by_the_end(self.context, function, last, claims)?;
        self.builder.position_at_end(last);
        if !calls.is_empty() {
            self.call(&calls)?;
        } else if !claims.is_empty() {
            let phi = self.builder.build_phi(self.context.i64_type(), "record")?;
            for (record, block) in &claims {
                phi.add_incoming(&[(record, *block)]);
            }
            let record = phi.as_basic_value().into_int_value();
            let multiplications = balance::multiplications(function);
            // For the report they are as one that is handed over.
            self.report(Place::Given { has_text }, record, has_text, Before::Others, multiplications)?;
        }
        self.builder.build_unreachable()?;
        Ok(())
    }

    /// Goes on in place of a call and of what ends its block, with the call's line.
    fn leave(&self, call: &InstructionValue<'ctx>, block: BasicBlock<'ctx>) {
        self.builder.position_before(call);
        call.erase_from_basic_block();
        if let Some(end) = block.get_terminator() {
            end.erase_from_basic_block();
        }
        self.builder.position_at_end(block);
    }

    /// One call for the panics of several blocks, each with its place and words.
    fn call(&self, calls: &[(Operands<'ctx>, BasicBlock<'ctx>)]) -> Result<(), BuilderError> {
        let (half, word) = (self.context.i32_type(), self.context.i64_type());
        let most = calls.iter().map(|(operands, _)| operands.words.len()).max().unwrap_or(0);
        let phi = |ty: IntType<'ctx>, value: &dyn Fn(&Operands<'ctx>) -> BasicValueEnum<'ctx>| {
            let phi = self.builder.build_phi(ty, "")?;
            for (operands, block) in calls {
                phi.add_incoming(&[(&value(operands), *block)]);
            }
            Ok::<BasicMetadataValueEnum<'ctx>, BuilderError>(phi.as_basic_value().into())
        };
        let number = |number: u32| half.const_int(number.into(), false).into();
        let mut arguments = vec![phi(half, &|operands| number(operands.known.number))?];
        if has_text(most) {
            arguments.push(phi(half, &|operands| number(operands.known.text))?);
        }
        for index in 0..most {
            // A message of fewer words does not ask for it.
            let of = |operands: &Operands<'ctx>| operands.words.get(index).map(|word| (*word).into());
            arguments.push(phi(word, &|operands| of(operands).unwrap_or_else(|| llvm::poison(word.into())))?);
        }
        for (operands, _) in calls {
            self.keep(operands.place)?;
        }
        self.builder.build_call(self.shared(most)?, &arguments, "")?;
        Ok(())
    }

    /// Names a place that only its number is handed over of, so that it stays in the module, and in the PTX with this code.
    /// That stands where all panics of a function meet: ahead of that, ptxas has what panics come before what does not, and
    /// debuggers stop there for a line that has both.
    fn keep(&self, place: PointerValue<'ctx>) -> Result<(), BuilderError> {
        let ty = self.context.void_type().fn_type(&[place.get_type().into()], false);
        let nothing = self.context.create_inline_asm(ty, String::new(), "l".into(), true, false, None, false);
        self.builder.build_indirect_call(ty, nothing, &[place.into()], "")?;
        Ok(())
    }

    /// The function that panics with a place and so many words, for all that call it.
    fn shared(&self, words: usize) -> Result<FunctionValue<'ctx>, BuilderError> {
        let name = format!("__rust_ptx_panic_known_{words}");
        if let Some(function) = self.module.get_function(&name) {
            return Ok(function);
        }
        let place = Place::Given { has_text: has_text(words) };
        let mut params: Vec<BasicMetadataTypeEnum<'ctx>> = vec![self.context.i32_type().into(); place.operands()];
        params.resize(place.operands() + words, self.context.i64_type().into());
        let function = self.module.add_function(&name, self.context.void_type().fn_type(&params, false), None);
        for attribute in ["noreturn", "cold", "nounwind", "noinline"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
        }
        function.set_linkage(Linkage::Internal);
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(function, ""));
        let writer = Writer {
            context: self.context,
            module: self.module,
            builder,
            places: HashMap::new(),
            halves: Halves::default(),
            after: self.after,
        };
        let params: Vec<BasicValueEnum<'ctx>> = function.get_params();
        let (given, words) = params.split_at(place.operands());
        let words: Vec<IntValue<'ctx>> = words.iter().map(|word| word.into_int_value()).collect();
        let before = writer.in_a_call();
        let record = writer.claim(place, given, &words, before)?;
        writer.report(place, record, has_text(words.len()), before, 0)?;
        writer.builder.build_unreachable()?;
        Ok(function)
    }

    /// What a site says, and its words as they are handed over; none if that is not known before it runs.
    fn said(
        &mut self,
        site: &Site<'ctx>,
        is_called: bool,
    ) -> Result<Option<(Said<'ctx>, Vec<IntValue<'ctx>>)>, BuilderError> {
        let (message, mut words) = match site.message {
            Some(_) => {
                let Some((message, words)) = site.folded() else { return Ok(None) };
                (Some(message), words)
            }
            None => (None, vec![]),
        };
        for word in words.iter_mut().filter(|_| !is_called) {
            *word = self.halves.of(self.context, *word)?;
        }
        Ok(Some(((site.location, message), words)))
    }

    /// The static of what is said with words of these widths.
    fn place(&mut self, said: Said<'ctx>, widths: &[u32]) -> Option<(Known, PointerValue<'ctx>)> {
        let half = widths.iter().position(|width| *width == 32);
        let beside = half.and_then(|word| u32::try_from(1 + word).ok()).unwrap_or(0);
        let key = (said, beside);
        if let Some(known) = self.places.get(&key) {
            return Some(*known);
        }
        let (location, message) = &key.0;
        let (known, global) = place::global(self.context, self.module, *location, message.as_deref(), beside)?;
        let place = (known, global.as_pointer_value());
        self.places.insert(key, place);
        Some(place)
    }

    /// Goes on where several places that say the same come together, or at the only one; with what they hand over.
    fn one_of(
        &self,
        last: BasicBlock<'ctx>,
        places: &[Handing<'ctx>],
        widths: &[u32],
    ) -> Result<(BasicBlock<'ctx>, Vec<IntValue<'ctx>>), BuilderError> {
        if let [Handing { site, block, words }] = places {
            self.leave(&site.call, *block);
            return Ok((*block, words.clone()));
        }
        let joined = self.context.prepend_basic_block(last, "claim");
        let mut handed: Vec<Vec<IntValue<'ctx>>> = Vec::new();
        for Handing { site, block, words } in places {
            self.leave(&site.call, *block);
            let widened = |(word, width): (&IntValue<'ctx>, &u32)| {
                let is_half = word.get_type().get_bit_width() < *width;
                if is_half { self.builder.build_int_z_extend(*word, self.context.i64_type(), "") } else { Ok(*word) }
            };
            handed.push(words.iter().zip(widths).map(widened).collect::<Result<_, _>>()?);
            self.builder.build_unconditional_branch(joined)?;
        }
        self.builder.position_at_end(joined);
        let phi_of = |word: usize| {
            let first = handed[0][word];
            if handed.iter().all(|words| words[word] == first) {
                return Ok(first);
            }
            let phi = self.builder.build_phi(first.get_type(), "")?;
            for (words, place) in handed.iter().zip(places) {
                phi.add_incoming(&[(&words[word], place.block)]);
            }
            Ok(phi.as_basic_value().into_int_value())
        };
        let words = (0..widths.len()).map(phi_of).collect::<Result<_, BuilderError>>()?;
        Ok((joined, words))
    }

    /// Panics where the call is: what it hands over is not known, or it is no block's end.
    fn write_here(&self, site: &Site<'ctx>) -> Result<(), BuilderError> {
        self.builder.position_before(&site.call);
        match site.message {
            None => self.whole(&[site.location.into()], &[], false, Before::Others)?,
            Some(message) => {
                self.whole(&[site.location.into(), message.into()], &site.words, site.has_text, Before::Others)?;
            }
        }
        site.call.erase_from_basic_block();
        Ok(())
    }

    /// A function of its own, for calls that stay.
    fn body(&self, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
        self.builder.position_at_end(self.context.append_basic_block(function, ""));
        let params: Vec<BasicValueEnum<'ctx>> = function.get_params();
        if let [location] = params[..] {
            self.whole(&[location], &[], false, self.in_a_call())?;
        } else {
            let words: Vec<IntValue<'ctx>> = params[2..].iter().map(|word| word.into_int_value()).collect();
            self.whole(&[params[1], params[0]], &words, words.len() > 1, self.in_a_call())?;
        }
        self.builder.build_unreachable()?;
        function.set_linkage(Linkage::Internal);
        Ok(())
    }

    /// Who may have panicked before a function that panics is called.
    fn in_a_call(&self) -> Before {
        if self.module.get_global(DRAFT_SYMBOL).is_some_and(|draft| !llvm::uses(&draft).is_empty()) {
            Before::Itself
        } else {
            Before::Others
        }
    }

    /// A claim and its report.
    fn whole(
        &self,
        addresses: &[BasicValueEnum<'ctx>],
        words: &[IntValue<'ctx>],
        has_text: bool,
        before: Before,
    ) -> Result<(), BuilderError> {
        let place = if addresses.len() == 1 { Place::Location } else { Place::Both };
        let record = self.claim(place, addresses, words, before)?;
        self.report(place, record, has_text, before, 0)
    }

    fn claim(
        &self,
        place: Place,
        operands: &[BasicValueEnum<'ctx>],
        words: &[IntValue<'ctx>],
        before: Before,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let words: Vec<IntValue<'ctx>> = match before {
            Before::Others => words.iter().map(|word| halves::extended(*word).unwrap_or(*word)).collect(),
            // What the thread wrote before is not cleared.
            Before::Itself => words.to_vec(),
        };
        let widths: Vec<u32> = words.iter().map(|word| word.get_type().get_bit_width()).collect();
        let operands: Vec<BasicValueEnum<'ctx>> =
            operands.iter().copied().chain(words.into_iter().map(Into::into)).collect();
        let types: Vec<BasicMetadataTypeEnum<'ctx>> =
            operands.iter().map(|operand| operand.get_type().into()).collect();
        let ty = self.context.i64_type().fn_type(&types, false);
        // It is written before the operands are read.
        let mut constraints = "=&l".to_string();
        constraints.extend(operands.iter().map(|operand| match operand {
            BasicValueEnum::IntValue(half) if half.get_type().get_bit_width() == 32 => ",r",
            _ => ",l",
        }));
        constraints += ",~{memory}";
        let text = record::claim(place, &widths, before);
        let operands: Vec<BasicMetadataValueEnum<'ctx>> = operands.into_iter().map(Into::into).collect();
        let assembly = self.context.create_inline_asm(ty, text, constraints, true, false, None, false);
        let call = self.builder.build_indirect_call(ty, assembly, &operands, "")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
    }

    fn report(
        &self,
        place: Place,
        record: IntValue<'ctx>,
        has_text: bool,
        before: Before,
        multiplications: usize,
    ) -> Result<(), BuilderError> {
        let ty = self.context.void_type().fn_type(&[record.get_type().into()], false);
        let known =
            self.builder.get_insert_block().and_then(BasicBlock::get_parent).map(numbers_of).unwrap_or_default();
        let text = record::report(place, has_text, before, self.after, multiplications, &known);
        let assembly = self.context.create_inline_asm(ty, text, "l,~{memory}".into(), true, false, None, false);
        self.builder.build_indirect_call(ty, assembly, &[record.into()], "")?;
        Ok(())
    }
}

/// The numbers of block and thread that a kernel reads. Of a function all, because ptxas inlines it into what may have read
/// any.
fn numbers_of(function: FunctionValue<'_>) -> Vec<&'static str> {
    if function.get_call_conventions() != llvm::PTX_KERNEL {
        return NUMBERS.to_vec();
    }
    let read: Vec<String> = llvm::instructions(function)
        .filter_map(|from| llvm::special_register(from).filter(|_| !llvm::is_only_assumed(from)))
        .collect();
    NUMBERS.into_iter().filter(|number| read.iter().any(|register| register == number)).collect()
}

/// Whether so many words may be a text and its length, and more.
fn has_text(words: usize) -> bool {
    words > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function after its panics were written; `@message` has two numbers.
    fn lowered(body: &str) -> String {
        let context = Context::create();
        let operand = || Part::Operand(Operand::Unsigned);
        let message = message::encode(&[operand(), Part::Text(" of ".into()), operand()]);
        let bytes: String = message.iter().map(|byte| format!("\\{byte:02X}")).collect();
        let (zeros, less) = (r"\00".repeat(7), r"\00".repeat(3));
        let text = format!(
            "@message = private constant [{} x i8] c\"{bytes}\"
            @file = private constant [4 x i8] c\"a.rs\"
            @at = private constant <{{ ptr, [16 x i8] }}> <{{ ptr @file, [16 x i8] c\"\\04{zeros}\\01{less}\\02{less}\" }}>
            declare void @{PANIC_WITH}2(ptr, ptr, i64, i64) noreturn
            define void @f(i1 %c, ptr %location, i32 %i, i64 %n, i64 %m) {{
              {body}
            }}",
            message.len()
        );
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        lower(&context, &module, OptLevel::O3, AfterPanic::Trap).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// What is handed to all that claims the record.
    fn handed(ir: &str) -> Vec<&str> {
        let claims = ir.lines().filter(|line| line.contains("atom.global.exch"));
        claims.filter_map(|line| line.rsplit_once("\"(")).map(|(_, operands)| operands.trim_end_matches(')')).collect()
    }

    #[test]
    fn a_place_that_only_its_caller_knows_hands_over_all_operands() {
        let ir = lowered(
            "%wide = zext i32 %i to i64
             call void @__rust_ptx_panic_with_2(ptr @message, ptr %location, i64 32, i64 %wide)
             unreachable",
        );
        assert_eq!(handed(&ir)[0], "ptr %location, ptr @message, i64 32, i32 %i", "{ir}");
    }

    #[test]
    fn places_that_say_the_same_claim_the_record_once() {
        let both = |one: &str, other: &str| {
            lowered(&format!(
                "%wide = zext i32 %i to i64
                 br i1 %c, label %a, label %b
                 a: call void @__rust_ptx_panic_with_2(ptr @message, ptr @at, i64 %n, i64 {one})
                 unreachable
                 b: call void @__rust_ptx_panic_with_2(ptr @message, ptr @at, i64 %n, i64 {other})
                 unreachable"
            ))
        };
        // A half is extended where another place has a whole.
        for (one, other, phi) in [
            ("%wide", "%m", "phi i64 [ %1, %a ], [ %m, %b ]"),
            ("%m", "%wide", "phi i64 [ %m, %a ], [ %1, %b ]"),
            ("%m", "%n", "phi i64 [ %m, %a ], [ %n, %b ]"),
        ] {
            let ir = both(one, other);
            assert_eq!(handed(&ir).len(), 1, "{ir}");
            assert!(ir.contains(phi), "{ir}");
        }
        let ir = both("%wide", "%wide");
        assert!(handed(&ir).len() == 1 && !ir.contains("phi i32") && handed(&ir)[0].ends_with("i32 %i"), "{ir}");
        // A constant is part of the message, which then is another one.
        assert_eq!(handed(&both("%m", "7")).len(), 2);
    }
}
