//! Stores the elements of a small array one by one, where GPUs have no store of all.
//!
//! ```text
//! before: %high = shl i24 %blue, 16                        ; *to = [red, green, blue];
//!         %low = shl i24 %green, 8
//!         %two = or i24 %high, %low
//!         %pixel = or i24 %two, %red
//!         store i24 %pixel, ptr addrspace(1) %at, align 1
//! after:  store i8 (trunc i24 %pixel to i8), ptr addrspace(1) %at
//!         store i8 (trunc i24 (lshr i24 %pixel, 8) to i8), ptr addrspace(1) (getelementptr i8, %at, 1)
//!         store i8 (trunc i24 (lshr i24 %pixel, 16) to i8), ptr addrspace(1) (getelementptr i8, %at, 2)
//! ```
//!
//! rustc and LLVM put such an array together in one number. No store of a GPU has three bytes (PTX ISA, `st`), so that LLVM's
//! code generator takes the number apart again. By then LLVM's optimiser has added and masked all of them at once, and no longer
//! knows what each is; said early, it stores what was computed.
//!
//! **Why it is right.** A number lies in memory with its lowest byte first, and the stores are plain ones to the same place.

use std::num::NonZeroU32;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, Builder, BuilderError, Context, InstructionValue, IntType, IntValue, Module};

/// Bits of a byte.
const BYTE: u32 = 8;

/// Bits of the largest number that is taken apart.
const MOST_BITS: u32 = 64;

/// Takes apart such stores.
pub fn store_apart<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let builder = context.create_builder();
    let all: Vec<_> = llvm::functions(module).flat_map(llvm::instructions).filter_map(Store::of).collect();
    for store in all {
        store.split(context, &builder).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot store the elements of an array: {error}"))
        })?;
    }
    Ok(())
}

/// Of a number whose size no store has.
struct Store<'ctx> {
    store: InstructionValue<'ctx>,
    number: IntValue<'ctx>,
    /// Bytes of an element.
    align: u32,
}

impl<'ctx> Store<'ctx> {
    fn of(store: InstructionValue<'ctx>) -> Option<Self> {
        if !llvm::is_plain_store(store) {
            return None;
        }
        let number = llvm::int_operand(store, 0)?;
        let align = store.get_alignment().ok()?;
        let bits = number.get_type().get_bit_width();
        let is_odd = bits <= MOST_BITS && !bits.is_power_of_two() && bits % (align * BYTE) == 0;
        is_odd.then_some(Self { store, number, align })
    }

    fn split(&self, context: &'ctx Context, builder: &Builder<'ctx>) -> std::result::Result<(), BuilderError> {
        let Some(address) = llvm::operand(self.store, 1) else { return Ok(()) };
        let (ty, width) = (self.number.get_type(), self.align * BYTE);
        let element = integer(context, width);
        let kinds = ["alias.scope", "noalias"].map(|kind| context.get_kind_id(kind));
        builder.position_before(&self.store);
        for at in 0..ty.get_bit_width() / width {
            let shift = ty.const_int(u64::from(at * width), false);
            let part = builder.build_right_shift(self.number, shift, false, "")?;
            let part = builder.build_int_truncate(part, element, "")?;
            let offset = context.i64_type().const_int(u64::from(at * self.align), false);
            let place = llvm::build_byte_offset(context, builder, address.into_pointer_value(), offset)?;
            let store = builder.build_store(place, part)?;
            store.set_alignment(self.align).expect("it is the one of a store");
            for (kind, scopes) in kinds.into_iter().filter_map(|kind| Some((kind, self.store.get_metadata(kind)?))) {
                store.set_metadata(scopes, kind).expect("a store may have it");
            }
        }
        self.store.erase_from_basic_block();
        Ok(())
    }
}

fn integer(context: &Context, bits: u32) -> IntType<'_> {
    let bits = NonZeroU32::new(bits).expect("an element has bits");
    context.custom_width_int_type(bits).expect("LLVM has integers of that width")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function after [`store_apart`].
    fn apart(store: &str) -> String {
        let text = format!(
            "define void @f(ptr addrspace(1) %at, i24 %pixel, i48 %wide, i32 %word) {{
              store {store}, !noalias !0
              ret void
            }}
            !0 = !{{!1}}
            !1 = distinct !{{!1, !2}}
            !2 = distinct !{{!2}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        store_apart(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn the_elements_of_an_array_are_stored_one_by_one() {
        let ir = apart("i24 %pixel, ptr addrspace(1) %at, align 1");
        assert_eq!(ir.matches("store i8").count(), 3, "{ir}");
        assert_eq!(ir.matches("!noalias").count(), 3, "{ir}");
        assert!(ir.contains("lshr i24 %pixel, 16") && ir.contains("i64 2") && !ir.contains("store i24"), "{ir}");
        let ir = apart("i48 %wide, ptr addrspace(1) %at, align 2");
        assert_eq!(ir.matches("store i16").count(), 3, "{ir}");
        assert!(ir.contains("lshr i48 %wide, 32") && ir.contains("i64 4"), "{ir}");
    }

    #[test]
    fn others_are_stored_as_they_are() {
        for store in [
            "i32 %word, ptr addrspace(1) %at, align 1",
            "i24 %pixel, ptr addrspace(1) %at, align 4",
            "volatile i24 %pixel, ptr addrspace(1) %at, align 1",
        ] {
            let ir = apart(store);
            assert!(ir.contains(&format!("store {store}")) && !ir.contains("store i8"), "{ir}");
        }
    }
}
