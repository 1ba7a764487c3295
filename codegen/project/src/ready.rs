//! What compiling kernels needs, made ready at the same time: the device sysroot keeps the processor busy, NVIDIA's tools the
//! network.

use std::path::{Path, PathBuf};

use ptx_codegen::diagnostic::Result;

use crate::progress::Progress;
use crate::sysroot::{self, Rustc, Sysroot};
use crate::tools;

/// What became of both.
#[derive(Debug)]
pub struct Ready {
    /// `core` and `alloc` for the device.
    pub sysroot: Result<Sysroot>,
    /// Where NVIDIA's tools were installed.
    pub tools: Result<PathBuf>,
}

/// Builds the sysroot, as [`sysroot::ensure`], while it installs NVIDIA's tools. What is there stays.
pub fn sysroot_and_tools(rustc: &Rustc, explicit: Option<&Path>, progress: &Progress) -> Ready {
    std::thread::scope(|scope| {
        let tools = scope.spawn(|| tools::install(progress));
        let sysroot = sysroot::ensure(rustc, explicit, progress);
        Ready { sysroot, tools: tools.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) }
    })
}
