//! Rows of `ptx::bits`.

use super::row::{Row, Rule, row};

/// Rust's own methods, CUDA's functions, and instructions that CUDA C++ has only as inline PTX.
pub fn rows() -> Vec<Row> {
    let mut rows = vec![
        row("popc", 'u', "u.count_ones()", "__popc(u)"),
        row("popcll", 'u', "q.count_ones()", "__popcll(q)"),
        row("clz", 'u', "u.leading_zeros()", "__clz(u)"),
        row("clzll", 'u', "q.leading_zeros()", "__clzll(q)"),
        row("brev", 'u', "u.reverse_bits()", "__brev(u)"),
        row("brevll", 'q', "q.reverse_bits()", "__brevll(q)"),
        row("ffs", 'u', "bits::ffs(u)", "__ffs(u)"),
        row("ffsll", 'u', "bits::ffs_64(q)", "__ffsll(q)")
            .by(Rule::Others(4, "nvcc counts below the lowest bit by a sum; LLVM asks for zero first")),
        row("mulhi", 'i', "bits::mulhi(i, j)", "__mulhi(i, j)"),
        row("umulhi", 'u', "bits::mulhi_u32(u, v)", "__umulhi(u, v)"),
        row("mul64hi", 'l', "bits::mulhi_i64(l, n)", "__mul64hi(l, n)"),
        row("umul64hi", 'q', "bits::mulhi_u64(q, r)", "__umul64hi(q, r)"),
        row("mul_wide", 'l', "i as i64 * j as i64", "(long long)i * j"),
        row("mul_wide_u32", 'q', "u as u64 * v as u64", "(unsigned long long)u * v"),
        row("mul24", 'i', "bits::mul24(i, j)", "__mul24(i, j)")
            .by(Rule::Others(0, "nvcc 13 writes `mul24` as shifts and a product")),
        row("umul24", 'u', "bits::mul24_u32(u, v)", "__umul24(u, v)")
            .by(Rule::Others(0, "nvcc 13 writes `mul24` as shifts and a product")),
        row("sad", 'u', "bits::sad(i, j, u)", "__sad(i, j, u)"),
        row("usad", 'u', "bits::sad_u32(u, v, w)", "__usad(u, v, w)"),
        row("hadd", 'i', "bits::hadd(i, j)", "__hadd(i, j)"),
        row("uhadd", 'u', "bits::hadd_u32(u, v)", "__uhadd(u, v)"),
        row("rhadd", 'i', "bits::rhadd(i, j)", "__rhadd(i, j)"),
        row("urhadd", 'u', "bits::rhadd_u32(u, v)", "__urhadd(u, v)"),
        row("dp4a", 'i', "bits::dp4a(u, v, i)", "__dp4a((int)u, (int)v, i)"),
        row("dp4a_u32", 'u', "bits::dp4a_u32(u, v, w)", "__dp4a(u, v, w)"),
        row("dp2a_lo", 'i', "bits::dp2a_lo(u, v, i)", "__dp2a_lo((int)u, (int)v, i)"),
        row("dp2a_hi", 'i', "bits::dp2a_hi(u, v, i)", "__dp2a_hi((int)u, (int)v, i)"),
        row("dp2a_lo_u32", 'u', "bits::dp2a_lo_u32(u, v, w)", "__dp2a_lo(u, v, w)"),
        row("dp2a_hi_u32", 'u', "bits::dp2a_hi_u32(u, v, w)", "__dp2a_hi(u, v, w)"),
        row("funnel_left", 'u', "bits::funnel_left(u, v, w)", "__funnelshift_l(u, v, w)"),
        row("funnel_left_clamp", 'u', "bits::funnel_left_clamp(u, v, w)", "__funnelshift_lc(u, v, w)"),
        row("funnel_right", 'u', "bits::funnel_right(u, v, w)", "__funnelshift_r(u, v, w)"),
        row("funnel_right_clamp", 'u', "bits::funnel_right_clamp(u, v, w)", "__funnelshift_rc(u, v, w)"),
        row("byte_perm", 'u', "bits::byte_perm(u, v, w)", "__byte_perm(u, v, w)"),
        row("byte_perm_constant", 'u', "bits::byte_perm(u, v, 0x5410)", "__byte_perm(u, v, 0x5410)"),
        row("fns", 'u', "bits::fns(m.mask().bits(), u, i)", "__fns(m, u, i)"),
        row(
            "u128_mad",
            'q',
            "((q as u128 * r as u128 + s as u128) >> 64) as u64",
            "(unsigned long long)(((unsigned __int128)q * r + s) >> 64)",
        )
        .by(Rule::Others(2, "LLVM adds the carry in a register of its own")),
        row(
            "u128_sum",
            'q',
            "((q as u128 | (r as u128) << 64) + s as u128 >> 64) as u64",
            "(unsigned long long)((((unsigned __int128)r << 64 | q) + s) >> 64)",
        )
        .by(Rule::Others(0, "LLVM compares, nvcc adds with carry")),
    ];
    for (name, result, rust, instruction, operands) in OF_INLINE_PTX {
        let (ty, constraint) = match result {
            'l' => ("long long", "l"),
            'q' => ("unsigned long long", "l"),
            'i' => ("int", "r"),
            _ => ("unsigned", "r"),
        };
        let places: Vec<String> = (0..=operands.len()).map(|place| format!("%{place}")).collect();
        let registers: Vec<String> = operands
            .chars()
            .map(|name| format!("\"{}\"({name})", if matches!(name, 'l' | 'n' | 'q' | 'r' | 's') { "l" } else { "r" }))
            .collect();
        let cuda =
            format!("ASM_({ty}, \"{constraint}\", \"{instruction} {};\", {})", places.join(", "), registers.join(", "));
        rows.push(row(*name, *result, *rust, cuda));
    }
    for table in [0x01_u8, 0x3c, 0x80, 0x96, 0xca, 0xe8, 0xf8, 0xfe, 0x1b, 0x69] {
        let cuda =
            format!("ASM_(unsigned, \"r\", \"lop3.b32 %0, %1, %2, %3, {table};\", \"r\"(u), \"r\"(v), \"r\"(w))");
        rows.push(
            row(format!("lop3_{table:02x}"), 'u', format!("bits::lop3::<{table}>(u, v, w)"), cuda)
                .by(Rule::Others(3, "ours is a formula, of which ptxas makes one `LOP3` or a few")),
        );
    }
    rows
}

/// Name, result, Rust, instruction, operands.
const OF_INLINE_PTX: &[(&str, char, &str, &str, &str)] = &[
    ("mul24_hi", 'i', "bits::mul24_hi(i, j)", "mul24.hi.s32", "ij"),
    ("mul24_hi_u32", 'u', "bits::mul24_hi_u32(u, v)", "mul24.hi.u32", "uv"),
    ("mad24", 'i', "bits::mad24(i, j, k)", "mad24.lo.s32", "ijk"),
    ("mad24_u32", 'u', "bits::mad24_u32(u, v, w)", "mad24.lo.u32", "uvw"),
    ("mad24_hi", 'i', "bits::mad24_hi(i, j, k)", "mad24.hi.s32", "ijk"),
    ("mad24_hi_u32", 'u', "bits::mad24_hi_u32(u, v, w)", "mad24.hi.u32", "uvw"),
    ("mad_hi", 'i', "bits::mad_hi(i, j, k)", "mad.hi.s32", "ijk"),
    ("mad_hi_u32", 'u', "bits::mad_hi_u32(u, v, w)", "mad.hi.u32", "uvw"),
    ("mad_hi_u64", 'q', "bits::mad_hi_u64(q, r, s)", "mad.hi.u64", "qrs"),
    ("mad_hi_i64", 'l', "bits::mad_hi_i64(l, n, l)", "mad.hi.s64", "lnl"),
    ("mad_hi_sat", 'i', "bits::mad_hi_sat(i, j, k)", "mad.hi.sat.s32", "ijk"),
    ("add_sat", 'i', "bits::add_sat(i, j)", "add.sat.s32", "ij"),
    ("sub_sat", 'i', "bits::sub_sat(i, j)", "sub.sat.s32", "ij"),
    ("sad_u64", 'q', "bits::sad_u64(q, r, s)", "sad.u64", "qrs"),
    ("sad_i64", 'q', "bits::sad_i64(l, n, q)", "sad.s64", "lnq"),
    ("dp4a_su", 'i', "bits::dp4a_su(u, v, i)", "dp4a.s32.u32", "uvi"),
    ("dp4a_us", 'i', "bits::dp4a_us(u, v, i)", "dp4a.u32.s32", "uvi"),
    ("dp2a_lo_su", 'i', "bits::dp2a_lo_su(u, v, i)", "dp2a.lo.s32.u32", "uvi"),
    ("dp2a_lo_us", 'i', "bits::dp2a_lo_us(u, v, i)", "dp2a.lo.u32.s32", "uvi"),
    ("dp2a_hi_su", 'i', "bits::dp2a_hi_su(u, v, i)", "dp2a.hi.s32.u32", "uvi"),
    ("dp2a_hi_us", 'i', "bits::dp2a_hi_us(u, v, i)", "dp2a.hi.u32.s32", "uvi"),
    ("bfind", 'u', "bits::bfind(u)", "bfind.u32", "u"),
    ("bfind_i32", 'u', "bits::bfind_i32(i)", "bfind.s32", "i"),
    ("bfind_u64", 'u', "bits::bfind_u64(q)", "bfind.u64", "q"),
    ("bfind_i64", 'u', "bits::bfind_i64(l)", "bfind.s64", "l"),
    ("bfind_shift", 'u', "bits::bfind_shift(u)", "bfind.shiftamt.u32", "u"),
    ("bfind_shift_i32", 'u', "bits::bfind_shift_i32(i)", "bfind.shiftamt.s32", "i"),
    ("bfind_shift_u64", 'u', "bits::bfind_shift_u64(q)", "bfind.shiftamt.u64", "q"),
    ("bfind_shift_i64", 'u', "bits::bfind_shift_i64(l)", "bfind.shiftamt.s64", "l"),
    ("bfe", 'u', "bits::bfe(u, v, w)", "bfe.u32", "uvw"),
    ("bfe_i32", 'i', "bits::bfe_i32(i, v, w)", "bfe.s32", "ivw"),
    ("bfe_u64", 'q', "bits::bfe_u64(q, v, w)", "bfe.u64", "qvw"),
    ("bfe_i64", 'l', "bits::bfe_i64(l, v, w)", "bfe.s64", "lvw"),
    ("bfi", 'u', "bits::bfi(u, u, v, w)", "bfi.b32", "uuvw"),
    ("bfi_u64", 'q', "bits::bfi_u64(q, r, v, w)", "bfi.b64", "qrvw"),
    ("bmsk_clamp", 'u', "bits::bmsk_clamp(u, v)", "bmsk.clamp.b32", "uv"),
    ("bmsk_wrap", 'u', "bits::bmsk_wrap(u, v)", "bmsk.wrap.b32", "uv"),
    ("sign_extend", 'i', "bits::sign_extend(i, v)", "szext.clamp.s32", "iv"),
    ("sign_extend_wrap", 'i', "bits::sign_extend_wrap(i, v)", "szext.wrap.s32", "iv"),
    ("zero_extend", 'u', "bits::zero_extend(u, v)", "szext.clamp.u32", "uv"),
    ("zero_extend_wrap", 'u', "bits::zero_extend_wrap(u, v)", "szext.wrap.u32", "uv"),
    ("permute_signs", 'u', "bits::permute_signs(u, v, w)", "prmt.b32", "uvw"),
    ("permute_forward", 'u', "bits::permute_forward(u, v, w)", "prmt.b32.f4e", "uvw"),
    ("permute_backward", 'u', "bits::permute_backward(u, v, w)", "prmt.b32.b4e", "uvw"),
    ("permute_replicate", 'u', "bits::permute_replicate(u, v, w)", "prmt.b32.rc8", "uvw"),
    ("permute_clamp_left", 'u', "bits::permute_clamp_left(u, v, w)", "prmt.b32.ecl", "uvw"),
    ("permute_clamp_right", 'u', "bits::permute_clamp_right(u, v, w)", "prmt.b32.ecr", "uvw"),
    ("permute_replicate_half", 'u', "bits::permute_replicate_half(u, v, w)", "prmt.b32.rc16", "uvw"),
];
