//! The expressions, in Rust and in CUDA C++.
//!
//! A row's kernel writes its value to memory. `shape` gives the operands `a`, `b`, … and the result: `"ff>d"` has two `f32` and
//! an `f64` result; see [`kind`] for the letters.

/// An expression in both languages.
pub struct Row {
    /// Of the kernel.
    pub name: &'static str,
    /// Operands and result.
    pub shape: &'static str,
    /// An expression.
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

/// All of them.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    ARITHMETIC.iter().chain(crate::functions::ROWS).chain(crate::further::ROWS)
}

/// What the languages themselves have.
const ARITHMETIC: &[Row] = &[
    // Sums and products.
    same("add_f32", "ff>f", "a + b"),
    same("sub_f32", "ff>f", "a - b"),
    same("mul_f32", "ff>f", "a * b"),
    same("add_f64", "dd>d", "a + b"),
    same("sub_f64", "dd>d", "a - b"),
    same("mul_f64", "dd>d", "a * b"),
    same("neg_f32", "f>f", "-a"),
    same("neg_f64", "d>d", "-a"),
    same("double_f32", "f>f", "a + a"),
    same("square_f32", "f>f", "a * a"),
    row("add_constant_f32", "f>f", "a + 0.1", "a + 0.1f"),
    row("mul_constant_f32", "f>f", "a * 0.1", "a * 0.1f"),
    same("mul_constant_f64", "d>d", "a * 0.1"),
    // What may be fused.
    same("mul_add_f32", "fff>f", "a * b + c"),
    same("mul_sub_f32", "fff>f", "a * b - c"),
    same("sub_mul_f32", "fff>f", "c - a * b"),
    same("neg_mul_sub_f32", "fff>f", "-(a * b) - c"),
    same("neg_mul_add_f32", "fff>f", "-(a * b) + c"),
    same("mul_add_mul_f32", "ffff>f", "a * b + c * d"),
    same("mul_sub_mul_f32", "ffff>f", "a * b - c * d"),
    same("mul_add_f64", "ddd>d", "a * b + c"),
    same("mul_sub_f64", "ddd>d", "a * b - c"),
    row("mul_sub_reciprocal_f64", "ddd>d", "a * b - 1.0 / c", "a * b - 1.0 / c"),
    row("mul_sub_reciprocal_f32", "fff>f", "a * b - 1.0 / c", "a * b - 1.0f / c"),
    row("mul_sub_quotient_f32", "fff>f", "a * b - 3.0 / c", "a * b - 3.0f / c"),
    row("mul_sub_half_f64", "ddd>d", "a * b - c * 0.5", "a * b - c * 0.5"),
    row("mul_sub_double_f64", "ddd>d", "a * b - c * 2.0", "a * b - c * 2.0"),
    row("sub_half_f32", "ff>f", "a - b * 0.5", "a - b * 0.5f"),
    row("mul_sub_reciprocal_product_f64", "dddd>d", "a * b - 1.0 / c * d", "a * b - 1.0 / c * d"),
    row("mul_sub_two_reciprocals_f64", "dddd>d", "a * b - 1.0 / c - 1.0 / d", "a * b - 1.0 / c - 1.0 / d"),
    same("sub_mul_f64", "ddd>d", "c - a * b"),
    same("mul_add_mul_f64", "dddd>d", "a * b + c * d"),
    same("square_add_f32", "ff>f", "a * a + b"),
    same("sum_times_f32", "fff>f", "(a + b) * c"),
    same("associated_f32", "fff>f", "(a + b) + c"),
    same("reassociated_f32", "fff>f", "a + (b + c)"),
    row("add_constant_mul_f32", "ff>f", "a * b + 1.0", "a * b + 1.0f"),
    row("scale_and_shift_f32", "f>f", "a * 3.0 + 7.0", "a * 3.0f + 7.0f"),
    row(
        "shared_product_f32",
        "ff>f",
        "{ let p = a * b; (p + a) * (p - b) }",
        "float p = a * b; return (p + a) * (p - b);",
    ),
    row(
        "chosen_product_f32",
        "fffu>f",
        "{ let p = a * b; if d > 7 { p + c } else { p - c } }",
        "float p = a * b; return d > 7 ? p + c : p - c;",
    ),
    row(
        "complex_product_f32",
        "ffff>f",
        "{ let (re, im) = (a * c - b * d, a * d + b * c); re + im }",
        "float re = a * c - b * d, im = a * d + b * c; return re + im;",
    ),
    row("determinant_f64", "dddd>d", "a * d - b * c", "a * d - b * c"),
    row("lerp_f32", "fff>f", "a + c * (b - a)", "a + c * (b - a)"),
    row("horner_f32", "f>f", "((0.3 * a + 0.7) * a + 1.1) * a + 1.9", "((0.3f * a + 0.7f) * a + 1.1f) * a + 1.9f"),
    same("horner_f64", "d>d", "((0.3 * a + 0.7) * a + 1.1) * a + 1.9"),
    row("powers_f32", "f>f", "1.9 + 1.1 * a + 0.7 * (a * a)", "1.9f + 1.1f * a + 0.7f * (a * a)"),
    row(
        "dot3_f32",
        "pp>f",
        "*a * *b + *a.add(1) * *b.add(1) + *a.add(2) * *b.add(2)",
        "a[0] * b[0] + a[1] * b[1] + a[2] * b[2]",
    ),
    row(
        "dot4_parallel_f32",
        "pp>f",
        "(*a * *b + *a.add(1) * *b.add(1)) + (*a.add(2) * *b.add(2) + *a.add(3) * *b.add(3))",
        "(a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])",
    ),
    row(
        "dot3_f64",
        "qq>d",
        "*a * *b + *a.add(1) * *b.add(1) + *a.add(2) * *b.add(2)",
        "a[0] * b[0] + a[1] * b[1] + a[2] * b[2]",
    ),
    looped(
        "dot_loop_f32",
        "ppu>f",
        "{ let mut s = 0.0; let mut i = 0; while i < c as usize { s += *a.add(i) * *b.add(i); i += 1; } s }",
        "float s = 0; for (size_t i = 0; i < c; ++i) s += a[i] * b[i]; return s;",
    ),
    looped(
        "dot_loop_f64",
        "qqu>d",
        "{ let mut s = 0.0; let mut i = 0; while i < c as usize { s += *a.add(i) * *b.add(i); i += 1; } s }",
        "double s = 0; for (size_t i = 0; i < c; ++i) s += a[i] * b[i]; return s;",
    ),
    looped(
        "sum_loop_f32",
        "pu>f",
        "{ let mut s = 0.0; for i in 0..b as usize { s += *a.add(i); } s }",
        "float s = 0; for (size_t i = 0; i < b; ++i) s += a[i]; return s;",
    ),
    looped(
        "iterators_f32",
        "ppu>f",
        "core::slice::from_raw_parts(a, c as usize).iter().zip(core::slice::from_raw_parts(b, c as usize)).map(|(a, b)| a * b).sum::<f32>()",
        "float s = -0.0f; for (size_t i = 0; i < c; ++i) s += a[i] * b[i]; return s;",
    ),
    // Products and the sums that they meet in later blocks.
    row(
        "later_product_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = x * y; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = x * y, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9]; } return p + s * a[2];",
    ),
    row(
        "later_product_f32",
        "ppu>f",
        "{ let (x, y) = (*a, *a.add(1)); let p = x * y; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) }",
        "float x = a[0], y = a[1], p = x * y, s; if (c > 5) { ((float *)b)[7] = 3; s = b[1]; } else { ((float *)b)[8] = 4; s = b[9]; } return p + s * a[2];",
    ),
    row(
        "later_square_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = x * x; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = x * x, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9]; } return p + s * a[2];",
    ),
    row(
        "later_square_f32",
        "ppu>f",
        "{ let (x, y) = (*a, *a.add(1)); let p = x * x; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) }",
        "float x = a[0], y = a[1], p = x * x, s; if (c > 5) { ((float *)b)[7] = 3; s = b[1]; } else { ((float *)b)[8] = 4; s = b[9]; } return p + s * a[2];",
    ),
    row(
        "later_product_of_kept_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = x * y; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) * x }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = x * y, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9] * x; } return p + s * a[2];",
    ),
    row(
        "later_product_of_both_kept_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = x * y; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) * x * y }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = x * y, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9] * x * y; } return p + s * a[2];",
    ),
    row(
        "later_product_needed_after_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = x * y; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) + x }",
        "double x = a[0], y = a[1], p = x * y, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9]; } return p + s * a[2] + x;",
    ),
    row(
        "later_chain_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = x.mul_add(0.5, 0.75) * x; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = fma(x, 0.5, 0.75) * x, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9]; } return p + s * a[2];",
    ),
    row(
        "later_chain_of_square_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = (x * x).mul_add(0.5, 0.75) * x; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = fma(x * x, 0.5, 0.75) * x, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9]; } return p + s * a[2];",
    ),
    row(
        "later_product_of_sum_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = (x * x + 1.0) * y; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = (x * x + 1.0) * y, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9]; } return p + s * a[2];",
    ),
    row(
        "later_product_of_two_sums_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = (x + 1.0) * (y + 2.0); let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) * x * y }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = (x + 1.0) * (y + 2.0), s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9] * x * y; } return p + s * a[2];",
    ),
    row(
        "later_three_f64",
        "qqu>d",
        "{ let (x, y) = (*a, *a.add(1)); let p = x * y * x * y; let s = if c > 5 { *b.add(7).cast_mut() = 3.0; *b.add(1) } else { *b.add(8).cast_mut() = 4.0; *b.add(9) }; p + s * *a.add(2) }",
        "double x = a[0], y = a[1], p = x * y * x * y, s; if (c > 5) { ((double *)b)[7] = 3; s = b[1]; } else { ((double *)b)[8] = 4; s = b[9]; } return p + s * a[2];",
    ),
    looped(
        "later_behind_loop_f64",
        "qqu>d",
        "{ let p = *a * *a.add(1); let mut s = 0.0; let mut i = 0; while i < c as usize { s += *b.add(i); i += 1; } p + s * *a.add(2) }",
        "double p = a[0] * a[1], s = 0; for (size_t i = 0; i < c; ++i) s += b[i]; return p + s * a[2];",
    ),
    // Quotients.
    same("div_f32", "ff>f", "a / b"),
    same("div_f64", "dd>d", "a / b"),
    row("rcp_f32", "f>f", "1.0 / a", "1.0f / a"),
    same("rcp_f64", "d>d", "1.0 / a"),
    row("neg_rcp_f32", "f>f", "-1.0 / a", "-1.0f / a"),
    row("recip_f32", "f>f", "a.recip()", "1.0f / a"),
    row("two_over_f32", "f>f", "2.0 / a", "2.0f / a"),
    row("half_f32", "f>f", "a / 2.0", "a / 2.0f"),
    same("half_f64", "d>d", "a / 2.0"),
    row("third_f32", "f>f", "a / 3.0", "a / 3.0f"),
    same("third_f64", "d>d", "a / 3.0"),
    same("div_add_f32", "fff>f", "a / b + c"),
    row("times_rcp_f32", "ff>f", "a * (1.0 / b)", "a * (1.0f / b)"),
    same("div_div_f32", "fff>f", "a / b / c"),
    same("two_quotients_f32", "fff>f", "a / c + b / c"),
    // Selections and comparisons.
    row("less_f32", "ff>u", "(a < b) as u32", "a < b"),
    row("less_equal_f64", "dd>u", "(a <= b) as u32", "a <= b"),
    row("equal_f32", "ff>u", "(a == b) as u32", "a == b"),
    row("unequal_f32", "ff>u", "(a != b) as u32", "a != b"),
    row("not_less_f32", "ff>u", "!(a < b) as u32", "!(a < b)"),
    row("is_nan_f32", "f>u", "a.is_nan() as u32", "a != a"),
    row("choose_f32", "ffff>f", "if a < b { c } else { d }", "a < b ? c : d"),
    row("choose_f64", "dddd>d", "if a < b { c } else { d }", "a < b ? c : d"),
    row("larger_f32", "ff>f", "if a > b { a } else { b }", "a > b ? a : b"),
    row("min_f32", "ff>f", "a.min(b)", "fminf(a, b)"),
    row("max_f32", "ff>f", "a.max(b)", "fmaxf(a, b)"),
    row("min_f64", "dd>d", "a.min(b)", "fmin(a, b)"),
    row("max_f64", "dd>d", "a.max(b)", "fmax(a, b)"),
    row("clamp_f32", "f>f", "a.max(0.0).min(1.0)", "fminf(fmaxf(a, 0.0f), 1.0f)"),
    row("abs_f32", "f>f", "a.abs()", "fabsf(a)"),
    row("abs_f64", "d>d", "a.abs()", "fabs(a)"),
    row("abs_difference_f32", "ff>f", "(a - b).abs()", "fabsf(a - b)"),
    // Conversions.
    row("f32_of_i32", "i>f", "a as f32", "(float)a"),
    row("f32_of_u32", "u>f", "a as f32", "(float)a"),
    row("f32_of_i64", "l>f", "a as f32", "(float)a"),
    row("f32_of_u64", "m>f", "a as f32", "(float)a"),
    row("f32_of_i16", "s>f", "a as f32", "(float)a"),
    row("f32_of_i8", "b>f", "a as f32", "(float)a"),
    row("f64_of_i32", "i>d", "a as f64", "(double)a"),
    row("f64_of_u32", "u>d", "a as f64", "(double)a"),
    row("f64_of_i64", "l>d", "a as f64", "(double)a"),
    row("f64_of_u64", "m>d", "a as f64", "(double)a"),
    row("f64_of_f32", "f>d", "a as f64", "(double)a"),
    row("f32_of_f64", "d>f", "a as f32", "(float)a"),
    row("i32_of_f32", "f>i", "a.to_int_unchecked::<i32>()", "(int)a"),
    row("u32_of_f32", "f>u", "a.to_int_unchecked::<u32>()", "(unsigned int)a"),
    row("i64_of_f32", "f>l", "a.to_int_unchecked::<i64>()", "(long long)a"),
    row("u64_of_f32", "f>m", "a.to_int_unchecked::<u64>()", "(unsigned long long)a"),
    row("i32_of_f64", "d>i", "a.to_int_unchecked::<i32>()", "(int)a"),
    row("u32_of_f64", "d>u", "a.to_int_unchecked::<u32>()", "(unsigned int)a"),
    row("i64_of_f64", "d>l", "a.to_int_unchecked::<i64>()", "(long long)a"),
    row("mixed_product", "fd>d", "a as f64 * b", "a * b"),
    row("narrowed_sum", "fd>f", "(a as f64 + b) as f32", "(float)(a + b)"),
    row("scaled_index", "uf>f", "a as f32 * b + 0.5", "(float)a * b + 0.5f"),
    row("bits_f32", "f>u", "a.to_bits()", "__float_as_uint(a)"),
];
