//! The types of random programs.

use crate::choices::Choices;

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// As Rust calls it.
    pub name: &'static str,
    /// How wide it is.
    pub bits: u32,
    /// Whether it has a sign.
    pub signed: bool,
}

const fn int(name: &'static str, bits: u32, signed: bool) -> Int {
    Int { name, bits, signed }
}

/// Every integer.
pub const INTS: [Int; 12] = [
    int("u32", 32, false),
    int("i32", 32, true),
    int("u8", 8, false),
    int("i8", 8, true),
    int("u16", 16, false),
    int("i16", 16, true),
    int("u64", 64, false),
    int("i64", 64, true),
    int("u128", 128, false),
    int("i128", 128, true),
    int("usize", 64, false),
    int("isize", 64, true),
];

/// What most operands beside the point are.
pub const U32: Int = INTS[0];
/// What digests and slots are.
pub const U64: Int = INTS[6];
/// What indices are.
pub const USIZE: Int = INTS[10];

impl Int {
    /// That of the same width and this sign.
    pub fn with_sign(self, signed: bool) -> Self {
        let size = |int: &Int| int.name.ends_with("size");
        let same = |int: &&Int| int.bits == self.bits && int.signed == signed && size(int) == size(&self);
        *INTS.iter().find(same).expect("each width has both signs")
    }
}

/// The type of a value in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// `true` or `false`.
    Bool,
    /// `char`.
    Char,
    /// A number without a fraction.
    Int(Int),
    /// A float of so many bits.
    Float(u32),
    /// So many elements of a type.
    Array(Box<Ty>, usize),
    /// A tuple of two.
    Pair(Box<(Ty, Ty)>),
    /// Something or nothing.
    Option(Box<Ty>),
    /// The struct of this number.
    Struct(usize),
    /// The enum of this number.
    Enum(usize),
}

impl Ty {
    /// As Rust writes it.
    pub fn name(&self) -> String {
        match self {
            Self::Bool => "bool".into(),
            Self::Char => "char".into(),
            Self::Int(int) => int.name.into(),
            Self::Float(bits) => format!("f{bits}"),
            Self::Array(element, len) => format!("[{}; {len}]", element.name()),
            Self::Pair(both) => format!("({}, {})", both.0.name(), both.1.name()),
            Self::Option(inner) => format!("Option<{}>", inner.name()),
            Self::Struct(number) => format!("S{number}"),
            Self::Enum(number) => format!("E{number}"),
        }
    }
}

/// An integer's type.
pub fn any_int(choices: &mut Choices) -> Int {
    INTS[choices.weighted(&[6, 6, 4, 4, 4, 4, 4, 4, 2, 2, 1, 1])]
}

/// A type without parts.
pub fn scalar(choices: &mut Choices) -> Ty {
    match choices.weighted(&[20, 2, 1, 3, 3]) {
        0 => Ty::Int(any_int(choices)),
        1 => Ty::Bool,
        2 => Ty::Char,
        3 => Ty::Float(32),
        _ => Ty::Float(64),
    }
}

/// Lengths of arrays: powers of two, whose indices are masked, and others.
pub fn len(choices: &mut Choices) -> usize {
    *choices.pick(&[2, 4, 8, 3, 5, 7])
}

/// Any type whose structs and enums are among the first of this many.
pub fn any(choices: &mut Choices, structs: usize, enums: usize) -> Ty {
    match choices.weighted(&[24, 5, 2, 2, 2 * structs.min(1), 2 * enums.min(1)]) {
        0 => scalar(choices),
        1 => Ty::Array(Box::new(scalar(choices)), len(choices)),
        2 => Ty::Pair(Box::new((scalar(choices), scalar(choices)))),
        3 => Ty::Option(Box::new(scalar(choices))),
        4 => Ty::Struct(choices.below(structs)),
        _ => Ty::Enum(choices.below(enums)),
    }
}
