//! Which of `ptx_device::print`'s classes a placeholder asks for, and what printf needs to know of it.

use proc_macro2::TokenStream;
use quote::quote;

use super::parse::{Count, Spec};

/// How a placeholder is translated.
pub struct Class {
    /// The type in `ptx_device::print`, without its path.
    pub name: TokenStream,
    /// What printf writes before the number.
    pub prefix: String,
    /// Whether zeros pad the field, as `{:#p}` asks whatever its spec says.
    pub zero: bool,
    /// The field's width, as `{:#p}` asks whatever its spec says.
    pub width: Option<Count>,
}

/// `Any` where printf cannot say it of any type: then `core::fmt` writes it.
pub fn of(spec: &Spec) -> Class {
    let (mut zero, mut width) = (spec.zero, spec.width.clone());
    let (plus, fixed) = (spec.plus, spec.precision.is_some());
    // With `0`, numbers ignore fill and alignment.
    let simple = zero || (spec.fill == ' ' && spec.align != Some('^'));
    let mut prefix = String::new();
    let any = || quote!(Any);
    let name = match spec.letter.as_str() {
        _ if spec.minus => any(),
        "" => quote!(Decimal<false, #plus, #fixed, #simple>),
        "?" if !spec.alternate => quote!(Decimal<true, #plus, #fixed, #simple>),
        letter @ ("x" | "X" | "o") => {
            prefix.push_str(if plus { "+" } else { "" });
            prefix.push_str(match (spec.alternate, letter) {
                (false, _) => "",
                (true, "o") => "0o",
                (true, _) => "0x",
            });
            let letter = letter.chars().next();
            quote!(Radix<#letter>)
        }
        "p" if !plus => {
            // As the library has it: `{:#p}` is as wide as any address.
            if spec.alternate {
                zero = true;
                width = width.or(Some(Count::Literal(18)));
            }
            prefix.push_str("0x");
            quote!(Pointer)
        }
        "e" if !fixed => quote!(Exponent<false>),
        "E" if !fixed => quote!(Exponent<true>),
        _ => any(),
    };
    let is_prefixed = !prefix.is_empty();
    // printf pads before a prefix only if it writes that itself, and C's are not Rust's.
    let pads_before = width.is_some() && !zero && spec.align != Some('<');
    let is_radix = matches!(spec.letter.as_str(), "x" | "X" | "o" | "p");
    let name = if is_radix && (!(simple || zero) || (is_prefixed && pads_before)) { any() } else { name };
    Class { name, prefix, zero, width }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Piece, parse};
    use super::*;

    #[test]
    fn classes_and_prefixes() {
        for (format, name, prefix) in [
            ("{}", "Decimal<false,false,false,true>", ""),
            ("{:+5.2}", "Decimal<false,true,true,true>", ""),
            ("{:^5}", "Decimal<false,false,false,false>", ""),
            ("{:*^05}", "Decimal<false,false,false,true>", ""),
            ("{:?}", "Decimal<true,false,false,true>", ""),
            ("{:#?}", "Any", ""),
            ("{:x?}", "Any", ""),
            ("{:x}", "Radix<'x'>", ""),
            ("{:#X}", "Radix<'X'>", "0x"),
            ("{:#010o}", "Radix<'o'>", "0o"),
            ("{:#10x}", "Any", "0x"),
            ("{:<#10x}", "Radix<'x'>", "0x"),
            ("{:+x}", "Radix<'x'>", "+"),
            ("{:-<4x}", "Any", ""),
            ("{:b}", "Any", ""),
            ("{:e}", "Exponent<false>", ""),
            ("{:.2e}", "Any", ""),
            ("{:p}", "Pointer", "0x"),
            ("{:#p}", "Pointer", "0x"),
            ("{:20p}", "Any", "0x"),
        ] {
            let pieces = parse(format);
            let Some([Piece::Placeholder(placeholder)]) = pieces.as_deref() else { panic!("{format}") };
            let class = of(&placeholder.spec);
            let text = class.name.to_string().replace(' ', "");
            assert_eq!((text.as_str(), class.prefix.as_str()), (name, prefix), "{format}");
        }
    }
}
