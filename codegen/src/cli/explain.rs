//! `cargo ptx explain`: what a message's code means, and what to do.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};

/// Prints one explanation, or all codes.
pub fn run(code: Option<&str>) -> Result<()> {
    match code {
        Some(text) => {
            let code = find(text)?;
            println!("{code}: {}\n\n{}", code.title(), code.explanation());
        }
        None => Code::ALL.iter().for_each(|code| println!("{code}  {}", code.title())),
    }
    Ok(())
}

/// `PTX0006`, `ptx6` and `6` are the same.
fn find(text: &str) -> Result<Code> {
    let digits = text.trim().trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let number = digits.parse::<u16>().ok();
    let code = Code::ALL.iter().find(|code| Some(code.number()) == number);
    Ok(*code.ok_or_else(|| {
        Diagnostic::error(Code::Usage, format!("there is no message `{text}`"))
            .help("`cargo ptx explain` lists all codes")
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_every_spelling() {
        for text in ["PTX0006", "ptx6", "6", "0006"] {
            assert_eq!(find(text).unwrap(), Code::UndefinedSymbol, "{text}");
        }
        for text in ["PTX9999", "E0463x", "", "PTX"] {
            assert!(find(text).unwrap_err().to_string().contains("there is no message"), "{text}");
        }
    }
}
