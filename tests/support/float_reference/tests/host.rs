//! What `ptx::float` computes on the host, where no GPU is: against MPFR, and in 16 bits against exact sums.

use ptx_float_kernels::narrow as kernels;
use ptx_float_reference::inputs::Random;
use ptx_host::compare::{Exact, Float};

/// The exact product and sum, and the nearest number to it.
fn rounded<T: Float>(op: &str, [a, b, c]: [T; 3]) -> Option<T> {
    let [a, b, c] = [a, b, c].map(Float::to_f64);
    // The product of two numbers of 16 bits is one of f64, and so is what their sum leaves over.
    let (x, y) = match op {
        "add" => (a, b),
        "sub" => (a, -b),
        "mul" => (a * b, -0.0),
        "fma" => (a * b, c),
        _ => return None,
    };
    let high = x + y;
    let part = high - x;
    let low = (x - (high - part)) + (y - part);
    Some(Exact { high, low: if high.is_finite() { low } else { 0.0 } }.round())
}

macro_rules! check {
    ($rows:ident $function:ident $ty:ty) => {
        let mut random = Random::new(2);
        let mut checked = 0;
        for (which, row) in kernels::$rows.iter().enumerate().filter(|(_, row)| row.form == "PLAIN") {
            for i in 0..200_000_u32 {
                let bits = random.bits();
                let near = |x: u64| if i % 2 == 0 { x as u16 } else { (x as u16 & 0x83ff) | (bits as u16 & 0x7c00) };
                let operands = [bits as u16, near(bits >> 16), near(bits >> 32)].map(<$ty>::from_bits);
                let Some(expected) = rounded(row.what, operands) else { continue };
                let got = <$ty>::from_bits(kernels::$function(which as u32, operands) as u16);
                let alike = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
                assert!(alike, "{} {operands:?}: got {got:?}, expected {expected:?}", row.method);
                checked += 1;
            }
        }
        assert!(checked >= 800_000, "{checked}");
    };
}

#[test]
fn halves_round_once() {
    check!(HALF_OPERATIONS half half::f16);
    check!(BRAIN_OPERATIONS brain half::bf16);
}

#[cfg(feature = "mpfr")]
mod mpfr {
    use ptx_float_kernels::explicit::{self as kernels, Row};
    use ptx_float_reference::inputs::{operands, special_operands};
    use ptx_float_reference::{Format, Mode, Operation, operation};

    fn what(row: &Row) -> (Operation, Mode) {
        let operation = Operation::ALL.into_iter().find(|operation| operation.name() == row.what);
        let mode = Mode::ALL.into_iter().find(|mode| format!("{mode:?}") == row.rounding);
        (operation.expect("a known operation"), mode.expect("a known rounding"))
    }

    #[test]
    fn every_rounding_of_both_precisions() {
        macro_rules! check {
            ($rows:ident $function:ident $ty:ty) => {
                for (which, row) in kernels::$rows.iter().enumerate() {
                    let (what, mode) = what(row);
                    for operands in [special_operands(), operands(which as u64, 20_000)].concat() {
                        let got = <$ty>::from_bits(kernels::$function(which as u32, operands));
                        let expected: $ty = operation(what, mode, operands);
                        let (method, bits) = (row.method, operands.map(|x| x.to_bits()));
                        assert!(got.same(expected), "{method} {bits:x?}: got {got:e}, expected {expected:e}");
                    }
                }
            };
        }
        check!(OPERATIONS single f32);
        check!(DOUBLE_OPERATIONS double f64);
    }
}
