//! The instructions of random kernels: PTX, the kinds of its operands, and what it computes.
//!
//! `h`, `w` and `d` are registers of 16, 32 and 64 bits, `p` is a predicate, `k` a constant of 8 bits; a capital
//! letter is an operand that must not be a constant. The first letter is the result's. In the text `{r}` is the result, `{a}` to `{d}` are operands, and `{h}`, `{w}`, `{v}`, `{x}`, `{p}` registers to
//! use between, of 16, 32, 32 and 64 bits and a predicate.

use super::model::*;

/// An instruction, or a few that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The result's kind and the operands'.
    pub kinds: &'static str,
    /// Its text, each instruction ended by a semicolon.
    pub ptx: &'static str,
    /// What it computes; the caller cuts the result to its width.
    pub compute: fn(Operands) -> u64,
}

macro_rules! rows {
    ($($kinds:literal $ptx:literal |$a:ident $(, $b:ident $(, $c:ident $(, $d:ident)?)?)?| $body:expr;)*) => {
        &[$(Row {
            kinds: $kinds,
            ptx: $ptx,
            compute: |operands: Operands| {
                let $a = operands[0];
                $(let $b = operands[1]; $(let $c = operands[2]; $(let $d = operands[3];)?)?)?
                $body
            },
        }),*]
    };
}

fn s16(a: u64) -> i64 {
    signed(a, 16)
}

fn s32(a: u64) -> i64 {
    signed(a, 32)
}

fn flag(condition: bool) -> u64 {
    u64::from(condition)
}

fn all_if(condition: bool) -> u64 {
    if condition { u64::MAX } else { 0 }
}

/// 8 and 16 bits.
pub const NARROW: &[Row] = rows! {
    "hhh" "add.s16 {r}, {a}, {b};" |a, b| a + b;
    "hhh" "sub.s16 {r}, {a}, {b};" |a, b| a.wrapping_sub(b);
    "hhh" "sub.u16 {r}, {b}, {a};" |a, b| b.wrapping_sub(a);
    "hhh" "mul.lo.s16 {r}, {a}, {b};" |a, b| a * b;
    "hhh" "mul.hi.s16 {r}, {a}, {b};" |a, b| ((s16(a) * s16(b)) >> 16) as u64;
    "hhh" "mul.hi.u16 {r}, {a}, {b};" |a, b| (a * b) >> 16;
    "hhhh" "mad.lo.s16 {r}, {a}, {b}, {c};" |a, b, c| a * b + c;
    "hhh" "or.b16 {h}, {b}, 1; div.u16 {r}, {a}, {h};" |a, b| a / (b | 1);
    "hhh" "or.b16 {h}, {b}, 1; rem.u16 {r}, {a}, {h};" |a, b| a % (b | 1);
    "hhh" "and.b16 {h}, {b}, 32767; or.b16 {h}, {h}, 3; div.s16 {r}, {a}, {h};"
        |a, b| (s16(a) / s16(b & 0x7fff | 3)) as u64;
    "hhh" "or.b16 {h}, {b}, -32768; and.b16 {h}, {h}, -2; rem.s16 {r}, {a}, {h};"
        |a, b| (s16(a) % s16((b | 0x8000) & 0xfffe)) as u64;
    "hh" "neg.s16 {r}, {a};" |a| a.wrapping_neg();
    "hh" "abs.s16 {r}, {a};" |a| s16(a).unsigned_abs();
    "hhh" "min.s16 {r}, {a}, {b};" |a, b| s16(a).min(s16(b)) as u64;
    "hhh" "max.s16 {r}, {a}, {b};" |a, b| s16(a).max(s16(b)) as u64;
    "hhh" "min.u16 {r}, {a}, {b};" |a, b| a.min(b);
    "hhh" "max.u16 {r}, {a}, {b};" |a, b| a.max(b);
    "hhh" "and.b16 {r}, {a}, {b};" |a, b| a & b;
    "hhh" "or.b16 {r}, {a}, {b};" |a, b| a | b;
    "hhh" "xor.b16 {r}, {a}, {b};" |a, b| a ^ b;
    "hh" "not.b16 {r}, {a};" |a| !a;
    "hh" "cnot.b16 {r}, {a};" |a| flag(a == 0);
    // A constant is cut to 16 bits by ptxas, so it must be a register.
    "hhW" "shl.b16 {r}, {a}, {b};" |a, b| shl(a, b, 16);
    "hhW" "shr.u16 {r}, {a}, {b};" |a, b| shr(a, b, 16);
    "hhW" "shr.s16 {r}, {a}, {b};" |a, b| sar(a, b, 16);
    "hhw" "and.b32 {w}, {b}, 15; shl.b16 {r}, {a}, {w};" |a, b| a << (b & 15);
    "hhw" "and.b32 {w}, {b}, 15; shr.s16 {r}, {a}, {w};" |a, b| (s16(a) >> (b & 15)) as u64;
    "hhhp" "selp.b16 {r}, {a}, {b}, {c};" |a, b, c| if c == 1 { a } else { b };
    "hhhw" "slct.u16.s32 {r}, {a}, {b}, {c};" |a, b, c| if s32(c) >= 0 { a } else { b };
    "hhhh" "sad.u16 {r}, {a}, {b}, {c};" |a, b, c| c + a.abs_diff(b);
    "hhhh" "sad.s16 {r}, {a}, {b}, {c};" |a, b, c| c + s16(a).abs_diff(s16(b));
    "whh" "mul.wide.s16 {r}, {a}, {b};" |a, b| (s16(a) * s16(b)) as u64;
    "whh" "mul.wide.u16 {r}, {a}, {b};" |a, b| a * b;
    "whhw" "mad.wide.s16 {r}, {a}, {b}, {c};" |a, b, c| ((s16(a) * s16(b)) as u64).wrapping_add(c);
    "whhw" "mad.wide.u16 {r}, {a}, {b}, {c};" |a, b, c| a * b + c;
    "hh" "cvt.s16.s8 {r}, {a};" |a| signed(a & 255, 8) as u64;
    "hh" "cvt.u16.u8 {r}, {a};" |a| a & 255;
    "hh" "cvt.sat.u8.s16 {r}, {a};" |a| saturated(s16(a).into(), 8, false);
    "hh" "cvt.sat.s8.s16 {r}, {a};" |a| saturated(s16(a).into(), 8, true);
    "hh" "cvt.sat.s8.u16 {r}, {a};" |a| saturated(a.into(), 8, true);
    "hh" "cvt.sat.u16.s16 {r}, {a};" |a| saturated(s16(a).into(), 16, false);
    "hw" "cvt.u16.u32 {r}, {a};" |a| a;
    "hw" "cvt.sat.s16.s32 {r}, {a};" |a| saturated(s32(a).into(), 16, true);
    "hw" "cvt.sat.u16.s32 {r}, {a};" |a| saturated(s32(a).into(), 16, false);
    "hw" "cvt.sat.u8.u32 {r}, {a};" |a| saturated(a.into(), 8, false);
    "hw" "cvt.s8.s32 {r}, {a};" |a| signed(a & 255, 8) as u64;
    "hw" "cvt.u8.u32 {r}, {a};" |a| a & 255;
    "hd" "cvt.u16.u64 {r}, {a};" |a| a;
    "hd" "cvt.sat.s16.s64 {r}, {a};" |a| saturated((a as i64).into(), 16, true);
    "wh" "cvt.u32.u16 {r}, {a};" |a| a;
    "wh" "cvt.s32.s16 {r}, {a};" |a| s16(a) as u64;
    "wh" "cvt.s32.s8 {r}, {a};" |a| signed(a & 255, 8) as u64;
    "wh" "cvt.u32.u8 {r}, {a};" |a| a & 255;
    "wh" "cvt.sat.u32.s16 {r}, {a};" |a| s16(a).max(0) as u64;
    "dh" "cvt.s64.s16 {r}, {a};" |a| s16(a) as u64;
    "dh" "cvt.u64.u16 {r}, {a};" |a| a;
    "whh" "mov.b32 {r}, {{a}, {b}};" |a, b| a | b << 16;
    "hw" "mov.b32 {{r}, {h}}, {a};" |a| a;
    "hw" "mov.b32 {{h}, {r}}, {a};" |a| a >> 16;
    "phh" "setp.eq.s16 {r}, {a}, {b};" |a, b| flag(a == b);
    "phh" "setp.ne.u16 {r}, {a}, {b};" |a, b| flag(a != b);
    "phh" "setp.lt.s16 {r}, {a}, {b};" |a, b| flag(s16(a) < s16(b));
    "phh" "setp.le.s16 {r}, {a}, {b};" |a, b| flag(s16(a) <= s16(b));
    "phh" "setp.gt.s16 {r}, {a}, {b};" |a, b| flag(s16(a) > s16(b));
    "phh" "setp.ge.s16 {r}, {a}, {b};" |a, b| flag(s16(a) >= s16(b));
    "phh" "setp.lo.u16 {r}, {a}, {b};" |a, b| flag(a < b);
    "phh" "setp.ls.u16 {r}, {a}, {b};" |a, b| flag(a <= b);
    "phh" "setp.hi.u16 {r}, {a}, {b};" |a, b| flag(a > b);
    "phh" "setp.ge.u16 {r}, {a}, {b};" |a, b| flag(a >= b);
    "phhp" "setp.lt.and.s16 {r}, {a}, {b}, {c};" |a, b, c| flag(s16(a) < s16(b)) & c;
    "phhp" "setp.ge.xor.u16 {r}, {a}, {b}, !{c};" |a, b, c| flag(a >= b) ^ (1 - c);
    "whh" "set.lt.u32.s16 {r}, {a}, {b};" |a, b| all_if(s16(a) < s16(b));
    "whh" "set.ge.s32.u16 {r}, {a}, {b};" |a, b| all_if(a >= b);
    "hhw" "set.ne.u32.u16 {w}, {a}, 3; xor.b32 {w}, {w}, {b}; cvt.u16.u32 {r}, {w};" |a, b| all_if(a != 3) ^ b;
};

/// Pairs of 16 bits and other things packed into 32; for sm_90.
pub const PACKED: &[Row] = rows! {
    "wwW" "add.u16x2 {r}, {a}, {b};" |a, b| halves(a, b, |a, b| a + b);
    "wwW" "add.s16x2 {r}, {a}, {b};" |a, b| halves(a, b, |a, b| a + b);
    "wwW" "min.s16x2 {r}, {a}, {b};" |a, b| halves(a, b, |a, b| s16(a).min(s16(b)) as u64);
    "wwW" "max.s16x2 {r}, {a}, {b};" |a, b| halves(a, b, |a, b| s16(a).max(s16(b)) as u64);
    "wwW" "min.u16x2 {r}, {a}, {b};" |a, b| halves(a, b, |a, b| a.min(b));
    "wwW" "max.u16x2 {r}, {a}, {b};" |a, b| halves(a, b, |a, b| a.max(b));
    "wwww" "prmt.b32 {r}, {a}, {b}, {c};" |a, b, c| prmt(a, b, c);
    "www" "prmt.b32 {r}, {a}, {b}, 0x5410;" |a, b| prmt(a, b, 0x5410);
    "www" "prmt.b32 {r}, {a}, {b}, 0x7632;" |a, b| prmt(a, b, 0x7632);
    "ww" "prmt.b32 {r}, {a}, 0, 0x0123;" |a| prmt(a, 0, 0x0123);
    "ww" "prmt.b32 {r}, {a}, 0, 0x8880;" |a| prmt(a, 0, 0x8880);
    "ww" "prmt.b32 {r}, {a}, {a}, 0x9991;" |a| prmt(a, a, 0x9991);
    "wwww" "prmt.b32.f4e {r}, {a}, {b}, {c};" |a, b, c| prmt_by(a, b, c, [0x3210, 0x4321, 0x5432, 0x6543]);
    "wwww" "prmt.b32.b4e {r}, {a}, {b}, {c};" |a, b, c| prmt_by(a, b, c, [0x5670, 0x6701, 0x7012, 0x0123]);
    "wwww" "prmt.b32.rc8 {r}, {a}, {b}, {c};" |a, b, c| prmt_by(a, b, c, [0x0000, 0x1111, 0x2222, 0x3333]);
    "wwww" "prmt.b32.ecl {r}, {a}, {b}, {c};" |a, b, c| prmt_by(a, b, c, [0x3210, 0x3211, 0x3222, 0x3333]);
    "wwww" "prmt.b32.ecr {r}, {a}, {b}, {c};" |a, b, c| prmt_by(a, b, c, [0x0000, 0x1110, 0x2210, 0x3210]);
    "wwww" "prmt.b32.rc16 {r}, {a}, {b}, {c};" |a, b, c| prmt_by(a, b, c, [0x1010, 0x3232, 0x1010, 0x3232]);
    "wwww" "dp4a.u32.u32 {r}, {a}, {b}, {c};" |a, b, c| dp4a(a, b, c, (false, false));
    "wwww" "dp4a.s32.s32 {r}, {a}, {b}, {c};" |a, b, c| dp4a(a, b, c, (true, true));
    "wwww" "dp4a.u32.s32 {r}, {a}, {b}, {c};" |a, b, c| dp4a(a, b, c, (false, true));
    "wwww" "dp2a.lo.s32.u32 {r}, {a}, {b}, {c};" |a, b, c| dp2a(a, b, c, (true, false), false);
    "wwww" "dp2a.hi.u32.u32 {r}, {a}, {b}, {c};" |a, b, c| dp2a(a, b, c, (false, false), true);
    "wwww" "dp2a.hi.s32.s32 {r}, {a}, {b}, {c};" |a, b, c| dp2a(a, b, c, (true, true), true);
    "www" "cvt.pack.sat.u16.s32 {r}, {a}, {b};"
        |a, b| saturated(s32(b).into(), 16, false) | saturated(s32(a).into(), 16, false) << 16;
    "www" "cvt.pack.sat.s16.s32 {r}, {a}, {b};"
        |a, b| low(saturated(s32(b).into(), 16, true), 16) | low(saturated(s32(a).into(), 16, true), 16) << 16;
};

/// 32 bits.
pub const WORDS: &[Row] = rows! {
    "www" "add.s32 {r}, {a}, {b};" |a, b| a + b;
    "www" "sub.s32 {r}, {a}, {b};" |a, b| a.wrapping_sub(b);
    "www" "add.sat.s32 {r}, {a}, {b};" |a, b| saturated((s32(a) + s32(b)).into(), 32, true);
    "www" "sub.sat.s32 {r}, {a}, {b};" |a, b| saturated((s32(a) - s32(b)).into(), 32, true);
    "www" "mul.lo.s32 {r}, {a}, {b};" |a, b| a.wrapping_mul(b);
    "www" "mul.hi.s32 {r}, {a}, {b};" |a, b| ((s32(a) * s32(b)) >> 32) as u64;
    "www" "mul.hi.u32 {r}, {a}, {b};" |a, b| a.wrapping_mul(b) >> 32;
    "wwww" "mad.lo.s32 {r}, {a}, {b}, {c};" |a, b, c| a.wrapping_mul(b).wrapping_add(c);
    "wwww" "mad.hi.s32 {r}, {a}, {b}, {c};" |a, b, c| (((s32(a) * s32(b)) >> 32) as u64).wrapping_add(c);
    "wwww" "mad.hi.u32 {r}, {a}, {b}, {c};" |a, b, c| (a.wrapping_mul(b) >> 32) + c;
    "wwww" "mad.hi.sat.s32 {r}, {a}, {b}, {c};"
        |a, b, c| saturated(i128::from((s32(a) * s32(b)) >> 32) + i128::from(s32(c)), 32, true);
    "www" "mul24.lo.u32 {r}, {a}, {b};" |a, b| mul24(a, b, false);
    "www" "mul24.hi.s32 {r}, {a}, {b};" |a, b| (mul24(a, b, true) as i64 >> 16) as u64;
    "wwww" "mad24.lo.s32 {r}, {a}, {b}, {c};" |a, b, c| mul24(a, b, true).wrapping_add(c);
    "wwww" "sad.s32 {r}, {a}, {b}, {c};" |a, b, c| c + s32(a).abs_diff(s32(b));
    "wwww" "sad.u32 {r}, {a}, {b}, {c};" |a, b, c| c + a.abs_diff(b);
    "www" "or.b32 {w}, {b}, 1; div.u32 {r}, {a}, {w};" |a, b| a / (b | 1);
    "www" "or.b32 {w}, {b}, 1; rem.u32 {r}, {a}, {w};" |a, b| a % (b | 1);
    "www" "and.b32 {w}, {b}, 2147483647; or.b32 {w}, {w}, 3; div.s32 {r}, {a}, {w};"
        |a, b| (s32(a) / s32(b & 0x7fff_ffff | 3)) as u64;
    "www" "or.b32 {w}, {b}, -2147483648; and.b32 {w}, {w}, -2; rem.s32 {r}, {a}, {w};"
        |a, b| (s32(a) % s32((b | 0x8000_0000) & 0xffff_fffe)) as u64;
    "ww" "div.s32 {r}, {a}, 10;" |a| (s32(a) / 10) as u64;
    "ww" "rem.u32 {r}, {a}, 641;" |a| a % 641;
    "ww" "neg.s32 {r}, {a};" |a| a.wrapping_neg();
    "ww" "abs.s32 {r}, {a};" |a| s32(a).unsigned_abs();
    "www" "min.s32 {r}, {a}, {b};" |a, b| s32(a).min(s32(b)) as u64;
    "www" "max.s32 {r}, {a}, {b};" |a, b| s32(a).max(s32(b)) as u64;
    "www" "min.u32 {r}, {a}, {b};" |a, b| a.min(b);
    "www" "max.u32 {r}, {a}, {b};" |a, b| a.max(b);
    "www" "and.b32 {r}, {a}, {b};" |a, b| a & b;
    "www" "or.b32 {r}, {a}, {b};" |a, b| a | b;
    "www" "xor.b32 {r}, {a}, {b};" |a, b| a ^ b;
    "ww" "not.b32 {r}, {a};" |a| !a;
    "ww" "cnot.b32 {r}, {a};" |a| flag(a == 0);
    "wwwwk" "lop3.b32 {r}, {a}, {b}, {c}, {d};" |a, b, c, d| lop3(a, b, c, d);
    "www" "shl.b32 {r}, {a}, {b};" |a, b| shl(a, b, 32);
    "www" "shr.u32 {r}, {a}, {b};" |a, b| shr(a, b, 32);
    "www" "shr.s32 {r}, {a}, {b};" |a, b| sar(a, b, 32);
    "www" "and.b32 {w}, {b}, 31; shr.s32 {r}, {a}, {w};" |a, b| (s32(a) >> (b & 31)) as u64;
    "wwww" "shf.l.wrap.b32 {r}, {a}, {b}, {c};" |a, b, c| funnel(a, b, c & 31, true);
    "wwww" "shf.r.wrap.b32 {r}, {a}, {b}, {c};" |a, b, c| funnel(a, b, c & 31, false);
    "wwww" "shf.l.clamp.b32 {r}, {a}, {b}, {c};" |a, b, c| funnel(a, b, c.min(32), true);
    "wwww" "shf.r.clamp.b32 {r}, {a}, {b}, {c};" |a, b, c| funnel(a, b, c.min(32), false);
    "www" "shf.l.wrap.b32 {r}, {a}, {a}, {b};" |a, b| funnel(a, a, b & 31, true);
    "ww" "popc.b32 {r}, {a};" |a| a.count_ones().into();
    "ww" "clz.b32 {r}, {a};" |a| u64::from(a.leading_zeros()) - 32;
    "ww" "brev.b32 {r}, {a};" |a| a.reverse_bits() >> 32;
    "ww" "bfind.u32 {r}, {a};" |a| bfind(a, 32, false, false);
    "ww" "bfind.s32 {r}, {a};" |a| bfind(a, 32, true, false);
    "ww" "bfind.shiftamt.s32 {r}, {a};" |a| bfind(a, 32, true, true);
    "wwWW" "bfe.u32 {r}, {a}, {b}, {c};" |a, b, c| bfe(a, b, c, 32, false);
    "wwWW" "bfe.s32 {r}, {a}, {b}, {c};" |a, b, c| bfe(a, b, c, 32, true);
    "ww" "bfe.s32 {r}, {a}, 8, 8;" |a| bfe(a, 8, 8, 32, true);
    "wwww" "and.b32 {w}, {b}, 31; and.b32 {v}, {c}, 15; bfe.u32 {r}, {a}, {w}, {v};"
        |a, b, c| bfe(a, b & 31, c & 15, 32, false);
    "wwwWW" "bfi.b32 {r}, {a}, {b}, {c}, {d};" |a, b, c, d| bfi(a, b, c, d, 32);
    "www" "bfi.b32 {r}, {a}, {b}, 12, 9;" |a, b| bfi(a, b, 12, 9, 32);
    "wwww" "and.b32 {w}, {c}, 31; bfi.b32 {r}, {a}, {b}, {w}, 5;" |a, b, c| bfi(a, b, c & 31, 5, 32);
    // Of a constant beyond the width, ptxas 13.0.88 ends with a segmentation fault.
    "wwW" "szext.wrap.s32 {r}, {a}, {b};" |a, b| szext(a, b & 31, true);
    "wwW" "szext.clamp.u32 {r}, {a}, {b};" |a, b| szext(a, b.min(32), false);
    "www" "bmsk.wrap.b32 {r}, {a}, {b};" |a, b| bmsk(a & 31, b & 31);
    "www" "bmsk.clamp.b32 {r}, {a}, {b};" |a, b| bmsk(a.min(32), b.min(32));
    "wwwp" "selp.b32 {r}, {a}, {b}, {c};" |a, b, c| if c == 1 { a } else { b };
    "wwww" "slct.s32.s32 {r}, {a}, {b}, {c};" |a, b, c| if s32(c) >= 0 { a } else { b };
    "wwww" "add.cc.u32 {w}, {a}, {b}; addc.u32 {r}, {c}, {w};" |a, b, c| ((a + b) >> 32) + c + low(a + b, 32);
    "wwww" "sub.cc.u32 {w}, {a}, {b}; subc.u32 {r}, {c}, {w};"
        |a, b, c| c.wrapping_sub(low(a.wrapping_sub(b), 32)).wrapping_sub(flag(a < b));
    "wwww" "mad.lo.cc.u32 {w}, {a}, {b}, {c}; madc.hi.u32 {r}, {a}, {b}, {w};"
        |a, b, c| (a.wrapping_mul(b) >> 32) + low(low(a.wrapping_mul(b), 32) + c, 32)
            + ((low(a.wrapping_mul(b), 32) + c) >> 32);
    "pww" "setp.eq.s32 {r}, {a}, {b};" |a, b| flag(a == b);
    "pww" "setp.lt.s32 {r}, {a}, {b};" |a, b| flag(s32(a) < s32(b));
    "pww" "setp.le.u32 {r}, {a}, {b};" |a, b| flag(a <= b);
    "pww" "setp.gt.s32 {r}, {a}, {b};" |a, b| flag(s32(a) > s32(b));
    "pww" "setp.hs.u32 {r}, {a}, {b};" |a, b| flag(a >= b);
    "pww" "and.b32 {w}, {a}, {b}; setp.ne.s32 {r}, {w}, 0;" |a, b| flag(a & b != 0);
    "pwwp" "setp.lt.or.u32 {r}, {a}, {b}, {c};" |a, b, c| flag(a < b) | c;
    "pwwp" "setp.ne.and.s32 {r}|{p}, {a}, {b}, {c}; xor.pred {r}, {r}, {p};"
        |a, b, c| (flag(a != b) & c) ^ (flag(a == b) & c);
    "ppp" "and.pred {r}, {a}, {b};" |a, b| a & b;
    "ppp" "or.pred {r}, {a}, {b};" |a, b| a | b;
    "ppp" "xor.pred {r}, {a}, {b};" |a, b| a ^ b;
    "pp" "not.pred {r}, {a};" |a| 1 - a;
    "www" "set.gt.u32.s32 {r}, {a}, {b};" |a, b| all_if(s32(a) > s32(b));
    "wwwp" "set.lt.and.s32.u32 {r}, {a}, {b}, {c};" |a, b, c| all_if(a < b && c == 1);
    "ww" "cvt.s32.s8 {r}, {a};" |a| signed(a & 255, 8) as u64;
    "ww" "cvt.s32.s16 {r}, {a};" |a| s16(a & 0xffff) as u64;
    "ww" "cvt.u32.u8 {r}, {a};" |a| a & 255;
    "ww" "cvt.sat.s8.s32 {r}, {a};" |a| saturated(s32(a).into(), 8, true);
    "ww" "cvt.sat.u16.u32 {r}, {a};" |a| saturated(a.into(), 16, false);
    "ww" "cvt.sat.u32.s32 {r}, {a};" |a| s32(a).max(0) as u64;
    "wd" "cvt.u32.u64 {r}, {a};" |a| a;
    "wd" "cvt.sat.s32.s64 {r}, {a};" |a| saturated((a as i64).into(), 32, true);
    "wd" "cvt.sat.u32.u64 {r}, {a};" |a| saturated(a.into(), 32, false);
    "wd" "mov.b64 {{w}, {r}}, {a};" |a| a >> 32;
};

/// 64 bits.
pub const LONGS: &[Row] = rows! {
    "ddd" "add.s64 {r}, {a}, {b};" |a, b| a.wrapping_add(b);
    "ddd" "sub.s64 {r}, {a}, {b};" |a, b| a.wrapping_sub(b);
    "ddd" "mul.lo.s64 {r}, {a}, {b};" |a, b| a.wrapping_mul(b);
    "ddd" "mul.hi.s64 {r}, {a}, {b};" |a, b| high64(a, b, true);
    "ddd" "mul.hi.u64 {r}, {a}, {b};" |a, b| high64(a, b, false);
    "dddd" "mad.lo.s64 {r}, {a}, {b}, {c};" |a, b, c| a.wrapping_mul(b).wrapping_add(c);
    "dddd" "mad.hi.u64 {r}, {a}, {b}, {c};" |a, b, c| high64(a, b, false).wrapping_add(c);
    "dww" "mul.wide.s32 {r}, {a}, {b};" |a, b| (s32(a) * s32(b)) as u64;
    "dww" "mul.wide.u32 {r}, {a}, {b};" |a, b| a.wrapping_mul(b);
    "dwwd" "mad.wide.s32 {r}, {a}, {b}, {c};" |a, b, c| ((s32(a) * s32(b)) as u64).wrapping_add(c);
    "dwwd" "mad.wide.u32 {r}, {a}, {b}, {c};" |a, b, c| a.wrapping_mul(b).wrapping_add(c);
    "dddd" "sad.u64 {r}, {a}, {b}, {c};" |a, b, c| c.wrapping_add(a.abs_diff(b));
    "ddd" "or.b64 {x}, {b}, 1; div.u64 {r}, {a}, {x};" |a, b| a / (b | 1);
    "ddd" "or.b64 {x}, {b}, 1; rem.u64 {r}, {a}, {x};" |a, b| a % (b | 1);
    "ddd" "shr.u64 {x}, {b}, 1; or.b64 {x}, {x}, 3; div.s64 {r}, {a}, {x};"
        |a, b| (a as i64 / (b >> 1 | 3) as i64) as u64;
    "dd" "rem.s64 {r}, {a}, 1000;" |a| (a as i64 % 1000) as u64;
    "dd" "neg.s64 {r}, {a};" |a| a.wrapping_neg();
    "dd" "abs.s64 {r}, {a};" |a| (a as i64).unsigned_abs();
    "ddd" "min.s64 {r}, {a}, {b};" |a, b| (a as i64).min(b as i64) as u64;
    "ddd" "max.u64 {r}, {a}, {b};" |a, b| a.max(b);
    "ddd" "and.b64 {r}, {a}, {b};" |a, b| a & b;
    "ddd" "or.b64 {r}, {a}, {b};" |a, b| a | b;
    "ddd" "xor.b64 {r}, {a}, {b};" |a, b| a ^ b;
    "dd" "not.b64 {r}, {a};" |a| !a;
    "dd" "cnot.b64 {r}, {a};" |a| flag(a == 0);
    "ddw" "shl.b64 {r}, {a}, {b};" |a, b| shl(a, b, 64);
    "ddw" "shr.u64 {r}, {a}, {b};" |a, b| shr(a, b, 64);
    "ddw" "shr.s64 {r}, {a}, {b};" |a, b| sar(a, b, 64);
    "ddw" "and.b32 {w}, {b}, 63; shl.b64 {r}, {a}, {w};" |a, b| a << (b & 63);
    "wd" "popc.b64 {r}, {a};" |a| a.count_ones().into();
    "wd" "clz.b64 {r}, {a};" |a| a.leading_zeros().into();
    "dd" "brev.b64 {r}, {a};" |a| a.reverse_bits();
    "wd" "bfind.u64 {r}, {a};" |a| bfind(a, 64, false, false);
    "wd" "bfind.shiftamt.s64 {r}, {a};" |a| bfind(a, 64, true, true);
    // ptxas computes fields of 64 bits otherwise than the PTX ISA where place or length are not below 64.
    "ddww" "and.b32 {w}, {b}, 63; and.b32 {v}, {c}, 63; bfe.u64 {r}, {a}, {w}, {v};"
        |a, b, c| bfe(a, b & 63, c & 63, 64, false);
    "ddww" "and.b32 {w}, {b}, 63; and.b32 {v}, {c}, 63; bfe.s64 {r}, {a}, {w}, {v};"
        |a, b, c| bfe(a, b & 63, c & 63, 64, true);
    "dddww" "and.b32 {w}, {c}, 63; and.b32 {v}, {d}, 63; bfi.b64 {r}, {a}, {b}, {w}, {v};"
        |a, b, c, d| bfi(a, b, c & 63, d & 63, 64);
    "dd" "bfe.s64 {r}, {a}, 17, 40;" |a| bfe(a, 17, 40, 64, true);
    "dddp" "selp.b64 {r}, {a}, {b}, {c};" |a, b, c| if c == 1 { a } else { b };
    "dddw" "slct.u64.s32 {r}, {a}, {b}, {c};" |a, b, c| if s32(c) >= 0 { a } else { b };
    "pdd" "setp.lt.s64 {r}, {a}, {b};" |a, b| flag((a as i64) < b as i64);
    "pdd" "setp.ls.u64 {r}, {a}, {b};" |a, b| flag(a <= b);
    "pdd" "setp.ne.s64 {r}, {a}, {b};" |a, b| flag(a != b);
    "wdd" "set.ge.u32.s64 {r}, {a}, {b};" |a, b| all_if(a as i64 >= b as i64);
    "dw" "cvt.u64.u32 {r}, {a};" |a| a;
    "dw" "cvt.s64.s32 {r}, {a};" |a| s32(a) as u64;
    "dw" "cvt.sat.u64.s32 {r}, {a};" |a| s32(a).max(0) as u64;
    "dd" "cvt.sat.s64.u64 {r}, {a};" |a| a.min(i64::MAX as u64);
    "dww" "mov.b64 {r}, {{a}, {b}};" |a, b| a | b << 32;
    "dddd" "add.cc.u64 {x}, {a}, {b}; addc.u64 {r}, {c}, {x};"
        |a, b, c| c.wrapping_add(a.wrapping_add(b)).wrapping_add(flag(a.checked_add(b).is_none()));
};
