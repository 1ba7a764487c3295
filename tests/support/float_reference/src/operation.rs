//! What operations there are, and in which directions their results are rounded.

/// A direction of rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To the nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Upwards.
    Up,
    /// Downwards.
    Down,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Nearest, Self::Zero, Self::Up, Self::Down];

    /// PTX's suffix.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Nearest => "rn",
            Self::Zero => "rz",
            Self::Up => "ru",
            Self::Down => "rd",
        }
    }
}

/// An operation that IEEE 754 defines to the last bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a * b
    Mul,
    /// a * b + c
    Fma,
    /// 1 / a
    Rcp,
    /// a / b
    Div,
    /// The square root of a.
    Sqrt,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Add, Self::Sub, Self::Mul, Self::Fma, Self::Rcp, Self::Div, Self::Sqrt];

    /// PTX's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Fma => "fma",
            Self::Rcp => "rcp",
            Self::Div => "div",
            Self::Sqrt => "sqrt",
        }
    }
}
