//! Loads the bytes of a small array one by one, where a thread looks at nothing but single ones.
//!
//! ```text
//! before: %pixel = load i24, ptr addrspace(1) %at, align 1                  ; let pixel: [u8; 3] = from[i];
//!         %red = trunc i24 %pixel to i8
//!         %rest = lshr i24 %pixel, 8
//!         %green = trunc i24 %rest to i8
//!         %blue = lshr i24 %pixel, 16
//! after:  %red = load i8, ptr addrspace(1) %at
//!         %green = load i8, ptr addrspace(1) (getelementptr i8, %at, 1)
//!         %blue = zext i8 (load i8, ptr addrspace(1) (getelementptr i8, %at, 2)) to i24
//! ```
//!
//! rustc copies such an array as one number. A GPU loads no number from an address that is not a multiple of its size
//! (PTX ISA, "Addresses as Operands"), so that LLVM's code generator loads bytes, puts them together, and takes them
//! apart again, in halves of registers: those it turns into floats by `cvt.rn.f32.u16`, of which a multiprocessor begins a quarter
//! as many as of `cvt.rn.f32.u32`. A bilinear filter of RGB images ran at .74 of nvcc's speed.
//!
//! **Why it is right.** A number lies in memory with its lowest byte first, and the loads are plain ones of the same place and time.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntValue, Module,
    Use,
};

/// Bits of a byte.
const BYTE: u64 = 8;

/// Bytes of the largest number that is looked at.
const MOST_BYTES: u64 = 8;

/// Takes apart such loads.
pub fn load_apart<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let builder = context.create_builder();
    for function in llvm::functions(module) {
        for load in loads(function) {
            let bits = width(load);
            let Some(parts) = bits.and_then(|bits| Parts::of(load, bits)) else { continue };
            parts.load(context, &builder, load).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot load the bytes of a number: {error}"))
            })?;
        }
    }
    Ok(())
}

/// The loads of whole bytes that are aligned to one.
fn loads(function: FunctionValue<'_>) -> Vec<InstructionValue<'_>> {
    let is_of_bytes = |load: &InstructionValue<'_>| {
        llvm::is_plain_load(*load)
            && load.get_alignment().is_ok_and(|align| align == 1)
            && width(*load).is_some_and(|bits| bits % BYTE == 0 && (2 * BYTE..=MOST_BYTES * BYTE).contains(&bits))
    };
    llvm::instructions(function).filter(is_of_bytes).collect()
}

fn width(instruction: InstructionValue<'_>) -> Option<u64> {
    let ty = instruction.get_type();
    ty.is_int_type().then(|| u64::from(ty.into_int_type().get_bit_width()))
}

/// What is done to a number that only single bytes are taken of.
struct Parts<'ctx> {
    /// What is one of its bytes, and which.
    bytes: Vec<(InstructionValue<'ctx>, u64)>,
    /// What is shifted or extended for others to take a byte of it.
    shifted: Vec<InstructionValue<'ctx>>,
}

impl<'ctx> Parts<'ctx> {
    fn of(load: InstructionValue<'ctx>, bits: u64) -> Option<Self> {
        let mut parts = Self { bytes: Vec::new(), shifted: Vec::new() };
        parts.add(load, 0, bits)?;
        (!parts.bytes.is_empty()).then_some(parts)
    }

    /// With what is done to a value, which is the number shifted by so many bits.
    fn add(&mut self, value: InstructionValue<'ctx>, shift: u64, bits: u64) -> Option<()> {
        for user in llvm::uses(&value) {
            let Use::Instruction(user) = user else { return None };
            let by = || {
                let by = llvm::int_operand(user, 1)?.get_zero_extended_constant()?;
                (llvm::operand(user, 0) == Some(llvm::result(value))).then_some(by)
            };
            match user.get_opcode() {
                Op::Trunc if width(user) == Some(BYTE) => self.bytes.push((user, shift / BYTE)),
                // What is above stays 0.
                Op::ZExt => {
                    self.shifted.push(user);
                    self.add(user, shift, bits)?;
                }
                Op::And if by() == Some(u64::from(u8::MAX)) => self.bytes.push((user, shift / BYTE)),
                Op::LShr if by().is_some_and(|by| by % BYTE == 0 && shift + by < bits) => {
                    let shift = shift + by()?;
                    if shift == bits - BYTE {
                        self.bytes.push((user, shift / BYTE));
                    } else {
                        self.shifted.push(user);
                        self.add(user, shift, bits)?;
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn load(
        self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
        load: InstructionValue<'ctx>,
    ) -> std::result::Result<(), BuilderError> {
        let Some(address) = llvm::operand(load, 0) else { return Ok(()) };
        builder.position_before(&load);
        let byte = context.i8_type();
        let mut loaded: Vec<(u64, IntValue<'ctx>)> = Vec::new();
        for (user, at) in &self.bytes {
            let value = match loaded.iter().find(|(known, _)| known == at) {
                Some((_, value)) => *value,
                None => {
                    let offset = context.i64_type().const_int(*at, false);
                    let place = llvm::build_byte_offset(context, builder, address.into_pointer_value(), offset)?;
                    let value = builder.build_load(byte, place, "")?.into_int_value();
                    loaded.push((*at, value));
                    value
                }
            };
            let ty = user.get_type().into_int_type();
            let value = if ty == byte { value } else { builder.build_int_z_extend(value, ty, "")? };
            llvm::replace_uses(*user, value.into());
        }
        self.bytes.iter().for_each(|(user, _)| user.erase_from_basic_block());
        self.shifted.iter().rev().for_each(|user| user.erase_from_basic_block());
        load.erase_from_basic_block();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function after [`load_apart`] that loads `%pixel` and stores what it makes of it.
    fn apart(load: &str, body: &str) -> String {
        let text = format!(
            "declare void @use(i24)
            define void @f(ptr addrspace(1) %at, ptr %to) {{
              %pixel = load {load}
              {body}
              ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        load_apart(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const PIXEL: &str = "i24, ptr addrspace(1) %at, align 1";

    #[test]
    fn the_bytes_of_a_pixel_are_loaded_one_by_one() {
        let text = apart(
            PIXEL,
            "%red = trunc i24 %pixel to i8
              %rest = lshr i24 %pixel, 8
              %green = trunc i24 %rest to i8
              %blue = lshr i24 %pixel, 16
              %again = and i24 %rest, 255
              %f = uitofp i24 %blue to float
              store i8 %red, ptr %to
              store i8 %green, ptr %to
              store i24 %again, ptr %to
              store float %f, ptr %to",
        );
        assert!(!text.contains("load i24") && !text.contains("lshr") && !text.contains("trunc"), "{text}");
        // Each is loaded once.
        assert_eq!(text.matches("load i8, ptr addrspace(1)").count(), 3, "{text}");
        assert!(text.contains("getelementptr inbounds i8, ptr addrspace(1) %at, i64 2"), "{text}");
        let wide = "%wide = zext i24 %pixel to i48\n %rest = lshr i48 %wide, 8\n %green = trunc i48 %rest to i8\n store i8 %green, ptr %to";
        let wide = apart(PIXEL, wide);
        assert!(wide.contains("load i8") && wide.contains("i64 1") && !wide.contains("i48"), "{wide}");
        let word = apart("i32, ptr addrspace(1) %at, align 1", "%top = lshr i32 %pixel, 24\n store i32 %top, ptr %to");
        assert!(word.contains("i64 3") && word.contains("zext i8"), "{word}");
    }

    #[test]
    fn others_are_loaded_as_they_are() {
        for (load, body) in [
            // One load is as good, another thread may look, or more than a byte is looked at.
            ("i24, ptr addrspace(1) %at, align 4", "%red = trunc i24 %pixel to i8\n store i8 %red, ptr %to"),
            ("volatile i24, ptr addrspace(1) %at, align 1", "%red = trunc i24 %pixel to i8\n store i8 %red, ptr %to"),
            (PIXEL, "%red = trunc i24 %pixel to i8\n store i8 %red, ptr %to\n call void @use(i24 %pixel)"),
            (PIXEL, "%two = trunc i24 %pixel to i16\n store i16 %two, ptr %to"),
            (PIXEL, "%rest = lshr i24 %pixel, 4\n %red = trunc i24 %rest to i8\n store i8 %red, ptr %to"),
            (PIXEL, "%rest = lshr i24 %pixel, 8\n store i24 %rest, ptr %to"),
            (PIXEL, "%some = and i24 %pixel, 127\n store i24 %some, ptr %to"),
            (PIXEL, "%some = lshr i24 16, %pixel\n store i24 %some, ptr %to"),
            (PIXEL, ""),
        ] {
            let text = apart(load, body);
            assert!(text.contains(&format!("load {load}")) && !text.contains("load i8"), "{text}");
        }
    }
}
