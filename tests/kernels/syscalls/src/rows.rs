//! Format strings and arguments: every row is printed on the device and formatted by std on the CPU.

/// Calls `$row!("format", arguments…)` for each row; each prints one line.
macro_rules! rows {
    ($row:ident) => {{
        // Nothing to format.
        $row!("plain text");
        $row!("100 % sure, 50%% and %d %s");
        $row!("braces {{}} and {{{}}}", b(1_i32));
        $row!("ä € 𝄞 in the format: {}", b('ß'));
        $row!("tab\tquote\"backslash\\");
        // Every integer type, and its ends.
        $row!("{} {} {}", b(i8::MIN), b(-1_i8), b(i8::MAX));
        $row!("{} {} {}", b(i16::MIN), b(-1_i16), b(i16::MAX));
        $row!("{} {} {}", b(i32::MIN), b(-1_i32), b(i32::MAX));
        $row!("{} {} {}", b(i64::MIN), b(-1_i64), b(i64::MAX));
        $row!("{} {} {}", b(isize::MIN), b(-1_isize), b(isize::MAX));
        $row!("{} {}", b(i128::MIN), b(i128::MAX));
        $row!("{} {}", b(u8::MIN), b(u8::MAX));
        $row!("{} {}", b(u16::MIN), b(u16::MAX));
        $row!("{} {}", b(u32::MIN), b(u32::MAX));
        $row!("{} {}", b(u64::MIN), b(u64::MAX));
        $row!("{} {}", b(usize::MIN), b(usize::MAX));
        $row!("{} {}", b(u128::MIN), b(u128::MAX));
        $row!("{:?} {:?} {:?} {:?}", b(-5_i8), b(5_u16), b(i64::MIN), b(u128::MAX));
        // Mixed sizes: the packing of the valist.
        $row!("{} {} {} {}", b(1_u8), b(2_u64), b(3_u8), b(4_u8));
        $row!("{} {} {} {} {}", b(1_u32), b(2_u32), b(3_u64), b(4_u32), b(0.5_f64));
        $row!("{} {:.1} {} {:.1} {}", b(1_i16), b(2.5_f32), b(3_i16), b(4.5_f64), b('x'));
        // Width, alignment, zeros, sign.
        $row!("[{:5}] [{:<5}] [{:>5}] [{:^5}]", b(42), b(42), b(42), b(42));
        $row!("[{:5}] [{:<5}] [{:>5}] [{:^5}]", b(-42), b(-42), b(-42), b(-42));
        $row!("[{:1}] [{:01}] [{:<1}]", b(1234), b(1234), b(1234));
        $row!("[{:05}] [{:<05}] [{:^05}] [{:*>05}]", b(-42), b(-42), b(-42), b(-42));
        $row!("[{:*>6}] [{:_<6}] [{:ä^6}]", b(42), b(42_u8), b(42_i64));
        $row!("{:+} {:+} {:+} {:+}", b(5), b(-5), b(0), b(i64::MAX));
        $row!("{:+} {:+} {:+} {:+}", b(5_u8), b(6_u16), b(7_u32), b(u64::MAX));
        $row!("[{:+6}] [{:<+6}] [{:+06}] [{:+06}]", b(5), b(5), b(5), b(-5_i8));
        $row!("[{:+06}] [{:+6}] [{:<+6}]", b(5_u8), b(u32::MAX), b(3_u16));
        $row!("[{:-5}] [{:#}] [{:#5}] [{:.3}]", b(5), b(5), b(5), b(5));
        $row!("[{:20}] [{:<20}] [{:020}]", b(i64::MIN), b(i64::MIN), b(u64::MAX));
        $row!("[{:30}]", b(-7_i128));
        // Widths that are arguments.
        $row!("[{:w$}] [{:<w$}] [{:0w$}]", b(7), b(7), b(7), w = b(6_usize));
        $row!("[{:1$}] [{:>1$}]", b(7), b(3_usize));
        $row!("[{:1$}] [{0:^1$}]", b("ab"), b(7_usize));
        $row!("[{:w$}]", b(7), w = b(0_usize));
        $row!("[{:#0w$x}] [{:<#w$x}] [{:#w$x}]", b(255), b(255), b(255), w = b(8_usize));
        $row!("[{:#0w$x}] [{:<#w$x}]", b(255), b(255), w = b(1_usize));
        $row!("[{:w$}]", b(7_u128), w = b(5_usize));
        // Hexadecimal, octal, binary.
        $row!("{:x} {:x} {:x} {:x}", b(0), b(255_u8), b(-1_i8), b(-1_i64));
        $row!("{:X} {:X} {:X} {:X}", b(0), b(0xabcd_u16), b(-2_i16), b(u64::MAX));
        $row!("{:o} {:o} {:o} {:o}", b(0), b(8_u32), b(-1_i32), b(u64::MAX));
        $row!("{:b} {:b} {:b}", b(0), b(10_u8), b(-3_i8));
        $row!("{:#x} {:#X} {:#o} {:#b}", b(0), b(0), b(0), b(0));
        $row!("{:#x} {:#X} {:#o} {:#b}", b(255), b(255), b(8), b(5));
        $row!("{:08x} {:#010x} {:#010X} {:#06o}", b(0xbeef), b(0xbeef), b(0xbeef), b(8));
        $row!("[{:8x}] [{:<8x}] [{:^8x}] [{:#8x}]", b(0xbeef), b(0xbeef), b(0xbeef), b(0xbeef));
        $row!("[{:<#8x}] [{:>#8x}] [{:*^#8x}]", b(0), b(0), b(0));
        $row!("{:+x} {:+#x} {:+o} {:+#010x}", b(5), b(5), b(8), b(5));
        $row!("{:016x} {:#018x}", b(0x1234_5678_9abc_u64), b(0x1234_5678_9abc_u64));
        $row!("{:08b} {:#010b}", b(0x5a_u8), b(0x5a_u8));
        $row!("{:x?} {:X?} {:#?}", b(255), b(255), b(255));
        // Floats with a precision: by printf.
        $row!("{:.0} {:.1} {:.2} {:.3}", b(6.54321_f64), b(6.54321_f64), b(6.54321_f64), b(6.54321_f64));
        $row!("{:.0} {:.0} {:.0} {:.0}", b(0.5_f64), b(1.5_f64), b(2.5_f64), b(-0.5_f64));
        $row!("{:.1} {:.2} {:.2}", b(0.25_f64), b(1.005_f64), b(0.125_f32));
        $row!("{:.3} {:.3} {:.10}", b(0.1_f32), b(16777216.0_f32), b(0.1_f64));
        $row!("[{:8.2}] [{:<8.2}] [{:08.2}] [{:+.2}]", b(-1.5_f64), b(-1.5_f64), b(-1.5_f64), b(1.5_f64));
        $row!("[{:+8.2}] [{:<+8.2}] [{:+08.2}]", b(1.5_f32), b(1.5_f32), b(1.5_f32));
        $row!("{:.1} {:+.1} {:.1?}", b(-0.0_f64), b(0.0_f64), b(2.0_f32));
        $row!("{:.3}", b(1e300_f64));
        $row!("{:.20} {:.30}", b(0.1_f64), b(1e-20_f64));
        $row!("{:.1} {:.1}", b(f64::MAX), b(f32::MAX));
        $row!("{:.3} {:.3} {:.3}", b(f64::NAN), b(f64::INFINITY), b(f64::NEG_INFINITY));
        $row!("[{:8.3}] [{:<8.3}] [{:08.3}] [{:+.3}]", b(f64::NAN), b(f64::NAN), b(f64::NAN), b(f64::NAN));
        $row!(
            "[{:8.3}] [{:<8.3}] [{:08.3}] [{:+.3}]",
            b(f32::INFINITY),
            b(f32::INFINITY),
            b(f32::INFINITY),
            b(f32::INFINITY)
        );
        $row!("[{:08.3}] [{:+08.3}] {:.1} {}", b(f32::NEG_INFINITY), b(f32::INFINITY), b(1.25_f32), b(9));
        $row!("[{:w$.1}] [{:<w$.1}] [{:0w$.1}]", b(f64::NAN), b(1.0_f64), b(-f64::INFINITY), w = b(7_usize));
        $row!("{:.*} {:.p$} {:.0$}", b(2_usize), b(1.23456_f64), b(7.0_f64), b(8.5_f64), p = b(3_usize));
        $row!(
            "[{:w$.p$}] [{:>w$.p$}] [{:0w$.p$}]",
            b(1.5_f32),
            b(f32::NAN),
            b(-2.5_f32),
            w = b(9_usize),
            p = b(0_usize)
        );
        $row!("{:.p$} {:.p$} {}", b("abcdef"), b(5), b(1), p = b(2_usize));
        // Floats without: the shortest text.
        $row!("{} {} {} {}", b(0.0_f64), b(-0.0_f64), b(1.0_f64), b(0.1_f64));
        $row!("{} {} {} {}", b(0.1_f32), b(1.0_f32 / 3.0), b(16777216.0_f32), b(f32::MIN_POSITIVE));
        $row!("{} {} {}", b(1.0_f64 / 3.0), b(1e15_f64), b(123456789.125_f64));
        $row!("{} {}", b(1e16_f64), b(1e21_f64));
        $row!("{}", b(f64::MAX));
        $row!("{}", b(f64::MIN_POSITIVE));
        $row!("{}", b(5e-324_f64));
        $row!("{} {}", b(f32::MAX), b(1e-45_f32));
        $row!("{} {} {} {}", b(f64::NAN), b(-f64::NAN), b(f64::INFINITY), b(f64::NEG_INFINITY));
        $row!("{:?} {:?} {:?} {:?}", b(0.0_f64), b(-0.0_f32), b(1.0_f32), b(0.1_f64));
        $row!("{:?} {:?} {:?} {:?}", b(1e15_f64), b(1e16_f64), b(1e-4_f64), b(9.9e-5_f64));
        $row!("{:?} {:?} {:?} {:?}", b(1e15_f32), b(1e16_f32), b(1e-4_f32), b(9.9e-5_f32));
        $row!("{:?} {:?} {:?}", b(f64::MAX), b(f64::MIN_POSITIVE), b(f32::MAX));
        $row!("{:?} {:?}", b(f64::NAN), b(f32::NEG_INFINITY));
        $row!("[{:8}] [{:<8}] [{:^8}] [{:08}]", b(1.5_f64), b(1.5_f64), b(1.5_f64), b(-1.5_f64));
        $row!("[{:*^9}] [{:+}] [{:+08}] [{:+?}]", b(1.5_f32), b(1.5_f32), b(2.0_f32), b(2.0_f32));
        $row!("[{:8}] [{:08}] [{:+}] [{:<6}]", b(f64::NAN), b(f64::INFINITY), b(f64::INFINITY), b(f64::NAN));
        $row!("[{:w$}] [{:<w$?}]", b(0.5_f64), b(0.5_f64), w = b(9_usize));
        $row!("{:e} {:e} {:e} {:E}", b(0.0_f64), b(1.0_f64), b(1234.5_f64), b(0.00012_f32));
        $row!("[{:12e}] [{:<12e}] [{:012e}] [{:+e}]", b(1234.5_f64), b(1234.5_f64), b(-1234.5_f64), b(1e300_f64));
        // Bools and characters.
        $row!("{} {} {:?}", b(true), b(false), b(true));
        $row!("[{:6}] [{:>6}] [{:^6}] [{:-^7}] [{:.2}]", b(true), b(true), b(true), b(false), b(false));
        $row!("{} {} {} {}", b('a'), b('ä'), b('€'), b('𝄞'));
        $row!("[{:3}] [{:>3}] [{:^3}] [{:*<3}] [{:.0}]", b('€'), b('€'), b('€'), b('€'), b('€'));
        $row!("{:?} {:?} {:?} {:?}", b('a'), b('\''), b('\n'), b('ä'));
        // Text.
        $row!("{} {}", b("text"), b(""));
        $row!("{}", b("äöü € 𝄞 and % and %s"));
        $row!("[{:6}] [{:<6}] [{:>6}] [{:^6}]", b("abc"), b("abc"), b("abc"), b("abc"));
        $row!("[{:6}] [{:>6}] [{:^6}]", b("äöü"), b("äöü"), b("äöü"));
        $row!("[{:*^7}] [{:€>5}] [{:06}]", b("ab"), b("ab"), b("ab"));
        $row!("[{:.2}] [{:5.2}] [{:>5.2}] [{:.10}]", b("abc"), b("abc"), b("äbc"), b("abc"));
        $row!("[{:2}] [{:.0}]", b("longer"), b("gone"));
        $row!("{:?} {:?} {:?}", b("text"), b("a\"b\\c\n\t"), b("ä\u{7f}\u{0301}"));
        $row!("{}", b(crate::print::LONG));
        // Arguments by name, number and capture.
        $row!("{0} {1} {0} {name}", b(1), b(2), name = b("three"));
        let (number, word, ratio) = (b(5), b("word"), b(0.5_f64));
        $row!("{number} {word} {ratio:.2} {number:03} {word:>6} {number:?}");
        let (width, precision) = (b(8_usize), b(2_usize));
        $row!("[{number:width$}] [{ratio:width$.precision$}] [{word:^width$}]");
        $row!("{} {}", b(1) + b(2), {
            let x = b(3);
            x * x
        });
        // References.
        $row!("{} {} {:x} {:.1} {}", &b(1), &&b(2_u8), &mut b(255), &b(1.5_f32), &&b("text"));
        // Addresses.
        $row!("{:p} {:p}", b(core::ptr::without_provenance::<u8>(0)), b(core::ptr::without_provenance::<u64>(0x7f12)));
        $row!("{:#p} [{:20p}] [{:<20p}]", b(P), b(P), b(P));
        // Through core::fmt.
        $row!("{:?}", b(crate::print::Point { x: 1, y: -2 }));
        $row!("{:?} {:?}", b(Some(5)), b(None::<i32>));
        $row!("{:?}", b(&[10, -20][..]));
        $row!("{} [{:>6}]", b(crate::print::Celsius(21)), b(crate::print::Celsius(21)));
        // As many values as there may be.
        $row!(
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            b(1_u8),
            b(2_u64),
            b(3_i16),
            b(4_i64),
            b(5),
            b(6),
            b(7),
            b(8),
            b(9),
            b(10),
            b(11),
            b(12),
            b(13),
            b(14),
            b(15),
            b(16),
            b(17),
            b(18),
            b(19),
            b(20),
            b(21),
            b(22),
            b(23),
            b(24),
            b(25),
            b(26),
            b(27),
            b(28),
            b(29),
            b(30_u64),
            b(31),
            b(32_u64)
        );
    }};
}

/// Rows that only the CPU formats: they take core::fmt's floats and much of its derived code, over which ptxas takes long.
#[cfg(test)]
macro_rules! host_rows {
    ($row:ident) => {{
        $row!("{:.2e} {:.0E} [{:12.3e}]", b(1234.5_f64), b(1234.5_f32), b(0.00012_f64));
        $row!("[{:^10.2}] [{:*<10.1}]", b(1.25_f64), b(1.25_f32));
        $row!("{:?} {:?}", b([1.5_f32, 2.0]), b(Some(0.1_f64)));
        $row!("{:#?}", b(1.5_f64));
        $row!("{:?} {:?}", b([1, 2, 3]), b(&[10_u8, 20][..]));
        $row!("{:?} {:?}", b(crate::print::Shape::Circle { radius: 3 }), b(crate::print::Shape::Empty));
        $row!("{:?} {:?}", b(Ok::<u32, &str>(7)), b(Err::<u32, &str>("bad")));
        $row!("{:02x?} {:?}", b([1, 171]), b((1, 'x', "y", true)));
        $row!("{:?} {:?}", b(()), b(core::cmp::Ordering::Less));
        $row!("{:x} {:o} {:#b}", b(u128::MAX), b(u128::MAX), b(i128::MIN));
        $row!("{:e} {:E} {:e}", b(1500), b(1500), b(-7_i8));
        $row!("{:?} {:?}", b(P), b(P.cast_mut()));
    }};
}
