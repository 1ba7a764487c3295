//! PTX of 8 and 16 bits and what it computes: where chains begin, what they do, and how they end. The build script
//! reads the PTX, the test the functions.
//!
//! `{a}` and `{b}` are operands: registers of 16 bits, or constants. `{r}` is the result. `{h}`, `{v}`, `{w}`, `{p}`
//! are registers to use between: one of 16 bits, two of 32, a predicate.

/// From the word of 32 bits at the address `{a}`.
macro_rules! for_each_source {
    ($apply:ident) => {
        $apply! {
            "ld.volatile.global.u32 {w}, [{a}]; cvt.u16.u32 {r}, {w};" |word| word as u16;
            "ld.volatile.global.u32 {w}, [{a}]; mov.b32 {{h}, {r}}, {w};" |word| (word >> 16) as u16;
            "ld.volatile.global.u32 {w}, [{a}]; shr.s32 {v}, {w}, 16; cvt.u16.u32 {r}, {v};" |word| (word >> 16) as u16;
            "ld.volatile.global.u16 {r}, [{a}];" |word| word as u16;
            "ld.volatile.global.s16 {r}, [{a}];" |word| word as u16;
            "ld.volatile.global.u8 {r}, [{a}];" |word| word as u16 & 255;
            "ld.volatile.global.s8 {r}, [{a}];" |word| word as i8 as u16;
            "ld.volatile.global.u32 {w}, [{a}]; cvt.u16.u32 {h}, {w}; setp.lt.s32 {p}, {w}, 0; \
selp.b16 {r}, -32768, {h}, {p};"
                |word| if (word as i32) < 0 { 0x8000 } else { word as u16 };
            "ld.volatile.global.u32 {w}, [{a}]; setp.lt.s32 {p}, {w}, 0; selp.b16 {r}, -32768, 255, {p};"
                |word| if (word as i32) < 0 { 0x8000 } else { 255 };
        }
    };
}

/// From halfwords to a halfword.
macro_rules! for_each_operation {
    ($apply:ident) => {
        $apply! {
            "neg.s16 {r}, {a};" |a, _b| a.wrapping_neg();
            "abs.s16 {r}, {a};" |a, _b| (a as i16).unsigned_abs();
            "not.b16 {r}, {a};" |a, _b| !a;
            "mov.b16 {h}, 0; sub.s16 {r}, {h}, {a};" |a, _b| a.wrapping_neg();
            "add.s16 {r}, {a}, {b};" |a, b| a.wrapping_add(b);
            "sub.s16 {r}, {a}, {b};" |a, b| a.wrapping_sub(b);
            "sub.u16 {r}, {b}, {a};" |a, b| b.wrapping_sub(a);
            "mul.lo.s16 {r}, {a}, {b};" |a, b| a.wrapping_mul(b);
            "mul.hi.s16 {r}, {a}, {b};" |a, b| (i32::from(a as i16) * i32::from(b as i16) >> 16) as u16;
            "mul.hi.u16 {r}, {a}, {b};" |a, b| (u32::from(a) * u32::from(b) >> 16) as u16;
            "mad.lo.s16 {r}, {a}, {b}, {a};" |a, b| a.wrapping_mul(b).wrapping_add(a);
            "and.b16 {r}, {a}, {b};" |a, b| a & b;
            "or.b16 {r}, {a}, {b};" |a, b| a | b;
            "xor.b16 {r}, {a}, {b};" |a, b| a ^ b;
            "cvt.u32.u16 {w}, {b}; and.b32 {v}, {w}, 15; shl.b16 {r}, {a}, {v};" |a, b| a << (b & 15);
            "cvt.u32.u16 {w}, {b}; and.b32 {v}, {w}, 15; shr.u16 {r}, {a}, {v};" |a, b| a >> (b & 15);
            "cvt.u32.u16 {w}, {b}; and.b32 {v}, {w}, 15; shr.s16 {r}, {a}, {v};" |a, b| (a as i16 >> (b & 15)) as u16;
            "min.s16 {r}, {a}, {b};" |a, b| (a as i16).min(b as i16) as u16;
            "max.s16 {r}, {a}, {b};" |a, b| (a as i16).max(b as i16) as u16;
            "min.u16 {r}, {a}, {b};" |a, b| a.min(b);
            "max.u16 {r}, {a}, {b};" |a, b| a.max(b);
            "mov.b32 {v}, {{a}, {b}}; mov.b32 {w}, {{b}, {a}}; max.u16x2 {v}, {v}, {w}; mov.b32 {{r}, {h}}, {v};"
                |a, b| a.max(b);
            "mov.b32 {v}, {{a}, {b}}; mov.b32 {w}, {{b}, {a}}; min.s16x2 {v}, {v}, {w}; mov.b32 {{h}, {r}}, {v};"
                |a, b| (a as i16).min(b as i16) as u16;
            "setp.lt.s16 {p}, {b}, 100; selp.b16 {r}, -32768, {a}, {p};"
                |a, b| if (b as i16) < 100 { 0x8000 } else { a };
            "setp.lt.u16 {p}, {a}, {b}; selp.b16 {r}, {a}, {b}, {p};" |a, b| a.min(b);
            "cvt.s16.s8 {r}, {a};" |a, _b| a as i8 as u16;
            "cvt.u16.u8 {r}, {a};" |a, _b| a & 255;
            "cvt.u32.u16 {w}, {a}; prmt.b32 {v}, {w}, 0, 0x3301; cvt.u16.u32 {r}, {v};" |a, _b| a.swap_bytes();
            "mul.wide.s16 {w}, {a}, {b}; cvt.u16.u32 {r}, {w};" |a, b| a.wrapping_mul(b);
            "mul.wide.u16 {w}, {a}, {b}; shr.u32 {v}, {w}, 16; cvt.u16.u32 {r}, {v};"
                |a, b| (u32::from(a) * u32::from(b) >> 16) as u16;
        }
    };
}

/// From halfwords to a word of 64 bits.
macro_rules! for_each_end {
    ($apply:ident) => {
        $apply! {
            "setp.eq.s16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a == b);
            "setp.ne.u16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a != b);
            "setp.lt.s16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from((a as i16) < b as i16);
            "setp.le.s16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a as i16 <= b as i16);
            "setp.gt.s16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a as i16 > b as i16);
            "setp.ge.s16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a as i16 >= b as i16);
            "setp.lt.u16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a < b);
            "setp.le.u16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a <= b);
            "setp.gt.u16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a > b);
            "setp.ge.u16 {p}, {a}, {b}; selp.b64 {r}, 1, 0, {p};" |a, b| u64::from(a >= b);
            "setp.lt.s16 {p}, {a}, 0; selp.b64 {r}, 1, 0, {p};" |a, _b| u64::from((a as i16) < 0);
            "set.lt.u32.s16 {w}, {a}, {b}; cvt.u64.u32 {r}, {w};"
                |a, b| if (a as i16) < b as i16 { 0xffff_ffff } else { 0 };
            "cvt.s64.s16 {r}, {a};" |a, _b| a as i16 as u64;
            "cvt.u64.u16 {r}, {a};" |a, _b| u64::from(a);
            "cvt.s32.s16 {w}, {a}; cvt.u64.u32 {r}, {w};" |a, _b| u64::from(a as i16 as u32);
            "cvt.s32.s16 {w}, {a}; cvt.s64.s32 {r}, {w};" |a, _b| a as i16 as u64;
            "cvt.u32.u16 {w}, {a}; cvt.u64.u32 {r}, {w};" |a, _b| u64::from(a);
            "cvt.u32.u16 {w}, {a}; cvt.s32.s8 {v}, {w}; cvt.s64.s32 {r}, {v};" |a, _b| a as i8 as u64;
            "cvt.s16.s8 {h}, {a}; cvt.s64.s16 {r}, {h};" |a, _b| a as i8 as u64;
            "cvt.u32.u16 {w}, {a}; and.b32 {v}, {w}, 255; cvt.u64.u32 {r}, {v};" |a, _b| u64::from(a & 255);
            "cvt.u32.u16 {w}, {a}; shl.b32 {v}, {w}, 16; cvt.s64.s32 {r}, {v};"
                |a, _b| ((u32::from(a) << 16) as i32) as u64;
            "cvt.s32.s16 {w}, {a}; add.s32 {v}, {w}, 70000; cvt.u64.u32 {r}, {v};"
                |a, _b| u64::from((i32::from(a as i16) + 70_000) as u32);
            "mul.wide.s16 {w}, {a}, {b}; cvt.s64.s32 {r}, {w};"
                |a, b| (i32::from(a as i16) * i32::from(b as i16)) as u64;
            "mul.wide.u16 {w}, {a}, {b}; cvt.u64.u32 {r}, {w};" |a, b| u64::from(u32::from(a) * u32::from(b));
            "mov.b32 {w}, {{a}, {b}}; cvt.u64.u32 {r}, {w};" |a, b| u64::from(a) | u64::from(b) << 16;
            "cvt.rn.f64.s16 {r}, {a};" |a, _b| f64::from(a as i16).to_bits();
            "cvt.rn.f64.u16 {r}, {a};" |a, _b| f64::from(a).to_bits();
        }
    };
}
