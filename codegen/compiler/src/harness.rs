//! Reads the list of tests that rustc's harness hands to the crate `test`, which is `ptx-test`.
//!
//! ```text
//! call void @__ptx_test_main(ptr @list, i64 2)
//! @list = constant <{ ptr, ptr }> <{ ptr @first, ptr @second }>
//! @first = constant <{ [4 x i8], [4 x i8], ptr, [9 x i8], … }> <{ …, ptr @name, c"\0B\00…", … }>
//! ```
//! `ptx_abi::harness` has the offsets.

use ptx_abi::harness;
use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::interface::Interface;
use crate::llvm::{
    self, BasicValueEnum, FunctionValue, InstructionOpcode, IntValue, Memory, Module, PointerValue, Use,
};

/// A `#[test]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// Its path in the crate: `tests::adds`.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// `#[ignore]`
    pub ignored: bool,
    /// `#[ignore = "…"]`
    pub ignore_message: Option<String>,
    /// `#[should_panic]`
    pub should_panic: ShouldPanic,
}

/// Whether a test has to panic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShouldPanic {
    /// It must not.
    #[default]
    No,
    /// With any message.
    Yes,
    /// With a message that contains this.
    With(String),
}

/// The tests of a module that was compiled with `--test`, in rustc's order, by which the kernel numbers them; none of any
/// other. The crate's own kernels and exports go, because no test can launch them.
pub fn read(module: &Module<'_>, interface: &mut Interface<'_>) -> Result<Option<Vec<Test>>> {
    let Some(main) = module.get_function(harness::MAIN) else { return Ok(None) };
    let (list, len) = list(main)?;
    let len = len.get_zero_extended_constant().and_then(|len| usize::try_from(len).ok());
    let len = len.ok_or_else(|| unreadable("the list has no fixed length"))?;
    let list = llvm::global_of(list).and_then(llvm::constant_memory).unwrap_or_default();
    let tests = (0..len).map(|index| {
        let memory = list.pointer(8 * index).and_then(llvm::global_of).and_then(llvm::constant_memory);
        memory
            .and_then(|memory| test(&memory))
            .ok_or_else(|| unreadable(&format!("test {index} is not constant")).into())
    });
    let tests = tests.collect::<Result<_>>()?;
    interface.kernels.retain(|kernel| kernel.symbol == harness::KERNEL);
    interface.exports.clear();
    interface.bare_kernels.clear();
    interface.bare_exports.clear();
    Ok(Some(tests))
}

/// The list that the harness is called with, and its length.
fn list<'ctx>(main: FunctionValue<'ctx>) -> Result<(PointerValue<'ctx>, IntValue<'ctx>)> {
    let calls = llvm::uses(&main).into_iter().filter_map(|user| match user {
        Use::Instruction(call) if call.get_opcode() == InstructionOpcode::Call => Some(call),
        _ => None,
    });
    let mut lists = calls.map(|call| [0, 1].map(|at| call.get_operand(at).and_then(|operand| operand.value())));
    // rustc may have inlined the function that calls it, and kept that.
    let first = lists.next().filter(|first| lists.all(|other| other == *first));
    let [list, len] = first.ok_or_else(|| unreadable("it is not called with one list"))?;
    match (list, len) {
        (Some(BasicValueEnum::PointerValue(list)), Some(BasicValueEnum::IntValue(len))) => Ok((list, len)),
        _ => Err(unreadable("it is not called with a list").into()),
    }
}

fn unreadable(reason: &str) -> Diagnostic {
    Diagnostic::error(Code::BadDescriptor, format!("cannot read the list of tests: {reason}"))
        .help("use a nightly toolchain for which this version of rust-ptx was made; where that fails, please report it")
}

fn test(memory: &Memory<'_>) -> Option<Test> {
    let number = |offset, bytes| memory.number(offset, bytes);
    let place = |offset| number(offset, 8).and_then(|number| u32::try_from(number).ok());
    let ignore_message = memory.pointer(harness::IGNORE_MESSAGE).map(|_| text(memory, harness::IGNORE_MESSAGE));
    let should_panic = match u32::try_from(number(harness::SHOULD_PANIC, 4)?).ok()? {
        harness::YES => ShouldPanic::Yes,
        harness::YES_WITH_MESSAGE => ShouldPanic::With(text(memory, harness::EXPECTED)?),
        _ => ShouldPanic::No,
    };
    Some(Test {
        name: text(memory, harness::NAME)?,
        span: Span {
            file: text(memory, harness::FILE)?.into(),
            line: place(harness::LINE)?,
            column: place(harness::COLUMN)?,
        },
        ignored: number(harness::IGNORE, 1)? != 0,
        ignore_message: ignore_message.flatten(),
        should_panic,
    })
}

/// The text whose address and length lie there.
fn text(memory: &Memory<'_>, offset: usize) -> Option<String> {
    String::from_utf8(memory.slice(offset)?.bytes()?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};

    /// Whether functions that call the harness with these lists call it with one.
    fn has_one(lists: &[&str]) -> bool {
        let functions: String = (0..)
            .zip(lists)
            .map(|(at, list)| format!("define void @f{at}() {{ call void @main(ptr @{list}, i64 0)\n ret void }}\n"))
            .collect();
        let text = format!(
            "@list = constant [0 x ptr] zeroinitializer\n @other = constant [0 x ptr] zeroinitializer
            declare void @main(ptr, i64)\n {functions}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        list(module.get_function("main").unwrap()).is_ok()
    }

    #[test]
    fn functions_that_call_with_the_same_list_are_one() {
        assert!(has_one(&["list"]) && has_one(&["list", "list"]));
        assert!(!has_one(&["list", "other"]) && !has_one(&[]));
    }
}
