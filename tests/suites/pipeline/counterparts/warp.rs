//! Rows of `ptx::warp`.

use super::row::{Row, Rule, row};

/// The operations of a warp.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for value in ['u', 'i', 'f', 'l', 'q', 'd'] {
        for (name, rust, cuda) in [
            ("idx", "shuffle", "__shfl_sync"),
            ("up", "shuffle_up", "__shfl_up_sync"),
            ("down", "shuffle_down", "__shfl_down_sync"),
            ("xor", "shuffle_xor", "__shfl_xor_sync"),
        ] {
            for (by, place) in [("v", "v"), ("5", "5")] {
                rows.push(row(
                    format!("shuffle_{name}_{value}_{by}"),
                    value,
                    format!("m.{rust}({value}, {place})"),
                    format!("{cuda}(m, {value}, {place})"),
                ));
                rows.push(row(
                    format!("shuffle_{name}_{value}_{by}_all"),
                    value,
                    format!("warp::ALL.{rust}({value}, {place})"),
                    format!("{cuda}(0xffffffff, {value}, {place})"),
                ));
            }
        }
        let bits = if matches!(value, 'u' | 'i' | 'f') { 32 } else { 64 };
        rows.push(row(
            format!("match_any_{value}"),
            'u',
            format!("m.match_any({value}).bits()"),
            format!("__match_any_sync(m, {value})"),
        ));
        rows.push(row(
            format!("match_all_{value}_{bits}"),
            'u',
            format!("m.match_all({value}) as u32"),
            format!("({{ int p; __match_all_sync(m, {value}, &p); p; }})"),
        ));
    }
    for (lanes, cuda) in [("m", "m"), ("warp::ALL", "0xffffffff")] {
        let end = if lanes == "m" { "" } else { "_all" };
        rows.extend([
            row(format!("vote_all{end}"), 'u', format!("{lanes}.all(u > 3) as u32"), format!("__all_sync({cuda}, u > 3)")),
            row(format!("vote_any{end}"), 'u', format!("{lanes}.any(u > 3) as u32"), format!("__any_sync({cuda}, u > 3)")),
            row(format!("vote_uni{end}"), 'u', format!("{lanes}.uniform(u > 3) as u32"), format!("__uni_sync({cuda}, u > 3)")),
            row(format!("ballot{end}"), 'u', format!("{lanes}.ballot(u > 3).bits()"), format!("__ballot_sync({cuda}, u > 3)")),
            row(format!("sync_warp{end}"), '-', format!("{lanes}.sync();"), format!("__syncwarp({cuda});")),
            row(
                format!("elect{end}"),
                'u',
                format!("{lanes}.elect() as u32"),
                format!("ASM_(unsigned, \"r\", \"{{.reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p;}}\", \"r\"({cuda}))"),
            )
            .from(90),
        ]);
        for operation in ["add", "min", "max"] {
            for value in ['u', 'i'] {
                rows.push(
                    row(
                        format!("reduce_{operation}_{value}{end}"),
                        value,
                        format!("{lanes}.reduce_{operation}({value})"),
                        format!("__reduce_{operation}_sync({cuda}, {value})"),
                    )
                    .from(80),
                );
            }
        }
        for operation in ["and", "or", "xor"] {
            rows.push(
                row(
                    format!("reduce_{operation}{end}"),
                    'u',
                    format!("{lanes}.reduce_{operation}(u)"),
                    format!("__reduce_{operation}_sync({cuda}, u)"),
                )
                .from(80),
            );
        }
    }
    for (name, register) in [("below", "lt"), ("up_to", "le"), ("above", "gt"), ("from_here", "ge")] {
        rows.push(row(
            format!("lanes_{name}"),
            'u',
            format!("LaneMask::{name}().bits()"),
            format!("SREG(\"%lanemask_{register}\")"),
        ));
    }
    rows.extend([
        row("active_mask", 'u', "warp::active_mask().bits()", "__activemask()"),
        row("lane_id", 'u', "thread::lane_id()", "SREG(\"%laneid\")"),
        row("sync_warp_function", '-', "sync::sync_warp();", "__syncwarp();"),
        row("mask_len", 'u', "m.mask().len()", "__popc(m)"),
        row("mask_lowest", 'u', "m.mask().lowest().unwrap_or(32)", "m ? __ffs(m) - 1 : 32")
            .by(Rule::Others(0, "the highest bit of the mirrored bits, in one instruction less")),
        row("mask_rank", 'u', "(m.mask() & LaneMask::below()).len()", "__popc(m & SREG(\"%lanemask_lt\"))"),
    ]);
    rows
}
