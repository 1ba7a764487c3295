//! `cargo ptx explain`: what a message's code means, and what to do.

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};

/// Prints one explanation, or all codes.
pub fn run(code: Option<&str>) -> Result<()> {
    match code {
        Some(text) => println!("{}", Diagnostic::explain(text)?),
        None => Code::ALL.iter().for_each(|code| println!("{code}  {}", code.title())),
    }
    Ok(())
}
