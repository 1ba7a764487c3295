//! The text of a panic's message as the host gets it: from `core`'s template to ours.

use ptx_abi::panic::{OPERAND, Operand, TEMPLATE_LEN};

use super::constants;
use crate::llvm::{Context, GlobalValue, Module};

/// Begins the names of messages.
pub const NAME: &str = "__rust_ptx_message";

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it is.
    Text(String),
    /// What the next operand shows.
    Operand(Operand),
}

/// Parts of `core`'s template (the comment above `core::fmt::Arguments` says how it is written), where every placeholder is
/// a plain one: `None` is a placeholder for the next argument. Nothing is returned for a template with widths, flags or
/// arguments out of their order.
pub fn of_core(template: &[u8]) -> Option<Vec<Option<String>>> {
    let mut parts = Vec::new();
    let mut rest = template;
    loop {
        let (&first, after) = rest.split_first()?;
        let (len, after) = match first {
            0 => return Some(parts),
            0xC0 => {
                parts.push(None);
                rest = after;
                continue;
            }
            0x80 => {
                let (len, after) = after.split_first_chunk()?;
                (usize::from(u16::from_le_bytes(*len)), after)
            }
            1..0x80 => (usize::from(first), after),
            _ => return None,
        };
        let (text, after) = after.split_at_checked(len)?;
        parts.push(Some(String::from_utf8(text.to_vec()).ok()?));
        rest = after;
    }
}

/// As `ptx_abi::panic` describes it, with its NUL. A text that is too long for the record is cut.
pub fn encode(parts: &[Part]) -> Vec<u8> {
    let mut text_word = 0;
    let mut words = 0;
    let mut bytes = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => bytes.extend(text.bytes().flat_map(|byte| match byte {
                0 => vec![OPERAND, Operand::Nul.code()],
                byte => vec![byte],
            })),
            Part::Operand(operand) => {
                if operand.is_text() {
                    text_word = words + 1;
                }
                words += u8::try_from(operand.words()).expect("one or two");
                bytes.extend([OPERAND, operand.code()]);
            }
        }
    }
    bytes.insert(0, text_word);
    let mut end = bytes.len().min(TEMPLATE_LEN - 1);
    // Neither a character nor an operand is cut in two.
    while end < bytes.len() && end > 1 && (bytes[end] & 0xC0 == 0x80 || bytes[end - 1] == OPERAND) {
        end -= 1;
    }
    bytes.truncate(end);
    bytes.push(0);
    bytes
}

/// The parts of what [`encode`] wrote.
pub fn decode(bytes: &[u8]) -> Option<Vec<Part>> {
    let bytes = bytes.get(1..)?.split(|byte| *byte == 0).next()?;
    let mut parts = Vec::new();
    let mut pieces = bytes.split(|byte| *byte == OPERAND);
    let text = |piece: &[u8]| String::from_utf8(piece.to_vec()).ok();
    parts.push(Part::Text(text(pieces.next()?)?));
    for piece in pieces {
        let (&code, rest) = piece.split_first()?;
        match Operand::of(code)? {
            Operand::Nul => parts.push(Part::Text("\0".into())),
            operand => parts.push(Part::Operand(operand)),
        }
        parts.push(Part::Text(text(rest)?));
    }
    Some(parts)
}

/// A constant that holds what [`encode`] wrote.
pub fn global<'ctx>(context: &'ctx Context, module: &Module<'ctx>, message: &[u8]) -> GlobalValue<'ctx> {
    constants::add(module, NAME, &context.const_string(message, false), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_of_core_are_read() {
        let text = |text: &str| Some(text.to_string());
        assert_eq!(of_core(b"\x06hello \xC0\x01\n\x00"), Some(vec![text("hello "), None, text("\n")]));
        let long = [&b"\x80\x00\x01"[..], &[b'x'; 256], b"\xC0\x00"].concat();
        assert_eq!(of_core(&long), Some(vec![text(&"x".repeat(256)), None]));
        // A width; no end; a text that is cut off.
        for bytes in [&b"\xC2\x05\x00\x00"[..], b"\xC0", b"\x06hel"] {
            assert_eq!(of_core(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let parts = [
            Part::Text("the len is ".into()),
            Part::Operand(Operand::Unsigned),
            Part::Text(" of \0, grüße".into()),
            Part::Operand(Operand::Text),
            Part::Text(String::new()),
        ];
        let bytes = encode(&parts);
        assert_eq!((bytes[0], bytes.last()), (2, Some(&0)));
        let text = |parts: &[Part]| parts.iter().map(|part| format!("{part:?}")).collect::<String>();
        let joined = text(&decode(&bytes).unwrap()).replace("\")Text(\"", "");
        assert_eq!(joined, text(&parts));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        for more in 0..4 {
            let bytes = encode(&[Part::Text("x".repeat(more) + &"ß".repeat(TEMPLATE_LEN))]);
            assert!(bytes.len() <= TEMPLATE_LEN && bytes.len() > TEMPLATE_LEN - 4);
            assert!(matches!(&decode(&bytes).unwrap()[..], [Part::Text(text)] if text.ends_with('ß')));
        }
    }
}
