//! `cargo ptx explain`: what a message's code means, and what to do.

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::Result;

/// Prints one explanation, or all codes.
pub fn run(code: Option<&str>) -> Result<()> {
    match code {
        Some(text) => println!("{}", Code::find(text)?.explain()),
        None => Code::ALL.iter().for_each(|code| println!("{code}  {}", code.title())),
    }
    Ok(())
}
