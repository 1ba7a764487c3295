//! The format string of a `println!`, made from its pieces and the arguments' conversions, as a constant.

/// A piece of what is printed.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// Text as it stands.
    Text(&'static str),
    /// The next argument.
    Argument(Spec),
}

/// What printf needs to know of a placeholder for a number.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// `-`: at the left of the field.
    pub left: bool,
    /// `0`: padded with zeros.
    pub zero: bool,
    /// `+`: with a sign, also if the number is positive.
    pub plus: bool,
    /// The text before the number, within its width, such as `0x`.
    pub prefix: &'static str,
    /// The field's width.
    pub width: Width,
    /// Digits after the point, for floats.
    pub precision: Option<u16>,
}

/// The width of a field.
#[derive(Clone, Copy, Debug)]
pub enum Width {
    /// As wide as the value.
    None,
    /// This many characters.
    Fixed(u16),
    /// The value before the number in the valist: `*`.
    Star,
}

/// How printf prints an argument.
#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    /// As a number; length modifier and letter.
    Number(&'static str),
    /// As `%s`, because it is padded already.
    Text,
}

/// What differs from the constant format for one argument of one call.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// Nothing.
    None,
    /// It is text: infinity or NaN, which Rust and C write differently.
    Text,
    /// It has this many digits after the point: printf has no `.*` on the device.
    Precision(u16),
}

/// The format, NUL-terminated. `N` must be large enough; if it is not, that is an error at compile time.
pub const fn format<const N: usize>(pieces: &[Piece], conversions: &[Conversion]) -> [u8; N] {
    let mut format = [0; N];
    write(&mut format, pieces, conversions, &[]);
    format
}

/// The format of one call.
#[cold]
#[inline(never)]
pub fn rewritten<const N: usize>(pieces: &[Piece], conversions: &[Conversion], changes: &[Change]) -> [u8; N] {
    let mut format = [0; N];
    write(&mut format, pieces, conversions, changes);
    format
}

const fn write(out: &mut [u8], pieces: &[Piece], conversions: &[Conversion], changes: &[Change]) {
    let (mut at, mut piece, mut argument) = (0, 0, 0);
    while piece < pieces.len() {
        match pieces[piece] {
            Piece::Text(text) => {
                let mut byte = 0;
                while byte < text.len() {
                    at = push(out, at, text.as_bytes()[byte]);
                    if text.as_bytes()[byte] == b'%' {
                        at = push(out, at, b'%');
                    }
                    byte += 1;
                }
            }
            Piece::Argument(spec) => {
                let change = if argument < changes.len() { changes[argument] } else { Change::None };
                at = write_argument(out, at, spec, conversions[argument], change);
                argument += 1;
            }
        }
        piece += 1;
    }
    push(out, at, 0);
}

const fn write_argument(out: &mut [u8], mut at: usize, spec: Spec, conversion: Conversion, change: Change) -> usize {
    let letters = match conversion {
        Conversion::Number(letters) => letters,
        Conversion::Text => return push_all(out, at, b"%s"),
    };
    if let Change::Text = change {
        at = push(out, at, b'%');
        // The width is a value of its own, and must be taken; the text is as wide already.
        if let Width::Star = spec.width {
            at = push(out, at, b'*');
        }
        return push(out, at, b's');
    }
    at = push_all(out, at, spec.prefix.as_bytes());
    at = push(out, at, b'%');
    if spec.plus {
        at = push(out, at, b'+');
    }
    if spec.zero {
        at = push(out, at, b'0');
    } else if spec.left {
        at = push(out, at, b'-');
    }
    match spec.width {
        Width::None => {}
        Width::Fixed(width) => at = push_number(out, at, width.saturating_sub(spec.prefix.len() as u16)),
        Width::Star => at = push(out, at, b'*'),
    }
    // Rust gives integers no precision.
    if letters.as_bytes()[0] == b'f' {
        let precision = match change {
            Change::Precision(precision) => Some(precision),
            _ => spec.precision,
        };
        if let Some(precision) = precision {
            at = push(out, at, b'.');
            at = push_number(out, at, precision);
            if precision == 0 {
                at = push(out, at, b'0');
            }
        }
    }
    push_all(out, at, letters.as_bytes())
}

const fn push(out: &mut [u8], at: usize, byte: u8) -> usize {
    out[at] = byte;
    at + 1
}

const fn push_all(out: &mut [u8], mut at: usize, bytes: &[u8]) -> usize {
    let mut index = 0;
    while index < bytes.len() {
        at = push(out, at, bytes[index]);
        index += 1;
    }
    at
}

/// Writes `number` in decimal; nothing for 0, because a width of 0 means none.
const fn push_number(out: &mut [u8], mut at: usize, number: u16) -> usize {
    let mut power = 10_000;
    while power > 0 {
        if number >= power {
            at = push(out, at, b'0' + (number / power % 10) as u8);
        }
        power /= 10;
    }
    at
}
