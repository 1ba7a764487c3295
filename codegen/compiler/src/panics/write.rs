//! A panic that the compiler itself adds to a function.

use std::path::Path;

use super::assign::{at_location, trap};
use super::constants;
use super::message::{self, Part};
use super::operands;
use crate::diagnostic::Span;
use crate::llvm::{BasicMetadataValueEnum, BasicValue, Builder, BuilderError, Context, IntValue, Module, PointerValue};
use crate::request::PanicStrategy;

/// Writes a panic with a message of these parts, whose operands are `words`. The end of the block must follow.
pub fn write<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    strategy: PanicStrategy,
    parts: &[Part],
    words: &[IntValue<'ctx>],
    place: Option<Span>,
) -> Result<(), BuilderError> {
    match strategy {
        PanicStrategy::Trap => builder.build_call(trap(module), &[], "")?,
        PanicStrategy::Location => {
            let location = location(context, module, place);
            builder.build_call(at_location(context, module), &[location.into()], "")?
        }
        PanicStrategy::Full => {
            let message = message::global(context, module, &message::encode(parts)).as_pointer_value();
            let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> =
                vec![message.into(), location(context, module, place).into()];
            arguments.extend(words.iter().map(|word| BasicMetadataValueEnum::from(*word)));
            builder.build_call(operands::function(context, module, words.len()), &arguments, "")?
        }
    };
    Ok(())
}

/// The name of a location, and of its file's.
const NAME: &str = "__rust_ptx_location";

/// A `core::panic::Location`, whose fields lie as `ptx-device` asserts: file with its NUL, length, line, column.
fn location<'ctx>(context: &'ctx Context, module: &Module<'ctx>, place: Option<Span>) -> PointerValue<'ctx> {
    let Span { file, line, column } =
        place.unwrap_or_else(|| Span { file: Path::new("").to_path_buf(), line: 0, column: 0 });
    let file = file.display().to_string();
    let constant = |value: &dyn BasicValue<'ctx>, align| constants::add(module, NAME, value, align).as_pointer_value();
    let text = constant(&context.const_string(file.as_bytes(), true), 1);
    // As rustc writes it: an address, and bytes.
    let numbers = [&(file.len() as u64).to_le_bytes()[..], &line.to_le_bytes(), &column.to_le_bytes()].concat();
    constant(&context.const_struct(&[text.into(), context.const_string(&numbers, false).into()], true), 8)
}
