//! Kernels that print.

use core::fmt;
use core::hint::black_box as b;

use ptx::prelude::*;

/// Any address.
const P: *const u32 = core::ptr::without_provenance(0x00ab_cdef);

/// Longer than a panic's message.
pub const LONG: &str = "Longer than what a panic prints, and still whole: 01234567890123456789012345678901234567890123456789\
    0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890\
    0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890";

#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Circle { radius: u32 },
    Empty,
}

#[derive(Clone, Copy, Debug)]
pub struct Celsius(pub i32);

impl fmt::Display for Celsius {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(self.0 >= 0, "", "21")?;
        f.write_str(" °C")
    }
}

/// Keeps each row's texts in a stack frame of its own: all together would take 100 KiB.
#[inline(never)]
fn apart(print: impl FnOnce()) {
    print();
}

/// Prints every row.
#[kernel]
pub fn print_rows() {
    macro_rules! row {
        ($($row:tt)*) => {
            apart(|| ptx::println!($($row)*))
        };
    }
    rows!(row);
}

/// Every thread prints one line in two pieces' worth of values.
#[kernel]
pub fn print_threads(x: &[f32]) {
    let i = thread::index_1d();
    if let Some(x) = x.get(i.get()) {
        ptx::println!("thread {} has {x:.3} and {:#06x}", i.get(), i.get() * 3);
    }
}

/// Values of every size, in the order in which syscalls.cu has them.
#[kernel]
pub fn packs(a: i32, b: u64, c: u8, d: i16, e: i64, f: i8, g: u32) {
    ptx::println!("{a} {b} {c} {d} {e} {f} {g}");
}

/// What [`print_threads`] prints for a thread.
#[cfg(not(target_arch = "nvptx64"))]
pub fn line_of_thread(i: usize, x: f32) -> String {
    format!("thread {i} has {x:.3} and {:#06x}", i * 3)
}

/// The rows as std formats them.
#[cfg(not(target_arch = "nvptx64"))]
pub fn expected() -> Vec<String> {
    let mut rows = Vec::new();
    macro_rules! row {
        ($($row:tt)*) => {
            rows.push(format!($($row)*))
        };
    }
    rows!(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture;

    /// What device code would hand to the driver, for `$row`.
    macro_rules! both {
        ($($row:tt)*) => {{
            apart(|| ptx::__private::__print!(ptx, capture::print, true; $($row)*));
            assert_eq!(capture::take(), [format!($($row)*) + "\n"], "{}", stringify!($($row)*));
        }};
    }

    #[test]
    fn printf_prints_what_std_does() {
        rows!(both);
        assert!(expected().len() > 100);
    }

    #[test]
    fn printf_prints_what_std_does_by_core_fmt() {
        host_rows!(both);
    }

    /// Digits, exponents and the switch between styles, over numbers that no table would have.
    #[test]
    fn floats_of_every_magnitude() {
        let mut bits = 1_u64;
        for _ in 0..2000 {
            // Knuth's generator.
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (double, float) = (f64::from_bits(bits), f32::from_bits((bits >> 32) as u32));
            both!("{double} {double:?} {double:e}");
            both!("{float} {float:?} {float:e} {:?}", (bits >> 40) as f64 / 1000.0);
            both!("{:.3} {float:12.1}", (bits >> 30) as f64 / 4096.0);
            // Two texts of the same length are equally near to many of these.
            let power = 2.0_f64.powi((bits % 100) as i32 - 50);
            both!("{} {:?}", (bits >> 11) as f64 * power, (bits >> 40) as f32 * power as f32);
        }
    }

    #[test]
    fn print_ends_no_line_and_takes_no_argument_twice() {
        let mut count = 0;
        let mut next = || {
            count += 1;
            count
        };
        apart(|| ptx::__private::__print!(ptx, capture::print, false; "{} {0} {}", next(), next()));
        ptx::__private::__print!(ptx, capture::print, false; "");
        ptx::__private::__print!(ptx, capture::print, true;);
        assert_eq!(capture::take(), ["1 1 2", "\n"]);
    }

    #[test]
    fn too_long_a_text_is_cut_and_the_others_stay() {
        let long = "x".repeat(3000);
        ptx::__private::__print!(ptx, capture::print, false; "{}|{}|{}", 5, long, "more");
        let printed = capture::take().remove(0);
        let cut = printed.strip_prefix("5|").and_then(|rest| rest.strip_suffix("…|…")).expect(&printed);
        assert!(cut.len() > 1000 && long.starts_with(cut));
    }
}
