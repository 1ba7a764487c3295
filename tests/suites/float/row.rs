//! An expression in both languages.
//!
//! Its kernel writes its value to memory. `shape` gives the operands `a`, `b`, … and the result: `"ff>d"` has two `f32` and
//! an `f64` result; see [`kind`] for the letters.

/// An expression in both languages and the name of the kernel that computes it.
pub struct Row {
    /// Of the kernel.
    pub name: &'static str,
    /// Operands and result.
    pub shape: &'static str,
    /// An expression of the operands: `a.mul_add(b, c)`.
    pub rust: &'static str,
    /// An expression, or statements with `return`.
    pub cuda: &'static str,
    /// Whether unrolling may repeat instructions: then only which there are is compared, not how many.
    pub repeats: bool,
}

/// A type in Rust and in CUDA C++.
pub fn kind(letter: char) -> (&'static str, &'static str) {
    match letter {
        'f' => ("f32", "float"),
        'd' => ("f64", "double"),
        'p' => ("*const f32", "const float *"),
        'q' => ("*const f64", "const double *"),
        'b' => ("i8", "signed char"),
        's' => ("i16", "short"),
        'i' => ("i32", "int"),
        'u' => ("u32", "unsigned int"),
        'l' => ("i64", "long long"),
        'm' => ("u64", "unsigned long long"),
        other => panic!("`{other}` is no operand's type"),
    }
}

/// The same text in both languages.
pub const fn same(name: &'static str, shape: &'static str, text: &'static str) -> Row {
    row(name, shape, text, text)
}

/// Rust and CUDA C++.
pub const fn row(name: &'static str, shape: &'static str, rust: &'static str, cuda: &'static str) -> Row {
    Row { name, shape, rust, cuda, repeats: false }
}

/// With a loop.
pub const fn looped(name: &'static str, shape: &'static str, rust: &'static str, cuda: &'static str) -> Row {
    Row { name, shape, rust, cuda, repeats: true }
}
