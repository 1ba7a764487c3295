//! `cargo ptx setup`: makes ready what compiling kernels needs, and says what it did.

use std::path::{Path, PathBuf};

use ptx_codegen::diagnostic::Result;
use ptx_codegen::tool::{Name, Tools};
use ptx_project::progress::Progress;
use ptx_project::ready::sysroot_and_tools;
use ptx_project::sysroot::{self, Rustc, Sysroot};
use ptx_project::tools;

use super::arguments::SetupArgs;

/// What is there after [`setup`].
#[derive(Clone, Debug)]
pub struct Ready {
    /// The compiler the sysroot is for.
    pub rustc: Rustc,
    /// `core` and `alloc` for the device.
    pub sysroot: Sysroot,
    /// Where NVIDIA's tools were installed, if they were asked for and were not there.
    pub installed: Option<PathBuf>,
    /// NVIDIA's tools.
    pub tools: Tools,
}

/// Builds the device sysroot and, if `with_tools`, installs NVIDIA's tools where some are missing. What is there stays:
/// a second call does nothing.
pub fn setup(rustc: &Path, progress: &Progress, with_tools: bool) -> Result<Ready> {
    let rustc = sysroot::rustc(rustc)?;
    if !with_tools || is_complete(&tools::find()) {
        let sysroot = sysroot::ensure(&rustc, None, progress)?;
        return Ok(Ready { rustc, sysroot, installed: None, tools: tools::find() });
    }
    let ready = sysroot_and_tools(&rustc, None, progress);
    Ok(Ready { rustc, sysroot: ready.sysroot?, installed: Some(ready.tools?), tools: tools::find() })
}

/// Says what [`setup`] would do.
fn plan(rustc: &Path, with_tools: bool) -> Result<()> {
    let rustc = sysroot::rustc(rustc)?;
    let place = sysroot::place(&rustc, None)?;
    if place.is_dir() {
        println!("The device sysroot is there: {}", place.display());
    } else {
        let source = sysroot::find_source(&rustc, None)?.source;
        println!("Would build the device sysroot from {source}, which is here, into {}", place.display());
    }
    match () {
        () if is_complete(&tools::find()) => println!("NVIDIA's tools are there"),
        () if with_tools => println!("Would download {}", tools::download()?),
        () => println!("Would download nothing: NVIDIA's tools are left out"),
    }
    Ok(())
}

fn is_complete(tools: &Tools) -> bool {
    Name::ALL.into_iter().all(|name| tools.get(name).is_some())
}

/// The verb: sets up and prints what is there.
pub fn run(rustc: &Path, progress: &Progress, args: &SetupArgs) -> Result<()> {
    let with_tools = !args.no_tools;
    if args.dry_run {
        return plan(rustc, with_tools);
    }
    let ready = setup(rustc, progress, with_tools)?;
    println!("rustc     {} ({})", ready.rustc.release, ready.rustc.sysroot.display());
    println!("sysroot   {} (from {})", ready.sysroot.path.display(), ready.sysroot.source);
    for name in Name::ALL {
        match ready.tools.get(name) {
            Some(tool) => {
                println!("{:<9} {} at {} ({})", name.command(), tool.version()?, tool.path.display(), tool.origin)
            }
            None if with_tools => println!("{:<9} not found", name.command()),
            None => println!("{:<9} not found; `cargo ptx setup` installs it", name.command()),
        }
    }
    Ok(())
}
