//! Kernels that launch kernels are linked with CUDA's device runtime, which nobody has to name.

use std::borrow::Cow;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, Module};
use crate::request::{Linking, Options};

/// The options; where kernels launch kernels, with the device runtime among the files to link with. Not with a linker at run
/// time: who calls that has to give it the file.
pub fn with_runtime<'a>(options: &'a Options, module: &Module<'_>) -> Result<Cow<'a, Options>> {
    let mut options = Cow::Borrowed(options);
    if options.linking() == Linking::AtLoad || !launches(module) {
        return Ok(options);
    }
    let Some(library) = options.tools.device_runtime.clone() else {
        let message =
            "a kernel launches kernels, which needs CUDA's device runtime, and `libcudadevrt.a` was not found";
        return Err(Diagnostic::error(Code::LinkTool, message)
            .help("install it with `cargo ptx setup`, or set CUDA_HOME to a CUDA toolkit")
            .into());
    };
    let files = &mut options.to_mut().link;
    if !files.contains(&library) {
        files.push(library);
    }
    Ok(options)
}

/// Whether the program calls the device runtime, in functions that no kernel reaches too: which do is not known yet.
fn launches(module: &Module<'_>) -> bool {
    llvm::functions(module).any(|function| {
        function.count_basic_blocks() == 0
            && function.get_name().to_string_lossy().starts_with(ptx_abi::LAUNCH_PREFIX)
            && !llvm::uses(&function).is_empty()
    })
}
