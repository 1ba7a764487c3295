//! `cargo ptx check`: what rustc says of a package's kernels when it compiles them for the GPU.
//!
//! With `--message-format json` an editor can run it in place of `cargo check`: rustc's messages are passed on as cargo prints
//! them.

use ptx_codegen::diagnostic::Result;
use ptx_codegen::request::MessageFormat;
use ptx_project::progress::Progress;

use super::arguments::BuildArgs;
use super::{build, output};

/// Checks; messages have been printed when this returns.
pub fn run(args: &BuildArgs, progress: &Progress) -> Result<()> {
    ptx_project::build::check(&build::device_build(args, &[])?, progress)?;
    if args.message_format == MessageFormat::Json {
        output::json("build-finished", "success", &true);
    }
    Ok(())
}
